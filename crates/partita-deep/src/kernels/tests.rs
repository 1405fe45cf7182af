//! The operations, compared with burn's own: values, gradients and running moments.

use super::*;
use crate::weights::walk::values;
use burn::nn::conv::Conv2dConfig;
use burn::nn::{BatchNormConfig, Initializer, PaddingConfig2d};

fn wave(shape: [usize; 4], pace: f32) -> Tensor<4> {
    let count = shape.iter().product::<usize>();
    let numbers: Vec<f32> = (0..count).map(|i| (i as f32 * pace).sin() + 0.2).collect();
    Tensor::from_data(TensorData::new(numbers, shape), &Device::flex().autodiff())
}

fn close(a: Tensor<4>, b: Tensor<4>) {
    assert_eq!(a.dims(), b.dims());
    for (a, b) in values(a).into_iter().zip(values(b)) {
        assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
    }
}

/// Both ways of computing must agree in the value and in the gradients with respect to the input and to a parameter.
fn agree(
    x: Tensor<4>,
    ours: impl Fn(Tensor<4>) -> Tensor<4>,
    burns: impl Fn(Tensor<4>) -> Tensor<4>,
    parameters: &[Tensor<4>],
) {
    let found: Vec<Vec<Tensor<4>>> = [&ours as &dyn Fn(Tensor<4>) -> Tensor<4>, &burns]
        .iter()
        .map(|f| {
            let x = x.clone().require_grad();
            let y = f(x.clone());
            let loss = (y.clone() * wave(y.dims(), 0.37)).sum();
            let gradients = loss.backward();
            let leaves = std::iter::once(&x).chain(parameters);
            std::iter::once(y.inner()).chain(leaves.map(|leaf| leaf.grad(&gradients).unwrap())).collect()
        })
        .collect();
    let [ours, burns] = &found[..] else { unreachable!() };
    ours.iter().zip(burns).for_each(|(a, b)| close(a.clone(), b.clone()));
}

#[test]
fn convolutions_are_burns() {
    let device = Device::flex().autodiff();
    for (kernel, stride, size) in [(5, 1, 6), (3, 2, 7), (1, 2, 4), (7, 2, 11)] {
        let half = kernel / 2;
        let mut conv = Conv2dConfig::new([3, 4], [kernel; 2])
            .with_stride([stride; 2])
            .with_padding(PaddingConfig2d::Explicit(half, half, half, half))
            .with_bias(false)
            .with_initializer(Initializer::Zeros)
            .init(&device);
        let weight = wave([4, 3, kernel, kernel], 0.71).require_grad();
        conv.weight = burn::module::Param::from_tensor(weight);
        let x = wave([5, 3, size, size], 0.53);
        agree(x, |x| convolve(&conv, x), |x| conv.forward(x), &[conv.weight.val()]);
    }
}

#[test]
fn normalisations_are_burns() {
    let device = Device::flex().autodiff();
    let new = || BatchNormConfig::new(3).init(&device);
    for relu in [false, true] {
        let (ours, burns) = (new(), new());
        let after = |x| if relu { activation::relu(x) } else { x };
        let x = wave([4, 3, 5, 4], 0.53);
        agree(x, |x| normalise(&ours, x, relu), |x| after(burns.forward(x)), &[]);
        for (a, b) in [(&ours.running_mean, &burns.running_mean), (&ours.running_var, &burns.running_var)] {
            let (a, b) = (values(a.value_sync()), values(b.value_sync()));
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} {b:?}");
        }
    }
}

#[test]
fn scale_and_shift_have_burns_gradients() {
    let device = Device::flex().autodiff();
    let bn = BatchNormConfig::new(3).init(&device);
    let both = |f: &dyn Fn(Tensor<4>) -> Tensor<4>| {
        let y = f(wave([4, 3, 5, 4], 0.53));
        let gradients = (y.clone() * wave(y.dims(), 0.37)).sum().backward();
        [&bn.gamma, &bn.beta].map(|p| values(p.val().grad(&gradients).unwrap()))
    };
    let ours = both(&|x| normalise(&bn, x, true));
    let burns = both(&|x| activation::relu(bn.forward(x)));
    for (a, b) in ours.iter().flatten().zip(burns.iter().flatten()) {
        assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn a_still_network_uses_its_running_moments() {
    let bn = BatchNormConfig::new(3).init(&Device::flex());
    let x = wave([4, 3, 5, 4], 0.53).inner();
    close(normalise(&bn, x.clone(), false), bn.forward(x));
}

#[test]
fn what_is_no_number_stays_none() {
    let maps = Maps { channels: 1, places: 3 };
    let channel = Channel { mean: 0.0, scale: 1.0, gamma: 1.0, beta: 0.0 };
    for relu in [true, false] {
        let out = maps.normalise(&[1.0, f32::NAN, -1.0], &[channel], relu);
        assert!(out[1].is_nan() && out[0] == 1.0 && out[2] == if relu { 0.0 } else { -1.0 });
    }
}
