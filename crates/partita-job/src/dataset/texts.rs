//! Texts as rows: read from their file, encoded, with blank ones left out.

use super::{DataPart, Dataset, Kind, Note};
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::items::{Items, TextItems};
use crate::resources::Resources;
use crate::spec::DataSpec;
use partita::report::Observer;
use partita_data::model_file::StoredEncoder;
use partita_data::{Ids, TextOptions, TextTable, Texts, read_texts};
use partita_embed::texts::{TextEncoder, Wanted, learnt};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that a note names.
const NAMED: usize = 5;
/// Where a stored encoder keeps the column or field that its texts were in.
const COLUMN: &str = "column";

impl Dataset<'static> {
    /// The texts that a specification names, encoded as it says; what there is to learn for that is learnt from them.
    pub(super) fn open_texts(
        spec: &DataSpec,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        refuse_idle(spec)?;
        let path = spec.paths.first().ok_or(JobError::Missing { field: Field::Data })?;
        let table =
            resources.on_threads(|| read_texts(path, &options(spec, spec.text.clone(), resources)))??;
        let wanted = Wanted { names: &spec.encoder, weights: spec.encoder_weights.as_deref() };
        Self::learning(table, Some(path.clone()), &wanted, resources, observer)
    }

    /// Texts in memory with names of the rows, if they have any, encoded as a specification says.
    ///
    /// # Errors
    /// If there are none, they have no words in common, or the observer stops the work.
    pub fn of_texts(
        texts: Texts,
        ids: Option<Vec<String>>,
        spec: &DataSpec,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let wanted = Wanted { names: &spec.encoder, weights: spec.encoder_weights.as_deref() };
        Self::learning(in_memory(texts, ids), None, &wanted, resources, observer)
    }

    fn learning(
        table: TextTable,
        origin: Option<PathBuf>,
        wanted: &Wanted<'_>,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let read = Read::new(table, origin)?;
        let (encoders, notes) = resources.on_threads(|| {
            let text = |row: usize| read.items.get(row);
            learnt(wanted, read.items.len(), text, observer)
        })??;
        Self::encoded(read, &encoders, notes, resources, observer)
    }

    /// Texts for a model with these encoders.
    pub(super) fn open_texts_for(
        stored: &[Option<StoredEncoder>],
        spec: &DataSpec,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        refuse_idle(spec)?;
        let why = "for a model of texts, which knows its own; leave it out";
        JobError::first_idle(&[(Field::Encoder, !spec.encoder.is_empty())], why)?;
        let path = spec.paths.first().ok_or(JobError::Missing { field: Field::Data })?;
        let known = stored
            .iter()
            .flatten()
            .find_map(column)
            .filter(|_| Kind::of(path, spec).is_ok_and(|kind| kind != Kind::Features));
        // Lines have no columns, whatever those of the fit were in.
        let lines = partita_data::holds_lines(path).unwrap_or(false) && !is_json(path);
        let asked = spec.text.clone().or(known.filter(|_| !lines));
        if asked.is_none() && !matches!(Kind::of_all(spec)?, Kind::Texts | Kind::Table) {
            let problem = format!(
                "the model takes texts, and {} holds none that can be told; give a .txt or .jsonl file, or name the column of a table (`text`)",
                path.display()
            );
            return Err(JobError::refused(Field::Data, problem));
        }
        let table = resources.on_threads(|| read_texts(path, &options(spec, asked, resources)))??;
        Self::known(stored, table, Some(path.clone()), spec.encoder_weights.as_deref(), resources, observer)
    }

    /// Texts in memory for a model with these encoders.
    ///
    /// # Errors
    /// If there are none, the weights of an encoder are not found, or the observer stops the work.
    pub fn of_texts_for(
        stored: &[Option<StoredEncoder>],
        texts: Texts,
        weights: Option<&Path>,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        Self::known(stored, in_memory(texts, None), None, weights, resources, observer)
    }

    fn known(
        stored: &[Option<StoredEncoder>],
        table: TextTable,
        origin: Option<PathBuf>,
        weights: Option<&Path>,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let read = Read::new(table, origin)?;
        let of_features = || {
            JobError::refused(
                Field::Data,
                "the model takes texts and features side by side, which only a newer version of Partita knows",
            )
        };
        let mut encoders = Vec::with_capacity(stored.len());
        for stored in stored {
            let stored = without_column(stored.as_ref().ok_or_else(of_features)?);
            encoders.push(TextEncoder::read(&stored, weights)?);
        }
        Self::encoded(read, &encoders, Vec::new(), resources, observer)
    }

    /// The rows that these encoders make of texts.
    fn encoded(
        read: Read,
        encoders: &[TextEncoder],
        notes: Vec<String>,
        resources: &Resources,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let Read { items, column, origin, ids, kept, dropped, notes: said } = read;
        let mut parts = Vec::with_capacity(encoders.len());
        let mut notes: Vec<Note> = said.into_iter().chain(notes.into_iter().map(Note::Encoder)).collect();
        let cache = resources.cache_folder();
        for encoder in encoders {
            let text = |row: usize| items.get(row);
            let room = (resources.memory, cache.as_deref());
            let found = resources.on_threads(|| encoder.rows(items.len(), text, room, observer))??;
            notes.extend(strange(&found.unknown, &items).map(|text| noted(origin.as_deref(), text)));
            let stored = with_column(encoder.stored(), column.as_deref());
            let rows = DataPart::new(Arc::new(found.rows));
            parts.push(DataPart { origin: origin.clone(), encoder: Some(stored), ..rows });
        }
        let tfidf = encoders.iter().find_map(TextEncoder::tfidf).cloned();
        let dataset = Dataset::new(parts)?;
        let items = Some(Items::Texts(items.encoded_by(tfidf)));
        Ok(Self { items, ids, notes, kept, dropped_ids: dropped, tables: Vec::new(), ..dataset })
    }
}

