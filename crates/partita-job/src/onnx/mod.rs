//! A linear model as ONNX, with its lift if it has one: a few dozen nodes.
//!
//! The file takes `X`, float32 of shape (rows, features), and gives `label`, int64, and `probabilities`, float32 of
//! shape (rows, clusters). The same model always gives the same bytes.

mod graph;
mod lift;

use crate::error::Result;
use graph::{FLOAT, Graph, INT64, bytes, number, number_attribute, numbers_attribute, repeated, text, value};
use partita::linear::Model;
use partita::prepare::FeatureView;
use std::path::Path;

/// Versions of the file's layout and of the operators used.
const IR_VERSION: u64 = 8;
const OPSET: u64 = 13;

/// The bytes of the file.
///
/// ```
/// # use ndarray::Array2;
/// # use partita::{linear::{Input, Params, fit}, report::Silent};
/// let rows = Array2::from_shape_fn((60, 2), |(i, j)| (i % 3) as f32 * 10.0 * (j + i % 3) as f32 + (i / 3) as f32 * 0.01);
/// let rows = rows.view();
/// let found = fit(&Input::new(&rows), &Params::new(3), &Silent)?;
/// assert!(partita_job::onnx::to_onnx(&found.model)?.len() > 100);
/// # Ok::<(), partita::Error>(())
/// ```
///
/// # Errors
/// If the model tells outliers, which the file could not.
pub fn to_onnx(model: &Model) -> partita::Result<Vec<u8>> {
    if model.outliers().is_some() {
        return Err(partita::Error::Parameter {
            name: "the model",
            value: "one with outliers".to_owned(),
            must: "one without outliers to be written as ONNX, whose labels know none: fit it again without them",
        });
    }
    let k = model.k();
    let mut graph = Graph::default();
    let rows = model.lift().map_or("X".to_owned(), |lift| lift::lifted(&mut graph, lift));
    // As the engine does it: the centre is subtracted first. Folded into b it would cancel badly far from the origin.
    let weight = graph.floats("W", &[k, model.width()], model.weight());
    let bias = graph.floats("b", &[k], model.bias());
    let viewed = viewed(&mut graph, &rows, model.views(), "");
    let logits = graph.node("Gemm", &[&viewed, &weight, &bias], "logits", &[number_attribute("transB", 1)]);
    graph.node("Softmax", &[&logits], "probabilities", &[number_attribute("axis", 1)]);
    let of_rows = [number_attribute("axis", 1), number_attribute("keepdims", 0)];
    graph.node("ArgMax", &["probabilities"], "label", &of_rows);
    let content = [
        repeated(1, &graph.nodes),
        text(2, "partita"),
        repeated(5, &graph.tensors),
        bytes(11, &value("X", FLOAT, Some(model.m()))),
        bytes(12, &value("label", INT64, None)),
        bytes(12, &value("probabilities", FLOAT, Some(k))),
    ];
    let parts =
        [number(1, IR_VERSION), text(2, "partita"), bytes(7, &content.concat()), bytes(8, &number(2, OPSET))];
    Ok(parts.concat())
}

/// Write the file to `path`, whole or not at all.
///
/// # Errors
/// As [`to_onnx`], or if the file cannot be written; whatever stood at the path before is then untouched.
pub fn write_onnx(model: &Model, path: impl AsRef<Path>) -> Result<()> {
    crate::export::write(path.as_ref(), &to_onnx(model)?)
}

/// What is done to rows before anything else, view by view; `of` begins the names of its nodes.
fn viewed(graph: &mut Graph, rows: &str, views: &[FeatureView], of: &str) -> String {
    let mut parts = Vec::with_capacity(views.len());
    let mut start = 0;
    for (i, view) in views.iter().enumerate() {
        let end = start + view.width;
        let i = &format!("{of}{i}");
        let mut rows = if views.len() == 1 { rows.to_owned() } else { columns(graph, rows, i, (start, end)) };
        if !view.centre.is_empty() {
            let centre = graph.floats(&format!("centre{i}"), &[view.width], &view.centre);
            rows = graph.node("Sub", &[&rows, &centre], &format!("centred{i}"), &[]);
        }
        if view.normalise {
            rows = unit(graph, &rows, i);
        }
        parts.push(rows);
        start = end;
    }
    match &parts[..] {
        [only] => only.clone(),
        several => {
            let several: Vec<&str> = several.iter().map(String::as_str).collect();
            graph.node("Concat", &several, &format!("{of}viewed"), &[number_attribute("axis", 1)])
        }
    }
}

