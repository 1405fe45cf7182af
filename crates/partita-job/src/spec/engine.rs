//! A specification from the options that a model file keeps, so that a door can show them in its own words.

use super::{FitSpec, MethodSpec, OptimiserKind, PriorSpec};
use partita::linear::{EM_ITERATIONS, Optimiser, Params, Prior, Solver};

impl FitSpec {
    /// The specification of a fit of the linear engine with these options. Limits on sizes are not among them: what they said
    /// about the prior is `auto`.
    ///
    /// ```
    /// use partita::linear::Params;
    /// use partita_job::FitSpec;
    /// let spec = FitSpec::of_params(&Params { seed: 7, epochs: Some(3), ..Params::new(5) });
    /// assert_eq!((spec.clusters()?, spec.seed, spec.method.epochs), (5, 7, Some(3)));
    /// # Ok::<(), partita_job::JobError>(())
    /// ```
    pub fn of_params(params: &Params) -> Self {
        let (exact_labels, em_iterations) = match params.solver {
            Solver::Em { iterations } => (false, iterations),
            Solver::Exact => (true, EM_ITERATIONS),
        };
        let (optimiser, momentum) = match params.optimiser {
            Optimiser::Sgd { momentum } => (OptimiserKind::Sgd, momentum),
            Optimiser::Adam => (OptimiserKind::Adam, 0.0),
            Optimiser::Lbfgs => (OptimiserKind::Lbfgs, 0.0),
        };
        let method = MethodSpec {
            loss: params.loss,
            lambda: params.lambda,
            gamma: params.gamma,
            prepare: params.prepare,
            lift: params.lift,
            neighbours: params.neighbours,
            dims: params.dims,
            init: params.init,
            epochs: params.epochs,
            batch: params.batch,
            em_iterations,
            exact_labels,
            refresh: params.refresh,
            optimiser,
            momentum,
            learning_rate: params.learning_rate,
            polish: params.polish,
            known_weight: params.known_weight,
        };
        let prior = match &params.prior {
            Prior::Uniform => PriorSpec::Equal,
            Prior::Usual | Prior::Seen => PriorSpec::Usual,
            Prior::Given(shares) => PriorSpec::Shares(shares.clone()),
            Prior::Estimated { .. } => PriorSpec::Auto,
        };
        let (seed, restarts, outliers) = (params.seed, params.restarts, params.outliers);
        Self { seed, restarts, prior, outliers, method, ..Self::new(params.k) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::params;
    use partita::outliers::OutlierRule;

    #[test]
    fn options_come_back_as_they_were() {
        let all = [
            Params::new(3),
            Params { solver: Solver::Exact, prior: Prior::unknown(4), ..Params::new(4) },
            Params { outliers: Some(OutlierRule::Share(0.1)), ..Params::new(2) },
            Params { outliers: Some(OutlierRule::Auto), ..Params::new(2) },
            Params { optimiser: Optimiser::Lbfgs, prior: Prior::Given(vec![0.7, 0.3]), ..Params::new(2) },
            Params {
                optimiser: Optimiser::Sgd { momentum: 0.5 },
                solver: Solver::Em { iterations: 9 },
                polish: 3,
                known_weight: 0.5,
                ..Params::new(2)
            },
        ];
        for options in all {
            assert_eq!(params(&FitSpec::of_params(&options), 100).unwrap(), options);
        }
    }
}
