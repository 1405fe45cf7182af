//! NumPy arrays: `.npy` files, mapped where rows lie together.

mod header;
pub(crate) mod transpose;

pub(crate) use header::Header;

use crate::error::{DataError, Result};
use crate::features::{Features, Storage};
use crate::mapped::{Mapped, map};
use crate::options::OpenOptions;
use memmap2::Mmap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// Open a `.npy` file of features.
pub(crate) fn open(path: &Path, file: &File, options: &OpenOptions) -> Result<Features> {
    let map = map(path, file)?;
    let len = map.len();
    open_region(path, file, "the array", map, 0..len, options)
}

/// Open an array that lies in a region of a mapped file.
pub(crate) fn open_region(
    path: &Path,
    file: &File,
    what: &str,
    map: Mmap,
    region: Range<usize>,
    options: &OpenOptions,
) -> Result<Features> {
    let header = Header::read(path, &mut &map[region.clone()])?;
    let (n, m) = matrix_shape(path, what, &header.shape)?;
    let values = header.check_size(path, region.len() as u64)?;
    let place = (region.start + header.len, values);
    let storage = Storage::Mapped(Mapped::new(path, file, map, place, header.encoding)?);
    if !header.fortran || n == 1 || m == 1 {
        return Features::new(path, storage, n, m);
    }
    check_fortran(path, what, &header.shape)?;
    transpose::rows(path, &storage, n, m, options)
}

/// Fortran order scatters the pixels of an image over the file in another order than rows have them.
pub(crate) fn check_fortran(path: &Path, what: &str, shape: &[u64]) -> Result<()> {
    if shape.len() == 2 {
        return Ok(());
    }
    let advice = "Fortran order is understood for two dimensions only: save np.ascontiguousarray(a)";
    Err(shape_error(path, what, shape, advice))
}

/// Rows and features of an array: images of three or four dimensions become flat rows.
pub(crate) fn matrix_shape(path: &Path, what: &str, shape: &[u64]) -> Result<(usize, usize)> {
    let advice = match shape.len() {
        0 => "a single number cannot be clustered; save an array of rows",
        1 => "a row of features is needed for every item: save a.reshape(-1, 1) if each entry is an item",
        2..=4 => {
            let m = shape[1..].iter().try_fold(1u64, |m, &d| m.checked_mul(d));
            match (usize::try_from(shape[0]), m.map(usize::try_from)) {
                (Ok(n), Some(Ok(m))) => return Ok((n, m)),
                _ => "that is more than any file can hold; write the file again",
            }
        }
        _ => "at most four dimensions are understood: save a.reshape(len(a), -1)",
    };
    Err(shape_error(path, what, shape, advice))
}

fn shape_error(path: &Path, what: &str, shape: &[u64], advice: &'static str) -> DataError {
    DataError::Shape { path: path.to_owned(), what: what.to_owned(), shape: shape.to_vec(), advice }
}
