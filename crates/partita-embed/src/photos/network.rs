//! A network for inference: the convolutions of a plan with their normalisations folded into them.

use super::plan::{Layer, Past, Plan};
use crate::error::Result;
use crate::kernels::Window;
use crate::kernels::{Convolution, Depthwise, Maps, Shelf, largest, means};
use std::collections::BTreeMap;

/// A convolution of either kind.
#[derive(Debug)]
enum Step {
    All(Convolution),
    Each(Depthwise),
}

#[derive(Debug)]
struct Block {
    steps: Vec<Step>,
    past: Connection,
}

#[derive(Debug)]
enum Connection {
    Nothing,
    Input,
    Through(Step),
}

/// A network that makes a row of features of an image.
#[derive(Debug)]
pub(crate) struct Network {
    stem: Step,
    pool: Option<Window>,
    blocks: Vec<Block>,
    last: Option<Step>,
    features: usize,
}

/// Gives the values of a tensor by name.
pub(crate) type Values<'a> = dyn FnMut(&str) -> Result<Vec<f32>> + 'a;

/// The shapes of the tensors that a plan needs, by name.
pub(crate) fn needed(plan: &Plan) -> BTreeMap<String, Vec<usize>> {
    let of = |layer: &Layer| {
        let ([from, to], [conv, bn]) = (layer.channels, &layer.names);
        let kernel = layer.window.kernel;
        let weight = vec![to, if layer.depthwise { 1 } else { from }, kernel, kernel];
        let moments = ["weight", "bias", "running_mean", "running_var"];
        let moments = moments.map(|part| (format!("{bn}.{part}"), vec![to]));
        std::iter::once((format!("{conv}.weight"), weight)).chain(moments)
    };
    plan.layers().flat_map(of).collect()
}

impl Network {
    /// A network with the weights that `values` gives by our names.
    pub fn new(plan: &Plan, values: &mut Values<'_>) -> Result<Self> {
        let mut step = |layer: &Layer, reversed: bool| step(layer, plan.epsilon, reversed, values);
        let stem = step(&plan.stem, plan.reversed)?;
        let mut blocks = Vec::new();
        for block in &plan.blocks {
            let steps = block.layers.iter().map(|layer| step(layer, false)).collect::<Result<_>>()?;
            let past = match &block.past {
                Past::Nothing => Connection::Nothing,
                Past::Input => Connection::Input,
                Past::Through(layer) => Connection::Through(step(layer, false)?),
            };
            blocks.push(Block { steps, past });
        }
        let last = plan.last.as_ref().map(|layer| step(layer, false)).transpose()?;
        Ok(Self { stem, pool: plan.pool, blocks, last, features: plan.features() })
    }

    /// Number of features of an image.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The features of images of one size, into rows. Memory is taken from the shelf and put back.
    pub fn run(&self, images: &Maps, shelf: &mut Shelf, out: &mut [f32]) {
        debug_assert_eq!(out.len(), images.n * self.features);
        let mut x = self.stem.run(images, None, shelf);
        if let Some(window) = self.pool {
            x = replaced(x, shelf, |x, shelf| largest(window, x, shelf));
        }
        for block in &self.blocks {
            x = block.run(x, shelf);
        }
        if let Some(last) = &self.last {
            x = replaced(x, shelf, |x, shelf| last.run(x, None, shelf));
        }
        means(&x, out);
        shelf.put(x);
    }
}

/// What `f` makes of some maps, whose memory goes back to the shelf.
fn replaced(x: Maps, shelf: &mut Shelf, f: impl FnOnce(&Maps, &mut Shelf) -> Maps) -> Maps {
    let y = f(&x, shelf);
    shelf.put(x);
    y
}

impl Step {
    fn run(&self, x: &Maps, past: Option<&Maps>, shelf: &mut Shelf) -> Maps {
        match self {
            Self::All(made) => made.apply(x, past, shelf),
            Self::Each(made) => made.apply(x, shelf),
        }
    }
}

impl Block {
    fn run(&self, x: Maps, shelf: &mut Shelf) -> Maps {
        let through = match &self.past {
            Connection::Through(step) => Some(step.run(&x, None, shelf)),
            _ => None,
        };
        let past = match &self.past {
            Connection::Nothing => None,
            Connection::Input => Some(&x),
            Connection::Through(_) => through.as_ref(),
        };
        let mut y: Option<Maps> = None;
        for (i, step) in self.steps.iter().enumerate() {
            let past = past.filter(|_| i + 1 == self.steps.len());
            let next = step.run(y.as_ref().unwrap_or(&x), past, shelf);
            if let Some(done) = y.replace(next) {
                shelf.put(done);
            }
        }
        through.into_iter().for_each(|maps| shelf.put(maps));
        match y {
            Some(y) => {
                shelf.put(x);
                y
            }
            None => x,
        }
    }
}

/// A layer with its weights: the normalisation becomes a factor of the weights and a bias.
fn step(layer: &Layer, epsilon: f32, reversed: bool, values: &mut Values<'_>) -> Result<Step> {
    let [conv, bn] = &layer.names;
    let mut weights = values(&format!("{conv}.weight"))?;
    let mut moment = |part: &str| values(&format!("{bn}.{part}"));
    let (gamma, beta) = (moment("weight")?, moment("bias")?);
    let (mean, variance) = (moment("running_mean")?, moment("running_var")?);
    let each = weights.len() / gamma.len();
    let mut bias = Vec::with_capacity(gamma.len());
    for (o, weights) in weights.chunks_exact_mut(each).enumerate() {
        let scale = f64::from(gamma[o]) / (f64::from(variance[o]) + f64::from(epsilon)).sqrt();
        weights.iter_mut().for_each(|w| *w = (f64::from(*w) * scale) as f32);
        bias.push((f64::from(beta[o]) - f64::from(mean[o]) * scale) as f32);
        if reversed {
            let [first, _, third] = [0, 1, 2].map(|c| c * each / 3);
            (0..each / 3).for_each(|at| weights.swap(first + at, third + at));
        }
    }
    Ok(match layer.depthwise {
        true => Step::Each(Depthwise::new(layer.window, layer.channels[1], &weights, &bias, layer.bounds)),
        false => Step::All(Convolution::new(layer.window, layer.channels, &weights, &bias, layer.bounds)),
    })
}
