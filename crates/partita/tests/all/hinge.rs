//! Max-margin clustering, compared with all fair splits.

use ndarray::Array2;
use partita::linear::{Dims, Fit, Input, Loss, Params, Prepare, fit};
use partita::report::Silent;
use partita::rng::{Stream, stream};
use rand::RngExt;

type Point = [f64; 2];

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// The vector from `p` to the nearest point of the segment `a b`.
fn to_segment(p: Point, a: Point, b: Point) -> Point {
    let (along, length) = (minus(b, a), dot(minus(b, a), minus(b, a)));
    let t = if length > 0.0 { (dot(minus(p, a), along) / length).clamp(0.0, 1.0) } else { 0.0 };
    minus([a[0] + t * along[0], a[1] + t * along[1]], p)
}

/// The distance between the convex hulls of two sets in the plane: if they do not meet, it is the distance from a
/// point of one to a segment of the other. `None` if they meet.
fn gap(a: &[Point], b: &[Point]) -> Option<f64> {
    let mut best: Option<Point> = None;
    for (from, to, sign) in [(a, b, 1.0), (b, a, -1.0)] {
        for &p in from {
            for (i, &q) in to.iter().enumerate() {
                for &r in &to[i..] {
                    let way = to_segment(p, q, r).map(|v| v * sign);
                    if best.is_none_or(|best| dot(way, way) < dot(best, best)) {
                        best = Some(way);
                    }
                }
            }
        }
    }
    let way = best?;
    let length = dot(way, way).sqrt();
    let most = a.iter().map(|p| dot(*p, way)).fold(f64::NEG_INFINITY, f64::max);
    let least = b.iter().map(|p| dot(*p, way)).fold(f64::INFINITY, f64::min);
    ((least - most) / length > 0.999 * length).then_some(length)
}

/// Labels of the split with the widest gap, among splits of sizes `n/2 ± 1`, and that gap over the second widest.
fn widest(points: &[Point]) -> (Vec<bool>, f64) {
    let n = points.len();
    let (mut best, mut second) = ((0u32, 0.0), 0.0);
    // The first point is always in the first set: the other splits only swap the names of the sets.
    for split in (0..1u32 << (n - 1)).map(|s| s << 1 | 1) {
        if (split.count_ones() as usize).abs_diff(n / 2) <= 1 {
            let part = |side: u32| -> Vec<Point> {
                (0..n).filter(|i| split >> i & 1 == side).map(|i| points[i]).collect()
            };
            if let Some(gap) = gap(&part(1), &part(0)) {
                if gap > best.1 {
                    second = best.1;
                    best = (split, gap);
                } else if gap > second {
                    second = gap;
                }
            }
        }
    }
    ((0..n).map(|i| best.0 >> i & 1 == 1).collect(), best.1 / second)
}

/// Two groups of six, separated along a random direction and longer across it, so that distance alone misleads.
fn two_groups(seed: u64) -> Vec<Point> {
    let mut rng = stream(seed, Stream::Synthetic, 7);
    let turn = rng.random::<f64>() * 3.0;
    (0..12)
        .map(|i| {
            let x = if i % 2 == 0 { 1.0 } else { -1.0 } + 0.8 * (rng.random::<f64>() - 0.5);
            let y = 6.0 * (rng.random::<f64>() - 0.5);
            [x * turn.cos() - y * turn.sin(), x * turn.sin() + y * turn.cos()]
        })
        .collect()
}

/// Max-margin clustering with many starts and steps.
fn max_margin(rows: &Array2<f32>, k: usize) -> Fit {
    let params = Params {
        loss: Loss::Hinge,
        gamma: Some(1e-3),
        prepare: Prepare::Centre,
        dims: Dims::Full,
        restarts: 16,
        // All rows are one batch: with a larger rate, steps of the hinge loss jump to and fro.
        learning_rate: Some(3.0),
        epochs: Some(3000),
        ..Params::new(k)
    };
    let view = rows.view();
    fit(&Input::new(&view), &params, &Silent).expect("the rows are good")
}

