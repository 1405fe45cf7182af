//! Photos as a data set: each becomes a row by an encoder, or by several side by side. Rows that were made once are kept beside the result.

use super::{DataPart, Dataset, Note};
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::resources::Resources;
use crate::spec::{DataSpec, refuse_for_images};
use partita::report::{Flow, Observer, Progress};
use partita_data::model_file::StoredEncoder;
use partita_data::{Features, Ids, Labels};
use partita_embed::cache::{Content, RowCache};
use partita_embed::images::{Image, Images};
use partita_embed::photos::{Asked, PHOTOS, PhotoEncoder};
use partita_embed::weights::Places;
use partita_embed::{EmbedError, Encoder};
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Photos between two reports of progress.
const BATCH: usize = 64;
/// Photos that a message names.
const NAMED: usize = 6;

/// Photos behind the rows of a data set.
#[derive(Debug, Clone)]
pub struct Photos {
    images: Arc<Images>,
    used: Arc<Vec<usize>>,
    paths: Vec<PathBuf>,
}

impl Photos {
    /// The photo of a row, decoded.
    ///
    /// # Errors
    /// If it cannot be read any more.
    pub fn get(&self, row: usize) -> Result<Image> {
        Ok(self.images.get(self.used[row])?)
    }

    /// Number of photos.
    pub fn len(&self) -> usize {
        self.used.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// The classes of the photos, if they are in sub-folders of a folder that was given: the names of these.
    pub(crate) fn classes(&self, folder: &Path) -> Result<Labels> {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let ours = real(folder)
            .is_some_and(|folder| self.paths.iter().any(|path| real(path).as_ref() == Some(&folder)));
        let classes = self.images.class_names().filter(|_| ours).ok_or_else(|| {
            let problem = format!(
                "{} is a folder; the names of sub-folders are classes only where all photos are in sub-folders of it, and it is the data",
                folder.display()
            );
            JobError::refused(Field::Truth, problem)
        })?;
        let used: Vec<Option<&String>> = self.used.iter().map(|&at| Some(&classes[at])).collect();
        Ok(Labels::of_names(&used))
    }
}

/// Refuse fields about photos where there are none.
pub(super) fn refuse_for_features(spec: &DataSpec, resources: &Resources) -> Result<()> {
    let given = [
        (Field::Encoder, !spec.encoder.is_empty()),
        (Field::EncoderWeights, spec.encoder_weights.is_some()),
        (Field::SkipBad, spec.skip_bad),
        (Field::Cache, resources.cache.is_some()),
    ];
    JobError::first_idle(&given, "for features; leave it out")
}

/// Encoders whose rows stand side by side.
fn encoders(spec: &DataSpec, stored: &[StoredEncoder]) -> Result<Vec<PhotoEncoder>> {
    let (given, places) = (spec.encoder_weights.as_deref(), Places::of_environment());
    if !stored.is_empty() {
        let why = "for a model, which keeps its encoder; leave it out";
        JobError::first_idle(&[(Field::Encoder, !spec.encoder.is_empty())], why)?;
    }
    let names =
        spec.encoder.iter().map(|name| Asked::parse(name)).collect::<std::result::Result<Vec<_>, _>>();
    let names = names.map_err(|error| JobError::refused(Field::Encoder, error.to_string()))?;
    if given.is_some() && names.len().max(stored.len()) > 1 {
        let problem = "one file cannot hold the weights of several encoders; put them into a folder that PARTITA_WEIGHTS names";
        return Err(JobError::refused(Field::EncoderWeights, problem));
    }
    let asked = if names.is_empty() { vec![Asked::usual()?] } else { names };
    let found = match stored {
        [] => {
            asked.into_iter().map(|asked| asked.find(given, &places)).collect::<std::result::Result<_, _>>()
        }
        stored => stored.iter().map(|stored| PhotoEncoder::of_stored(stored, given, &places)).collect(),
    };
    found.map_err(|error: EmbedError| match error {
        EmbedError::Refused(problem) => {
            let field = if stored.is_empty() { Field::Encoder } else { Field::EncoderWeights };
            JobError::refused(field, problem.replace("--encoder-weights", "`encoder_weights`"))
        }
        other => other.into(),
    })
}

/// The encoders of a model, if it takes photos.
///
/// # Errors
/// If it takes something else.
pub(super) fn stored(encoders: &[Option<StoredEncoder>], first: &Path) -> Result<Vec<StoredEncoder>> {
    let all: Vec<StoredEncoder> = encoders.iter().flatten().cloned().collect();
    match all.iter().find(|encoder| encoder.kind != PHOTOS) {
        None if !all.is_empty() && all.len() == encoders.len() => Ok(all),
        Some(other) => Err(other_kind(first, &other.kind)),
        None => Err(other_kind(first, "features")),
    }
}

fn other_kind(first: &Path, takes: &str) -> JobError {
    let problem = format!("{} holds photos, but the model takes {takes}; give these", first.display());
    JobError::refused(Field::Data, problem)
}

impl Dataset<'static> {
    /// Rows of photos, by the encoders of a model or those of the specification.
    pub(super) fn of_photos(
        spec: &DataSpec,
        stored: &[StoredEncoder],
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        refuse_for_images(spec, resources)?;
        if spec.paths.is_empty() {
            return Err(JobError::Missing { field: Field::Data });
        }
        let (encoders, images) = (encoders(spec, stored)?, Images::open(&spec.paths)?);
        let mut work = Work::new(&images, resources, observer, encoders.len());
        let done = resources.on_threads(|| -> Result<Vec<Vec<f32>>> {
            encoders.iter().enumerate().map(|(at, encoder)| work.rows(encoder, at)).collect()
        })?;
        let rows = done.map_err(|error| work.kept(error))?;
        let Work { bad, mut notes, used, .. } = work;
        refuse_bad(&bad, images.len(), spec.skip_bad)?;
        notes.extend(bad.iter().map(|(_, problem)| Note::Skipped(problem.clone())));
        let part = |(rows, encoder): (Vec<f32>, &PhotoEncoder)| -> Result<DataPart<'static>> {
            let rows = Arc::new(Features::from_vec(rows, encoder.features())?);
            let origin = spec.paths.first().cloned();
            Ok(DataPart { encoder: Some(encoder.stored()), origin, ..DataPart::new(rows) })
        };
        let parts = rows.into_iter().zip(&encoders).map(part).collect::<Result<_>>()?;
        let names = used.iter().map(|&at| images.name(at)).collect();
        let ids = Ids { values: names, column: "file".to_owned(), certain: false };
        let dropped_ids = bad.iter().map(|(at, _)| images.name(*at)).collect();
        let used = Arc::new(used);
        let kept = (!bad.is_empty()).then(|| (used.clone(), images.len()));
        let photos = Some(Photos { images: Arc::new(images), used, paths: spec.paths.clone() });
        Ok(Self { ids: Some(ids), notes, kept, dropped_ids, photos, ..Self::new(parts)? })
    }
}

