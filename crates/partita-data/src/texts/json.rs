//! A field of JSON lines: an object in each line.

use super::build::Builder;
use super::lines::{load, places};
use super::object::{NameSeed, ValueSeed};
use super::{TextOptions, TextTable, USUAL};
use crate::cells::{Cells, Choose};
use crate::column::{Column, Kind};
use crate::error::{DataError, Result, list};
use crate::ids::Ids;
use crate::naming::is_certain;
use serde::de::DeserializeSeed;
use std::fs::File;
use std::path::Path;

const FORMAT: &str = "JSON lines";
/// Lines that show which fields there are.
const SAMPLE: usize = 200;
/// Memory for text that has to be converted where labels are read.
const MEMORY: usize = 1 << 30;

pub(super) fn read(path: &Path, file: &File, packed: bool, options: &TextOptions) -> Result<TextTable> {
    let text = load(path, file, packed, options.memory)?;
    let places = places(path, &text)?;
    let lines = Lines { path, text: &text, places: &places };
    let fields = lines.fields()?;
    let wanted = match &options.column {
        Some(typed) => wanted(path, typed, &fields)?,
        None => vec![usual(path, &fields)?],
    };
    let id = id_field(path, options.id_column.as_deref(), &fields)?.filter(|id| !wanted.contains(id));
    let names: Vec<&str> = wanted.iter().chain(&id).map(String::as_str).collect();
    let column = id.as_ref().map(|id| Column::new(id, Kind::Text));
    let mut builder =
        Builder::new(path, options.memory, usize::MAX).named(column.as_ref(), options.id_column.is_some());
    lines.each(&names, |values| {
        let (texts, rest) = values.split_at_mut(wanted.len());
        builder.push(texts.iter().map(|value| value.as_deref().unwrap_or_default()))?;
        if let (Some(ids), Some(value)) = (&mut builder.ids, rest.first_mut()) {
            ids.values.push(value.take().unwrap_or_default());
        }
        Ok(())
    })?;
    let (texts, ids) = builder.finish()?;
    Ok(TextTable { texts, ids, column: Some(wanted.join(",")), notes: text.notes.clone() })
}

/// The values of a field as cells, for labels and weights: the one that is asked for, or the first of the usual names.
pub(crate) fn cells(path: &Path, file: &File, packed: bool, choose: Choose<'_>) -> Result<Cells> {
    let text = load(path, file, packed, MEMORY)?;
    let places = places(path, &text)?;
    let lines = Lines { path, text: &text, places: &places };
    let fields = lines.fields()?;
    let called = |name: &&str| fields.iter().find(|field| field.name.eq_ignore_ascii_case(name));
    let column = match choose.column {
        Some(name) => find(path, name, &fields)?,
        None => choose
            .called
            .iter()
            .find_map(called)
            .ok_or_else(|| unclear(path, &fields, "name it after the file and a colon"))?,
    };
    let column = column.name.clone();
    let id = id_field(path, None, &fields)?.filter(|id| *id != column);
    let names: Vec<&str> = std::iter::once(&column).chain(&id).map(String::as_str).collect();
    let (mut found, mut ids) = (Vec::new(), Vec::new());
    lines.each(&names, |values| {
        let mut values = values.iter_mut().map(|value| value.take().unwrap_or_default());
        found.extend(values.next());
        ids.extend(values.next());
        Ok(())
    })?;
    let ids = id.map(|column| Ids { values: ids, certain: is_certain(&column), column });
    Ok(Cells { column: Some(column), cells: found, ids, notes: text.notes.clone() })
}

/// A field, by the first lines.
#[derive(Debug)]
struct Field {
    name: String,
    /// In how many lines it is text.
    texts: usize,
}

fn find<'f>(path: &Path, name: &str, fields: &'f [Field]) -> Result<&'f Field> {
    fields.iter().find(|field| field.name == name).ok_or_else(|| DataError::NoSuchName {
        path: path.to_owned(),
        kind: "field",
        name: name.to_owned(),
        available: list(&fields.iter().map(|field| &field.name).collect::<Vec<_>>()),
    })
}

