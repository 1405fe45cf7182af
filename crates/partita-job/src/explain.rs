//! Why a row is in its cluster, in the words of its data: columns of a table with their values, words of a text, or features by name.

use crate::dataset::{DataPart, Dataset, plan_of};
use crate::error::Result;
use crate::items::Items;
use partita::linear::{Explanation, Model};
use partita_data::model_file::ModelFile;
use partita_embed::texts::TFIDF;
use serde::Serialize;

/// Why a row is in its cluster and not in the runner-up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// The most probable cluster.
    pub cluster: usize,
    /// The next.
    pub runner_up: usize,
    /// Probabilities of all clusters.
    pub proba: Vec<f32>,
    /// Lead of the cluster over the runner-up, in logits, before anything is known of the row.
    pub base: f64,
    /// What each column or feature adds to it, the largest size first.
    pub reasons: Vec<Reason>,
}

/// What a column or a feature adds to the lead of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// The name of the column or feature.
    pub feature: String,
    /// Its number among all columns or features.
    pub index: usize,
    /// The value in the row, where the column of a table became several features.
    pub value: Option<String>,
    /// The value with how it compares, such as `income 82,000, higher than 95 % of rows`.
    #[serde(rename = "said")]
    pub text: Option<String>,
    /// What it adds.
    pub contribution: f64,
}

/// Explain a row of a data set that was opened for this model. What the columns add that a table's column became is one sum.
///
/// # Errors
/// If the row does not exist or cannot be read.
pub fn explain(file: &ModelFile, dataset: &Dataset<'_>, row: usize) -> Result<Why> {
    let found = file.model.explain(&dataset.rows()?, row).map_err(|error| dataset.explained(error.into()))?;
    let mut values = vec![0.0; file.model.m()];
    found.contributions.iter().for_each(|part| values[part.feature] = part.value);
    let (mut reasons, mut base) = (Vec::new(), found.base);
    let mut rest = &values[..];
    for part in dataset.parts() {
        let (own, others) = rest.split_at(part.rows.m().min(rest.len()));
        let first = values.len() - rest.len();
        rest = others;
        match plan_of(part) {
            Some((frame, plan)) => {
                let mut sums = vec![0.0; plan.columns.len()];
                for (feature, value) in own.iter().enumerate() {
                    if let Some(column) = plan.column_of(feature) {
                        sums[column] += value;
                    }
                }
                for (column, contribution) in sums.into_iter().enumerate() {
                    let shown = plan.shown(&frame, column, row)?;
                    let (value, text) = shown.map_or((None, None), |shown| (shown.value, Some(shown.text)));
                    let feature = plan.columns[column].name.clone();
                    reasons.push(Reason { feature, index: reasons.len(), value, text, contribution });
                }
            }
            None => match of_words(&file.model, &found, dataset, (part, first), row)? {
                Some(words) => {
                    base += own.iter().sum::<f64>() - words.iter().map(|word| word.contribution).sum::<f64>();
                    reasons.extend(words);
                }
                None => reasons.extend(own.iter().enumerate().map(|(at, &contribution)| Reason {
                    feature: dataset.feature(first + at),
                    index: first + at,
                    value: None,
                    text: None,
                    contribution,
                })),
            },
        }
    }
    reasons.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()).then(a.index.cmp(&b.index)));
    let (cluster, runner_up) = (found.cluster, found.runner_up);
    Ok(Why { cluster, runner_up, proba: found.proba, base, reasons })
}

/// What each word of a text adds: its row is a sum over its words, and once the norms of this row are known the lead is linear in it. None where rows are
/// made in another way, or pass a lift.
fn of_words(
    model: &Model,
    found: &Explanation,
    dataset: &Dataset<'_>,
    (part, first): (&DataPart<'_>, usize),
    row: usize,
) -> Result<Option<Vec<Reason>>> {
    let by_words = part.encoder.as_ref().is_some_and(|encoder| encoder.kind == TFIDF);
    let (true, Some(Items::Texts(texts)), None) = (by_words, dataset.items(), model.lift()) else {
        return Ok(None);
    };
    let mut starts =
        dataset.parts().iter().scan(0, |at, part| Some(std::mem::replace(at, *at + part.rows.m())));
    let view = starts.position(|start| start == first).and_then(|at| model.views().get(at));
    let (Some(tfidf), Some(view)) = (texts.tfidf(), view) else { return Ok(None) };
    let m = part.rows.m();
    let mut x = vec![0.0; m];
    part.rows.read(row, &mut x)?;
    let centre = |j: usize| f64::from(view.centre.get(j).copied().unwrap_or(0.0));
    let square = (0..m).map(|j| (f64::from(x[j]) - centre(j)).powi(2)).sum::<f64>();
    let factor = if view.normalise && square > 0.0 { 1.0 / square.sqrt() } else { 1.0 };
    let weight = |cluster: usize, j: usize| f64::from(model.weight()[cluster * model.m() + first + j]);
    let difference: Vec<f64> =
        (0..m).map(|j| weight(found.cluster, j) - weight(found.runner_up, j)).collect();
    let reason = |(word, own): (u32, Vec<f32>)| {
        let name = &tfidf.vocabulary().words()[word as usize];
        let sum: f64 = own.iter().zip(&difference).map(|(x, w)| f64::from(*x) * w).sum();
        let text = Some(format!("word '{name}'"));
        Reason { feature: name.clone(), index: word as usize, value: None, text, contribution: factor * sum }
    };
    Ok(Some(tfidf.shares(&texts.get(row)).into_iter().map(reason).collect()))
}