/// Texts of a file without blank ones.
struct Read {
    items: TextItems,
    column: Option<String>,
    origin: Option<PathBuf>,
    ids: Option<Ids>,
    kept: Option<(Arc<Vec<usize>>, usize)>,
    dropped: Vec<String>,
    notes: Vec<Note>,
}

impl Read {
    fn new(table: TextTable, origin: Option<PathBuf>) -> Result<Self> {
        let TextTable { texts, mut ids, column, notes } = table;
        let all = texts.len();
        let used: Arc<Vec<usize>> = Arc::new((0..all).filter(|&row| !texts.is_blank(row)).collect());
        let mut notes: Vec<Note> = notes.into_iter().map(|text| noted(origin.as_deref(), text)).collect();
        if used.is_empty() {
            let whose =
                origin.as_ref().map_or_else(|| "the data".to_owned(), |path| path.display().to_string());
            let problem =
                format!("{whose} has {all} texts, and all of them are empty; give texts with words");
            return Err(JobError::refused(Field::Data, problem));
        }
        let blank = all - used.len();
        let mut dropped = Vec::new();
        if blank > 0 {
            let are = if blank == 1 { "is empty and" } else { "are empty and" };
            notes.push(noted(
                origin.as_deref(),
                format!("{blank} of {all} texts {are} left out; the others keep their numbers"),
            ));
            if let Some(ids) = &mut ids {
                let mut stays = vec![false; all];
                used.iter().for_each(|&row| stays[row] = true);
                let (stay, gone): (Vec<_>, Vec<_>) =
                    std::mem::take(&mut ids.values).into_iter().enumerate().partition(|(row, _)| stays[*row]);
                ids.values = stay.into_iter().map(|(_, id)| id).collect();
                dropped = gone.into_iter().map(|(_, id)| id).collect();
            }
        }
        let kept = (blank > 0).then(|| (used.clone(), all));
        Ok(Self { items: TextItems::new(Arc::new(texts), used), column, origin, ids, kept, dropped, notes })
    }
}

fn in_memory(texts: Texts, ids: Option<Vec<String>>) -> TextTable {
    let ids = ids.map(|values| Ids { values, column: "id".to_owned(), certain: true });
    TextTable { texts, ids, column: None, notes: Vec::new() }
}

fn options(spec: &DataSpec, column: Option<String>, resources: &Resources) -> TextOptions {
    TextOptions { column, id_column: spec.id_column.clone(), header: spec.header, memory: resources.memory }
}

/// Fields that say something about numbers.
fn refuse_idle(spec: &DataSpec) -> Result<()> {
    let given = [
        (Field::Array, spec.array.is_some()),
        (Field::Columns, !spec.columns.is_empty()),
        (Field::Exclude, !spec.exclude.is_empty()),
        (Field::Missing, spec.missing.is_some()),
    ];
    JobError::first_idle(&given, "for texts; leave it out (`text` names their column)")
}

fn is_json(path: &Path) -> bool {
    Kind::of(path, &DataSpec::default()).is_ok_and(|kind| kind == Kind::Texts)
        && path.extension().is_some_and(|e| e != "txt")
}

fn noted(origin: Option<&Path>, text: String) -> Note {
    match origin {
        Some(path) => Note::Read { path: path.to_owned(), text },
        None => Note::Encoder(text),
    }
}

/// What to say of texts that have no word that is known.
fn strange(empty: &[usize], items: &TextItems) -> Option<String> {
    let shown: Vec<String> = empty.iter().take(NAMED).map(|&row| items.number(row).to_string()).collect();
    let more = if empty.len() > NAMED { ", …" } else { "" };
    let (texts, rows) = if empty.len() == 1 { ("text has", "row") } else { ("texts have", "rows") };
    (!empty.is_empty()).then(|| {
        format!(
            "{} {texts} no word that is known ({rows} {}{more}); such texts go to one cluster, whatever they say (rows count from 0)",
            empty.len(),
            shown.join(", ")
        )
    })
}

/// A stored encoder with the column or field that its texts were in.
fn with_column(mut stored: StoredEncoder, column: Option<&str>) -> StoredEncoder {
    if let (Value::Object(about), Some(column)) = (&mut stored.about, column) {
        about.insert(COLUMN.to_owned(), column.into());
    }
    stored
}

fn column(stored: &StoredEncoder) -> Option<String> {
    Some(stored.about.get(COLUMN)?.as_str()?.to_owned())
}

fn without_column(stored: &StoredEncoder) -> StoredEncoder {
    let mut stored = stored.clone();
    if let Value::Object(about) = &mut stored.about {
        about.remove(COLUMN);
    }
    stored
}
