//! A file, or a column of it, as it is typed: `FILE` or `FILE:COLUMN`.

use std::path::{Path, PathBuf};

/// A file and, if one is named, its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// The column, by name or by number from 1.
    pub column: Option<String>,
    /// Whether the first line of a text table names the columns; found from the content if it is not said.
    pub header: Option<bool>,
}

impl Source {
    /// What was typed. A file of the whole name wins, since names of files may have colons too; otherwise the column begins
    /// after the last colon before which there is a file.
    ///
    /// ```
    /// use partita_data::Source;
    /// let source = Source::parse("no-such-file.csv:species".as_ref());
    /// assert_eq!((source.path, source.column), ("no-such-file.csv".into(), Some("species".to_owned())));
    /// ```
    pub fn parse(typed: &Path) -> Self {
        let whole = Self { path: typed.to_owned(), column: None, header: None };
        let Some(text) = typed.to_str().filter(|_| !typed.exists()) else { return whole };
        let split = |at: usize| {
            let (path, column) = (text[..at].into(), Some(text[at + 1..].to_owned()));
            Self { path, column, header: None }
        };
        let colons: Vec<usize> = text.match_indices(':').map(|(at, _)| at).collect();
        let there = colons.iter().rev().map(|&at| split(at)).find(|found| found.path.is_file());
        // A path such as C:\data.csv has no column; of files that do not exist, the part before the colon is named in errors.
        let absent = || colons.last().filter(|&&at| at > 1 && at + 1 < text.len()).map(|&at| split(at));
        there.or_else(absent).unwrap_or(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_whole_name_wins_and_columns_may_have_colons() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["t.csv", "a:b.csv"] {
            std::fs::write(at(name), "x").unwrap();
        }
        let parsed = |name: &str| Source::parse(&at(name));
        let source = |name: &str, column: Option<&str>| {
            let column = column.map(str::to_owned);
            Source { path: at(name), column, header: None }
        };
        assert_eq!(parsed("t.csv"), source("t.csv", None));
        assert_eq!(parsed("a:b.csv"), source("a:b.csv", None));
        assert_eq!(parsed("a:b.csv:c"), source("a:b.csv", Some("c")));
        assert_eq!(parsed("t.csv:c:d"), source("t.csv", Some("c:d")));
        let drive = Source::parse(Path::new(r"C:\no\such.csv"));
        assert_eq!(drive.column, None);
    }
}
