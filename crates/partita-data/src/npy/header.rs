//! The header of a `.npy` array, parsed strictly: it is a Python dictionary of three known keys.

use crate::dtype::{Dtype, Encoding};
use crate::error::{DataError, Result};
use std::io::Read;
use std::path::Path;

const FORMAT: &str = "NumPy (.npy)";
/// NumPy writes a few hundred bytes; a structured type of many fields may need more, but we read none of those.
const LONGEST: usize = 1 << 16;

/// What stands before the values of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// Type and byte order of the values.
    pub(crate) encoding: Encoding,
    /// Whether the first index varies fastest.
    pub(crate) fortran: bool,
    /// Extent of every dimension.
    pub(crate) shape: Vec<u64>,
    /// Bytes before the first value.
    pub(crate) len: usize,
}

impl Header {
    /// Read the header at the beginning of an array.
    pub(crate) fn read(path: &Path, reader: &mut impl Read) -> Result<Self> {
        let corrupt = |problem: String| DataError::corrupt(path, FORMAT, problem);
        let mut fill = |bytes: &mut [u8]| {
            reader.read_exact(bytes).map_err(|e| corrupt(format!("the header cannot be read ({e})")))
        };
        let mut start = [0u8; 8];
        fill(&mut start)?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(corrupt("the first six bytes are not NumPy's".into()));
        }
        let (text_len, prefix) = match start[6] {
            1 => {
                let mut len = [0u8; 2];
                fill(&mut len)?;
                (usize::from(u16::from_le_bytes(len)), 10)
            }
            2 | 3 => {
                let mut len = [0u8; 4];
                fill(&mut len)?;
                (u32::from_le_bytes(len) as usize, 12)
            }
            version => return Err(corrupt(format!("version {version} is unknown (1 to 3 are known)"))),
        };
        if text_len > LONGEST {
            return Err(corrupt(format!("the header claims {text_len} bytes, more than {LONGEST}")));
        }
        let mut text = vec![0u8; text_len];
        fill(&mut text)?;
        let text = std::str::from_utf8(&text).map_err(|_| corrupt("the header is not text".into()))?;
        Parser { path, rest: text.trim() }.header(prefix + text_len)
    }

    /// Number of values, once it is certain that `available` bytes (header included) hold them all.
    pub(crate) fn check_size(&self, path: &Path, available: u64) -> Result<usize> {
        let size = self.encoding.size() as u64;
        let values = self.shape.iter().try_fold(1u64, |v, &d| v.checked_mul(d));
        let needed = values.and_then(|v| v.checked_mul(size)).and_then(|b| b.checked_add(self.len as u64));
        match (values.map(usize::try_from), needed) {
            (Some(Ok(values)), Some(needed)) if needed <= available => Ok(values),
            _ => Err(DataError::Truncated {
                path: path.to_owned(),
                format: FORMAT,
                needed: needed.unwrap_or(u64::MAX),
                found: available,
            }),
        }
    }
}

/// What is left to parse of the dictionary.
struct Parser<'a> {
    path: &'a Path,
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn header(mut self, len: usize) -> Result<Header> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.accept("}") {
            let key = self.string()?;
            self.expect(":")?;
            match key {
                "descr" if descr.is_none() => descr = Some(self.descr()?),
                "fortran_order" if fortran.is_none() => fortran = Some(self.boolean()?),
                "shape" if shape.is_none() => shape = Some(self.tuple()?),
                other => return Err(self.error(&format!("the key '{other}' is unknown or given twice"))),
            }
            if !self.accept(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest.is_empty() {
            return Err(self.error("something follows the header's dictionary"));
        }
        match (descr, fortran, shape) {
            (Some(encoding), Some(fortran), Some(shape)) => Ok(Header { encoding, fortran, shape, len }),
            _ => Err(self.error("descr, fortran_order or shape is missing")),
        }
    }

    fn error(&self, problem: &str) -> DataError {
        DataError::corrupt(self.path, FORMAT, format!("in the header, {problem}"))
    }

    /// Step over `token` and the space around it, if it comes next.
    fn accept(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.accept(token) { Ok(()) } else { Err(self.error(&format!("'{token}' is missing"))) }
    }

    fn string(&mut self) -> Result<&'a str> {
        let quote = if self.accept("'") { '\'' } else { '"' };
        if quote == '"' {
            self.expect("\"")?;
        }
        let (text, rest) =
            self.rest.split_once(quote).ok_or_else(|| self.error("a quoted word does not end"))?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool> {
        if self.accept("True") {
            return Ok(true);
        }
        if self.accept("False") { Ok(false) } else { Err(self.error("fortran_order is not True or False")) }
    }

    fn tuple(&mut self) -> Result<Vec<u64>> {
        self.expect("(")?;
        let mut shape = Vec::new();
        while !self.accept(")") {
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            shape.push(digits.parse().map_err(|_| self.error("the shape is not made of whole numbers"))?);
            self.rest = rest;
            // Python 2 wrote long integers with a suffix.
            self.accept("L");
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }

    fn descr(&mut self) -> Result<Encoding> {
        if self.rest.trim_start().starts_with('[') {
            return Err(self.unsupported("records of several fields"));
        }
        let descr = self.string()?;
        let (order, kind) = descr.split_at_checked(1).unwrap_or_default();
        let dtype = match kind {
            "b1" => Dtype::Bool,
            "i1" => Dtype::I8,
            "u1" => Dtype::U8,
            "i2" => Dtype::I16,
            "u2" => Dtype::U16,
            "i4" => Dtype::I32,
            "u4" => Dtype::U32,
            "i8" => Dtype::I64,
            "u8" => Dtype::U64,
            "f2" => Dtype::F16,
            "f4" => Dtype::F32,
            "f8" => Dtype::F64,
            _ => return Err(self.unsupported(&format!("values of type '{descr}'"))),
        };
        match order {
            "<" | "|" | "=" => Ok(Encoding { dtype, big_endian: false }),
            ">" => Ok(Encoding { dtype, big_endian: true }),
            _ => Err(self.error(&format!("the byte order of '{descr}' is unknown"))),
        }
    }

    fn unsupported(&self, dtype: &str) -> DataError {
        DataError::Dtype {
            path: self.path.to_owned(),
            what: "the array".into(),
            dtype: dtype.to_owned(),
            advice: "save numbers instead, for example a.astype('float32')",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Header> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        Header::read(Path::new("a.npy"), &mut &bytes[..])
    }

    #[test]
    fn keys_may_come_in_any_order_and_spacing() {
        let header = parse("{ 'shape':(3,4) ,\"fortran_order\":True, 'descr' : '>f8'}  \n").unwrap();
        assert_eq!(header.shape, [3, 4]);
        assert!(header.fortran && header.encoding.big_endian);
        assert_eq!(header.encoding.dtype, Dtype::F64);
        assert_eq!(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (7L,), }\n").unwrap().shape, [7]);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "{",
            "{}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)} x",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3, -4), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4), }",
            "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
            "{'descr': '<c8', 'fortran_order': False, 'shape': (3, 4), }",
            "{'descr': '', 'fortran_order': False, 'shape': (3, 4), }",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }",
            "{'descr': '?f4', 'fortran_order': False, 'shape': (3, 4), }",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_that_overflow_are_cut_short_not_allocated() {
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }";
        let header = parse(text).unwrap();
        assert!(matches!(header.check_size(Path::new("a"), 1 << 40), Err(DataError::Truncated { .. })));
    }
}
