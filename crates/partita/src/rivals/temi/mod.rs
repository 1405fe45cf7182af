//! TEMI: rows and their neighbours get the same cluster, by self-distillation (Adaloglou, Michels, Kalisch, Kollmann,
//! BMVC 2023).
//!
//! Each row x is paired with one of its nearest neighbours x′. A student is trained so that what it says of x agrees with
//! what its teacher, a running mean of it, says of x′: −ln Σ_c (s_c(x) t_c(x′))^β / t̄_c, a pointwise mutual information,
//! where dividing by the teacher's mean t̄ keeps clusters in use. Several heads are trained together; a pair counts as
//! much as their teachers agree on it in the mean, and the head of the lowest loss in the last epoch is kept, as a teacher.
//!
//! The head is the original's: m → 512 → 256 with GELU, rows of unit length, and a last layer with normed weights. The
//! original trains 16 heads or more; the default here is [`Temi::heads`] = 4, which is what two processor cores can train
//! in minutes.

mod learner;
mod loss;
mod network;

pub use network::{Network, Shape};

use super::parts::{require_positive, require_share, rms_factor};
use super::{Head, Method, Table, Trained};
use crate::error::{Error, Result, require};
use crate::neighbours::nearest;
use crate::report::{Flow, Observer, Progress, StopReason};
use crate::rng::{Stream, stream};
use learner::{Learner, Predictions, Step};
use loss::{add_agreement, probabilities};
use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The original's learning rate is meant for batches of this size, and grows with them.
const RATED_BATCH: f64 = 256.0;
/// Share of the work that finding neighbours takes, for the progress bar.
const SEARCH_SHARE: f64 = 0.02;

/// Options of TEMI; the defaults are the original's but for the number of heads and the least number of steps.
///
/// ```
/// use partita::linear::{Dims, Input, Prepare};
/// use partita::rivals::{Frame, fit, temi::Temi};
/// let x = ndarray::Array2::from_shape_fn((60, 2), |(i, j)| ((i % 3) * (j + 1) * 7 % 5) as f32 + 0.01 * i as f32);
/// let frame = Frame { prepare: Prepare::Auto, dims: Dims::Full, seed: 0 };
/// let method = Temi { neighbours: 10, hidden: 16, bottleneck: 8, epochs: 30, least_steps: 0, ..Temi::new(3) };
/// let found = fit(&Input::new(&x.view()), &method, frame, &partita::report::Silent).unwrap();
/// assert_eq!(found.losses.len(), method.heads);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Temi {
    /// Number of clusters.
    pub k: usize,
    /// Nearest neighbours among which the partner of a row is drawn; at most all other rows.
    pub neighbours: usize,
    /// Heads trained together.
    pub heads: usize,
    /// Outputs of the first layer.
    pub hidden: usize,
    /// Outputs of the second layer.
    pub bottleneck: usize,
    /// Temperature of the softmax of student and teacher.
    pub temperature: f64,
    /// Exponent β of the pointwise mutual information; below 1 it keeps clusters from collapsing into few.
    pub beta: f64,
    /// Share of the teacher that stays in each step.
    pub teacher_momentum: f64,
    /// Share of the teacher's running mean that stays in each step.
    pub marginal_momentum: f64,
    /// Learning rate for batches of 256 rows; it is proportional to the batch.
    pub rate: f64,
    /// Weight decay, apart from the gradient as in AdamW; not of biases.
    pub decay: f64,
    /// Pairs in a batch.
    pub batch: usize,
    /// Passes over the data, unless `least_steps` needs more.
    pub epochs: usize,
    /// Fewest steps: the original's data have 100 batches an epoch, and with few batches its epochs end long before the
    /// clusters have formed.
    pub least_steps: usize,
    /// Epochs in which the learning rate grows from 0.
    pub warmup: usize,
    /// Epochs in which the last layer is not trained.
    pub frozen: usize,
    /// Root mean square that the numbers of rows are scaled to; none takes prepared rows as they are.
    pub rms: Option<f64>,
}

impl Temi {
    /// Defaults for `k` clusters.
    pub fn new(k: usize) -> Self {
        Self {
            k,
            neighbours: 50,
            heads: 4,
            hidden: 512,
            bottleneck: 256,
            temperature: 0.1,
            beta: 0.6,
            teacher_momentum: 0.996,
            marginal_momentum: 0.9,
            rate: 1e-4,
            decay: 1e-4,
            batch: 512,
            epochs: 100,
            least_steps: 3000,
            warmup: 20,
            frozen: 1,
            rms: Some(1.0),
        }
    }

    /// Learning rate of step `step`, from 0, where an epoch has `batches`.
    fn rate_at(&self, step: usize, batches: usize, batch: usize) -> f64 {
        let full = self.rate * batch as f64 / RATED_BATCH;
        let warmup = self.warmup * batches;
        if step + 1 < warmup { full * step as f64 / (warmup - 1) as f64 } else { full }
    }
}

