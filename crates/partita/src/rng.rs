//! Random numbers: one seed, many named streams. The only place where generators are made.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for. Streams of one seed never overlap, so that adding draws to
/// one purpose cannot change another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// Initial weights of a restart.
    Init = 1,
    /// Order of the rows in training.
    Order = 2,
    /// k-means++ seeds.
    Seeds = 3,
    /// Where dead clusters start again.
    Reseed = 4,
    /// Rows drawn to estimate something.
    Sample = 5,
    /// Synthetic data.
    Synthetic = 6,
    /// How an image is changed before a network sees it.
    Augment = 7,
    /// Directions in which a network's input is disturbed.
    Disturb = 8,
    /// Places of rows in the cells that their values stand for.
    Cells = 9,
}

/// The generator of `seed` for one purpose; `index` numbers restarts, epochs or whatever repeats.
///
/// ```
/// use partita::rng::{stream, Stream};
/// use rand::RngExt;
/// let a: u64 = stream(7, Stream::Init, 0).random();
/// assert_eq!(a, stream(7, Stream::Init, 0).random::<u64>());
/// assert_ne!(a, stream(7, Stream::Init, 1).random::<u64>());
/// ```
pub fn stream(seed: u64, purpose: Stream, index: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((purpose as u64) << 48 | (index & 0xffff_ffff_ffff));
    rng
}