/// The field of this name or, if there is none, those whose names stand between its commas.
fn wanted(path: &Path, typed: &str, fields: &[Field]) -> Result<Vec<String>> {
    match find(path, typed, fields) {
        Err(_) if typed.contains(',') => {
            typed.split(',').map(|name| Ok(find(path, name.trim(), fields)?.name.clone())).collect()
        }
        found => Ok(vec![found?.name.clone()]),
    }
}

fn usual(path: &Path, fields: &[Field]) -> Result<String> {
    let text = |field: &&Field| field.texts > 0 && !is_certain(&field.name);
    let called = |name: &&str| fields.iter().filter(text).find(|field| field.name.eq_ignore_ascii_case(name));
    let mut all = fields.iter().filter(text);
    let only = match (all.next(), all.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    };
    let found = USUAL.iter().find_map(called).or(only);
    found.map(|field| field.name.clone()).ok_or_else(|| unclear(path, fields, "name it (`text`)"))
}

fn unclear(path: &Path, fields: &[Field], advice: &'static str) -> DataError {
    DataError::Choose {
        path: path.to_owned(),
        problem: "no field that is clearly the one that is wanted".into(),
        advice,
        available: list(&fields.iter().map(|field| &field.name).collect::<Vec<_>>()),
    }
}

fn id_field(path: &Path, asked: Option<&str>, fields: &[Field]) -> Result<Option<String>> {
    match asked {
        Some(name) => Ok(Some(find(path, name, fields)?.name.clone())),
        None => Ok(fields.iter().find(|field| is_certain(&field.name)).map(|field| field.name.clone())),
    }
}

/// The lines of a file.
struct Lines<'a> {
    path: &'a Path,
    text: &'a [u8],
    places: &'a [(usize, usize)],
}

impl Lines<'_> {
    /// The fields of the first lines, in the order in which they appear.
    fn fields(&self) -> Result<Vec<Field>> {
        let mut fields: Vec<Field> = Vec::new();
        for (number, line) in self.filled().take(SAMPLE) {
            let names = self.parsed(number, line, NameSeed)?;
            for (name, text) in names {
                match fields.iter_mut().find(|field| field.name == name) {
                    Some(field) => field.texts += usize::from(text),
                    None => fields.push(Field { name, texts: usize::from(text) }),
                }
            }
        }
        Ok(fields)
    }

    /// Show the values of these fields in each line, in their order; blank lines are objects without fields.
    fn each(&self, names: &[&str], mut show: impl FnMut(&mut [Option<String>]) -> Result<()>) -> Result<()> {
        for number in 0..self.places.len() {
            let line = self.line(number);
            let mut values = match line.trim_ascii().is_empty() {
                true => vec![None; names.len()],
                false => self.parsed(number, line, ValueSeed(names))?,
            };
            show(&mut values)?;
        }
        Ok(())
    }

    fn line(&self, number: usize) -> &[u8] {
        let (start, len) = self.places[number];
        &self.text[start..start + len]
    }

    fn filled(&self) -> impl Iterator<Item = (usize, &[u8])> {
        (0..self.places.len())
            .map(|number| (number, self.line(number)))
            .filter(|(_, line)| !line.trim_ascii().is_empty())
    }

    fn parsed<'l, S: DeserializeSeed<'l>>(&self, number: usize, line: &'l [u8], seed: S) -> Result<S::Value> {
        let mut source = serde_json::Deserializer::from_slice(line);
        let found = seed.deserialize(&mut source).and_then(|value| source.end().map(|()| value));
        found.map_err(|error| {
            let byte = self.places[number].0 + error.column().saturating_sub(1);
            let told = error.to_string();
            let what = told.split(" at line ").next().unwrap_or_default();
            let problem = format!("line {}, byte {byte} of the file: {what}", number + 1);
            DataError::corrupt(self.path, FORMAT, problem)
        })
    }
}
