//! Feature maps before the softmax, as nodes of ONNX.
//!
//! Distances are found by products, which cancel badly in single precision, so that a lift is computed in double.

use super::graph::{DOUBLE, FLOAT, Graph, number_attribute, numbers_attribute};
use super::viewed;
use partita::mixture::Covariance;
use partita::prepare::{GraphLift, Landmarks, Lift, QuadraticLift, RbfLift};

/// The features that a lift makes of the rows `X`.
pub fn lifted(graph: &mut Graph, lift: &Lift) -> String {
    let rows = prepared(graph, lift);
    let features = match lift {
        Lift::Graph(lift) => modes(graph, &rows, lift),
        Lift::Quadratic(lift) => responsibilities(graph, &rows, lift),
        Lift::Rbf(lift) => nearness(graph, &rows, lift),
    };
    graph.node("Cast", &[&features], "lifted", &[number_attribute("to", FLOAT)])
}

/// The rows as the lift compares them, in double precision.
fn prepared(graph: &mut Graph, lift: &Lift) -> String {
    let base = lift.base();
    let rows = viewed(graph, "X", &base.views, "raw");
    let rows = graph.node("Cast", &[&rows], "precise", &[number_attribute("to", DOUBLE)]);
    let mean = graph.doubles("mean", &[base.m()], base.mean.iter().map(|&v| v.into()));
    let scale = graph.doubles("factor", &[base.m()], base.scale.iter().map(|&v| v.into()));
    let centred = graph.node("Sub", &[&rows, &mean], "around_mean", &[]);
    graph.node("Mul", &[&centred, &scale], "prepared", &[])
}

/// Squared distances of rows to landmarks, ‖x‖² + ‖z‖² − 2x·z.
fn distances(graph: &mut Graph, rows: &str, landmarks: &Landmarks) -> String {
    let (n, m) = (landmarks.n(), landmarks.m());
    let columns = landmarks.columns();
    let twice = graph.doubles("twice", &[m, n], columns.iter().map(|&v| 2.0 * f64::from(v)));
    let square = |i: usize| columns.chunks_exact(n).map(|column| f64::from(column[i]).powi(2)).sum();
    let squares = graph.doubles("landmark_squares", &[1, n], (0..n).map(square));
    let own = graph.node("ReduceSumSquare", &[rows], "row_squares", &of_rows());
    let products = graph.node("MatMul", &[rows, &twice], "products", &[]);
    let sums = graph.node("Add", &[&own, &squares], "sums", &[]);
    let found = graph.node("Sub", &[&sums, &products], "differences", &[]);
    let zero = graph.doubles("zero", &[1], [0.0]);
    graph.node("Max", &[&found, &zero], "distances", &[])
}

/// Nearness to landmarks, turned so that products of features are the kernel.
fn nearness(graph: &mut Graph, rows: &str, lift: &RbfLift) -> String {
    let distances = distances(graph, rows, &lift.landmarks);
    let rate = graph.doubles("rate", &[1], [-1.0 / f64::from(lift.squared_width)]);
    let exponents = graph.node("Mul", &[&distances, &rate], "exponents", &[]);
    let near = graph.node("Exp", &[&exponents], "nearness", &[]);
    let shape = [lift.landmarks.n(), lift.d()];
    let whiten = graph.doubles("whiten", &shape, lift.whiten.iter().map(|&v| v.into()));
    graph.node("MatMul", &[&near, &whiten], "features", &[])
}

