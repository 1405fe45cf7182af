//! Numbers as people write them: with a currency sign, a percent sign or thousands separators. They are not read as numbers, but
//! recognised, so that a user is told why the column is left out.

/// Signs that stand before or after a number. Words such as EUR are among them.
const SIGNS: [&str; 13] = ["$", "€", "£", "¥", "₹", "%", "‰", "USD", "EUR", "GBP", "CHF", "JPY", "Fr."];
/// What separates groups of three digits. A dot does so too, where a comma is the decimal one.
const SEPARATORS: [char; 6] = [',', '.', '\'', ' ', '\u{a0}', '\u{202f}'];

/// The first of some cells that is such a number, if most of them are.
pub(crate) fn example(cells: &[String]) -> Option<&str> {
    let mut dressed = cells.iter().filter(|cell| is_dressed(cell));
    let first = dressed.next()?;
    (2 * (1 + dressed.count()) > cells.len()).then_some(first)
}

/// Whether a cell is a number with a sign or with separators.
fn is_dressed(cell: &str) -> bool {
    let mut rest = cell.trim().trim_start_matches(['-', '+', '(']).trim_end_matches(')');
    let whole = rest;
    for sign in SIGNS {
        rest = rest.strip_prefix(sign).or_else(|| rest.strip_suffix(sign)).unwrap_or(rest).trim();
    }
    let rest = rest.trim_start_matches(['-', '+']);
    let signed = rest.len() < whole.len();
    let parts: Vec<&str> = rest.split(SEPARATORS).collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !parts.iter().all(digits) {
        return false;
    }
    match parts[..] {
        [_] => signed,
        [_, part] => signed || (part.len() == 3 && !rest.contains('.')),
        [first, ref groups @ .., last] => {
            first.len() <= 3 && groups.iter().all(|group| group.len() == 3) && (signed || last.len() <= 3)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_dates_and_words() {
        for cell in
            ["$22,162", "1,234,567.89", "€ 3", "12 %", "1'000", "-$5.20", "3.000.000", "22,162", "7 EUR"]
        {
            assert!(is_dressed(cell), "{cell}");
        }
        for cell in ["22162", "2.5", "2021-01-05", "1.2.2021", "red", "", "$", "A12", "12:30", "192.168.0.1"]
        {
            assert!(!is_dressed(cell), "{cell}");
        }
    }

    #[test]
    fn most_cells_decide() {
        let cells = |cells: [&str; 3]| cells.map(str::to_owned);
        assert_eq!(example(&cells(["n. a.", "$1", "$2"])), Some("$1"));
        assert_eq!(example(&cells(["red", "$1", "blue"])), None);
    }
}
