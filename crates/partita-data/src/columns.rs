//! Arrow columns to rows: shared by Parquet and Arrow files.

use crate::arrays::{label_cells, moments, numbers, strings};
use crate::column::{Column, Kind};
use crate::dates::{self, Moment, Order};
use crate::error::{DataError, Result};
use crate::features::Features;
use crate::ids::Ids;
use crate::levels::{Dictionary, Levels};
use crate::naming::is_certain;
use crate::options::OpenOptions;
use crate::roles::{Roles, Table, choose, taken_for};
use crate::sink::Sink;
use crate::table;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Repeated values take next to no room in these formats, so that a hostile file of a kilobyte could fill a disk. Even
/// sparse tables stay far below this many values for a byte of file …
const VALUES_PER_BYTE: u64 = 1024;
/// … and tables of fewer values do no harm.
const SMALL: u64 = 1 << 24;

/// The most values to accept from a file of `len` bytes.
pub(crate) fn most_values(len: u64) -> u64 {
    len.saturating_mul(VALUES_PER_BYTE).max(SMALL)
}

/// Values decoded at a time.
const BATCH: usize = 1 << 20;

/// Rows that are decoded at a time.
pub(crate) fn rows_at_a_time(columns: usize) -> usize {
    (BATCH / columns.max(1)).clamp(64, 1 << 14)
}

/// Rows that show what the columns hold.
pub(crate) const SAMPLE: usize = 200;

/// What the columns of a schema hold, without any values.
pub(crate) fn describe(schema: &Schema) -> Vec<Column> {
    let kind = |t: &DataType| match t {
        DataType::Boolean => Kind::Boolean,
        t if is_number(t) => Kind::Number,
        DataType::List(f) | DataType::LargeList(f) | DataType::FixedSizeList(f, _)
            if is_number(f.data_type()) =>
        {
            Kind::List
        }
        t if is_text(t) => Kind::Text,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Kind::Date(Order::Year),
        DataType::Dictionary(_, values) if is_text(values) => Kind::Text,
        _ => Kind::Other,
    };
    let column = |f: &Arc<Field>| Column {
        whole: f.data_type().is_integer(),
        ..Column::new(f.name(), kind(f.data_type()))
    };
    schema.fields().iter().map(column).collect()
}

/// The columns whose values may name something.
pub(crate) fn telling(columns: &[Column]) -> Vec<usize> {
    (0..columns.len()).filter(|&i| columns[i].whole || columns[i].kind == Kind::Text).collect()
}

/// Fill in the first values of the columns at these places, which are those of the batch.
pub(crate) fn sample(columns: &mut [Column], places: &[usize], batch: &RecordBatch) {
    for (&place, array) in places.iter().zip(batch.columns()) {
        let cells = strings(&array.slice(0, array.len().min(SAMPLE))).unwrap_or_default();
        columns[place].sample = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
    }
}

fn is_number(t: &DataType) -> bool {
    t.is_integer() || t.is_floating() || *t == DataType::Boolean
}

