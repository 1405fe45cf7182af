//! The losses by name: their pseudo-label solvers and their gradients.

use crate::error::{Error, Result};
use crate::objective::{BatchObjective, Fairness, Hinge, MutualInformation, RenyiGradient, SelfLabelled};
use crate::pseudo::{Em, Exact, Miadm, PseudoLabels, Renyi, Sinkhorn};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What is minimised, besides γ‖W‖².
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Loss {
    /// mean H(σ, y) + λ KL(u‖ȳ): reverse cross-entropy and strong fairness, with pseudo-labels y.
    #[default]
    Strong,
    /// mean H(σ, y) + λ KL(ȳ‖u): the same with weak fairness.
    Weak,
    /// mean H(σ) + λ KL(σ̄‖u): mutual information (RIM when γ > 0), no pseudo-labels.
    MutualInformation,
    /// mean R_α(σ) + λ KL(σ̄‖u): Rényi decisiveness by gradient.
    Renyi(f64),
    /// mean [α H(y, σ) − H(y)]/(α−1) + λ KL(u‖ȳ): Rényi decisiveness of order α > 1 by pseudo-labels.
    RenyiLabels(f64),
    /// mean H(y, σ) with hard labels in the prior's proportions, by Sinkhorn (SeLa); λ is the power of σ.
    Sela,
    /// mean H(y, σ) + λ KL(ȳ‖u) (MIADM), with labels of DEPICT's or DEC's form, or with the optimal ones.
    Miadm(Miadm),
    /// The multi-class hinge loss of hard labels in nearly the prior's proportions (max-margin clustering).
    Hinge,
}

impl Loss {
    /// The λ that is used where none is given; for SeLa the power of the predictions.
    pub fn default_lambda(self) -> f64 {
        match self {
            Self::Strong | Self::Weak => 100.0,
            Self::RenyiLabels(_) => 10.0,
            Self::Sela => 20.0,
            Self::MutualInformation | Self::Renyi(_) | Self::Miadm(_) | Self::Hinge => 1.0,
        }
    }

    /// Whether it has pseudo-labels that can be held for an epoch.
    pub fn has_labels(self) -> bool {
        !matches!(self, Self::MutualInformation | Self::Renyi(_) | Self::Hinge)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strong => f.write_str("strong"),
            Self::Weak => f.write_str("weak"),
            Self::MutualInformation => f.write_str("mi"),
            Self::Renyi(alpha) => write!(f, "renyi:{alpha}"),
            Self::RenyiLabels(alpha) => write!(f, "renyi-labels:{alpha}"),
            Self::Sela => f.write_str("sela"),
            Self::Hinge => f.write_str("hinge"),
            Self::Miadm(Miadm::Dec) => f.write_str("miadm-dec"),
            Self::Miadm(Miadm::Depict) => f.write_str("miadm-depict"),
            Self::Miadm(Miadm::Exact) => f.write_str("miadm-exact"),
        }
    }
}

impl From<Loss> for String {
    fn from(loss: Loss) -> Self {
        loss.to_string()
    }
}

impl TryFrom<String> for Loss {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl FromStr for Loss {
    type Err = Error;
    /// ```
    /// use partita::linear::Loss;
    /// assert_eq!("renyi:2".parse::<Loss>().unwrap(), Loss::Renyi(2.0));
    /// assert!("renyi-labels:0.5".parse::<Loss>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        let bad = || Error::Parameter {
            name: "loss",
            value: text.to_owned(),
            must: "strong, weak, mi, renyi:ALPHA (ALPHA >= 0, or inf), renyi-labels:ALPHA (ALPHA > 1), sela, miadm-depict, miadm-dec, miadm-exact or hinge",
        };
        let (name, alpha) = match text.split_once(':') {
            Some((name, alpha)) => (name, Some(alpha.parse::<f64>().map_err(|_| bad())?)),
            None => (text, None),
        };
        match (name, alpha) {
            ("strong", None) => Ok(Self::Strong),
            ("weak", None) => Ok(Self::Weak),
            ("mi", None) => Ok(Self::MutualInformation),
            ("sela", None) => Ok(Self::Sela),
            ("hinge", None) => Ok(Self::Hinge),
            // The second name is the one that files of earlier versions have.
            ("miadm-dec" | "miadm", None) => Ok(Self::Miadm(Miadm::Dec)),
            ("miadm-depict" | "miadm-root", None) => Ok(Self::Miadm(Miadm::Depict)),
            ("miadm-exact", None) => Ok(Self::Miadm(Miadm::Exact)),
            ("renyi", Some(alpha)) if alpha >= 0.0 => Ok(Self::Renyi(alpha)),
            ("renyi-labels", Some(alpha)) if alpha > 1.0 && alpha.is_finite() => Ok(Self::RenyiLabels(alpha)),
            _ => Err(bad()),
        }
    }
}

