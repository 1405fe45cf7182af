//! The one-to-one assignment of clusters to classes that keeps most rows: a maximum-weight bipartite matching.
//!
//! Found by shortest augmenting paths (the Hungarian method as Jonker and Volgenant arrange it) over the pairs
//! that occur. Written here because the libraries did not fit: `pathfinding`'s `kuhn_munkres` took 22 s on a flat
//! table of 2,000 clusters; `lapjv` is fast but wants a square dense table, 3 GB for 20,000 clusters of 10
//! classes, and brings a second `ndarray`.

use super::contingency::Contingency;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// The class of each cluster; both are indices into the table.
pub(super) fn assign(table: &Contingency) -> Vec<Option<usize>> {
    let mut search = Search::new(table);
    for cluster in 0..table.clusters().len() {
        search.place(cluster);
    }
    search.class_of
}

/// Where a path of reassignments may end.
#[derive(Clone, Copy)]
enum End {
    /// At a class that no cluster has yet.
    Class(usize),
    /// At a cluster that gives up its class, or does not get one.
    Cluster(usize),
}

/// State of the assignment while clusters are placed one after the other.
///
/// Prices keep `cluster_price[i] + class_price[j] >= count[i][j]`, with equality on assigned pairs and 0 at
/// classes and placed clusters without a partner: that proves the assignment best among the placed clusters.
/// All of it is in integers, so no tolerance is needed.
struct Search<'a> {
    table: &'a Contingency,
    ranges: Vec<Range<usize>>,
    cluster_price: Vec<u64>,
    class_price: Vec<u64>,
    class_of: Vec<Option<usize>>,
    cluster_of: Vec<Option<usize>>,
    // The rest belongs to one path; `reached` lists the classes whose distance must be reset after it.
    distance: Vec<u64>,
    before: Vec<usize>,
    reached: Vec<usize>,
    heap: BinaryHeap<Reverse<(u64, bool, usize)>>,
}

impl<'a> Search<'a> {
    fn new(table: &'a Contingency) -> Self {
        let ranges = table.cluster_ranges();
        let most = |cells: &Range<usize>| table.cells()[cells.clone()].iter().map(|c| c.count).max();
        let classes = table.classes().len();
        Self {
            table,
            cluster_price: ranges.iter().map(|cells| most(cells).unwrap_or(0)).collect(),
            class_price: vec![0; classes],
            class_of: vec![None; ranges.len()],
            cluster_of: vec![None; classes],
            distance: vec![u64::MAX; classes],
            before: vec![0; classes],
            reached: Vec::new(),
            heap: BinaryHeap::new(),
            ranges,
        }
    }

    /// Give `cluster` a class along the cheapest path of reassignments.
    fn place(&mut self, cluster: usize) {
        let (end, length) = self.cheapest_path(cluster);
        self.reprice(cluster, length);
        let mut free = match end {
            End::Class(class) => Some(class),
            End::Cluster(last) => self.class_of[last].take(),
        };
        // Back along the path: each free class goes to the cluster it was reached from, which frees its own.
        while let Some(class) = free {
            let taker = self.before[class];
            self.cluster_of[class] = Some(taker);
            free = self.class_of[taker].replace(class);
        }
        for class in self.reached.drain(..) {
            self.distance[class] = u64::MAX;
        }
        self.heap.clear();
    }

    /// Dijkstra over the slacks of the prices, from `start` to the nearest place where a path may end.
    fn cheapest_path(&mut self, start: usize) -> (End, u64) {
        let mut best = (End::Cluster(start), self.cluster_price[start]);
        self.relax(start, 0, best.1);
        while let Some(Reverse((distance, _, class))) = self.heap.pop() {
            if distance >= best.1 {
                break;
            }
            if distance > self.distance[class] {
                continue; // a nearer way to this class was found after this one was queued
            }
            let Some(holder) = self.cluster_of[class] else {
                return (End::Class(class), distance);
            };
            let give_up = distance + self.cluster_price[holder];
            if give_up < best.1 {
                best = (End::Cluster(holder), give_up);
            }
            self.relax(holder, distance, best.1);
        }
        best
    }

