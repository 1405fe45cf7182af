//! Clusters whose sizes are known, and a few labels that name them. `cargo run --release -p partita --example sizes` prints
//!
//! ```text
//! shares asked for [0.6, 0.3, 0.1], found [180, 90, 30]
//! rows 0, 200 and 290 are called [0, 1, 2]
//! ```

use ndarray::Array2;
use partita::{EntropyClustering, Prior};

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn main() -> partita::Result<()> {
    let place = |i: usize| {
        if i < 180 {
            [0.0, 0.0]
        } else if i < 270 {
            [6.0, 0.0]
        } else {
            [0.0, 6.0]
        }
    };
    let x = Array2::from_shape_fn((300, 2), |(i, j)| place(i)[j] + (i * (13 + 4 * j) % 29) as f32 * 0.05);
    let shares = vec![0.6, 0.3, 0.1];
    let mut known = vec![-1; 300];
    for (row, name) in [(0, 0), (200, 1), (290, 2)] {
        known[row] = name;
    }
    let found = EntropyClustering::new(3).prior(Prior::Given(shares.clone())).known(&known).fit(&x)?;
    println!("shares asked for {shares:?}, found {:?}", found.report.cluster_sizes);
    println!("rows 0, 200 and 290 are called {:?}", [0, 200, 290].map(|row| found.labels[row]));
    Ok(())
}
