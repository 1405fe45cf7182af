//! Options that recipes of the literature need, on a handful of coloured images, as a user would run them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::{Lab, number};
use serde_json::Value;

/// Bytes of a CIFAR-10 image with its label.
const RECORD: usize = 3073;
/// Small networks of small images, so that a fit takes a moment.
const SMALL: &str = "-k 2 --size 8 --batch 10";

/// Images in CIFAR-10's format: dark red ones and light blue ones, with noise.
fn coloured(n: usize, seed: usize) -> Vec<u8> {
    let image = |i: usize| {
        let class = i % 2;
        let noise = move |p: usize| (((p * 7 + (i + seed) * 31) * 2_654_435_761) >> 7) % 60;
        let pixel = move |p: usize| ([[120, 30, 20], [140, 150, 190]][class][p / 1024] + noise(p)) as u8;
        std::iter::once(class as u8).chain((0..RECORD - 1).map(pixel))
    };
    (0..n).flat_map(image).collect()
}

fn with_images() -> Lab {
    let lab = Lab::new();
    lab.write("train.bin", coloured(30, 0));
    lab.write("test.bin", coloured(14, 1000));
    lab.write("more.bin", coloured(40, 5000));
    lab
}

#[test]
fn a_whole_recipe_gives_the_same_bytes_from_its_specification_on_any_threads_and_after_a_stop() {
    let lab = with_images();
    let recipe = "--net mlp --epochs 2 --augment flip,crop:0.5,colour:0.4,hue:0.1,jitter:0.8,grey:0.2 --views 2 \
                  --pairs 0.5 --normalise imagenet --pretext 2 --pretext-data more.bin --pretext-optimiser sgd \
                  --pretext-rate 0.01 --pretext-batch 20 --pretext-cosine --revive yes --holdout test.bin";
    let kept = "--checkpoint c.safetensors";
    let told = lab
        .succeed(&format!("fit train.bin {SMALL} {recipe} {kept} -o a.safetensors --save-spec a.json -t 1"));
    assert!(told.contains("held out") && told.contains("(14 images not trained on)"), "{told}");
    let spec: Value = serde_json::from_slice(&lab.read("a.json")).unwrap();
    let network = &spec["network"];
    assert_eq!((number(network, "/views"), network["normalise"].as_str()), (2.0, Some("imagenet")));
    assert_eq!(network["augment"], "flip,crop:0.5,colour:0.4,hue:0.1,jitter:0.8,grey:0.2");
    lab.succeed("fit --spec a.json -o b.safetensors --save-spec b.json -t 2");
    assert_eq!(lab.read("b.safetensors"), lab.read("a.safetensors"));
    assert_eq!(lab.read("b.json"), lab.read("a.json"));
    // Every option is part of what a run is.
    for other in ["--views 1", "--normalise plain", "--revive no"] {
        lab.refused(3, &format!("fit --spec a.json {kept} --resume {other}"), &["other options"]);
    }
    // What is left of a run that was stopped after its pretext.
    std::fs::remove_file(lab.path("c.safetensors")).unwrap();
    lab.succeed(&format!("fit --spec a.json {kept} --resume -o d.safetensors"));
    assert_eq!(lab.read("d.safetensors"), lab.read("a.safetensors"));
}

#[test]
fn images_that_were_not_trained_on_are_scored_as_if_they_were_predicted() {
    let lab = with_images();
    let fit = format!("fit train.bin {SMALL} --net mlp --epochs 3 -o m.safetensors");
    let report = lab.json(&format!("{fit} --holdout test.bin"));
    let whole = lab.read("m.safetensors");
    lab.succeed("predict m.safetensors test.bin -o l.npy");
    lab.labels("truth.npy", (0..14).map(|i| i % 2));
    let scored = lab.json("evaluate --truth truth.npy --pred l.npy");
    for metric in ["acc", "nmi", "ari"] {
        let path = format!("/holdout/metrics/{metric}");
        assert_eq!(number(&report, &path), number(&scored, &format!("/{metric}")), "{metric}");
    }
    let sizes: u64 =
        report["holdout"]["cluster_sizes"].as_array().unwrap().iter().map(|s| s.as_u64().unwrap()).sum();
    assert_eq!((number(&report, "/holdout/n"), sizes), (14.0, 14));
    assert!(lab.json(&fit)["holdout"].is_null());
    assert_eq!(lab.read("m.safetensors"), whole, "they do not change the network");
    // Labels of others can be given; without any there is nothing to report.
    lab.labels("turned.npy", (0..14).map(|i| i / 7));
    let turned = lab.json(&format!("{fit} --holdout test.bin --holdout-truth turned.npy"));
    assert_ne!(turned["holdout"]["metrics"], report["holdout"]["metrics"]);
    lab.write(
        "test-images-idx3-ubyte",
        [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0, 8][..], &[9; 128]].concat(),
    );
    lab.refused(3, &format!("{fit} --holdout test-images-idx3-ubyte"), &["--holdout-truth", "no labels"]);
    lab.refused(3, &format!("{fit} --holdout none.bin"), &["none.bin"]);
    lab.refused(
        3,
        &format!("{fit} --holdout test.bin --labels-out test.bin"),
        &["test.bin", "would be lost"],
    );
}

