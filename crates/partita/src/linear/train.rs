//! Training all restarts together: one pass over the data serves them all.

use super::kernel::{self, EmStep, Marks, Scratch};
use super::optimise::{BIAS_PACE, Memory, Optimiser, Pace};
use super::source::Batch;
use super::vector;
use crate::objective::{self, BatchObjective, SelfLabelled};
use crate::simplex;
use rayon::prelude::*;

/// Restarts trained by one thread at a time.
const GROUP: usize = 4;
/// Clusters whose weights are updated by one thread at a time.
const CLUSTERS: usize = 64;

/// Restarts stacked: weights `[R·k, m]` and biases `[R·k]`.
#[derive(Debug)]
pub struct Stack {
    /// Number of clusters of each restart.
    pub k: usize,
    /// Number of features.
    pub m: usize,
    /// Which restart stands where: restarts may be dropped on the way.
    pub restarts: Vec<usize>,
    /// Whether the restart at each place learns from known labels yet.
    pub sees_known: Vec<bool>,
    weight: Vec<f32>,
    bias: Vec<f32>,
    memory: Vec<HeadMemory>,
}

#[derive(Debug, Default)]
struct HeadMemory {
    weight: Vec<Memory>,
    bias: Memory,
}

impl HeadMemory {
    fn new(k: usize) -> Self {
        Self { weight: vec![Memory::default(); k.div_ceil(CLUSTERS)], bias: Memory::default() }
    }
}

/// Weights `[k, m]` and biases `[k]` of one restart.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// Weights.
    pub weight: Vec<f32>,
    /// Biases.
    pub bias: Vec<f32>,
}

impl Head {
    /// Logits `[n, k]` of prepared rows.
    pub fn logits(&self, batch: &Batch) -> Vec<f32> {
        let k = self.bias.len();
        let mut z = vec![0.0; batch.rows.len() * k];
        kernel::logits(&batch.x, &self.weight, &self.bias, self.weight.len() / k, &mut z);
        z
    }
}

/// How the logit gradient of a batch is found.
pub enum Labelling {
    /// The fast kernel: EM pseudo-labels for the default loss.
    Em(EmStep),
    /// Any other loss, in double precision.
    Objective(Box<dyn BatchObjective>),
    /// Pseudo-labels fixed for an epoch: those of restart r and row i stand at `labels[r][i*k..]`.
    Fixed(SelfLabelled, Vec<Vec<f32>>),
}

/// Buffers of the training loop, used again in every step.
#[derive(Debug, Default)]
pub struct Buffers {
    groups: Vec<GroupBuffers>,
}

/// Buffers of one group of restarts.
#[derive(Debug, Default)]
struct GroupBuffers {
    z: Vec<f32>,
    d: Vec<f32>,
    g: Vec<f32>,
    heads: Vec<HeadBuffers>,
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

impl Stack {
    /// Stack restarts 0, 1, ...
    pub fn new(k: usize, m: usize, heads: &[Head]) -> Self {
        Self {
            k,
            m,
            restarts: (0..heads.len()).collect(),
            sees_known: vec![true; heads.len()],
            weight: heads.iter().flat_map(|h| h.weight.iter().copied()).collect(),
            bias: heads.iter().flat_map(|h| h.bias.iter().copied()).collect(),
            memory: heads.iter().map(|_| HeadMemory::new(k)).collect(),
        }
    }

    /// A copy of the weights at place `at`.
    pub fn head(&self, at: usize) -> Head {
        let (k, m) = (self.k, self.m);
        Head {
            weight: self.weight[at * k * m..(at + 1) * k * m].to_vec(),
            bias: self.bias[at * k..(at + 1) * k].to_vec(),
        }
    }

    /// Replace the weights at place `at`; the optimiser forgets what it knew of the old ones.
    pub fn set_head(&mut self, at: usize, head: &Head) {
        let (k, m) = (self.k, self.m);
        self.memory[at] = HeadMemory::new(k);
        self.weight[at * k * m..(at + 1) * k * m].copy_from_slice(&head.weight);
        self.bias[at * k..(at + 1) * k].copy_from_slice(&head.bias);
    }

    /// Keep only these places, in this order.
    pub fn keep(&mut self, places: &[usize]) {
        let heads: Vec<Head> = places.iter().map(|&at| self.head(at)).collect();
        let mut kept = Self::new(self.k, self.m, &heads);
        kept.restarts = places.iter().map(|&at| self.restarts[at]).collect();
        kept.sees_known = places.iter().map(|&at| self.sees_known[at]).collect();
        kept.memory = places.iter().map(|&at| std::mem::take(&mut self.memory[at])).collect();
        *self = kept;
    }

