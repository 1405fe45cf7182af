//! The exact solver: shortest augmenting paths over the clusters.
//!
//! If every row takes the cluster with the largest score minus price, the labels are the best of all with the same
//! sizes. From there, rows are moved from clusters with too many rows to clusters with too few, one at a time and
//! along the cheapest chain of clusters. Prices are adjusted so that every row keeps its largest score minus price.
//! Sizes may vary within bounds through one more node, the pool, whose price is 0: a cluster passes between `lower`
//! and `upper` rows on to it, `upper` if its price is positive and `lower` if it is negative.

use super::grid::{Grid, TIED};
use super::members::Members;
use super::queue::Queue;
use rayon::prelude::*;

/// Cost of an arc that does not exist: above any sum of costs, and far from overflow.
const FAR: i64 = 1 << 60;
/// Gain along an arc that does not exist.
const NO_GAIN: i64 = -2 * FAR;
/// Where a path begins.
const START: usize = usize::MAX;

/// State of a solution; `lower`, `upper` and `prices` are its input.
#[derive(Debug, Clone, Default)]
pub(super) struct Flow {
    pub lower: Vec<usize>,
    pub upper: Vec<usize>,
    /// Prices of the clusters; during the search the pool's price comes last.
    pub prices: Vec<i64>,
    pub members: Members,
    /// Rows that a cluster passes on to the pool.
    passed: Vec<usize>,
    /// Surplus rows of each node; the pool comes last.
    excess: Vec<i64>,
    /// At `a * k + b`: the candidates for moves from a to b, then the gain and the row of the best one.
    queues: Vec<Queue>,
    gains: Vec<i64>,
    rows: Vec<u32>,
    // The fields below belong to a single search.
    distance: Vec<i64>,
    before: Vec<usize>,
    settled: Vec<bool>,
}

impl Flow {
    /// Find the best labels within the bounds, starting from `prices`.
    pub fn solve(&mut self, grid: &Grid<'_>) {
        self.start(grid);
        if self.excess.iter().any(|e| *e != 0) {
            self.fill(grid);
        }
        while let Some(end) = self.search() {
            self.reprice(end);
            while self.push(grid, end) {}
        }
        let pool = self.prices.pop().unwrap_or(0);
        self.prices.iter_mut().for_each(|p| *p -= pool);
    }

    /// Label rows by the prices, and count how far the sizes are from what the prices ask for.
    fn start(&mut self, grid: &Grid<'_>) {
        let k = grid.k;
        let prices: Vec<f64> = self.prices.iter().map(|p| *p as f64).collect();
        self.members.labels.resize(grid.len(), TIED);
        grid.choose(&prices, &mut self.members.labels);
        self.break_ties(grid, &prices);
        self.members.collect(k);
        let sizes = (0..k).map(|c| self.members.of(c).len());
        self.passed =
            sizes.clone().enumerate().map(|(c, size)| size.clamp(self.least(c), self.most(c))).collect();
        self.excess = sizes.zip(&self.passed).map(|(size, passed)| size as i64 - *passed as i64).collect();
        self.excess.push(-self.excess.iter().sum::<i64>());
        self.prices.push(0);
    }

    /// Minimum number of rows that the cluster should have at its price.
    fn least(&self, cluster: usize) -> usize {
        if self.prices[cluster] > 0 { self.upper[cluster] } else { self.lower[cluster] }
    }

    /// Maximum number of rows that the cluster should have at its price.
    fn most(&self, cluster: usize) -> usize {
        if self.prices[cluster] < 0 { self.lower[cluster] } else { self.upper[cluster] }
    }

