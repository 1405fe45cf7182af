//! Rows on a plane: the two directions in logit space along which the clusters lie furthest apart.
//!
//! This map shows a clustering as its model sees it, and serves every model that gives probabilities. It is not a
//! projection of the features: two rows with the same probabilities share a place, whatever their features are.

use partita::{Error, Result};

/// Probabilities below this count as this: beyond it a row is simply not in doubt.
const FAINT: f32 = 1e-12;
/// Power iterations; the picture is no better after more.
const ITERATIONS: usize = 500;

/// A place on the plane for every row of probabilities `[n, k]`.
///
/// Centred logits are the logarithms of the probabilities up to a constant for each row. The plane is that of the
/// two leading principal axes of the clusters' mean logits.
///
/// # Errors
/// If there is not one label below `k` and `k` probabilities for every row.
///
/// ```
/// let proba = [0.9, 0.05, 0.05, 0.1, 0.8, 0.1];
/// let places = partita_job::map::places(&proba, &[0, 1], 3)?;
/// assert_eq!(places.len(), 2);
/// # Ok::<(), partita::Error>(())
/// ```
pub fn places(proba: &[f32], labels: &[u32], k: usize) -> Result<Vec<[f64; 2]>> {
    check_rows(proba, labels, k)?;
    let means = cluster_means(proba, labels, k);
    let first = leading_axis(&means, k, None);
    let second = leading_axis(&means, k, Some(&first));
    let place = |p: &[f32]| {
        let z = centred_logits(p);
        [dot(&z, &first), dot(&z, &second)]
    };
    Ok(proba.chunks_exact(k).map(place).collect())
}

/// Refuse anything but `n` labels below `k`.
pub(crate) fn check_labels(labels: &[u32], n: usize, k: usize) -> Result<()> {
    if labels.len() != n {
        return Err(Error::Length { what: "the list of labels", found: labels.len(), expected: n });
    }
    match labels.iter().position(|&label| label as usize >= k) {
        Some(row) => Err(Error::LabelOutOfRange { row, label: i64::from(labels[row]), k }),
        None => Ok(()),
    }
}

/// Refuse probabilities that are not whole rows of `k`, and labels that do not belong to them.
pub(crate) fn check_rows(proba: &[f32], labels: &[u32], k: usize) -> Result<()> {
    let expected = labels.len() * k;
    if k == 0 || proba.len() != expected {
        return Err(Error::Length { what: "the list of probabilities", found: proba.len(), expected });
    }
    check_labels(labels, labels.len(), k)
}

fn centred_logits(p: &[f32]) -> Vec<f64> {
    let logs: Vec<f64> = p.iter().map(|&p| f64::from(p.max(FAINT)).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    logs.iter().map(|l| l - mean).collect()
}

/// The mean logits of each cluster `[k, k]`, minus the mean of those.
fn cluster_means(proba: &[f32], labels: &[u32], k: usize) -> Vec<f64> {
    let mut means = vec![0.0; k * k];
    let mut sizes = vec![0.0f64; k];
    for (p, &label) in proba.chunks_exact(k).zip(labels) {
        let at = label as usize;
        sizes[at] += 1.0;
        means[at * k..(at + 1) * k].iter_mut().zip(centred_logits(p)).for_each(|(m, z)| *m += z);
    }
    for (mean, size) in means.chunks_exact_mut(k).zip(&sizes) {
        mean.iter_mut().for_each(|m| *m /= size.max(1.0));
    }
    for c in 0..k {
        let middle = (0..k).map(|r| means[r * k + c]).sum::<f64>() / k as f64;
        (0..k).for_each(|r| means[r * k + c] -= middle);
    }
    means
}

/// The direction in which rows `[_, k]` vary most, at a right angle to another.
fn leading_axis(rows: &[f64], k: usize, other: Option<&[f64]>) -> Vec<f64> {
    // Any start that is not at a right angle to the answer will do; an irregular one is not.
    let mut axis: Vec<f64> = (0..k).map(|c| (1.0 + c as f64 * 2.3).sin()).collect();
    for _ in 0..ITERATIONS {
        let mut next = vec![0.0; k];
        for row in rows.chunks_exact(k) {
            let along = dot(row, &axis);
            next.iter_mut().zip(row).for_each(|(n, r)| *n += along * r);
        }
        if let Some(other) = other {
            let along = dot(&next, other);
            next.iter_mut().zip(other).for_each(|(n, o)| *n -= along * o);
        }
        let norm = dot(&next, &next).sqrt();
        if norm == 0.0 {
            break;
        }
        axis = next.iter().map(|v| v / norm).collect();
    }
    axis
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_those_of_largest_variance_and_at_a_right_angle() {
        let rows =
            [3.0, 0.0, 0.0, -3.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0];
        let first = leading_axis(&rows, 3, None);
        let second = leading_axis(&rows, 3, Some(&first));
        assert!((first[0].abs() - 1.0).abs() < 1e-9 && (second[1].abs() - 1.0).abs() < 1e-9);
        assert!(dot(&first, &second).abs() < 1e-9);
    }

    #[test]
    fn rows_of_different_clusters_lie_apart() {
        let proba = [0.98, 0.01, 0.01, 0.01, 0.98, 0.01, 0.01, 0.01, 0.98];
        let at = places(&proba, &[0, 1, 2], 3).unwrap();
        let apart = |i: usize, j: usize| (at[i][0] - at[j][0]).hypot(at[i][1] - at[j][1]);
        assert!(apart(0, 1) > 1.0 && apart(1, 2) > 1.0 && apart(0, 2) > 1.0, "{at:?}");
    }

    #[test]
    fn labels_that_do_not_belong_to_the_probabilities_are_refused() {
        let proba = [0.9, 0.1, 0.2, 0.8];
        for (labels, k, word) in
            [(&[0][..], 2, "4 entries where 2"), (&[0, 2][..], 2, "row 1 is 2"), (&[][..], 0, "0")]
        {
            let message = places(&proba, labels, k).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
