//! The words that tell clusters of texts apart: TF-IDF with clusters in the place of texts.

use super::vocabulary::Vocabulary;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A word that a cluster has more often than others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterWord {
    /// The word.
    pub word: String,
    /// Share of the cluster's texts that have it.
    pub share: f64,
    /// The same in the other clusters, on average over the clusters.
    pub elsewhere: f64,
}

/// For each of `k` clusters, at most `count` words that tell it apart, the best first; `labels` are the clusters of the texts, and those from `k` on are none.
///
/// A word counts by s · ln(s / s̄), where s is the share of the cluster's texts that have it and s̄ the mean of these shares over all clusters: it must be
/// frequent here and rare elsewhere. Words that begin with a better one, or that one begins with, are left out: plurals say nothing new.
pub fn distinguishing<S: AsRef<str>>(
    vocabulary: &Vocabulary,
    text: impl Fn(usize) -> S + Sync,
    labels: &[i32],
    k: usize,
    count: usize,
) -> Vec<Vec<ClusterWord>> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); k];
    for (row, &label) in labels.iter().enumerate() {
        if let Some(members) = usize::try_from(label).ok().and_then(|label| members.get_mut(label)) {
            members.push(row);
        }
    }
    let shares: Vec<Vec<(u32, f64)>> =
        members.par_iter().map(|rows| shares(vocabulary, &text, rows)).collect();
    let mut sums = vec![0.0; vocabulary.words().len()];
    shares.iter().flatten().for_each(|(word, share)| sums[*word as usize] += share);
    let used = members.iter().filter(|rows| !rows.is_empty()).count().max(1) as f64;
    let best = |shares: &Vec<(u32, f64)>| {
        let value = |&(word, share): &(u32, f64)| share * (share * used / sums[word as usize]).ln();
        let mut all: Vec<(f64, u32, f64)> =
            shares.iter().map(|pair| (value(pair), pair.0, pair.1)).filter(|found| found.0 > 0.0).collect();
        all.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut chosen: Vec<ClusterWord> = Vec::new();
        for (_, word, share) in all {
            let name = &vocabulary.words()[word as usize];
            if chosen.len() == count {
                break;
            }
            if !chosen.iter().any(|other| name.starts_with(&other.word) || other.word.starts_with(&**name)) {
                let elsewhere = (sums[word as usize] - share) / (used - 1.0).max(1.0);
                chosen.push(ClusterWord { word: name.clone(), share, elsewhere });
            }
        }
        chosen
    };
    shares.iter().map(best).collect()
}

/// The share of some texts that have each word, without words that none has. One text more that has half of a word keeps the shares of few texts from being
/// taken too seriously.
fn shares<S: AsRef<str>>(
    vocabulary: &Vocabulary,
    text: &(impl Fn(usize) -> S + Sync),
    rows: &[usize],
) -> Vec<(u32, f64)> {
    let mut counts = vec![0u32; vocabulary.words().len()];
    for &row in rows {
        vocabulary.count(text(row).as_ref()).into_iter().for_each(|(word, _)| counts[word as usize] += 1);
    }
    let n = rows.len() as f64 + 1.0;
    let there = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
    there.map(|(word, count)| (word as u32, f64::from(count) / n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::report::Silent;

    #[test]
    fn words_of_one_cluster_stand_before_words_of_all() {
        let texts = [
            "the oil price",
            "the oil barrels rose",
            "the wheat crop",
            "the wheat harvest crop",
            "the sea price",
            "harvest rose barrels",
        ];
        let vocabulary = Vocabulary::of(6, |i| texts[i], &Silent).unwrap();
        let found = distinguishing(&vocabulary, |i| texts[i], &[0, 0, 1, 1, -1, 2], 4, 2);
        let names: Vec<Vec<&str>> =
            found.iter().map(|words| words.iter().map(|w| &*w.word).collect()).collect();
        assert_eq!(names[0], ["oil", "price"]);
        assert_eq!(names[1], ["crop", "wheat"]);
        assert!(names[3].is_empty());
        assert!(found[0][0].share > 0.6 && found[0][0].elsewhere == 0.0, "{found:?}");
    }
}