impl Dataset<'_> {
    /// The photos behind the rows, if they were photos.
    pub fn photos(&self) -> Option<&Photos> {
        self.photos.as_ref()
    }
}

/// Refuse photos that cannot be used, all of them by name; or only those of which nothing is left where they may be skipped.
fn refuse_bad(bad: &[(usize, String)], all: usize, skip: bool) -> Result<()> {
    if bad.is_empty() || (skip && bad.len() < all) {
        return Ok(());
    }
    let shown: Vec<&str> = bad.iter().take(NAMED).map(|(_, problem)| problem.as_str()).collect();
    let more = bad.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let advice = match skip {
        true => "repair them",
        false => "repair or remove them, or skip such photos (`skip_bad`)",
    };
    let problem =
        format!("{} of {all} photos cannot be used: {}{more}; {advice}", bad.len(), shown.join("; "));
    Err(JobError::refused(Field::Data, problem))
}

/// Photos on their way to rows.
struct Work<'a> {
    images: &'a Images,
    cache: Option<PathBuf>,
    observer: &'a dyn Observer,
    /// How many encoders there are.
    passes: usize,
    contents: Vec<Option<Content>>,
    used: Vec<usize>,
    bad: Vec<(usize, String)>,
    notes: Vec<Note>,
    /// Where finished rows are.
    places: Vec<PathBuf>,
}

impl<'a> Work<'a> {
    fn new(images: &'a Images, resources: &'a Resources, observer: &'a dyn Observer, passes: usize) -> Self {
        let (used, bad, notes, places) = ((0..images.len()).collect(), Vec::new(), Vec::new(), Vec::new());
        let contents = vec![None; images.len()];
        Self { images, cache: resources.cache_folder(), observer, passes, contents, used, bad, notes, places }
    }

    /// The rows of all photos that can be used, by one encoder.
    fn rows(&mut self, encoder: &PhotoEncoder, pass: usize) -> Result<Vec<f32>> {
        self.notes.push(Note::Encoder(encoder.described()));
        let m = encoder.features();
        let mut cache = match &self.cache {
            Some(folder) => Some(RowCache::open(folder, encoder.name(), encoder.fingerprint(), m)?),
            None => None,
        };
        self.places.extend(cache.as_ref().map(|cache| cache.path().to_owned()));
        let todo = std::mem::take(&mut self.used);
        let (mut rows, mut there, mut seen) = (Vec::with_capacity(todo.len() * m), 0, 0);
        for batch in todo.chunks(BATCH) {
            there += self.batch(encoder, cache.as_mut(), batch, &mut rows)?;
            seen += batch.len();
            let done = (pass as f64 + seen as f64 / todo.len() as f64) / self.passes as f64;
            if self.observer.progress(Progress { stage: "encoding", done, loss: None }) == Flow::Stop {
                return Err(partita::Error::Interrupted.into());
            }
        }
        if let Some(cache) = &cache {
            let again = if there > 0 {
                format!("; {there} of {} were already there", todo.len())
            } else {
                String::new()
            };
            self.notes
                .push(Note::Encoder(format!("rows of photos are kept in {}{again}", cache.path().display())));
        }
        Ok(rows)
    }

