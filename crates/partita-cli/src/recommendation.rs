//! How many clusters are recommended, in a sentence that says how sure it is.

use partita::choose::Verdict;

/// What a recommendation rests on.
pub struct Grounds<'a> {
    /// What is recommended.
    pub best: &'a str,
    /// How well its clusters are found again.
    pub stability: f64,
    /// Share of the splits in which nothing was more stable.
    pub support: f64,
    /// How sure it is.
    pub verdict: Verdict,
    /// What else is plausible.
    pub others: &'a [String],
}

impl Grounds<'_> {
    /// The sentence.
    pub fn sentence(&self) -> String {
        let Self { best, stability, others, .. } = self;
        let wins =
            format!("stability {stability:.2}, none better in {:.0} % of the splits", 100.0 * self.support);
        match self.verdict {
            Verdict::Clear => format!("K = {best}: {wins}; clearly so"),
            Verdict::Close => format!("K = {best}: {wins}; plausible too: {}", others.join(", ")),
            Verdict::Unstable => format!(
                "no number of clusters is found again by models of other rows, so the rows may have no clusters; \
                 K = {best} is used, the fewest of the most stable, with a stability of {stability:.2}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_says_how_sure_it_is() {
        let others = ["3".to_owned(), "5".to_owned()];
        let says = |verdict, words: &str| {
            let text =
                Grounds { best: "4", stability: 0.9, support: 0.8, verdict, others: &others }.sentence();
            assert!(text.contains(words), "{text}");
        };
        says(Verdict::Clear, "K = 4: stability 0.90, none better in 80 % of the splits; clearly");
        says(Verdict::Close, "plausible too: 3, 5");
        says(Verdict::Unstable, "no number of clusters is found again");
    }
}
