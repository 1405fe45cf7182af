//! Passes of the interior-point method over the rows, eight abreast.
//!
//! With v = y/s and ŷ = target/s a row's linearised answer to a step dδ of the prices is dy = ŷ − y − v ds,
//! ds = dμ − dδ, and Σ(y + dy) = 1 gives dμ = (Σŷ − 1 + Σ v dδ)/Σv.

use super::super::dual::scale_links;
use super::super::lanes::{Kernel, Lane, WIDTH, lane, larger};
use super::{Aim, Decrease, NEAR, SIGMA, Workspace};

/// All rows.
pub(super) struct Rows<'a> {
    k: usize,
    sigma: &'a [Lane],
    direction: &'a [f64],
    labels: &'a mut [Lane],
    slack: &'a mut [Lane],
    inverse: &'a mut [Lane],
    label_inverse: &'a mut [Lane],
    cross: &'a mut [Lane],
    scale: &'a mut [Lane],
}

/// What is summed over rows.
pub(super) struct Sums<'a> {
    /// w_i/Σw, shape `[blocks]`.
    weight: &'a [Lane],
    means: &'a mut [Vec<Lane>; 3],
    /// The vectors of the Hessian, shape `[blocks, k]`.
    links: &'a mut [Lane],
}

/// One block of eight rows.
struct Block<'a> {
    sigma: &'a [Lane],
    direction: &'a [f64],
    labels: &'a mut [Lane],
    slack: &'a mut [Lane],
    inverse: &'a mut [Lane],
    label_inverse: &'a mut [Lane],
    cross: &'a mut [Lane],
    scale: &'a mut Lane,
}

/// dy and ds of one cell.
struct Step {
    label: Lane,
    slack: Lane,
}

impl<'a> Rows<'a> {
    /// The rows of a workspace, and where their sums go.
    pub fn of(ws: &'a mut Workspace) -> (Self, Sums<'a>) {
        let (buffers, dual, k) = (&mut ws.central, &mut ws.dual, ws.packed.k);
        let rows = Self {
            k,
            sigma: &ws.packed.cells,
            direction: &dual.direction,
            labels: &mut ws.labels,
            slack: &mut buffers.slack,
            inverse: &mut buffers.inverse,
            label_inverse: &mut buffers.label_inverse,
            cross: &mut buffers.cross,
            scale: &mut buffers.scale,
        };
        let (weight, means) = (&ws.packed.share, &mut buffers.means);
        (rows, Sums { weight, means, links: &mut dual.links })
    }

    #[inline(always)]
    fn block(&mut self, b: usize) -> Block<'_> {
        let range = b * self.k..(b + 1) * self.k;
        Block {
            sigma: &self.sigma[range.clone()],
            direction: self.direction,
            labels: &mut self.labels[range.clone()],
            slack: &mut self.slack[range.clone()],
            inverse: &mut self.inverse[range.clone()],
            label_inverse: &mut self.label_inverse[range.clone()],
            cross: &mut self.cross[range],
            scale: &mut self.scale[b],
        }
    }
}

impl Block<'_> {
    /// (σ + t − correction · cross)/s.
    #[inline(always)]
    fn aimed(&self, k: usize, aim: Aim) -> Lane {
        let (sigma, cross, inverse) = (self.sigma[k], self.cross[k], self.inverse[k]);
        lane(|r| (sigma[r] + aim.t - aim.correction * cross[r]) * inverse[r])
    }

    /// v = y/s.
    #[inline(always)]
    fn link(&self, k: usize) -> Lane {
        let (y, inverse) = (self.labels[k], self.inverse[k]);
        lane(|r| y[r] * inverse[r])
    }

    /// dμ.
    #[inline(always)]
    fn shift(&self, aim: Aim) -> Lane {
        let (mut sum, scale) = ([-1.0; WIDTH], *self.scale);
        for (k, d) in self.direction.iter().enumerate() {
            let (aimed, link) = (self.aimed(k, aim), self.link(k));
            sum = lane(|r| sum[r] + (aimed[r] + link[r] * d));
        }
        lane(|r| sum[r] * scale[r])
    }

    #[inline(always)]
    fn step(&self, k: usize, aim: Aim, shift: &Lane) -> Step {
        let (aimed, link, y, d) = (self.aimed(k, aim), self.link(k), self.labels[k], self.direction[k]);
        let slack = lane(|r| shift[r] - d);
        let label = lane(|r| aimed[r] - y[r] - link[r] * slack[r]);
        Step { label, slack }
    }

    /// Relative decreases of one cell, no smaller than `most`.
    #[inline(always)]
    fn decrease(&self, k: usize, step: &Step, most: &mut [Lane; 2]) {
        let (inverse, label_inverse, [label, slack]) = (self.inverse[k], self.label_inverse[k], *most);
        *most = [
            lane(|r| larger(label[r], -step.label[r] * label_inverse[r])),
            lane(|r| larger(slack[r], -step.slack[r] * inverse[r])),
        ];
    }
}

/// The largest of eight rows.
#[inline(always)]
fn reduce(most: [Lane; 2]) -> Decrease {
    let [label, slack] = most.map(|lane| lane.into_iter().fold(0.0, larger));
    Decrease { label, slack }
}

