//! Which columns of a table are features, and which one names the rows.

use crate::classes::LABEL_COLUMNS;
use crate::column::{Column, Kind};
use crate::dressed;
use crate::error::{DataError, Result, list};
use crate::naming::{Naming, naming};
use crate::options::OpenOptions;
use crate::role::Role;
use crate::schema::{ColumnKind, Columns, LeftOut, Why};
use std::collections::HashSet;
use std::path::Path;

const NUMBERS: &str = "features are numbers: choose other columns or convert this one first";

/// The columns of a table, and whether the table names them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<'a> {
    pub(crate) path: &'a Path,
    pub(crate) columns: &'a [Column],
    pub(crate) named: bool,
}

/// The columns to read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Roles {
    /// In the order in which they are wanted.
    pub(crate) features: Vec<usize>,
    pub(crate) id: Option<usize>,
    /// What is kept about them; none for a list.
    pub(crate) columns: Option<Columns>,
    pub(crate) notes: Vec<String>,
}

/// Columns as the options or a model take them, which may not be what their cells look like.
pub(crate) fn taken_for(
    path: &Path,
    columns: &mut [Column],
    named: bool,
    options: &OpenOptions,
) -> Result<()> {
    if let Some(like) = options.like.as_ref().filter(|like| named && like.is_mixed()) {
        for (name, kind) in like.names.iter().zip(&like.kinds) {
            let role = match kind {
                ColumnKind::Category => Role::Category,
                ColumnKind::Date => Role::Date,
                ColumnKind::Number | ColumnKind::Boolean => continue,
            };
            columns
                .iter_mut()
                .filter(|column| column.name == *name)
                .for_each(|column| column.taken_for(role));
        }
    }
    if !named && !options.roles.is_empty() {
        return Err(DataError::Choose {
            path: path.to_owned(),
            problem: "no names of columns, by which to say what they are".into(),
            advice: "write them on its first line; if they are there, set the option header to yes",
            available: list(&columns.iter().map(|column| &column.name).collect::<Vec<_>>()),
        });
    }
    for (name, role) in &options.roles {
        let table = Table { path, columns: &*columns, named };
        let at = table.find(name)?;
        // Several columns may have this name; all of them are meant.
        let name = columns[at].name.clone();
        columns.iter_mut().filter(|column| column.name == name).for_each(|column| column.taken_for(*role));
    }
    Ok(())
}

/// Choose the columns by the options or, without any, by what they hold.
pub(crate) fn choose(table: Table<'_>, options: &OpenOptions) -> Result<Roles> {
    let fixed = fixed(table, options)?;
    let named = |i: &usize| naming(*i, &table.columns[*i]) == Some(Naming::Rows) && fixed[*i].is_none();
    let id = match &options.id_column {
        Some(name) => Some(table.find(name)?),
        None => (0..table.columns.len()).find(named),
    };
    let like = options.like.as_ref().filter(|_| table.named);
    let features = match (like, options.columns.as_slice()) {
        (Some(like), chosen) => table.like(like, chosen, &fixed)?,
        (None, []) => table.all_features(id, &fixed, options)?,
        (None, chosen) => table.chosen_features(chosen, &fixed, options)?,
    };
    let id = id.filter(|i| !features.contains(i));
    let mut roles = Roles { features, id, ..Roles::default() };
    let left_out = table.left_out(&roles, &fixed);
    roles.notes = match like {
        Some(like) => table.notes_like(&roles, &left_out, like),
        None => table.notes(&roles, &left_out, options),
    };
    if like.is_none() {
        roles.notes.extend(table.notes_of_features(&roles.features));
    }
    let list = roles.features.iter().any(|&i| table.columns[i].kind == Kind::List);
    roles.columns = (!list).then(|| table.schema(&roles.features, left_out, options));
    Ok(roles)
}

/// Why columns cannot be features, as far as the options say so.
fn fixed(table: Table<'_>, options: &OpenOptions) -> Result<Vec<Option<Why>>> {
    let mut fixed = vec![None; table.columns.len()];
    for name in &options.exclude {
        if let Some(i) = table.position(name) {
            fixed[i] = Some(Why::Excluded);
        }
    }
    for (fixed, column) in fixed.iter_mut().zip(table.columns) {
        match column.role {
            Some(Role::Skip) => *fixed = Some(Why::Excluded),
            Some(Role::Text) => *fixed = Some(Why::Text),
            _ => {}
        }
    }
    for (name, why) in &options.taken {
        fixed[table.find(name)?] = Some(*why);
    }
    Ok(fixed)
}

