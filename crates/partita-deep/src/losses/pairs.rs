//! Divergences between the predictions of two views.

use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;

/// mean KL(σ‖σ′) of logits, row by row.
///
/// # Shapes
/// `[n, K]` and `[n, K]` to `[1]`.
pub fn kl(z: Tensor<2>, other: Tensor<2>) -> Tensor<1> {
    let n = z.dims()[0] as f32;
    let (log_p, log_q) = (log_softmax(z, 1), log_softmax(other, 1));
    (log_p.clone().exp() * (log_p - log_q)).sum() / n
}

/// mean KL(σ‖σ′) + KL(σ′‖σ) = mean Σ (σ − σ′)(ln σ − ln σ′): what self-augmentation asks of two views.
///
/// # Shapes
/// `[n, K]` and `[n, K]` to `[1]`.
pub fn symmetric_kl(z: Tensor<2>, other: Tensor<2>) -> Tensor<1> {
    let n = z.dims()[0] as f32;
    let (log_p, log_q) = (log_softmax(z, 1), log_softmax(other, 1));
    ((log_p.clone().exp() - log_q.clone().exp()) * (log_p - log_q)).sum() / n
}
