//! A small real set that needs no download: handwritten digits of 8 x 8 pixels.

use flate2::read::GzDecoder;
use std::io::Read;

/// Rows of the set.
pub const DIGITS_ROWS: usize = 1797;
/// Pixels of a row, from 0 to 16.
pub const DIGITS_FEATURES: usize = 64;

/// The 1,797 handwritten digits that come with scikit-learn (UCI, CC BY 4.0: E. Alpaydin and C. Kaynak, Optical
/// Recognition of Handwritten Digits, 1998), row after row, and the digit that each shows.
///
/// ```
/// let (rows, labels) = partita_data::digits();
/// assert_eq!((rows.len(), labels.len()), (1797 * 64, 1797));
/// ```
pub fn digits() -> (Vec<f32>, Vec<u8>) {
    const PACKED: &[u8] = include_bytes!("../data/digits.csv.gz");
    let mut text = String::new();
    // The bytes are part of the program and a test reads them, so that this cannot fail for a user.
    GzDecoder::new(PACKED).read_to_string(&mut text).expect("the embedded digits are intact");
    let mut rows = Vec::with_capacity(DIGITS_ROWS * DIGITS_FEATURES);
    let mut labels = Vec::with_capacity(DIGITS_ROWS);
    for line in text.lines() {
        let mut cells = line.split(',').map(|c| c.parse::<u8>().expect("the embedded digits are numbers"));
        rows.extend(cells.by_ref().take(DIGITS_FEATURES).map(f32::from));
        labels.extend(cells.next());
    }
    (rows, labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_complete() {
        let (rows, labels) = digits();
        assert_eq!((rows.len(), labels.len()), (DIGITS_ROWS * DIGITS_FEATURES, DIGITS_ROWS));
        assert!(rows.iter().all(|v| (0.0..=16.0).contains(v)));
        assert_eq!(labels[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
        assert_eq!(rows.iter().sum::<f32>(), 561_718.0);
        let mut counts = [0; 10];
        labels.iter().for_each(|&l| counts[usize::from(l)] += 1);
        assert_eq!(counts, [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
    }
}
