//! A linear model as ONNX, written without any library: the format is protocol buffers, and the graph has a dozen
//! nodes.
//!
//! The file takes `X`, float32 of shape (rows, features), and gives `label`, int64, and `probabilities`, float32 of
//! shape (rows, clusters). The same model always gives the same bytes.

use crate::error::Result;
use partita::linear::Model;
use std::path::Path;

/// Numbers that the format gives to types.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
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
/// If the model has a lift, which is more than a few operators, or tells outliers, which the file could not.
pub fn to_onnx(model: &Model) -> partita::Result<Vec<u8>> {
    if model.lift().is_some() {
        return Err(partita::Error::Parameter {
            name: "the model",
            value: "one with a lift".to_owned(),
            must: "one without a lift to be written as ONNX: fit it again with the lift none",
        });
    }
    if model.outliers().is_some() {
        return Err(partita::Error::Parameter {
            name: "the model",
            value: "one with outliers".to_owned(),
            must: "one without outliers to be written as ONNX, whose labels know none: fit it again without them",
        });
    }
    let (k, m) = (model.k(), model.m());
    let mut graph = Graph::default();
    // As the engine does it: the centre is subtracted first. Folded into b it would cancel badly far from the origin.
    let weight = graph.floats("W", &[k, m], model.weight());
    let bias = graph.floats("b", &[k], model.bias());
    let viewed = viewed(&mut graph, model);
    let logits = graph.node("Gemm", &[&viewed, &weight, &bias], "logits", &[number_attribute("transB", 1)]);
    graph.node("Softmax", &[&logits], "probabilities", &[number_attribute("axis", 1)]);
    let of_rows = [number_attribute("axis", 1), number_attribute("keepdims", 0)];
    graph.node("ArgMax", &["probabilities"], "label", &of_rows);
    let content = [
        repeated(1, &graph.nodes),
        text(2, "partita"),
        repeated(5, &graph.tensors),
        bytes(11, &value("X", FLOAT, Some(m))),
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

/// Nodes and tensors in the making.
#[derive(Default)]
struct Graph {
    nodes: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
}

impl Graph {
    /// Add a node; returns the name of its output.
    fn node(&mut self, kind: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> String {
        let inputs: Vec<u8> = inputs.iter().flat_map(|name| text(1, name)).collect();
        // A node is named after its only output.
        let rest = [text(2, output), text(3, output), text(4, kind), repeated(5, attributes)];
        self.nodes.push([inputs, rest.concat()].concat());
        output.to_owned()
    }

    /// Add a tensor of floats; returns its name.
    fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        self.tensor(name, shape, FLOAT, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    /// Add a tensor of one whole number; returns its name.
    fn integer(&mut self, name: &str, value: usize) -> String {
        self.tensor(name, &[1], INT64, (value as i64).to_le_bytes().to_vec())
    }

    fn tensor(&mut self, name: &str, shape: &[usize], kind: u64, raw: Vec<u8>) -> String {
        let shape: Vec<u8> = shape.iter().flat_map(|&size| number(1, size as u64)).collect();
        self.tensors.push([shape, number(2, kind), text(8, name), bytes(9, &raw)].concat());
        name.to_owned()
    }
}

/// What is done to rows before the weights, view by view.
fn viewed(graph: &mut Graph, model: &Model) -> String {
    let mut parts = Vec::with_capacity(model.views().len());
    let mut start = 0;
    for (i, view) in model.views().iter().enumerate() {
        let end = start + view.width;
        let mut rows =
            if model.views().len() == 1 { "X".to_owned() } else { columns(graph, i, (start, end)) };
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
            graph.node("Concat", &several, "viewed", &[number_attribute("axis", 1)])
        }
    }
}

/// The columns of one view.
fn columns(graph: &mut Graph, i: usize, (start, end): (usize, usize)) -> String {
    let begin = graph.integer(&format!("begin{i}"), start);
    let end = graph.integer(&format!("end{i}"), end);
    let axis = graph.integer(&format!("axis{i}"), 1);
    graph.node("Slice", &["X", &begin, &end, &axis], &format!("group{i}"), &[])
}

/// Rows divided by their norm: first by their largest entry, so that no square leaves the range of float32.
fn unit(graph: &mut Graph, rows: &str, i: usize) -> String {
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

/// An input or output of the graph: as many rows as there are, of `columns` values, or of one without a dimension.
fn value(name: &str, kind: u64, columns: Option<usize>) -> Vec<u8> {
    let rows = bytes(1, &text(2, "rows"));
    let columns = columns.map_or(Vec::new(), |columns| bytes(1, &number(1, columns as u64)));
    let tensor = [number(1, kind), bytes(2, &[rows, columns].concat())].concat();
    [text(1, name), bytes(2, &bytes(1, &tensor))].concat()
}

fn number_attribute(name: &str, value: u64) -> Vec<u8> {
    [text(1, name), number(3, value), number(20, 2)].concat()
}

fn numbers_attribute(name: &str, values: &[u64]) -> Vec<u8> {
    let values: Vec<u8> = values.iter().flat_map(|&value| number(8, value)).collect();
    [text(1, name), values, number(20, 7)].concat()
}

/// A whole number in as few bytes as it needs, seven bits in each.
fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7f {
        out.push(value as u8 & 0x7f | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A field that is a whole number.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field of bytes: text, a message, or raw values.
fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

fn text(field: u64, value: &str) -> Vec<u8> {
    bytes(field, value.as_bytes())
}

/// A field that occurs once for each message.
fn repeated(field: u64, messages: &[Vec<u8>]) -> Vec<u8> {
    messages.iter().flat_map(|message| bytes(field, message)).collect()
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
        assert!(to_onnx(&views).unwrap() == include_bytes!("../tests/golden/views.onnx"));
        assert!(
            to_onnx(&model(2, &[(130, false, true)])).unwrap() == include_bytes!("../tests/golden/wide.onnx")
        );
        assert!(
            to_onnx(&model(2, &[(4, false, false)])).unwrap() == include_bytes!("../tests/golden/plain.onnx")
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

    #[test]
    fn whole_numbers_take_as_few_bytes_as_they_need() {
        assert_eq!(varint(0), [0]);
        assert_eq!(varint(127), [127]);
        assert_eq!(varint(128), [0x80, 1]);
        assert_eq!(varint(300), [0xac, 2]);
        assert_eq!(varint(u64::MAX).len(), 10);
    }
}
