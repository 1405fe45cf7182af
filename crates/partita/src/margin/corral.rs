//! The point of a polytope nearest to the origin, by Wolfe's method (1976).
//!
//! A corral is a set of vertices whose affine hull is nearest to the origin at a point with positive weights. A
//! vertex that lies lower in that direction joins. The method then moves towards the nearest point of the new affine
//! hull; vertices whose weight reaches zero leave. The distance falls with every vertex that joins, so the method is
//! finite, and it ends with the precision of a linear system instead of a slow tail.
//!
//! Let (1, v) for all vertices v be the columns of B. The weights are the u, scaled to sum to one, for which Bu is
//! nearest to (1, 0). The triangle R of B = QR is updated as vertices come and go. Q is not kept: R and Bᵀ alone give
//! an error that grows with the square of the condition number, and a second pass on the residual corrects it
//! (corrected seminormal equations, Björck 1987). Small margins need this: their vertices are near the origin, so the
//! columns of B nearly agree.

use super::{add, dot, norm, scale};

/// Vertices with weights up to this leave. It is far above rounding and far too small to change a margin by 1e-9.
const NO_WEIGHT: f64 = 1e-13;

/// A vertex this near to the affine hull of the others, relative to its length, lies in it up to rounding.
const DEPENDENT: f64 = 1e-13;

/// Passes on the residual; the third is for the worst condition numbers.
const PASSES: usize = 3;

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

/// Vertices with positive weights that sum to one.
pub(super) struct Corral {
    pub vertices: Vec<Vertex>,
    pub weights: Vec<f64>,
    triangle: Triangle,
    k: usize,
    m: usize,
}

impl Corral {
    /// An empty corral in the space of `[k, m]` matrices.
    pub fn new(k: usize, m: usize) -> Self {
        Self { vertices: Vec::new(), weights: Vec::new(), triangle: Triangle::default(), k, m }
    }

    /// Let a vertex join and go to the nearest point; false if the vertex is no gain beyond rounding.
    pub fn join(&mut self, vertex: Vertex) -> bool {
        let mut rest = vec![0.0; 1 + self.k * self.m];
        self.spread(&vertex, 1.0, &mut rest);
        let length = norm(&rest);
        let mut column = vec![0.0; self.vertices.len()];
        for _ in 0..PASSES {
            let along = self.triangle.forward(self.products(&rest));
            add(&mut column, 1.0, &along);
            self.subtract(&self.triangle.backward(along), &mut rest);
        }
        let pivot = norm(&rest);
        if pivot <= DEPENDENT * length {
            return false;
        }
        column.push(pivot);
        self.triangle.rows.push(column);
        self.vertices.push(vertex);
        self.weights.push(if self.weights.is_empty() { 1.0 } else { 0.0 });
        self.settle();
        true
    }

    /// Add `factor` times (1, v) to `out`.
    fn spread(&self, vertex: &Vertex, factor: f64, out: &mut [f64]) {
        out[0] += factor;
        vertex.blocks.iter().for_each(|(c, block)| add(&mut out[1 + c * self.m..][..self.m], factor, block));
    }

    /// Bᵀr.
    fn products(&self, r: &[f64]) -> Vec<f64> {
        let block = |(c, block): &(usize, Vec<f64>)| dot(block, &r[1 + c * self.m..][..self.m]);
        self.vertices.iter().map(|v| r[0] + v.blocks.iter().map(block).sum::<f64>()).collect()
    }

    /// r − Bu.
    fn subtract(&self, u: &[f64], r: &mut [f64]) {
        self.vertices.iter().zip(u).for_each(|(v, u)| self.spread(v, -u, r));
    }

    /// The weights (of any sign) of the nearest point of the affine hull.
    fn affine_weights(&self) -> Vec<f64> {
        let mut rest = vec![0.0; 1 + self.k * self.m];
        rest[0] = 1.0;
        let mut weights = vec![0.0; self.vertices.len()];
        for _ in 0..PASSES {
            let change = self.triangle.backward(self.triangle.forward(self.products(&rest)));
            self.subtract(&change, &mut rest);
            add(&mut weights, 1.0, &change);
        }
        let sum: f64 = weights.iter().sum();
        scale(&mut weights, 1.0 / sum);
        weights
    }

