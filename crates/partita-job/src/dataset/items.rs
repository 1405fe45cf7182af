//! What rows were made of: raw items, for portraits and reports.

use crate::texts::TextItems;

/// The raw items of the rows of a part, in the same order.
#[derive(Clone)]
#[non_exhaustive]
pub enum Items {
    /// Texts.
    Texts(TextItems),
}
