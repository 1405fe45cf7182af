//! What is clustered: rows as one or several parts that stand side by side, their names, and images where there are any.

use crate::error::{JobError, Result};
use crate::field::Field;
use crate::model::AnyModel;
use crate::resources::Resources;
use crate::spec::{DataSpec, FitSpec};
use partita::rows::{Rows, SideBySide};
use partita::sparse::Csr;
use partita_data::{OpenOptions, open};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "deep")]
use crate::images::Pictures;

/// Rows that a part holds, shared with whoever else reads them.
pub type SharedRows<'a> = Arc<dyn Rows + Send + Sync + 'a>;

/// Some features of all rows: a file, or an array in memory.
#[derive(Clone)]
pub struct Part<'a> {
    /// The rows.
    pub rows: SharedRows<'a>,
    /// Widths of the groups of features in it; each is prepared on its own.
    pub widths: Vec<usize>,
    /// Names of its columns.
    pub columns: Option<Vec<String>>,
    /// Where it came from.
    pub origin: Option<PathBuf>,
}

impl<'a> Part<'a> {
    /// Rows without names, as one group of features.
    pub fn new(rows: SharedRows<'a>) -> Self {
        Self { widths: vec![rows.m()], rows, columns: None, origin: None }
    }
}

/// Something that a user should know about how the data was read. The door shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// About a file, such as columns left out.
    Read {
        /// The file.
        path: PathBuf,
        /// What to know.
        text: String,
    },
    /// An image that was left out.
    Skipped(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, text } => write!(f, "note: {}: {text}", path.display()),
            Self::Skipped(what) => write!(f, "skipped: {what}"),
        }
    }
}

/// The rows of a job, with their names.
///
/// ```
/// use partita_data::Features;
/// use partita_job::{Dataset, Part};
/// use std::sync::Arc;
/// let rows = Features::from_vec(vec![1.0, 2.0, 3.0, 4.0], 2)?;
/// let dataset = Dataset::new(vec![Part::new(Arc::new(rows))])?;
/// assert_eq!((dataset.n(), dataset.widths()), (2, vec![2]));
/// # Ok::<(), partita_job::JobError>(())
/// ```
pub struct Dataset<'a> {
    parts: Vec<Part<'a>>,
    ids: Option<Vec<String>>,
    notes: Vec<Note>,
    #[cfg(feature = "deep")]
    pub(crate) pictures: Option<Pictures>,
}

impl<'a> Dataset<'a> {
    /// Parts that hold the same rows.
    ///
    /// # Errors
    /// If one has another number of rows than the first, or if there is none.
    pub fn new(parts: Vec<Part<'a>>) -> Result<Self> {
        let first = parts.first().ok_or(JobError::Missing { field: Field::Data })?;
        if let Some((at, odd)) = parts.iter().enumerate().find(|(_, part)| part.rows.n() != first.rows.n()) {
            let (a, b) = (shown(first, 0), shown(odd, at));
            let (n, found) = (first.rows.n(), odd.rows.n());
            let problem = format!("{a} has {n} rows but {b} has {found}; give files of the same rows");
            return Err(JobError::file(Field::Data, problem));
        }
        Ok(Self {
            parts,
            ids: None,
            notes: Vec::new(),
            #[cfg(feature = "deep")]
            pictures: None,
        })
    }

    /// The same rows with names.
    ///
    /// # Errors
    /// If there are not as many names as rows.
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Self> {
        let (found, expected) = (ids.len(), self.n());
        if found != expected {
            let what = "the names of the rows";
            return Err(partita::Error::Length { what, found, expected }.into());
        }
        self.ids = Some(ids);
        Ok(self)
    }

    /// Number of rows, or of images.
    pub fn n(&self) -> usize {
        #[cfg(feature = "deep")]
        if let Some(pictures) = &self.pictures {
            return pictures.len();
        }
        self.parts.first().map_or(0, |part| part.rows.n())
    }

    /// The parts.
    pub fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// Widths of the groups of features that stand side by side in a row.
    pub fn widths(&self) -> Vec<usize> {
        self.parts.iter().flat_map(|part| part.widths.iter().copied()).collect()
    }