    /// Move towards the nearest point of the affine hull, dropping vertices on the way, until that point is inside.
    fn settle(&mut self) {
        loop {
            let target = self.affine_weights();
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
        self.triangle.remove(at);
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|w| *w /= sum);
    }

    /// The point itself, shape `[k, m]`.
    pub fn point(&self) -> Vec<f64> {
        let mut point = vec![0.0; 1 + self.k * self.m];
        self.vertices.iter().zip(&self.weights).for_each(|(v, &w)| self.spread(v, w, &mut point));
        point.split_off(1)
    }
}

/// Rᵀ, row by row: a lower triangle, updated as vertices are appended and removed.
#[derive(Default)]
struct Triangle {
    rows: Vec<Vec<f64>>,
}

impl Triangle {
    /// Remove a row; rotations make the rows below it triangular again.
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

    /// R⁻ᵀw.
    fn forward(&self, mut w: Vec<f64>) -> Vec<f64> {
        for (i, row) in self.rows.iter().enumerate() {
            w[i] = (w[i] - dot(&row[..i], &w[..i])) / row[i];
        }
        w
    }

    /// R⁻¹w.
    fn backward(&self, mut w: Vec<f64>) -> Vec<f64> {
        for (i, row) in self.rows.iter().enumerate().rev() {
            w[i] /= row[i];
            let value = w[i];
            add(&mut w[..i], -value, &row[..i]);
        }
        w
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};
    use rand::RngExt;

    fn vertex(v: &[f64]) -> Vertex {
        Vertex { edges: Vec::new(), blocks: vec![(0, v.to_vec())] }
    }

    /// A corral of all these vertices, factored afresh, with weights of one.
    fn factored(vertices: &[Vertex]) -> Corral {
        let mut corral = Corral::new(1, 8);
        for v in vertices {
            let column: Vec<f64> = {
                let mut full = vec![0.0; 9];
                corral.spread(v, 1.0, &mut full);
                let mut column = corral.triangle.forward(corral.products(&full));
                let left = dot(&full, &full) - dot(&column, &column);
                column.push(left.sqrt());
                column
            };
            corral.triangle.rows.push(column);
            corral.vertices.push(v.clone());
            corral.weights.push(1.0);
        }
        corral
    }

    #[test]
    fn the_triangle_follows_vertices_that_come_and_go() {
        let mut rng = stream(3, Stream::Synthetic, 0);
        let mut row = || (0..8).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let mut vertices: Vec<Vertex> = (0..6).map(|_| vertex(&row())).collect();
        let mut corral = factored(&vertices);
        for at in [2, 0, 3] {
            corral.remove(at);
            vertices.remove(at);
            let fresh = factored(&vertices).affine_weights();
            assert!(corral.affine_weights().iter().zip(fresh).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn the_nearest_point_of_a_triangle_is_found_on_its_edge() {
        let mut corral = Corral::new(1, 2);
        for corner in [[3.0, 1.0], [1.0, 0.5], [1.0, -1.0]] {
            assert!(corral.join(vertex(&corner)));
        }
        let point = corral.point();
        assert!((point[0] - 1.0).abs() < 1e-12 && point[1].abs() < 1e-12, "{point:?}");
        assert!(!corral.join(vertex(&[1.0, 0.0])), "a vertex on the edge brings nothing");
    }

    #[test]
    fn vertices_near_the_origin_keep_their_difference() {
        // Products of (1, v) differ by 1e-15 only, which is rounding; (1, v) itself differs by more.
        let mut corral = Corral::new(1, 2);
        for corner in [[1e-7, 1e-8], [1e-7, -3e-8]] {
            assert!(corral.join(vertex(&corner)));
        }
        assert!((corral.weights[0] - 0.75).abs() < 1e-6, "{:?}", corral.weights);
    }
}
