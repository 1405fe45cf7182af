//! `partita fit --net` and `partita predict` on images.

mod options;
mod told;

use super::outputs;
use crate::args::{FitArgs, PredictArgs};
use crate::input::{labels_of, on_threads};
use crate::progress::Terminal;
use crate::summary;
use anyhow::{Result, bail};
use options::{params, refuse_idle_options, refuse_reading_options};
use partita::linear::Ailment;
use partita::metrics::{Scores, mean_entropy, scores};
use partita_deep::DeepError;
use partita_deep::device::Device;
use partita_deep::images::{Images, Pixels};
use partita_deep::nets::Net;
use partita_deep::train::{DeepFit, DeepModel, Epoch, Input, Params, Scan, checkpoints, fit, pretext, scan};
use partita_deep::weights::StateDict;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;
use told::{Metrics, Told};

/// What may bring dead clusters back: too fast a head sends all images to one cluster, where the loss is flat.
const ADVICE: &str = "give a smaller --head-rate or --learning-rate, or more --epochs";

/// What may help where the last stage of SCAN had nothing to learn from.
const UNSURE: &str = "the network was not sure of any image, so the last stage of SCAN taught it nothing; give its second stage more epochs";

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    n: usize,
    k: usize,
    cluster_sizes: &'a [usize],
    ailments: &'a [Ailment],
    advice: Option<&'a str>,
    decisiveness: f64,
    metrics: Option<Scores>,
    epochs: &'a [Epoch],
    seconds: f64,
    params: &'a Params,
}

pub fn run(args: &FitArgs, net: Net) -> Result<()> {
    refuse_idle_options(args)?;
    check_outputs(args)?;
    let terminal = Terminal::new(!args.json)?;
    let params = params(args, net)?;
    let device = args.deep.device.device()?;
    let start = args.deep.init_weights.as_deref().map(StateDict::open).transpose()?;
    let images = Images::open(&args.read.data)?;
    on_threads(args.read.threads, || {
        let started = Instant::now();
        let rows = usable(&images, args.deep.skip_bad)?;
        let pixels = Pixels::load(&images, &rows, args.deep.size)?;
        let truth = truth(args, &images, &rows)?;
        let known = known(args, &images, &rows)?;
        let input = Input {
            known: known.as_deref(),
            start: start.as_ref(),
            checkpoint: args.deep.checkpoint.as_deref(),
            resume: args.deep.resume,
            ..Input::new(&pixels)
        };
        let mut metrics = Metrics::new(&args.deep, truth.as_deref(), &pixels);
        let each = |epoch: &Epoch, model: &DeepModel| metrics.write(epoch, model);
        let found = trained(&input, args, &params, &device, &terminal, each)?;
        let proba = found.model.probabilities(&pixels, &terminal).inspect_err(|_| tell_kept(&found))?;
        terminal.finish();
        let told = Told::new(&proba, args.k);
        let metrics = truth.as_ref().map(|truth| scores(truth, &told.labels)).transpose()?;
        told.write(&names(&images, &rows), args.labels_out.as_deref(), args.proba_out.as_deref())?;
        if let Some(path) = &args.output {
            found.model.write(path)?;
        }
        if let Some(path) = &args.deep.backbone_out {
            found.model.write_backbone(path)?;
        }
        let ailments = told.dead(&params.prior());
        let surest = found.epochs.iter().filter_map(|epoch| epoch.sure).reduce(f64::max);
        let summary = Summary {
            n: rows.len(),
            k: args.k,
            cluster_sizes: &told.sizes,
            advice: if surest == Some(0.0) { Some(UNSURE) } else { (!ailments.is_empty()).then_some(ADVICE) },
            ailments: &ailments,
            decisiveness: mean_entropy(&proba, args.k),
            metrics,
            epochs: &found.epochs,
            seconds: started.elapsed().as_secs_f64(),
            params: &found.model.params,
        };
        if args.json { outputs::print_json(&summary) } else { outputs::print(&summary.text()) }
    })?
}

impl Summary<'_> {
    /// What is printed without `--json`.
    fn text(&self) -> String {
        let (n, k, net, epochs) = (self.n, self.k, self.params.net, self.epochs.len());
        let mut text =
            format!("{n} images in {k} clusters by {net}, {epochs} epochs, {:.0} s\n", self.seconds);
        let mut line = |name: &str, value: String| text += &format!("  {name:<13} {value}\n");
        line("sizes", summary::sizes(self.cluster_sizes));
        let doubt = format!("{:.4} nats of doubt an image (0: sure of every one)", self.decisiveness);
        line("decisiveness", doubt);
        if let Some(Epoch { loss, cluster, pairs, disturb, .. }) = self.epochs.last() {
            let parts = format!("(clustering {cluster:.4}, pairs {pairs:.4}, disturbed {disturb:.4})");
            line("loss", format!("{loss:.4} {parts}"));
        }
        if let Some(scores) = self.metrics {
            line("truth", summary::truth(scores));
        }
        for ailment in self.ailments {
            line("warning", summary::describe(*ailment));
        }
        if let Some(advice) = self.advice {
            line("advice", advice.to_owned());
        }
        text
    }
}