    /// All features of each row.
    ///
    /// # Errors
    /// If the parts do not hold the same number of rows.
    pub fn rows(&self) -> Result<AllRows<'_>> {
        if let [only] = &self.parts[..] {
            return Ok(AllRows::One(&*only.rows));
        }
        let parts = self.parts.iter().map(|part| &*part.rows as &dyn Rows).collect();
        Ok(AllRows::Several(SideBySide::new(parts)?))
    }

    /// Names of the rows, if they have any.
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_deref()
    }

    /// Name of a feature, or its number in its part.
    pub fn feature(&self, mut index: usize) -> String {
        for part in &self.parts {
            if index < part.rows.m() {
                let name = part.columns.as_ref().and_then(|names| names.get(index));
                return name.cloned().unwrap_or_else(|| index.to_string());
            }
            index -= part.rows.m();
        }
        index.to_string()
    }

    /// What a user should know about how the data was read.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Where the data came from, for messages.
    pub fn origin(&self) -> Option<&Path> {
        self.parts.iter().find_map(|part| part.origin.as_deref())
    }
}

impl Dataset<'static> {
    /// Open feature files of the same rows.
    ///
    /// # Errors
    /// If a file cannot be read, or the files do not hold the same rows.
    pub fn open(spec: &DataSpec, resources: &Resources) -> Result<Self> {
        let options = OpenOptions {
            memory: resources.memory,
            array: spec.array.clone(),
            columns: spec.columns.clone(),
            id_column: spec.id_column.clone(),
            ..OpenOptions::default()
        };
        // Text is parsed by all threads that there are, so that it is read where the number asked for holds.
        let files = resources.on_threads(|| {
            spec.paths.iter().map(|path| open(path, &options)).collect::<partita_data::Result<Vec<_>>>()
        })??;
        let (mut parts, mut named, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for (mut file, path) in files.into_iter().zip(&spec.paths) {
            let note = |text: &String| Note::Read { path: path.clone(), text: text.clone() };
            notes.extend(file.notes().iter().map(note));
            named.extend(file.take_ids().map(|ids| (ids, path)));
            let columns = file.feature_names().map(<[String]>::to_vec);
            parts.push(Part { columns, origin: Some(path.clone()), ..Part::new(Arc::new(file)) });
        }
        let dataset = Self::new(parts)?;
        for ((a, a_path), (b, b_path)) in named.iter().zip(named.iter().skip(1)) {
            same_names(a, a_path, b, b_path)?;
        }
        Ok(Self { ids: named.into_iter().next().map(|(ids, _)| ids), notes, ..dataset })
    }

    /// Open what a specification names: feature files, or images for a network.
    ///
    /// # Errors
    /// As [`Self::open`], or if images cannot be used.
    pub fn open_for(spec: &FitSpec, resources: &Resources) -> Result<Self> {
        #[cfg(feature = "deep")]
        if let Some(network) = &spec.network {
            return Self::open_images(&spec.data.paths, network.skip_bad, resources);
        }
        Self::open(&spec.data, resources)
    }

    /// Open what a model takes: feature files, or images for a network. Bad images can be skipped only where there are images.
    ///
    /// # Errors
    /// As [`Self::open`], or if a field has no meaning for what the model takes.
    pub fn open_like(
        model: &AnyModel,
        spec: &DataSpec,
        skip_bad: bool,
        resources: &Resources,
    ) -> Result<Self> {
        match model {
            AnyModel::Linear(_) => {
                let why = "for a model of rows; leave it out";
                JobError::first_idle(&[(Field::SkipBad, skip_bad)], why)?;
                Self::open(spec, resources)
            }
            #[cfg(feature = "deep")]
            AnyModel::Network(_) => {
                crate::spec::refuse_for_images(spec, resources)?;
                Self::open_images(&spec.paths, skip_bad, resources)
            }
        }
    }

    /// Open images: folders of pictures, and files of MNIST, CIFAR or STL-10, one after another. With `skip_bad` those that
    /// cannot be decoded are left out, each with a note.
    ///
    /// # Errors
    /// If a place holds no images, or none that can be used.
    #[cfg(feature = "deep")]
    pub fn open_images(paths: &[PathBuf], skip_bad: bool, resources: &Resources) -> Result<Self> {
        if paths.is_empty() {
            return Err(JobError::Missing { field: Field::Data });
        }
        let (pictures, notes) = resources.on_threads(|| Pictures::open(paths, skip_bad))??;
        let ids = Some(pictures.names());
        Ok(Self { parts: Vec::new(), ids, notes, pictures: Some(pictures) })
    }

    /// Images that are in memory.
    #[cfg(feature = "deep")]
    pub fn from_pixels(pixels: partita_deep::images::Pixels) -> Self {
        let pictures = Some(Pictures::Memory(pixels));
        Self { parts: Vec::new(), ids: None, notes: Vec::new(), pictures }
    }
}

