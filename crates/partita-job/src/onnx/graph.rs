//! Files of ONNX in the making: protocol buffers, written without any library.

/// Numbers that the format gives to types.
pub const FLOAT: u64 = 1;
pub const INT64: u64 = 7;
pub const DOUBLE: u64 = 11;

/// Nodes and tensors in the making.
#[derive(Default)]
pub struct Graph {
    pub nodes: Vec<Vec<u8>>,
    pub tensors: Vec<Vec<u8>>,
}

impl Graph {
    /// Add a node; returns the name of its output.
    pub fn node(&mut self, kind: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> String {
        self.node_of(kind, inputs, &[output], attributes);
        output.to_owned()
    }

    /// Add a node of several outputs.
    pub fn node_of(&mut self, kind: &str, inputs: &[&str], outputs: &[&str], attributes: &[Vec<u8>]) {
        let names =
            |field, names: &[&str]| -> Vec<u8> { names.iter().flat_map(|name| text(field, name)).collect() };
        // A node is named after its first output.
        let rest = [names(2, outputs), text(3, outputs[0]), text(4, kind), repeated(5, attributes)];
        self.nodes.push([names(1, inputs), rest.concat()].concat());
    }

    /// Add a tensor of floats; returns its name.
    pub fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        self.tensor(name, shape, FLOAT, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    /// Add a tensor of doubles; returns its name.
    pub fn doubles(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f64>) -> String {
        self.tensor(name, shape, DOUBLE, values.into_iter().flat_map(f64::to_le_bytes).collect())
    }

    /// Add a tensor of one whole number; returns its name.
    pub fn integer(&mut self, name: &str, value: usize) -> String {
        self.tensor(name, &[1], INT64, (value as i64).to_le_bytes().to_vec())
    }

    fn tensor(&mut self, name: &str, shape: &[usize], kind: u64, raw: Vec<u8>) -> String {
        let shape: Vec<u8> = shape.iter().flat_map(|&size| number(1, size as u64)).collect();
        self.tensors.push([shape, number(2, kind), text(8, name), bytes(9, &raw)].concat());
        name.to_owned()
    }
}

/// An input or output of the graph: as many rows as there are, of `columns` values, or of one without a dimension.
pub fn value(name: &str, kind: u64, columns: Option<usize>) -> Vec<u8> {
    let rows = bytes(1, &text(2, "rows"));
    let columns = columns.map_or(Vec::new(), |columns| bytes(1, &number(1, columns as u64)));
    let tensor = [number(1, kind), bytes(2, &[rows, columns].concat())].concat();
    [text(1, name), bytes(2, &bytes(1, &tensor))].concat()
}

/// An attribute that is a whole number.
pub fn number_attribute(name: &str, value: u64) -> Vec<u8> {
    [text(1, name), number(3, value), number(20, 2)].concat()
}

/// An attribute of several whole numbers.
pub fn numbers_attribute(name: &str, values: &[u64]) -> Vec<u8> {
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
pub fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field of bytes: text, a message, or raw values.
pub fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// A field of text.
pub fn text(field: u64, value: &str) -> Vec<u8> {
    bytes(field, value.as_bytes())
}

/// A field that occurs once for each message.
pub fn repeated(field: u64, messages: &[Vec<u8>]) -> Vec<u8> {
    messages.iter().flat_map(|message| bytes(field, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_take_as_few_bytes_as_they_need() {
        assert_eq!(varint(0), [0]);
        assert_eq!(varint(127), [127]);
        assert_eq!(varint(128), [0x80, 1]);
        assert_eq!(varint(300), [0xac, 2]);
        assert_eq!(varint(u64::MAX).len(), 10);
    }
}