#[test]
fn two_clusters_are_the_fair_split_with_the_widest_margin() {
    let mut clear = 0;
    for seed in 0..12 {
        let points = two_groups(seed);
        let (truth, lead) = widest(&points);
        // If two splits are nearly equally wide, either is a valid answer.
        if lead < 1.1 {
            continue;
        }
        clear += 1;
        let rows = Array2::from_shape_fn((12, 2), |(i, j)| points[i][j] as f32);
        let found = max_margin(&rows, 2);
        let side: Vec<bool> = found.labels.iter().map(|l| *l == found.labels[0]).collect();
        let expected: Vec<bool> = truth.iter().map(|t| *t == truth[0]).collect();
        assert_eq!(side, expected, "seed {seed}, lead {lead}");
    }
    assert!(clear >= 6, "only {clear} sets have one widest split");
}

/// The minimum regularised hinge loss of given labels in three clusters, by shrinking subgradient steps.
fn supervised(points: &[Point], labels: &[usize], gamma: f64) -> f64 {
    let n = points.len() as f64;
    let (mut w, mut least) = ([[0.0; 3]; 3], f64::INFINITY);
    for step in 0..4000 {
        let mut g = w.map(|w| [2.0 * gamma * w[0], 2.0 * gamma * w[1], 0.0]);
        let mut loss = gamma * w.iter().map(|w| w[0] * w[0] + w[1] * w[1]).sum::<f64>();
        for (p, &y) in points.iter().zip(labels) {
            let z = w.map(|w| w[0] * p[0] + w[1] * p[1] + w[2]);
            let rival = (0..3).filter(|c| *c != y).max_by(|a, b| z[*a].total_cmp(&z[*b])).unwrap_or(0);
            let hinge = 1.0 + z[rival] - z[y];
            if hinge > 0.0 {
                loss += hinge / n;
                for (c, sign) in [(y, -1.0), (rival, 1.0)] {
                    for (g, x) in g[c].iter_mut().zip([p[0], p[1], 1.0]) {
                        *g += sign * x / n;
                    }
                }
            }
        }
        least = least.min(loss);
        let rate = 2.0 / (1.0 + 0.02 * step as f64);
        for (w, g) in w.iter_mut().zip(g) {
            w.iter_mut().zip(g).for_each(|(w, g)| *w -= rate * g);
        }
    }
    least
}

#[test]
fn three_clusters_are_the_fair_labels_with_the_least_loss() {
    let mut rng = stream(3, Stream::Synthetic, 8);
    let centres = [[0.0, 0.0], [2.2, 0.3], [0.9, 2.0]];
    let points: Vec<Point> = (0..9).map(|i| centres[i % 3].map(|c| c + rng.random::<f64>() - 0.5)).collect();
    // Centred and scaled to a mean square norm of 1, as the engine prepares rows.
    let mean = [0, 1].map(|j| points.iter().map(|p| p[j]).sum::<f64>() / 9.0);
    let centred: Vec<Point> = points.iter().map(|p| minus(*p, mean)).collect();
    let scale = (9.0 / centred.iter().map(|p| dot(*p, *p)).sum::<f64>()).sqrt();
    let prepared: Vec<Point> = centred.iter().map(|p| p.map(|v| v * scale)).collect();
    let mut best = (f64::INFINITY, Vec::new());
    for code in 0..3usize.pow(8) {
        let labels: Vec<usize> =
            (0..9).map(|i| if i == 0 { 0 } else { code / 3usize.pow(i - 1) % 3 }).collect();
        // Exactly equal sizes, and cluster 1 appears before cluster 2, so that each partition is tried once.
        let fair = (0..3).all(|c| labels.iter().filter(|l| **l == c).count() == 3);
        let named = labels.iter().position(|l| *l == 1) < labels.iter().position(|l| *l == 2);
        if fair && named {
            let loss = supervised(&prepared, &labels, 1e-3);
            if loss < best.0 {
                best = (loss, labels);
            }
        }
    }
    let rows = Array2::from_shape_fn((9, 2), |(i, j)| points[i][j] as f32);
    let found = max_margin(&rows, 3);
    let same = partita::metrics::accuracy(&best.1, &found.labels).expect("as many labels");
    assert_eq!(same, 1.0, "{:?} {:?}", best.1, found.labels);
}
