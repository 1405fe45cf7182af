//! The walls between modules: within a crate every module uses only modules below it, and there are no cycles.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the core from the bottom up: each may use the modules before it.
const CORE: [&str; 25] = [
    "error",
    "report",
    "rng",
    "simplex",
    "numeric",
    "rows",
    "metrics",
    "entropy",
    "batch",
    "balance",
    "centres",
    "neighbours",
    "mixture",
    "plain",
    "prepare",
    "outliers",
    "pseudo",
    "objective",
    "linear",
    "clustering",
    "margin",
    "rivals",
    "compare",
    "choose",
    "lib",
];

/// Which modules use which.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" && name != "testing.rs" {
            found.push(path);
        }
    }
}

/// The code of a file without its tests and comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..end]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |all, line| all + line + "\n")
}

/// The path of a file as the path of its module: `linear/fit.rs` is `linear::fit`, `linear/mod.rs` is `linear`.
fn module(source: &Path, root: &Path) -> Vec<String> {
    let relative = source.strip_prefix(root).unwrap().with_extension("");
    let mut parts: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// Every path that begins with `crate` or `super`, with groups split up: `crate::a::{b, c::d}` gives two.
fn paths(code: &str, here: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (word, base) in [("crate::", &[][..]), ("super::", &here[..here.len().saturating_sub(1)])] {
        for (at, _) in code.match_indices(word) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            expand(&code[at + word.len()..], base.to_vec(), &mut found);
        }
    }
    found
}

/// The paths that continue `base` in `text`; returns the length of the text they take up.
fn expand(text: &str, base: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    if !text.starts_with('{') {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let next = [base, vec![text[..end].to_owned()]].concat();
        if let Some(rest) = text[end..].strip_prefix("::") {
            return end + 2 + expand(rest, next, found);
        }
        found.push(next);
        return end;
    }
    let mut at = 1;
    while !text[at..].starts_with('}') {
        let blank = text[at..].find(|c: char| !c.is_whitespace() && c != ',').unwrap();
        at += blank;
        if !text[at..].starts_with('}') {
            at += expand(&text[at..], base.clone(), found);
        }
    }
    at + 1
}

/// Which modules of a crate use which, judging by their files.
fn graph(root: &Path) -> Graph {
    let mut files = Vec::new();
    sources(root, &mut files);
    let modules: BTreeSet<Vec<String>> = files.iter().map(|file| module(file, root)).collect();
    let mut graph = Graph::new();
    for file in &files {
        let here = module(file, root);
        let edges = graph.entry(here.join("::")).or_default();
        for path in paths(&code(file), &here) {
            // The deepest module that the path names; the rest is an item in it.
            let named =
                (1..=path.len()).rev().map(|n| path[..n].to_vec()).find(|part| modules.contains(part));
            edges.extend(named.filter(|named| *named != here).map(|named| named.join("::")));
        }
    }
    graph
}

/// The same for the modules directly inside one folder; a folder counts as one module.
fn inside(graph: &Graph, folder: &str) -> Graph {
    let child = |name: &str| -> Option<String> {
        let rest = if folder.is_empty() { name } else { name.strip_prefix(folder)?.strip_prefix("::")? };
        Some(rest.split("::").next()?.to_owned())
    };
    let mut inner = Graph::new();
    for (from, to) in graph {
        let Some(from) = child(from) else { continue };
        let edges = to.iter().filter_map(|to| child(to)).filter(|to| *to != from).collect::<Vec<_>>();
        inner.entry(from).or_default().extend(edges);
    }
    inner
}

/// A cycle, if there is one.
fn circle(graph: &Graph) -> Option<Vec<String>> {
    fn walk<'a>(
        graph: &'a Graph,
        at: &'a str,
        way: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<String>> {
        if let Some(first) = way.iter().position(|name| *name == at) {
            return Some(way[first..].iter().chain([&at]).map(|name| (*name).to_owned()).collect());
        }
        if !done.contains(at) {
            way.push(at);
            for next in graph.get(at).into_iter().flatten() {
                if let Some(found) = walk(graph, next, way, done) {
                    return Some(found);
                }
            }
            way.pop();
            done.insert(at);
        }
        None
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|start| walk(graph, start, &mut Vec::new(), &mut done))
}

#[test]
fn modules_of_the_core_stand_on_those_below_them() {
    let modules = inside(&graph(&crates().join("partita/src")), "");
    for (module, uses) in &modules {
        let floor = |name: &str| {
            CORE.iter().position(|m| *m == name).unwrap_or_else(|| panic!("{name} has no place in CORE"))
        };
        for used in uses {
            assert!(floor(used) < floor(module), "{module} uses {used}, which stands above it");
        }
    }
    assert!(modules.len() == CORE.len() && modules["linear"].contains("prepare"), "the files were not read");
}

#[test]
fn no_module_uses_itself_by_way_of_others() {
    let mut circles = Vec::new();
    for name in ["partita", "partita-data", "partita-job", "partita-study", "partita-cli"] {
        let graph = graph(&crates().join(name).join("src"));
        let folders: BTreeSet<String> = graph
            .keys()
            .flat_map(|m| m.match_indices("::").map(|(at, _)| m[..at].to_owned()).collect::<Vec<_>>())
            .collect();
        for folder in folders.iter().map(String::as_str).chain([""]) {
            if let Some(way) = circle(&inside(&graph, folder)) {
                circles.push(format!("{name}, in {folder:?}: {}", way.join(" uses ")));
            }
        }
    }
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn a_circle_is_found() {
    let uses = |pairs: &[(&str, &str)]| {
        let mut graph = Graph::new();
        pairs.iter().for_each(|(a, b)| _ = graph.entry((*a).to_owned()).or_default().insert((*b).to_owned()));
        graph
    };
    assert_eq!(circle(&uses(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    assert_eq!(circle(&uses(&[("a", "b"), ("b", "c"), ("c", "b")])).unwrap(), ["b", "c", "b"]);
    let here = ["linear".to_owned(), "fit".to_owned()];
    let found = paths("use crate::{error::{Error, Result}, rows};\nuse super::head::Head;", &here);
    assert_eq!(
        found.iter().map(|p| p.join("::")).collect::<Vec<_>>(),
        ["error::Error", "error::Result", "rows", "linear::head::Head"]
    );
}
