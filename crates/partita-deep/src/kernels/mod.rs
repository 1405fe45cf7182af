//! Convolution and batch normalisation on the processor, as burn operations with their own gradients.
//!
//! On other devices, and for shapes that they do not support, burn's own operations are used instead.

mod convolve;
mod lines;
mod normalise;
mod patches;
mod sizes;

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::nn::conv::Conv2d;
use burn::nn::{BatchNorm, PaddingConfig2d};
use burn::tensor::{Device, Tensor, TensorData, activation};
use normalise::{Channel, Maps};
use sizes::Sizes;

/// Operations for which the processor has special kernels.
#[backend_extension(Flex, Autodiff)]
trait Kernels: Backend {
    /// A convolution of `[n, from, h, w]` with `[to, from, kh, kw]`.
    fn convolve(x: FloatTensor<Self>, weight: FloatTensor<Self>, sizes: Sizes) -> FloatTensor<Self>;

    /// Images normalised by their own moments, and the moments.
    fn normalise(
        x: FloatTensor<Self>,
        gamma: FloatTensor<Self>,
        beta: FloatTensor<Self>,
        epsilon: f64,
        relu: bool,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

/// Tensors on the processor.
type Flat = FloatTensor<Flex>;

/// Tensors on the processor that are part of a graph.
type Tracked<C> = FloatTensor<Autodiff<Flex, C>>;

/// The numbers of a contiguous tensor, in order.
fn numbers(x: &Flat) -> &[f32] {
    x.as_slice().expect("contiguous tensors of single precision")
}

fn tensor(values: Vec<f32>, shape: &[usize]) -> Flat {
    Flat::from_data(TensorData::new(values, shape.to_vec()))
}

fn shape(x: &Flat) -> Vec<usize> {
    x.layout().shape().to_vec()
}

impl Kernels for Flex {
    fn convolve(x: Flat, weight: Flat, sizes: Sizes) -> Flat {
        convolved(&x, &weight, &sizes).0
    }

    fn normalise(x: Flat, gamma: Flat, beta: Flat, epsilon: f64, relu: bool) -> (Flat, Flat, Flat) {
        let x = x.to_contiguous();
        let maps = maps(&x);
        let (mean, variance) = maps.moments(numbers(&x));
        let (mean, variance) = (tensor(mean, &[maps.channels]), tensor(variance, &[maps.channels]));
        let of = channels(&mean, &variance, &gamma, &beta, epsilon);
        let out = maps.normalise(numbers(&x), &of, relu);
        (tensor(out, &shape(&x)), mean, variance)
    }
}

/// The convolution, and the form of the images that its gradients need.
fn convolved(x: &Flat, weight: &Flat, sizes: &Sizes) -> (Flat, Flat) {
    let (x, weight) = (x.to_contiguous(), weight.to_contiguous());
    let n = shape(&x)[0];
    let [h, w] = sizes.output;
    let (out, ordered) = convolve::forward(numbers(&x), numbers(&weight), sizes);
    let ordered = ordered.map(|ordered| tensor(ordered, &shape(&x)));
    (tensor(out, &[n, sizes.to, h, w]), ordered.unwrap_or(x))
}

fn maps(x: &Flat) -> Maps {
    let shape = shape(x);
    Maps { channels: shape[1], places: shape[2..].iter().product() }
}

fn channels(mean: &Flat, variance: &Flat, gamma: &Flat, beta: &Flat, epsilon: f64) -> Vec<Channel> {
    let [mean, variance, gamma, beta] = [mean, variance, gamma, beta].map(Flat::to_contiguous);
    let [mean, variance, gamma, beta] = [&mean, &variance, &gamma, &beta].map(numbers);
    let channel = |c: usize| Channel {
        mean: mean[c],
        scale: ((f64::from(variance[c]) + epsilon).sqrt().recip()) as f32,
        gamma: gamma[c],
        beta: beta[c],
    };
    (0..mean.len()).map(channel).collect()
}

/// Backward pass of [`Kernels::convolve`].
#[derive(Debug)]
struct Convolve;

impl Backward<Flex, 2> for Convolve {
    type State = (Flat, NodeId, Sizes);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, checkpointer: &mut Checkpointer) {
        let (x, weight, sizes) = ops.state;
        let [by_x, by_weight] = ops.parents;
        let d = grads.consume::<Flex>(&ops.node).to_contiguous();
        let weight = checkpointer.retrieve_node_output::<Flat>(weight).to_contiguous();
        let wanted = [by_x.is_some(), by_weight.is_some()];
        let found = convolve::gradients(numbers(&x), numbers(&weight), numbers(&d), &sizes, wanted);
        let shapes = [shape(&x), shape(&weight)];
        for ((node, gradient), shape) in [by_x, by_weight].into_iter().zip(found).zip(shapes) {
            if let (Some(node), Some(gradient)) = (node, gradient) {
                grads.register::<Flex>(node.id, tensor(gradient, &shape));
            }
        }
    }
}

/// Backward pass of [`Kernels::normalise`].
#[derive(Debug)]
struct Normalise;

impl Backward<Flex, 3> for Normalise {
    type State = ([NodeId; 3], [Flat; 2], f64, bool);

