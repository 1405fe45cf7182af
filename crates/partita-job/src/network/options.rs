//! A specification as options of the deep engine.

use crate::error::{JobError, Result};
use crate::field::Field;
use crate::spec::{FitSpec, NetworkSpec, PretextOptimiser};
use partita_deep::augment::Augment;
use partita_deep::losses::Vat;
use partita_deep::optimise::{Pace, Rule};
use partita_deep::train::{Aim, Params, Pretext, Scan};
use partita_embed::photos::Net;
use partita_embed::photos::Normalise;
use std::fmt::Display;
use std::str::FromStr;

/// The options of training.
pub(super) fn params(spec: &FitSpec, network: &NetworkSpec) -> Result<Params> {
    let (k, method) = (spec.clusters()?, &spec.method);
    let defaults = Params::new(k, parsed::<Net>(Field::Net, &network.net)?);
    let rate = method.learning_rate.unwrap_or(defaults.backbone.rate);
    let aim = match network.iic {
        Some(heads) => Aim::Iic { heads, over: network.over.unwrap_or(5 * k) },
        None => Aim::Core {
            loss: method.loss,
            lambda: method.lambda.unwrap_or(method.loss.default_lambda()),
            solver: method.solver(),
            refresh: method.refresh,
        },
    };
    Ok(Params {
        aim,
        prior: spec.prior.shares()?,
        augment: parsed::<Augment>(Field::Augment, &network.augment)?,
        pairs: network.pairs_weight(),
        views: network.views,
        disturb: network.vat_weight(),
        vat: Vat { epsilon: network.vat_length, ..defaults.vat },
        warm_up: network.warm_up,
        forward: network.forward,
        epochs: method.epochs.unwrap_or(defaults.epochs),
        batch: method.batch.unwrap_or(defaults.batch),
        backbone: Pace { rate: if network.freeze { 0.0 } else { rate }, decay: network.weight_decay },
        heads: Pace { rate: network.head_rate.unwrap_or(rate), decay: network.weight_decay },
        revive: network.revive,
        normalise: network
            .normalise
            .as_deref()
            .map(|text| parsed::<Normalise>(Field::Normalise, text))
            .transpose()?,
        seed: spec.seed,
        ..defaults
    })
}

/// What a field names, or an error that names the field.
pub(super) fn parsed<T: FromStr<Err: Display>>(field: Field, text: &str) -> Result<T> {
    text.parse().map_err(|problem: T::Err| JobError::Value {
        field,
        value: format!("{text}:"),
        problem: problem.to_string(),
    })
}

/// Momentum of gradient descent in a pretext, as SCAN has it.
const MOMENTUM: f64 = 0.9;

/// How the network first learns to tell images apart, for this number of epochs.
pub(super) fn pretext(network: &NetworkSpec, epochs: usize) -> Result<Pretext> {
    let usual = Pretext::new(epochs);
    let rate = network.pretext_rate.unwrap_or(usual.rate);
    if !(rate.is_finite() && rate > 0.0) {
        let problem = "is no learning rate; give one above 0".to_owned();
        return Err(JobError::Value { field: Field::PretextRate, value: rate.to_string(), problem });
    }
    let rule = match network.pretext_optimiser {
        PretextOptimiser::Adam => Rule::Adam,
        PretextOptimiser::Sgd => Rule::Sgd { momentum: MOMENTUM },
    };
    Ok(Pretext { rate, batch: network.pretext_batch, rule, cosine: network.pretext_cosine, ..usual })
}

/// The stages of SCAN, if it was asked for.
pub(super) fn stages(network: &NetworkSpec) -> Result<Option<Scan>> {
    let Some(epochs) = &network.scan else { return Ok(None) };
    match epochs[..] {
        [a, b, c] => Ok(Some(Scan { pretext: pretext(network, a)?, ..Scan::new([a, b, c]) })),
        _ => {
            let problem = "`scan` takes the epochs of its three stages, such as 100,30,10";
            Err(JobError::refused(Field::Scan, problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_engine() {
        let network = NetworkSpec::new("mlp");
        let found = params(&FitSpec::new(10), &network).unwrap();
        assert_eq!(found, Params::new(10, Net::Mlp));
    }

    #[test]
    fn names_that_do_not_exist_are_refused_with_their_field() {
        let none = params(&FitSpec::new(10), &NetworkSpec::new("lenet")).unwrap_err();
        assert_eq!(none.field(), Some(Field::Net));
        let network = NetworkSpec { augment: "twist".into(), ..NetworkSpec::new("mlp") };
        let error = params(&FitSpec::new(10), &network).unwrap_err();
        assert!(error.to_string().starts_with("`augment` twist: `twist` is not a known change"), "{error}");
    }
}
