//! The rules of a fit, once: a specification and a data set in, a record out. The command, the Python package and every other
//! door fill the same specification and show the same record.

pub mod map;
pub mod onnx;
pub mod palette;
pub mod portrait;
