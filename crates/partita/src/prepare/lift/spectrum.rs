//! The slowest modes of a random walk on a graph: leading eigenvectors of its normalised weights.

use crate::rng::{Stream, stream};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};
use rand::RngExt;
use rayon::prelude::*;

/// Up to this many nodes all eigenvectors are computed, which is then as fast.
const DENSE: usize = 100;
/// Degree of the polynomial that filters the leading eigenvectors.
const DEGREE: usize = 40;
/// Residual at which an eigenvector is accurate, ...
const ACCURATE: f64 = 1e-7;
/// ... and at which it shows where clusters are, ...
const ROUGH: f64 = 2e-2;
/// ... and rounds at most.
const ROUNDS: usize = 25;
/// Nodes that one thread multiplies at a time.
const PIECE: usize = 512;
/// Vectors beyond those wanted, as a part of these and at least: the more, the faster the others converge.
const SPARE: (f64, usize) = (0.25, 5);

/// An undirected graph with weights, as lists of neighbours.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// For each node its neighbours and the weights of the edges to them.
    pub edges: Vec<Vec<(u32, f64)>>,
}

impl Graph {
    /// Number of nodes.
    pub fn n(&self) -> usize {
        self.edges.len()
    }

    /// Sum of the weights at each node.
    pub fn degrees(&self) -> Vec<f64> {
        self.edges.iter().map(|edges| edges.iter().map(|(_, w)| w).sum()).collect()
    }

    /// Join two nodes by an edge, unless a heavier one joins them already.
    pub fn join(&mut self, a: usize, b: usize, weight: f64) {
        for (from, to) in [(a, b), (b, a)] {
            match self.edges[from].iter_mut().find(|(node, _)| *node as usize == to) {
                Some(edge) => edge.1 = edge.1.max(weight),
                None => self.edges[from].push((to as u32, weight)),
            }
        }
    }

    /// The connected piece that each node belongs to, by number, and how many there are.
    pub fn pieces(&self) -> (Vec<usize>, usize) {
        let mut piece = vec![usize::MAX; self.n()];
        let mut count = 0;
        let mut open = Vec::new();
        for first in 0..self.n() {
            if piece[first] != usize::MAX {
                continue;
            }
            piece[first] = count;
            open.push(first);
            while let Some(node) = open.pop() {
                for &(next, _) in &self.edges[node] {
                    if piece[next as usize] == usize::MAX {
                        piece[next as usize] = count;
                        open.push(next as usize);
                    }
                }
            }
            count += 1;
        }
        (piece, count)
    }
}

/// Leading eigenvalues of D^-1 A, the largest first, with their eigenvectors u `[n, count]` in the order of the nodes.
#[derive(Debug, Clone)]
pub struct Spectrum {
    /// At most one, the first of them one.
    pub values: Vec<f64>,
    /// Row-major `[n, count]`: one row for each node.
    pub vectors: Vec<f64>,
}

/// D^-1/2 A D^-1/2, whose eigenvalues are between −1 and 1.
struct Walk {
    edges: Vec<Vec<(u32, f64)>>,
}

impl Walk {
    fn new(graph: &Graph, degrees: &[f64]) -> Self {
        let edges = graph.edges.iter().enumerate().map(|(i, edges)| {
            let scaled = |&(j, w): &(u32, f64)| (j, w / (degrees[i] * degrees[j as usize]).sqrt());
            edges.iter().map(scaled).collect()
        });
        Self { edges: edges.collect() }
    }

    fn n(&self) -> usize {
        self.edges.len()
    }

    /// Product with vectors side by side, row-major `[n, width]`.
    fn apply(&self, vectors: &[f64], width: usize) -> Vec<f64> {
        let mut out = vec![0.0; vectors.len()];
        let pieces = out.par_chunks_mut(PIECE * width).zip(self.edges.par_chunks(PIECE));
        pieces.for_each(|(out, edges)| {
            for (out, edges) in out.chunks_exact_mut(width).zip(edges) {
                for &(j, w) in edges {
                    let row = &vectors[j as usize * width..][..width];
                    out.iter_mut().zip(row).for_each(|(o, v)| *o += w * v);
                }
            }
        });
        out
    }

