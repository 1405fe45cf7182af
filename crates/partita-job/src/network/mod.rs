//! Networks on images: a specification to a record, and predictions.

mod epochs;
mod options;

use crate::block::Block;
use crate::dataset::Dataset;
use crate::dataset::Pictures;
use crate::error::{JobError, Kept, Result};
use crate::field::Field;
use crate::given::Given;
use crate::model::AnyModel;
use crate::record::{Details, HeldOut, NetworkDetails, Record};
use crate::resources::Resources;
use crate::sizes::SizeSpec;
use crate::spec::{FitSpec, NetworkSpec};
use epochs::EpochLines;
use partita::linear::{Ailment, DEAD};
use partita::metrics::{mean_entropy, scores};
use partita::report::Observer;
use partita::simplex::largest;
use partita_deep::device::{Device, Processor};
use partita_deep::train::{DeepFit, DeepModel, Epoch, Input, Params, Pretext, Scan, fit, pretext, scan};
use partita_embed::weights::StateDict;
use std::time::Instant;

/// What may bring dead clusters back: too fast a head sends all images to one cluster, where the loss is flat.
const ADVICE: &str = "give a smaller `head_rate` or `learning_rate`, or more `epochs`";

/// What may help where the last stage of SCAN had nothing to learn from.
const UNSURE: &str = "the network was not sure of any image, so the last stage of SCAN taught it nothing; give its second stage more epochs";

/// Train a network on the images of a data set.
pub(crate) fn run(
    spec: &FitSpec,
    network: &NetworkSpec,
    dataset: &Dataset<'_>,
    given: &Given<'_>,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Record> {
    let params = options::params(spec, network)?;
    let stages = options::stages(network)?;
    let pretext = network.pretext.map(|epochs| options::pretext(network, epochs)).transpose()?;
    let device = options::parsed::<Processor>(Field::Device, &resources.device)?.device()?;
    let start = network.init_weights.as_deref().map(StateDict::open).transpose()?;
    let pictures = pictures(dataset)?;
    check_beside(network, dataset)?;
    resources.on_threads(|| {
        let started = Instant::now();
        let pixels = pictures.pixels(network.size)?;
        let apart = dataset.pretext.as_ref().map(|apart| apart.pixels_for(pixels.shape())).transpose()?;
        let input = Input {
            known: given.known.as_deref(),
            start: start.as_ref(),
            pretext: apart.as_deref(),
            checkpoint: resources.checkpoint.as_deref(),
            resume: resources.resume,
            ..Input::new(&pixels)
        };
        let truth = given.truth.as_deref();
        let mut lines = EpochLines::new(resources, truth, &pixels);
        let each = |epoch: &Epoch, model: &DeepModel| lines.write(epoch, model);
        let training = Training { params: &params, stages, pretext, device };
        let found = training.run(&input, observer, each)?;
        let proba =
            found.model.probabilities(&pixels, observer).map_err(|error| kept(&found, error.into()))?;
        let holdout = dataset.holdout.as_ref();
        let holdout = holdout.map(|held| held_out(&found.model, held, observer)).transpose();
        let holdout = holdout.map_err(|error| kept(&found, error))?;
        let record = record(found, proba, holdout);
        let metrics = truth.map(|truth| scores(truth, &record.labels)).transpose()?;
        Ok(Record { metrics, seconds: started.elapsed().as_secs_f64(), ..record })
    })?
}

/// How a network is trained: as it is, with a pretext first, or in the stages of SCAN.
struct Training<'a> {
    params: &'a Params,
    stages: Option<Scan>,
    pretext: Option<Pretext>,
    device: Device,
}

impl Training<'_> {
    /// Train. An interrupted run ends here, and says what is left of it.
    fn run(
        &self,
        input: &Input<'_>,
        observer: &dyn Observer,
        mut each: impl FnMut(&Epoch, &DeepModel) -> partita_deep::Result<()>,
    ) -> Result<DeepFit> {
        let (params, device) = (self.params, &self.device);
        let begin = match self.pretext {
            Some(options) => {
                Some(not_interrupted(pretext(input, params, &options, device, observer, &mut each)?)?)
            }
            None => None,
        };
        let input = Input { begin: begin.as_ref().map(|begin| &begin.model), ..*input };
        let found = match self.stages {
            Some(stages) => scan(&input, params, &stages, device, observer, each)?,
            None => fit(&input, params, device.clone(), observer, each)?,
        };
        let found = not_interrupted(found)?;
        let before = begin.map(|begin| begin.epochs).unwrap_or_default();
        Ok(DeepFit { epochs: [before, found.epochs].concat(), ..found })
    }
}

