//! What is fuzzed: a function for every kind of file that a user may give.

pub mod memory;
pub mod targets;

use rayon::ThreadPoolBuilder;
use std::sync::Once;

/// Run a target; a larger allocation than small files justify is an error, as a panic is.
pub fn run(target: targets::Target, bytes: &[u8]) {
    work_here();
    memory::forget_largest();
    target(bytes);
    let largest = memory::largest_of_all_threads();
    assert!(largest <= memory::MOST, "{largest} bytes were asked for at once");
}

/// Make this thread the only one that works: to wake another, and to wait for it, takes longer than to read a small file.
fn work_here() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        pool.build_global().expect("the first pool of this program");
    });
}
