//! Models of rows, and checkpoints of their fits.

use super::{file, folder};
use partita::linear::{LiftKind, PREPARING};
use partita::report::{Flow, Observer, Progress};
use partita_data::model_file::ModelFile;
use partita_data::{Features, synth::gaussian_mixture};
use partita_job::{DataPart, Dataset, FitSpec, Given, JobError, MethodSpec, PriorSpec, Resources, onnx, run};
use std::path::Path;
use std::sync::Arc;

/// A model: read, used for two rows, explained, exported, written and read again.
pub fn model(bytes: &[u8]) -> bool {
    let stored = file(".safetensors", bytes);
    let Ok(read) = ModelFile::read(stored.path()) else { return false };
    let (model, m) = (&read.model, read.model.m());
    let rows = Features::from_vec((0..2 * m).map(|i| (i % 7) as f32 - 3.0).collect(), m).expect("two rows");
    // Weights may be such that no number comes out; that is an error then.
    if let Ok(proba) = model.predict_proba(&rows) {
        assert!(proba.iter().all(|p| (0.0..=1.0).contains(p)), "{proba}");
    }
    let _ = (model.assign(&rows), model.outlier_scores(&rows), model.explain(&rows, 1));
    let _ = onnx::to_onnx(model);
    let again = file(".safetensors", b"");
    read.write(again.path()).expect("a model that was read");
    let again = ModelFile::read(again.path()).expect("a model that was just written");
    assert_eq!(again.params, read.params);
    true
}

/// The state of a fit: read, and one step further.
pub fn checkpoint(bytes: &[u8]) -> bool {
    let folder = folder();
    let path = folder.path().join("state.safetensors");
    std::fs::write(&path, bytes).expect("a checkpoint");
    matches!(fit_with_checkpoint(&path), Err(JobError::Kept { .. }) | Ok(()))
}

/// Stops as soon as training has begun.
struct Stop;

impl Observer for Stop {
    fn progress(&self, progress: Progress) -> Flow {
        if progress.done > PREPARING { Flow::Stop } else { Flow::Continue }
    }
}

/// Rows of two clusters and three features.
fn dataset() -> Dataset<'static> {
    let rows = Features::from_vec(gaussian_mixture(&[6, 6], 3, 8.0, 1).0, 3).expect("whole rows");
    Dataset::new(vec![DataPart::new(Arc::new(rows))]).expect("one part")
}

/// Go on from a checkpoint, if there is one, and stop after a step.
pub fn fit_with_checkpoint(path: &Path) -> Result<(), JobError> {
    let method = MethodSpec { lift: LiftKind::None, epochs: Some(2), ..MethodSpec::default() };
    let spec = FitSpec { restarts: 2, prior: PriorSpec::Equal, method, ..FitSpec::new(2) };
    let resources = Resources { checkpoint: Some(path.to_owned()), resume: true, ..Resources::default() };
    run(&spec, &dataset(), &Given::default(), &resources, &Stop).map(drop)
}

/// Small models of every kind, as seeds.
#[cfg(test)]
pub fn small_models() -> Vec<partita_job::AnyModel> {
    use partita::outliers::OutlierRule;
    let lifts = [LiftKind::None, LiftKind::Graph, LiftKind::Quadratic, LiftKind::Rbf];
    let fits = lifts.into_iter().flat_map(|lift| [(lift, None), (lift, Some(OutlierRule::Auto))]);
    let model = |(lift, outliers): (LiftKind, Option<OutlierRule>)| {
        let method = MethodSpec { lift, ..MethodSpec::default() };
        let spec = FitSpec { restarts: 1, outliers, method, ..FitSpec::new(2) };
        let silent = &partita::report::Silent;
        run(&spec, &dataset(), &Given::default(), &Resources::default(), silent).expect("a fit").model
    };
    fits.map(model).collect()
}
