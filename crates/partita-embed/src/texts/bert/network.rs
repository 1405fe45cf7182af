//! A network of the BERT type, forward only: tokens to one unit vector, the mean of its last layer.

use super::config::Config;
use super::product::Panels;
use crate::error::{EmbedError, Result};
use partita::numeric::vector::{dispatch, exp, inverse_norm, sum, sum_squares};
use partita_data::Fingerprint;
use partita_data::safetensors_io::{Tensor, TensorFile, Values};
use std::path::{Path, PathBuf};

/// The whole network.
pub(super) struct Network {
    config: Config,
    words: Vec<f32>,
    /// Of each place, with the kind of the first sentence added.
    places: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    /// Queries, keys and values, one after another.
    attention: Linear,
    mixed: Linear,
    after_attention: Norm,
    widened: Linear,
    narrowed: Linear,
    after_all: Norm,
}

struct Linear {
    weight: Panels,
    bias: Vec<f32>,
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

/// Room for the numbers of some texts.
#[derive(Default)]
pub(super) struct Workspace {
    x: Vec<f32>,
    attention: Vec<f32>,
    mixed: Vec<f32>,
    out: Vec<f32>,
    wide: Vec<f32>,
    scores: Vec<f32>,
    keys: Panels,
    values: Panels,
}

impl Network {
    /// From a `model.safetensors` with the names of BERT, perhaps after a prefix.
    pub fn read(path: &Path, config: Config) -> Result<Self> {
        let TensorFile { tensors, .. } = TensorFile::read(path)?;
        let mut weights = Weights { path: path.to_owned(), prefix: String::new(), tensors };
        let known = |prefix: &&str| {
            weights.tensors.contains_key(&format!("{prefix}embeddings.word_embeddings.weight"))
        };
        weights.prefix =
            ["", "bert.", "0.auto_model."].into_iter().find(known).unwrap_or_default().to_owned();
        let (h, wide) = (config.hidden, config.wide);
        let words = weights.take("embeddings.word_embeddings.weight", &[config.vocabulary, h])?;
        let mut places = weights.take("embeddings.position_embeddings.weight", &[config.places, h])?;
        let kinds = weights.take("embeddings.token_type_embeddings.weight", &[config.kinds, h])?;
        for place in places.chunks_exact_mut(h) {
            place.iter_mut().zip(&kinds).for_each(|(place, kind)| *place += kind);
        }
        let norm = weights.norm("embeddings.LayerNorm", &config)?;
        let layer = |l: usize| -> Result<Layer> {
            let name = |part: &str| format!("encoder.layer.{l}.{part}");
            let attention = ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
            Ok(Layer {
                attention: weights.linear(&attention, h, h)?,
                mixed: weights.linear(&[name("attention.output.dense")], h, h)?,
                after_attention: weights.norm(&name("attention.output.LayerNorm"), &config)?,
                widened: weights.linear(&[name("intermediate.dense")], wide, h)?,
                narrowed: weights.linear(&[name("output.dense")], h, wide)?,
                after_all: weights.norm(&name("output.LayerNorm"), &config)?,
            })
        };
        let layers = (0..config.layers).map(layer).collect::<Result<_>>()?;
        Ok(Self { config, words, places, norm, layers })
    }

    /// Numbers of a row.
    pub fn features(&self) -> usize {
        self.config.hidden
    }

    /// A number that differs from that of a network with other weights.
    pub fn fingerprint(&self) -> Fingerprint {
        // The words and some numbers of every layer are enough: no two networks that were trained share them.
        let first = self
            .layers
            .iter()
            .flat_map(|layer| [&layer.mixed.bias, &layer.narrowed.bias, &layer.after_all.weight]);
        first.fold(Fingerprint::default().with_numbers(&self.words), |print, numbers| {
            print.with_numbers(numbers)
        })
    }

    /// The rows of some texts, given as tokens, into `out`. A text's row does not depend on the others.
    pub fn forward(&self, texts: &[&[u32]], room: &mut Workspace, out: &mut [f32]) {
        let h = self.config.hidden;
        let tokens: usize = texts.iter().map(|text| text.len()).sum();
        room.x.clear();
        for text in texts {
            for (place, &token) in text.iter().enumerate() {
                let word = &self.words[token as usize * h..][..h];
                room.x.extend(word.iter().zip(&self.places[place * h..]).map(|(word, place)| word + place));
            }
        }
        self.norm.apply(&mut room.x);
        for buffer in [&mut room.mixed, &mut room.out] {
            buffer.resize(tokens * h, 0.0);
        }
        room.attention.resize(tokens * 3 * h, 0.0);
        room.wide.resize(tokens * self.config.wide, 0.0);
        for layer in &self.layers {
            layer.attention.apply(&room.x, &mut room.attention);
            let mut first = 0;
            for text in texts {
                self.attend(text.len(), first, room);
                first += text.len();
            }
            layer.mixed.apply(&room.mixed, &mut room.out);
            add(&mut room.x, &room.out);
            layer.after_attention.apply(&mut room.x);
            layer.widened.apply(&room.x, &mut room.wide);
            gelu(&mut room.wide);
            layer.narrowed.apply(&room.wide, &mut room.out);
            add(&mut room.x, &room.out);
            layer.after_all.apply(&mut room.x);
        }
        let mut rest = &room.x[..];
        for (text, out) in texts.iter().zip(out.chunks_exact_mut(h)) {
            let (own, others) = rest.split_at(text.len() * h);
            rest = others;
            mean(own, out);
        }
    }

