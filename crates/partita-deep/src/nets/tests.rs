//! Every network, compared with PyTorch: `tests/golden/networks.py` made the outputs, with weights from one formula.

use super::*;
use crate::device::tested;
use crate::weights::walk::{fill, values};
use burn::tensor::TensorData;
use partita_embed::weights::Layout;
use std::collections::BTreeMap;

#[derive(serde::Deserialize)]
struct Golden {
    shape: ImageShape,
    features: usize,
    step: usize,
    tested: Vec<f32>,
    trained: Vec<f32>,
}

/// Numbers in [−1, 1) that depend on `name` only, as in the script.
fn numbers(name: &str, count: usize) -> Vec<f32> {
    let seed =
        name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    let mix = |i: u64| {
        let mut z = seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (1..=count as u64).map(|i| (mix(i) >> 40) as f32 / 8_388_608.0 - 1.0).collect()
}

fn formula(name: &str, shape: &[usize]) -> Vec<f32> {
    let numbers = numbers(name, shape.iter().product());
    let fan_in = shape[1..].iter().product::<usize>() as f32;
    let scaled = |u: f32| match name.rsplit('.').next() {
        _ if shape.len() > 1 => u * (6.0 / fan_in).sqrt(),
        Some("running_var") => 1.0 + 0.5 * u,
        Some("weight") => 1.0 + 0.1 * u,
        _ => 0.1 * u,
    };
    numbers.into_iter().map(scaled).collect()
}

fn check(
    backbone: Backbone,
    layout: Layout,
    golden: &Golden,
    device: &Device,
    (expected, tolerance): (&[f32], f32),
) {
    let backbone = fill(backbone, &mut |name, shape| Some(formula(&layout(name).unwrap(), shape)));
    let [c, h, w] = golden.shape;
    let input = TensorData::new(numbers("input", 4 * c * h * w), [4, c, h, w]);
    let out = backbone.forward(Tensor::from_data(input, device));
    assert_eq!(out.dims(), [4, golden.features]);
    let out = values(out);
    let rows = out.chunks_exact(golden.features);
    let found: Vec<f32> = rows.flat_map(|row| row.iter().copied().step_by(golden.step)).collect();
    let scale = expected.iter().fold(0f32, |m, v| m.max(v.abs()));
    let worst = found.iter().zip(expected).fold(0f32, |m, (a, b)| m.max((a - b).abs()));
    assert!(worst < tolerance * scale.max(1.0), "{worst} of {scale}");
}

fn named(name: &str, shape: ImageShape, device: &Device) -> (Backbone, Layout) {
    if name == "mlp" {
        return (Backbone::Mlp(Mlp::new(35, &[40, 40], device)), Net::Mlp.layouts()[0]);
    }
    let net: Net = name.parse().unwrap();
    (build(net, shape, device).unwrap(), net.layouts()[0])
}

#[test]
fn networks_agree_with_pytorch() {
    let golden: BTreeMap<String, Golden> =
        serde_json::from_str(include_str!("../../tests/golden/networks.json")).unwrap();
    assert_eq!(golden.len(), Net::names().count() - 1, "every network but the pixels themselves");
    for (name, golden) in &golden {
        println!("{name}");
        let device = tested();
        let (backbone, layout) = named(name, golden.shape, &device);
        check(backbone, layout, golden, &device, (&golden.tested, 2e-5));
        // With gradients, batch normalisation uses the batch's own moments. In the last maps these come from only 16
        // numbers per channel, whose small variances amplify rounding.
        let device = tested().autodiff();
        let (backbone, layout) = named(name, golden.shape, &device);
        check(backbone, layout, golden, &device, (&golden.trained, 2e-4));
    }
}

#[test]
fn both_layouts_of_mobilenet_name_every_tensor_once() {
    let backbone = build(Net::Mobilenetv2, [3, 64, 64], &tested()).unwrap();
    for layout in Net::Mobilenetv2.layouts() {
        let mut names = Vec::new();
        crate::weights::walk::each(&backbone, &mut |name, _, _| names.push(layout(name).unwrap()));
        assert_eq!(names.len(), 312 - 52, "all but the 52 counters of batches");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 260);
    }
}

#[test]
fn images_that_do_not_fit_are_refused_with_the_reason() {
    let grey = build(Net::Mobilenetv2, [1, 28, 28], &tested()).unwrap_err();
    assert!(grey.to_string().contains("mobilenetv2") && grey.to_string().contains("three channels"));
    assert!(build(Net::Vgg4, [3, 7, 7], &tested()).is_err());
    let unknown = "vgg5".parse::<Net>().unwrap_err().to_string();
    assert!(unknown.contains("vgg5") && unknown.contains("resnet18-cifar"));
}

#[test]
fn weights_from_keras_give_the_features_that_are_known_of_them() {
    let data = std::env::var_os("PARTITA_DATA").unwrap_or_default();
    let path = std::path::Path::new(&data).join("weights/resnet50-imagenet.safetensors");
    if !path.is_file() {
        println!("not run: {} is not there", path.display());
        return;
    }
    let (net, device) = (Net::Resnet50Keras, tested());
    let file = partita_embed::weights::StateDict::open(&path).unwrap();
    let backbone = crate::weights::load(build(net, [3, 224, 224], &device).unwrap(), net, &file).unwrap();
    let pixel = |at: usize| ((7 * (at % 224) + 13 * (at / 224 % 224) + 31 * (at / (224 * 224))) % 256) as u8;
    let pixels = (0..3 * 224 * 224).map(pixel).collect();
    let image = partita_embed::images::Image { channels: 3, height: 224, width: 224, pixels };
    let mut numbers = Vec::new();
    partita_embed::photos::Normalise::of(net).append(&image, &mut numbers);
    let input = Tensor::from_data(TensorData::new(numbers, [1, 3, 224, 224]), &device);
    let found = values(backbone.forward(input));
    let (sum, square) =
        found.iter().fold((0.0, 0.0), |(s, q), v| (s + f64::from(*v), q + f64::from(*v).powi(2)));
    // Found by another implementation.
    assert!(
        (sum - 1326.736).abs() < 0.01 && (square.sqrt() - 92.9836).abs() < 0.001,
        "{sum} {}",
        square.sqrt()
    );
    assert!((found[1073] - 23.7848).abs() < 0.001, "{}", found[1073]);
}
