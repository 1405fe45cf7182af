//! `partita reproduce`.

use crate::args::ReproduceArgs;
use crate::failure::Missed;
use crate::outputs;
use crate::progress::Terminal;
use anyhow::{Context as _, Result, bail};
use partita_data::{DataError, appear_together, open_regular};
use partita_job::{Resources, export};
use partita_study::paper::{self, CATALOGUE, Context};
use partita_study::report;
use partita_study::spec::Spec;
use partita_study::standing::{Record, tally};
use partita_study::{Library, StudyError};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

pub fn run(args: &ReproduceArgs) -> Result<()> {
    let specs = specs(&args.names)?;
    fs::create_dir_all(&args.out).map_err(|source| DataError::Write { path: args.out.clone(), source })?;
    export::writable(&args.out.join("index.html"))?;
    let terminal = Terminal::new(true)?;
    let library = Library::new(args.data.clone());
    let resources = Resources { threads: args.threads, ..Resources::default() };
    let records = resources.on_threads(|| -> Result<Vec<Record>> {
        specs.into_iter().map(|(name, spec)| one(name, spec, &library, &terminal)).collect()
    })??;
    terminal.finish();
    write(&args.out, &records)
}

/// Descriptions by name, by file, or all that come with the project.
fn specs(names: &[String]) -> Result<Vec<(String, Spec)>> {
    let shipped = |(name, text): &(&str, &str)| Ok(((*name).to_owned(), Spec::parse(name, text)?));
    let mut found = Vec::new();
    for name in names {
        if name == "all" {
            found.extend(CATALOGUE.iter().map(shipped).collect::<Result<Vec<_>>>()?);
        } else if let Some(entry) = CATALOGUE.iter().find(|(known, _)| known == name) {
            found.push(shipped(entry)?);
        } else if name.ends_with(".toml") {
            let mut text = String::new();
            let cannot = || format!("cannot read {name}");
            let mut file = open_regular(Path::new(name)).with_context(cannot)?;
            file.read_to_string(&mut text).with_context(cannot)?;
            let stem = Path::new(name).file_stem().and_then(|s| s.to_str()).unwrap_or("study").to_owned();
            found.push((stem, Spec::parse(name, &text)?));
        } else {
            let known: Vec<&str> = CATALOGUE.iter().map(|(known, _)| *known).collect();
            bail!(
                "there is no figure or table {name}; give all, a .toml file, or one of {}",
                known.join(", ")
            );
        }
    }
    Ok(found)
}

/// Run one; missing data are mentioned in the report and stop nothing.
fn one(name: String, spec: Spec, library: &Library, terminal: &Terminal) -> Result<Record> {
    let begun = Instant::now();
    let outcome = match paper::run(&Context { spec: &spec, library, observer: terminal }) {
        Ok(outcome) => Ok(outcome),
        Err(missing @ (StudyError::Missing { .. } | StudyError::WithoutNetworks)) => Err(missing.to_string()),
        // Known by its own type, so that an interruption has its exit code.
        Err(StudyError::Core(error)) => return Err(error.into()),
        Err(error) => return Err(error.into()),
    };
    Ok(Record { name, spec, outcome, seconds: begun.elapsed().as_secs_f64() })
}

fn write(out: &Path, records: &[Record]) -> Result<()> {
    let mut files = Vec::new();
    for (file, picture) in records.iter().flat_map(Record::pictures) {
        files.push(export::complete(&out.join(file), picture.as_bytes())?);
    }
    let text = report::markdown(records);
    files.push(export::complete(&out.join("README.md"), text.as_bytes())?);
    files.push(export::complete(&out.join("index.html"), report::html(records).as_bytes())?);
    appear_together(files)?;
    outputs::say(&text)?;
    outputs::say(&format!("\nThe report is {}\n", out.join("index.html").display()))?;
    let missed = tally(records).missed;
    if missed > 0 {
        bail!(Missed(missed));
    }
    Ok(())
}
