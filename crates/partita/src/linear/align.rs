//! Numbering clusters after known labels: the one-to-one matching under which most known rows are right.

use super::score::census;
use super::source::Batch;
use super::train::Head;
use crate::error::Result;
use crate::metrics::matching;

/// The restart with its clusters renumbered to fit the known labels of these rows as well as possible. Clusters that no known
/// row speaks for take the numbers that are left.
pub fn align(head: &Head, known: &Batch) -> Result<Head> {
    let k = head.bias.len();
    let (_, labels) = census(head, known);
    let truth = known.marks().known.unwrap_or(&[]);
    let matching = matching(truth, &labels)?;
    let mut number: Vec<Option<usize>> =
        (0..k).map(|c| matching.class_of(c as u64).map(|l| l as usize)).collect();
    let mut left: Vec<usize> = (0..k).filter(|l| !number.contains(&Some(*l))).rev().collect();
    // A cluster keeps its own number if that is free, so that nothing is renumbered without need.
    for (c, number) in number.iter_mut().enumerate() {
        if number.is_none() && left.contains(&c) {
            *number = Some(c);
            left.retain(|l| *l != c);
        }
    }
    let number: Vec<usize> = number.into_iter().map(|n| n.or_else(|| left.pop()).unwrap_or(0)).collect();
    let m = head.weight.len() / k;
    let mut aligned = head.clone();
    for (from, to) in number.into_iter().enumerate() {
        aligned.weight[to * m..(to + 1) * m].copy_from_slice(&head.weight[from * m..(from + 1) * m]);
        aligned.bias[to] = head.bias[from];
    }
    Ok(aligned)
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
        let known = Batch { x, rows: vec![0, 1, 2], known: vec![1, 0, 1], ..Batch::default() };
        let aligned = align(&head, &known).unwrap();
        assert_eq!(aligned.bias, [0.2, 0.1, 0.3]);
        assert_eq!(align(&aligned, &known).unwrap(), aligned);
    }
}
