//! The losses of SCAN: two views of an image against all others, and an image compared with its neighbour (Chen et
//! al. 2020; Van Gansbeke et al. 2020).

use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;

/// SimCLR's loss: of all 2n − 1 other views, a view should be most similar to the one of the same image. The
/// similarity is the cosine, divided by the temperature.
///
/// # Shapes
/// `[n, m]` and `[n, m]` to `[1]`.
pub fn contrast(z: Tensor<2>, other: Tensor<2>, temperature: f64) -> Tensor<1> {
    let n = z.dims()[0];
    let device = z.device();
    let (z, other) = (unit(z), unit(other));
    let pairs = (z.clone() * other.clone()).sum() / temperature as f32;
    let all = Tensor::cat(vec![z, other], 0);
    // A view is not compared with itself: this is far below any cosine.
    let own = Tensor::<2>::eye(2 * n, &device) * -1e4f32;
    let likeness = all.clone().matmul(all.transpose()) / temperature as f32 + own;
    (log_sum_exp(likeness).sum() - pairs * 2.0) / (2 * n) as f32
}

/// SCAN's loss: −mean ln Σ_c σ_c σ′_c of images and neighbours, minus `weight` times the entropy of the mean.
///
/// # Shapes
/// `[n, K]` and `[n, K]` to `[1]`.
pub fn neighbours(z: Tensor<2>, other: Tensor<2>, weight: f64) -> Tensor<1> {
    let (log_p, log_q) = (log_softmax(z, 1), log_softmax(other, 1));
    let mean = log_p.clone().exp().mean_dim(0).clamp_min(f32::MIN_POSITIVE);
    let entropy = (mean.clone() * mean.log()).sum();
    entropy * weight as f32 - log_sum_exp(log_p + log_q).mean()
}

/// ln Σ exp of every row.
fn log_sum_exp(x: Tensor<2>) -> Tensor<2> {
    let largest = x.clone().detach().max_dim(1);
    (x - largest.clone()).exp().sum_dim(1).log() + largest
}

/// Every row divided by its norm.
pub(super) fn unit(x: Tensor<2>) -> Tensor<2> {
    x.clone() / x.square().sum_dim(1).clamp_min(1e-24).sqrt()
}
