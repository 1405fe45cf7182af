//! `partita fit --net` and `partita predict` on images.

use super::outputs;
use crate::args::{DeepArgs, FitArgs, PredictArgs};
use crate::input::{labels_of, on_threads};
use crate::progress::Terminal;
use crate::summary;
use anyhow::{Context, Result, bail};
use partita::linear::{Loss, Solver};
use partita::metrics::{Scores, mean_entropy, scores};
use partita_data::{write_labels_csv, write_npy_f32_2d, write_npy_i32};
use partita_deep::images::{Images, Pixels};
use partita_deep::nets::Net;
use partita_deep::optimise::Pace;
use partita_deep::train::{Aim, DeepModel, Epoch, Input, Params, fit};
use partita_deep::weights::StateDict;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    n: usize,
    k: usize,
    cluster_sizes: &'a [usize],
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
            pixels: &pixels,
            known: known.as_deref(),
            start: start.as_ref(),
            checkpoint: args.deep.checkpoint.as_deref(),
            resume: args.deep.resume,
        };
        let mut metrics = Metrics::new(&args.deep, truth.as_deref(), &pixels)?;
        let found = fit(&input, &params, device, &terminal, |epoch, model| {
            metrics.write(epoch, model).map_err(|e| partita_deep::DeepError::Option(e.to_string()))
        })?;
        terminal.finish();
        found.stop.not_interrupted()?;
        let proba = found.model.probabilities(&pixels, &terminal)?;
        terminal.finish();
        let told = Told::new(&proba, args.k);
        let names = names(&images, &rows);
        told.write(&names, args.labels_out.as_deref(), args.proba_out.as_deref())?;
        if let Some(path) = &args.output {
            found.model.write(path)?;
        }
        let metrics = truth.as_ref().map(|truth| scores(truth, &told.labels)).transpose()?;
        let seconds = started.elapsed().as_secs_f64();
        let decisiveness = mean_entropy(&proba, args.k);
        if args.json {
            let sizes = &told.sizes;
            return outputs::print_json(&Summary {
                n: rows.len(),
                k: args.k,
                cluster_sizes: sizes,
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
        outputs::print(&text)
    })?
}

/// Options of the linear engine that a network would silently ignore.
fn refuse_linear_options(args: &FitArgs) -> Result<()> {
    let given = [
        ("--weights", args.weights.is_some()),
        ("--like", args.like.is_some()),
        ("--balance", args.sizes.balance.is_some()),
        ("--min-size", args.sizes.min_size.is_some()),
        ("--max-size", args.sizes.max_size.is_some()),
        ("--polish", args.method.polish > 0),
        ("--gamma", args.method.gamma.is_some()),
        ("--prior auto", args.prior.as_deref() == Some("auto")),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => bail!("{name} has no meaning for a network; leave it out, or leave out --net"),
        None => Ok(()),
    }
}

fn params(args: &FitArgs, net: Net) -> Result<Params> {
    let (deep, method) = (&args.deep, &args.method);
    let defaults = Params::new(args.k, net);
    let rate = method.learning_rate.unwrap_or(defaults.backbone.rate);
    let aim = match deep.iic {
        Some(heads) => Aim::Iic { heads, over: deep.over.unwrap_or(5 * args.k) },
        None => Aim::Core {
            loss: method.loss,
            lambda: method.lambda.unwrap_or(match method.loss {
                Loss::Strong | Loss::Weak => 100.0,
                Loss::RenyiLabels(_) => 10.0,
                Loss::Sela => 20.0,
                _ => 1.0,
            }),
            solver: if method.exact_labels {
                Solver::Exact
            } else {
                Solver::Em { iterations: method.em_iterations }
            },
            refresh: method.refresh.into(),
        },
    };
    let views = !deep.augment.to_string().is_empty();
    Ok(Params {
        aim,
        prior: args.prior.as_deref().map(super::fit::shares).transpose()?,
        augment: deep.augment,
        pairs: deep.pairs.unwrap_or(if views && deep.iic.is_none() { 1.0 } else { 0.0 }),
        disturb: deep.vat.unwrap_or(if views || deep.iic.is_some() { 0.0 } else { defaults.disturb }),
        vat: partita_deep::losses::Vat { epsilon: deep.vat_length, ..defaults.vat },
        warm_up: deep.warm_up,
        epochs: method.epochs.unwrap_or(defaults.epochs),
        batch: method.batch.unwrap_or(defaults.batch),
        backbone: Pace { rate: if deep.freeze { 0.0 } else { rate }, decay: deep.weight_decay },
        heads: Pace { rate: deep.head_rate.unwrap_or(rate), decay: deep.weight_decay },
        seed: args.seed,
        ..defaults
    })
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

/// A line of JSON for every epoch.
struct Metrics<'a> {
    file: Option<File>,
    truth: Option<&'a [i64]>,
    pixels: &'a Pixels,
    started: Instant,
}

impl<'a> Metrics<'a> {
    fn new(args: &DeepArgs, truth: Option<&'a [i64]>, pixels: &'a Pixels) -> Result<Self> {
        let open = |path: &Path| {
            let file = File::options()
                .create(true)
                .append(args.resume)
                .write(true)
                .truncate(!args.resume)
                .open(path);
            file.with_context(|| format!("cannot write {}", path.display()))
        };
        Ok(Self {
            file: args.metrics.as_deref().map(open).transpose()?,
            truth,
            pixels,
            started: Instant::now(),
        })
    }

    fn write(&mut self, epoch: &Epoch, model: &DeepModel) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let proba = model.probabilities(self.pixels, &partita::report::Silent)?;
        let told = Told::new(&proba, model.params.k);
        let scores = self.truth.map(|truth| scores(truth, &told.labels)).transpose()?;
        let line = serde_json::json!({
            "epoch": epoch, "seconds": self.started.elapsed().as_secs_f64(),
            "decisiveness": mean_entropy(&proba, model.params.k), "cluster_sizes": told.sizes, "metrics": scores,
        });
        writeln!(file, "{line}").context("cannot write the metrics")
    }
}

/// Labels of images, from their probabilities.
struct Told<'a> {
    proba: &'a [f32],
    k: usize,
    labels: Vec<i32>,
    sizes: Vec<usize>,
}

impl<'a> Told<'a> {
    fn new(proba: &'a [f32], k: usize) -> Self {
        let best = |row: &[f32]| (1..k).fold(0, |best, c| if row[c] > row[best] { c } else { best });
        let labels: Vec<i32> = proba.chunks_exact(k).map(|row| best(row) as i32).collect();
        let mut sizes = vec![0; k];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        Self { proba, k, labels, sizes }
    }

    fn confidence(&self) -> Vec<f32> {
        self.proba.chunks_exact(self.k).zip(&self.labels).map(|(row, &label)| row[label as usize]).collect()
    }

    fn write(&self, names: &[String], labels: Option<&Path>, proba: Option<&Path>) -> Result<()> {
        if let Some(path) = labels {
            match path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
                true => write_npy_i32(path, &self.labels)?,
                false => write_labels_csv(path, Some(names), &self.labels, Some(&self.confidence()))?,
            }
        }
        if let Some(path) = proba {
            write_npy_f32_2d(path, self.proba, self.k)?;
        }
        Ok(())
    }

    fn table(&self, names: &[String]) -> String {
        let confidence = self.confidence();
        let lines = names.iter().zip(&self.labels).zip(confidence);
        let lines =
            lines.map(|((name, label), sure)| format!("{},{label},{sure}\n", partita_data::csv_cell(name)));
        std::iter::once("id,cluster,confidence\n".to_owned()).chain(lines).collect()
    }
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
