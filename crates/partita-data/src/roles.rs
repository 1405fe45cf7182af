//! Which columns of a table are features, and which one names the rows.

use crate::classes::LABEL_COLUMNS;
use crate::error::{DataError, Result, list};
use crate::options::OpenOptions;
use std::path::Path;

/// Headers of columns that number or name the rows: clustering by them would be a silent mistake.
const ID_COLUMNS: [&str; 6] = ["", "id", "index", "row", "unnamed: 0", "__index_level_0__"];
const NUMBERS: &str = "features are numbers: choose other columns or convert this one first";

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One number a row.
    Number,
    /// Several numbers a row.
    List,
    /// Text.
    Text,
    /// Anything else.
    Other,
}

/// A column of a table. Columns without a header are called by their number, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// The columns to read, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Roles {
    pub(crate) features: Vec<usize>,
    pub(crate) id: Option<usize>,
    pub(crate) notes: Vec<String>,
}

/// Choose the columns by the options or, without any, by what they hold.
pub(crate) fn choose(path: &Path, columns: &[Column], options: &OpenOptions) -> Result<Roles> {
    let id = match &options.id_column {
        Some(name) => Some(find(path, columns, name)?),
        None => columns.iter().enumerate().position(|(i, c)| names_rows(i, c)),
    };
    let features = match options.columns.as_slice() {
        [] => all_features(path, columns, id)?,
        names => chosen_features(path, columns, names)?,
    };
    let id = id.filter(|i| !features.contains(i));
    let notes = notes(columns, &features, id, options);
    Ok(Roles { features, id, notes })
}

fn names_rows(index: usize, column: &Column) -> bool {
    let text_first = index == 0 && column.kind == Kind::Text;
    let named = ID_COLUMNS.iter().any(|n| column.name.trim().eq_ignore_ascii_case(n));
    text_first || (named && matches!(column.kind, Kind::Text | Kind::Number))
}

fn find(path: &Path, columns: &[Column], name: &str) -> Result<usize> {
    let by_number = || name.parse::<usize>().ok().filter(|i| (1..=columns.len()).contains(i)).map(|i| i - 1);
    columns.iter().position(|c| c.name == name).or_else(by_number).ok_or_else(|| DataError::NoSuchName {
        path: path.to_owned(),
        kind: "column",
        name: name.to_owned(),
        available: names(columns),
    })
}

fn names(columns: &[Column]) -> String {
    list(&columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>())
}

fn chosen_features(path: &Path, columns: &[Column], wanted: &[String]) -> Result<Vec<usize>> {
    let mut features = wanted.iter().map(|w| find(path, columns, w)).collect::<Result<Vec<_>>>()?;
    features.sort_unstable();
    features.dedup();
    let lists = features.iter().filter(|&&i| columns[i].kind == Kind::List).count();
    if lists > 0 && features.len() > 1 {
        return Err(choose_error(path, columns, "lists among the chosen columns", "choose one list alone"));
    }
    match features.iter().find(|&&i| !matches!(columns[i].kind, Kind::Number | Kind::List)) {
        Some(&i) => Err(DataError::Dtype {
            path: path.to_owned(),
            what: format!("column '{}'", columns[i].name),
            dtype: if columns[i].kind == Kind::Text { "text".into() } else { "no numbers".into() },
            advice: NUMBERS,
        }),
        None => Ok(features),
    }
}

/// The only list, or else every number that does not name rows.
fn all_features(path: &Path, columns: &[Column], id: Option<usize>) -> Result<Vec<usize>> {
    let of = |kind: Kind| (0..columns.len()).filter(|&i| columns[i].kind == kind && Some(i) != id).collect();
    let (lists, numbers): (Vec<usize>, Vec<usize>) = (of(Kind::List), of(Kind::Number));
    match (lists.len(), numbers.len()) {
        (0, 0) => {
            Err(choose_error(path, columns, "no column of numbers", "give a file with columns of numbers"))
        }
        (0, _) => Ok(numbers),
        (1, _) => Ok(lists),
        _ => Err(choose_error(path, columns, "several columns of lists", "name the one to use")),
    }
}

fn choose_error(path: &Path, columns: &[Column], problem: &str, advice: &'static str) -> DataError {
    DataError::Choose { path: path.to_owned(), problem: problem.into(), advice, available: names(columns) }
}

fn notes(columns: &[Column], features: &[usize], id: Option<usize>, options: &OpenOptions) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(i) = id.filter(|_| options.id_column.is_none()) {
        notes.push(format!("column '{}' names the rows and is not a feature", columns[i].name));
    }
    if !options.columns.is_empty() {
        return notes;
    }
    let left_out: Vec<&str> = (0..columns.len())
        .filter(|i| features.binary_search(i).is_err() && Some(*i) != id)
        .map(|i| columns[i].name.as_str())
        .collect();
    if !left_out.is_empty() {
        notes.push(format!("left out, being no features: {}", list(&left_out)));
    }
    // A coordinate is often called y, so that name alone says nothing.
    let label =
        |i: &&usize| LABEL_COLUMNS.iter().any(|l| *l != "y" && columns[**i].name.eq_ignore_ascii_case(l));
    if let Some(&i) = features.iter().find(label) {
        notes.push(format!(
            "column '{}' is used as a feature; choose columns if it is a label",
            columns[i].name
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(spec: &[(&str, Kind)]) -> Vec<Column> {
        spec.iter().map(|&(name, kind)| Column { name: name.into(), kind }).collect()
    }

    fn roles(spec: &[(&str, Kind)], options: &OpenOptions) -> Result<Roles> {
        choose(Path::new("t"), &columns(spec), options)
    }

    #[test]
    fn numbers_are_features_and_the_first_text_names_rows() {
        let table = [("name", Kind::Text), ("a", Kind::Number), ("kind", Kind::Text), ("b", Kind::Number)];
        let found = roles(&table, &OpenOptions::default()).unwrap();
        assert_eq!((found.features, found.id), (vec![1, 3], Some(0)));
        assert!(found.notes.iter().any(|n| n.contains("'kind'")));
        let by_name =
            OpenOptions { columns: vec!["b".into()], id_column: Some("kind".into()), ..Default::default() };
        let found = roles(&table, &by_name).unwrap();
        assert_eq!((found.features, found.id), (vec![3], Some(2)));
    }

    #[test]
    fn a_numbered_index_is_no_feature_and_labels_are_pointed_out() {
        let table = [("", Kind::Number), ("a", Kind::Number), ("label", Kind::Number)];
        let found = roles(&table, &OpenOptions::default()).unwrap();
        assert_eq!((found.features, found.id), (vec![1, 2], Some(0)));
        assert!(found.notes.iter().any(|n| n.contains("'label' is used")));
    }

    #[test]
    fn one_list_is_enough_and_two_are_too_many() {
        let table = [("text", Kind::Text), ("embedding", Kind::List), ("stars", Kind::Number)];
        assert_eq!(roles(&table, &OpenOptions::default()).unwrap().features, [1]);
        let table = [("a", Kind::List), ("b", Kind::List)];
        assert!(matches!(roles(&table, &OpenOptions::default()), Err(DataError::Choose { .. })));
        let wrong = OpenOptions { columns: vec!["c".into()], ..Default::default() };
        assert!(roles(&table, &wrong).unwrap_err().to_string().contains("'a', 'b'"));
    }
}