#[test]
fn features_are_normalised_as_the_weights_were_trained() {
    let lab = with_images();
    let fit =
        format!("fit train.bin {SMALL} --net resnet18-cifar --epochs 1 --vat 0 --normalise 0.3,0.3,0.4/0.2");
    lab.succeed(&format!("{fit} --backbone-out w.safetensors"));
    let embedded = |weights: &str, rest: &str| {
        let told = lab.run(&format!(
            "embed test.bin --backbone resnet18-cifar --weights {weights} --size 8 -o f.npy {rest}"
        ));
        assert!(told.status.success(), "{told:?}");
        (lab.read("f.npy"), String::from_utf8(told.stderr).unwrap())
    };
    let (features, notes) = embedded("w.safetensors", "");
    assert!(embedded("w.safetensors", "--normalise 0.3,0.3,0.4/0.2").0 == features);
    assert!(
        notes.starts_with("note: weights of resnet18-cifar: w.safetensors") && notes.lines().count() == 1,
        "{notes}"
    );
    assert_ne!(embedded("w.safetensors", "--normalise plain").0, features);
    lab.refused(
        3,
        "embed test.bin --backbone resnet18-stl --weights w.safetensors -o f.npy",
        &["resnet18-cifar"],
    );
    lab.refused(
        2,
        "embed test.bin --weights w.safetensors --normalise bright -o f.npy",
        &["bright", "imagenet"],
    );
}

#[test]
fn weights_of_the_other_resnet_do_not_become_a_start_silently() {
    let lab = with_images();
    let fit = |net: &str, rest: &str| format!("fit train.bin {SMALL} --net {net} --epochs 1 --vat 0 {rest}");
    lab.succeed(&fit("resnet18-stl", "--backbone-out w.safetensors -o m.safetensors"));
    for file in ["w.safetensors", "m.safetensors"] {
        let other = fit("resnet18-cifar", &format!("--init-weights {file}"));
        lab.refused(3, &other, &[file, "those of resnet18-stl"]);
    }
    let told = lab.run(&fit("resnet18-stl", "--init-weights w.safetensors"));
    assert!(told.status.success() && told.stderr.is_empty(), "{told:?}");
    // A file from elsewhere says nothing of its network.
    let mut bytes = lab.read("w.safetensors");
    let at = bytes.windows(12).position(|word| word == b"resnet18-stl").unwrap();
    bytes[at..at + 12].copy_from_slice(b"something to");
    lab.write("foreign.safetensors", bytes);
    let told = lab.run(&fit("resnet18-cifar", "--init-weights foreign.safetensors"));
    let notes = String::from_utf8(told.stderr).unwrap();
    assert!(told.status.success() && notes.contains("used as resnet18-cifar's"), "{notes}");
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let lab = with_images();
    let fit = |rest: &str| format!("fit train.bin {SMALL} --net mlp {rest}");
    lab.refused(3, &fit("--views 2"), &["--views", "--pairs"]);
    lab.refused(3, &fit("--augment flip --scan 1,1,1 --views 2"), &["--views", "--scan"]);
    lab.refused(3, &fit("--augment flip --views 0"), &["0 views"]);
    for option in
        ["--pretext-data more.bin", "--pretext-rate 0.1", "--pretext-cosine", "--pretext-optimiser sgd"]
    {
        lab.refused(3, &fit(option), &[option.split(' ').next().unwrap(), "--pretext", "--scan"]);
    }
    lab.refused(3, &fit("--augment flip --pretext 1 --pretext-rate 0"), &["--pretext-rate", "above 0"]);
    lab.refused(3, &fit("--augment flip --iic 1 --revive no"), &["--revive", "--iic"]);
    lab.refused(2, &fit("--revive maybe"), &["maybe", "yes"]);
    lab.refused(3, &fit("--holdout-truth y.csv"), &["--holdout-truth", "--holdout"]);
    lab.refused(2, &fit("--augment jitter:0.8"), &["jitter", "colour"]);
    lab.refused(2, &fit("--normalise 0.5/0"), &["0.5,0.5,0.5/0,0,0"]);
    lab.refused(3, &fit("--augment flip --scan 0,1,1"), &["--init-weights"]);
    lab.refused(2, "fit train.bin -k 2 --views 2", &["--net"]);
}
