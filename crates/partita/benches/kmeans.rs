//! Lloyd's iterations on rows and centres from files of raw `f32`, on the calling thread.
//!
//! `cargo bench -p partita --bench kmeans -- ROWS CENTRES FEATURES ITERATIONS` prints `seconds inertia`; `bench/kmeans.py`
//! makes the files and sets it beside its peers.

use partita::rivals::Table;
use partita::rivals::kmeans::KMeans;
use std::time::Instant;

fn floats(path: &str) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

#[expect(clippy::print_stdout, reason = "the numbers are the result")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [rows, centres, m, iterations] = &arguments[..] else {
        println!("give ROWS CENTRES FEATURES ITERATIONS; bench/kmeans.py does");
        return;
    };
    let (x, centres) = (floats(rows), floats(centres));
    let m: usize = m.parse().expect("FEATURES is a number");
    let max_iterations = iterations.parse().expect("ITERATIONS is a number");
    let kmeans = KMeans { max_iterations, tolerance: 0.0, ..KMeans::new(centres.len() / m) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be started");
    pool.install(|| {
        let began = Instant::now();
        let found = kmeans.lloyd(Table { x: &x, m }, centres);
        println!("{} {}", began.elapsed().as_secs_f64(), found.inertia);
    });
}
