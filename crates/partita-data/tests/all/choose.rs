//! Choosing K on mixtures whose K is known.

use partita::choose::choose;
use partita::linear::{Input, Params};
use partita::report::Silent;
use partita_data::Features;
use partita_data::synth::gaussian_mixture;

#[test]
fn the_number_of_gaussians_is_found_in_nine_of_ten_mixtures() {
    let mut found = Vec::new();
    for (seed, truth) in (3..=12usize).enumerate() {
        let (values, _) = gaussian_mixture(&vec![50; truth], 4 + seed, 5.0, seed as u64);
        let rows = Features::from_vec(values, 4 + seed).expect("whole rows");
        let candidates: Vec<Params> = (2..=14).map(|k| Params { restarts: 2, ..Params::new(k) }).collect();
        let choice = choose(&Input::new(&rows), &candidates, 3, &Silent).expect("the rows are good");
        found.push((truth, choice.chosen().k, choice.support));
    }
    let right = found.iter().filter(|(truth, k, _)| truth == k).count();
    assert!(right >= 9, "{found:?}");
}
