//! What tables of text have in common: their delimiter, and whether the first line names the columns.

/// The delimiter of a table, judged by its first line: the most frequent of comma, semicolon and tab (of equals the
/// later, since a comma may stand in decimals), or a space where there is none, as NumPy's `savetxt` writes. Where the
/// commas of all numbers between semicolons or tabs are decimal ones, they are no delimiters however many they are.
pub(crate) fn delimiter(line: &[u8]) -> u8 {
    if let Some(found) = [b';', b'\t'].into_iter().find(|&d| has_decimal_commas(line, d)) {
        return found;
    }
    let count = |d: u8| line.iter().filter(|&&b| b == d).count();
    let best = [b',', b';', b'\t'].into_iter().max_by_key(|&d| count(d)).unwrap_or(b',');
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
    let is_number = |cell: &str| is_number(cell) || is_decimal_comma(cell);
    let numbers = first.iter().filter(|c| is_number(c.as_ref())).count();
    if numbers == 0 {
        return second.is_none_or(|s| s.iter().any(|c| is_number(c.as_ref())));
    }
    let unnamed = first.first().is_some_and(|c| c.as_ref().trim().is_empty());
    let named = &first[usize::from(unnamed)..];
    let counted =
        named.len() > 1 && named.iter().enumerate().all(|(i, c)| c.as_ref().trim() == i.to_string());
    let fraction = |c: &S| is_number(c.as_ref()) && c.as_ref().contains(['.', 'e', 'E']);
    counted && (unnamed || second.is_some_and(|s| s.iter().any(fraction)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_recognised() {
        for (line, expected) in
            [("a,b;c,d", b','), ("1,5;2,5;3", b';'), ("a\tb c", b'\t'), ("1 2 3", b' '), ("7", b',')]
        {
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
        assert!(!is_header(&["1", "oops"], Some(&["1", "2"])));
        assert!(!is_header(&["cat"], Some(&["dog"])));
    }

    #[test]
    fn marks_and_comments_come_before_the_table() {
        assert_eq!(skip_preamble(b"\xef\xbb\xbf# a\n# b\n1,2"), 11);
        assert_eq!(skip_preamble(b"1,2\n# a"), 0);
        assert_eq!(skip_preamble(b"# only"), 6);
    }
}