impl Method for Temi {
    type Head = TemiHead;

    fn k(&self) -> usize {
        self.k
    }

    fn check(&self, _n: usize) -> Result<()> {
        require("the number of clusters", self.k, self.k >= 2, "at least 2")?;
        for (name, value) in [
            ("neighbours", self.neighbours),
            ("heads", self.heads),
            ("hidden", self.hidden),
            ("bottleneck", self.bottleneck),
            ("batch", self.batch),
            ("epochs", self.epochs),
        ] {
            require(name, value, value >= 1, "at least 1")?;
        }
        require_positive("the temperature", self.temperature)?;
        require_positive("beta", self.beta)?;
        require_positive("the learning rate", self.rate)?;
        require_share("the teacher's momentum", self.teacher_momentum)?;
        require_share("the marginal's momentum", self.marginal_momentum)?;
        require(
            "decay",
            self.decay,
            self.decay.is_finite() && self.decay >= 0.0,
            "a finite number, 0 or more",
        )?;
        self.rms.map_or(Ok(()), |rms| require_positive("rms", rms))
    }

    fn train(&self, table: Table<'_>, seed: u64, observer: &dyn Observer) -> Result<Trained<TemiHead>> {
        let count = self.neighbours.min(table.n() - 1);
        let keep_going = |share: f64| {
            let done = SEARCH_SHARE * share;
            observer.progress(Progress { stage: "neighbours", done, loss: None }) == Flow::Continue
        };
        let neighbours = nearest(table, count, keep_going).ok_or(Error::Interrupted)?;
        Run::new(self, table, &neighbours, seed).train(observer)
    }
}

/// A training run.
struct Run<'a> {
    options: &'a Temi,
    table: Table<'a>,
    neighbours: &'a [u32],
    seed: u64,
    factor: f32,
    batch: usize,
    learners: Vec<Learner>,
}

impl<'a> Run<'a> {
    fn new(options: &'a Temi, table: Table<'a>, neighbours: &'a [u32], seed: u64) -> Self {
        let Temi { k, hidden, bottleneck, .. } = *options;
        let shape = Shape { m: table.m, hidden, bottleneck, k };
        let learners = (0..options.heads).map(|h| Learner::new(shape, seed, h as u64)).collect();
        let factor = rms_factor(table.x, options.rms);
        let batch = options.batch.min(table.n());
        Self { options, table, neighbours, seed, factor, batch, learners }
    }

    fn train(mut self, observer: &dyn Observer) -> Result<Trained<TemiHead>> {
        // Rows that do not fill a batch wait for the next epoch's order.
        let batches = self.table.n() / self.batch;
        let epochs = self.options.epochs.max(self.options.least_steps.div_ceil(batches));
        let steps = epochs * batches;
        let (mut number, mut stop) = (0, StopReason::Finished);
        let mut seen = 0;
        'training: for epoch in 0..epochs {
            seen = 0;
            self.learners.iter_mut().for_each(|l| l.loss = 0.0);
            let pairs = self.pairs(epoch as u64);
            for rows in pairs.chunks_exact(self.batch).take(batches) {
                self.step(rows, number, batches);
                number += 1;
                seen += 1;
                let done = SEARCH_SHARE + (1.0 - SEARCH_SHARE) * number as f64 / steps as f64;
                let loss = Some(self.least(seen).1);
                let progress = Progress { stage: "training", done, loss };
                if observer.progress(progress) == Flow::Stop && number < steps {
                    stop = StopReason::Interrupted;
                    break 'training;
                }
            }
        }
        let (best, loss) = self.least(seen);
        let losses = self.learners.iter().map(|l| l.loss / seen as f64).collect();
        let head =
            TemiHead::new(self.learners.swap_remove(best).teacher, self.factor, self.options.temperature);
        Ok(Trained { head, loss, losses, iterations: number, stop })
    }

    /// The head of the lowest mean loss in this epoch so far, and that loss.
    fn least(&self, seen: usize) -> (usize, f64) {
        let losses = self.learners.iter().map(|l| l.loss / seen as f64).enumerate();
        losses.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::INFINITY))
    }

    /// All rows in a random order, each with a partner among its neighbours.
    fn pairs(&self, epoch: u64) -> Vec<(usize, usize)> {
        let n = self.table.n();
        let count = self.neighbours.len() / n;
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut stream(self.seed, Stream::Order, epoch));
        let mut rng = stream(self.seed, Stream::Sample, epoch);
        let partner = |row| self.neighbours[row * count + rng.random_range(0..count)] as usize;
        let partners: Vec<usize> = order.iter().copied().map(partner).collect();
        order.into_iter().zip(partners).collect()
    }

    /// Rows of the pairs, then their partners, scaled.
    fn gather(&self, pairs: &[(usize, usize)]) -> Vec<f32> {
        let Table { x, m } = self.table;
        let rows: Vec<usize> = pairs.iter().map(|p| p.0).chain(pairs.iter().map(|p| p.1)).collect();
        let mut out = vec![0.0; rows.len() * m];
        out.par_chunks_mut(m).zip(&rows).for_each(|(out, &row)| {
            out.iter_mut().zip(&x[row * m..]).for_each(|(out, x)| *out = x * self.factor);
        });
        out
    }

    fn step(&mut self, pairs: &[(usize, usize)], number: usize, batches: usize) {
        let options = self.options;
        let x = self.gather(pairs);
        let rate = options.rate_at(number, batches, self.batch);
        let pace = Step { rate, number, frozen: options.frozen * batches };
        let predictions: Vec<Predictions> =
            self.learners.par_iter_mut().map(|l| l.look(&x, options)).collect();
        let mut weights = vec![0.0; pairs.len()];
        predictions.iter().for_each(|s| add_agreement(&s.teacher, options.k, &mut weights));
        weights.iter_mut().for_each(|w| *w /= predictions.len() as f32);
        self.learners
            .par_iter_mut()
            .zip(&predictions)
            .for_each(|(learner, predictions)| learner.learn(&x, predictions, &weights, options, pace));
    }
}

