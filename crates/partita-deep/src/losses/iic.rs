//! Invariant information clustering (Ji et al. 2019).

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

/// −I(P) of the joint distribution P = mean σ(x) σ(x′)ᵀ, made symmetric: −Σ P_ck ln [P_ck/(P_c P_k)].
///
/// # Shapes
/// `[n, K]` and `[n, K]` to `[1]`.
pub fn iic(z: Tensor<2>, other: Tensor<2>) -> Tensor<1> {
    let [n, k] = z.dims();
    let joint = softmax(z, 1).transpose().matmul(softmax(other, 1)) / n as f32;
    // Entries may underflow, and 0 ln 0 is 0: the smallest normal number changes the sum by less than rounding.
    let joint = ((joint.clone() + joint.transpose()) / 2.0).clamp_min(f32::MIN_POSITIVE);
    let rows = joint.clone().sum_dim(1).expand([k, k]);
    let columns = joint.clone().sum_dim(0).expand([k, k]);
    (joint.clone() * (rows.log() + columns.log() - joint.log())).sum()
}
