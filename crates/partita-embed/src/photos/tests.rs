//! Every network, compared with PyTorch: the outputs were made by `partita-deep/tests/golden/networks.py`, with weights from one formula.

use super::network::{Network, needed};
use super::plan::Plan;
use super::*;
use crate::Encoder;
use crate::kernels::{Maps, Shelf};
use crate::weights::Places;

#[derive(serde::Deserialize)]
struct Golden {
    shape: ImageShape,
    features: usize,
    step: usize,
    tested: Vec<f32>,
}

/// Numbers in [−1, 1) that depend on `name` only, as in the script.
fn numbers(name: &str, count: usize) -> Vec<f32> {
    let seed = Fingerprint::default().with_bytes(name.as_bytes()).0;
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

/// Images channel after channel as pixels side by side.
fn interleaved([c, h, w]: ImageShape, numbers: &[f32]) -> Vec<f32> {
    let of = |image: &[f32]| -> Vec<f32> {
        (0..h * w).flat_map(|at| (0..c).map(move |c| c * h * w + at)).map(|at| image[at]).collect()
    };
    numbers.chunks_exact(c * h * w).flat_map(of).collect()
}

#[test]
fn networks_agree_with_pytorch() {
    let text = include_str!("../../../partita-deep/tests/golden/networks.json");
    let golden: BTreeMap<String, Golden> = serde_json::from_str(text).unwrap();
    let mut compared = 0;
    for (name, golden) in &golden {
        let Ok(net) = name.parse::<Net>() else { continue };
        let Some(plan) = Plan::of(net).filter(|_| golden.shape[0] == 3) else { continue };
        let (layout, shapes) = (net.layouts()[0], needed(&plan));
        let network =
            Network::new(&plan, &mut |name| Ok(formula(&layout(name).unwrap(), &shapes[name]))).unwrap();
        assert_eq!(network.features(), golden.features);
        let [c, h, w] = golden.shape;
        let input = interleaved(golden.shape, &numbers("input", 4 * c * h * w));
        let mut out = vec![0.0; 4 * golden.features];
        network.run(&Maps::tight(4, [h, w], c, input), &mut Shelf::default(), &mut out);
        let rows = out.chunks_exact(golden.features);
        let found: Vec<f32> = rows.flat_map(|row| row.iter().copied().step_by(golden.step)).collect();
        let scale = golden.tested.iter().fold(1f32, |m, v| m.max(v.abs()));
        let worst = found.iter().zip(&golden.tested).fold(0f32, |m, (a, b)| m.max((a - b).abs()));
        assert!(worst < 2e-5 * scale, "{name}: {worst} of {scale}");
        compared += 1;
    }
    assert_eq!(compared, 7);
}

#[test]
fn both_layouts_of_mobilenet_name_every_tensor_once() {
    let shapes = needed(&Plan::of(Net::Mobilenetv2).unwrap());
    for layout in Net::Mobilenetv2.layouts() {
        let names: std::collections::BTreeSet<String> =
            shapes.keys().map(|name| layout(name).unwrap()).collect();
        assert_eq!(names.len(), 260);
    }
}

fn photos(count: usize) -> Vec<crate::images::Image> {
    let pixel = |i: usize, p: usize| (p * (7 + i) + p / 40 * 31) as u8;
    (0..count)
        .map(|i| crate::images::Image {
            channels: 3,
            height: 40,
            width: 40,
            pixels: (0..4800).map(|p| pixel(i, p)).collect(),
        })
        .collect()
}

#[test]
fn the_network_that_is_built_in_gives_the_same_bits_on_any_threads_and_in_any_company() {
    let encoder = Asked::parse("mobilenetv2@64").unwrap().find(None, &Places::default()).unwrap();
    let photos = photos(9);
    let rows = |some: &[crate::images::Image], threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut out = vec![0.0; some.len() * 1280];
        pool.install(|| encoder.encode(&some.iter().collect::<Vec<_>>(), &mut out)).unwrap();
        out
    };
    let all = rows(&photos, 1);
    assert_eq!(rows(&photos, 3), all);
    assert_eq!(rows(&photos[5..6], 2), all[5 * 1280..6 * 1280]);
    assert!(all.iter().all(|v| v.is_finite()) && all[..1280] != all[1280..2560]);
}

#[test]
fn a_stored_encoder_comes_back_with_its_own_weights_only() {
    let encoder = Asked::parse("mobilenetv2@32").unwrap().find(None, &Places::default()).unwrap();
    let stored = encoder.stored();
    let again = PhotoEncoder::of_stored(&stored, None, &Places::default()).unwrap();
    assert_eq!(again.fingerprint(), encoder.fingerprint());
    let other = Asked::parse("mobilenetv2@48").unwrap().find(None, &Places::default()).unwrap();
    assert_ne!(other.fingerprint(), encoder.fingerprint(), "another size makes other rows");
    let mut changed = stored.clone();
    changed.about["sha256"] = "ab".repeat(32).into();
    let told = PhotoEncoder::of_stored(&changed, None, &Places::default()).unwrap_err().to_string();
    assert!(
        told.contains("abababab") && told.contains("built in") && told.contains("--encoder-weights"),
        "{told}"
    );
    for (key, value) in [("name", "vgg"), ("normalise", "none"), ("size", "7")] {
        let mut hostile = stored.clone();
        hostile.about[key] = value.into();
        assert!(PhotoEncoder::of_stored(&hostile, None, &Places::default()).is_err(), "{key}");
    }
    let mut large = stored;
    large.about["size"] = 1_000_000_000.into();
    assert!(PhotoEncoder::of_stored(&large, None, &Places::default()).is_err());
}