/// Refuse, before any work is done, outputs that could not be written, or that would take each other's place.
fn check_outputs(args: &FitArgs) -> Result<()> {
    let deep = &args.deep;
    let all = [
        &args.output,
        &args.labels_out,
        &args.proba_out,
        &deep.backbone_out,
        &deep.checkpoint,
        &deep.metrics,
    ];
    let mut inputs = args.inputs();
    inputs.extend(deep.init_weights.as_deref());
    let staged = deep.checkpoint.as_deref().filter(|_| deep.scan.is_some() || deep.pretext.is_some());
    let stages: Vec<PathBuf> = staged.map(checkpoints).into_iter().flatten().collect();
    let outputs = all.into_iter().filter_map(Option::as_deref).chain(stages.iter().map(|path| &**path));
    outputs::check_files(&outputs.collect::<Vec<&Path>>(), &inputs)?;
    for weights in [&deep.backbone_out, &deep.checkpoint].into_iter().flatten() {
        outputs::named(weights, &["safetensors"], "weights are written as .safetensors")?;
    }
    if let Some(lines) = &deep.metrics {
        outputs::named(lines, &["jsonl", "json"], "lines of JSON are written as .jsonl")?;
    }
    outputs::check_names(args.output.as_deref(), args.labels_out.as_deref(), args.proba_out.as_deref())
}

/// Train as was asked for, with a pretext first or in the stages of SCAN. An interrupted run ends here.
fn trained(
    input: &Input<'_>,
    args: &FitArgs,
    params: &Params,
    device: &Device,
    terminal: &Terminal,
    mut each: impl FnMut(&Epoch, &DeepModel) -> partita_deep::Result<()>,
) -> Result<DeepFit> {
    let begin = match args.deep.pretext {
        Some(epochs) => Some(not_interrupted(pretext(input, params, epochs, device, terminal, &mut each)?)?),
        None => None,
    };
    let input = Input { begin: begin.as_ref().map(|begin| &begin.model), ..*input };
    let found = match args.deep.scan.as_deref() {
        Some(&[a, b, c]) => scan(&input, params, &Scan::new([a, b, c]), device, terminal, each)?,
        Some(_) => bail!("--scan takes the epochs of its three stages, as in --scan 100,30,10"),
        None => fit(&input, params, device.clone(), terminal, each)?,
    };
    terminal.finish();
    let found = not_interrupted(found)?;
    let before = begin.map(|begin| begin.epochs).unwrap_or_default();
    Ok(DeepFit { epochs: [before, found.epochs].concat(), ..found })
}

/// A run that was not interrupted; otherwise say what is left of it.
fn not_interrupted(found: DeepFit) -> Result<DeepFit> {
    match found.stop.not_interrupted() {
        Ok(()) => Ok(found),
        Err(stopped) => {
            tell_kept(&found);
            Err(stopped.into())
        }
    }
}

fn tell_kept(found: &DeepFit) {
    if let (Some(path), Some(last)) = (&found.kept, found.epochs.last()) {
        eprintln!(
            "epoch {} of {} is kept in {}; go on with --resume",
            last.epoch,
            last.stage,
            path.display()
        );
    }
}

/// The numbers of the images to use: all, or with `skip` those that can be decoded.
pub fn usable(images: &Images, skip: bool) -> Result<Vec<usize>> {
    if !skip {
        return Ok((0..images.len()).collect());
    }
    let (good, bad) = images.survey();
    for problem in &bad {
        match problem {
            DeepError::Image { name, problem } => eprintln!("skipped: image {name}: {problem}"),
            other => eprintln!("skipped: {other}"),
        }
    }
    if good.is_empty() {
        bail!("none of the {} images can be used", images.len());
    }
    Ok(good)
}

/// The true labels that were given, or those that came with the images.
fn truth(args: &FitArgs, images: &Images, rows: &[usize]) -> Result<Option<Vec<i64>>> {
    let of_rows = |all: Vec<i64>| -> Vec<i64> { rows.iter().map(|&row| all[row]).collect() };
    let Some(path) = &args.truth else {
        // Labels that nothing can be compared with, such as STL-10's of unlabelled images, are none.
        return Ok(images.labels(args.k).map(of_rows).filter(|truth| scores(truth, truth).is_ok()));
    };
    let truth = of_rows(labels_of(path, images.len())?.values);
    // Whether anything can be compared with it is better known now than after hours of training.
    scores(&truth, &truth)?;
    Ok(Some(truth))
}

/// The labels that are known of the images in use.
fn known(args: &FitArgs, images: &Images, rows: &[usize]) -> Result<Option<Vec<i32>>> {
    let Some(path) = &args.known else { return Ok(None) };
    let known = super::fit::known_labels(path, images.len(), args.k)?;
    Ok(Some(rows.iter().map(|&row| known[row]).collect()))
}

fn names(images: &Images, rows: &[usize]) -> Vec<String> {
    rows.iter().map(|&row| images.name(row)).collect()
}

/// `partita predict` with the model of a network.
pub fn predict(args: &PredictArgs) -> Result<()> {
    let (labels, proba) =
        if args.proba { (None, args.output.as_deref()) } else { (args.output.as_deref(), None) };
    outputs::check(None, labels, proba, &args.read.inputs(&[Some(&args.model)]))?;
    if args.proba && args.output.is_none() {
        bail!("probabilities of images go to a file; give -o FILE.npy");
    }
    if args.sizes.any() {
        bail!("sizes cannot be guaranteed for images; leave --balance, --min-size and --max-size out");
    }
    refuse_reading_options(&args.read)?;
    let terminal = Terminal::new(true)?;
    let model = DeepModel::read(&args.model, partita_deep::device::Processor::Cpu.device()?)?;
    let images = Images::open(&args.read.data)?;
    on_threads(args.read.threads, || {
        let rows = usable(&images, args.skip_bad)?;
        let pixels = Pixels::load_for(model.shape, &images, &rows)?;
        let found = model.probabilities(&pixels, &terminal)?;
        terminal.finish();
        let told = Told::new(&found, model.params.k);
        let names = names(&images, &rows);
        match args.output {
            Some(_) => told.write(&names, labels, proba),
            None => outputs::print(&told.table(&names)),
        }
    })?
}
