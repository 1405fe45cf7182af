//! Cluster 300 rows and look at the result. `cargo run --release -p partita --example quickstart` prints
//!
//! ```text
//! sizes [100, 100, 100]
//! row 0 is in cluster 2 with probability 1.000
//! a new row near it goes there too: true
//! ```

use ndarray::{Array2, arr2};
use partita::EntropyClustering;

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn main() -> partita::Result<()> {
    // Around three places in the plane.
    let x = Array2::from_shape_fn((300, 2), |(i, j)| {
        let place = if i % 3 == j { 10.0 } else { 0.0 };
        place + (i / 3) as f64 * 0.01
    });
    let found = EntropyClustering::new(3).restarts(4).fit(&x)?;
    println!("sizes {:?}", found.report.cluster_sizes);
    let proba = found.model.predict_proba(&x)?;
    let first = found.labels[0];
    println!("row 0 is in cluster {first} with probability {:.3}", proba[[0, first as usize]]);
    let near = arr2(&[[10.5f32, 0.2]]);
    println!("a new row near it goes there too: {}", found.model.predict(&near)? == [first]);
    Ok(())
}
