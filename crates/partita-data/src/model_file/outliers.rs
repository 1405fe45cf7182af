//! What a model knows about outliers, as tensors and a record of the rest.

use super::{Take, ViewRecord, centred, read_views, width};
use crate::error::Result;
use crate::versions::Origin;
use partita::outliers::Outliers;
use partita::prepare::{Landmarks, Preparation, Reduction};
use serde::{Deserialize, Serialize};

/// The parts that are not tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutlierRecord {
    landmarks: usize,
    threshold: f32,
    /// Dimensions that distances are measured in, if rows are reduced.
    dims: Option<usize>,
    views: Vec<ViewRecord>,
}

/// The tensors; returns the rest.
pub(super) fn write(outliers: &Outliers, tensor: &mut impl FnMut(&str, Vec<usize>, &[f32])) -> OutlierRecord {
    let Outliers { base, landmarks, typical, threshold } = outliers;
    tensor("outliers.mean", vec![base.m()], &base.mean);
    tensor("outliers.scale", vec![base.m()], &base.scale);
    for (i, view) in centred(&base.views) {
        tensor(&format!("outliers.centre.{i}"), vec![view.width], &view.centre);
    }
    if let Some(reduction) = &base.reduction {
        tensor("outliers.reduction", vec![reduction.d(), base.m()], reduction.matrix());
    }
    tensor("outliers.landmarks", vec![base.d(), landmarks.n()], landmarks.columns());
    tensor("outliers.typical", vec![typical.len()], typical);
    OutlierRecord {
        landmarks: landmarks.n(),
        threshold: *threshold,
        dims: base.reduction.as_ref().map(Reduction::d),
        views: base.views.iter().map(ViewRecord::of).collect(),
    }
}

/// The record from its text.
pub(super) fn record(text: &str, origin: &Origin<'_>) -> Result<OutlierRecord> {
    serde_json::from_str(text).map_err(|e| origin.unknown(format!("outliers with other parts ({e})")))
}

/// What tells the outliers of `k` clusters, from its record and its tensors. Whether the numbers go together is for the model to say.
pub(super) fn read(
    record: OutlierRecord,
    k: usize,
    take: &mut Take<'_>,
    origin: &Origin<'_>,
) -> Result<Outliers> {
    let m = width(&record.views);
    let (mean, scale) = (take("outliers.mean", &[m])?, take("outliers.scale", &[m])?);
    let reduction = match record.dims {
        Some(d) => {
            let found = Reduction::from_matrix(take("outliers.reduction", &[d, m])?, m);
            Some(found.map_err(|e| origin.corrupt(e.to_string()))?)
        }
        None => None,
    };
    let d = record.dims.unwrap_or(m);
    Ok(Outliers {
        landmarks: Landmarks::from_columns(take("outliers.landmarks", &[d, record.landmarks])?, d),
        typical: take("outliers.typical", &[k])?,
        base: Preparation {
            views: read_views(record.views, "outliers.centre.", take)?,
            mean,
            scale,
            reduction,
        },
        threshold: record.threshold,
    })
}
