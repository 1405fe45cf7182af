//! All restarts stacked, so that one pass over the data trains them together: their gradients on a batch, and the update.

use super::em::{Logits, Marks};
use super::head::Head;
use super::labelling::{HeadBuffers, Labelled, Labelling};
use super::source::RowBatch;
use crate::numeric::optimise::{BIAS_PACE, Memory, Optimiser, Pace};
use crate::numeric::{product, vector};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Restarts trained by one thread at a time.
pub const GROUP: usize = 4;
/// Clusters whose weights are updated by one thread at a time.
const CLUSTERS: usize = 64;

/// Restarts stacked: weights `[R·k, m]` and biases `[R·k]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct HeadMemory {
    weight: Vec<Memory>,
    bias: Memory,
}

impl HeadMemory {
    fn new(k: usize) -> Self {
        Self { weight: vec![Memory::default(); k.div_ceil(CLUSTERS)], bias: Memory::default() }
    }
}

/// Gradients of the loss of one batch, without the norm, for all restarts of a [`Stack`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gradient {
    /// With respect to the weights, `[R·k, m]`.
    pub weight: Vec<f32>,
    /// With respect to the biases, `[R·k]`.
    pub bias: Vec<f32>,
    /// The loss of each restart.
    pub losses: Vec<f64>,
}

impl Gradient {
    fn resize(&mut self, stack: &Stack) {
        self.weight.resize(stack.weight.len(), 0.0);
        self.bias.resize(stack.bias.len(), 0.0);
        self.losses.resize(stack.len(), 0.0);
    }

    /// Weights, biases and losses of each group of restarts.
    fn groups(
        &mut self,
        k: usize,
        m: usize,
    ) -> impl IndexedParallelIterator<Item = (&mut [f32], &mut [f32], &mut [f64])> {
        let slopes = self.weight.par_chunks_mut(GROUP * k * m).zip(self.bias.par_chunks_mut(GROUP * k));
        slopes.zip(self.losses.par_chunks_mut(GROUP)).map(|((g, slope), losses)| (g, slope, losses))
    }
}

/// Buffers of the training loop, used again in every step.
#[derive(Debug, Default)]
pub struct Buffers {
    groups: Vec<GroupBuffers>,
}

impl Buffers {
    fn resize(&mut self, stack: &Stack) {
        self.groups.resize_with(stack.len().div_ceil(GROUP), GroupBuffers::default);
    }
}

/// Buffers of one group of restarts.
#[derive(Debug, Default)]
struct GroupBuffers {
    z: Vec<f32>,
    /// Logits of the averaged rows.
    taught: Vec<f32>,
    d: Vec<f32>,
    heads: Vec<HeadBuffers>,
}

impl Stack {
    /// Stack restarts with these numbers.
    pub fn new(k: usize, m: usize, restarts: Vec<usize>, heads: &[Head]) -> Self {
        Self {
            k,
            m,
            restarts,
            sees_known: vec![true; heads.len()],
            weight: heads.iter().flat_map(|h| h.weight.iter().copied()).collect(),
            bias: heads.iter().flat_map(|h| h.bias.iter().copied()).collect(),
            memory: heads.iter().map(|_| HeadMemory::new(k)).collect(),
        }
    }

    /// Number of restarts.
    pub fn len(&self) -> usize {
        self.restarts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.restarts.is_empty()
    }

    /// Whether it holds all numbers of some restarts with `k` clusters of `m` features.
    pub fn suits(&self, k: usize, m: usize) -> bool {
        let restarts = self.len();
        (self.k, self.m) == (k, m)
            && restarts > 0
            && (self.weight.len(), self.bias.len()) == (restarts * k * m, restarts * k)
            && (self.sees_known.len(), self.memory.len()) == (restarts, restarts)
            && self.memory.iter().all(|memory| memory.weight.len() == k.div_ceil(CLUSTERS))
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
        let restarts = places.iter().map(|&at| self.restarts[at]).collect();
        let mut kept = Self::new(self.k, self.m, restarts, &heads);
        kept.sees_known = places.iter().map(|&at| self.sees_known[at]).collect();
        kept.memory = places.iter().map(|&at| std::mem::take(&mut self.memory[at])).collect();
        *self = kept;
    }

    /// Add the restarts of another stack behind those of this one.
    pub fn extend(&mut self, other: Self) {
        self.restarts.extend(other.restarts);
        self.sees_known.extend(other.sees_known);
        self.weight.extend(other.weight);
        self.bias.extend(other.bias);
        self.memory.extend(other.memory);
    }

    /// Gradients of all restarts on the rows of `batch`, labelled anew or, restart by restart, with labels that hold for an epoch.
    ///
    /// Groups of restarts are independent of each other, so there is one meeting point of the threads. The size
    /// of a group is fixed: the bits do not depend on the number of threads.
    pub fn gradient(
        &self,
        batch: &RowBatch,
        labelling: (&Labelling, &[Vec<f32>]),
        buffers: &mut Buffers,
        out: &mut Gradient,
    ) {
        let (k, m) = (self.k, self.m);
        out.resize(self);
        buffers.resize(self);
        let values = self.weight.par_chunks(GROUP * k * m).zip(self.bias.par_chunks(GROUP * k));
        let starts = self.restarts.par_chunks(GROUP).zip(self.sees_known.par_chunks(GROUP));
        let outs = out.groups(k, m).zip(&mut buffers.groups);
        values.zip(starts).zip(outs).for_each(|(((weight, bias), starts), (out, buffers))| {
            Group { weight, bias, starts, k, m }.gradient(batch, labelling, buffers, out);
        });
    }

