//! A forecast of the memory that training will take.

use super::{Aim, Params};
use crate::error::{DeepError, Result};
use crate::nets::{ImageShape, kept};
use partita_embed::images::Pixels;

/// Passes through the network that are in memory at the same time.
fn passes(params: &Params) -> usize {
    match params.aim {
        Aim::Core { .. } => {
            1 + if params.pairs > 0.0 { params.views } else { 0 } + usize::from(params.disturb > 0.0)
        }
        Aim::Confident { .. } => 1,
        Aim::Iic { .. } => 1 + params.views,
        Aim::Contrast { .. } | Aim::Neighbours { .. } => 2,
    }
}

/// Bytes that an image of a batch takes: what the layers keep for it, and half as much again for gradients in progress.
fn of_image(params: &Params, shape: ImageShape) -> u64 {
    (4 * kept(params.net, shape) * passes(params)) as u64 * 3 / 2
}

/// Bytes that a parameter takes: itself, its gradient and both of Adam's moments.
const OF_PARAMETER: u64 = 16;

/// Refuse a run that needs more than `free` bytes in addition to the images, which are in memory already.
pub(super) fn check(params: &Params, pixels: &Pixels, parameters: usize, free: Option<u64>) -> Result<()> {
    let Some(free) = free else { return Ok(()) };
    let batch = params.batch.min(pixels.len()) as u64;
    let image = of_image(params, pixels.shape());
    let fixed = OF_PARAMETER * parameters as u64;
    let need = fixed + batch * image;
    if need <= free {
        return Ok(());
    }
    let fits = usize::try_from(free.saturating_sub(fixed) / image.max(1)).unwrap_or(usize::MAX);
    let smaller = "smaller images with --size, or a smaller network";
    let advice = match fits >= params.k {
        true => format!("give --batch {fits}, {smaller}"),
        false => format!("give {smaller}"),
    };
    Err(DeepError::Memory { what: "training", need, free, advice })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::Net;

    #[test]
    fn what_does_not_fit_is_refused_with_a_batch_that_does() {
        let pixels = Pixels::new([3, 32, 32], vec![0; 3 * 32 * 32 * 1000]);
        let params = Params { batch: 500, ..Params::new(10, Net::Resnet18Cifar) };
        assert!(check(&params, &pixels, 0, None).is_ok());
        assert!(check(&params, &pixels, 0, Some(1 << 40)).is_ok());
        let refused = check(&params, &pixels, 0, Some(1 << 30)).unwrap_err();
        let DeepError::Memory { need, advice, .. } = refused else { panic!("{refused}") };
        let batch: usize =
            advice.split("--batch ").nth(1).and_then(|rest| rest.split(',').next()).unwrap().parse().unwrap();
        assert!(need > 1 << 30 && batch < 500, "{need} {advice}");
        assert!(check(&Params { batch, ..params.clone() }, &pixels, 0, Some(1 << 30)).is_ok());
        // If the weights alone are too large, a smaller batch does not help.
        let refused = check(&params, &pixels, 1 << 27, Some(1 << 30)).unwrap_err().to_string();
        assert!(refused.contains("--size") && !refused.contains("--batch"), "{refused}");
    }
}
