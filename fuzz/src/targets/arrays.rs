//! Files of arrays.

use super::{chosen, features, packed_as_gzip};
use partita_data::OpenOptions;

/// A `.npy` array.
pub fn npy(bytes: &[u8]) -> bool {
    features(".npy", bytes, OpenOptions::default())
}

/// An `.npz` archive: its first array, or the one called x.
pub fn npz(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    features(".npz", bytes, named(choice))
}

/// A `.safetensors` file: its only tensor, or the one called x.
pub fn safetensors(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    features(".safetensors", bytes, named(choice))
}

/// An idx file, plain or packed.
pub fn idx(bytes: &[u8]) -> bool {
    match chosen(bytes) {
        (0, bytes) => features(".idx", bytes, OpenOptions::default()),
        (_, bytes) => features(".idx.gz", &packed_as_gzip(bytes), OpenOptions::default()),
    }
}

fn named(choice: u8) -> OpenOptions {
    OpenOptions { array: (choice & 1 == 1).then(|| "x".to_owned()), ..OpenOptions::default() }
}