impl Table<'_> {
    /// The column of this name or number.
    pub(crate) fn find(self, name: &str) -> Result<usize> {
        self.position(name).ok_or_else(|| DataError::NoSuchName {
            path: self.path.to_owned(),
            kind: "column",
            name: name.to_owned(),
            available: self.names(),
        })
    }

    fn position(self, name: &str) -> Option<usize> {
        let number = || name.parse::<usize>().ok().filter(|i| (1..=self.columns.len()).contains(i));
        self.columns.iter().position(|c| c.name == name).or_else(|| number().map(|i| i - 1))
    }

    fn names(self) -> String {
        list(&self.columns.iter().map(|c| c.name.as_str()).collect::<Vec<_>>())
    }

    /// The columns of a model.
    fn like(self, like: &Columns, chosen: &[String], fixed: &[Option<Why>]) -> Result<Vec<usize>> {
        let mut pool: Vec<usize> = match chosen {
            [] => (0..self.columns.len()).collect(),
            names => names.iter().map(|name| self.find(name)).collect::<Result<_>>()?,
        };
        pool.retain(|i| fixed[*i].is_none());
        let names: Vec<&str> = pool.iter().map(|&i| self.columns[i].name.as_str()).collect();
        let found: Vec<usize> = like.find(self.path, &names)?.into_iter().map(|at| pool[at]).collect();
        let kinds = like.kinds.iter().copied().chain(std::iter::repeat(ColumnKind::Number));
        let numbers = found.iter().zip(kinds).filter(|(_, kind)| kind.is_number()).map(|(&at, _)| at);
        self.check_numbers(&numbers.collect::<Vec<_>>())?;
        Ok(found)
    }

    fn chosen_features(
        self,
        wanted: &[String],
        fixed: &[Option<Why>],
        options: &OpenOptions,
    ) -> Result<Vec<usize>> {
        let mut features = wanted.iter().map(|w| self.find(w)).collect::<Result<Vec<_>>>()?;
        features.sort_unstable();
        features.dedup();
        let id = options.id_column.as_ref().and_then(|name| self.position(name));
        let why = |i: usize| fixed[i].or((Some(i) == id).then_some(Why::Id));
        if let Some((i, why)) = features.iter().find_map(|&i| Some((i, why(i)?))) {
            let problem =
                format!("the column '{}', which {why} and cannot be a feature too", self.columns[i].name);
            return Err(self.choose_error(&problem, "choose it for one of them"));
        }
        let lists = features.iter().filter(|&&i| self.columns[i].kind == Kind::List).count();
        if lists > 0 && features.len() > 1 {
            return Err(self.choose_error("lists among the chosen columns", "choose one list alone"));
        }
        if lists == 0 {
            let typed = |i: &usize| self.may_be_mixed(options) && self.columns[*i].kind.is_typed();
            self.check_numbers(&features.iter().copied().filter(|i| !typed(i)).collect::<Vec<_>>())?;
        }
        Ok(features)
    }

    fn check_numbers(self, features: &[usize]) -> Result<()> {
        match features.iter().find(|&&i| !self.columns[i].kind.is_feature()) {
            Some(&i) => Err(DataError::Dtype {
                path: self.path.to_owned(),
                what: format!("column '{}'", self.columns[i].name),
                dtype: if self.columns[i].kind == Kind::Text { "text".into() } else { "no numbers".into() },
                advice: NUMBERS,
            }),
            None => Ok(()),
        }
    }

    /// Whether words and dates may be features.
    fn may_be_mixed(self, options: &OpenOptions) -> bool {
        options.mixed && self.named
    }

    /// The only list, or else every column that measures something.
    fn all_features(
        self,
        id: Option<usize>,
        fixed: &[Option<Why>],
        options: &OpenOptions,
    ) -> Result<Vec<usize>> {
        let free = |i: &usize| Some(*i) != id && fixed[*i].is_none();
        let of = |kind: fn(Kind) -> bool| -> Vec<usize> {
            (0..self.columns.len()).filter(free).filter(|&i| kind(self.columns[i].kind)).collect()
        };
        let usable = if self.may_be_mixed(options) { Kind::is_typed } else { Kind::is_feature };
        let (lists, numbers) = (of(|kind| kind == Kind::List), of(usable));
        let measured: Vec<usize> =
            numbers.iter().copied().filter(|&i| naming(i, &self.columns[i]).is_none()).collect();
        match (lists.len(), measured.len(), numbers.len()) {
            (0, 0, 0) => {
                Err(self.choose_error("no column of numbers", "give a file with columns of numbers"))
            }
            (0, 0, _) => {
                let problem = if self.may_be_mixed(options) {
                    "only columns that name things, such as ids and codes"
                } else {
                    "only columns of numbers that name things, such as ids and codes"
                };
                Err(self.choose_error(problem, "choose columns by name if they measure something"))
            }
            (0, ..) => Ok(measured),
            (1, ..) => Ok(lists),
            _ => Err(self.choose_error("several columns of lists", "name the one to use")),
        }
    }

    fn choose_error(self, problem: &str, advice: &'static str) -> DataError {
        let path = self.path.to_owned();
        DataError::Choose { path, problem: problem.into(), advice, available: self.names() }
    }

    /// All columns that are no features, with the reason.
    fn left_out(self, roles: &Roles, fixed: &[Option<Why>]) -> Vec<(usize, Why)> {
        let reason = |i: usize| match (fixed[i], naming(i, &self.columns[i])) {
            (Some(why), _) => why,
            _ if roles.id == Some(i) => Why::Id,
            (None, Some(Naming::Rows)) => Why::Id,
            (None, Some(Naming::Code)) => Why::Code,
            (None, None) => Why::Text,
        };
        let features: HashSet<usize> = roles.features.iter().copied().collect();
        let others = (0..self.columns.len()).filter(|i| !features.contains(i));
        others.map(|i| (i, reason(i))).collect()
    }

    fn schema(self, features: &[usize], left_out: Vec<(usize, Why)>, options: &OpenOptions) -> Columns {
        let name = |i: usize| self.columns[i].name.clone();
        let kind = |&i: &usize| match self.columns[i].kind {
            Kind::Boolean => ColumnKind::Boolean,
            Kind::Text => ColumnKind::Category,
            Kind::Date(_) => ColumnKind::Date,
            _ => ColumnKind::Number,
        };
        let chosen = !options.columns.is_empty();
        let said = |(i, why): (usize, Why)| LeftOut { name: name(i), why };
        Columns {
            names: features.iter().map(|&i| name(i)).collect(),
            kinds: features.iter().map(kind).collect(),
            left_out: left_out
                .into_iter()
                .filter(|(_, why)| !chosen || !matches!(why, Why::Text | Why::Code))
                .map(said)
                .collect(),
        }
    }

    /// What to know about columns of words and dates among the features.
    fn notes_of_features(self, features: &[usize]) -> Vec<String> {
        let note = |&i: &usize| {
            let Column { name, kind, sample, .. } = &self.columns[i];
            let example = || sample.first().map_or("", |cell| cell.as_str());
            match kind {
                Kind::Text => dressed::example(sample).map(|example| {
                    format!("column '{name}' holds numbers with signs or separators, such as '{example}', and is taken for words; write them as plain numbers to use them as such")
                }),
                Kind::Date(order) if crate::dates::order(sample) == Some((*order, true)) => {
                    let first = if *order == crate::dates::Order::Month { "month" } else { "day" };
                    Some(format!("the dates of column '{name}', such as '{}', are read with the {first} first", example()))
                }
                _ => None,
            }
        };
        features.iter().filter_map(note).collect()
    }

    /// What to know about the choice, for a model that has made it already.
    fn notes_like(self, roles: &Roles, left_out: &[(usize, Why)], like: &Columns) -> Vec<String> {
        let known: HashSet<&str> = like.left_out.iter().map(|out| out.name.as_str()).collect();
        let others = left_out
            .iter()
            .filter(|(i, _)| roles.id != Some(*i))
            .map(|(i, _)| self.columns[*i].name.as_str());
        let extra: Vec<&str> = others.filter(|name| !known.contains(name)).collect();
        match extra.is_empty() {
            true => Vec::new(),
            false => vec![format!("left out, being no columns of the model: {}", list(&extra))],
        }
    }

    fn notes(self, roles: &Roles, left_out: &[(usize, Why)], options: &OpenOptions) -> Vec<String> {
        let name = |i: usize| self.columns[i].name.as_str();
        let of = |wanted: Why| -> Vec<&str> {
            left_out.iter().filter(|(_, why)| *why == wanted).map(|(i, _)| name(*i)).collect()
        };
        let mut notes = Vec::new();
        for (i, why) in left_out {
            let asked = roles.id == Some(*i) && options.id_column.is_some();
            if matches!(why, Why::Id | Why::Truth | Why::Known | Why::Weights) && !asked {
                notes.push(format!("column '{}' {why} and is not a feature", name(*i)));
            }
        }
        if !options.columns.is_empty() {
            return notes;
        }
        let codes = of(Why::Code);
        if !codes.is_empty() {
            let codes = list(&codes);
            notes.push(format!(
                "left out, being codes and no measurements: {codes}; choose columns to use them"
            ));
        }
        let text = of(Why::Text);
        if !text.is_empty() {
            notes.push(format!("left out, being no features: {}", list(&text)));
        }
        notes.extend(left_out.iter().filter(|(_, why)| *why == Why::Text).filter_map(|(i, _)| {
            let example = dressed::example(&self.columns[*i].sample)?;
            let column = name(*i);
            Some(format!(
                "column '{column}' holds numbers with signs or separators, such as '{example}'; write them as plain numbers to use them"
            ))
        }));
        // A coordinate is often called y, so that name alone says nothing.
        let label = |i: &&usize| LABEL_COLUMNS.iter().any(|l| *l != "y" && name(**i).eq_ignore_ascii_case(l));
        if let Some(&i) = roles.features.iter().find(label) {
            notes.push(format!("column '{}' is used as a feature; exclude it if it is a label", name(i)));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(spec: &[(&str, Kind)]) -> Vec<Column> {
        let column =
            |&(name, kind): &(&str, Kind)| Column { whole: kind == Kind::Number, ..Column::new(name, kind) };
        spec.iter().map(column).collect()
    }

    fn roles(spec: &[(&str, Kind)], options: &OpenOptions) -> Result<Roles> {
        choose(Table { path: Path::new("t"), columns: &columns(spec), named: true }, options)
    }

    #[test]
    fn numbers_are_features_and_the_first_text_names_rows() {
        let table = [("name", Kind::Text), ("a", Kind::Number), ("kind", Kind::Text), ("b", Kind::Boolean)];
        let found = roles(&table, &OpenOptions::default()).unwrap();
        assert_eq!((found.features, found.id), (vec![1, 3], Some(0)));
        assert!(found.notes.iter().any(|n| n.contains("'kind'")));
        assert_eq!(found.columns.unwrap().kinds, [ColumnKind::Number, ColumnKind::Boolean]);
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

    #[test]
    fn columns_with_another_use_are_no_features() {
        let table = [("zip", Kind::Number), ("a", Kind::Number), ("b", Kind::Number), ("t", Kind::Number)];
        let options = OpenOptions {
            exclude: vec!["b".into(), "not there".into()],
            taken: vec![("t".into(), Why::Truth)],
            ..Default::default()
        };
        let found = roles(&table, &options).unwrap();
        assert_eq!(found.features, [1]);
        let why: Vec<Why> = found.columns.unwrap().left_out.iter().map(|out| out.why).collect();
        assert_eq!(why, [Why::Code, Why::Excluded, Why::Truth]);
        let both = OpenOptions { columns: vec!["t".into()], ..options };
        assert!(roles(&table, &both).unwrap_err().to_string().contains("'t', which holds the true labels"));
        // What is chosen by name is a feature, whatever it looks like.
        let chosen = OpenOptions { columns: vec!["zip".into()], ..Default::default() };
        assert_eq!(roles(&table, &chosen).unwrap().features, [0]);
    }

    #[test]
    fn a_model_gets_its_columns_in_its_order() {
        let table = [("c", Kind::Number), ("new", Kind::Number), ("a", Kind::Number), ("b", Kind::Text)];
        let like = |names: [&str; 2]| OpenOptions { like: Some(Columns::named(names)), ..Default::default() };
        let found = roles(&table, &like(["a", "c"])).unwrap();
        assert_eq!(found.features, [2, 0]);
        assert!(found.notes[0].contains("no columns of the model: 'new'"), "{:?}", found.notes);
        assert!(matches!(roles(&table, &like(["a", "d"])), Err(DataError::OtherColumns { .. })));
        assert!(matches!(roles(&table, &like(["a", "b"])), Err(DataError::Dtype { .. })));
    }
}
