//! The rows that would lose least by going from one cluster to another.
//!
//! Few rows ever move between two given clusters, so only the best candidates are kept: all K² queues over all rows
//! would take many times the memory of the scores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rows kept for each ordered pair of clusters, before the first [`GROWTH`].
const QUOTA: usize = 8;

/// How many times more rows are kept each time that they run out.
const GROWTH: usize = 4;

/// What a row's score gains by the move (never more than the difference of prices), and the row. Among equal gains,
/// the first row is best.
type Entry = (i64, Reverse<u32>);

/// Candidates for the moves from one cluster to another, best first. Rows that have since left the cluster stay
/// in the queue until they come up.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    heap: BinaryHeap<Entry>,
    list: Vec<Entry>,
    /// Rows of the cluster that are not in the queue gain at most this.
    floor: i64,
    quota: usize,
}

impl Default for Queue {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), list: Vec::new(), floor: i64::MAX, quota: QUOTA }
    }
}

impl Queue {
    /// Forget all rows, and how many of them were needed.
    pub fn reset(&mut self) {
        self.heap.clear();
        (self.floor, self.quota) = (i64::MAX, QUOTA);
    }

    /// Whether most of the rows that were kept are used up, while others were turned away.
    pub fn is_low(&self) -> bool {
        self.floor > i64::MIN && self.heap.len() < self.quota / 2
    }

    /// Forget all rows; they will be offered again, and more of them are kept.
    pub fn begin(&mut self) {
        self.quota *= GROWTH;
        self.list = std::mem::take(&mut self.heap).into_vec();
        self.list.clear();
        self.floor = i64::MIN;
    }

    /// Rows that gain more than this must be offered or pushed.
    pub fn floor(&self) -> i64 {
        self.floor
    }

    /// Take a row between [`Self::begin`] and [`Self::finish`], if it is among the best so far.
    pub fn offer(&mut self, gain: i64, row: u32) {
        if gain <= self.floor {
            return;
        }
        self.list.push((gain, Reverse(row)));
        if self.list.len() == 2 * self.quota {
            let last = self.quota - 1;
            self.floor = self.list.select_nth_unstable_by(last, |a, b| b.cmp(a)).1.0;
            self.list.truncate(self.quota);
        }
    }

    pub fn finish(&mut self) {
        self.heap = std::mem::take(&mut self.list).into();
    }

    /// Add a row that has joined the cluster.
    pub fn push(&mut self, gain: i64, row: u32) {
        if gain > self.floor {
            self.heap.push((gain, Reverse(row)));
        }
    }

    /// The best candidate that is still in the cluster.
    pub fn best(&mut self, is_member: impl Fn(u32) -> bool) -> Option<(i64, u32)> {
        while let Some(&(gain, Reverse(row))) = self.heap.peek() {
            if is_member(row) {
                return Some((gain, row));
            }
            self.heap.pop();
        }
        None
    }
}
