"""scikit-learn's tests of its GaussianMixture, on ours."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import sklearn.mixture

from partita import GaussianMixture

_spec = importlib.util.spec_from_file_location("drop_in", Path(__file__).with_name("drop_in.py"))
drop_in = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(drop_in)

globals().update(
    drop_in.tests_of("sklearn.mixture.tests.test_gaussian_mixture", sklearn.mixture, "GaussianMixture", GaussianMixture)
)

NOT_OURS = "calls a function of scikit-learn's, not the class"
NOT_APPLICABLE = {
    "test_suffstat_sk_full": NOT_OURS,
    "test_suffstat_sk_tied": NOT_OURS,
    "test_suffstat_sk_diag": NOT_OURS,
    "test_gaussian_suffstat_sk_spherical": NOT_OURS,
    "test_compute_log_det_cholesky": NOT_OURS,
    "test_gaussian_mixture_log_probabilities": NOT_OURS,
    "test_gaussian_mixture_array_api_compliance": "results are numpy arrays, whatever library the rows come from",
    "test_gaussian_mixture_raises_where_array_api_not_implemented": "results are numpy arrays, whatever library the rows come from",
    "test_gaussian_mixture_precisions_init": "calls the private _set_parameters and _initialize",
    "test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters": "counts the calls of a private function",
}


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request):
    return request.param


@pytest.fixture(autouse=True)
def _declared(request):
    drop_in.skip_if_declared(request, NOT_APPLICABLE)
