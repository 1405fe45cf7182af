//! TURTLE: labels that a linear classifier learns in a few steps (Gadetsky, Jiang, Brbić, ICML 2024).
//!
//! The label of a row is y = softmax(W x + b) with W = g v/‖v‖ (the task encoder). Each outer step trains a fresh linear
//! classifier q by a few steps of Adam on mean H(y, q), and then moves the encoder alone to lower
//! mean H(y, q) − γ H(ȳ) with q held fixed: labels that are quickly learnt get better, and the entropy of the mean keeps
//! all clusters in use. With several feature spaces side by side each has its own encoder and classifier; y is the mean
//! of their labels, and both terms are sums over the spaces.

mod bilevel;

use super::parts::require_positive;
use super::{Head, Method, Table, Trained};
use crate::error::{Result, require};
use crate::numeric::product;
use crate::report::{Flow, Observer, Progress, StopReason};
use crate::rng::{Stream, stream};
use bilevel::{Classifier, Space};
use serde::{Deserialize, Serialize};

/// Options of TURTLE; the defaults are the original's.
///
/// ```
/// use partita::linear::{Dims, Input, Prepare};
/// use partita::rivals::{Frame, fit, turtle::Turtle};
/// let x = ndarray::Array2::from_shape_fn((60, 2), |(i, j)| ((i % 3) * (j + 1) * 7 % 5) as f32 + 0.01 * i as f32);
/// let frame = Frame { prepare: Prepare::Auto, dims: Dims::Full, seed: 0 };
/// let method = Turtle { steps: 300, rate: 1e-2, inner_rate: 1e-2, ..Turtle::new(3) };
/// let found = fit(&Input::new(&x.view()), &method, frame, &partita::report::Silent).unwrap();
/// assert_eq!(found.labels.len(), 60);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turtle {
    /// Number of clusters.
    pub k: usize,
    /// Widths of the feature spaces that stand side by side in a row; empty for one space of all features. Several spaces
    /// need rows that are not reduced.
    pub widths: Vec<usize>,
    /// Weight γ of the entropy of the mean label.
    pub gamma: f64,
    /// Outer steps.
    pub steps: usize,
    /// Steps of the classifier in each outer step.
    pub inner_steps: usize,
    /// Learning rate of the task encoder.
    pub rate: f64,
    /// Learning rate of the classifier.
    pub inner_rate: f64,
    /// Most rows in a batch; each outer step draws another.
    pub batch: usize,
    /// Whether the classifier goes on from the last outer step instead of starting anew.
    pub warm: bool,
    /// Root mean square that the numbers of each space are scaled to; none takes prepared rows as they are.
    pub rms: Option<f64>,
}

impl Turtle {
    /// Defaults for `k` clusters.
    pub fn new(k: usize) -> Self {
        Self {
            k,
            widths: Vec::new(),
            gamma: 10.0,
            steps: 6000,
            inner_steps: 10,
            rate: 1e-3,
            inner_rate: 1e-3,
            batch: 10_000,
            warm: false,
            rms: Some(1.0),
        }
    }

    /// The widths of the spaces in a row of `m` numbers.
    fn widths(&self, m: usize) -> Result<Vec<usize>> {
        if self.widths.is_empty() {
            return Ok(vec![m]);
        }
        let fits = self.widths.iter().sum::<usize>() == m && !self.widths.contains(&0);
        let must = "widths above 0 whose sum is that of a prepared row; several spaces need rows that are not reduced";
        require("the widths of the feature spaces", format!("{:?} of {m}", self.widths), fits, must)?;
        Ok(self.widths.clone())
    }
}

impl Method for Turtle {
    type Head = TurtleHead;

    fn k(&self) -> usize {
        self.k
    }

    fn check(&self, _n: usize) -> Result<()> {
        require("the number of clusters", self.k, self.k >= 2, "at least 2")?;
        require("steps", self.steps, self.steps >= 1, "at least 1")?;
        require("inner steps", self.inner_steps, self.inner_steps >= 1, "at least 1")?;
        require("batch", self.batch, self.batch >= 2, "at least 2 rows")?;
        require(
            "gamma",
            self.gamma,
            self.gamma.is_finite() && self.gamma >= 0.0,
            "a finite number, 0 or more",
        )?;
        require_positive("the learning rate", self.rate)?;
        require_positive("the inner learning rate", self.inner_rate)?;
        self.rms.map_or(Ok(()), |rms| require_positive("rms", rms))
    }