/// The teacher of the best head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TemiHead {
    /// Takes prepared rows.
    pub network: Network,
    /// Temperature of its softmax.
    pub temperature: f64,
}

impl TemiHead {
    /// Rows were multiplied by `factor` in training; the weights take it over.
    fn new(mut network: Network, factor: f32, temperature: f64) -> Self {
        network.first.iter_mut().for_each(|w| *w *= factor);
        Self { network, temperature }
    }
}

impl Head for TemiHead {
    fn assign(&self, x: &[f32], proba: &mut [f32]) {
        let logits = self.network.forward(x).logits;
        proba.copy_from_slice(&probabilities(&logits, self.temperature, self.network.shape.k));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Silent;
    use crate::rivals::testing::{Impatient, blobs, with_threads};

    /// Options that need little time on small data.
    fn quick(k: usize) -> Temi {
        Temi {
            neighbours: 10,
            heads: 3,
            hidden: 32,
            bottleneck: 16,
            batch: 128,
            rate: 2e-3,
            epochs: 60,
            least_steps: 0,
            warmup: 2,
            // The teacher keeps up in fewer steps.
            teacher_momentum: 0.98,
            ..Temi::new(k)
        }
    }

    #[test]
    fn separated_groups_are_found() {
        let (x, truth) = blobs(600, 4, 6, 0.2);
        let method = Temi { epochs: 50, least_steps: 239, ..quick(4) };
        let found = method.train(Table { x: &x, m: 6 }, 0, &Silent).unwrap();
        assert_eq!((found.iterations, found.stop), (60 * 4, StopReason::Finished));
        assert_eq!(found.losses.iter().copied().fold(f64::INFINITY, f64::min), found.loss);
        let mut proba = vec![0.0; 600 * 4];
        found.head.assign(&x, &mut proba);
        let accuracy = crate::metrics::accuracy(&truth, &crate::rivals::decide(&proba, 4)).unwrap();
        assert!(accuracy > 0.99, "{accuracy} {:?}", found.losses);
    }

    #[test]
    fn threads_do_not_change_the_bits() {
        let (x, _) = blobs(300, 3, 5, 0.5);
        let method = Temi { epochs: 2, hidden: 300, ..quick(3) };
        let run =
            |threads| with_threads(threads, || method.train(Table { x: &x, m: 5 }, 7, &Silent).unwrap());
        let (one, two) = (run(1), run(2));
        assert_eq!(one.head, two.head);
        assert_eq!(one.losses, two.losses);
    }

    #[test]
    fn an_observer_stops_it_with_what_there_is() {
        let (x, _) = blobs(300, 3, 5, 0.5);
        let found = quick(3).train(Table { x: &x, m: 5 }, 0, &Impatient::after(3)).unwrap();
        assert_eq!((found.iterations, found.stop), (3, StopReason::Interrupted));
        assert!(found.loss.is_finite());
    }

    #[test]
    fn the_rate_grows_and_then_stays() {
        let method = Temi { warmup: 2, ..Temi::new(3) };
        assert_eq!(method.rate_at(0, 10, 512), 0.0);
        assert!((method.rate_at(19, 10, 512) - 2e-4).abs() < 1e-12);
        assert!(method.rate_at(9, 10, 512) < method.rate_at(10, 10, 512));
        assert_eq!(method.rate_at(19, 10, 512), method.rate_at(500, 10, 512));
    }
}
