//! `partita embed`.

use crate::args::EmbedArgs;
use crate::console;
use crate::interrupt;
use crate::outputs;
use crate::progress::Terminal;
use anyhow::{Result, bail};
use partita::report::{Flow, Observer, Progress, StopReason};
use partita_data::RowNames;
use partita_embed::images::Images;
use partita_embed::partial::PartialRows;
use partita_embed::photos::{Normalise, PhotoNet, fingerprint};
use partita_embed::weights::{Place, Places, StateDict, known};
use partita_job::export::check_files;
use partita_job::{FeatureFiles, Resources, usable_images};
use serde_json::json;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Images between two reports of progress.
const BATCH: usize = 32;

pub fn run(args: &EmbedArgs) -> Result<()> {
    let inputs: Vec<&Path> = args.images.iter().chain(&args.weights).map(PathBuf::as_path).collect();
    let files = FeatureFiles::new(&args.output)?;
    check_files(&files.paths(), &inputs)?;
    let terminal = Terminal::new(true)?;
    let (weights, place) = weights(args)?;
    let normalise = args.normalise.or(weights.normalise()).unwrap_or_else(|| Normalise::of(args.backbone));
    let encoder = PhotoNet::new(args.backbone, &weights, normalise, args.size)?;
    if let Some(doubt) = weights.doubt(args.backbone) {
        console::note(format!("note: {}: {doubt}", place));
    }
    console::note(format!("note: weights of {}: {place} (SHA-256 {})", args.backbone, weights.hash()));
    let resources = Resources { threads: args.threads, ..Resources::default() };
    resources.on_threads(|| {
        let (images, rows, notes) = usable_images(&args.images, args.skip_bad)?;
        notes.iter().for_each(console::note);
        // Rows that were kept before images could be normalised otherwise are gone on from.
        let usual = normalise == Normalise::of(args.backbone);
        let otherwise = if usual { String::new() } else { format!(" {normalise}") };
        let options = format!("{} {}{otherwise}", args.backbone, args.size);
        let print = fingerprint(&weights, &options);
        let identities: Vec<u64> = rows.iter().map(|&row| images.identity(row)).collect();
        let started = Instant::now();
        let mut kept = PartialRows::open(&args.output, print, encoder.features(), &identities)?;
        interrupt::keeps(kept.path(), "the command goes on from there");
        let first = kept.rows();
        if first > 0 {
            console::note(format!("{first} of {} rows were already there; continuing", rows.len()));
        }
        let stop = embedded(&encoder, &images, &rows, &terminal, &mut kept);
        terminal.finish();
        if let Err(stopped) = stop.and_then(|stop| Ok(stop.not_interrupted()?)) {
            let (done, path) = (kept.rows(), kept.path().display());
            if done == 0 {
                kept.remove();
            } else {
                eprintln!("{done} of {} rows are kept in {path}; the command goes on from there", rows.len());
            }
            return Err(stopped);
        }
        let named = Named::of(&images, &rows);
        files.write(named.names(), encoder.features(), |sink| kept.each(|row| sink(row)))?;
        kept.remove();
        let seconds = started.elapsed().as_secs_f64();
        if args.json {
            return outputs::print_json(&json!({
                "n": rows.len(), "m": encoder.features(), "skipped": images.len() - rows.len(),
                "resumed": first, "seconds": seconds, "output": files.features, "names": files.names,
            }));
        }
        let text = format!(
            "{} images to {} features in {seconds:.1} s ({:.0} images/s)\n",
            rows.len(),
            encoder.features(),
            (rows.len() - first) as f64 / seconds
        );
        let beside = files.names.map(|path| format!("  {:<13} {}\n", "names", path.display()));
        let features = format!("  {:<13} {}\n", "features", files.features.display());
        Ok(outputs::say(&[text, features, beside.unwrap_or_default()].concat())?)
    })?
}

/// The weights that were given, or those in the first place that has some.
fn weights(args: &EmbedArgs) -> Result<(StateDict, Place)> {
    let name = args.backbone.to_string();
    let place = match (&args.weights, known(&name)) {
        (Some(path), _) => Place::Given(path.clone()),
        (None, Some(known)) => Places::of_environment().first(known)?,
        (None, None) => bail!("--backbone {name}: no weights of it are known; give them with --weights"),
    };
    Ok((StateDict::at(&name, &place)?, place))
}

/// Make the rows that are not kept yet, and keep them.
fn embedded(
    encoder: &PhotoNet,
    images: &Images,
    rows: &[usize],
    terminal: &Terminal,
    kept: &mut PartialRows<'_>,
) -> Result<StopReason> {
    let mut out = vec![0.0; BATCH * encoder.features()];
    for batch in rows[kept.rows()..].chunks(BATCH) {
        let out = &mut out[..batch.len() * encoder.features()];
        encoder.encode(|i| images.get(batch[i]).map(Cow::Owned), |i| images.name(batch[i]), out)?;
        kept.push(out)?;
        let done = kept.rows() as f64 / rows.len() as f64;
        if terminal.progress(Progress { stage: "embedding", done, loss: None }) == Flow::Stop {
            return Ok(StopReason::Interrupted);
        }
    }
    Ok(StopReason::Finished)
}

/// The names of the images in use, and their classes.
struct Named {
    ids: Vec<String>,
    classes: Option<Vec<String>>,
}

impl Named {
    fn of(images: &Images, rows: &[usize]) -> Self {
        let ids = rows.iter().map(|&row| images.name(row)).collect();
        let of_used = |all: Vec<String>| rows.iter().map(|&row| all[row].clone()).collect();
        Self { ids, classes: images.class_names().map(of_used) }
    }

    fn names(&self) -> RowNames<'_> {
        RowNames { ids: &self.ids, classes: self.classes.as_deref() }
    }
}