    /// Queue the classes that `cluster` meets, where that is nearer than what is known and than `limit`.
    fn relax(&mut self, cluster: usize, so_far: u64, limit: u64) {
        for cell in &self.table.cells()[self.ranges[cluster].clone()] {
            let slack = self.cluster_price[cluster] + self.class_price[cell.class] - cell.count;
            let known = self.distance[cell.class];
            if so_far + slack >= limit.min(known) {
                continue;
            }
            if known == u64::MAX {
                self.reached.push(cell.class);
            }
            self.distance[cell.class] = so_far + slack;
            self.before[cell.class] = cluster;
            // Among equally near classes a free one ends the search at once; flat tables are full of such ties.
            let held = self.cluster_of[cell.class].is_some();
            self.heap.push(Reverse((so_far + slack, held, cell.class)));
        }
    }

    /// Move the prices along the path's tree so that the path itself gets slack 0 and no slack turns negative.
    fn reprice(&mut self, start: usize, length: u64) {
        self.cluster_price[start] -= length;
        for &class in &self.reached {
            let rest = length.saturating_sub(self.distance[class]);
            self.class_price[class] += rest;
            if let Some(holder) = self.cluster_of[class] {
                self.cluster_price[holder] -= rest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};
    use rand::RngExt;
    use std::time::Instant;

    fn random_labels(n: usize, k: usize, seed: u64) -> Vec<usize> {
        let mut rng = stream(seed, Stream::Synthetic, 0);
        (0..n).map(|_| rng.random_range(0..k)).collect()
    }

    fn kept(table: &Contingency, class_of: &[Option<usize>]) -> u64 {
        table.cells().iter().filter(|c| class_of[c.cluster] == Some(c.class)).map(|c| c.count).sum()
    }

    /// Try every assignment.
    fn best_by_trial(table: &Contingency, cluster: usize, used: &mut [bool]) -> u64 {
        if cluster == table.clusters().len() {
            return 0;
        }
        let mut best = best_by_trial(table, cluster + 1, used);
        for cell in table.cells().iter().filter(|cell| cell.cluster == cluster) {
            if !used[cell.class] {
                used[cell.class] = true;
                best = best.max(cell.count + best_by_trial(table, cluster + 1, used));
                used[cell.class] = false;
            }
        }
        best
    }

    #[test]
    fn no_assignment_keeps_more_rows() {
        for seed in 0..300 {
            let (clusters, classes) = (1 + seed as usize % 6, 1 + seed as usize / 6 % 6);
            let n = 4 + seed as usize % 40;
            let (truth, predicted) =
                (random_labels(n, classes, seed), random_labels(n, clusters, seed + 1000));
            let table = Contingency::new(&truth, &predicted).unwrap();
            let class_of = assign(&table);
            let mut taken: Vec<_> = class_of.iter().flatten().collect();
            taken.sort_unstable();
            taken.dedup();
            assert_eq!(taken.len(), class_of.iter().flatten().count(), "a class was given twice");
            let best = best_by_trial(&table, 0, &mut vec![false; table.classes().len()]);
            assert_eq!(kept(&table, &class_of), best, "seed {seed}");
        }
    }

    #[test]
    fn two_thousand_clusters_take_less_than_two_seconds() {
        for n in [20_000, 400_000] {
            let table = Contingency::new(&random_labels(n, 2000, 1), &random_labels(n, 2000, 2)).unwrap();
            let start = Instant::now();
            assert!(kept(&table, &assign(&table)) > 2000);
            let seconds = start.elapsed().as_secs_f64();
            println!("{} cells: {seconds:.3} s", table.cells().len());
            assert!(seconds < 2.0, "{} cells took {seconds} s", table.cells().len());
        }
    }
}