    /// Give rows with several best clusters to the one that lacks most rows: with many equal scores, moving them
    /// later would be slow.
    fn break_ties(&mut self, grid: &Grid<'_>, prices: &[f64]) {
        let mut sizes = vec![0; grid.k];
        self.members.labels.iter().filter(|l| **l != TIED).for_each(|l| sizes[*l as usize] += 1);
        let mut values = Vec::new();
        for i in 0..grid.len() {
            if self.members.labels[i] != TIED {
                continue;
            }
            let best = grid.net(i, prices, &mut values);
            let need = |c: usize| (sizes[c] < self.most(c), self.least(c) as i64 - sizes[c] as i64);
            let ties = (0..grid.k).filter(|c| values[*c] == best);
            let label = ties.reduce(|a, b| if need(b) > need(a) { b } else { a }).unwrap_or(0);
            sizes[label] += 1;
            self.members.labels[i] = label as u32;
        }
    }

    /// Queue the candidates for every move.
    fn fill(&mut self, grid: &Grid<'_>) {
        let k = grid.k;
        self.queues.resize_with(k * k, Queue::default);
        self.queues.iter_mut().for_each(Queue::reset);
        self.gains.resize(k * k, NO_GAIN);
        self.rows.resize(k * k, 0);
        let members = &self.members;
        let fill = |(from, queues): (usize, &mut [Queue])| fill_from(grid, from, members.of(from), queues);
        if grid.is_large() {
            self.queues.par_chunks_mut(k).enumerate().for_each(fill);
        } else {
            self.queues.chunks_mut(k).enumerate().for_each(fill);
        }
        for from in 0..k {
            (0..k).for_each(|to| self.refresh(grid, from, to));
        }
    }

    /// Find the best move between two clusters again.
    fn refresh(&mut self, grid: &Grid<'_>, from: usize, to: usize) {
        let (k, labels) = (grid.k, &self.members.labels);
        let is_member = |row: u32| labels[row as usize] as usize == from;
        let mut best = self.queues[from * k + to].best(is_member);
        if best.is_none() && to != from && self.queues[from * k + to].is_low() {
            // The best moves to other clusters remain the best, so nothing else has to be found again.
            fill_from(grid, from, self.members.of(from), &mut self.queues[from * k..(from + 1) * k]);
            best = self.queues[from * k + to].best(is_member);
        }
        (self.gains[from * k + to], self.rows[from * k + to]) = best.unwrap_or((NO_GAIN, 0));
    }

    /// Dijkstra's algorithm from all nodes with too many rows to the nearest one with too few.
    fn search(&mut self) -> Option<usize> {
        let nodes = self.excess.len();
        self.before.clear();
        self.before.resize(nodes, START);
        self.settled.clear();
        self.settled.resize(nodes, false);
        self.distance.clear();
        self.distance.extend(self.excess.iter().map(|e| if *e > 0 { 0 } else { FAR }));
        loop {
            let open = (0..nodes).filter(|v| !self.settled[*v] && self.distance[*v] < FAR);
            let nearest = open.min_by_key(|v| self.distance[*v])?;
            if self.excess[nearest] < 0 {
                return Some(nearest);
            }
            self.settled[nearest] = true;
            self.relax(nearest);
        }
    }

    /// Shorten the paths through `node`. No path to a settled node gets shorter, as costs are not negative.
    fn relax(&mut self, node: usize) {
        let (k, so_far) = (self.passed.len(), self.distance[node]);
        let mut shorten = |to: usize, length: i64, distance: &mut i64| {
            if length < *distance {
                *distance = length;
                self.before[to] = node;
            }
        };
        let (clusters, pool) = self.distance.split_at_mut(k);
        if node < k {
            // The same as `cost`, but without its branches: searches spend nearly all their time here.
            let (gains, base) = (&self.gains[node * k..(node + 1) * k], so_far - self.prices[node]);
            let ways = self.prices.iter().zip(gains).zip(clusters).enumerate();
            ways.for_each(|(to, ((price, gain), distance))| shorten(to, base + price - gain, distance));
            let is_open = self.passed[node] < self.upper[node];
            shorten(k, if is_open { base + self.prices[k] } else { FAR }, &mut pool[0]);
        } else {
            for (to, distance) in
                clusters.iter_mut().enumerate().filter(|(c, _)| self.passed[*c] > self.lower[*c])
            {
                shorten(to, so_far + self.prices[to] - self.prices[k], distance);
            }
        }
    }

