//! The cross-entropy of rows whose labels are known, as a term of its own: L + w · mean over these rows of −ln σ_label.
//!
//! Without it a known row counts as much as any other: its pseudo-label is known, and that is all. Where few rows are known, nearly
//! nothing pulls the clusters towards them. The paper adds the mean cross-entropy of the known rows to the loss of all rows.

use super::em::Marks;
use crate::simplex;

/// What a known row's cross-entropy is multiplied by in the mean over all rows, so that w times the mean over the known rows is added.
pub fn emphasis(weight: f64, known: Option<&[i32]>, weights: Option<&[f32]>) -> f32 {
    let Some(known) = known else { return 0.0 };
    let of = |i: usize| weights.map_or(1.0, |w| f64::from(w[i]));
    let all: f64 = (0..known.len()).map(of).sum();
    let some: f64 = (0..known.len()).filter(|&i| known[i] >= 0).map(of).sum();
    if some > 0.0 { (weight * all / some) as f32 } else { 0.0 }
}

/// The term of a batch with logits `z` `[n, stride]`, of which those of the restart begin at `first`. `add` gets the gradient of each
/// known row's logits: row, cluster, value.
pub fn term(
    z: &[f32],
    (stride, first, k): (usize, usize, usize),
    marks: Marks<'_>,
    mut add: impl FnMut(usize, usize, f64),
) -> f64 {
    let Some(known) = marks.known.filter(|_| marks.emphasis > 0.0) else { return 0.0 };
    let weight = |i: usize| marks.weights.map_or(1.0, |w| f64::from(w[i]));
    let total: f64 = (0..known.len()).map(weight).sum();
    let (mut loss, mut log_sigma) = (0.0, Vec::with_capacity(k));
    for (i, &label) in known.iter().enumerate().filter(|(_, label)| **label >= 0) {
        let share = f64::from(marks.emphasis) * weight(i) / total;
        log_sigma.clear();
        simplex::log_softmax_rows(z[i * stride + first..][..k].iter().copied(), k, &mut log_sigma);
        loss -= share * log_sigma[label as usize];
        for (c, l) in log_sigma.iter().enumerate() {
            add(i, c, share * (l.exp() - f64::from(u8::from(c == label as usize))));
        }
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;

    const Z: [f32; 9] = [0.3, -1.0, 0.2, 0.9, 0.1, -0.4, 0.0, 2.0, 1.0];

    fn value(z: &[f32], marks: Marks<'_>) -> f64 {
        term(z, (3, 1, 2), marks, |_, _, _| {})
    }

    #[test]
    fn it_is_the_weighted_mean_cross_entropy_of_the_known_rows() {
        let (known, weights) = ([1, -1, 0], [2.0, 5.0, 1.0]);
        let emphasis = emphasis(0.5, Some(&known), Some(&weights));
        let marks = Marks { weights: Some(&weights), known: Some(&known), emphasis };
        let cross = |a: f64, b: f64| (1.0 + (b - a).exp()).ln();
        let expected = 0.5 * (2.0 * cross(0.2, -1.0) + cross(2.0, 1.0)) / 3.0;
        assert!((value(&Z, marks) - expected).abs() < 1e-6);
        assert_eq!(value(&Z, Marks { emphasis: 0.0, ..marks }), 0.0);
        assert_eq!(super::emphasis(1.0, Some(&[-1, -1]), None), 0.0);
    }

    #[test]
    fn its_gradient_agrees_with_differences() {
        let marks = Marks { weights: None, known: Some(&[1, -1, 0]), emphasis: 1.5 };
        let mut gradient = [0.0; 9];
        term(&Z, (3, 1, 2), marks, |i, c, g| gradient[3 * i + 1 + c] += g);
        for at in 0..9 {
            let side = |step: f32| {
                let mut z = Z;
                z[at] += step;
                value(&z, marks)
            };
            let difference = (side(1e-2) - side(-1e-2)) / 2e-2;
            assert!((difference - gradient[at]).abs() < 1e-4, "{at}: {difference} {}", gradient[at]);
        }
    }
}