/// EM iterations of a batch, by default.
pub const EM_ITERATIONS: usize = 5;

/// How pseudo-labels are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Solver {
    /// A fixed number of EM iterations from y = σ. Few iterations are gentler than the optimum: they do not force exact
    /// balance on a small batch.
    Em {
        /// Iterations.
        iterations: usize,
    },
    /// The optimum, by Newton's method on the dual.
    Exact,
}

/// By how much the sizes of max-margin clusters may differ from the prior's, as a share of them.
const HINGE_SLACK: f64 = 0.1;

impl Loss {
    /// What finds the pseudo-labels of this loss; of use if it [has labels](Self::has_labels).
    pub fn solver(self, solver: Solver, lambda: f64) -> Box<dyn PseudoLabels> {
        match (self, solver) {
            (Self::Weak, _) => Box::new(Exact { fairness: Fairness::Weak, ..Exact::default() }),
            (Self::RenyiLabels(alpha), _) => Box::new(Renyi::new(alpha)),
            (Self::Sela, _) => Box::new(Sinkhorn { power: lambda, ..Sinkhorn::default() }),
            (Self::Miadm(labels), _) => Box::new(labels),
            (_, Solver::Em { iterations }) => Box::new(Em { max_iterations: iterations, tolerance: 0.0 }),
            (_, Solver::Exact) => Box::new(Exact::default()),
        }
    }

    /// The loss with labels from `solver`; of use if it [has labels](Self::has_labels).
    pub fn self_labelled(self, solver: Box<dyn PseudoLabels>, prior: Vec<f64>, lambda: f64) -> SelfLabelled {
        SelfLabelled { solver, prior, lambda: if self == Self::Sela { 0.0 } else { lambda } }
    }

    /// The loss of a batch; `solver` finds its labels if it has any.
    pub fn objective(
        self,
        solver: Box<dyn PseudoLabels>,
        prior: Vec<f64>,
        lambda: f64,
    ) -> Box<dyn BatchObjective> {
        match self {
            Self::MutualInformation => Box::new(MutualInformation { prior, lambda }),
            Self::Renyi(alpha) => Box::new(RenyiGradient { alpha, prior, lambda }),
            Self::Hinge => Box::new(Hinge { prior, slack: HINGE_SLACK }),
            _ => Box::new(self.self_labelled(solver, prior, lambda)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_read_as_they_are_written() {
        for loss in [
            Loss::Strong,
            Loss::Weak,
            Loss::MutualInformation,
            Loss::Renyi(0.5),
            Loss::Renyi(f64::INFINITY),
            Loss::RenyiLabels(2.0),
            Loss::Sela,
            Loss::Hinge,
            Loss::Miadm(Miadm::Depict),
            Loss::Miadm(Miadm::Dec),
            Loss::Miadm(Miadm::Exact),
        ] {
            assert_eq!(loss.to_string().parse::<Loss>().unwrap(), loss);
        }
        for (old, now) in [("miadm", Miadm::Dec), ("miadm-root", Miadm::Depict)] {
            assert_eq!(
                serde_json::from_value::<Loss>(old.into()).unwrap(),
                Loss::Miadm(now),
                "as once written"
            );
        }
        for text in ["", "renyi", "renyi:-1", "renyi:x", "strong:2", "renyi-labels:1"] {
            assert!(text.parse::<Loss>().is_err(), "{text}");
        }
    }
}