/// The columns of one view.
fn columns(graph: &mut Graph, rows: &str, i: &str, (start, end): (usize, usize)) -> String {
    let begin = graph.integer(&format!("begin{i}"), start);
    let end = graph.integer(&format!("end{i}"), end);
    let axis = graph.integer(&format!("axis{i}"), 1);
    graph.node("Slice", &[rows, &begin, &end, &axis], &format!("group{i}"), &[])
}

/// Rows divided by their norm: first by their largest entry, so that no square leaves the range of float32.
fn unit(graph: &mut Graph, rows: &str, i: &str) -> String {
    // A row at the centre stays there: 0 over anything is 0.
    let floor = graph.floats(&format!("floor{i}"), &[1], &[f32::MIN_POSITIVE]);
    let of_rows = [numbers_attribute("axes", &[1]), number_attribute("keepdims", 1)];
    let size = graph.node("Abs", &[rows], &format!("size{i}"), &[]);
    let largest = graph.node("ReduceMax", &[&size], &format!("largest{i}"), &of_rows);
    let scale = graph.node("Max", &[&largest, &floor], &format!("scale{i}"), &[]);
    let scaled = graph.node("Div", &[rows, &scale], &format!("scaled{i}"), &[]);
    let norm = graph.node("ReduceL2", &[&scaled], &format!("norm{i}"), &of_rows);
    let divisor = graph.node("Max", &[&norm, &floor], &format!("divisor{i}"), &[]);
    graph.node("Div", &[&scaled, &divisor], &format!("unit{i}"), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of tests/golden/make.py: quarters from −1.25 to 1.25.
    fn numbers(count: usize, shift: usize) -> Vec<f32> {
        (0..count).map(|i| (((i * 7 + shift) % 11) as f32 - 5.0) / 4.0).collect()
    }

    /// A model as that script has it, by way of JSON, which does not name the type of a view.
    fn model(k: usize, views: &[(usize, bool, bool)]) -> Model {
        let m: usize = views.iter().map(|v| v.0).sum();
        let view = |(i, &(width, centred, normalise)): (usize, &(usize, bool, bool))| {
            let centre = if centred { numbers(width, i) } else { Vec::new() };
            serde_json::json!({"width": width, "centre": centre, "normalise": normalise})
        };
        let views: Vec<_> = views.iter().enumerate().map(view).collect();
        let json = serde_json::json!({
            "views": views, "weight": numbers(k * m, 3), "bias": numbers(k, 5), "average": vec![0.0; m], "prior": vec![1.0; k],
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_bytes_are_those_of_the_onnx_library() {
        let views = model(3, &[(2, true, true), (1, false, false), (3, true, false)]);
        assert!(to_onnx(&views).unwrap() == include_bytes!("../../tests/golden/views.onnx"));
        assert!(
            to_onnx(&model(2, &[(130, false, true)])).unwrap()
                == include_bytes!("../../tests/golden/wide.onnx")
        );
        assert!(
            to_onnx(&model(2, &[(4, false, false)])).unwrap()
                == include_bytes!("../../tests/golden/plain.onnx")
        );
    }

    #[test]
    fn a_file_holds_these_bytes_and_errors_name_it() {
        let directory = tempfile::tempdir().unwrap();
        let (path, model) = (directory.path().join("model.onnx"), model(2, &[(4, false, false)]));
        write_onnx(&model, &path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), to_onnx(&model).unwrap());
        let nowhere = directory.path().join("missing").join("model.onnx");
        let message = write_onnx(&model, &nowhere).unwrap_err().to_string();
        assert!(message.contains("model.onnx") && message.contains("does not exist"), "{message}");
    }
}
