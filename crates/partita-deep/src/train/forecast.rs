//! Memory that training will take, so that a run too large is refused at once and not killed in its second hour.

use super::{Aim, Params};
use crate::error::{DeepError, Result};
use crate::images::Pixels;
use crate::nets::ImageShape;

/// Passes through the network that are remembered at the same time.
fn passes(params: &Params) -> usize {
    match params.aim {
        Aim::Core { .. } => 1 + usize::from(params.pairs > 0.0) + usize::from(params.disturb > 0.0),
        Aim::Confident { .. } => 1,
        Aim::Iic { .. } | Aim::Contrast { .. } | Aim::Neighbours { .. } => 2,
    }
}

/// Bytes that an image of a batch takes: what the layers keep of it, and half as much again for gradients on their way.
fn of_image(params: &Params, shape: ImageShape) -> u64 {
    (4 * params.net.kept(shape) * passes(params)) as u64 * 3 / 2
}

/// Refuse a run that needs more than `free` bytes beside the images, which are in memory already.
pub(super) fn check(params: &Params, pixels: &Pixels, free: Option<u64>) -> Result<()> {
    let Some(free) = free else { return Ok(()) };
    let batch = params.batch.min(pixels.len()) as u64;
    let image = of_image(params, pixels.shape());
    let need = batch * image;
    if need <= free {
        return Ok(());
    }
    let advice = usize::try_from(free / image.max(1)).unwrap_or(usize::MAX).max(params.k);
    Err(DeepError::Memory { need, free, advice })
}

/// Bytes that the system says are free, where it says so.
pub(super) fn free() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::Net;

    #[test]
    fn what_does_not_fit_is_refused_with_a_batch_that_does() {
        let pixels = Pixels::new([3, 32, 32], vec![0; 3 * 32 * 32 * 1000]);
        let params = Params { batch: 500, ..Params::new(10, Net::Resnet18Cifar) };
        assert!(check(&params, &pixels, None).is_ok());
        assert!(check(&params, &pixels, Some(1 << 40)).is_ok());
        let refused = check(&params, &pixels, Some(1 << 30)).unwrap_err();
        let DeepError::Memory { need, advice, .. } = refused else { panic!("{refused}") };
        assert!(need > 1 << 30 && advice < 500, "{need} {advice}");
        assert!(check(&Params { batch: advice, ..params }, &pixels, Some(1 << 30)).is_ok());
    }
}
