//! Lifts: feature maps before the softmax, for clusters that no planes part.

mod cells;
mod graph;
mod landmarks;
mod quadratic;
mod rbf;
mod spectrum;

pub use graph::{GraphLift, modes};
pub use landmarks::Landmarks;
pub use quadratic::QuadraticLift;
pub use rbf::RbfLift;

use super::Preparation;
use crate::error::Result;
use crate::mixture::Covariance;
use crate::rows::{Csr, Rows};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows lifted by one thread at a time.
const PIECE: usize = 16;

/// The feature map before the softmax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LiftKind {
    /// None: clusters are parted by planes.
    #[default]
    None,
    /// For rows of few features, [`LiftKind::Graph`] if it finds clusters, otherwise [`LiftKind::Quadratic`]; for others none.
    Auto,
    /// Which Gaussian of a mixture a row comes from: clusters are parted by quadrics.
    Quadratic,
    /// How near a row is to each of a few landmarks: what a kernel machine parts rows by.
    Rbf,
    /// Where a row lies in the graph of nearest neighbours: clusters are parted where rows are sparse, whatever their shapes.
    Graph,
}

impl LiftKind {
    /// Whether a certain lift is asked for.
    pub fn is_asked(self) -> bool {
        !matches!(self, Self::None | Self::Auto)
    }
}

/// A feature map fitted to rows. It takes raw rows and stays with the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lift {
    /// See [`LiftKind::Graph`].
    Graph(GraphLift),
    /// See [`LiftKind::Quadratic`].
    Quadratic(QuadraticLift),
    /// See [`LiftKind::Rbf`].
    Rbf(RbfLift),
}

impl Lift {
    /// Number of raw features.
    pub fn m(&self) -> usize {
        self.base().m()
    }

    /// Number of features after the lift.
    pub fn d(&self) -> usize {
        match self {
            Self::Graph(graph) => graph.d(),
            Self::Quadratic(quadratic) => quadratic.d(),
            Self::Rbf(rbf) => rbf.d(),
        }
    }

    /// Features of each file that it was fitted to.
    pub fn widths(&self) -> Vec<usize> {
        self.base().views.iter().map(|view| view.width).collect()
    }

    /// What a report says about it.
    pub fn note(&self) -> LiftNote {
        match self {
            Self::Graph(graph) => LiftNote::Graph {
                landmarks: graph.landmarks.n(),
                neighbours: graph.neighbours,
                slowness: graph.slowness,
            },
            Self::Quadratic(quadratic) => LiftNote::Quadratic { covariance: quadratic.mixture().shape },
            Self::Rbf(rbf) => LiftNote::Rbf {
                landmarks: rbf.landmarks.n(),
                width: f64::from(rbf.squared_width).sqrt(),
                slowness: rbf.slowness,
            },
        }
    }

    /// Which feature map it is.
    pub fn kind(&self) -> LiftKind {
        match self {
            Self::Graph(_) => LiftKind::Graph,
            Self::Quadratic(_) => LiftKind::Quadratic,
            Self::Rbf(_) => LiftKind::Rbf,
        }
    }

    /// What is done to raw rows first.
    pub fn base(&self) -> &Preparation {
        match self {
            Self::Graph(graph) => &graph.base,
            Self::Quadratic(quadratic) => &quadratic.base,
            Self::Rbf(rbf) => &rbf.base,
        }
    }

    /// Whether all parts fit together and all numbers are finite.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Graph(graph) => graph.is_sound(),
            Self::Quadratic(quadratic) => quadratic.is_sound(),
            Self::Rbf(rbf) => rbf.is_sound(),
        }
    }

    /// Lift a block of raw rows `[n, m]`, which is overwritten, into `out` `[n, d]`.
    pub fn apply(&self, block: &mut [f32], out: &mut [f32]) {
        match self {
            Self::Graph(graph) => graph.apply(block, out),
            Self::Quadratic(quadratic) => quadratic.apply(block, out),
            Self::Rbf(rbf) => rbf.apply(block, out),
        }
    }
}

/// What a report says about a lift.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LiftNote {
    /// See [`LiftKind::Graph`].
    Graph {
        /// Rows that stand for all.
        landmarks: usize,
        /// Nearest landmarks that count.
        neighbours: usize,
        /// How slow the modes are beside the next: near 0 the clusters are well apart, from 0.3 on there may be none.
        slowness: f64,
    },
    /// See [`LiftKind::Quadratic`].
    Quadratic {
        /// The shape of the Gaussians.
        covariance: Covariance,
    },
    /// See [`LiftKind::Rbf`].
    Rbf {
        /// Rows that stand for all.
        landmarks: usize,
        /// Distance at which the nearness of two prepared rows is 1/e.
        width: f64,
        /// As that of a graph.
        slowness: f64,
    },
}

/// Rows seen through a lift.
pub struct Lifted<'a> {
    rows: &'a dyn Rows,
    lift: &'a Lift,
}

impl<'a> Lifted<'a> {
    /// These rows, lifted as they are read.
    pub fn new(rows: &'a dyn Rows, lift: &'a Lift) -> Self {
        Self { rows, lift }
    }

    /// Lift raw rows, on all threads if there are many.
    fn lift(&self, raw: &mut [f32], out: &mut [f32]) {
        let pieces = raw.par_chunks_mut(PIECE * self.lift.m()).zip(out.par_chunks_mut(PIECE * self.lift.d()));
        pieces.for_each(|(raw, out)| self.lift.apply(raw, out));
    }
}

impl Rows for Lifted<'_> {
    fn n(&self) -> usize {
        self.rows.n()
    }

    fn m(&self) -> usize {
        self.lift.d()
    }

    fn read(&self, start: usize, out: &mut [f32]) -> Result<()> {
        let mut raw = vec![0.0; out.len() / self.m() * self.rows.m()];
        self.rows.read(start, &mut raw)?;
        self.lift(&mut raw, out);
        Ok(())
    }

    fn gather(&self, rows: &[usize], out: &mut [f32]) -> Result<()> {
        let mut raw = vec![0.0; rows.len() * self.rows.m()];
        self.rows.gather(rows, &mut raw)?;
        self.lift(&mut raw, out);
        Ok(())
    }

    fn release(&self) {
        self.rows.release();
    }

    fn sparse(&self) -> Option<&Csr<'_>> {
        None
    }
}