    fn dense(&self) -> Mat<f64> {
        let mut dense = Mat::<f64>::zeros(self.n(), self.n());
        for (i, edges) in self.edges.iter().enumerate() {
            edges.iter().for_each(|&(j, w)| dense[(i, j as usize)] += w);
        }
        dense
    }

    /// Chebyshev's polynomial of the interval from −1 to `cut`, applied to the vectors: it holds down what belongs to eigenvalues in
    /// the interval, and lifts what is beyond, the more the farther.
    fn filter(&self, vectors: Vec<f64>, width: usize, cut: f64) -> Vec<f64> {
        let (middle, half) = (0.5 * (cut - 1.0), 0.5 * (cut + 1.0));
        let step = |v: &[f64], factor: f64| -> Vec<f64> {
            let product = self.apply(v, width);
            product.iter().zip(v).map(|(p, v)| factor * (p - middle * v) / half).collect()
        };
        let mut before = vectors;
        let mut now = step(&before, 1.0);
        for _ in 1..DEGREE {
            let mut next = step(&now, 2.0);
            next.iter_mut().zip(&before).for_each(|(n, b)| *n -= b);
            before = std::mem::replace(&mut now, next);
        }
        now
    }
}

impl Spectrum {
    /// The `count` leading eigenvectors of a graph without lone nodes.
    pub fn new(graph: &Graph, count: usize) -> Self {
        Self::within(graph, count, ACCURATE)
    }

    /// The same in a fraction of the time, as accurate as parting the nodes needs.
    pub fn rough(graph: &Graph, count: usize) -> Self {
        Self::within(graph, count, ROUGH)
    }

    fn within(graph: &Graph, count: usize, tolerance: f64) -> Self {
        let degrees = graph.degrees();
        let walk = Walk::new(graph, &degrees);
        let n = graph.n();
        let count = count.min(n);
        let block = count + SPARE.1.max((SPARE.0 * count as f64) as usize);
        let (values, vectors) = if n <= DENSE || 2 * block > n {
            all(&walk, count)
        } else {
            some(&walk, count, block, tolerance)
        };
        let entry = |i: usize, c: usize| vectors[(i, c)] / degrees[i].sqrt();
        Self {
            values,
            vectors: (0..n).flat_map(|i| (0..count).map(move |c| (i, c))).map(|(i, c)| entry(i, c)).collect(),
        }
    }
}

impl Spectrum {
    /// mean(1 − λ_1..k)/(1 − λ_k+1): how slowly the walk leaves k clusters beside how slowly it mixes inside of them.
    pub fn slowness(&self, k: usize) -> f64 {
        let d = k.min(self.values.len());
        let slow = self.values[..d].iter().map(|v| 1.0 - v).sum::<f64>() / d as f64;
        let next = self.values.get(k).map_or(1.0, |v| 1.0 - v);
        slow.max(0.0) / next.max(f64::MIN_POSITIVE)
    }
}

/// The leading eigenvectors by the decomposition of the whole matrix.
fn all(walk: &Walk, count: usize) -> (Vec<f64>, Mat<f64>) {
    let (values, vectors) = descending(walk.dense().as_ref());
    (values[..count].to_vec(), vectors.subcols(0, count).to_owned())
}

/// Eigenvalues, the largest first, and eigenvectors of a symmetric matrix.
fn descending(matrix: MatRef<'_, f64>) -> (Vec<f64>, Mat<f64>) {
    let n = matrix.nrows();
    let eigen = matrix.self_adjoint_eigen(Side::Lower).expect("the weights of a graph are finite");
    let values = eigen.S().column_vector();
    // Eigenvalues ascend: the leading ones stand last.
    ((0..n).rev().map(|c| values[c]).collect(), eigen.U().reverse_cols().to_owned())
}

