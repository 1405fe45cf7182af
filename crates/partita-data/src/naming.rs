//! Columns that name things instead of measuring them: numbers of rows, ids, zip codes. They are told by their names and by
//! the first cells. A column with fractions always measures something.

use crate::column::{Column, Kind};
use crate::dressed;
use crate::role::Role;
use std::collections::HashSet;

/// Names of columns that number or name the rows, whatever they hold.
const ROWS: [&str; 6] = ["", "id", "index", "row", "unnamed: 0", "__index_level_0__"];
/// Last words of names such as customer_id.
const IDS: [&str; 8] = ["id", "ids", "uuid", "guid", "rowid", "userid", "oid", "pk"];
/// Words in the names of codes: even where they repeat, their size means nothing.
const CODES: [&str; 18] = [
    "zip",
    "zipcode",
    "postcode",
    "postal",
    "postalcode",
    "plz",
    "phone",
    "telephone",
    "mobile",
    "fax",
    "ssn",
    "iban",
    "isbn",
    "ean",
    "gtin",
    "sku",
    "barcode",
    "fips",
];
/// Last words of names that may be numbers of documents and the like: they are if no two rows have the same.
const NUMBERS: [&str; 16] = [
    "key",
    "number",
    "no",
    "nr",
    "num",
    "code",
    "ref",
    "reference",
    "invoice",
    "ticket",
    "account",
    "passport",
    "licence",
    "license",
    "serial",
    "index",
];
/// Rows that have to be seen before values alone say something.
const ENOUGH: usize = 10;
/// Rows that have to be seen where they are counted from another number than 0 or 1.
const PLENTY: usize = 20;

/// What a column names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// The rows.
    Rows,
    /// Something that rows may have in common.
    Code,
}

/// What the column at `index` names, if it names something.
pub(crate) fn naming(index: usize, column: &Column) -> Option<Naming> {
    match column.role {
        Some(Role::Id) => return Some(Naming::Rows),
        Some(_) => return None,
        None => {}
    }
    let text = column.kind == Kind::Text;
    if !text && !column.whole {
        return None;
    }
    if is_row_name(&column.name) {
        return Some(Naming::Rows);
    }
    let words = words(&column.name);
    let last = words.last().map_or("", String::as_str);
    let distinct = is_distinct(&column.sample);
    let (id, number) = (IDS.contains(&last), NUMBERS.contains(&last));
    // Prices that are all different do not name rows, even in the first column.
    let text_names = text && index == 0 && dressed::example(&column.sample).is_none();
    if distinct && (id || (number && column.sample.len() >= ENOUGH) || text_names) {
        return Some(Naming::Rows);
    }
    if text {
        return None;
    }
    if id || words.iter().any(|word| CODES.contains(&word.as_str())) || has_leading_zeros(&column.sample) {
        return Some(Naming::Code);
    }
    counts_rows(&column.sample).then_some(Naming::Rows)
}

/// Whether a column of this name is meant to name the rows. Others only look like it.
pub(crate) fn is_certain(name: &str) -> bool {
    is_row_name(name) || words(name).last().is_some_and(|last| IDS.contains(&last.as_str()))
}

/// Whether a column of this name names the rows, whatever it holds.
fn is_row_name(name: &str) -> bool {
    ROWS.iter().any(|row| name.trim().eq_ignore_ascii_case(row))
}

/// The words of a name such as customer_id, customerId or "Customer ID".
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_lower = false;
    for c in name.chars() {
        let ends = !c.is_alphanumeric() || (c.is_uppercase() && before_lower);
        if ends && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_distinct(cells: &[String]) -> bool {
    let mut seen = HashSet::new();
    cells.iter().all(|cell| seen.insert(cell.as_str()))
}

/// Numbers such as 01067: nobody measures with leading zeros.
fn has_leading_zeros(cells: &[String]) -> bool {
    let digits = |cell: &String| cell.len() > 1 && cell.bytes().all(|b| b.is_ascii_digit());
    cells.iter().any(|cell| cell.starts_with('0') && digits(cell))
        && cells.iter().all(|cell| cell.len() == cells[0].len())
}

/// 0, 1, 2, … or 1, 2, 3, … from the first row on; of many rows also from another number, unless all may be years, which measure time.
fn counts_rows(cells: &[String]) -> bool {
    let Some(first) = cells.first().and_then(|cell| cell.parse::<i64>().ok()) else { return false };
    let counted = || (first..).zip(cells).all(|(number, cell)| cell.parse() == Ok(number));
    let years = (1900..2100).contains(&first);
    let enough = if first == 0 || first == 1 { ENOUGH } else { PLENTY };
    cells.len() >= enough && !years && counted()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, cells: impl IntoIterator<Item = String>) -> Column {
        let sample: Vec<String> = cells.into_iter().collect();
        let whole = sample.iter().all(|cell| cell.parse::<i64>().is_ok());
        Column { whole, sample, ..Column::new(name, Kind::Number) }
    }

    fn numbers(name: &str, value: impl Fn(usize) -> usize) -> Option<Naming> {
        naming(3, &column(name, (0..30).map(|i| value(i).to_string())))
    }

    #[test]
    fn ids_and_codes_are_told_by_their_names() {
        for name in ["id", "customer_id", "PassengerId", "Order ID", "uuid", "document number", "invoice_no"]
        {
            assert_eq!(numbers(name, |i| 1000 + 7 * i), Some(Naming::Rows), "{name}");
        }
        for name in ["zip", "Zip Code", "postcode", "phone", "customer_id"] {
            assert_eq!(numbers(name, |i| 1000 + i % 5), Some(Naming::Code), "{name}");
        }
    }

    #[test]
    fn measurements_are_left_alone() {
        for name in ["age", "price", "rooms", "key", "number", "width", "valid", "code_size", "population"] {
            assert_eq!(numbers(name, |i| 20 + i % 9), None, "{name}");
        }
        assert_eq!(numbers("population", |i| 1000 + 37 * i), None);
        let halves = column("zip", (0..30).map(|i| format!("{}.5", i)));
        assert_eq!(naming(0, &halves), None);
    }

    #[test]
    fn rows_that_are_counted_and_leading_zeros_are_seen_in_the_values() {
        assert_eq!(numbers("t", |i| i), Some(Naming::Rows));
        assert_eq!(numbers("t", |i| i + 1), Some(Naming::Rows));
        assert_eq!(numbers("t", |i| i + 10_001), Some(Naming::Rows));
        assert_eq!(numbers("t", |i| 2 * i), None);
        assert_eq!(numbers("t", |i| i / 2), None);
        assert_eq!(numbers("t", |i| (i + 1) % 30), None);
        assert_eq!(numbers("year", |i| 1950 + i), None);
        assert_eq!(naming(1, &column("t", (0..19).map(|i| (i + 7).to_string()))), None);
        let dresden = column("place", (0..9).map(|i| format!("0106{}", i % 3)));
        assert_eq!(naming(2, &dresden), Some(Naming::Code));
        assert_eq!(naming(2, &column("t", (0..4).map(|i| i.to_string()))), None);
    }
}
