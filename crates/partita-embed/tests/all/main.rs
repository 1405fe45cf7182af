//! The encoders against the numbers of other implementations.

mod texts;
