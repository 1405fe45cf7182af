//! Which form of ResNet-50 a file is for. Both forms have the same names and shapes of tensors, and the wrong one gives
//! features that look plausible.

use super::net::Net;
use crate::error::Result;
use crate::weights::StateDict;

/// Forms of one network and the pixels that each was trained with.
const FORMS: [(Net, &str); 2] =
    [(Net::Resnet50, "scaled to about 1"), (Net::Resnet50Keras, "from 0 to 255, less their means")];

/// Variance of pixels between those of the two forms. Neighbouring pixels are alike, which makes what a convolution sees
/// some ten times larger than one pixel's variance: 14 was found for the one form and 4,900 for the other.
const BETWEEN: f32 = 250.0;

/// What is wrong if the file holds the other form of this network; the tensors' names begin with `prefix`.
pub(super) fn mismatch(net: Net, file: &StateDict, prefix: &str) -> Result<Option<String>> {
    let Some(&(_, expected)) = FORMS.iter().find(|(form, _)| *form == net) else { return Ok(None) };
    let weight = file.read(&format!("{prefix}conv1.weight"))?;
    let spread = file.read(&format!("{prefix}bn1.running_var"))?;
    let large = median(&weight, &spread) > BETWEEN;
    if large == (net == Net::Resnet50Keras) {
        return Ok(None);
    }
    let (other, found) = FORMS[usize::from(large)];
    Ok(Some(format!(
        "its first normalisation shows that it was trained on pixels {found}, as {other} is, and {net} takes pixels {expected}; use {other}"
    )))
}

/// The variance of pixels as the first normalisation remembers it: var(w·x)/‖w‖², the median over the channels.
fn median(weight: &[f32], spread: &[f32]) -> f32 {
    let kernels = weight.chunks_exact(weight.len() / spread.len().max(1));
    let mut ratios: Vec<f32> =
        kernels.zip(spread).map(|(w, v)| v / w.iter().map(|w| w * w).sum::<f32>()).collect();
    ratios.sort_by(f32::total_cmp);
    ratios[ratios.len() / 2]
}
