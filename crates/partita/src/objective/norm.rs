//! ‖W‖², which never includes the bias: the term that makes decisive linear clusters max-margin ones.

/// ‖W‖² of the weights without the bias, any layout.
///
/// ```
/// assert_eq!(partita::objective::norm::squared(&[3.0, 4.0]), 25.0);
/// ```
pub fn squared(weights: &[f64]) -> f64 {
    weights.iter().map(|w| w * w).sum()
}

/// γ‖W‖²; adds its gradient 2γW to `gradient`.
pub fn add_gradient(gamma: f64, weights: &[f64], gradient: &mut [f64]) -> f64 {
    for (g, w) in gradient.iter_mut().zip(weights) {
        *g += 2.0 * gamma * w;
    }
    gamma * squared(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_added_to_what_is_there() {
        let (w, mut g) = ([1.0, -2.0], [10.0, 10.0]);
        assert_eq!(add_gradient(0.5, &w, &mut g), 2.5);
        assert_eq!(g, [11.0, 8.0]);
    }
}
