//! Opening what a specification or a model takes: feature files, or images.

use super::table::table_part;
use super::{DataPart, Dataset, Kind, photos};
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::model::AnyModel;
use crate::resources::Resources;
use crate::spec::{DataSpec, FitSpec, Missing};
use partita::report::Observer;
use partita_data::model_file::{ModelFile, Names, StoredEncoder};
use partita_data::{Columns, Frame, OpenOptions, Source, Why, open, read_label_table, read_weights};
use partita_embed::photos::PHOTOS;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "deep")]
use super::Pictures;
#[cfg(feature = "deep")]
use partita_data::Ids;

/// Something that a user should know about how the data was read. The front end shows it.
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
    /// About an encoder: which weights it has, where rows are kept.
    Encoder(String),
    /// An image that was left out.
    Skipped(String),
    /// What was done about missing values.
    Missing(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, text } => write!(f, "note: {}: {text}", path.display()),
            Self::Encoder(what) => write!(f, "encoder: {what}"),
            Self::Skipped(what) => write!(f, "skipped: {what}"),
            Self::Missing(what) => write!(f, "note: {what}"),
        }
    }
}

impl Dataset<'static> {
    /// Open feature files of the same rows, or photos, which an encoder makes rows of; `observer` sees how far it is.
    ///
    /// # Errors
    /// If a file cannot be read, or the files do not hold the same rows.
    pub fn open(spec: &DataSpec, resources: &Resources, observer: &dyn Observer) -> Result<Self> {
        Self::open_beside(spec, &[], resources, observer)
    }

    /// The same where labels or weights are read from files, as they are typed, for these fields. A column of the same file that is
    /// used so is no feature.
    ///
    /// # Errors
    /// As [`Self::open`], or if such a column cannot be found.
    pub fn open_beside(
        spec: &DataSpec,
        beside: &[(Field, &Path)],
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        match Kind::of_all(spec)? {
            Kind::Texts => return Self::open_texts(spec, resources, observer),
            Kind::Photos => return Self::of_photos(spec, &[], resources, observer),
            Kind::Features | Kind::Table => {}
        }
        let missing = spec.missing.unwrap_or_default();
        let dataset = opened(spec, beside, None, resources)?.planned(spec.missing, None)?;
        dataset.completed(missing, None, resources.memory)
    }

    /// Open what a specification names: feature files, or images for a network.
    ///
    /// # Errors
    /// As [`Self::open`], or if images cannot be used.
    pub fn open_for(spec: &FitSpec, resources: &Resources, observer: &dyn Observer) -> Result<Self> {
        #[cfg(feature = "deep")]
        if let Some(network) = &spec.network {
            let images = Self::open_images(&spec.data.paths, network.skip_bad, resources)?;
            return Self { headers: [None, spec.data.label_header], ..images }.beside(spec, resources);
        }
        let beside = spec.beside();
        match &spec.like {
            // The new rows are seen by the old model too, so that their columns have to be its columns.
            Some(path) => {
                let model = ModelFile::read(path)?;
                if takes_raw(&model) || Kind::of_all(&spec.data)? == Kind::Photos {
                    return Self::open_encoded(&model.encoders, &spec.data, resources, observer);
                }
                let missing = spec.data.missing.unwrap_or_default();
                let dataset = opened(&spec.data, &beside, Some(&model), resources)?;
                let dataset = dataset.planned(spec.data.missing, Some(&model.encoders))?;
                dataset.completed(missing, None, resources.memory)
            }
            None => Self::open_beside(&spec.data, &beside, resources, observer),
        }
    }

    /// Open feature files for a model of rows: tables give the columns that it was fitted to, by name, and missing values are filled if
    /// they were filled for the fit.
    ///
    /// # Errors
    /// As [`Self::open_beside`], or if a table lacks columns of the model.
    pub fn open_for_model(
        model: &ModelFile,
        spec: &DataSpec,
        beside: &[(Field, &Path)],
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        if takes_raw(model) || Kind::of_all(spec)? == Kind::Photos {
            let dataset = Self::open_encoded(&model.encoders, spec, resources, observer)?;
            model.model.check_widths(&dataset.widths())?;
            return Ok(dataset);
        }
        let given = [
            (Field::Text, spec.text.is_some()),
            (Field::Encoder, !spec.encoder.is_empty()),
            (Field::EncoderWeights, spec.encoder_weights.is_some()),
        ];
        JobError::first_idle(&given, "for a model of features, which takes no raw items; leave it out")?;
        let medians = model.medians.as_deref();
        let usual = if medians.is_some() { Missing::Median } else { Missing::Error };
        let missing = spec.missing.unwrap_or(usual);
        let plans = model.encoders.iter().any(Option::is_some);
        if missing == Missing::Median && medians.is_none() && !plans {
            let problem = "the model knows no medians; fit it with `missing` median, or leave such rows out (`missing` drop-rows)";
            return Err(JobError::refused(Field::Missing, problem));
        }
        let mut dataset = opened(spec, beside, Some(model), resources)?;
        dataset.model_fills = Some(medians.is_some());
        let dataset = dataset.planned(spec.missing, Some(&model.encoders))?;
        model.model.check_widths(&dataset.widths())?;
        // A plan has medians of its own.
        if plans && medians.is_none() && missing == Missing::Median {
            return Ok(dataset);
        }
        dataset.completed(missing, medians, resources.memory)
    }

    /// Open raw items for a model with these encoders.
    fn open_encoded(
        encoders: &[Option<StoredEncoder>],
        spec: &DataSpec,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        // Images of MNIST and the like are in files whose names do not say it.
        let takes = encoders.iter().flatten().any(|encoder| encoder.kind == PHOTOS);
        if takes || Kind::of_all(spec)? == Kind::Photos {
            let first = spec.paths.first().map(PathBuf::as_path).unwrap_or(Path::new(""));
            return Self::of_photos(spec, &photos::stored(encoders, first)?, resources, observer);
        }
        Self::open_texts_for(encoders, spec, resources, observer)
    }

    /// Open what a model takes: feature files, or images for a network. Bad images can be skipped only where there are images.
    ///
    /// # Errors
    /// As [`Self::open_for_model`], or if a field has no meaning for what the model takes.
    pub fn open_like(
        model: &AnyModel,
        spec: &DataSpec,
        skip_bad: bool,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        match model {
            AnyModel::Linear(file) => {
                let spec = DataSpec { skip_bad: skip_bad || spec.skip_bad, ..spec.clone() };
                Self::open_for_model(file, &spec, &[], resources, observer)
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
        let ids = Some(Ids { values: pictures.names(), column: "file".to_owned(), certain: false });
        Ok(Self { ids, notes, pictures: Some(pictures), ..Self::of_parts(Vec::new()) })
    }

    /// Images that are in memory: the bytes of each, channel after channel and row after row, and how many channels, rows of
    /// pixels and pixels of a row each has.
    ///
    /// # Errors
    /// If the bytes are not those of whole images with 1 or 3 channels.
    #[cfg(feature = "deep")]
    pub fn of_images(shape: [usize; 3], bytes: Vec<u8>) -> Result<Self> {
        let len = shape.iter().product::<usize>();
        if !matches!(shape[0], 1 | 3) || bytes.is_empty() || len == 0 || !bytes.len().is_multiple_of(len) {
            let problem = format!(
                "{} bytes are no images of {} channels and {}×{} pixels; give at least one image with 1 or 3 channels",
                bytes.len(),
                shape[0],
                shape[1],
                shape[2]
            );
            return Err(JobError::refused(Field::Data, problem));
        }
        Ok(Self::from_pixels(partita_embed::images::Pixels::new(shape, bytes)))
    }

    /// Images that are in memory.
    #[cfg(feature = "deep")]
    pub fn from_pixels(pixels: partita_embed::images::Pixels) -> Self {
        let pictures = Some(Pictures::Memory(pixels));
        Self { pictures, ..Self::of_parts(Vec::new()) }
    }
}

/// Whether a model takes photos or texts.
fn takes_raw(model: &ModelFile) -> bool {
    model.encoders.iter().flatten().any(|encoder| encoder.kind != partita_embed::tables::KIND)
}

/// The files of a specification, for a model with these names if there is one.
fn opened(
    spec: &DataSpec,
    beside: &[(Field, &Path)],
    model: Option<&ModelFile>,
    resources: &Resources,
) -> Result<Dataset<'static>> {
    photos::refuse_for_features(spec, resources)?;
    let taken: Vec<Taken> =
        spec.paths.iter().map(|path| taken(path, spec.header, beside)).collect::<Result<_>>()?;
    let like = expected(model.map(|model| &model.names), spec.paths.len());
    // A model of numbers takes no other columns.
    let mixed = |like: &Option<Columns>| model.is_none() || like.as_ref().is_some_and(Columns::is_mixed);
    let options = |(taken, like): (Taken, Option<Columns>)| OpenOptions {
        memory: resources.memory,
        array: spec.array.clone(),
        columns: spec.columns.clone(),
        exclude: spec.exclude.clone(),
        taken,
        id_column: spec.id_column.clone(),
        header: spec.header,
        mixed: mixed(&like),
        roles: spec.roles.iter().map(|(name, role)| (name.clone(), *role)).collect(),
        like,
    };
    let options: Vec<OpenOptions> = taken.into_iter().zip(like).map(options).collect();
    // Text is parsed by all threads of the current pool, so it is read inside the pool with the requested number of threads.
    let files = resources.on_threads(|| {
        let files = spec.paths.iter().zip(&options).map(|(path, options)| open(path, options));
        files.collect::<partita_data::Result<Vec<_>>>()
    })??;
    let (mut parts, mut tables, mut named, mut notes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (mut file, path) in files.into_iter().zip(&spec.paths) {
        let note = |text: &String| Note::Read { path: path.clone(), text: text.clone() };
        notes.extend(file.notes().iter().map(note));
        named.extend(file.take_ids().map(|ids| (ids, path)));
        tables.push(file.columns().cloned());
        let named = file.feature_names().is_some();
        parts.push(match if named { Frame::of_features(file) } else { Err(Box::new(file)) } {
            Ok(frame) => table_part(frame, Some(path.clone())),
            Err(file) => DataPart {
                origin: Some(path.clone()),
                ..DataPart::new(Arc::<partita_data::Features>::from(file))
            },
        });
    }
    check_excluded(spec, &tables)?;
    let dataset = Dataset::new(parts)?;
    for ((a, a_path), (b, b_path)) in named.iter().zip(named.iter().skip(1)) {
        same_names(&a.values, a_path, &b.values, b_path)?;
    }
    let headers = [spec.header, spec.label_header];
    Ok(Dataset { ids: named.into_iter().next().map(|(ids, _)| ids), notes, tables, headers, ..dataset })
}

/// Columns of a file that are used for something else.
type Taken = Vec<(String, Why)>;

/// The columns of a file that are labels or weights.
fn taken(path: &Path, header: Option<bool>, beside: &[(Field, &Path)]) -> Result<Taken> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let mut taken = Vec::new();
    for (field, typed) in beside {
        let source = Source { header, ..Source::parse(typed) };
        if real(path).is_none() || real(path) != real(&source.path) {
            continue;
        }
        let (column, why) = match field {
            Field::Weights => (read_weights(&source)?.column, Why::Weights),
            Field::Known => (read_label_table(&source, None)?.column, Why::Known),
            _ => (read_label_table(&source, None)?.column, Why::Truth),
        };
        taken.extend(column.map(|column| (column, why)));
    }
    Ok(taken)
}

