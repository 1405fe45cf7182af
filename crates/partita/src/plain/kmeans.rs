//! K-means of rows as they are: several starts, the best of them.

use super::centres::{nearest, shifted};
use super::lloyd::{self, Rule};
use super::rows::Plain;
use super::seeds::{plus_plus, random_rows};
use crate::error::{Error, Result};
use crate::report::{Flow, Observer, Progress, StopReason};
use crate::rng::{Stream, stream};
use serde::{Deserialize, Serialize};

/// Relative differences of inertia that are rounding.
const TIE: f64 = 1e-10;

/// Where starts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seeds {
    /// Greedy k-means++.
    PlusPlus,
    /// Rows drawn at random.
    Random,
}

/// Options of K-means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KMeans {
    /// Number of clusters.
    pub k: usize,
    /// Where starts come from, unless centres are given.
    pub seeds: Seeds,
    /// Independent starts; the one with the lowest inertia is kept.
    pub starts: usize,
    /// Lloyd's iterations at most.
    pub max_iterations: usize,
    /// Stop when the centres moved by no more than this, squared and summed, in units of the mean variance of a feature.
    pub tolerance: f64,
    /// Whether rows and centres are held on the unit sphere.
    pub spherical: bool,
    /// Whether centres are rounded to single precision, as those of such rows are.
    pub single: bool,
    /// Seed of all random choices.
    pub seed: u64,
}

/// What K-means found, in the space of the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// Centres, row-major `[k, m]`.
    pub centres: Vec<f64>,
    /// The nearest centre of each row.
    pub labels: Vec<u32>,
    /// Sum of weight × squared distance to the nearest centre.
    pub inertia: f64,
    /// The same of every start.
    pub inertias: Vec<f64>,
    /// Iterations of the best start.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: StopReason,
}

impl KMeans {
    /// Cluster rows, from the `given` centres `[starts, k, m]` if there are any.
    ///
    /// ```
    /// use partita::plain::{Dense, KMeans, Plain, Seeds};
    /// struct Line(Vec<f64>);
    /// impl Dense for Line {
    ///     fn n(&self) -> usize { self.0.len() }
    ///     fn m(&self) -> usize { 1 }
    ///     fn read(&self, start: usize, out: &mut [f64]) -> partita::Result<()> {
    ///         out.copy_from_slice(&self.0[start..start + out.len()]);
    ///         Ok(())
    ///     }
    /// }
    /// let rows = Line(vec![1e9, 1e9 + 1.0, 1e9 + 8.0, 1e9 + 9.0]);
    /// let (k, seeds) = (2, Seeds::PlusPlus);
    /// let options = KMeans { k, seeds, starts: 2, max_iterations: 9, tolerance: 0.0, spherical: false, single: false, seed: 0 };
    /// let found = options.fit(Plain::dense(&rows)?, None, None, &partita::report::Silent)?;
    /// assert_eq!(found.inertia, 1.0);
    /// # Ok::<(), partita::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the rows cannot be used, or the observer stops it.
    pub fn fit(
        &self,
        plain: Plain<'_>,
        weights: Option<&[f64]>,
        given: Option<&[f64]>,
        observer: &dyn Observer,
    ) -> Result<Clusters> {
        if plain.n() < self.k {
            return Err(Error::TooFewRows { rows: plain.n(), k: self.k });
        }
        let plain = if self.spherical { plain.on_sphere() } else { plain };
        let (mean, variance) = plain.moments()?;
        // On the sphere the origin has a meaning.
        let plain = if self.spherical { plain } else { plain.shifted(&mean) };
        let rule = Rule {
            max_iterations: self.max_iterations,
            enough: self.tolerance * variance,
            spherical: self.spherical,
        };
        let mut best: Option<Clusters> = None;
        let mut inertias = Vec::with_capacity(self.starts);
        for start in 0..self.starts {
            let keep_going = |share: f64| {
                let done = (start as f64 + share) / self.starts as f64;
                observer.progress(Progress { stage: "K-means", done, loss: inertias.last().copied() })
                    == Flow::Continue
            };
            let from = self.start(&plain, weights, given, start)?;
            let ended = lloyd::run(&plain, weights, from, rule, &keep_going)?;
            ended.stop.not_interrupted()?;
            let found = self.settle(&plain, weights, ended)?;
            inertias.push(found.inertia);
            // Starts often end in the same clusters, numbered differently: rounding must not decide which numbers are kept.
            if best.as_ref().is_none_or(|best| found.inertia < best.inertia * (1.0 - TIE)) {
                best = Some(found);
            }
        }
        best.map(|best| Clusters { inertias, ..best }).ok_or(Error::Interrupted)
    }

    /// Centres to start from, in the space after the shift.
    fn start(
        &self,
        plain: &Plain<'_>,
        weights: Option<&[f64]>,
        given: Option<&[f64]>,
        start: usize,
    ) -> Result<Vec<f64>> {
        let size = self.k * plain.m();
        if let Some(given) = given {
            return Ok(shifted(plain, &given[start * size..(start + 1) * size]));
        }
        let mut rng = stream(self.seed, Stream::Seeds, start as u64);
        let rows = match self.seeds {
            Seeds::PlusPlus => plus_plus(plain, weights, self.k, &mut rng)?,
            Seeds::Random => random_rows(plain.n(), weights, self.k, &mut rng),
        };
        Ok(rows.into_iter().map(|i| plain.row(i)).collect::<Result<Vec<_>>>()?.concat())
    }

    /// Labels of the centres as they are reported.
    fn settle(&self, plain: &Plain<'_>, weights: Option<&[f64]>, ended: lloyd::Ended) -> Result<Clusters> {
        let shift = plain.shift();
        let back = |(v, s): (&f64, &f64)| if self.single { f64::from((v + s) as f32) } else { v + s };
        let centres: Vec<f64> =
            ended.centres.chunks_exact(shift.len()).flat_map(|c| c.iter().zip(&shift).map(back)).collect();
        let (labels, inertia) = nearest(plain, &centres, weights)?;
        let (iterations, stop) = (ended.iterations, ended.stop);
        Ok(Clusters { centres, labels, inertia, inertias: Vec::new(), iterations, stop })
    }
}
