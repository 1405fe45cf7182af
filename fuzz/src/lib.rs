//! What is fuzzed: a function for every kind of file that a user may give.

pub mod memory;
pub mod targets;

/// Run a target; a larger allocation than small files justify is an error, as a panic is.
pub fn run(target: targets::Target, bytes: &[u8]) {
    memory::forget_largest();
    target(bytes);
    let largest = memory::largest();
    assert!(largest <= memory::MOST, "{largest} bytes were asked for at once");
}
