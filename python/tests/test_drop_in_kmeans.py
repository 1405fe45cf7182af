"""scikit-learn's tests of its KMeans, on ours."""

import importlib.util
from pathlib import Path

import pytest
import sklearn.cluster

from partita import KMeans

_spec = importlib.util.spec_from_file_location("drop_in", Path(__file__).with_name("drop_in.py"))
drop_in = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(drop_in)

globals().update(drop_in.tests_of("sklearn.cluster.tests.test_k_means", sklearn.cluster, "KMeans", KMeans))

NOT_OURS = "calls a function of scikit-learn's, not the class"
NOT_APPLICABLE = {
    "[MiniBatchKMeans]": "another class, which this package does not have",
    "test_relocate_empty_clusters": NOT_OURS,
    "test_euclidean_distance": NOT_OURS,
    "test_inertia": NOT_OURS,
    "test_is_same_clustering": NOT_OURS,
    "test_k_means_function": NOT_OURS,
    "test_kmeans_plusplus_wrong_params": NOT_OURS,
    "test_kmeans_plusplus_output": NOT_OURS,
    "test_kmeans_plusplus_norms": NOT_OURS,
    "test_kmeans_plusplus_dataorder": NOT_OURS,
    "test_minibatch_update_consistency": NOT_OURS,
    "test_minibatch_reassign": NOT_OURS,
    "test_minibatch_kmeans_partial_fit_init": "tests MiniBatchKMeans",
    "test_minibatch_kmeans_verbose": "tests MiniBatchKMeans",
    "test_minibatch_kmeans_warning_init_size": "tests MiniBatchKMeans",
    "test_minibatch_sensible_reassign": "tests MiniBatchKMeans",
    "test_minibatch_with_many_reassignments": "tests MiniBatchKMeans",
    "test_minibatch_kmeans_init_size": "tests MiniBatchKMeans",
    "test_minibatch_declared_convergence": "tests MiniBatchKMeans",
    "test_minibatch_iter_steps": "tests MiniBatchKMeans",
    "test_kmeans_verbose": "expects scikit-learn's own lines of text; ours is a progress bar",
    "test_sample_weight_init": "calls the private _init_centroids; test_functions.py has the claim",
    "test_sample_weight_zero": "calls the private _init_centroids; test_functions.py has the claim",
}


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(params=["float32", "float64"])
def global_dtype(request):
    return request.param


@pytest.fixture(autouse=True)
def _declared(request):
    drop_in.skip_if_declared(request, NOT_APPLICABLE)