/// 1/s, 1/y, 1/Σv, the vectors of the Hessian, and the mean of ŷ − v (Σŷ − 1)/Σv for the target σ.
pub(super) struct Linearise<'a> {
    pub rows: Rows<'a>,
    pub sums: Sums<'a>,
}

impl Kernel for Linearise<'_> {
    type Output = ();
    #[inline(always)]
    fn run(mut self) {
        let Sums { weight, means, links } = self.sums;
        let links = links.chunks_exact_mut(self.rows.k);
        for (b, (weight, links)) in weight.iter().zip(links).enumerate() {
            let block = self.rows.block(b);
            let (mut sum, mut total) = ([-1.0; WIDTH], [0.0; WIDTH]);
            for (k, link) in links.iter_mut().enumerate() {
                // Both inverses by one division, which is the slowest of all instructions here.
                let (y, slack) = (block.labels[k], block.slack[k]);
                let both = lane(|r| 1.0 / (y[r] * slack[r]));
                block.inverse[k] = lane(|r| y[r] * both[r]);
                block.label_inverse[k] = lane(|r| slack[r] * both[r]);
                let (aimed, v) = (block.aimed(k, SIGMA), block.link(k));
                sum = lane(|r| sum[r] + aimed[r]);
                total = lane(|r| total[r] + v[r]);
                *link = v;
            }
            let scale = lane(|r| 1.0 / total[r]);
            *block.scale = scale;
            let excess = lane(|r| sum[r] * scale[r]);
            for ((k, mean), link) in means[0].iter_mut().enumerate().zip(links.iter()) {
                let (aimed, v, m) = (block.aimed(k, SIGMA), *link, *mean);
                *mean = lane(|r| m[r] + weight[r] * (aimed[r] - v[r] * excess[r]));
            }
            scale_links(links, &scale, weight);
        }
    }
}

/// Decreases along the predictor, whether |dy · ds| is small beside σ everywhere, and what the corrector and t add to the means.
pub(super) struct Predict<'a> {
    pub rows: Rows<'a>,
    pub sums: Sums<'a>,
}

impl Kernel for Predict<'_> {
    type Output = (Decrease, bool);
    #[inline(always)]
    fn run(mut self) -> (Decrease, bool) {
        let (mut most, mut miss) = ([[0.0; WIDTH]; 2], [0.0; WIDTH]);
        let [_, cross_mean, unit_mean] = self.sums.means;
        for (b, weight) in self.sums.weight.iter().enumerate() {
            let block = self.rows.block(b);
            let (shift, scale) = (block.shift(SIGMA), *block.scale);
            let (mut cross_sum, mut unit_sum) = ([0.0; WIDTH], [0.0; WIDTH]);
            for k in 0..block.sigma.len() {
                let (step, inverse, sigma) = (block.step(k, SIGMA, &shift), block.inverse[k], block.sigma[k]);
                block.decrease(k, &step, &mut most);
                let cross = lane(|r| step.label[r] * step.slack[r]);
                cross_sum = lane(|r| cross_sum[r] + cross[r] * inverse[r]);
                unit_sum = lane(|r| unit_sum[r] + inverse[r]);
                miss = lane(|r| larger(miss[r], cross[r].abs() - NEAR * sigma[r]));
                block.cross[k] = cross;
            }
            for (k, (cross_mean, unit_mean)) in cross_mean.iter_mut().zip(unit_mean.iter_mut()).enumerate() {
                let (v, cross, inverse) = (block.link(k), block.cross[k], block.inverse[k]);
                let (c, u, part) = (*cross_mean, *unit_mean, lane(|r| v[r] * scale[r]));
                *cross_mean = lane(|r| c[r] + weight[r] * (part[r] * cross_sum[r] - cross[r] * inverse[r]));
                *unit_mean = lane(|r| u[r] + weight[r] * (inverse[r] - part[r] * unit_sum[r]));
            }
        }
        (reduce(most), miss == [0.0; WIDTH])
    }
}

/// Decreases along a step.
pub(super) struct Measure<'a> {
    pub rows: Rows<'a>,
    pub aim: Aim,
}

impl Kernel for Measure<'_> {
    type Output = Decrease;
    #[inline(always)]
    fn run(mut self) -> Decrease {
        let mut most = [[0.0; WIDTH]; 2];
        for b in 0..self.rows.scale.len() {
            let block = self.rows.block(b);
            let shift = block.shift(self.aim);
            for k in 0..block.sigma.len() {
                block.decrease(k, &block.step(k, self.aim, &shift), &mut most);
            }
        }
        reduce(most)
    }
}

/// Go so far with labels and slacks.
pub(super) struct Advance<'a> {
    pub rows: Rows<'a>,
    pub aim: Aim,
    pub label: f64,
    pub slack: f64,
}

impl Kernel for Advance<'_> {
    type Output = ();
    #[inline(always)]
    fn run(mut self) {
        for b in 0..self.rows.scale.len() {
            let block = self.rows.block(b);
            let shift = block.shift(self.aim);
            for k in 0..block.sigma.len() {
                let (step, y, slack) = (block.step(k, self.aim, &shift), block.labels[k], block.slack[k]);
                block.labels[k] = lane(|r| y[r] + self.label * step.label[r]);
                block.slack[k] = lane(|r| slack[r] + self.slack * step.slack[r]);
            }
        }
    }
}
