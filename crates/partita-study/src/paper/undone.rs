//! What each of the engine's own changes to the paper's algorithm does: the engine with one of them undone.

use crate::error::Result;
use crate::plain::batches;
use crate::table::{Table, words};
use partita::compare::Spread;
use partita::linear::{Dims, Input, Params, Plan, Solver, Source, Trainer};
use partita::metrics::accuracy;
use partita::prepare::Prepared;
use partita::report::Silent;
use partita::rows::Rows;
use partita::simplex::largest;

/// What the engine does and the paper's algorithm does not.
#[derive(Debug, Clone, Copy)]
struct Changes {
    few_steps: bool,
    annealing: bool,
    starts: bool,
    relocation: bool,
    components: bool,
}

const ALL: Changes =
    Changes { few_steps: true, annealing: true, starts: true, relocation: true, components: true };

/// The engine, and what it is without.
const LINES: [(&str, Changes); 7] = [
    ("the engine, one restart", ALL),
    ("labels of EM at convergence", Changes { few_steps: false, ..ALL }),
    ("without annealing", Changes { annealing: false, ..ALL }),
    ("one start, not the best of three", Changes { starts: false, ..ALL }),
    ("without relocating lost clusters", Changes { relocation: false, ..ALL }),
    ("all features, not principal components", Changes { components: false, ..ALL }),
    (
        "none of the five",
        Changes { few_steps: false, annealing: false, starts: false, relocation: false, components: false },
    ),
];

/// The accuracy of every line of the table, over the seeds.
pub fn spreads(rows: &dyn Rows, truth: &[i64], k: usize, seeds: u64) -> Result<Vec<(&'static str, Spread)>> {
    let input = Input::new(rows);
    let mut found = vec![Vec::new(); LINES.len()];
    for seed in 0..seeds {
        let prepared = |dims| input.prepared(Params { dims, seed, ..Params::new(k) }.recipe(), &Silent);
        let (few, all) = (prepared(Dims::Auto)?, prepared(Dims::Full)?);
        for ((_, changes), out) in LINES.iter().zip(&mut found) {
            let prepared = if changes.components { &few } else { &all };
            let labels = run(&input, prepared, *changes, (k, seed))?;
            out.push(accuracy(truth, &labels)?);
        }
    }
    let spread = |of: Vec<f64>| Spread::of(of.into_iter()).expect("at least one seed");
    Ok(LINES.iter().zip(found).map(|((name, _), of)| (*name, spread(of))).collect())
}

/// One fit from one restart.
fn run(
    input: &Input<'_>,
    prepared: &Prepared,
    changes: Changes,
    (k, seed): (usize, u64),
) -> Result<Vec<u32>> {
    let mut params = Params { restarts: 1, seed, ..Params::new(k) };
    if !changes.few_steps {
        params.solver = Solver::Exact;
    }
    let mut checked = params.check(input.rows.n())?;
    checked.anneal = if changes.annealing { checked.anneal } else { 1.0 };
    checked.starts_per_restart = if changes.starts { checked.starts_per_restart } else { 1 };
    let (source, batch) = (Source::new(input, prepared), checked.batch);
    let mut trainer = Trainer::new(Plan { params, checked, layout: None }, source, None)?;
    let mut state = trainer.begin()?;
    if !changes.relocation {
        // Gradients that come from elsewhere are followed without moving clusters.
        let mut epochs = (0..).flat_map(|epoch| batches(source.n(), batch, seed, epoch));
        while !trainer.is_searched(&state) {
            let rows = epochs.next().expect("epochs do not end");
            let gradient = trainer.gradient(&mut state, &rows)?.clone();
            trainer.apply(&mut state, &gradient);
        }
    }
    while !state.is_done() {
        trainer.advance(&mut state)?;
    }
    let all = source.batch((0..source.n()).collect())?;
    Ok(state.head(0).logits(&all.x).chunks_exact(k).map(|z| largest(z) as u32).collect())
}

/// The lines as a table.
pub fn table(spreads: &[(&str, Spread)], seeds: u64) -> Table {
    let whole = spreads[0].1.mean;
    let row = |(name, spread): &(&str, Spread)| {
        let difference = format!("{:+.1}", 100.0 * (spread.mean - whole));
        vec![(*name).to_owned(), format!("{:.1}", spread.times(100.0)), difference]
    };
    let title =
        format!("The engine with its changes to the paper's algorithm undone, mean ± sd of {seeds} seeds");
    let headings = words(&["", "ACC, %", "difference"]);
    Table { title, headings, rows: spreads.iter().map(row).collect(), notes: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three clusters of three features.
    struct Corners;

    impl Rows for Corners {
        fn n(&self) -> usize {
            240
        }
        fn m(&self) -> usize {
            3
        }
        fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
            for (at, out) in out.iter_mut().enumerate() {
                let (i, j) = (start + at / 3, at % 3);
                *out = f32::from(u8::from(i % 3 == j)) * 6.0 + ((7 * i + 5 * j) % 11) as f32 * 0.05;
            }
            Ok(())
        }
    }

    #[test]
    fn each_line_is_a_whole_fit() {
        let truth: Vec<i64> = (0..240).map(|i| i % 3).collect();
        let found = spreads(&Corners, &truth, 3, 1).unwrap();
        assert_eq!(found.len(), LINES.len());
        assert!(found.iter().all(|(_, spread)| spread.mean > 0.99), "{found:?}");
        assert_eq!(table(&found, 1).rows[0][2], "+0.0");
    }
}
