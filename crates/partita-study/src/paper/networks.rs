//! Figures that train a small network.

use super::{Context, Findings};
use crate::error::Result;

#[cfg(not(feature = "deep"))]
pub fn noise(_: &Context<'_>) -> Result<Findings> {
    Err(crate::error::StudyError::WithoutNetworks)
}

#[cfg(not(feature = "deep"))]
pub fn regular(_: &Context<'_>) -> Result<Findings> {
    Err(crate::error::StudyError::WithoutNetworks)
}

#[cfg(feature = "deep")]
pub use trained::{noise, regular};

#[cfg(feature = "deep")]
mod trained {
    use super::{Context, Findings, Result};
    use crate::paper::noise::{Loss, Predicted, Settings, Trial, measure};
    use crate::table::{Table, words};
    use crate::toy::{Toy, ToySettings};
    use partita::compare::Spread;
    use partita::objective::{Batch, BatchObjective, MutualInformation, Workspace};
    use partita::report::Silent;
    use partita::rng::{Stream, stream};
    use partita::simplex::largest;
    use partita_deep::losses::Direction;
    use partita_deep::perceptron::{Goal, Options, Perceptron, Views};
    use rand::RngExt;
    use rand::seq::SliceRandom;
    use serde::Deserialize;

    /// Figure 11 with a perceptron.
    pub fn noise(context: &Context<'_>) -> Result<Findings> {
        let settings: Settings = context.spec.settings()?;
        let learner = |trial: &Trial, loss: Loss, rate: f64, seed: u64| {
            let direction = if loss == Loss::Forward { Direction::Forward } else { Direction::Reverse };
            let goal = Goal::Labels { log_y: &trial.log_labels, direction };
            let Settings { epochs, batch, ref widths, .. } = settings;
            let options =
                Options { widths: widths.clone(), k: trial.k, epochs, batch, rate, decay: 0.0, seed };
            let net = Perceptron::train(&trial.learn, trial.m, &goal, &options, None, &Silent)?;
            Ok(Predicted { validate: net.labels(&trial.validate), test: net.labels(&trial.test) })
        };
        measure("noise-net", context, &settings, &learner)
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Regular {
        toy: ToySettings,
        seeds: u64,
        widths: Vec<usize>,
        /// Steps on all rows, to teach random clusters and to cluster.
        taught: usize,
        steps: usize,
        rate: f64,
        /// The rate at which the entropies go on from random clusters: Adam's first steps are as long as this, however small the
        /// gradient is.
        gentle: f64,
        /// How far a view is from its row, and the weight of the self-augmentation.
        reach: f64,
        weight: f64,
        /// Neighbours that are asked for their cluster.
        neighbours: usize,
    }

    /// What a trained network does with the rows.
    struct Found {
        net: Perceptron,
        labels: Vec<u32>,
        /// mean H(σ) − H(σ̄).
        loss: f64,
        /// mean KL(σ‖σ′) + KL(σ′‖σ) of rows and views.
        apart: f64,
    }

    struct Study<'a> {
        settings: &'a Regular,
        toy: Toy,
    }

    impl Study<'_> {
        fn train(
            &self,
            goal: &Goal<'_>,
            pace: (usize, f64),
            start: Option<&Perceptron>,
            seed: u64,
        ) -> Result<Found> {
            let (k, batch, (epochs, rate)) = (self.toy.k, self.toy.n(), pace);
            let widths = self.settings.widths.clone();
            let options = Options { widths, k, epochs, batch, rate, decay: 0.0, seed };
            let net = Perceptron::train(self.toy.rows(), 2, goal, &options, start, &Silent)?;
            let log_sigma = net.log_sigma(self.toy.rows());
            let labels = log_sigma.chunks_exact(k).map(|row| largest(row) as u32).collect();
            let batch = Batch { log_sigma: &log_sigma, k, weights: None, known: None };
            let mut slope = vec![0.0; log_sigma.len()];
            let value =
                MutualInformation::new(k).value_and_gradient(batch, &mut slope, &mut Workspace::default());
            let apart = self.apart(&net, &log_sigma);
            Ok(Found { net, labels, loss: value - (k as f64).ln(), apart })
        }

        /// Clusters by the entropies alone, or with self-augmentation.
        fn cluster(&self, augmented: bool, start: Option<&Perceptron>, seed: u64) -> Result<Found> {
            let objective = MutualInformation::new(self.toy.k);
            let Regular { reach, weight, steps, rate, gentle, .. } = *self.settings;
            let views = augmented.then_some(Views { reach, weight });
            let pace = (steps, if augmented { rate } else { gentle });
            self.train(&Goal::Clusters { objective: &objective, views }, pace, start, seed)
        }

