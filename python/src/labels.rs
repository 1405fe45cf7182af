//! Pseudo-labels, the loss they minimise, and how good labels are.

use crate::call::run;
use crate::failure::raised;
use ndarray::{Array2, ArrayView2};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use partita::Error;
use partita::metrics::{Contingency, scores};
use partita::objective::{Batch, BatchObjective, Fairness, SelfLabelled, Workspace};
use partita::pseudo::{Em, Exact, Miadm, Newton, Problem, PseudoLabels, Renyi, Sinkhorn};
use partita::simplex::check_prior;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Limits of a solver; its own where absent.
#[derive(Clone, Copy)]
struct Limits {
    iterations: Option<usize>,
    tolerance: Option<f64>,
}

/// The solver of this name.
fn solver(name: &str, limits: Limits) -> PyResult<Box<dyn PseudoLabels>> {
    let iterations = |usual: usize| limits.iterations.unwrap_or(usual);
    let tolerance = |usual: f64| limits.tolerance.unwrap_or(usual);
    let exact = |fairness| {
        let usual = Exact::default();
        let (tolerance, max_iterations) = (tolerance(usual.tolerance), iterations(usual.max_iterations));
        Box::new(Exact { fairness, tolerance, max_iterations })
    };
    if let Some(alpha) = name.strip_prefix("renyi:").and_then(|alpha| alpha.parse().ok()).filter(|a| *a > 1.0)
    {
        let usual = Renyi::new(alpha);
        let (tolerance, max_iterations) = (tolerance(usual.tolerance), iterations(usual.max_iterations));
        return Ok(Box::new(Renyi { tolerance, max_iterations, ..usual }));
    }
    Ok(match name {
        "em" => Box::new(Em { max_iterations: iterations(10), tolerance: tolerance(0.0) }),
        "exact" => exact(Fairness::Strong),
        "weak" => exact(Fairness::Weak),
        "newton" => {
            let usual = Newton::default();
            let (tolerance, max_iterations) = (tolerance(usual.tolerance), iterations(usual.max_iterations));
            Box::new(Newton { tolerance, max_iterations, ..usual })
        }
        "sela" => {
            let usual = Sinkhorn::default();
            let (tolerance, max_iterations) = (tolerance(usual.tolerance), iterations(usual.max_iterations));
            Box::new(Sinkhorn { tolerance, max_iterations, ..usual })
        }
        // The second name is the one that earlier versions had.
        "miadm-dec" | "miadm" => Box::new(Miadm::Dec),
        "miadm-depict" | "miadm-root" => Box::new(Miadm::Depict),
        "miadm-exact" => Box::new(Miadm::Exact),
        _ => {
            return Err(PyValueError::new_err(format!(
                "solver {name:?} is not one of em, exact, weak, newton, renyi:ALPHA (ALPHA > 1), sela, miadm-depict, miadm-dec, miadm-exact"
            )));
        }
    })
}

/// Predictions with what is known of their rows.
struct Given<'a> {
    log_sigma: Vec<f64>,
    shape: (usize, usize),
    weights: Option<&'a [f64]>,
    known: Option<&'a [i32]>,
}

impl<'a> Given<'a> {
    fn new(
        log_sigma: ArrayView2<'_, f64>,
        weights: Option<&'a PyReadonlyArray1<'_, f64>>,
        known: Option<&'a PyReadonlyArray1<'_, i32>>,
    ) -> PyResult<Self> {
        let shape = log_sigma.dim();
        let weights = weights.map(|w| w.as_slice()).transpose()?;
        let known = known.map(|k| k.as_slice()).transpose()?;
        for (what, found) in
            [("the row weights", weights.map(<[_]>::len)), ("the known labels", known.map(<[_]>::len))]
        {
            if let Some(found) = found.filter(|found| *found != shape.0) {
                return Err(raised(Error::Length { what, found, expected: shape.0 }));
            }
        }
        if let Some(row) = known.and_then(|known| known.iter().position(|l| *l >= shape.1 as i32)) {
            let label = i64::from(known.map_or(0, |known| known[row]));
            return Err(raised(Error::LabelOutOfRange { row, label, k: shape.1 }));
        }
        Ok(Self { log_sigma: log_sigma.iter().copied().collect(), shape, weights, known })
    }