    fn train(&self, table: Table<'_>, seed: u64, observer: &dyn Observer) -> Result<Trained<TurtleHead>> {
        let widths = self.widths(table.m)?;
        let mut spaces = self.spaces(table, &widths, seed);
        let mut order: Vec<usize> = (0..table.n()).collect();
        let (mut loss, mut done) = (f64::INFINITY, 0);
        let mut stop = StopReason::Finished;
        while done < self.steps {
            self.draw_batch(&mut spaces, &mut order, seed, done);
            if !self.warm || done == 0 {
                let mut rng = stream(seed, Stream::Init, 1 + done as u64);
                spaces.iter_mut().for_each(|s| s.classifier = Classifier::new(self.k, s.m, &mut rng));
            }
            loss = self.outer_step(&mut spaces);
            done += 1;
            let share = done as f64 / self.steps as f64;
            let progress = Progress { stage: "training", done: share, loss: Some(loss) };
            if observer.progress(progress) == Flow::Stop && done < self.steps {
                stop = StopReason::Interrupted;
                break;
            }
        }
        let head = TurtleHead::new(&spaces, table.m, self.k);
        Ok(Trained { head, loss, losses: vec![loss], iterations: done, stop })
    }
}

/// The trained task encoders: the mean over the spaces of softmax(W x + b).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurtleHead {
    /// Weights `[spaces · k, m]`; a space has zeros at the features of the others.
    pub weight: Vec<f32>,
    /// Biases `[spaces · k]`.
    pub bias: Vec<f32>,
    /// Number of clusters.
    pub k: usize,
}

impl TurtleHead {
    fn new(spaces: &[Space], m: usize, k: usize) -> Self {
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        let mut at = 0;
        for space in spaces {
            for w in space.encoder.weight().chunks_exact(space.m) {
                let mut row = vec![0.0; m];
                row[at..at + space.m].iter_mut().zip(w).for_each(|(r, w)| *r = w * space.factor);
                weight.extend(row);
            }
            bias.extend_from_slice(&space.encoder.bias.values);
            at += space.m;
        }
        Self { weight, bias, k }
    }
}

impl Head for TurtleHead {
    fn assign(&self, x: &[f32], proba: &mut [f32]) {
        let all = self.bias.len();
        let mut z = vec![0.0; proba.len() / self.k * all];
        product::logits_piece(x, &self.weight, &self.bias, self.weight.len() / all, &mut z);
        product::softmax_rows(&mut z, self.k);
        proba.fill(0.0);
        let share = self.k as f32 / all as f32;
        for (proba, z) in proba.chunks_exact_mut(self.k).zip(z.chunks_exact(all)) {
            for z in z.chunks_exact(self.k) {
                proba.iter_mut().zip(z).for_each(|(p, z)| *p += share * z);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Silent;
    use crate::rivals::testing::{Impatient, blobs, with_threads};

    /// Options that need few steps on small data.
    fn quick(k: usize) -> Turtle {
        Turtle { steps: 400, rate: 1e-2, inner_rate: 1e-2, ..Turtle::new(k) }
    }

    fn labels(head: &TurtleHead, x: &[f32], n: usize) -> Vec<u32> {
        let mut proba = vec![0.0; n * head.k];
        head.assign(x, &mut proba);
        assert!(proba.chunks_exact(head.k).all(|p| (p.iter().sum::<f32>() - 1.0).abs() < 1e-5));
        crate::rivals::decide(&proba, head.k)
    }

    #[test]
    fn separated_groups_are_found_in_one_space_and_in_two_and_from_batches() {
        let (x, truth) = blobs(600, 4, 6, 0.2);
        let table = Table { x: &x, m: 6 };
        for method in [
            quick(4),
            Turtle { widths: vec![2, 4], ..quick(4) },
            Turtle { batch: 200, ..quick(4) },
            Turtle { warm: true, ..quick(4) },
        ] {
            let found = method.train(table, 0, &Silent).unwrap();
            assert_eq!((found.iterations, found.stop), (400, StopReason::Finished));
            let accuracy = crate::metrics::accuracy(&truth, &labels(&found.head, &x, 600)).unwrap();
            assert!(accuracy > 0.99, "{method:?}: {accuracy}");
        }
    }

    #[test]
    fn threads_do_not_change_the_bits() {
        let (x, _) = blobs(1300, 3, 5, 0.5);
        let method = Turtle { steps: 20, batch: 1100, ..quick(3) };
        let run =
            |threads| with_threads(threads, || method.train(Table { x: &x, m: 5 }, 7, &Silent).unwrap());
        let (one, two) = (run(1), run(2));
        assert_eq!(one.head, two.head);
        assert_eq!(one.loss, two.loss);
    }

    #[test]
    fn an_observer_stops_it_with_what_there_is() {
        let (x, _) = blobs(50, 3, 4, 0.5);
        let found = quick(3).train(Table { x: &x, m: 4 }, 0, &Impatient::after(5)).unwrap();
        assert_eq!((found.iterations, found.stop), (5, StopReason::Interrupted));
    }

    #[test]
    fn widths_that_do_not_fit_the_rows_are_refused() {
        let (x, _) = blobs(50, 3, 4, 0.5);
        let method = Turtle { widths: vec![2, 3], ..quick(3) };
        let error = method.train(Table { x: &x, m: 4 }, 0, &Silent).unwrap_err().to_string();
        assert!(error.contains("[2, 3] of 4"), "{error}");
    }
}
