//! Why a row is in its cluster, in the words of its data: words of a text, or features by name.

use crate::dataset::{DataPart, Dataset, Items};
use crate::error::Result;
use partita::linear::{Explanation, Model};
use partita_data::model_file::ModelFile;
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
    /// What each word or feature adds to it, the largest size first.
    pub reasons: Vec<Reason>,
}

/// What a word or a feature adds to the lead of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// The name of the word or feature.
    pub feature: String,
    /// Its number among all features, or among the words of the encoder.
    pub index: usize,
    /// The value in the row, where what was given became several features.
    pub value: Option<String>,
    /// It as a sentence says it, where it is no feature.
    #[serde(rename = "said")]
    pub text: Option<String>,
    /// What it adds.
    pub contribution: f64,
}

/// Explain a row of a data set that was opened for this model. Of a text each of its known words has a share, where its words make its row.
///
/// # Errors
/// If the row does not exist or cannot be read.
pub fn explain(file: &ModelFile, dataset: &Dataset<'_>, row: usize) -> Result<Why> {
    let rows = dataset.rows()?;
    let found = file.model.explain(&rows, row).map_err(|error| dataset.explained(error.into()))?;
    let mut values = vec![0.0; file.model.m()];
    found.contributions.iter().for_each(|part| values[part.feature] = part.value);
    let mut base = found.base;
    let (mut reasons, mut first) = (Vec::new(), 0);
    for (at, part) in dataset.parts().iter().enumerate() {
        let own = &values[first..first + part.rows.m()];
        match of_words(&file.model, &found, part, (at, first), row)? {
            Some(words) => {
                base += own.iter().sum::<f64>() - words.iter().map(|word| word.contribution).sum::<f64>();
                reasons.extend(words);
            }
            None => reasons.extend(own.iter().enumerate().map(|(feature, &contribution)| Reason {
                feature: dataset.feature(first + feature),
                index: first + feature,
                value: None,
                text: None,
                contribution,
            })),
        }
        first += part.rows.m();
    }
    reasons.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()).then(a.index.cmp(&b.index)));
    Ok(Why { cluster: found.cluster, runner_up: found.runner_up, proba: found.proba, base, reasons })
}

/// What each word of a text adds: its row is a sum over its words, and once the norms of this row are known the lead is linear in it. None where rows are
/// made in another way, or pass a lift.
fn of_words(
    model: &Model,
    found: &Explanation,
    part: &DataPart<'_>,
    (at, first): (usize, usize),
    row: usize,
) -> Result<Option<Vec<Reason>>> {
    let Some(Items::Texts(texts)) = &part.items else { return Ok(None) };
    let (Some(tfidf), None, Some(view)) = (texts.tfidf(), model.lift(), model.views().get(at)) else { return Ok(None) };
    let m = part.rows.m();
    let mut x = vec![0.0; m];
    part.rows.read(row, &mut x)?;
    let centre = |j: usize| f64::from(view.centre.get(j).copied().unwrap_or(0.0));
    let square = (0..m).map(|j| (f64::from(x[j]) - centre(j)).powi(2)).sum::<f64>();
    let factor = if view.normalise && square > 0.0 { 1.0 / square.sqrt() } else { 1.0 };
    let weight = |cluster: usize, j: usize| f64::from(model.weight()[cluster * model.m() + first + j]);
    let difference: Vec<f64> = (0..m).map(|j| weight(found.cluster, j) - weight(found.runner_up, j)).collect();
    let reason = |(word, own): (u32, Vec<f32>)| {
        let name = &tfidf.vocabulary().words()[word as usize];
        let sum: f64 = own.iter().zip(&difference).map(|(x, w)| f64::from(*x) * w).sum();
        Reason {
            feature: name.clone(),
            index: word as usize,
            value: None,
            text: Some(format!("word '{name}'")),
            contribution: factor * sum,
        }
    };
    Ok(Some(tfidf.shares(&texts.get(row)).into_iter().map(reason).collect()))
}
