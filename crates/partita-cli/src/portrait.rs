//! What clusters of texts are like, a line for each.

use partita_job::{Record, TextPortrait};
use std::cmp::Reverse;

/// Clusters that are described; of more, the largest.
const DESCRIBED: usize = 30;
/// Words of a line.
const WORDS: usize = 6;

/// A line for each cluster of texts: what it is called, the words that tell it apart, and its size.
pub fn of_texts(record: &Record) -> Vec<(String, String)> {
    let mut shown: Vec<&TextPortrait> = record.text_portraits.iter().filter(|portrait| portrait.size > 0).collect();
    let more = shown.len().saturating_sub(DESCRIBED);
    if more > 0 {
        shown.sort_by_key(|portrait| Reverse(portrait.size));
        shown.truncate(DESCRIBED);
        shown.sort_by_key(|portrait| portrait.cluster);
    }
    let rest = (more > 0).then(|| ("…".to_owned(), format!("{more} smaller clusters; --json has them")));
    shown.into_iter().map(|portrait| line(portrait, record)).chain(rest).collect()
}

fn line(portrait: &TextPortrait, record: &Record) -> (String, String) {
    let words: Vec<&str> = portrait.words.iter().take(WORDS).map(|word| &*word.word).collect();
    let words = if words.is_empty() { "no words that tell it apart".to_owned() } else { words.join(", ") };
    let called = record.cluster(portrait.cluster);
    let named = called != portrait.cluster.to_string();
    let value = if named { format!("{called} ({}): {words}", portrait.size) } else { format!("{words} ({})", portrait.size) };
    (format!("cluster {}", portrait.cluster), value)
}
