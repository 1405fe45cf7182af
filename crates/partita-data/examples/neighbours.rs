//! Nearest neighbours in cells beside exact ones: seconds, and the share of the true neighbours that are found.
//!
//!     cargo run --release -p partita-data --example neighbours -- rows.npy 15

#![allow(clippy::print_stdout, reason = "printing is what this example is for")]

use partita::linear::{Input, Params};
use partita::neighbours::{cells, nearest};
use partita::report::Silent;
use partita::rivals::Table;
use partita_data::{OpenOptions, open};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, count] = &arguments[..] else {
        return Err("give a file of rows and a number of neighbours".into());
    };
    let count: usize = count.parse()?;
    let rows = open(Path::new(path), &OpenOptions::default())?;
    let prepared = Input::new(&rows).prepared(Params::new(10).recipe(), &Silent)?;
    let x = prepared.load(&rows)?;
    let table = Table { x: &x, m: prepared.preparation().d() };
    println!("{} rows of {} dimensions", table.n(), table.m);
    let start = Instant::now();
    let exact = nearest(table, count, |_| true).ok_or("stopped")?;
    println!("exact: {:.2} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let found = cells::nearest(table, count, 0);
    let seconds = start.elapsed().as_secs_f64();
    let pairs = exact.chunks(count).zip(found.chunks(count));
    let hits: usize = pairs.map(|(a, b)| a.iter().filter(|i| b.contains(i)).count()).sum();
    println!("cells: {seconds:.2} s, {:.4} of the neighbours", hits as f64 / exact.len() as f64);
    Ok(())
}
