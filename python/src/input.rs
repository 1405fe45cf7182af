//! Arrays as rows: read in place whatever their type and strides, block by block.

use crate::failure::raised;
use half::f16;
use ndarray::ArrayView2;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use partita::Result;
use partita::rows::{Csr, Rows};
use partita_data::model_file::ModelFile;
use partita_data::{Cells, Frame, OpenOptions};
use partita_job::{Dataset, FitSpec, SharedRows};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::borrow::Cow;
use std::sync::Arc;

/// A matrix that Python holds.
pub enum Matrix<'py> {
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
    F16(PyReadonlyArray2<'py, f16>),
    Sparse(Sparse<'py>),
    /// A table with typed columns.
    Table(Vec<(String, Cells)>),
}

/// The parts of a scipy CSR matrix with columns in order.
pub struct Sparse<'py> {
    values: PyReadonlyArray1<'py, f32>,
    columns: PyReadonlyArray1<'py, i32>,
    starts: PyReadonlyArray1<'py, i64>,
    m: usize,
}

impl<'py> FromPyObject<'_, 'py> for Matrix<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.extract() {
            Ok(Self::F32(array))
        } else if let Ok(array) = object.extract() {
            Ok(Self::F64(array))
        } else if let Ok(array) = object.extract() {
            Ok(Self::F16(array))
        } else if let Ok(columns) = object.extract::<Vec<Column>>() {
            Ok(Self::Table(columns.into_iter().map(|column| (column.name, column.cells)).collect()))
        } else if let Ok((values, columns, starts, m)) = object.extract() {
            Ok(Self::Sparse(Sparse { values, columns, starts, m }))
        } else {
            Err(PyTypeError::new_err(
                "a matrix of float32, float64 or float16 is needed, or the parts of a CSR matrix",
            ))
        }
    }
}

impl Matrix<'_> {
    /// The matrix as rows, which borrow it.
    pub fn rows(&self) -> PyResult<SharedRows<'_>> {
        Ok(match self {
            Self::F32(array) => Arc::new(array.as_array()),
            Self::F64(array) => Arc::new(Doubles(array.as_array())),
            Self::F16(array) => Arc::new(Halves(array.as_array())),
            Self::Sparse(parts) => Arc::new(parts.rows().map_err(raised)?),
            Self::Table(_) => {
                return Err(PyTypeError::new_err("a table is encoded before it is read as rows"));
            }
        })
    }
}

impl Sparse<'_> {
    fn rows(&self) -> Result<Csr<'_>> {
        let starts = self.starts.as_array().iter().map(|&start| start as usize).collect();
        Csr::new(starts, cow(&self.columns), cow(&self.values), self.m)
    }
}

/// The values where they are, if they stand one after the other.
fn cow<'a, T: numpy::Element + Copy>(array: &'a PyReadonlyArray1<'_, T>) -> Cow<'a, [T]> {
    array.as_slice().map_or_else(|_| array.as_array().to_vec().into(), Cow::Borrowed)
}

/// Rows in double precision, rounded as they are read.
struct Doubles<'a>(ArrayView2<'a, f64>);

/// Rows in half precision.
struct Halves<'a>(ArrayView2<'a, f16>);

macro_rules! converted_rows {
    ($name:ident, $convert:expr) => {
        impl Rows for $name<'_> {
            fn n(&self) -> usize {
                self.0.nrows()
            }
            fn m(&self) -> usize {
                self.0.ncols()
            }
            fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
                for (i, out) in out.chunks_exact_mut(self.m().max(1)).enumerate() {
                    let row = self.0.row(start + i);
                    match row.as_slice() {
                        Some(row) => $convert(row, out),
                        None => $convert(&row.to_vec(), out),
                    }
                }
                Ok(())
            }
        }
    };
}

converted_rows!(Doubles, |row: &[f64], out: &mut [f32]| {
    out.iter_mut().zip(row).for_each(|(out, v)| *out = *v as f32);
});
// The crate converts whole slices with the processor's own instructions.
converted_rows!(Halves, |row: &[f16], out: &mut [f32]| half::slice::HalfFloatSliceExt::convert_to_f32_slice(
    row, out
));

/// A typed column of a table: its name, what it holds, its cells.
struct Column {
    name: String,
    cells: Cells,
}

impl<'py> FromPyObject<'_, 'py> for Column {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (name, kind, cells): (String, String, Bound<'py, PyAny>) = object.extract()?;
        let numbers = || -> PyResult<Vec<f32>> {
            Ok(cells.extract::<PyReadonlyArray1<'py, f32>>()?.as_array().iter().copied().collect())
        };
        let cells = match kind.as_str() {
            "number" => Cells::Numbers(numbers()?),
            "boolean" => Cells::Booleans(numbers()?),
            "moment" => Cells::Moments(
                cells.extract::<PyReadonlyArray1<'py, f64>>()?.as_array().iter().copied().collect(),
            ),
            "levels" => {
                let (codes, levels): (PyReadonlyArray1<'py, u32>, Vec<String>) = cells.extract()?;
                Cells::Levels(codes.as_array().iter().copied().collect(), levels)
            }
            "words" => Cells::Words(cells.extract()?),
            other => return Err(PyTypeError::new_err(format!("a column of a table holds no {other}"))),
        };
        Ok(Self { name, cells })
    }
}

/// A table as a data set: with a new plan, or with that of a model.
pub fn table(
    columns: Vec<(String, Cells)>,
    spec: &FitSpec,
    model: Option<&ModelFile>,
) -> partita_job::Result<Dataset<'static>> {
    let names = model.and_then(|model| model.names.columns.first().cloned().flatten());
    let roles = spec.data.roles.iter().map(|(name, role)| (name.clone(), *role)).collect();
    let frame = Frame::of_columns(columns, &OpenOptions { like: names, roles, ..OpenOptions::default() })?;
    Dataset::of_frame(frame, spec.data.missing, model.map(|model| &*model.encoders))
}
