//! `partita fit --net` and `partita predict` on images.

mod options;
mod told;

use super::outputs;
use crate::args::{FitArgs, PredictArgs};
use crate::input::{labels_of, on_threads};
use crate::progress::Terminal;
use crate::summary;
use anyhow::{Result, bail};
use options::{params, refuse_linear_options};
use partita::linear::score::Ailment;
use partita::metrics::{Scores, mean_entropy, scores};
use partita_deep::images::{Images, Pixels};
use partita_deep::nets::Net;
use partita_deep::train::{DeepFit, DeepModel, Epoch, Input, Params, Scan, fit, pretext, scan};
use partita_deep::weights::StateDict;
use serde::Serialize;
use std::time::Instant;
use told::{Metrics, Told};

/// What may bring dead clusters back: too fast a head sends all images to one cluster, where the loss is flat.
const ADVICE: &str = "give a smaller --head-rate or --learning-rate, or more --epochs";

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
    outputs::check(args.output.as_deref(), args.labels_out.as_deref(), args.proba_out.as_deref())?;
    refuse_linear_options(args)?;
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
        let known = args
            .known
            .as_deref()
            .map(|path| super::fit::known_labels(path, images.len(), args.k))
            .transpose()?;
        let known: Option<Vec<i32>> = known.map(|known| rows.iter().map(|&row| known[row]).collect());
        let input = Input {
            known: known.as_deref(),
            start: start.as_ref(),
            checkpoint: args.deep.checkpoint.as_deref(),
            resume: args.deep.resume,
            ..Input::new(&pixels)
        };
        let mut metrics = Metrics::new(&args.deep, truth.as_deref(), &pixels)?;
        let each = |epoch: &Epoch, model: &DeepModel| {
            metrics.write(epoch, model).map_err(|e| partita_deep::DeepError::Option(e.to_string()))
        };
        let begin = match args.deep.pretext {
            Some(epochs) => Some(pretext(&input, &params, epochs, &device, &terminal)?),
            None => None,
        };
        if let Some(begin) = &begin {
            not_interrupted(begin, args)?;
        }
        let input = Input { begin: begin.as_ref().map(|begin| &begin.model), ..input };
        let found = match args.deep.scan.as_deref() {
            Some(&[a, b, c]) => scan(&input, &params, &Scan::new([a, b, c]), &device, &terminal, each)?,
            Some(_) => bail!("--scan takes the epochs of its three stages, as in --scan 100,30,10"),
            None => fit(&input, &params, device, &terminal, each)?,
        };
        terminal.finish();
        not_interrupted(&found, args)?;
        let proba = found.model.probabilities(&pixels, &terminal)?;
        terminal.finish();
        let told = Told::new(&proba, args.k);
        let names = names(&images, &rows);
        told.write(&names, args.labels_out.as_deref(), args.proba_out.as_deref())?;
        if let Some(path) = &args.output {
            found.model.write(path)?;
        }
        if let Some(path) = &args.deep.backbone_out {
            found.model.write_backbone(path)?;
        }
        let metrics = truth.as_ref().map(|truth| scores(truth, &told.labels)).transpose()?;
        let seconds = started.elapsed().as_secs_f64();
        let decisiveness = mean_entropy(&proba, args.k);
        let ailments = told.dead(&params.prior());
        let advice = (!ailments.is_empty()).then_some(ADVICE);
        if args.json {
            return outputs::print_json(&Summary {
                n: rows.len(),
                k: args.k,
                cluster_sizes: &told.sizes,
                ailments: &ailments,
                advice,
                decisiveness,
                metrics,
                epochs: &found.epochs,
                seconds,
                params: &params,
            });
        }
        let mut text = format!(
            "{} images in {} clusters by {net}, {} epochs, {seconds:.0} s\n",
            rows.len(),
            args.k,
            found.epochs.len()
        );
        let mut line = |name: &str, value: String| text += &format!("  {name:<13} {value}\n");
        line("sizes", summary::sizes(&told.sizes));
        line("decisiveness", format!("{decisiveness:.4} nats of doubt an image (0: sure of every one)"));
        if let Some(last) = found.epochs.last() {
            line(
                "loss",
                format!(
                    "{:.4} (clustering {:.4}, pairs {:.4}, disturbed {:.4})",
                    last.loss, last.cluster, last.pairs, last.disturb
                ),
            );
        }
        if let Some(scores) = metrics {
            line("truth", summary::truth(scores));
        }
        for ailment in &ailments {
            line("warning", summary::describe(*ailment));
        }
        if let Some(advice) = advice {
            line("advice", advice.to_owned());
        }
        outputs::print(&text)
    })?
}

/// An interrupted run ends here, and says what is left of it.
fn not_interrupted(found: &DeepFit, args: &FitArgs) -> Result<()> {
    if let (Err(_), Some(path), Some(last)) =
        (found.stop.not_interrupted(), &args.deep.checkpoint, found.epochs.last())
    {
        eprintln!("epoch {} is kept in {}; go on with --resume", last.epoch, path.display());
    }
    Ok(found.stop.not_interrupted()?)
}

/// The numbers of the images to use: all, or with `skip` those that can be decoded.
pub fn usable(images: &Images, skip: bool) -> Result<Vec<usize>> {
    if !skip {
        return Ok((0..images.len()).collect());
    }
    let (good, bad) = images.survey();
    for problem in &bad {
        eprintln!("skipped: {problem}");
    }
    if good.is_empty() {
        bail!("none of the {} images can be used", images.len());
    }
    Ok(good)
}

/// The true labels that were given, or those that came with the images.
fn truth(args: &FitArgs, images: &Images, rows: &[usize]) -> Result<Option<Vec<i64>>> {
    let all = match &args.truth {
        Some(path) => Some(labels_of(path, images.len())?.values),
        None => images.labels(),
    };
    Ok(all.map(|all| rows.iter().map(|&row| all[row]).collect()))
}

fn names(images: &Images, rows: &[usize]) -> Vec<String> {
    rows.iter().map(|&row| images.name(row)).collect()
}

/// `partita predict` with the model of a network.
pub fn predict(args: &PredictArgs) -> Result<()> {
    let (labels, proba) =
        if args.proba { (None, args.output.as_deref()) } else { (args.output.as_deref(), None) };
    outputs::check(None, labels, proba)?;
    if args.proba && args.output.is_none() {
        bail!("probabilities of images go to a file; give -o FILE.npy");
    }
    if args.sizes.balance.is_some() || args.sizes.min_size.is_some() || args.sizes.max_size.is_some() {
        bail!("sizes cannot be guaranteed for images; leave --balance, --min-size and --max-size out");
    }
    let terminal = Terminal::new(true)?;
    let model = DeepModel::read(&args.model, partita_deep::device::Processor::Cpu.device()?)?;
    let images = Images::open(&args.read.data)?;
    on_threads(args.read.threads, || {
        let rows = usable(&images, false)?;
        let same = images.get(rows[0])?.shape() == model.shape;
        let pixels = Pixels::load(&images, &rows, (!same).then_some(model.shape[1]))?;
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