/// The leading eigenvectors by filtering a block of vectors, with products of the graph alone. A block finds eigenvalues that are
/// nearly equal, as those of separate pieces are.
fn some(walk: &Walk, count: usize, block: usize, tolerance: f64) -> (Vec<f64>, Mat<f64>) {
    let mut rng = stream(0, Stream::Sample, 5);
    let mut vectors = Mat::from_fn(walk.n(), block, |_, _| rng.random::<f64>() - 0.5);
    let mut values = Vec::new();
    for _ in 0..ROUNDS {
        orthonormalise(&mut vectors);
        let image = rows(&walk.apply(&flat(vectors.as_ref()), block), block);
        let small = product(vectors.transpose(), image.as_ref());
        let symmetric = Mat::from_fn(block, block, |i, j| 0.5 * (small[(i, j)] + small[(j, i)]));
        let (found, turn) = descending(symmetric.as_ref());
        vectors = product(vectors.as_ref(), turn.as_ref());
        let image = product(image.as_ref(), turn.as_ref());
        let residual = |c: usize| (image.col(c) - vectors.col(c) * faer::Scale(found[c])).norm_l2();
        let done = (0..count).all(|c| residual(c) <= tolerance);
        let cut = found[block - 1];
        values = found;
        // Beyond a cut at 1 there is nothing to lift.
        if done || cut >= 1.0 - 1e-12 {
            break;
        }
        vectors = rows(&walk.filter(flat(vectors.as_ref()), block, cut), block);
    }
    (values[..count].to_vec(), vectors.subcols(0, count).to_owned())
}

/// The product on the calling thread: the bits must not depend on how many there are.
fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// Make the columns orthonormal, by Gram and Schmidt; twice, since once leaves rounding errors of nearly parallel columns.
fn orthonormalise(vectors: &mut Mat<f64>) {
    let mut columns: Vec<Vec<f64>> =
        vectors.col_iter().map(|column| column.iter().copied().collect()).collect();
    for c in 0..columns.len() {
        let (before, rest) = columns.split_at_mut(c);
        let column = &mut rest[0];
        for _ in 0..2 {
            for other in &*before {
                let overlap: f64 = column.iter().zip(other).map(|(a, b)| a * b).sum();
                column.iter_mut().zip(other).for_each(|(a, b)| *a -= overlap * b);
            }
            let norm = column.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            column.iter_mut().for_each(|v| *v /= norm);
        }
    }
    *vectors = Mat::from_fn(vectors.nrows(), columns.len(), |i, c| columns[c][i]);
}

/// Row-major values of a matrix.
fn flat(matrix: MatRef<'_, f64>) -> Vec<f64> {
    (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| matrix[(i, j)])).collect()
}

/// A matrix of row-major values.
fn rows(values: &[f64], width: usize) -> Mat<f64> {
    MatRef::from_row_major_slice(values, values.len() / width, width).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rings of `size` nodes, one after the other, joined by weak edges.
    fn rings(count: usize, size: usize, weak: f64) -> Graph {
        let mut graph = Graph { edges: vec![Vec::new(); count * size] };
        for r in 0..count {
            (0..size).for_each(|i| graph.join(r * size + i, r * size + (i + 1) % size, 1.0));
            if r > 0 {
                graph.join((r - 1) * size, r * size, weak);
            }
        }
        graph
    }

    #[test]
    fn some_eigenvectors_are_those_of_the_whole_matrix() {
        for (count, size) in [(3, 40), (6, 50), (4, 120)] {
            let graph = rings(count, size, 1e-4);
            let walk = Walk::new(&graph, &graph.degrees());
            let (few, vectors) = some(&walk, count + 1, count + 6, ACCURATE);
            let (whole, _) = all(&walk, count + 1);
            few.iter().zip(&whole).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{few:?} {whole:?}"));
            assert_eq!(vectors.ncols(), count + 1);
        }
    }

    #[test]
    fn on_well_parted_pieces_the_leading_eigenvectors_are_constant() {
        let (count, size) = (4, 80);
        let found = Spectrum::new(&rings(count, size, 1e-6), count);
        for piece in found.vectors.chunks_exact(size * count) {
            for c in 0..count {
                let values: Vec<f64> = piece.iter().skip(c).step_by(count).copied().collect();
                let mean = values.iter().sum::<f64>() / size as f64;
                values.iter().for_each(|v| assert!((v - mean).abs() < 1e-2, "{v} {mean}"));
            }
        }
        assert!((found.values[0] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn pieces_are_counted() {
        let mut graph = rings(3, 5, 0.5);
        assert_eq!(graph.pieces().1, 1);
        graph.edges.extend(
            rings(1, 4, 1.0).edges.iter().map(|edges| edges.iter().map(|&(j, w)| (j + 15, w)).collect()),
        );
        let (piece, count) = graph.pieces();
        assert_eq!((count, piece[0], piece[18]), (2, 0, 1));
    }
}
