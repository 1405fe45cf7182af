//! Which tensors of a file are those that a network needs: names may be another program's, with any prefix.

use super::StateDict;
use std::collections::{BTreeMap, BTreeSet};

/// A layout of parameter names: maps our name to the name in a file, if there is one.
pub type Layout = fn(&str) -> Option<String>;

/// How our names become those of a file.
#[derive(Debug, Clone)]
pub struct Match {
    layout: Layout,
    prefix: String,
}

impl Match {
    /// The names of a file that has all tensors of these shapes, under one of some layouts, with any prefix (`module.`, `backbone.`). The file may also
    /// hold layers after the features, and tensors without that prefix.
    ///
    /// # Errors
    /// Which tensors are missing, unexpected or of the wrong shape.
    pub fn of(
        needed: &BTreeMap<String, Vec<usize>>,
        layouts: &[Layout],
        file: &StateDict,
    ) -> Result<Self, String> {
        let (layout, prefix, report) = best_layout(layouts, needed, file)?;
        report.problem().map_or(Ok(Self { layout, prefix }), Err)
    }

    /// The name in the file.
    pub fn name(&self, ours: &str) -> Option<String> {
        Some(format!("{}{}", self.prefix, (self.layout)(ours)?))
    }

    /// What all names begin with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// How the tensors of a file match those of a network.
#[derive(Default)]
struct Report {
    /// Tensors that the network needs and the file does not have.
    missing: Vec<String>,
    /// Tensors that the file has and the network does not need.
    unexpected: Vec<String>,
    /// Tensors of the wrong shape: name, shape in the file, shape needed.
    misshapen: Vec<(String, Vec<usize>, Vec<usize>)>,
}

impl Report {
    fn problem(&self) -> Option<String> {
        let mut parts = Vec::new();
        let list = |names: &[String]| {
            let shown: Vec<&str> = names.iter().take(6).map(String::as_str).collect();
            let more = names.len().saturating_sub(shown.len());
            shown.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
        };
        if !self.missing.is_empty() {
            parts.push(format!("{} tensors are missing ({})", self.missing.len(), list(&self.missing)));
        }
        if !self.unexpected.is_empty() {
            parts.push(format!(
                "{} tensors are not expected ({})",
                self.unexpected.len(),
                list(&self.unexpected)
            ));
        }
        if let Some((name, found, needed)) = self.misshapen.first() {
            let count = self.misshapen.len();
            parts.push(format!("{count} tensors have another shape ({name} is {found:?}, not {needed:?})"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// The layout and prefix with which the fewest tensors are missing.
fn best_layout(
    layouts: &[Layout],
    needed: &BTreeMap<String, Vec<usize>>,
    file: &StateDict,
) -> Result<(Layout, String, Report), String> {
    let same: Layout = |name| Some(name.to_owned());
    let layouts = layouts.iter().copied().chain([same]);
    let judged = layouts.flat_map(|layout| {
        let judge = move |prefix: String| {
            let report = compare(needed, file.shapes(), layout, &prefix);
            (layout, prefix, report)
        };
        prefixes(needed, file.shapes(), layout).into_iter().map(judge)
    });
    let judged: Vec<(Layout, String, Report)> = judged.collect();
    let whole: BTreeSet<&str> =
        judged.iter().filter(|(_, _, report)| report.missing.is_empty()).map(|j| &*j.1).collect();
    if whole.len() > 1 {
        let places: Vec<String> = whole.iter().map(|prefix| format!("`{prefix}`")).collect();
        return Err(format!("it holds the network more than once, under {}; keep one", places.join(", ")));
    }
    let best = judged.into_iter().min_by_key(|(_, _, report)| report.missing.len());
    Ok(best.unwrap_or((same, String::new(), Report::default())))
}

/// Possible prefixes: none, and whatever precedes a needed name in the file.
fn prefixes(
    needed: &BTreeMap<String, Vec<usize>>,
    found: &BTreeMap<String, Vec<usize>>,
    layout: Layout,
) -> BTreeSet<String> {
    let ends: Vec<String> = needed.keys().filter_map(|name| Some(format!(".{}", layout(name)?))).collect();
    let before = |name: &String| -> Vec<String> {
        let fitting = ends.iter().filter(|end| name.ends_with(&***end));
        fitting.map(|end| name[..=name.len() - end.len()].to_owned()).collect()
    };
    found.keys().flat_map(before).chain([String::new()]).collect()
}

/// Layers after the features, as torchvision and EfficientNet-Lite0 name them.
const AFTER: [&str; 3] = ["fc.", "classifier.", "_fc."];

fn compare(
    needed: &BTreeMap<String, Vec<usize>>,
    found: &BTreeMap<String, Vec<usize>>,
    layout: Layout,
    prefix: &str,
) -> Report {
    let mut report = Report::default();
    let mut used = BTreeSet::new();
    for (name, shape) in needed {
        let key = format!("{prefix}{}", layout(name).unwrap_or_default());
        match found.get(&key) {
            None => report.missing.push(key),
            Some(other) => {
                if other != shape {
                    report.misshapen.push((key.clone(), other.clone(), shape.clone()));
                }
                used.insert(key);
            }
        }
    }
    let spare = |name: &str| match name.strip_prefix(prefix) {
        Some(rest) => {
            rest.ends_with("num_batches_tracked") || AFTER.iter().any(|after| rest.starts_with(after))
        }
        None => true,
    };
    report.unexpected = found.keys().filter(|name| !used.contains(*name) && !spare(name)).cloned().collect();
    report
}
