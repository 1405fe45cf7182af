//! The best biases of a direction.
//!
//! Let c_pk be the smallest lead (W_p − W_k)ᵀx of a row of cluster p over cluster k. The margin that biases can reach
//! is the largest t with c_pk + b_p − b_k ≥ t for all p ≠ k. Around a cycle of clusters the biases cancel, so t is at
//! most the mean of c along it. The cycle of smallest mean attains this bound; the biases are shortest distances
//! under c − t. The same cycle, with one row for each of its steps, is the direction in which the dual improves most.

/// The best biases, the margin they give, and the cycle of clusters that allows no larger margin.
pub(super) struct Best {
    pub biases: Vec<f64>,
    pub margin: f64,
    pub cycle: Vec<usize>,
}

/// `cost` is c, shape `[k, k]`; its diagonal is zero.
pub(super) fn best_biases(cost: &[f64], k: usize) -> Best {
    let mut cycle = shortest(cost, k);
    loop {
        let mean = mean(cost, k, &cycle);
        let (biases, found) = distances(cost, k, mean);
        match found {
            // Strictly smaller: so no cycle occurs twice, and the search ends.
            Some(next) if self::mean(cost, k, &next) < mean => cycle = next,
            _ => return Best { margin: margin(cost, k, &biases), biases, cycle },
        }
    }
}

/// The best cycle of two clusters.
fn shortest(cost: &[f64], k: usize) -> Vec<usize> {
    let pairs = (0..k).flat_map(|p| (0..p).map(move |q| (p, q)));
    let length = |&(p, q): &(usize, usize)| cost[p * k + q] + cost[q * k + p];
    let best = pairs.min_by(|a, b| length(a).total_cmp(&length(b)));
    best.map_or_else(Vec::new, |(p, q)| vec![p, q])
}

fn mean(cost: &[f64], k: usize, cycle: &[usize]) -> f64 {
    steps(cycle).map(|(p, q)| cost[p * k + q]).sum::<f64>() / cycle.len() as f64
}

/// The steps of a cycle; the last one leads back to its start.
pub(super) fn steps(cycle: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    cycle.iter().copied().zip(cycle.iter().copied().cycle().skip(1))
}

/// Shortest distances under cost − `mean` by Bellman and Ford, and a cycle of negative length if there is one.
fn distances(cost: &[f64], k: usize, mean: f64) -> (Vec<f64>, Option<Vec<usize>>) {
    let (mut distance, mut from) = (vec![0.0; k], vec![usize::MAX; k]);
    // Without slack, rounding could let a cycle of length zero, such as the best one, shorten distances for ever.
    let slack = 4.0 * f64::EPSILON * cost.iter().fold(mean.abs(), |most, c| c.abs().max(most));
    for _ in 0..k {
        let mut last = None;
        for p in 0..k {
            for q in (0..k).filter(|q| *q != p) {
                let through = distance[p] + (cost[p * k + q] - mean);
                if through < distance[q] - slack {
                    (distance[q], from[q], last) = (through, p, Some(q));
                }
            }
        }
        match last {
            None => return (distance, None),
            Some(at) => {
                if let Some(cycle) = cycle_behind(&from, at) {
                    return (distance, Some(cycle));
                }
            }
        }
    }
    (distance, None)
}

/// The cycle that is reached by following `from` backwards from `at`, in forward order.
fn cycle_behind(from: &[usize], mut at: usize) -> Option<Vec<usize>> {
    for _ in 0..from.len() {
        at = from[at];
        if at == usize::MAX {
            return None;
        }
    }
    let mut cycle = vec![at];
    let mut back = from[at];
    while back != at {
        cycle.push(back);
        back = from[back];
    }
    cycle.reverse();
    Some(cycle)
}

/// The margin that these biases really give.
fn margin(cost: &[f64], k: usize, biases: &[f64]) -> f64 {
    let pairs = (0..k).flat_map(|p| (0..k).map(move |q| (p, q))).filter(|(p, q)| p != q);
    pairs.map(|(p, q)| cost[p * k + q] + biases[p] - biases[q]).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Means of all cycles through distinct clusters that continue `path`.
    fn smallest_mean(cost: &[f64], k: usize, path: &mut Vec<usize>) -> f64 {
        let mut best = if path.len() > 1 { mean(cost, k, path) } else { f64::INFINITY };
        for next in 0..k {
            if !path.contains(&next) {
                path.push(next);
                best = best.min(smallest_mean(cost, k, path));
                path.pop();
            }
        }
        best
    }

    proptest! {
        #[test]
        fn biases_reach_the_smallest_mean_of_all_cycles(k in 2usize..6, c in prop::collection::vec(-1.0..1.0f64, 25)) {
            let mut cost = c[..k * k].to_vec();
            (0..k).for_each(|p| cost[p * (k + 1)] = 0.0);
            let cost = &cost[..];
            let best = best_biases(cost, k);
            let least = (0..k).map(|p| smallest_mean(cost, k, &mut vec![p])).fold(f64::INFINITY, f64::min);
            prop_assert!((best.margin - least).abs() < 1e-12, "{} {least}", best.margin);
            prop_assert!((mean(cost, k, &best.cycle) - least).abs() < 1e-12);
        }
    }
}