/// The columns that each of some files should have for a model: those of its own files, or all of them in one.
fn expected(names: Option<&Names>, files: usize) -> Vec<Option<Columns>> {
    let columns = names.map(|names| &*names.columns).unwrap_or_default();
    if columns.len() == files {
        return columns.to_vec();
    }
    let all: Option<Vec<&Columns>> = columns.iter().map(Option::as_ref).collect();
    match all.filter(|all| files == 1 && !all.is_empty()) {
        Some(all) => vec![Some(Columns::named(all.iter().flat_map(|columns| columns.names.iter().cloned())))],
        None => vec![None; files],
    }
}

/// Refuse a column to leave out that no table has.
fn check_excluded(spec: &DataSpec, tables: &[Option<Columns>]) -> Result<()> {
    let left_out = |name: &String| {
        let mut out = tables.iter().flatten().flat_map(|table| &table.left_out);
        name.parse::<usize>().is_ok() || out.any(|out| out.name == *name)
    };
    let unknown = spec.exclude.iter().find(|name| !left_out(name));
    match unknown.filter(|_| tables.iter().any(Option::is_some)) {
        Some(name) => {
            let problem = format!("is no column of the data, which has {}", all_columns(tables));
            Err(JobError::Value { field: Field::Exclude, value: name.clone(), problem })
        }
        None => Ok(()),
    }
}

/// The names of all columns of some tables, features first.
fn all_columns(tables: &[Option<Columns>]) -> String {
    let of = |table: &Columns| {
        let out = table.left_out.iter().map(|out| out.name.clone());
        table.names.iter().cloned().chain(out).collect::<Vec<_>>()
    };
    let names: Vec<String> = tables.iter().flatten().flat_map(of).map(|name| format!("'{name}'")).collect();
    names.join(", ")
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