/// Responsibilities in the mixture: the softmax of ln of weight × density.
fn responsibilities(graph: &mut Graph, rows: &str, lift: &QuadraticLift) -> String {
    let mixture = lift.mixture();
    let (k, m) = (mixture.weights.len(), mixture.m());
    let mut squares = Vec::with_capacity(k);
    for c in 0..k {
        let mean =
            graph.doubles(&format!("mean{c}"), &[m], mixture.means[c * m..(c + 1) * m].iter().copied());
        let centred = graph.node("Sub", &[rows, &mean], &format!("around{c}"), &[]);
        let (whiten, name) = (mixture.whitening(c), format!("whiten{c}"));
        let (kind, whiten) = match mixture.shape {
            Covariance::Full | Covariance::Tied => {
                let turned = (0..m * m).map(|i| whiten[i % m * m + i / m]);
                ("MatMul", graph.doubles(&name, &[m, m], turned))
            }
            _ => ("Mul", graph.doubles(&name, &[whiten.len()], whiten.iter().copied())),
        };
        let white = graph.node(kind, &[&centred, &whiten], &format!("white{c}"), &[]);
        squares.push(graph.node("ReduceSumSquare", &[&white], &format!("squares{c}"), &of_rows()));
    }
    let squares: Vec<&str> = squares.iter().map(String::as_str).collect();
    let squares = graph.node("Concat", &squares, "squares", &[number_attribute("axis", 1)]);
    let half = graph.doubles("half", &[1], [-0.5]);
    let exponents = graph.node("Mul", &[&squares, &half], "exponents", &[]);
    let constants = graph.doubles("constants", &[k], mixture.constants().iter().copied());
    let joint = graph.node("Add", &[&exponents, &constants], "joint", &[]);
    graph.node("Softmax", &[&joint], "features", &[number_attribute("axis", 1)])
}

/// Modes of the nearest landmarks, averaged, at length one.
fn modes(graph: &mut Graph, rows: &str, lift: &GraphLift) -> String {
    let n = lift.landmarks.n();
    let count = (lift.neighbours + 1).min(n);
    let distances = distances(graph, rows, &lift.landmarks);
    let nearer = graph.node("Neg", &[&distances], "nearer", &[]);
    let size = graph.integer("count", count);
    graph.node_of("TopK", &[&nearer, &size], &["nearest", "which"], &[number_attribute("axis", 1)]);
    let near = graph.node("Neg", &["nearest"], "near", &[]);
    let own = own_scale(graph, &near, lift.own_rank(count));
    let scales = graph.doubles("scales", &[n], lift.scales.iter().map(|&s| s.into()));
    let scales = graph.node("Gather", &[&scales, "which"], "near_scales", &[]);
    let regions = graph.node("Mul", &[&own, &scales], "regions", &[]);
    let ratios = graph.node("Div", &["nearest", &regions], "ratios", &[]);
    let density = 0.5 * lift.density();
    let dense = graph.doubles("density", &[n], lift.scales.iter().map(|&s| density * f64::from(s).ln()));
    let dense = graph.node("Gather", &[&dense, "which"], "near_density", &[]);
    let logs = graph.node("Sub", &[&ratios, &dense], "logs", &[]);
    let weights = graph.node("Softmax", &[&logs], "weights", &[number_attribute("axis", 1)]);
    averaged(graph, &weights, lift)
}

/// The scale of the region around a row: the distance to its landmark of this rank.
fn own_scale(graph: &mut Graph, near: &str, rank: usize) -> String {
    let begin = graph.integer("rank", rank);
    let end = graph.integer("after", rank + 1);
    let axis = graph.integer("columns", 1);
    let square = graph.node("Slice", &[near, &begin, &end, &axis], "own_square", &[]);
    let root = graph.node("Sqrt", &[&square], "own_root", &[]);
    let least = graph.doubles("least", &[1], [f32::MIN_POSITIVE.into()]);
    graph.node("Max", &[&root, &least], "own_scale", &[])
}

/// The mean of the modes at the nearest landmarks, as a vector of length one.
fn averaged(graph: &mut Graph, weights: &str, lift: &GraphLift) -> String {
    let modes = graph.doubles("modes", &[lift.landmarks.n(), lift.d()], lift.modes.iter().map(|&v| v.into()));
    let modes = graph.node("Gather", &[&modes, "which"], "near_modes", &[]);
    let middle = graph.integer("middle", 1);
    let weights = graph.node("Unsqueeze", &[weights, &middle], "side_by_side", &[]);
    let sums = graph.node("MatMul", &[&weights, &modes], "sum_of_modes", &[]);
    let mean = graph.node("Squeeze", &[&sums, &middle], "mean_mode", &[]);
    let norm = graph.node("ReduceL2", &[&mean], "mean_norm", &of_rows());
    let least = graph.doubles("least_norm", &[1], [f64::MIN_POSITIVE]);
    let norm = graph.node("Max", &[&norm, &least], "mode_norm", &[]);
    graph.node("Div", &[&mean, &norm], "features", &[])
}

/// One number for each row.
fn of_rows() -> [Vec<u8>; 2] {
    [numbers_attribute("axes", &[1]), number_attribute("keepdims", 1)]
}