        /// Random clusters of equal size, taught as if they were true.
        fn random(&self, seed: u64) -> Result<Found> {
            let (n, k) = (self.toy.n(), self.toy.k);
            let mut labels: Vec<usize> = (0..n).map(|i| i % k).collect();
            labels.shuffle(&mut stream(seed, Stream::Sample, 7));
            let soft = |l: usize, c: usize| if l == c { 0.999f64 } else { 0.001 / (k as f64 - 1.0) };
            let log_y: Vec<f64> = labels.iter().flat_map(|&l| (0..k).map(move |c| soft(l, c).ln())).collect();
            let goal = Goal::Labels { log_y: &log_y, direction: Direction::Forward };
            self.train(&goal, (self.settings.taught, self.settings.rate), None, seed)
        }

        fn apart(&self, net: &Perceptron, log_sigma: &[f64]) -> f64 {
            let mut rng = stream(0, Stream::Sample, 8);
            let reach = self.settings.reach as f32;
            let moved: Vec<f32> =
                self.toy.rows().iter().map(|v| v + reach * rng.random_range(-1.0f32..1.0)).collect();
            let other = net.log_sigma(&moved);
            let pairs = log_sigma.iter().zip(&other);
            pairs.map(|(a, b)| (a.exp() - b.exp()) * (a - b)).sum::<f64>() / self.toy.n() as f64
        }

        /// The most probable cluster at all places of a picture, and how sure that is from 0 (a tie) to 1.
        fn regions(&self, net: &Perceptron) -> Vec<(usize, f64)> {
            let places: Vec<f32> =
                self.toy.places().into_iter().flat_map(|(x, y)| [x as f32, y as f32]).collect();
            let even = 1.0 / self.toy.k as f64;
            let surest = |row: &[f64]| {
                let best = largest(row);
                (best, (row[best].exp() - even) / (1.0 - even))
            };
            net.log_sigma(&places).chunks_exact(self.toy.k).map(surest).collect()
        }

        /// Share of the nearest neighbours that have the same label, over all rows.
        fn regularity(&self, labels: &[u32]) -> f64 {
            let (x, count) = (&self.toy.x, self.settings.neighbours);
            let distance = |i: usize, j: usize| (x[2 * i] - x[2 * j]).hypot(x[2 * i + 1] - x[2 * j + 1]);
            let of = |i: usize| {
                let mut order: Vec<usize> = (0..labels.len()).filter(|j| *j != i).collect();
                order.sort_by(|a, b| distance(i, *a).total_cmp(&distance(i, *b)));
                order[..count].iter().filter(|j| labels[**j] == labels[i]).count() as f64 / count as f64
            };
            (0..labels.len()).map(of).sum::<f64>() / labels.len() as f64
        }
    }

    /// Names of the trainings, in the order in which they are made.
    const KINDS: [&str; 4] = [
        "random clusters, taught",
        "entropies from there",
        "with self-augmentation from there",
        "with self-augmentation",
    ];

    /// Figure 2: without regularisation a network takes any clusters; self-augmentation makes them regular.
    pub fn regular(context: &Context<'_>) -> Result<Findings> {
        let settings: Regular = context.spec.settings()?;
        let study = Study { settings: &settings, toy: Toy::draw(&settings.toy) };
        let mut all: [Vec<Found>; 4] = Default::default();
        for seed in 0..settings.seeds {
            context.progress(seed as f64 / settings.seeds as f64)?;
            let random = study.random(seed)?;
            all[1].push(study.cluster(false, Some(&random.net), seed)?);
            all[2].push(study.cluster(true, Some(&random.net), seed)?);
            all[3].push(study.cluster(true, None, seed)?);
            all[0].push(random);
        }
        let mut out = Findings::default();
        let (mut rows, mut charts) = (Vec::new(), Vec::new());
        for (name, found) in KINDS.iter().zip(&all) {
            let spread =
                |of: &dyn Fn(&Found) -> f64| Spread::of(found.iter().map(of)).expect("at least one seed");
            let (loss, apart) = (spread(&|f| f.loss), spread(&|f| f.apart));
            let (near, right) = (
                spread(&|f| study.regularity(&f.labels)),
                spread(&|f| study.toy.accuracy(&f.labels).unwrap_or(f64::NAN)),
            );
            for (what, value) in [("loss", loss), ("views", apart), ("neighbours", near), ("accuracy", right)]
            {
                out.number(format!("{what}: {name}"), value.mean);
            }
            rows.push(vec![
                (*name).to_owned(),
                format!("{loss:.3}"),
                format!("{apart:.3}"),
                format!("{:.0}", near.times(100.0)),
                format!("{:.0}", right.times(100.0)),
            ]);
            let first = &found[0];
            charts.push(study.toy.chart_of(name, &first.labels, study.regions(&first.net)));
        }
        out.figure("regular", 2, charts);
        let headings =
            words(&["training", "mean H(σ) − H(σ̄)", "divergence of views", "neighbours alike, %", "ACC, %"]);
        let title = format!("Mean ± sd of {} seeds", settings.seeds);
        out.tables.push(Table { title, headings, rows, notes: Vec::new() });
        Ok(out)
    }
}
