//! A multilayer perceptron on rows of numbers: taught by fixed soft labels, or clustering the rows.

use crate::error::{DeepError, Result};
use crate::losses::{Direction, core, fixed, log_sigma, symmetric_kl};
use crate::nets::Classifier;
use crate::optimise::{Optimiser, Pace};
use crate::weights::{self, walk::values};
use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use partita::objective::{BatchObjective, Workspace};
use partita::report::{Flow, Observer, Progress};
use partita::rng::{Stream, stream};
use partita::simplex::largest;
use rand::RngExt;
use rand::seq::SliceRandom;

/// Options of a training, by Adam.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Widths of the hidden layers, each with batch normalisation.
    pub widths: Vec<usize>,
    /// Classes or clusters.
    pub k: usize,
    /// Passes over the rows.
    pub epochs: usize,
    /// Rows of a batch.
    pub batch: usize,
    /// Learning rate.
    pub rate: f64,
    /// Weight decay.
    pub decay: f64,
    /// Decides the first weights, the order of the rows and their views.
    pub seed: u64,
}

/// What the network is trained for.
pub enum Goal<'a> {
    /// The labels y of the rows, given as ln y, shape `[n, K]`.
    Labels {
        /// ln y.
        log_y: &'a [f64],
        /// Which cross-entropy.
        direction: Direction,
    },
    /// Clusters.
    Clusters {
        /// The loss of a batch.
        objective: &'a dyn BatchObjective,
        /// Self-augmentation, if any.
        views: Option<Views>,
    },
}

/// A row and its view should get the same prediction: mean KL(σ‖σ′) + KL(σ′‖σ).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Views {
    /// A view is the row with a random number of up to this size added to each of its numbers.
    pub reach: f64,
    /// Weight of the divergence.
    pub weight: f64,
}

/// A trained network.
#[derive(Debug, Clone)]
pub struct Perceptron {
    net: Classifier,
    m: usize,
    device: Device,
}

/// A training under way.
struct Training<'a> {
    x: &'a [f32],
    m: usize,
    goal: &'a Goal<'a>,
    options: &'a Options,
    device: Device,
    ws: Workspace,
}

impl Perceptron {
    /// Train on rows `x`, shape `[n, m]`, from random weights or from those of `start`.
    ///
    /// The same seed gives the same bits, whatever the number of threads.
    ///
    /// ```
    /// use partita::report::Silent;
    /// use partita_deep::losses::Direction;
    /// use partita_deep::perceptron::{Goal, Options, Perceptron};
    /// let x: Vec<f32> = (0..40).map(|i| i as f32 / 20.0 - 1.0).collect();
    /// let label = |x: &f32| if x.abs() < 0.5 { [0.95f64.ln(), 0.05f64.ln()] } else { [0.05f64.ln(), 0.95f64.ln()] };
    /// let log_y: Vec<f64> = x.iter().flat_map(label).collect();
    /// let options = Options { widths: vec![16], k: 2, epochs: 80, batch: 40, rate: 0.02, decay: 0.0, seed: 0 };
    /// let goal = Goal::Labels { log_y: &log_y, direction: Direction::Reverse };
    /// let net = Perceptron::train(&x, 1, &goal, &options, None, &Silent)?;
    /// assert_eq!(net.labels(&[0.0, 0.9]), [0, 1]);
    /// # Ok::<(), partita_deep::DeepError>(())
    /// ```
    ///
    /// # Errors
    /// If there are no rows, if shapes disagree, if the loss is no longer finite, or if the observer asks to stop.
    pub fn train(
        x: &[f32],
        m: usize,
        goal: &Goal<'_>,
        options: &Options,
        start: Option<&Self>,
        observer: &dyn Observer,
    ) -> Result<Self> {
        check(x, m, goal, options, start)?;
        let inner = Device::flex();
        let device = inner.clone().autodiff();
        let fresh = Classifier::perceptron(m, &options.widths, options.k, &device);
        let mut net = match start {
            Some(start) => start.net.clone().train(),
            None => weights::randomise(fresh, options.seed),
        };
        let pace = Pace { rate: options.rate, decay: options.decay };
        let mut adam = Optimiser::new(pace, pace);
        let mut training = Training { x, m, goal, options, device, ws: Workspace::default() };
        for epoch in 0..options.epochs {
            net = training.epoch(net, &mut adam, epoch)?;
            let done = (epoch + 1) as f64 / options.epochs as f64;
            if observer.progress(Progress { stage: "perceptron", done, loss: None }) == Flow::Stop {
                return Err(partita::Error::Interrupted.into());
            }
        }
        Ok(Self { net: net.valid(), m, device: inner })
    }

    /// ln σ of rows `x`, shape `[n, K]`.
    pub fn log_sigma(&self, x: &[f32]) -> Vec<f64> {
        let rows = TensorData::new(x.to_vec(), [x.len() / self.m, self.m, 1, 1]);
        log_sigma(&self.net.forward(Tensor::from_data(rows, &self.device)))
    }

    /// The most probable class of each row.
    pub fn labels(&self, x: &[f32]) -> Vec<u32> {
        let k = self.net.heads[0].weight.dims()[1];
        self.log_sigma(x).chunks_exact(k).map(|row| largest(row) as u32).collect()
    }
}

