//! What sets the rows of a cluster apart, column by column: higher, lower, more often than elsewhere.

use super::date::shown;
use super::survey::sampled;
use super::text::{figures, percent};
use crate::error::Result;
use partita_data::{ColumnKind, Frame, FrameColumn};
use serde::Serialize;

/// Differences smaller than this are not mentioned: of the pairs of a row of the cluster and one of the others, 60 % are in one order, or a level
/// has a share that differs by 0.2.
const LEAST: f64 = 0.2;
/// Cells that are looked at.
const SAMPLE: usize = 1 << 21;
/// Differences of a cluster that are kept at most.
const KEPT: usize = 12;

/// A cluster in the language of its table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TablePortrait {
    /// Number of the cluster.
    pub cluster: usize,
    /// What sets it apart, the clearest first.
    pub differences: Vec<Difference>,
}

/// How the rows of a cluster differ from the others in a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The column.
    pub column: String,
    /// What differs.
    #[serde(flatten)]
    pub what: What,
    /// How much, from 0 to 1: for numbers and dates |2·P(inside above outside) − 1|, for levels the difference of the shares.
    pub strength: f64,
    /// In words.
    pub said: String,
}

/// What differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum What {
    /// The median of numbers, or of days since 1970.
    Median {
        /// In the cluster.
        inside: f64,
        /// Elsewhere.
        outside: f64,
    },
    /// The share of rows with a level.
    Share {
        /// The level; none for rows without a value.
        level: Option<String>,
        /// In the cluster.
        inside: f64,
        /// Elsewhere.
        outside: f64,
    },
}

/// Portraits of all clusters from the columns of a table that are `wanted` and the labels of its rows, below `k`; rows with other labels, such as
/// outliers, are elsewhere for all. Of many rows a sample is looked at.
///
/// # Errors
/// If the rows cannot be read.
pub fn portraits(
    frame: &Frame,
    wanted: &dyn Fn(&str) -> bool,
    labels: &[i32],
    k: usize,
) -> Result<Vec<TablePortrait>> {
    let width = frame.cells().m();
    let rows = sampled(frame.n().min(labels.len()), SAMPLE, width);
    let mut cells = vec![0.0; rows.len() * width];
    frame.cells().gather(&rows, &mut cells)?;
    frame.cells().release();
    let labels: Vec<i32> = rows.iter().map(|&row| labels[row]).collect();
    let mut all: Vec<TablePortrait> =
        (0..k).map(|cluster| TablePortrait { cluster, differences: Vec::new() }).collect();
    for column in frame.columns().iter().filter(|column| wanted(&column.name)) {
        let values: Vec<f32> = cells.iter().skip(column.at).step_by(width).copied().collect();
        let found = match column.kind {
            ColumnKind::Number | ColumnKind::Date => medians(column, &values, &labels, k),
            ColumnKind::Boolean | ColumnKind::Category => shares(column, &values, &labels, k),
        };
        for (cluster, differences) in found.into_iter().enumerate() {
            all[cluster].differences.extend(differences);
        }
        for (cluster, gap) in gaps(column, &values, &labels, k).into_iter().enumerate() {
            all[cluster].differences.extend(gap);
        }
    }
    for portrait in &mut all {
        portrait.differences.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        portrait.differences.truncate(KEPT);
    }
    Ok(all)
}

/// Whether a row is in a cluster.
fn is_in(label: i32, cluster: usize) -> bool {
    usize::try_from(label) == Ok(cluster)
}

/// Clusters whose values are mostly higher or lower than those of the other rows.
fn medians(column: &FrameColumn, values: &[f32], labels: &[i32], k: usize) -> Vec<Vec<Difference>> {
    let mut order: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_finite()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let ranks = ranks(&order, values);
    let middle = |wanted: &dyn Fn(i32) -> bool| {
        let of: Vec<f64> =
            order.iter().filter(|&&i| wanted(labels[i])).map(|&i| f64::from(values[i])).collect();
        let last = of.len().checked_sub(1)?;
        Some((of[last / 2] + of[last.div_ceil(2)]) / 2.0)
    };
    let difference = |cluster: usize| {
        let own = || order.iter().zip(&ranks).filter(|&(&i, _)| is_in(labels[i], cluster));
        let (inside, all) = (own().count() as f64, order.len() as f64);
        if inside == 0.0 || inside == all {
            return None;
        }
        // Mann and Whitney's count of pairs in order, as a share of all.
        let pairs = own().map(|(_, rank)| rank).sum::<f64>() - inside * (inside - 1.0) / 2.0;
        let above = pairs / (inside * (all - inside));
        let strength = (2.0 * above - 1.0).abs();
        let (inside, outside) =
            (middle(&|label| is_in(label, cluster))?, middle(&|label| !is_in(label, cluster))?);
        let date = column.kind == ColumnKind::Date;
        let word = match (above > 0.5, date) {
            (true, false) => "higher",
            (false, false) => "lower",
            (true, true) => "later",
            (false, true) => "earlier",
        };
        let value = |v: f64| if date { shown(v as f32) } else { figures(v) };
        let said = format!("{} {word} (median {}, elsewhere {})", column.name, value(inside), value(outside));
        let what = What::Median { inside, outside };
        (strength >= LEAST).then(|| Difference { column: column.name.clone(), what, strength, said })
    };
    (0..k).map(|cluster| difference(cluster).into_iter().collect()).collect()
}