    /// Mix the values of a text's tokens, which are rows `first ..` of the workspace, as they attend to each other.
    fn attend(&self, tokens: usize, first: usize, room: &mut Workspace) {
        let (h, heads) = (self.config.hidden, self.config.heads);
        let each = h / heads;
        let scale = 1.0 / (each as f32).sqrt();
        let rows = &room.attention[first * 3 * h..(first + tokens) * 3 * h];
        room.scores.resize(tokens * tokens, 0.0);
        for head in 0..heads {
            let at = head * each;
            room.keys.arrange(tokens, each, |token, i| rows[token * 3 * h + h + at + i] * scale);
            room.keys.multiply(tokens, (&rows[at..], 3 * h), (&mut room.scores, tokens));
            room.scores.chunks_exact_mut(tokens).for_each(softmax);
            room.values.arrange(each, tokens, |i, token| rows[token * 3 * h + 2 * h + at + i]);
            let out = &mut room.mixed[first * h + at..];
            room.values.multiply(tokens, (&room.scores, tokens), (out, h));
        }
    }
}

/// Tensors of a file by name.
struct Weights {
    path: PathBuf,
    prefix: String,
    tensors: std::collections::BTreeMap<String, Tensor>,
}

impl Weights {
    fn take(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let name = format!("{}{name}", self.prefix);
        let refused = |problem: String| EmbedError::File { path: self.path.clone(), problem };
        match self.tensors.get(&name) {
            Some(Tensor { shape: found, values: Values::F32(values) }) if found == shape => {
                match values.iter().all(|v| v.is_finite()) {
                    true => Ok(values.clone()),
                    false => Err(refused(format!("tensor `{name}` has values that are no numbers"))),
                }
            }
            Some(Tensor { shape: found, .. }) => Err(refused(format!(
                "tensor `{name}` has shape {found:?}, where its config.json asks for {shape:?} in floating point"
            ))),
            None => Err(refused(format!(
                "there is no tensor `{name}`; give the model.safetensors of a network of the BERT type"
            ))),
        }
    }

    /// Layers of the same inputs side by side.
    fn linear(&self, names: &[String], outputs: usize, inputs: usize) -> Result<Linear> {
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            weight.extend(self.take(&format!("{name}.weight"), &[outputs, inputs])?);
            bias.extend(self.take(&format!("{name}.bias"), &[outputs])?);
        }
        let mut panels = Panels::default();
        panels.arrange(bias.len(), inputs, |output, input| weight[output * inputs + input]);
        Ok(Linear { weight: panels, bias })
    }

    fn norm(&self, name: &str, config: &Config) -> Result<Norm> {
        let weight = self.take(&format!("{name}.weight"), &[config.hidden])?;
        let bias = self.take(&format!("{name}.bias"), &[config.hidden])?;
        Ok(Norm { weight, bias, epsilon: config.epsilon })
    }
}

impl Linear {
    fn apply(&self, x: &[f32], out: &mut [f32]) {
        let outputs = self.bias.len();
        let rows = out.len() / outputs;
        let inputs = x.len() / rows.max(1);
        self.weight.multiply(rows, (x, inputs), (out, outputs));
        out.chunks_exact_mut(outputs).for_each(|row| add(row, &self.bias));
    }
}

impl Norm {
    /// Every row at mean zero and variance one, then with weights and biases.
    fn apply(&self, rows: &mut [f32]) {
        let h = self.weight.len();
        dispatch(
            #[inline(always)]
            || {
                for row in rows.chunks_exact_mut(h) {
                    let mean = sum(row) / h as f32;
                    row.iter_mut().for_each(|x| *x -= mean);
                    let factor = 1.0 / (sum_squares(row) / h as f32 + self.epsilon).sqrt();
                    for ((x, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
                        *x = *x * factor * weight + bias;
                    }
                }
            },
        );
    }
}

fn add(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

fn softmax(row: &mut [f32]) {
    dispatch(
        #[inline(always)]
        || {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter_mut().for_each(|x| *x = exp(*x - most));
            let factor = 1.0 / sum(row);
            row.iter_mut().for_each(|x| *x *= factor);
        },
    );
}

/// x Φ(x), with the error function by the rational approximation 7.1.26 of Abramowitz and Stegun, right to 1.5e-7.
fn gelu(values: &mut [f32]) {
    dispatch(
        #[inline(always)]
        || {
            for x in values.iter_mut() {
                let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
                let t = 1.0 / (1.0 + 0.327_591_1 * z);
                let p = 1.061_405_4 * t - 1.453_152_1;
                let p = p * t + 1.421_413_8;
                let p = p * t - 0.284_496_72;
                let p = (p * t + 0.254_829_6) * t;
                let tail = 0.5 * p * exp(-z * z);
                *x *= if *x < 0.0 { tail } else { 1.0 - tail };
            }
        },
    );
}

/// The mean of some rows at length one.
fn mean(rows: &[f32], out: &mut [f32]) {
    out.fill(0.0);
    rows.chunks_exact(out.len()).for_each(|row| add(out, row));
    let factor = inverse_norm(out);
    out.iter_mut().for_each(|x| *x *= factor);
}
