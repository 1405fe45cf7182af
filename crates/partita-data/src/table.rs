//! What tables of text have in common: their delimiter, what their columns hold, and whether the first line names them.

use crate::column::{Column, Kind};
use crate::dates;
use std::collections::HashSet;

/// Cells of features that hold no value, besides those that are empty and those that Rust reads as NaN.
const MISSING: [&str; 11] = ["NA", "N/A", "n/a", "na", "null", "NULL", "None", "?", "-", "#N/A", "<NA>"];

/// The delimiter of a table, judged by its first line: the most frequent of comma, bar, semicolon and tab (of equals the
/// later, since a comma may stand in decimals), or a space where there is none, as NumPy's `savetxt` writes. Where the
/// commas of all numbers between semicolons or tabs are decimal ones, they are no delimiters however many they are.
pub(crate) fn delimiter(line: &[u8]) -> u8 {
    if let Some(found) = [b';', b'\t', b'|'].into_iter().find(|&d| has_decimal_commas(line, d)) {
        return found;
    }
    let count = |d: u8| line.iter().filter(|&&b| b == d).count();
    let best = [b',', b'|', b';', b'\t'].into_iter().max_by_key(|&d| count(d)).unwrap_or(b',');
    match (count(best), count(b' ')) {
        (0, 0) => b',',
        (0, _) => b' ',
        _ => best,
    }
}

/// Whether a line, split there, is numbers and some of them have a decimal comma.
fn has_decimal_commas(line: &[u8], delimiter: u8) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let cells = || line.split(char::from(delimiter)).map(|cell| cell.trim().trim_matches('"'));
    cells().count() > 1
        && cells().any(is_decimal_comma)
        && cells().all(|c| is_number(c) || is_decimal_comma(c))
}

/// Whether a cell is a number such as -6,377.
pub(crate) fn is_decimal_comma(cell: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let split = cell.trim().trim_start_matches(['-', '+']).split_once(',');
    split.is_some_and(|(whole, rest)| {
        let (part, power) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        digits(whole) && digits(part) && digits(power.trim_start_matches(['-', '+']))
    })
}

/// Whether a cell is a number.
pub(crate) fn is_number(cell: &str) -> bool {
    cell.trim().parse::<f32>().is_ok()
}

/// Whether a cell holds no value.
pub(crate) fn is_missing(cell: &str) -> bool {
    let cell = cell.trim();
    cell.is_empty() || MISSING.contains(&cell) || cell.eq_ignore_ascii_case("nan")
}

/// The truth value in a cell, if it is one.
pub(crate) fn boolean(cell: &str) -> Option<bool> {
    let cell = cell.trim();
    match () {
        () if cell.eq_ignore_ascii_case("true") => Some(true),
        () if cell.eq_ignore_ascii_case("false") => Some(false),
        () => None,
    }
}

/// What the columns hold, by their first rows. One is text if most of its cells are neither numbers nor missing; the others of
/// a column of numbers are reported as odd when they are met. Dates are told from other text only where tables may be mixed.
pub(crate) fn describe(first: &[String], rows: &[Vec<String>], header: bool, mixed: bool) -> Vec<Column> {
    let column = |i: usize| {
        let cells: Vec<&String> = rows.iter().filter_map(|r| r.get(i)).filter(|c| !is_missing(c)).collect();
        let numbers = cells.iter().filter(|c| is_number(c)).count();
        let kind = match cells.is_empty() {
            false if cells.iter().all(|c| boolean(c).is_some()) => Kind::Boolean,
            false if 2 * numbers < cells.len() => match dates::order(&cells).filter(|_| mixed) {
                Some((order, _)) => Kind::Date(order),
                None => Kind::Text,
            },
            _ => Kind::Number,
        };
        let whole = !cells.is_empty() && cells.iter().all(|c| is_whole(c));
        let sample =
            if whole || !kind.is_feature() { cells.into_iter().cloned().collect() } else { Vec::new() };
        let name = if header { first[i].clone() } else { (i + 1).to_string() };
        Column { whole, sample, ..Column::new(name, kind) }
    };
    (0..first.len()).map(column).collect()
}

