//! What clusters of raw items are like, a line for each.

use partita_job::items::{ItemPortraits, TextPortrait};
use partita_job::{Record, TablePortrait};

/// Clusters that are described; of more, the largest.
const DESCRIBED: usize = 30;
/// Words of a line.
const WORDS: usize = 6;
/// Differences of a line.
const DIFFERENCES: usize = 3;

/// A line for each cluster: what it is called, and what it holds.
pub fn lines(portraits: &ItemPortraits, record: &Record) -> Vec<(String, String)> {
    match portraits {
        ItemPortraits::Texts(all) => {
            let mut shown: Vec<&TextPortrait> = all.iter().filter(|portrait| portrait.size > 0).collect();
            let more = shown.len().saturating_sub(DESCRIBED);
            if more > 0 {
                shown.sort_by_key(|portrait| std::cmp::Reverse(portrait.size));
                shown.truncate(DESCRIBED);
                shown.sort_by_key(|portrait| portrait.cluster);
            }
            let mut lines: Vec<(String, String)> =
                shown.into_iter().map(|portrait| of_texts(portrait, record)).collect();
            lines.extend(
                (more > 0).then(|| ("…".to_owned(), format!("{more} smaller clusters; --json has them"))),
            );
            lines
        }
        ItemPortraits::Table(all) if all.len() <= DESCRIBED => all
            .iter()
            .map(|portrait| (format!("cluster {}", portrait.cluster), of_table(portrait, record)))
            .collect(),
        _ => Vec::new(),
    }
}

/// What sets a cluster apart from the other rows.
fn of_table(portrait: &TablePortrait, record: &Record) -> String {
    let said: Vec<&str> = portrait.differences.iter().take(DIFFERENCES).map(|found| &*found.said).collect();
    let said = if said.is_empty() { "much like the other rows".to_owned() } else { said.join("; ") };
    match record.cluster_names.is_some() {
        true => format!("{}: {said}", record.cluster(portrait.cluster)),
        false => said,
    }
}

fn of_texts(portrait: &TextPortrait, record: &Record) -> (String, String) {
    let words: Vec<&str> = portrait.words.iter().take(WORDS).map(|word| &*word.word).collect();
    let words = if words.is_empty() { "no words that tell it apart".to_owned() } else { words.join(", ") };
    let name = format!("cluster {}", portrait.cluster);
    let called = record.cluster(portrait.cluster);
    let named = called != portrait.cluster.to_string() && record.cluster_names.is_some();
    (
        name,
        if named {
            format!("{called} ({}): {words}", portrait.size)
        } else {
            format!("{words} ({})", portrait.size)
        },
    )
}
