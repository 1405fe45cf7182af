use super::*;
use crate::metrics::matching;
use proptest::prelude::*;

fn sizes(labels: &[u32], k: usize) -> Vec<usize> {
    (0..k).map(|c| labels.iter().filter(|l| **l as usize == c).count()).collect()
}

fn within(labels: &[u32], bounds: &Bounds) -> bool {
    let sizes = sizes(labels, bounds.lower.len());
    sizes.iter().zip(bounds.lower.iter().zip(&bounds.upper)).all(|(s, (l, u))| l <= s && s <= u)
}

fn total(scores: &[f32], k: usize, labels: &[u32]) -> f64 {
    scores.chunks(k).zip(labels).map(|(row, l)| f64::from(row[*l as usize])).sum()
}

/// The best sum over all labellings within the bounds, by trying each of them.
fn brute_force(scores: &[f32], k: usize, bounds: &Bounds) -> f64 {
    let n = scores.len() / k;
    let labelling = |code: usize| (0..n).map(|i| (code / k.pow(i as u32) % k) as u32).collect::<Vec<_>>();
    let all = (0..k.pow(n as u32)).map(labelling).filter(|labels| within(labels, bounds));
    all.map(|labels| total(scores, k, &labels)).fold(f64::NEG_INFINITY, f64::max)
}

