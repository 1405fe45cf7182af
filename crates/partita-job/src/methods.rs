//! Which methods are compared, and what is tried to find the number of clusters, by default.

use crate::error::{JobError, Result};
use partita::compare::Contender;
use partita::linear::{LiftKind, Params, Prepare, Prior};
use serde::{Deserialize, Serialize};

/// The methods of a comparison, if none are named.
pub const USUAL_METHODS: [&str; 8] =
    ["partita", "ours", "rim", "sela", "miadm-dec-star", "kmeans", "soft-kmeans", "gmm-diagonal"];

/// Methods by name; `all` stands for every one.
///
/// ```
/// use partita_job::{USUAL_METHODS, contenders};
/// assert_eq!(contenders(&USUAL_METHODS)?.len(), 8);
/// assert!(contenders(&["ours", "ours"]).is_err());
/// # Ok::<(), partita_job::JobError>(())
/// ```
///
/// # Errors
/// If a name is unknown, or a method is named twice.
pub fn contenders<S: AsRef<str>>(names: &[S]) -> Result<Vec<Contender>> {
    let mut chosen: Vec<Contender> = Vec::new();
    for name in names {
        match name.as_ref() {
            "all" => chosen.extend(Contender::all().map(|(_, contender, _)| contender)),
            name => chosen.push(name.parse()?),
        }
    }
    match (0..chosen.len()).find(|&i| chosen[..i].contains(&chosen[i])) {
        Some(at) => Err(JobError::refused(None, format!("the method {} is named twice", chosen[at]))),
        None => Ok(chosen),
    }
}

/// What is tried to find the number of clusters: every number with every λ and γ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CandidateSpec {
    /// Numbers of clusters.
    pub k: Vec<usize>,
    /// Weights of fairness; the default alone if there are none.
    pub lambda: Vec<f64>,
    /// Weights of the squared norm; the default alone if there are none.
    pub gamma: Vec<f64>,
    /// Clusters may differ in size: their sizes are estimated in every fit, also of many features.
    pub unequal: bool,
    /// Independent starts of every fit.
    pub restarts: usize,
    /// Seed of all random choices.
    pub seed: u64,
    /// How rows are prepared.
    pub prepare: Prepare,
    /// The feature map before the softmax.
    pub lift: LiftKind,
}

impl Default for CandidateSpec {
    fn default() -> Self {
        Self {
            k: (2..=20).collect(),
            lambda: Vec::new(),
            gamma: Vec::new(),
            unequal: false,
            restarts: 4,
            seed: 0,
            prepare: Prepare::default(),
            lift: LiftKind::Auto,
        }
    }
}

impl CandidateSpec {
    /// The options of each candidate.
    ///
    /// ```
    /// let spec = partita_job::CandidateSpec { k: vec![2, 3], gamma: vec![1e-5, 1e-2], ..Default::default() };
    /// let tried: Vec<_> = spec.candidates().iter().map(|c| (c.k, c.gamma)).collect();
    /// assert_eq!(tried, [(2, Some(1e-5)), (2, Some(1e-2)), (3, Some(1e-5)), (3, Some(1e-2))]);
    /// ```
    pub fn candidates(&self) -> Vec<Params> {
        let mut all = Vec::new();
        for &k in &self.k {
            for lambda in or_default(&self.lambda) {
                for gamma in or_default(&self.gamma) {
                    let prior = if self.unequal { Prior::unknown(k) } else { Prior::Usual };
                    let Self { restarts, seed, prepare, lift, .. } = *self;
                    all.push(Params {
                        lambda,
                        gamma,
                        prior,
                        restarts,
                        seed,
                        prepare,
                        lift,
                        ..Params::new(k)
                    });
                }
            }
        }
        all
    }
}

fn or_default(values: &[f64]) -> Vec<Option<f64>> {
    if values.is_empty() { vec![None] } else { values.iter().copied().map(Some).collect() }
}
