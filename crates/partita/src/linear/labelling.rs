//! How the logit gradient of a batch is found: by the fast kernel for the default loss, in double precision for any other.

use super::em::{EmStep, Logits, Marks, Scratch};
use super::supervision;
use crate::objective::{self, BatchObjective, SelfLabelled};
use crate::simplex;

/// How the logit gradient of a batch is found.
pub enum Labelling {
    /// The fast kernel: EM pseudo-labels for the default loss.
    Em(EmStep),
    /// Any other loss, in double precision.
    Objective(Box<dyn BatchObjective>),
    /// Pseudo-labels that hold for an epoch.
    Fixed(SelfLabelled),
}

/// Buffers of one restart.
#[derive(Debug, Default)]
pub struct HeadBuffers {
    scratch: Scratch,
    workspace: objective::Workspace,
    log_sigma: Vec<f64>,
    gradient: Vec<f64>,
    weights: Vec<f64>,
}

/// The rows of a batch as one restart sees them.
pub struct Labelled<'a> {
    /// Which rows they are.
    pub rows: &'a [usize],
    /// Their weights, and the known labels that the restart sees.
    pub marks: Marks<'a>,
    /// Pseudo-labels of all rows for this restart, `[N, k]`, if they hold for an epoch.
    pub labels: &'a [f32],
}

impl Labelling {
    /// Logit gradient `d` `[k, n]` and loss of one restart.
    pub fn gradient(
        &self,
        z: Logits<'_>,
        (stride, first): (usize, usize),
        Labelled { rows, marks, labels }: Labelled<'_>,
        d: &mut [f32],
        head: &mut HeadBuffers,
    ) -> f64 {
        let (n, k) = (rows.len(), d.len() / rows.len());
        let loss = match self {
            Self::Em(em) => em.gradient(z, (stride, first), marks, d, &mut head.scratch),
            Self::Objective(objective) => {
                head.general(z.own, (stride, first), marks, d, |batch, gradient, workspace| {
                    objective.value_and_gradient(batch, gradient, workspace)
                })
            }
            Self::Fixed(objective) => {
                let fixed = rows.iter().flat_map(|&i| &labels[i * k..(i + 1) * k]);
                head.workspace.y.clear();
                head.workspace.y.extend(fixed.map(|&y| f64::from(y)));
                head.general(z.own, (stride, first), marks, d, |batch, gradient, workspace| {
                    objective.with_labels(batch, gradient, workspace)
                })
            }
        };
        loss + supervision::term(z.own, (stride, first, k), marks, |i, c, g| d[c * n + i] += g as f32)
    }
}

impl HeadBuffers {
    /// The gradient of any loss, in double precision.
    fn general(
        &mut self,
        z: &[f32],
        (stride, first): (usize, usize),
        marks: Marks<'_>,
        d: &mut [f32],
        loss: impl Fn(objective::Batch<'_>, &mut [f64], &mut objective::Workspace) -> f64,
    ) -> f64 {
        let n = z.len() / stride;
        let k = d.len() / n;
        let columns = z.chunks_exact(stride).flat_map(|row| row[first..first + k].iter().copied());
        simplex::log_softmax_rows(columns, k, &mut self.log_sigma);
        self.gradient.resize(self.log_sigma.len(), 0.0);
        self.weights.clear();
        self.weights.extend(marks.weights.unwrap_or(&[]).iter().map(|&w| f64::from(w)));
        let batch = objective::Batch {
            log_sigma: &self.log_sigma,
            k,
            weights: marks.weights.map(|_| &*self.weights),
            known: marks.known,
        };
        let value = loss(batch, &mut self.gradient, &mut self.workspace);
        for (i, row) in self.gradient.chunks_exact(k).enumerate() {
            for (c, g) in row.iter().enumerate() {
                d[c * n + i] = *g as f32;
            }
        }
        value
    }
}