    fn backward(self, ops: Ops<Self::State, 3>, grads: &mut Gradients, checkpointer: &mut Checkpointer) {
        let (states, [mean, variance], epsilon, relu) = ops.state;
        let d = grads.consume::<Flex>(&ops.node).to_contiguous();
        let [x, gamma, beta] = states.map(|node| checkpointer.retrieve_node_output::<Flat>(node));
        let x = x.to_contiguous();
        let of = channels(&mean, &variance, &gamma, &beta, epsilon);
        let found = maps(&x).gradients(numbers(&x), &of, relu, numbers(&d));
        let shapes = [shape(&x), shape(&gamma), shape(&beta)];
        for ((node, values), shape) in ops.parents.into_iter().zip(found).zip(shapes) {
            if let Some(node) = node {
                grads.register::<Flex>(node.id, tensor(values, &shape));
            }
        }
    }
}

impl<C: CheckpointStrategy> Kernels for Autodiff<Flex, C> {
    fn convolve(x: Tracked<C>, weight: Tracked<C>, sizes: Sizes) -> Tracked<C> {
        match Convolve.prepare::<C>([x.node(), weight.node()]).compute_bound().stateful() {
            OpsKind::Tracked(mut prep) => {
                let kept = prep.checkpoint(&weight);
                let (out, ordered) = convolved(x.primitive(), weight.primitive(), &sizes);
                prep.finish((ordered, kept, sizes), out)
            }
            OpsKind::UnTracked(prep) => {
                prep.finish(Flex::convolve(x.into_primitive(), weight.into_primitive(), sizes))
            }
        }
    }

    fn normalise(
        x: Tracked<C>,
        gamma: Tracked<C>,
        beta: Tracked<C>,
        epsilon: f64,
        relu: bool,
    ) -> (Tracked<C>, Tracked<C>, Tracked<C>) {
        let nodes = [x.node(), gamma.node(), beta.node()];
        let prepared = Normalise.prepare::<C>(nodes).compute_bound().stateful();
        let ran = |x: Tracked<C>, gamma: Tracked<C>, beta: Tracked<C>| {
            Flex::normalise(x.into_primitive(), gamma.into_primitive(), beta.into_primitive(), epsilon, relu)
        };
        let (out, mean, variance) = match prepared {
            OpsKind::Tracked(mut prep) => {
                let states = [&x, &gamma, &beta].map(|tensor| prep.checkpoint(tensor));
                let (out, mean, variance) = ran(x, gamma, beta);
                let state = (states, [mean.clone(), variance.clone()], epsilon, relu);
                (prep.finish(state, out), mean, variance)
            }
            OpsKind::UnTracked(prep) => {
                let (out, mean, variance) = ran(x, gamma, beta);
                (prep.finish(out), mean, variance)
            }
        };
        (out, Tracked::<C>::new(mean), Tracked::<C>::new(variance))
    }
}

fn on_processor(device: &Device) -> bool {
    device.clone().inner() == Device::flex()
}

/// A convolution, like [`Conv2d::forward`].
pub(crate) fn convolve(conv: &Conv2d, x: Tensor<4>) -> Tensor<4> {
    let [_, from, h, w] = x.dims();
    let plain = conv.groups == 1 && conv.dilation == [1, 1] && conv.bias.is_none();
    let padding = match conv.padding {
        PaddingConfig2d::Explicit(top, left, bottom, right) if top == bottom && left == right => [top, left],
        _ => return conv.forward(x),
    };
    if !plain || !on_processor(&x.device()) {
        return conv.forward(x);
    }
    let weight = conv.weight.val();
    let places = |axis: usize, size: usize| {
        (size + 2 * padding[axis] - conv.kernel_size[axis]) / conv.stride[axis] + 1
    };
    let sizes = Sizes {
        from,
        to: weight.dims()[0],
        input: [h, w],
        output: [places(0, h), places(1, w)],
        kernel: conv.kernel_size,
        stride: conv.stride,
        padding,
    };
    let out = <Dispatch as Kernels>::convolve(x.into_dispatch(), weight.into_dispatch(), sizes);
    Tensor::from_dispatch(out)
}

/// Batch normalisation, like [`BatchNorm::forward`], followed by max(·, 0) if wanted.
pub(crate) fn normalise(bn: &BatchNorm, x: Tensor<4>, relu: bool) -> Tensor<4> {
    let device = x.device();
    if !(device.is_autodiff() && bn.training.is_enabled() && on_processor(&device)) {
        let x = bn.forward(x);
        return if relu { activation::relu(x) } else { x };
    }
    let (out, mean, variance) = <Dispatch as Kernels>::normalise(
        x.into_dispatch(),
        bn.gamma.val().into_dispatch(),
        bn.beta.val().into_dispatch(),
        bn.epsilon,
        relu,
    );
    for (running, now) in [(&bn.running_mean, mean), (&bn.running_var, variance)] {
        let now = Tensor::<1>::from_dispatch(now).detach() * bn.momentum;
        let kept = running.value_sync().to_device(&device) * (1.0 - bn.momentum);
        running.update((kept + now).detach());
    }
    Tensor::from_dispatch(out)
}

#[cfg(test)]
mod tests;