    /// Move all restarts against their gradients and towards a smaller norm.
    pub fn apply(&mut self, gradient: &Gradient, optimiser: Optimiser, pace: Pace) {
        let (k, m) = (self.k, self.m);
        let values = self.weight.par_chunks_mut(GROUP * k * m).zip(self.bias.par_chunks_mut(GROUP * k));
        let slopes = gradient.weight.par_chunks(GROUP * k * m).zip(gradient.bias.par_chunks(GROUP * k));
        values.zip(self.memory.par_chunks_mut(GROUP)).zip(slopes).for_each(|((values, memory), slopes)| {
            update(values, memory, slopes, (k, m), optimiser, pace);
        });
    }

    /// [`Stack::gradient`] and [`Stack::apply`] group by group, while the gradients of a group are still in cache.
    pub fn descend(
        &mut self,
        batch: &RowBatch,
        labelling: (&Labelling, &[Vec<f32>]),
        buffers: &mut Buffers,
        out: &mut Gradient,
        (optimiser, pace): (Optimiser, Pace),
    ) {
        let (k, m) = (self.k, self.m);
        out.resize(self);
        buffers.resize(self);
        let values = self.weight.par_chunks_mut(GROUP * k * m).zip(self.bias.par_chunks_mut(GROUP * k));
        let values = values.zip(self.memory.par_chunks_mut(GROUP));
        let starts = self.restarts.par_chunks(GROUP).zip(self.sees_known.par_chunks(GROUP));
        let outs = out.groups(k, m).zip(&mut buffers.groups);
        values.zip(starts).zip(outs).for_each(
            |((((weight, bias), memory), starts), ((g, slope, losses), buffers))| {
                let group = Group { weight, bias, starts, k, m };
                group.gradient(batch, labelling, buffers, (&mut *g, &mut *slope, losses));
                update((weight, bias), memory, (g, slope), (k, m), optimiser, pace);
            },
        );
    }
}

/// Move some restarts against their gradients.
fn update(
    (weight, bias): (&mut [f32], &mut [f32]),
    memory: &mut [HeadMemory],
    (g, slope): (&[f32], &[f32]),
    (k, m): (usize, usize),
    optimiser: Optimiser,
    pace: Pace,
) {
    let values = weight.chunks_mut(k * m).zip(bias.chunks_mut(k));
    let slopes = g.chunks(k * m).zip(slope.chunks(k));
    for (((weight, bias), memory), (g, slope)) in values.zip(memory).zip(slopes) {
        let clusters = weight.chunks_mut(CLUSTERS * m).zip(g.chunks(CLUSTERS * m));
        for ((weight, g), memory) in clusters.zip(&mut memory.weight) {
            optimiser.update(weight, g, memory, pace);
        }
        let pace = Pace { rate: pace.rate * BIAS_PACE, decay: 0.0, ..pace };
        optimiser.update(bias, slope, &mut memory.bias, pace);
    }
}

/// Some restarts of a [`Stack`].
struct Group<'a> {
    weight: &'a [f32],
    bias: &'a [f32],
    /// Their numbers, and whether each sees the known labels.
    starts: (&'a [usize], &'a [bool]),
    k: usize,
    m: usize,
}

impl Group<'_> {
    /// Gradients and losses of the group.
    fn gradient(
        &self,
        batch: &RowBatch,
        (labelling, labels): (&Labelling, &[Vec<f32>]),
        buffers: &mut GroupBuffers,
        (g, slope, losses): (&mut [f32], &mut [f32], &mut [f64]),
    ) {
        let (k, m, (restarts, sees_known)) = (self.k, self.m, self.starts);
        let (n, stride) = (batch.rows.len(), self.bias.len());
        buffers.z.resize(n * stride, 0.0);
        buffers.d.resize(stride * n, 0.0);
        buffers.heads.resize_with(restarts.len(), HeadBuffers::default);
        product::logits(&batch.x, self.weight, self.bias, m, &mut buffers.z);
        let teacher = batch.averaged().map(|x| {
            buffers.taught.resize(n * stride, 0.0);
            product::logits(x, self.weight, self.bias, m, &mut buffers.taught);
            &*buffers.taught
        });
        let z = Logits { own: &buffers.z, teacher };
        let heads = buffers.d.par_chunks_mut(k * n).zip(&mut buffers.heads).zip(losses).enumerate();
        heads.for_each(|(r, ((d, head), loss))| {
            let marks = batch.marks();
            let marks = if sees_known[r] { marks } else { Marks { known: None, ..marks } };
            let labels = labels.get(restarts[r]).map_or(&[][..], |labels| labels);
            let rows = Labelled { rows: &batch.rows, marks, labels };
            *loss = labelling.gradient(z, (stride, r * k), rows, d, head);
        });
        let heads = g.par_chunks_mut(k * m).zip(slope.par_chunks_mut(k));
        heads.zip(buffers.d.par_chunks(k * n)).for_each(|((g, slope), d)| {
            let clusters = g.par_chunks_mut(CLUSTERS * m).zip(d.par_chunks(CLUSTERS * n));
            clusters.for_each(|(g, d)| product::weight_gradient(d, &batch.x, m, g));
            slope.iter_mut().zip(d.chunks_exact(n)).for_each(|(slope, d)| *slope = vector::sum(d));
        });
    }
}