fn shown(part: &Part<'_>, at: usize) -> String {
    part.origin.as_ref().map_or_else(|| format!("part {at}"), |path| path.display().to_string())
}

/// Refuse files whose rows have other names.
fn same_names(a: &[String], a_path: &Path, b: &[String], b_path: &Path) -> Result<()> {
    let Some(row) = a.iter().zip(b).position(|(a, b)| a != b) else { return Ok(()) };
    let problem = format!(
        "row {row} is '{}' in {} but '{}' in {} (rows count from 0); put the rows of both in the same order, or remove \
         the column of names from one",
        a[row],
        a_path.display(),
        b[row],
        b_path.display()
    );
    Err(JobError::file(Field::Data, problem))
}

/// All features of each row: those of the only part, which may be sparse, or of several side by side.
pub enum AllRows<'a> {
    /// The rows of the only part.
    One(&'a dyn Rows),
    /// Those of several parts.
    Several(SideBySide<'a>),
}

impl AllRows<'_> {
    fn inner(&self) -> &dyn Rows {
        match self {
            Self::One(rows) => *rows,
            Self::Several(rows) => rows,
        }
    }
}

impl Rows for AllRows<'_> {
    fn n(&self) -> usize {
        self.inner().n()
    }
    fn m(&self) -> usize {
        self.inner().m()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
        self.inner().read(start, out)
    }
    fn gather(&self, rows: &[usize], out: &mut [f32]) -> partita::Result<()> {
        self.inner().gather(rows, out)
    }
    fn release(&self) {
        self.inner().release();
    }
    fn sparse(&self) -> Option<&Csr<'_>> {
        self.inner().sparse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_data::Features;

    fn part(values: Vec<f32>, m: usize) -> Part<'static> {
        Part::new(Arc::new(Features::from_vec(values, m).unwrap()))
    }

    #[test]
    fn parts_stand_side_by_side() {
        let named = Part { columns: Some(vec!["c".into()]), ..part(vec![7.0, 8.0], 1) };
        let dataset = Dataset::new(vec![part(vec![1.0, 2.0, 3.0, 4.0], 2), named]).unwrap();
        assert_eq!((dataset.n(), dataset.widths()), (2, vec![2, 1]));
        let mut out = [0.0; 6];
        dataset.rows().unwrap().read(0, &mut out).unwrap();
        assert_eq!(out, [1.0, 2.0, 7.0, 3.0, 4.0, 8.0]);
        assert_eq!([0, 1, 2].map(|j| dataset.feature(j)), ["0", "1", "c"]);
    }

    #[test]
    fn rows_that_are_not_the_same_are_refused() {
        let error = Dataset::new(vec![part(vec![1.0; 4], 2), part(vec![1.0; 3], 1)]).err().unwrap();
        assert!(error.to_string().contains("part 0 has 2 rows but part 1 has 3"), "{error}");
        assert_eq!(Dataset::new(Vec::new()).err().unwrap().field(), Some(Field::Data));
        let dataset = Dataset::new(vec![part(vec![1.0; 4], 2)]).unwrap();
        assert!(dataset.with_ids(vec!["a".into()]).is_err());
    }
}