    fn batch(&self) -> Batch<'_> {
        Batch { log_sigma: &self.log_sigma, k: self.shape.1, weights: self.weights, known: self.known }
    }
}

type Solved<'py> = (Bound<'py, PyArray2<f64>>, usize, f64, bool);

/// Pseudo-labels of predictions given as ln σ: labels, iterations, residual, and whether they converged.
#[pyfunction]
#[pyo3(signature = (log_sigma, prior, lam, name, *, iterations=None, tolerance=None, weights=None, known=None))]
#[expect(clippy::too_many_arguments, reason = "one call crosses the seam; its caller names every argument")]
fn solve_labels<'py>(
    py: Python<'py>,
    log_sigma: PyReadonlyArray2<'py, f64>,
    prior: Vec<f64>,
    lam: f64,
    name: &str,
    iterations: Option<usize>,
    tolerance: Option<f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    known: Option<PyReadonlyArray1<'py, i32>>,
) -> PyResult<Solved<'py>> {
    let solver = solver(name, Limits { iterations, tolerance })?;
    let given = Given::new(log_sigma.as_array(), weights.as_ref(), known.as_ref())?;
    let prior = check_prior(&prior, given.shape.1).map_err(raised)?;
    let (y, solved) = run(py, 1, None, |_| {
        let mut y = vec![0.0; given.log_sigma.len()];
        let problem = Problem { batch: given.batch(), prior: &prior, lambda: lam };
        let solved = solver.solve(&problem, &mut y, &mut Default::default());
        partita::Result::Ok((y, solved))
    })?;
    let y = Array2::from_shape_vec(given.shape, y).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok((y.into_pyarray(py), solved.iterations, solved.residual, solved.converged))
}

/// The self-labelling loss of predictions given as ln σ, and its gradient in the logits.
#[pyfunction]
#[pyo3(signature = (log_sigma, prior, lam, name, *, iterations=None, weights=None, known=None))]
#[expect(clippy::too_many_arguments, reason = "one call crosses the seam; its caller names every argument")]
fn self_labelled_loss<'py>(
    py: Python<'py>,
    log_sigma: PyReadonlyArray2<'py, f64>,
    prior: Vec<f64>,
    lam: f64,
    name: &str,
    iterations: Option<usize>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    known: Option<PyReadonlyArray1<'py, i32>>,
) -> PyResult<(f64, Bound<'py, PyArray2<f64>>)> {
    let solver = solver(name, Limits { iterations, tolerance: None })?;
    let given = Given::new(log_sigma.as_array(), weights.as_ref(), known.as_ref())?;
    let prior = check_prior(&prior, given.shape.1).map_err(raised)?;
    let objective = SelfLabelled { solver, prior, lambda: lam };
    let mut gradient = vec![0.0; given.log_sigma.len()];
    let value = objective.value_and_gradient(given.batch(), &mut gradient, &mut Workspace::default());
    let gradient =
        Array2::from_shape_vec(given.shape, gradient).map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok((value, gradient.into_pyarray(py)))
}

type Pairs = Vec<(u64, Option<u64>)>;

/// ACC, NMI, ARI, and the class that each cluster is matched to.
#[pyfunction]
fn label_scores(
    truth: PyReadonlyArray1<'_, i64>,
    predicted: PyReadonlyArray1<'_, i64>,
) -> PyResult<(f64, f64, f64, Pairs)> {
    let (truth, predicted) = (truth.as_slice()?, predicted.as_slice()?);
    let found = scores(truth, predicted).map_err(raised)?;
    let pairs = Contingency::new(truth, predicted).map_err(raised)?.matching().pairs;
    Ok((found.acc, found.nmi, found.ari, pairs))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(solve_labels, module)?)?;
    module.add_function(wrap_pyfunction!(self_labelled_loss, module)?)?;
    module.add_function(wrap_pyfunction!(label_scores, module)?)
}