fn not_interrupted(found: DeepFit) -> Result<DeepFit> {
    match found.stop.not_interrupted() {
        Ok(()) => Ok(found),
        Err(stopped) => Err(kept(&found, stopped.into())),
    }
}

/// An error with what is left of the run that it ended.
fn kept(found: &DeepFit, cause: JobError) -> JobError {
    match (&found.kept, found.epochs.last()) {
        (Some(path), Some(last)) => {
            let kept = Kept { last: format!("epoch {} of {}", last.epoch, last.stage), path: path.clone() };
            JobError::Kept { kept, cause: Box::new(cause) }
        }
        _ => cause,
    }
}

/// Refuse a run whose images beside the clustered ones were not opened.
fn check_beside(network: &NetworkSpec, dataset: &Dataset<'_>) -> Result<()> {
    let named = [
        (Field::PretextData, !network.pretext_data.is_empty(), dataset.pretext.is_some()),
        (Field::Holdout, !network.holdout.is_empty(), dataset.holdout.is_some()),
    ];
    match named.into_iter().find(|(_, named, there)| *named && !there) {
        Some((field, ..)) => Err(JobError::Missing { field }),
        None => Ok(()),
    }
}

/// What a network says of images that it was not trained on.
fn held_out(
    model: &DeepModel,
    (pictures, truth): &(Pictures, Vec<i64>),
    observer: &dyn Observer,
) -> Result<HeldOut> {
    let pixels = pictures.pixels_for(model.shape)?;
    let (labels, cluster_sizes) = decide(&model.probabilities(&pixels, observer)?, model.params.k);
    Ok(HeldOut { n: labels.len(), cluster_sizes, metrics: scores(truth, &labels)? })
}

/// What is known of a trained network from its probabilities of the images.
fn record(found: DeepFit, proba: Vec<f32>, holdout: Option<HeldOut>) -> Record {
    let params = found.model.params.clone();
    let k = params.k;
    let (labels, sizes) = decide(&proba, k);
    let ailments = dead(&sizes, labels.len(), &params.prior());
    let surest = found.epochs.iter().filter_map(|epoch| epoch.sure).reduce(f64::max);
    let advice = if surest == Some(0.0) { Some(UNSURE) } else { (!ailments.is_empty()).then_some(ADVICE) };
    Record {
        n: labels.len(),
        k,
        choice: None,
        columns: Vec::new(),
        plans: Vec::new(),
        missing: None,
        cluster_names: None,
        cluster_sizes: sizes,
        decisiveness: mean_entropy(&proba, k),
        ailments,
        advice: advice.map(str::to_owned),
        outliers: None,
        metrics: None,
        unscored: None,
        balance: None,
        portraits: None,
        seconds: 0.0,
        threads: rayon::current_num_threads(),
        details: Details::Network(Box::new(NetworkDetails { epochs: found.epochs, holdout, params })),
        labels,
        outlier_scores: None,
        proba: Some(proba),
        model: AnyModel::Network(Box::new(found.model)),
    }
}

/// The most probable cluster of each image, and how many images each cluster has.
fn decide(proba: &[f32], k: usize) -> (Vec<u32>, Vec<usize>) {
    let labels: Vec<u32> = proba.chunks_exact(k).map(|row| largest(row) as u32).collect();
    let mut sizes = vec![0; k];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    (labels, sizes)
}

/// Clusters that hardly any image goes to, by the measure of the linear engine.
fn dead(sizes: &[usize], n: usize, prior: &[f64]) -> Vec<Ailment> {
    let few = |c: &usize| (sizes[*c] as f64) < DEAD * prior[*c] * n as f64;
    (0..sizes.len()).filter(few).map(|cluster| Ailment::Dead { cluster }).collect()
}

/// What a network says of images, as one block.
pub(crate) fn predict(
    model: &DeepModel,
    dataset: &Dataset<'_>,
    sizes: &SizeSpec,
    observer: &dyn Observer,
    mut each: impl FnMut(Block<'_>) -> Result<()>,
) -> Result<()> {
    if sizes.any() {
        let problem = "sizes cannot be guaranteed for images; leave `balance`, `min_size` and `max_size` out";
        return Err(JobError::refused(Field::Balance, problem));
    }
    let pixels = pictures(dataset)?.pixels_for(model.shape)?;
    let proba = model.probabilities(&pixels, observer)?;
    let k = model.params.k;
    let (labels, _) = decide(&proba, k);
    each(Block { start: 0, k, labels: &labels, proba: &proba, outliers: None })
}

fn pictures<'a>(dataset: &'a Dataset<'_>) -> Result<&'a Pictures> {
    let none = || JobError::refused(Field::Data, "a network takes images, and the data has none");
    dataset.pictures.as_ref().ok_or_else(none)
}