/// The places of sorted values; equal ones share theirs.
fn ranks(order: &[usize], values: &[f32]) -> Vec<f64> {
    let mut ranks = vec![0.0; order.len()];
    let mut start = 0;
    while start < order.len() {
        let same = order[start..].iter().take_while(|&&i| values[i] == values[order[start]]).count();
        let middle = start as f64 + (same as f64 - 1.0) / 2.0;
        ranks[start..start + same].fill(middle);
        start += same;
    }
    ranks
}

/// Levels that a cluster has more often than other rows; the one that it lacks most, if none is more frequent.
fn shares(column: &FrameColumn, values: &[f32], labels: &[i32], k: usize) -> Vec<Vec<Difference>> {
    let words: Vec<String> = match &column.levels {
        Some(levels) => levels.words.iter().map(|word| word.to_string()).collect(),
        None => vec!["false".to_owned(), "true".to_owned()],
    };
    let count = |wanted: &dyn Fn(i32) -> bool| {
        let mut counts = vec![0usize; words.len()];
        let of = values.iter().zip(labels).filter(|(value, label)| value.is_finite() && wanted(**label));
        of.for_each(|(value, _)| {
            if let Some(count) = counts.get_mut(*value as usize) {
                *count += 1;
            }
        });
        counts
    };
    let of_cluster = |cluster: usize| {
        let (inside, outside) =
            (count(&|label| is_in(label, cluster)), count(&|label| !is_in(label, cluster)));
        let all = |counts: &[usize]| counts.iter().sum::<usize>().max(1) as f64;
        let (a, b) = (all(&inside), all(&outside));
        let shares = |level: usize| (inside[level] as f64 / a, outside[level] as f64 / b);
        let difference = |level: usize| {
            let (inside, outside) = shares(level);
            share(&column.name, Some(words[level].clone()), inside, outside)
        };
        let more = (0..words.len()).filter(|&level| shares(level).0 > shares(level).1);
        let mut found: Vec<Difference> = more.filter_map(difference).collect();
        if found.is_empty() {
            found = (0..words.len()).filter_map(difference).collect();
        }
        found.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        // Of two levels one says what the other does.
        found.truncate(if words.len() == 2 { 1 } else { 2 });
        found
    };
    (0..k).map(of_cluster).collect()
}

/// Clusters in which values are missing more or less often.
fn gaps(column: &FrameColumn, values: &[f32], labels: &[i32], k: usize) -> Vec<Option<Difference>> {
    let share_of = |wanted: &dyn Fn(i32) -> bool| {
        let of = || values.iter().zip(labels).filter(|(_, label)| wanted(**label));
        of().filter(|(value, _)| !value.is_finite()).count() as f64 / of().count().max(1) as f64
    };
    if values.iter().all(|value| value.is_finite()) {
        return vec![None; k];
    }
    let difference = |cluster: usize| {
        let (inside, outside) =
            (share_of(&|label| is_in(label, cluster)), share_of(&|label| !is_in(label, cluster)));
        share(&column.name, None, inside, outside)
    };
    (0..k).map(difference).collect()
}

fn share(column: &str, level: Option<String>, inside: f64, outside: f64) -> Option<Difference> {
    let strength = (inside - outside).abs();
    if strength < LEAST {
        return None;
    }
    let word = if inside > outside { "more often" } else { "less often" };
    let what =
        level.as_ref().map_or_else(|| format!("{column} missing"), |level| format!("{column} {level}"));
    let said = format!("{what} {word} ({}, elsewhere {})", percent(inside), percent(outside));
    Some(Difference {
        column: column.to_owned(),
        what: What::Share { level, inside, outside },
        strength,
        said,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_data::{Cells, OpenOptions};

    #[test]
    fn clusters_are_told_by_what_is_different_elsewhere() {
        let n = 60;
        let labels: Vec<i32> = (0..n).map(|i| i % 3).collect();
        let income =
            labels.iter().enumerate().map(|(i, &label)| (1000 * label) as f32 + i as f32 + 0.5).collect();
        let city = labels.iter().enumerate().map(|(i, &label)| {
            let bonn = (label == 1) == (i % 10 > 0);
            Some(if bonn { "Bonn" } else { "Kiel" }.to_owned())
        });
        let age = labels.iter().enumerate();
        let age = age
            .map(|(i, &label)| if label == 2 && i % 2 == 0 { f32::NAN } else { (i * 37 % 60) as f32 + 0.5 });
        let columns = vec![
            ("income".to_owned(), Cells::Numbers(income)),
            ("city".to_owned(), Cells::Words(city.collect())),
            ("age".to_owned(), Cells::Numbers(age.collect())),
        ];
        let roles = vec![("income".to_owned(), partita_data::Role::Number)];
        let frame = Frame::of_columns(columns, &OpenOptions { roles, ..OpenOptions::default() }).unwrap();
        let found = portraits(&frame, &|_| true, &labels, 3).unwrap();
        let said = |cluster: usize| -> Vec<&str> {
            found[cluster].differences.iter().map(|difference| &*difference.said).collect()
        };
        assert!(said(0)[0].starts_with("income lower (median 29, elsewhere 1,"), "{:?}", said(0));
        assert!(said(1).iter().any(|text| text.starts_with("city Bonn more often (90 %")), "{:?}", said(1));
        assert!(
            said(2).iter().any(|text| text.starts_with("age missing more often (50 %, elsewhere 0 %")),
            "{:?}",
            said(2)
        );
        assert_eq!(found[0].differences[0].strength, 1.0);
    }
}