/// Whether a cell is a number without a fraction.
fn is_whole(cell: &str) -> bool {
    let digits = cell.trim().trim_start_matches(['-', '+']);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Whether numbers in the first line could be meant as names: whole numbers that go up by one step, which are years above other
/// numbers or stand above fractions. Columns of text beside them say nothing.
pub(crate) fn is_doubtful(records: &[Vec<String>]) -> bool {
    let Some((first, rows)) = records.split_first().filter(|(_, rows)| !rows.is_empty()) else {
        return false;
    };
    let is_year = |value: &i64| (1900..2100).contains(value);
    let whole = |cell: &String| cell.trim().parse::<i64>().ok();
    let (places, names): (Vec<usize>, Vec<i64>) =
        first.iter().enumerate().filter_map(|(i, cell)| Some((i, whole(cell)?))).unzip();
    let step = |w: &[i64]| w[1].saturating_sub(w[0]);
    if names.len() < 2 || step(&names) <= 0 || names.windows(2).any(|w| step(w) != step(&names)) {
        return false;
    }
    let below = || rows.iter().flat_map(|row| places.iter().filter_map(|&i| row.get(i)));
    let years = names.iter().all(is_year) && !below().filter_map(whole).any(|value| is_year(&value));
    let fraction = |cell: &String| is_number(cell) && !is_whole(cell) && !is_missing(cell);
    let fractions = places.iter().all(|&i| rows.iter().filter_map(|row| row.get(i)).any(fraction));
    years || (names.len() > 2 && fractions)
}

/// Where the table begins: after a byte order mark and the comment lines that `savetxt` writes.
pub(crate) fn skip_preamble(text: &[u8]) -> usize {
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    while text[at..].first() == Some(&b'#') {
        match text[at..].iter().position(|&b| b == b'\n') {
            Some(end) => at += end + 1,
            None => return text.len(),
        }
    }
    at
}

/// Whether the first record names the columns, judged by the second.
///
/// Names are not numbers, except that pandas names unnamed columns 0, 1, 2, …: such a line is a header if the next
/// one holds fractions.
pub(crate) fn is_header<S: AsRef<str>>(first: &[S], second: Option<&[S]>) -> bool {
    let is_number = |cell: &str| is_number(cell) || is_decimal_comma(cell) || boolean(cell).is_some();
    let numbers = first.iter().filter(|c| is_number(c.as_ref())).count();
    if numbers == 0 {
        return second.is_none_or(|s| s.iter().any(|c| is_number(c.as_ref())));
    }
    // Years may be names; a first column that is called id shows that they are.
    if first
        .first()
        .is_some_and(|c| ["id", "index", "row", "name"].contains(&c.as_ref().trim().to_lowercase().as_str()))
    {
        return true;
    }
    let unnamed = first.first().is_some_and(|c| c.as_ref().trim().is_empty());
    let named = &first[usize::from(unnamed)..];
    let counted =
        named.len() > 1 && named.iter().enumerate().all(|(i, c)| c.as_ref().trim() == i.to_string());
    let fraction = |c: &S| is_number(c.as_ref()) && c.as_ref().contains(['.', 'e', 'E']);
    counted && (unnamed || second.is_some_and(|s| s.iter().any(fraction)))
}

/// Whether the first record names columns of which none holds numbers: its cells are all different and stand nowhere below, where words come again.
pub(crate) fn names_words(records: &[Vec<String>]) -> bool {
    let Some((first, rest)) = records.split_first() else { return false };
    let different: HashSet<&String> = first.iter().collect();
    let below = |i: usize| rest.iter().filter_map(move |row| row.get(i)).filter(|cell| !is_missing(cell));
    let again = |i: usize| below(i).collect::<HashSet<_>>().len() < below(i).count();
    let places = 0..first.len();
    different.len() == first.len()
        && first.iter().all(|cell| !is_missing(cell) && !is_number(cell))
        && places.clone().all(|i| below(i).all(|cell| *cell != first[i]))
        && places.clone().any(again)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_recognised() {
        for (line, expected) in [
            ("a,b;c,d", b','),
            ("1,5;2,5;3", b';'),
            ("a\tb c", b'\t'),
            ("1 2 3", b' '),
            ("a|b c", b'|'),
            ("7", b','),
        ] {
            assert_eq!(delimiter(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn decimal_commas_are_no_delimiters() {
        for (line, expected) in [
            ("-6,377;7,117;4,502", b';'),
            ("\"1,5\";\"2,5\";\"3,5\"", b';'),
            ("1,5\t2\t3,5e-2\r", b'\t'),
            ("1,2,3", b','),
            ("a,b;c,d", b','),
            ("1,2;3,4,5", b','),
        ] {
            assert_eq!(delimiter(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn headers_are_told_from_data() {
        assert!(is_header(&["x", "y"], Some(&["1", "2"])));
        assert!(is_header(&["", "0", "1"], Some(&["0", "1", "2"])));
        assert!(is_header(&["0", "1", "2"], Some(&["0.5", "1", "2"])));
        assert!(!is_header(&["0", "1", "2"], Some(&["3", "4", "5"])));
        assert!(!is_header(&["a", "1"], Some(&["b", "2"])));
        let table = |rows: &[[&str; 2]]| -> Vec<Vec<String>> {
            rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
        };
        assert!(names_words(&table(&[["cap", "odour"], ["flat", "none"], ["bell", "none"]])));
        assert!(!names_words(&table(&[["flat", "none"], ["bell", "none"], ["flat", "foul"]])));
        assert!(!names_words(&table(&[["cap", "odour"], ["flat", "none"], ["bell", "foul"]])));
        assert!(!is_header(&["1", "oops"], Some(&["1", "2"])));
        assert!(!is_header(&["cat"], Some(&["dog"])));
    }

    #[test]
    fn numbers_that_could_be_names_are_doubtful() {
        let records = |text: &str| -> Vec<Vec<String>> {
            text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
        };
        for text in ["2019,2020,2021\n5,7,9\n", "place,2019,2020\nA,1.5,2\n", "10,20,30\n0.5,1.5,2.5\n"] {
            assert!(is_doubtful(&records(text)), "{text}");
        }
        for text in ["1,2,3\n4,5,6\n", "5,1,7\n0.5,1.5,2.5\n", "2019,2020\n2020,2021\n", "1,2\n0.5,1.5\n"] {
            assert!(!is_doubtful(&records(text)), "{text}");
        }
        assert!(is_header(&["id", "2019", "2020"], Some(&["A", "1.5", "2.5"])));
        assert!(is_header(&["a", "b"], Some(&["true", "x"])));
    }

    #[test]
    fn marks_and_comments_come_before_the_table() {
        assert_eq!(skip_preamble(b"\xef\xbb\xbf# a\n# b\n1,2"), 11);
        assert_eq!(skip_preamble(b"1,2\n# a"), 0);
        assert_eq!(skip_preamble(b"# only"), 6);
    }
}