    /// Append the rows of some photos: those that are kept, and those that are made now. How many were kept.
    fn batch(
        &mut self,
        encoder: &PhotoEncoder,
        mut cache: Option<&mut RowCache>,
        batch: &[usize],
        rows: &mut Vec<f32>,
    ) -> Result<usize> {
        if cache.is_some() {
            let found: Vec<(usize, Content)> = batch
                .par_iter()
                .filter(|&&at| self.contents[at].is_none())
                .filter_map(|&at| Some((at, self.images.content(at).ok()?)))
                .collect();
            found.into_iter().for_each(|(at, content)| self.contents[at] = Some(content));
        }
        let (m, start) = (encoder.features(), rows.len());
        rows.resize(start + batch.len() * m, 0.0);
        let (mut there, mut missing) = (vec![false; batch.len()], Vec::new());
        for (i, at) in batch.iter().enumerate() {
            let row = &mut rows[start + i * m..][..m];
            there[i] = match (&mut cache, &self.contents[*at]) {
                (Some(cache), Some(content)) => cache.read(content, row),
                _ => false,
            };
            missing.extend((!there[i]).then_some(i));
        }
        let size = encoder.network().size();
        let squared = |&i: &usize| (i, self.images.get(batch[i]).map(|image| image.square(size)));
        let decoded: Vec<(usize, std::result::Result<Image, EmbedError>)> =
            missing.par_iter().map(squared).collect();
        let (mut good, mut bad) = (Vec::new(), vec![false; batch.len()]);
        for (i, image) in decoded {
            match image {
                Ok(image) => good.push((i, image)),
                Err(error) => {
                    bad[i] = true;
                    self.bad.push((batch[i], short(&error)));
                }
            }
        }
        let mut made = vec![0.0; good.len() * m];
        let name = |i: usize| self.images.name(batch[good[i].0]);
        encoder.network().encode(|i| Ok(Cow::Borrowed(&good[i].1)), name, &mut made)?;
        if let Some(cache) = cache {
            let kept = good.iter().zip(made.chunks_exact(m));
            let kept = kept.filter_map(|((i, _), row)| Some((self.contents[batch[*i]]?, row)));
            let (contents, fresh): (Vec<Content>, Vec<&[f32]>) = kept.unzip();
            cache.push(&contents, &fresh.concat())?;
        }
        for ((i, _), row) in good.iter().zip(made.chunks_exact(m)) {
            rows[start + i * m..][..m].copy_from_slice(row);
        }
        // What cannot be used leaves no gap.
        let mut end = start;
        for (i, at) in batch.iter().enumerate().filter(|(i, _)| !bad[*i]) {
            rows.copy_within(start + i * m..start + (i + 1) * m, end);
            end += m;
            self.used.push(*at);
        }
        rows.truncate(end);
        Ok(there.into_iter().filter(|there| *there).count())
    }

    /// An error, with where finished rows are.
    fn kept(&self, error: JobError) -> JobError {
        match self.places.last() {
            Some(path) => error.during(format!("finished rows of photos are kept in {}", path.display())),
            None => error,
        }
    }
}

/// What is wrong with a photo.
fn short(problem: &EmbedError) -> String {
    match problem {
        EmbedError::Image { name, problem } => format!("image {name}: {problem}"),
        other => other.to_string(),
    }
}

/// Images from files and folders, with the numbers of those to use: all, or with `skip_bad` those that can be decoded, and a
/// note for each of the others.
///
/// # Errors
/// If a place holds no images, or none that can be used.
pub fn usable_images(paths: &[PathBuf], skip_bad: bool) -> Result<(Images, Vec<usize>, Vec<Note>)> {
    let images = Images::open(paths)?;
    if !skip_bad {
        let used = (0..images.len()).collect();
        return Ok((images, used, Vec::new()));
    }
    let (used, bad) = images.survey();
    let notes: Vec<Note> = bad.iter().map(|problem| Note::Skipped(short(problem))).collect();
    if used.is_empty() {
        let first = notes.first().map(|note| format!(" ({note})")).unwrap_or_default();
        let problem = format!("none of the {} images can be used{first}", images.len());
        return Err(JobError::file(Field::Data, problem));
    }
    Ok((images, used, notes))
}