/// ln softmax of random logits with this standard deviation plus a bias for each cluster.
fn random_scores(n: usize, k: usize, deviation: f64, bias: f64, seed: u64) -> Vec<f32> {
    let mut rng = stream(seed, Stream::Synthetic, 0);
    let mut scores = Vec::with_capacity(n * k);
    for _ in 0..n {
        let normal = |_| 3f64.sqrt() * (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
        let logits: Vec<f64> =
            (0..k).map(normal).enumerate().map(|(c, z)| deviation * z - bias * c as f64 / k as f64).collect();
        let lse = crate::simplex::log_sum_exp(&logits);
        scores.extend(logits.iter().map(|z| (z - lse) as f32));
    }
    scores
}

/// Check everything that a result promises, and return the result.
fn solve(scores: &[f32], k: usize, bounds: &Bounds) -> Assignment {
    let found = assign(scores, k, bounds).unwrap();
    assert!(within(&found.labels, bounds), "{:?} {bounds:?}", sizes(&found.labels, k));
    let (score, scale) =
        (total(scores, k, &found.labels), 1.0 + scores.iter().fold(0.0, |m, s| s.abs().max(m)));
    let slack = 1e-9 * f64::from(scale) * (1 + found.labels.len()) as f64;
    assert!((found.balanced.score - score).abs() < slack, "{} {score}", found.balanced.score);
    let gap = found.balanced.gap;
    assert!((0.0..slack).contains(&gap), "gap {gap} at score {score}");
    found
}

/// Bounds around sizes that sum to `n`, so that they can be satisfied.
fn around(n: usize, k: usize, cuts: &[usize], below: &[usize], above: &[usize]) -> Bounds {
    let mut cuts: Vec<usize> = cuts[..k - 1].iter().map(|c| c % (n + 1)).chain([0, n]).collect();
    cuts.sort_unstable();
    let sizes: Vec<usize> = cuts.windows(2).map(|w| w[1] - w[0]).collect();
    let lower = sizes.iter().zip(below).map(|(s, b)| s.saturating_sub(*b)).collect();
    let upper = sizes.iter().zip(above).map(|(s, a)| s + a).collect();
    Bounds { lower, upper }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_labelling_of_few_rows_is_better(
        n in 0usize..=7,
        k in 1usize..=3,
        levels in 1u32..40,
        numbers in prop::collection::vec(0u32..1000, 21),
        cuts in prop::collection::vec(0usize..100, 2),
        below in prop::collection::vec(0usize..3, 3),
        above in prop::collection::vec(0usize..3, 3),
    ) {
        // Few levels make ties; a single one makes all scores equal. Thirds are not exact on the grid.
        let scores: Vec<f32> = numbers[..n * k].iter().map(|v| -((v % levels) as f32) / 3.0).collect();
        let bounds = around(n, k, &cuts, &below, &above);
        let found = solve(&scores, k, &bounds);
        let best = brute_force(&scores, k, &bounds);
        prop_assert!((total(&scores, k, &found.labels) - best).abs() < 1e-6);
        prop_assert!(found.balanced.score + found.balanced.gap >= best - 1e-9);
    }

    #[test]
    fn every_size_is_within_its_bounds(
        n in 1usize..200,
        k in 1usize..12,
        deviation in 0.0f64..30.0,
        bias in 0.0f64..30.0,
        seed in 0u64..1000,
        cuts in prop::collection::vec(0usize..1000, 11),
        below in prop::collection::vec(0usize..20, 12),
        above in prop::collection::vec(0usize..20, 12),
    ) {
        solve(&random_scores(n, k, deviation, bias, seed), k, &around(n, k, &cuts, &below, &above));
    }
}

/// The best sum when each cluster has this many seats, by matching rows to seats. The matching counts shared labels,
/// so the scores must be whole numbers from 1; a score of s becomes s labels.
fn by_matching(scores: &[f32], k: usize, seats: &[usize]) -> f64 {
    let seat_cluster: Vec<usize> = (0..k).flat_map(|c| std::iter::repeat_n(c, seats[c])).collect();
    let (mut rows, mut taken) = (Vec::new(), Vec::new());
    for (i, row) in scores.chunks(k).enumerate() {
        for (seat, &c) in seat_cluster.iter().enumerate() {
            let count = row[c] as usize;
            rows.extend(std::iter::repeat_n(i, count));
            taken.extend(std::iter::repeat_n(seat, count));
        }
    }
    matching(&taken, &rows).unwrap().accuracy() * rows.len() as f64
}

#[test]
fn the_sum_is_that_of_the_hungarian_method() {
    for (seed, (n, k, levels)) in
        [(20, 3, 5), (40, 6, 60), (60, 4, 200), (60, 20, 100)].into_iter().enumerate()
    {
        let mut rng = stream(seed as u64, Stream::Synthetic, 1);
        let scores: Vec<f32> =
            (0..n * k).map(|i| (1 + rng.random_range(0..levels) / (1 + i % k)) as f32).collect();
        let exact = Bounds::exact(&crate::simplex::uniform(k), n).unwrap();
        let loose = Bounds { lower: vec![0; k], upper: exact.upper.iter().map(|u| u + 2).collect() };
        for bounds in [exact, loose] {
            let found = solve(&scores, k, &bounds);
            let best = by_matching(&scores, k, &bounds.upper);
            assert!((found.balanced.score - best).abs() < 1e-6, "{} {best}", found.balanced.score);
        }
    }
}

#[test]
fn samples_change_the_way_but_not_the_sum() {
    let (n, k) = (60_000, 5);
    assert!(sample_sizes(n, k).len() >= 2);
    for (deviation, bias) in [(1.0, 3.0), (40.0, 200.0)] {
        let scores = random_scores(n, k, deviation, bias, 3);
        for bounds in [
            Bounds::exact(&[0.2; 5], n).unwrap(),
            Bounds::exact(&[0.9, 0.05, 0.03, 0.0199, 0.0001], n).unwrap(),
            Bounds::between(10, n / 2, k).unwrap(),
        ] {
            solve(&scores, k, &bounds);
        }
    }
}

#[test]
fn sorted_rows_and_equal_rows_are_no_trap() {
    let (n, k) = (100_000, 4);
    let mut sorted = random_scores(n, k, 2.0, 4.0, 1);
    let mut rows: Vec<&[f32]> = sorted.chunks(k).collect();
    rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
    sorted = rows.concat();
    // Only three kinds of rows, so that nearly every row has ties at the right prices.
    let kinds = [[0.0, -1.0, -2.0, -9.0], [0.0, -3.0, -2.0, -1.0], [-1.0, -1.0, 0.0, -5.0]];
    let alike: Vec<f32> = (0..n).flat_map(|i| kinds[i * i % 7 % 3]).collect();
    for scores in [&sorted, &alike] {
        for bounds in
            [Bounds::exact(&[0.1, 0.2, 0.3, 0.4], n).unwrap(), Bounds::between(5, 30_000, k).unwrap()]
        {
            solve(scores, k, &bounds);
        }
    }
}

#[test]
fn equal_scores_fill_every_bound() {
    let (n, k) = (300_000, 10);
    for value in [0.0, -2.5, -1e4] {
        let scores = vec![value; n * k];
        solve(&scores, k, &Bounds::exact(&crate::simplex::uniform(k), n).unwrap());
        solve(&scores, k, &Bounds::between(7, n - 100, k).unwrap());
    }
}

#[test]
fn decided_predictions_are_moved_where_bounds_ask_for_it() {
    let (n, k) = (900, 3);
    for low in [-1e4, -69.0, f32::NEG_INFINITY] {
        // All rows are sure of cluster 0.
        let scores: Vec<f32> = (0..n * k).map(|i| if i % k == 0 { 0.0 } else { low }).collect();
        let bounds = Bounds::exact(&[1.0 / 3.0; 3], n).unwrap();
        let found = assign(&scores, k, &bounds).unwrap();
        assert!(within(&found.labels, &bounds) && found.balanced.gap == 0.0);
        let expected = 600.0 * f64::from(low).max(-690.775_527_898_213_7);
        let expected = if low == -1e4 { -6e6 } else { expected };
        assert!((found.balanced.score / expected - 1.0).abs() < 1e-6, "{}", found.balanced.score);
    }
}

#[test]
fn bounds_that_do_not_bind_leave_the_largest_score() {
    let scores = random_scores(500, 7, 3.0, 5.0, 9);
    let found = solve(&scores, 7, &Bounds::between(0, usize::MAX, 7).unwrap());
    for (row, label) in scores.chunks(7).zip(&found.labels) {
        assert!(row.iter().all(|s| *s <= row[*label as usize]));
    }
    assert!(found.balanced.gap == 0.0 && found.balanced.prices.iter().all(|p| *p == 0.0));
}

#[test]
fn prices_repeat_the_labels() {
    let (n, k) = (5000, 8);
    let scores = random_scores(n, k, 1.0, 6.0, 4);
    let found = solve(&scores, k, &Bounds::between(500, 700, k).unwrap());
    for (row, label) in scores.chunks(k).zip(&found.labels) {
        let net: Vec<f64> = row.iter().zip(&found.balanced.prices).map(|(s, p)| f64::from(*s) - p).collect();
        assert!(net.iter().all(|v| *v <= net[*label as usize] + 1e-9));
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let (n, k) = (40_000, 10);
    let scores = random_scores(n, k, 2.0, 8.0, 5);
    let bounds = Bounds::exact(&crate::simplex::uniform(k), n).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| assign(&scores, k, &bounds).unwrap())
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn a_used_workspace_changes_nothing() {
    let mut space = Workspace::default();
    for (n, k) in [(500, 10), (300, 3), (20_000, 7), (0, 4), (64, 12), (500, 10)] {
        let scores = random_scores(n, k, 2.0, 8.0, n as u64);
        let bounds = Bounds::exact(&crate::simplex::uniform(k), n).unwrap();
        let mut labels = vec![0; n];
        let balanced = assign_into(&scores, k, &bounds, &mut labels, &mut space).unwrap();
        assert_eq!(Assignment { labels, balanced }, assign(&scores, k, &bounds).unwrap());
    }
}

#[test]
fn no_rows_and_one_cluster_are_problems_too() {
    let none = solve(&[], 3, &Bounds::between(0, 5, 3).unwrap());
    assert!(none.labels.is_empty() && none.balanced.score == 0.0);
    let one = solve(&[-1.0, -2.0], 1, &Bounds::exact(&[1.0], 2).unwrap());
    assert_eq!((one.labels, one.balanced.score), (vec![0, 0], -3.0));
}

#[test]
fn what_cannot_be_solved_is_refused_with_the_reason() {
    let scores = [0.0; 12];
    let between = |min, max| Bounds::between(min, max, 3).unwrap();
    let refused = |scores: &[f32], k, bounds: &Bounds| assign(scores, k, bounds).unwrap_err().to_string();
    assert!(refused(&scores, 3, &between(2, 4)).contains("sum of the lower bounds = 6 for 4 rows"));
    assert!(refused(&scores, 3, &between(0, 1)).contains("sum of the upper bounds = 3 for 4 rows"));
    assert!(refused(&scores[1..], 3, &between(0, 4)).contains("the last row of scores has 2 entries"));
    assert!(refused(&scores, 4, &between(0, 4)).contains("the lower bounds has 3 entries"));
    assert!(refused(&scores, 0, &between(0, 4)).contains("k = 0"));
    assert!(refused(&[0.0, f32::NAN, 0.0], 3, &between(0, 4)).contains("row 0, column 1 is NaN"));
    let infinite = [f32::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0, f32::INFINITY];
    assert!(refused(&infinite, 3, &between(0, 4)).contains("row 1, column 2 is inf"));
    let crossed = Bounds { lower: vec![0, 3, 0], upper: vec![4, 2, 4] };
    assert!(refused(&scores, 3, &crossed).contains("3 of cluster 1"));
    assert!(Bounds::between(3, 2, 3).is_err() && Bounds::between(0, 2, 0).is_err());
    assert!(Bounds::exact(&[0.5, 0.6], 3).is_err());
    let mut short = [0; 3];
    assert!(assign_into(&scores, 3, &between(0, 4), &mut short, &mut Workspace::default()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exact_sizes_are_near_the_prior_and_sum_to_the_rows(
        weights in prop::collection::vec(0.001f64..1.0, 1..40),
        n in 0usize..100_000,
    ) {
        let sum: f64 = weights.iter().sum();
        let prior: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        let bounds = Bounds::exact(&prior, n).unwrap();
        prop_assert_eq!(bounds.lower.iter().sum::<usize>(), n);
        for (size, share) in bounds.lower.iter().zip(&prior) {
            prop_assert!((*size as f64 - share * n as f64).abs() < 1.0 + 1e-6);
        }
    }
}
