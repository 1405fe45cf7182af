//! Training step by step, kept half-way and gone on with. `cargo run --release -p partita --example resume` prints
//!
//! ```text
//! stopped after 100 steps, 0.23 of the fit
//! the resumed fit has the same bits: true
//! ```

use ndarray::Array2;
use partita::linear::{Fitting, Input, Params};
use partita::report::Silent;

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn main() -> partita::Result<()> {
    let x = Array2::from_shape_fn((400, 6), |(i, j)| {
        (i % 4 == j) as u8 as f32 * 5.0 + (i * (j + 7) % 23) as f32 * 0.1
    });
    let (input, params) = (Input::new(&x), Params::new(4));
    let prepared = input.prepared(params.recipe(), &Silent)?;
    let mut fitting = Fitting::new(&input, &prepared, &params)?;
    for _ in 0..100 {
        fitting.advance()?;
    }
    println!(
        "stopped after {} steps, {:.2} of the fit",
        fitting.state().train().step(),
        fitting.progress().done
    );
    // The state is serialisable: it may be stored, or sent to another machine that has the same rows.
    let mut resumed = Fitting::resume(&input, &prepared, &params, fitting.state().clone())?;
    while fitting.advance()? {}
    while resumed.advance()? {}
    let same = fitting.finish()?.model == resumed.finish()?.model;
    println!("the resumed fit has the same bits: {same}");
    Ok(())
}