    /// One step on the rows of `batch`; returns the batch loss of each restart (without the norm).
    ///
    /// Groups of restarts are independent of each other, so there is one meeting point of the threads a step. The size
    /// of a group is fixed: the bits do not depend on the number of threads.
    pub fn step(
        &mut self,
        batch: &Batch,
        labelling: &Labelling,
        how: (Optimiser, Pace),
        buffers: &mut Buffers,
    ) -> Vec<f64> {
        let (k, m) = (self.k, self.m);
        buffers.groups.resize_with(self.restarts.len().div_ceil(GROUP), GroupBuffers::default);
        let values = self.weight.par_chunks_mut(GROUP * k * m).zip(self.bias.par_chunks_mut(GROUP * k));
        let groups = values.zip(self.memory.par_chunks_mut(GROUP)).zip(self.restarts.par_chunks(GROUP));
        let groups = groups.zip(self.sees_known.par_chunks(GROUP));
        let losses: Vec<Vec<f64>> = groups
            .zip(&mut buffers.groups)
            .map(|(((((weight, bias), memory), restarts), sees_known), buffers)| {
                let group = Group { weight, bias, memory, restarts, sees_known, k, m };
                group.step(batch, labelling, how, buffers)
            })
            .collect();
        losses.concat()
    }
}

/// Some restarts of a [`Stack`].
struct Group<'a> {
    weight: &'a mut [f32],
    bias: &'a mut [f32],
    memory: &'a mut [HeadMemory],
    restarts: &'a [usize],
    sees_known: &'a [bool],
    k: usize,
    m: usize,
}

impl Group<'_> {
    fn step(
        self,
        batch: &Batch,
        labelling: &Labelling,
        (optimiser, pace): (Optimiser, Pace),
        buffers: &mut GroupBuffers,
    ) -> Vec<f64> {
        let (k, m) = (self.k, self.m);
        let (n, stride) = (batch.rows.len(), self.bias.len());
        buffers.z.resize(n * stride, 0.0);
        buffers.d.resize(stride * n, 0.0);
        buffers.g.resize(stride * m, 0.0);
        buffers.heads.resize_with(self.restarts.len(), HeadBuffers::default);
        kernel::logits(&batch.x, self.weight, self.bias, m, &mut buffers.z);
        let z = &buffers.z;
        let losses = buffers
            .d
            .par_chunks_mut(k * n)
            .zip(&mut buffers.heads)
            .enumerate()
            .map(|(r, (d, head))| {
                let marks = batch.marks();
                let marks = if self.sees_known[r] { marks } else { Marks { known: None, ..marks } };
                let rows = Labelled { rows: &batch.rows, marks, restart: self.restarts[r] };
                labelling.gradient(z, (stride, r * k), rows, d, head)
            })
            .collect();
        let gradients = buffers.g.par_chunks_mut(k * m).zip(buffers.d.par_chunks(k * n));
        let values = self.weight.par_chunks_mut(k * m).zip(self.bias.par_chunks_mut(k));
        values.zip(self.memory).zip(gradients).for_each(|(((weight, bias), memory), (g, d))| {
            update_weights(weight, &mut memory.weight, (g, d), (&batch.x, m), optimiser, pace);
            let slope: Vec<f32> = d.chunks_exact(n).map(vector::sum).collect();
            let pace = Pace { rate: pace.rate * BIAS_PACE, decay: 0.0, ..pace };
            optimiser.update(bias, &slope, &mut memory.bias, pace);
        });
        losses
    }
}

/// Gradient and update of the weights of one restart, some clusters at a time.
fn update_weights(
    weight: &mut [f32],
    memory: &mut [Memory],
    (g, d): (&mut [f32], &[f32]),
    (x, m): (&[f32], usize),
    optimiser: Optimiser,
    pace: Pace,
) {
    let n = x.len() / m;
    weight
        .par_chunks_mut(CLUSTERS * m)
        .zip(memory)
        .zip(g.par_chunks_mut(CLUSTERS * m).zip(d.par_chunks(CLUSTERS * n)))
        .for_each(|((weight, memory), (g, d))| {
            kernel::weight_gradient(d, x, m, g);
            optimiser.update(weight, g, memory, pace);
        });
}

/// The rows of a batch as one restart sees them.
struct Labelled<'a> {
    rows: &'a [usize],
    marks: Marks<'a>,
    restart: usize,
}

impl Labelling {
    /// Logit gradient `d` `[k, n]` and loss of one restart.
    fn gradient(
        &self,
        z: &[f32],
        (stride, first): (usize, usize),
        Labelled { rows, marks, restart }: Labelled<'_>,
        d: &mut [f32],
        head: &mut HeadBuffers,
    ) -> f64 {
        let k = d.len() / rows.len();
        match self {
            Self::Em(em) => em.gradient(z, (stride, first), marks, d, &mut head.scratch),
            Self::Objective(objective) => {
                head.general(z, (stride, first), marks, d, |batch, gradient, workspace| {
                    objective.value_and_gradient(batch, gradient, workspace)
                })
            }
            Self::Fixed(objective, labels) => {
                let fixed = rows.iter().flat_map(|&i| &labels[restart][i * k..(i + 1) * k]);
                head.workspace.y.clear();
                head.workspace.y.extend(fixed.map(|&y| f64::from(y)));
                head.general(z, (stride, first), marks, d, |batch, gradient, workspace| {
                    objective.with_labels(batch, gradient, workspace)
                })
            }
        }
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