    /// What moving one row along an arc costs at the current prices; never negative.
    fn cost(&self, from: usize, to: usize) -> i64 {
        let k = self.excess.len() - 1;
        let rise = self.prices[to] - self.prices[from];
        if from < k && to < k {
            return rise - self.gains[from * k + to];
        }
        let is_open =
            if to == k { self.passed[from] < self.upper[from] } else { self.passed[to] > self.lower[to] };
        if is_open { rise } else { FAR }
    }

    /// Raise the prices of the nodes nearer than `end`, so that the path costs 0 and no cost becomes negative.
    fn reprice(&mut self, end: usize) {
        let length = self.distance[end];
        for v in (0..self.excess.len()).filter(|v| self.settled[*v]) {
            self.prices[v] += length - self.distance[v];
        }
    }

    /// Move one row along the path that was found. Returns whether another can follow for free.
    fn push(&mut self, grid: &Grid<'_>, end: usize) -> bool {
        let (mut to, mut is_free) = (end, true);
        // Backwards from the end, so that a row that has just arrived is not moved on at once.
        while self.before[to] != START {
            let from = self.before[to];
            self.step(grid, from, to);
            to = from;
        }
        let start = to;
        self.excess[start] -= 1;
        self.excess[end] += 1;
        to = end;
        while self.before[to] != START {
            is_free &= self.cost(self.before[to], to) == 0;
            to = self.before[to];
        }
        is_free && self.excess[start] > 0 && self.excess[end] < 0
    }

    fn step(&mut self, grid: &Grid<'_>, from: usize, to: usize) {
        let k = grid.k;
        if to == k {
            self.passed[from] += 1;
        } else if from == k {
            self.passed[to] -= 1;
        } else {
            self.relabel(grid, self.rows[from * k + to], from, to);
        }
    }

    /// Move a row, and keep the best candidates of both clusters up to date.
    fn relabel(&mut self, grid: &Grid<'_>, row: u32, from: usize, to: usize) {
        let k = grid.k;
        self.members.relabel(row, to);
        for other in 0..k {
            if self.rows[from * k + other] == row && self.gains[from * k + other] > NO_GAIN {
                self.refresh(grid, from, other);
            }
        }
        let scores = grid.row(row as usize);
        let own = grid.whole(scores[to]);
        for other in (0..k).filter(|other| *other != to) {
            let (gain, arc) = ((grid.whole(scores[other]) - own) as i64, to * k + other);
            self.queues[arc].push(gain, row);
            if gain > self.gains[arc] {
                (self.gains[arc], self.rows[arc]) = (gain, row);
            }
        }
    }
}

/// Refill the queues of moves from one cluster to the others where they are running out: one pass for several queues
/// takes little longer than for one, and identical rows leave them all at the same time.
fn fill_from(grid: &Grid<'_>, from: usize, members: &[u32], queues: &mut [Queue]) {
    // A flat copy of the floors: nearly all rows are dismissed by comparing with them.
    let mut floors = vec![f64::INFINITY; grid.k];
    let low: Vec<usize> = (0..grid.k).filter(|&to| to != from && queues[to].is_low()).collect();
    for &to in &low {
        queues[to].begin();
        floors[to] = f64::NEG_INFINITY;
    }
    let mut values = vec![0.0; grid.k];
    for &row in members {
        values.iter_mut().zip(grid.row(row as usize)).for_each(|(v, s)| *v = grid.whole(*s));
        let own = values[from];
        for (to, value) in values.iter().enumerate() {
            let gain = value - own;
            if gain > floors[to] {
                queues[to].offer(gain as i64, row);
                floors[to] = queues[to].floor() as f64;
            }
        }
    }
    low.iter().for_each(|&to| queues[to].finish());
}
