//! `partita embed`.

use crate::args::EmbedArgs;
use crate::outputs;
use crate::progress::Terminal;
use anyhow::{Result, bail};
use partita_deep::DeepError;
use partita_deep::embed::Embedder;
use partita_deep::nets::Net;
use partita_deep::partial::PartialRows;
use partita_deep::weights::{StateDict, fingerprint, load};
use partita_job::export::{check_files, named};
use partita_job::{Resources, usable_images};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub fn run(args: &EmbedArgs) -> Result<()> {
    let inputs: Vec<&Path> = args.images.iter().chain([&args.weights]).map(PathBuf::as_path).collect();
    check_files(&[&args.output], &inputs)?;
    named(&args.output, &["npy"], "features are written as .npy")?;
    if matches!(args.backbone, Net::Linear | Net::Mlp | Net::Vgg4) {
        bail!(
            "--backbone {}: there are no known weights with which it gives good features; use mobilenetv2, efficientnet-lite0, resnet18 or resnet50",
            args.backbone
        );
    }
    let terminal = Terminal::new(true)?;
    let device = args.device.device()?;
    let shape = [3, args.size, args.size];
    let backbone =
        load(args.backbone.build(shape, &device)?, args.backbone, &StateDict::open(&args.weights)?)?;
    let embedder = Embedder::new(backbone, args.backbone, args.size, device);
    let resources = Resources { threads: args.threads, ..Resources::default() };
    resources.on_threads(|| {
        let (images, rows, notes) = usable_images(&args.images, args.skip_bad)?;
        notes.iter().for_each(|note| eprintln!("{note}"));
        let print = fingerprint(&args.weights, &format!("{} {}", args.backbone, args.size))?;
        let identities: Vec<u64> = rows.iter().map(|&row| images.identity(row)).collect();
        let started = Instant::now();
        let mut kept = PartialRows::open(&args.output, print, embedder.features(), &identities)?;
        let first = kept.rows();
        if first > 0 {
            eprintln!("{first} of {} rows were already there; continuing", rows.len());
        }
        let stop = embedder.run(&images, &rows, first..rows.len(), &terminal, |block| kept.push(block));
        terminal.finish();
        let stop = stop.map_err(DeepError::into).and_then(|stop| Ok(stop.not_interrupted()?));
        if let Err(stopped) = stop {
            let (done, path) = (kept.rows(), kept.path().display());
            if done == 0 {
                // What stopped the run is what matters.
                let _ = fs::remove_file(kept.path());
            } else {
                eprintln!("{done} of {} rows are kept in {path}; the command goes on from there", rows.len());
            }
            return Err(stopped);
        }
        kept.finish(&args.output)?;
        let (n, seconds) = (rows.len() - first, started.elapsed().as_secs_f64());
        let text = format!(
            "{} images to {} features in {seconds:.1} s ({:.0} images/s)\n",
            rows.len(),
            embedder.features(),
            n as f64 / seconds
        );
        Ok(outputs::print(&text)?)
    })?
}
