//! Tables.

use super::{chosen, features, packed_as_gzip};
use partita_data::{Columns, OpenOptions, Why};

/// A text table of any encoding, with or without a header, plain or packed.
pub fn text(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    let header = [None, None, Some(true), Some(false)][usize::from(choice & 3)];
    let options = OpenOptions { header, ..wanted(choice) };
    match choice & 4 {
        0 => features(".csv", bytes, options),
        _ => features(".csv.gz", &packed_as_gzip(bytes), options),
    }
}

/// A Parquet file.
pub fn parquet(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    features(".parquet", bytes, wanted(choice))
}

/// An Arrow file or stream; the first bytes tell which.
pub fn arrow(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    features(".arrows", bytes, wanted(choice))
}

/// Which columns are asked for. The golden files have columns `a` and `id`.
fn wanted(choice: u8) -> OpenOptions {
    let names = |wanted: u8, names: &[&str]| -> Vec<String> {
        let names = names.iter().filter(|_| choice & wanted != 0);
        names.map(|name| (*name).to_owned()).collect()
    };
    OpenOptions {
        columns: names(8, &["1", "a"]),
        exclude: names(16, &["2", "b"]),
        id_column: names(32, &["id"]).pop(),
        taken: names(64, &["2"]).into_iter().map(|name| (name, Why::Truth)).collect(),
        like: (choice & 128 != 0).then(|| Columns::named(["b", "a"])),
        ..OpenOptions::default()
    }
}
