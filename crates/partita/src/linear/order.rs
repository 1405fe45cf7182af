//! The order in which rows are trained on: every row once an epoch, shuffled by the seed.

use crate::rng::{Stream, stream};
use rand::seq::SliceRandom;

/// Up to this number of rows, the order of all of them is held in memory; beyond it, that of blocks and of the rows of a few blocks.
const HELD: usize = 1 << 23;
/// Rows of a block, which are read together.
const BLOCK: usize = 4096;
/// Blocks whose rows are shuffled together.
const BLOCKS: usize = 64;

/// The order of the rows in one epoch after another.
#[derive(Debug)]
pub struct Order {
    n: usize,
    seed: u64,
    epoch: Option<usize>,
    shuffled: Shuffled,
}

#[derive(Debug)]
enum Shuffled {
    /// Every row.
    Rows(Vec<u32>),
    /// Blocks of rows, and the rows of the group of blocks that was asked for last.
    Blocks { blocks: Vec<u32>, group: Option<usize>, rows: Vec<usize> },
}

impl Order {
    /// The order of `n` rows.
    pub fn new(n: usize, seed: u64) -> Self {
        Self { n, seed, epoch: None, shuffled: Shuffled::new(n, HELD) }
    }

    /// The rows at these places of an epoch, into `out`.
    pub fn rows(&mut self, epoch: usize, places: std::ops::Range<usize>, out: &mut Vec<usize>) {
        self.go_to(epoch);
        out.clear();
        match &mut self.shuffled {
            Shuffled::Rows(rows) => out.extend(rows[places].iter().map(|&row| row as usize)),
            Shuffled::Blocks { blocks, group, rows } => {
                let mut place = places.start;
                while place < places.end {
                    let wanted = place / (BLOCK * BLOCKS);
                    if *group != Some(wanted) {
                        rows_of_group(self.n, blocks, wanted, rows);
                        rows.shuffle(&mut stream(self.seed, Stream::Order, index(epoch, wanted)));
                        *group = Some(wanted);
                    }
                    let first = place - wanted * BLOCK * BLOCKS;
                    let last = rows.len().min(first + places.end - place);
                    out.extend_from_slice(&rows[first..last]);
                    place += last - first;
                }
            }
        }
    }

    /// Each epoch shuffles the order of the one before, so that an earlier one begins again from the first.
    fn go_to(&mut self, epoch: usize) {
        if self.epoch.is_some_and(|now| now > epoch) {
            (self.epoch, self.shuffled) = (None, Shuffled::new(self.n, self.shuffled.held()));
        }
        while self.epoch != Some(epoch) {
            let next = self.epoch.map_or(0, |now| now + 1);
            let mut rng = stream(self.seed, Stream::Order, next as u64);
            match &mut self.shuffled {
                Shuffled::Rows(rows) => rows.shuffle(&mut rng),
                Shuffled::Blocks { blocks, group, .. } => {
                    // The last block may be short; it stays last, so that the place of a row can be computed from its number.
                    let whole = self.n / BLOCK;
                    blocks[..whole].shuffle(&mut rng);
                    *group = None;
                }
            }
            self.epoch = Some(next);
        }
    }
}

impl Shuffled {
    fn new(n: usize, held: usize) -> Self {
        if n <= held {
            return Self::Rows((0..n as u32).collect());
        }
        let blocks = (0..n.div_ceil(BLOCK) as u32).collect();
        Self::Blocks { blocks, group: None, rows: Vec::new() }
    }

    fn held(&self) -> usize {
        if matches!(self, Self::Rows(_)) { usize::MAX } else { 0 }
    }
}

/// Streams of groups of blocks follow those of epochs, of which there are never so many.
fn index(epoch: usize, group: usize) -> u64 {
    (1 << 40) | (epoch as u64) << 24 | group as u64
}

fn rows_of_group(n: usize, blocks: &[u32], group: usize, rows: &mut Vec<usize>) {
    rows.clear();
    let blocks = &blocks[group * BLOCKS..blocks.len().min((group + 1) * BLOCKS)];
    rows.extend(blocks.iter().map(|&b| b as usize * BLOCK).flat_map(|first| first..n.min(first + BLOCK)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(n: usize, held: usize) -> Order {
        Order { n, seed: 3, epoch: None, shuffled: Shuffled::new(n, held) }
    }

    fn epoch(order: &mut Order, epoch: usize, batches: usize) -> Vec<usize> {
        let (n, mut all, mut part) = (order.n, Vec::new(), Vec::new());
        for b in 0..batches {
            order.rows(epoch, b * n / batches..(b + 1) * n / batches, &mut part);
            all.extend_from_slice(&part);
        }
        all
    }

    #[test]
    fn every_row_comes_once_an_epoch_in_another_order_each_time() {
        let n = 3 * BLOCK * BLOCKS / 2 + 77;
        for held in [0, n] {
            let mut order = order(n, held);
            let (first, second) = (epoch(&mut order, 0, 7), epoch(&mut order, 1, 7));
            assert_ne!(first, second);
            for mut rows in [first, second] {
                rows.sort_unstable();
                assert!(rows.iter().copied().eq(0..n), "held {held}");
            }
        }
    }

    #[test]
    fn an_epoch_has_the_same_order_however_it_is_reached() {
        for held in [0, usize::MAX] {
            let n = 2 * BLOCK + 5;
            let mut through = order(n, held);
            let third = (0..=3).map(|e| epoch(&mut through, e, 3)).last();
            assert_eq!(third.as_ref(), Some(&epoch(&mut order(n, held), 3, 5)));
            epoch(&mut through, 4, 2);
            assert_eq!(third, Some(epoch(&mut through, 3, 1)));
        }
    }
}
