//! A specification as options of the deep engine.

use crate::error::{JobError, Result};
use crate::field::Field;
use crate::spec::{FitSpec, NetworkSpec};
use partita_deep::DeepError;
use partita_deep::augment::Augment;
use partita_deep::losses::Vat;
use partita_deep::nets::Net;
use partita_deep::optimise::Pace;
use partita_deep::train::{Aim, Params};
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
        disturb: network.vat_weight(),
        vat: Vat { epsilon: network.vat_length, ..defaults.vat },
        warm_up: network.warm_up,
        forward: network.forward,
        epochs: method.epochs.unwrap_or(defaults.epochs),
        batch: method.batch.unwrap_or(defaults.batch),
        backbone: Pace { rate: if network.freeze { 0.0 } else { rate }, decay: network.weight_decay },
        heads: Pace { rate: network.head_rate.unwrap_or(rate), decay: network.weight_decay },
        seed: spec.seed,
        ..defaults
    })
}

/// What a field names, or an error that names the field.
pub(super) fn parsed<T: FromStr<Err = DeepError>>(field: Field, text: &str) -> Result<T> {
    text.parse().map_err(|problem: DeepError| JobError::Value {
        field,
        value: format!("{text}:"),
        problem: problem.to_string(),
    })
}

/// The epochs of the stages of SCAN, if it was asked for.
pub(super) fn stages(network: &NetworkSpec) -> Result<Option<[usize; 3]>> {
    let Some(epochs) = &network.scan else { return Ok(None) };
    match epochs[..] {
        [a, b, c] => Ok(Some([a, b, c])),
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
