//! Numbering clusters: after known labels, or after the clusters of another model.

use super::head::Head;
use super::score::census;
use super::source::RowBatch;
use crate::error::Result;
use crate::metrics::{Label, matching};

/// The restart with its clusters renumbered to fit the known labels of these rows as well as possible.
pub fn align(head: &Head, known: &RowBatch) -> Result<Head> {
    let k = head.bias.len();
    let (_, labels) = census(head, known);
    let number = numbers(known.marks().known.unwrap_or(&[]), &labels, k)?;
    Ok(Head { weight: renumbered(&head.weight, &number), bias: renumbered(&head.bias, &number) })
}

/// For each of `k` clusters the number under which most rows have the label given to them. Clusters that no row speaks for keep
/// their own number if it is free, so that nothing is renumbered without need, and take one that is left otherwise.
pub fn numbers<L: Label>(given: &[L], labels: &[u32], k: usize) -> Result<Vec<usize>> {
    let matching = matching(given, labels)?;
    let mut number: Vec<Option<usize>> =
        (0..k).map(|c| matching.class_of(c as u64).map(|l| l as usize).filter(|l| *l < k)).collect();
    let mut left: Vec<usize> = (0..k).filter(|l| !number.contains(&Some(*l))).rev().collect();
    for (c, number) in number.iter_mut().enumerate() {
        if number.is_none() && left.contains(&c) {
            *number = Some(c);
            left.retain(|l| *l != c);
        }
    }
    Ok(number.into_iter().map(|n| n.or_else(|| left.pop()).unwrap_or(0)).collect())
}

/// The parts of `values`, one for each cluster, in the order of their new numbers.
pub fn renumbered<T: Copy>(values: &[T], number: &[usize]) -> Vec<T> {
    let part = values.len() / number.len();
    let mut out = values.to_vec();
    for (from, to) in number.iter().enumerate() {
        out[to * part..(to + 1) * part].copy_from_slice(&values[from * part..(from + 1) * part]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_take_the_numbers_of_the_known_labels() {
        // Cluster c wins where feature c is largest; the known labels call the first two the other way round.
        let weight = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let head = Head { weight, bias: vec![0.1, 0.2, 0.3] };
        let x = vec![9.0, 0.0, 0.0, 0.0, 9.0, 0.0, 9.0, 0.0, 0.0];
        let known = RowBatch { x, rows: vec![0, 1, 2], known: vec![1, 0, 1], ..RowBatch::default() };
        let aligned = align(&head, &known).unwrap();
        assert_eq!(aligned.bias, [0.2, 0.1, 0.3]);
        assert_eq!(align(&aligned, &known).unwrap(), aligned);
    }
}
