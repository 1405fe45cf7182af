//! Errors of the engines: the field that each is about, and its words in the spelling of a front end.

use crate::field::Field;
use crate::field::spelled;

/// The field that a problem of the core is about.
pub(super) fn field_of(error: &partita::Error) -> Option<Field> {
    use partita::Error as Core;
    Some(match error {
        Core::Parameter { name, .. } | Core::Length { what: name, .. } => return named(name),
        Core::Prior { .. } => Field::Prior,
        Core::TooFewRows { .. } | Core::TooFewDistinctRows { .. } => Field::K,
        Core::LabelOutOfRange { .. } => Field::Known,
        Core::NoLabels { .. } => Field::Truth,
        Core::NotFinite { .. } | Core::Empty { .. } | Core::Width { .. } | Core::Files { .. } => Field::Data,
        _ => return None,
    })
}

/// The field for a name that the core uses.
fn named(name: &str) -> Option<Field> {
    Some(match name {
        "the number of clusters" | "k" => Field::K,
        "EM iterations" => Field::EmIterations,
        "the learning rate" => Field::LearningRate,
        "the smallest share of a cluster" => Field::MinSize,
        "the largest share of a cluster" => Field::MaxSize,
        "a row weight" | "the mean row weight" | "the row weights" => Field::Weights,
        "the known labels" => Field::Known,
        "one of the feature files" => Field::Data,
        name => return Field::ALL.iter().find(|field| field.name() == name).copied(),
    })
}

/// The core's words, after the field if it is an option with a value that cannot be used.
pub(super) fn core_message(error: &partita::Error, spell: &dyn Fn(Field) -> String) -> String {
    use partita::Error as Core;
    let option = matches!(
        error,
        Core::Parameter { .. } | Core::Length { .. } | Core::Prior { .. } | Core::LabelOutOfRange { .. }
    );
    match field_of(error).filter(|_| option) {
        Some(field) => format!("{}: {error}", spell(field).trim_end_matches('=')),
        None => error.to_string(),
    }
}

/// The words of the deep engine, which names options as the command does.
#[cfg(feature = "deep")]
pub(super) fn deep_message(error: &partita_deep::DeepError, spell: &dyn Fn(Field) -> String) -> String {
    if let partita_deep::DeepError::Core(error) = error {
        return core_message(error, spell);
    }
    flags_spelled(&error.to_string(), spell)
}

/// The words of encoders, which name options as the command does.
pub(super) fn embed_message(error: &partita_embed::EmbedError, spell: &dyn Fn(Field) -> String) -> String {
    match error {
        partita_embed::EmbedError::Core(error) => core_message(error, spell),
        other => flags_spelled(&other.to_string(), spell),
    }
}

/// A text with the command's names of fields, in the spelling of another front end.
fn flags_spelled(text: &str, spell: &dyn Fn(Field) -> String) -> String {
    let mut fields: Vec<(String, Field)> =
        Field::ALL.iter().map(|field| (format!("--{}", field.name().replace('_', "-")), *field)).collect();
    // The longest first, so that no name is taken for the beginning of another.
    fields.sort_by_key(|(flag, _)| std::cmp::Reverse(flag.len()));
    let marked = fields
        .iter()
        .fold(text.to_owned(), |text, (flag, field)| text.replace(flag, &format!("`{}`", field.name())));
    spelled(&marked, spell)
}

#[cfg(test)]
mod tests {
    use crate::error::JobError;
    use crate::field::Field;
    use partita::linear::{Optimiser, Params, Prior, Solver};

    fn flag(field: Field) -> String {
        format!("--{}", field.name().replace('_', "-"))
    }

    #[test]
    fn options_that_the_core_refuses_are_named_by_their_field() {
        let base = || Params::new(3);
        for (params, field) in [
            (Params::new(1), Field::K),
            (Params { restarts: 0, ..base() }, Field::Restarts),
            (Params { epochs: Some(0), ..base() }, Field::Epochs),
            (Params { batch: Some(1), ..base() }, Field::Batch),
            (Params { lambda: Some(-1.0), ..base() }, Field::Lambda),
            (Params { gamma: Some(f64::NAN), ..base() }, Field::Gamma),
            (Params { learning_rate: Some(0.0), ..base() }, Field::LearningRate),
            (Params { optimiser: Optimiser::Sgd { momentum: 1.0 }, ..base() }, Field::Momentum),
            (Params { solver: Solver::Em { iterations: 0 }, ..base() }, Field::EmIterations),
            (Params { prior: Prior::Given(vec![0.5, 0.5]), ..base() }, Field::Prior),
            (Params { prior: Prior::Estimated { least: 0.4, most: 1.0 }, ..base() }, Field::MinSize),
            (Params { prior: Prior::Estimated { least: 0.1, most: 0.2 }, ..base() }, Field::MaxSize),
        ] {
            let error = JobError::from(params.check(100).unwrap_err());
            assert_eq!(error.field(), Some(field), "{error}");
            assert!(error.message(&flag).starts_with(&flag(field)), "{}", error.message(&flag));
        }
    }
}