fn is_text(t: &DataType) -> bool {
    matches!(t, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Collects the rows of record batches that hold the chosen columns only.
pub(crate) struct Collector {
    path: PathBuf,
    columns: Vec<Column>,
    roles: Roles,
    /// Whether the column of names is called so.
    certain: bool,
    memory: usize,
    sink: Option<Sink>,
    /// Cells of a row, once known.
    m: usize,
    /// The words of each feature that has some.
    words: Vec<Dictionary>,
    /// Cells of each feature that count as missing because they are not what the column is said to hold.
    odd: Vec<usize>,
    rows: u64,
    /// Most values to accept.
    limit: u64,
    ids: Vec<String>,
    block: Vec<f32>,
}

impl Collector {
    /// Rows of the file at `path`, which has `len` bytes and these columns.
    pub(crate) fn new(path: &Path, len: u64, columns: Vec<Column>, options: &OpenOptions) -> Result<Self> {
        let columns = taken(path, columns, options)?;
        let roles = choose(Table { path, columns: &columns, named: true }, options)?;
        let certain = |id: usize| options.id_column.is_some() || is_certain(&columns[id].name);
        let certain = roles.id.is_some_and(certain);
        let path = path.to_owned();
        let (words, odd) = (vec![Dictionary::default(); roles.features.len()], vec![0; roles.features.len()]);
        Ok(Self {
            path,
            columns,
            roles,
            words,
            odd,
            certain,
            memory: options.memory,
            sink: None,
            m: 0,
            rows: 0,
            limit: most_values(len),
            ids: Vec::new(),
            block: Vec::new(),
        })
    }

    /// Indices of the columns to read, ascending.
    pub(crate) fn projection(&self) -> Vec<usize> {
        let mut wanted: Vec<usize> = self.roles.features.iter().copied().chain(self.roles.id).collect();
        wanted.sort_unstable();
        wanted
    }

    /// Add a batch of the projected columns. It is taken in slices: columns of a hostile file may share their bytes, so
    /// that a batch can be far larger as rows than it is in the file.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let step = rows_at_a_time(batch.num_columns());
        for start in (0..batch.num_rows()).step_by(step) {
            self.add_slice(&batch.slice(start, step.min(batch.num_rows() - start)))?;
        }
        Ok(())
    }

    fn add_slice(&mut self, batch: &RecordBatch) -> Result<()> {
        let projection = self.projection();
        let column = |index: usize| projection.binary_search(&index).ok().map(|at| batch.column(at));
        let features: Vec<&ArrayRef> = self.roles.features.iter().filter_map(|&i| column(i)).collect();
        let id = self.roles.id.and_then(column);
        self.block.clear();
        if self.columns[self.roles.features[0]].kind == Kind::List {
            self.add_lists(features[0])?;
        } else {
            self.add_typed(&features, batch.num_rows())?;
        }
        if let Some(id) = id {
            self.add_ids(id)?;
        }
        self.rows += batch.num_rows() as u64;
        if self.rows.saturating_mul(self.m as u64) > self.limit {
            let problem =
                format!("it unpacks to more than {} numbers, which its size does not justify", self.limit);
            return Err(DataError::corrupt(&self.path, "table", problem));
        }
        self.sink.get_or_insert_with(|| Sink::new(&self.path, self.m, self.memory)).push(&self.block)
    }

    /// All rows.
    pub(crate) fn finish(mut self) -> Result<Features> {
        self.note_odd_cells();
        let list = self.columns[self.roles.features[0]].kind == Kind::List;
        let columns = if list { 0 } else { self.roles.features.len() as u64 };
        let Some(sink) = self.sink else {
            return Err(DataError::Empty { path: self.path, rows: 0, columns });
        };
        let (values, certain) = (self.ids, self.certain);
        let ids = self.roles.id.map(|id| Ids { values, column: self.columns[id].name.clone(), certain });
        let is_words = |&i: &usize| self.columns[i].kind == Kind::Text;
        let words = self.roles.features.iter().zip(self.words);
        let levels: Vec<Option<Levels>> =
            words.map(|(i, words)| is_words(i).then(|| words.levels())).collect();
        let roles = self.roles.features.iter().map(|&i| self.columns[i].role).collect();
        let features = sink.finish()?.with_ids(ids).with_types(levels, roles);
        Ok(features.with_columns(self.roles.columns, true).with_notes(self.roles.notes))
    }

    /// The cells of a slice of the features' columns.
    fn add_typed(&mut self, features: &[&ArrayRef], rows: usize) -> Result<()> {
        let kinds: Vec<Kind> = self.roles.features.iter().map(|&i| self.columns[i].kind).collect();
        let dates = kinds.iter().filter(|kind| matches!(kind, Kind::Date(_))).count();
        let m = kinds.len() + dates;
        self.m = m;
        self.block.resize(rows * m, 0.0);
        let mut at = 0;
        for (j, (array, kind)) in features.iter().zip(kinds).enumerate() {
            if let Kind::Date(order) = kind {
                let all = self.moments(j, array, order)?;
                let rows = self.block.chunks_exact_mut(m).zip(all);
                rows.for_each(|(row, moment)| row[at..at + 2].copy_from_slice(&[moment.day, moment.seconds]));
                at += 2;
                continue;
            }
            let values = if kind == Kind::Text { self.numbered(j, array)? } else { self.numbers(j, array)? };
            self.block.chunks_exact_mut(m).zip(values).for_each(|(row, value)| row[at] = value);
            at += 1;
        }
        Ok(())
    }

    /// Numbers; in a column that is said to hold them, text too.
    fn numbers(&mut self, feature: usize, array: &dyn Array) -> Result<Vec<f32>> {
        let index = self.roles.features[feature];
        let Some(cells) =
            strings(array).filter(|_| self.columns[index].is_lenient() && numbers(array).is_none())
        else {
            return self.to_f32(index, array);
        };
        let number = |cell: &String| {
            cell.trim().parse::<f32>().ok().or_else(|| table::is_missing(cell).then_some(f32::NAN))
        };
        self.odd[feature] += cells.iter().filter(|cell| number(cell).is_none()).count();
        Ok(cells.iter().map(|cell| number(cell).unwrap_or(f32::NAN)).collect())
    }

    /// The numbers of words.
    fn numbered(&mut self, feature: usize, array: &dyn Array) -> Result<Vec<f32>> {
        let index = self.roles.features[feature];
        let cells = label_cells(array)
            .ok_or_else(|| self.unreadable(index, array, "levels are text, numbers or true and false"))?;
        let dictionary = &mut self.words[feature];
        let number = |cell: &String| {
            if table::is_missing(cell) { f32::NAN } else { dictionary.number(cell.trim()) }
        };
        Ok(cells.iter().map(number).collect())
    }

    fn moments(&mut self, feature: usize, array: &dyn Array, order: Order) -> Result<Vec<Moment>> {
        let index = self.roles.features[feature];
        let all = moments(array, order)
            .ok_or_else(|| self.unreadable(index, array, "dates are text, or of a type of dates or times"))?;
        let cells = strings(array).unwrap_or_default();
        let odd = |(moment, cell): &(&Moment, &String)| moment.day.is_nan() && !table::is_missing(cell);
        let Some((row, (_, cell))) = all.iter().zip(&cells).enumerate().find(|(_, pair)| odd(pair)) else {
            return Ok(all);
        };
        if self.columns[index].is_lenient() {
            self.odd[feature] += all.iter().zip(&cells).filter(odd).count();
            return Ok(all);
        }
        let problem = format!(
            "holds '{cell}' in row {}, which is no date like the others (rows count from 0); correct it, leave the column out, or say that it is a \
             category, or dates, among which such cells are missing",
            self.rows + row as u64
        );
        Err(DataError::Column { path: self.path.clone(), column: self.columns[index].name.clone(), problem })
    }

    /// Say which columns hold cells that are not what they are said to hold.
    fn note_odd_cells(&mut self) {
        let odd = self.roles.features.iter().zip(&self.odd).filter(|(_, count)| **count > 0);
        let note = |(&i, &count): (&usize, &usize)| odd_cells(count as u64, &self.columns[i]);
        let notes: Vec<String> = odd.map(note).collect();
        self.roles.notes.extend(notes);
    }

    fn add_lists(&mut self, array: &ArrayRef) -> Result<()> {
        let index = self.roles.features[0];
        self.check_lists(index, array)?;
        let (values, m) =
            flatten(array).map_err(|(row, found, needed)| self.uneven(index, row, found, needed))?;
        if self.m == 0 {
            self.m = m;
        }
        if m != self.m || m == 0 {
            return Err(self.uneven(index, 0, m, self.m));
        }
        self.block = self.to_f32(index, &values)?;
        Ok(())
    }

    fn to_f32(&self, index: usize, array: &dyn Array) -> Result<Vec<f32>> {
        numbers(array).ok_or_else(|| self.unreadable(index, array, "features are numbers"))
    }

    fn add_ids(&mut self, array: &dyn Array) -> Result<()> {
        let index = self.roles.id.unwrap_or_default();
        let ids = strings(array)
            .ok_or_else(|| self.unreadable(index, array, "rows are named by text or whole numbers"))?;
        self.ids.extend(ids);
        Ok(())
    }

    fn unreadable(&self, index: usize, array: &dyn Array, advice: &'static str) -> DataError {
        DataError::Dtype {
            path: self.path.clone(),
            what: format!("column '{}'", self.columns[index].name),
            dtype: array.data_type().to_string(),
            advice,
        }
    }

    fn uneven(&self, index: usize, row: usize, found: usize, needed: usize) -> DataError {
        let (name, row) = (&self.columns[index].name, self.rows + row as u64);
        let problem =
            format!("row {row} of column '{name}' has {found} values where {} are needed", needed.max(1));
        DataError::corrupt(&self.path, "table", problem)
    }

    /// An error that names the first list that is missing.
    fn check_lists(&self, index: usize, array: &dyn Array) -> Result<()> {
        let Some(at) = (0..array.len()).find(|&i| array.is_null(i)) else { return Ok(()) };
        Err(DataError::Null {
            path: self.path.clone(),
            row: self.rows + at as u64,
            column: self.columns[index].name.clone(),
        })
    }
}

/// Columns as the options take them. Text whose first values are dates holds dates where tables may be mixed; elsewhere no column does.
fn taken(path: &Path, mut columns: Vec<Column>, options: &OpenOptions) -> Result<Vec<Column>> {
    for column in &mut columns {
        column.kind = match (column.kind, dates::order(&column.sample)) {
            (Kind::Text, Some((order, _))) if options.mixed => Kind::Date(order),
            (Kind::Date(_), _) if !options.mixed => Kind::Other,
            (kind, _) => kind,
        };
    }
    taken_for(path, &mut columns, true, options)?;
    Ok(columns)
}

/// What to know about cells of a column that are not what it is said to hold.
pub(crate) fn odd_cells(count: u64, column: &Column) -> String {
    let what = column.role.map_or_else(|| "value".to_owned(), |role| role.to_string());
    let name = &column.name;
    match count {
        1 => format!("one cell of column '{name}' is no {what} and counts as missing"),
        _ => format!("{count} cells of column '{name}' are no {what}s and count as missing"),
    }
}

/// All values of a list column and how many there are in each row; or the first row that has another number, with
/// its number and that of the first row.
fn flatten(array: &ArrayRef) -> std::result::Result<(ArrayRef, usize), (usize, usize, usize)> {
    let offsets: Vec<usize> = match array.data_type() {
        DataType::FixedSizeList(_, size) => {
            return Ok((array.as_fixed_size_list().values().clone(), usize::try_from(*size).unwrap_or(0)));
        }
        DataType::LargeList(_) => {
            array.as_list::<i64>().value_offsets().iter().map(|&o| o as usize).collect()
        }
        _ => array.as_list::<i32>().value_offsets().iter().map(|&o| o as usize).collect(),
    };
    let m = offsets[1] - offsets[0];
    if let Some(row) = offsets.windows(2).position(|w| w[1] - w[0] != m) {
        return Err((row, offsets[row + 1] - offsets[row], m));
    }
    let values = match array.data_type() {
        DataType::LargeList(_) => array.as_list::<i64>().values(),
        _ => array.as_list::<i32>().values(),
    };
    Ok((values.slice(offsets[0], m * array.len()), m))
}
