//! What every encoder can do.

use crate::error::Result;
use partita_data::model_file::StoredEncoder;

/// Something that makes a row of numbers of an item, such as a photo or a text.
pub trait Encoder: Send + Sync {
    /// What it encodes.
    type Item: ?Sized;

    /// Its name, as users type it.
    fn name(&self) -> &str;

    /// Numbers of a row.
    fn features(&self) -> usize;

    /// A number that differs from that of any encoder that makes other rows: of other weights, sizes or words.
    fn fingerprint(&self) -> u64;

    /// The rows of some items, one after another in `out`, which has room for exactly that many. The bits of a row depend on neither the other
    /// items nor the number of threads.
    ///
    /// # Errors
    /// If an item cannot be encoded, or the result is not finite.
    fn encode(&self, items: &[&Self::Item], out: &mut [f32]) -> Result<()>;

    /// What a model file keeps, so that the same encoder can be had again.
    fn stored(&self) -> StoredEncoder;
}