fn check(x: &[f32], m: usize, goal: &Goal<'_>, options: &Options, start: Option<&Perceptron>) -> Result<()> {
    let refuse = |problem: String| Err(DeepError::Option(problem));
    if m == 0 || x.is_empty() || !x.len().is_multiple_of(m) {
        return refuse(format!("{} numbers are no rows of {m}", x.len()));
    }
    if let Goal::Labels { log_y, .. } = goal
        && log_y.len() != x.len() / m * options.k
    {
        return refuse(format!(
            "{} rows need {} labels each, not {} in all",
            x.len() / m,
            options.k,
            log_y.len()
        ));
    }
    match start {
        Some(start) if start.m != m => {
            refuse(format!("the network to start from takes rows of {}, not of {m}", start.m))
        }
        _ => Ok(()),
    }
}

impl Training<'_> {
    fn epoch(&mut self, mut net: Classifier, adam: &mut Optimiser, epoch: usize) -> Result<Classifier> {
        let n = self.x.len() / self.m;
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut stream(self.options.seed, Stream::Order, epoch as u64));
        for rows in order.chunks_exact(self.options.batch.clamp(1, n)) {
            let (loss, value) = self.loss(&net, rows, adam.steps);
            if !value.is_finite() {
                return Err(DeepError::Option(format!(
                    "the loss is no longer finite after {} steps; give a smaller learning rate",
                    adam.steps
                )));
            }
            net = adam.step(net, loss.backward());
        }
        Ok(net)
    }

    fn loss(&mut self, net: &Classifier, rows: &[usize], step: u64) -> (Tensor<1>, f64) {
        let x: Vec<f32> = rows.iter().flat_map(|&row| &self.x[row * self.m..][..self.m]).copied().collect();
        let z = net.forward(self.tensor(&x));
        match self.goal {
            Goal::Labels { log_y, direction } => {
                let k = self.options.k;
                let log_y: Vec<f64> = rows.iter().flat_map(|&row| &log_y[row * k..][..k]).copied().collect();
                let term = fixed(z, &log_y, *direction);
                (term.tensor, term.value)
            }
            Goal::Clusters { objective, views } => {
                let ws = &mut self.ws;
                let term = core(z.clone(), None, |batch, out| objective.value_and_gradient(batch, out, ws));
                let Some(views) = views else { return (term.tensor, term.value) };
                let other = net.forward(self.tensor(&self.view(&x, views.reach, step)));
                let apart = symmetric_kl(z, other) * views.weight as f32;
                let value = term.value + values(apart.clone()).first().map_or(f64::NAN, |v| f64::from(*v));
                (term.tensor + apart, value)
            }
        }
    }

    fn view(&self, x: &[f32], reach: f64, step: u64) -> Vec<f32> {
        let mut rng = stream(self.options.seed, Stream::Synthetic, step);
        x.iter().map(|v| v + reach as f32 * rng.random_range(-1.0f32..1.0)).collect()
    }

    fn tensor(&self, x: &[f32]) -> Tensor<4> {
        let rows = TensorData::new(x.to_vec(), [x.len() / self.m, self.m, 1, 1]);
        Tensor::from_data(rows, &self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::objective::MutualInformation;
    use partita::report::Silent;

    fn options(seed: u64) -> Options {
        Options { widths: vec![24], k: 2, epochs: 60, batch: 30, rate: 0.02, decay: 0.0, seed }
    }

    /// Two groups of numbers, and their labels with little doubt.
    fn groups() -> (Vec<f32>, Vec<f64>) {
        let x: Vec<f32> = (0..60).map(|i| (i % 30) as f32 / 60.0 + if i < 30 { -1.0 } else { 1.0 }).collect();
        let label =
            |i: usize| if i < 30 { [0.99f64.ln(), 0.01f64.ln()] } else { [0.01f64.ln(), 0.99f64.ln()] };
        (x, (0..60).flat_map(label).collect())
    }

    #[test]
    fn both_cross_entropies_teach_the_labels_and_a_seed_gives_the_same_bits() {
        let (x, log_y) = groups();
        for direction in Direction::BOTH {
            let goal = Goal::Labels { log_y: &log_y, direction };
            let train = || Perceptron::train(&x, 1, &goal, &options(3), None, &Silent).unwrap();
            let net = train();
            assert!(
                net.labels(&x).iter().enumerate().all(|(i, l)| *l == u32::from(i >= 30)),
                "{direction:?}"
            );
            assert_eq!(net.log_sigma(&x), train().log_sigma(&x));
        }
    }

    #[test]
    fn clusters_of_rows_are_kept_by_a_training_that_goes_on() {
        let (x, log_y) = groups();
        let taught = Goal::Labels { log_y: &log_y, direction: Direction::Forward };
        let start = Perceptron::train(&x, 1, &taught, &options(1), None, &Silent).unwrap();
        let (objective, views) = (MutualInformation::new(2), Some(Views { reach: 0.1, weight: 1.0 }));
        let goal = Goal::Clusters { objective: &objective, views };
        let again = Perceptron::train(&x, 1, &goal, &options(1), Some(&start), &Silent).unwrap();
        assert_eq!(again.labels(&x), start.labels(&x));
    }

    #[test]
    fn shapes_that_disagree_are_refused() {
        let goal = Goal::Labels { log_y: &[0.0; 3], direction: Direction::Forward };
        let error = |x: &[f32], m| {
            Perceptron::train(x, m, &goal, &options(0), None, &Silent).unwrap_err().to_string()
        };
        assert!(error(&[1.0, 2.0], 1).contains("2 rows need 2 labels each"));
        assert!(error(&[1.0, 2.0, 3.0], 2).contains("3 numbers are no rows of 2"));
    }
}
