//! The point of a polytope nearest to the origin, by Wolfe's method (1976).
//!
//! A corral is a set of vertices whose affine hull is nearest to the origin at a point with positive weights. A vertex that
//! lies lower in that direction joins; the nearest point of the new affine hull is approached until a weight reaches zero,
//! and such vertices leave. The distance falls with every vertex that joins, so the method is finite, and it ends with the
//! precision of a linear system instead of a slow tail.
//!
//! The weights solve (11ᵀ + G) λ ∝ 1 with G the products of the vertices. The factor is updated as vertices come and go.

use super::{add, dot};

/// Weights at or below this leave: far above rounding, far below what changes a margin by 1e-9.
const NO_WEIGHT: f64 = 1e-13;

/// Pivots below this share of the diagonal mean that the new vertex lies in the affine hull, but for rounding.
const DEPENDENT: f64 = 1e-13;

/// A row of one cluster against another: the difference vector (e_own − e_rival) ⊗ x of one constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub row: usize,
    pub own: usize,
    pub rival: usize,
}

/// The mean of the difference vectors along a cycle of clusters. Only the blocks of its clusters are not zero.
#[derive(Debug, Clone)]
pub(super) struct Vertex {
    pub edges: Vec<Edge>,
    pub blocks: Vec<(usize, Vec<f64>)>,
}

impl Vertex {
    pub fn dot(&self, other: &Self) -> f64 {
        let block = |(c, v): &(usize, Vec<f64>)| {
            other.blocks.iter().find(|(d, _)| d == c).map_or(0.0, |(_, w)| dot(v, w))
        };
        self.blocks.iter().map(block).sum()
    }
}

/// Vertices with positive weights that sum to one.
#[derive(Default)]
pub(super) struct Corral {
    pub vertices: Vec<Vertex>,
    pub weights: Vec<f64>,
    factor: Factor,
}

impl Corral {
    /// Let a vertex join and go to the nearest point; false if it brings nothing that rounding does not hide.
    pub fn join(&mut self, vertex: Vertex) -> bool {
        let mut column: Vec<f64> = self.vertices.iter().map(|v| 1.0 + v.dot(&vertex)).collect();
        column.push(1.0 + vertex.dot(&vertex));
        if !self.factor.append(column) {
            return false;
        }
        self.vertices.push(vertex);
        self.weights.push(if self.weights.is_empty() { 1.0 } else { 0.0 });
        self.settle();
        true
    }

    /// Approach the nearest point of the affine hull, and let go of vertices on the way, until it is inside.
    fn settle(&mut self) {
        loop {
            let target = self.factor.affine_weights();
            let leaving = |i: &usize| target[*i] <= NO_WEIGHT;
            let reach = |i: usize| self.weights[i] / (self.weights[i] - target[i]).max(f64::MIN_POSITIVE);
            let first = (0..target.len()).filter(leaving).min_by(|&a, &b| reach(a).total_cmp(&reach(b)));
            let Some(first) = first else {
                self.weights = target;
                return;
            };
            let share = reach(first).clamp(0.0, 1.0);
            self.weights.iter_mut().zip(&target).for_each(|(w, t)| *w += share * (t - *w));
            self.remove(first);
            if self.weights.len() == 1 {
                self.weights[0] = 1.0;
                return;
            }
        }
    }

    fn remove(&mut self, at: usize) {
        self.vertices.remove(at);
        self.weights.remove(at);
        self.factor.remove(at);
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|w| *w /= sum);
    }

    /// The point itself, shape `[k, m]`.
    pub fn point(&self, k: usize, m: usize) -> Vec<f64> {
        let mut point = vec![0.0; k * m];
        for (vertex, &weight) in self.vertices.iter().zip(&self.weights) {
            for (c, block) in &vertex.blocks {
                add(&mut point[c * m..][..m], weight, block);
            }
        }
        point
    }
}

/// A Cholesky factor, row by row, that follows rows appended and removed.
#[derive(Default)]
struct Factor {
    rows: Vec<Vec<f64>>,
}

impl Factor {
    /// Append the last row of the matrix; false, and nothing changed, if the matrix would be singular.
    fn append(&mut self, mut column: Vec<f64>) -> bool {
        let n = self.rows.len();
        for i in 0..n {
            let row = &self.rows[i];
            column[i] = (column[i] - dot(&row[..i], &column[..i])) / row[i];
        }
        let diagonal = column[n];
        let pivot = diagonal - dot(&column[..n], &column[..n]);
        if pivot <= DEPENDENT * diagonal {
            return false;
        }
        column[n] = pivot.sqrt();
        self.rows.push(column);
        true
    }

    /// Remove a row and a column; rotations bring the rows below back to a triangle.
    fn remove(&mut self, at: usize) {
        self.rows.remove(at);
        for i in at..self.rows.len() {
            let (a, b) = (self.rows[i][i], self.rows[i][i + 1]);
            let length = a.hypot(b);
            let (cosine, sine) = (a / length, b / length);
            for row in &mut self.rows[i..] {
                let (left, right) = (row[i], row[i + 1]);
                row[i] = cosine * left + sine * right;
                row[i + 1] = cosine * right - sine * left;
            }
            self.rows[i].truncate(i + 1);
        }
    }

    /// The solution for a right side of ones, scaled to the sum one.
    fn affine_weights(&self) -> Vec<f64> {
        let n = self.rows.len();
        let mut w = vec![1.0; n];
        for i in 0..n {
            let row = &self.rows[i];
            w[i] = (w[i] - dot(&row[..i], &w[..i])) / row[i];
        }
        for i in (0..n).rev() {
            w[i] /= self.rows[i][i];
            let (above, value) = (&self.rows[i][..i], w[i]);
            w[..i].iter_mut().zip(above).for_each(|(w, l)| *w -= l * value);
        }
        let sum: f64 = w.iter().sum();
        w.iter_mut().for_each(|w| *w /= sum);
        w
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};
    use rand::RngExt;

    fn vertex(v: Vec<f64>) -> Vertex {
        Vertex { edges: Vec::new(), blocks: vec![(0, v)] }
    }

    #[test]
    fn the_factor_follows_rows_that_come_and_go() {
        let mut rng = stream(3, Stream::Synthetic, 0);
        let mut v: Vec<Vec<f64>> =
            (0..6).map(|_| (0..8).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
        let column =
            |v: &[Vec<f64>], n: usize| -> Vec<f64> { (0..=n).map(|i| 1.0 + dot(&v[i], &v[n])).collect() };
        let mut factor = Factor::default();
        (0..6).for_each(|n| assert!(factor.append(column(&v, n))));
        for at in [2, 0, 3] {
            factor.remove(at);
            v.remove(at);
            let mut fresh = Factor::default();
            (0..v.len()).for_each(|n| assert!(fresh.append(column(&v, n))));
            let pairs = factor.affine_weights().into_iter().zip(fresh.affine_weights());
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn the_nearest_point_of_a_triangle_is_found_on_its_edge() {
        let mut corral = Corral::default();
        for corner in [[3.0, 1.0], [1.0, 0.5], [1.0, -1.0]] {
            assert!(corral.join(vertex(corner.to_vec())));
        }
        let point = corral.point(1, 2);
        assert!((point[0] - 1.0).abs() < 1e-12 && point[1].abs() < 1e-12, "{point:?}");
        assert!(!corral.join(vertex(vec![1.0, 0.0])), "a vertex on the edge brings nothing");
    }
}
