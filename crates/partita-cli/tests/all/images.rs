//! Images: features by a network, and networks trained on images, as a user would run them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use crate::lab::Lab;
use partita_data::digits;
use partita_deep::device::Processor;
use partita_deep::nets::{Net, build};
use partita_deep::weights::{randomise, save};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The digits as an idx file of 8×8 images, with their labels beside it.
fn with_images() -> Lab {
    let lab = Lab::new();
    let (rows, labels) = digits();
    let n = 600;
    let mut bytes = vec![0, 0, 8, 3, 0, 0, (n >> 8) as u8, n as u8, 0, 0, 0, 8, 0, 0, 0, 8];
    bytes.extend(rows[..n * 64].iter().map(|v| (v * 15.0) as u8));
    lab.write("d-images-idx3-ubyte", bytes);
    let mut bytes = vec![0, 0, 8, 1, 0, 0, (n >> 8) as u8, n as u8];
    bytes.extend(&labels[..n]);
    lab.write("d-labels-idx1-ubyte", bytes);
    lab
}

fn weights(lab: &Lab) {
    let device = Processor::Cpu.device().unwrap();
    let backbone = randomise(build(Net::Mobilenetv2, [3, 32, 32], &device).unwrap(), 1);
    save(&backbone, Net::Mobilenetv2, lab.path("w.safetensors")).unwrap();
}

/// Wait until a running command has written this many bytes of a file.
fn wait_for(lab: &Lab, running: &mut Child, file: &str, bytes: u64) {
    while std::fs::metadata(lab.path(file)).map_or(0, |about| about.len()) < bytes {
        assert!(running.try_wait().unwrap().is_none(), "it ended before there was enough of {file}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn features_are_made_and_taken_up_after_an_interruption() {
    let lab = with_images();
    weights(&lab);
    let embed = "embed d-images-idx3-ubyte --weights w.safetensors --size 32 -o f.npy";
    let told = lab.succeed(embed);
    assert!(told.contains("600 images to 1280 features"), "{told}");
    let whole = lab.read("f.npy");
    assert_eq!(whole.len(), 128 + 600 * 1280 * 4);
    lab.succeed(&format!("{embed} -t 1"));
    assert_eq!(lab.read("f.npy"), whole, "threads do not change a bit");
    std::fs::remove_file(lab.path("f.npy")).unwrap();
    let mut killed = lab.command(embed).stdout(Stdio::null()).spawn().unwrap();
    wait_for(&lab, &mut killed, "f.npy.partial", 200_000);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!lab.exists("f.npy"));
    lab.succeed(embed);
    assert_eq!(lab.read("f.npy"), whole);
    assert!(!lab.exists("f.npy.partial"));
}

#[test]
fn what_cannot_become_features_is_refused() {
    let lab = with_images();
    weights(&lab);
    let embed = |images: &str, rest: &str| {
        format!("embed {images} --weights w.safetensors --size 32 -o f.npy {rest}")
    };
    lab.refused(3, &embed("d-images-idx3-ubyte", "--backbone resnet18"), &["resnet18", "mobilenetv2"]);
    lab.refused(2, &embed("d-images-idx3-ubyte", "--backbone vgg9"), &["vgg9", "mobilenetv2"]);
    lab.refused(3, &embed("d-images-idx3-ubyte", "--backbone mlp"), &["mlp", "mobilenetv2"]);
    lab.refused(3, &embed("w.safetensors", ""), &["w.safetensors", "CIFAR-10"]);
    lab.refused(
        3,
        "embed d-images-idx3-ubyte --weights d-labels-idx1-ubyte -o f.npy",
        &["d-labels", "PyTorch"],
    );
    std::fs::create_dir(lab.path("empty")).unwrap();
    lab.refused(3, &embed("empty", ""), &["empty", "folder"]);
    std::fs::create_dir(lab.path("bad")).unwrap();
    lab.write("bad/a.png", b"not a picture");
    lab.refused(3, &embed("bad", "--skip-bad"), &["a.png", "none of the 1 images"]);
}

#[test]
fn a_network_is_fitted_written_and_used() {
    let lab = with_images();
    let fit = "fit d-images-idx3-ubyte -k 10 --net mlp --epochs 3 --batch 100 -o m.safetensors --labels-out l.csv \
               --proba-out p.npy --metrics m.jsonl";
    let told = lab.succeed(fit);
    for word in ["600 images in 10 clusters by mlp", "truth", "ACC"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(lab.read("m.jsonl").iter().filter(|b| **b == b'\n').count(), 3);
    let fitted = lab.read("l.csv");
    lab.succeed("predict m.safetensors d-images-idx3-ubyte -o again.csv");
    assert_eq!(lab.read("again.csv"), fitted);
    lab.succeed("predict m.safetensors d-images-idx3-ubyte --proba -o again.npy");
    assert_eq!(lab.read("again.npy"), lab.read("p.npy"));
    let report =
        lab.json("fit d-images-idx3-ubyte -k 10 --net mlp --epochs 1 --batch 100 --loss mi --lambda 4");
    assert_eq!(report["epochs"][0]["epoch"], 1);
    assert!(report["metrics"]["acc"].as_f64().unwrap() > 0.1);
}

#[test]
fn clusters_of_a_network_carry_the_names_of_known_labels() {
    let lab = with_images();
    let (_, labels) = digits();
    let known = labels[..600].iter().enumerate();
    let known = known.map(|(i, label)| if i % 2 == 0 { format!("digit-{label}\n") } else { "\n".to_owned() });
    lab.write("known.csv", known.collect::<String>());
    let fit = "fit d-images-idx3-ubyte -k 10 --net mlp --epochs 1 --batch 100 --known known.csv";
    let told = lab.succeed(&format!("{fit} -o m.safetensors --labels-out l.csv"));
    assert!(told.contains("  sizes         digit-0 "), "{told}");
    let labels = String::from_utf8(lab.read("l.csv")).unwrap();
    assert!(labels.starts_with("id,cluster,name,confidence\n") && labels.contains(",digit-7,"), "{labels}");
    lab.succeed("predict m.safetensors d-images-idx3-ubyte -o again.csv");
    assert_eq!(lab.read("l.csv"), lab.read("again.csv"));
    let report = lab.json("predict m.safetensors d-images-idx3-ubyte -o again.csv");
    assert_eq!(report["cluster_names"][9], "digit-9");
}

#[test]
fn clusters_that_died_are_named() {
    let lab = with_images();
    let fit = "fit d-images-idx3-ubyte -k 10 --net linear --vat 0 --epochs 1 --batch 600 --learning-rate 10";
    let told = lab.succeed(fit);
    assert!(told.contains("dead: (almost) no row") && told.contains("--head-rate"), "{told}");
    let json: serde_json::Value = serde_json::from_str(&lab.succeed(&format!("{fit} --json"))).unwrap();
    let [sizes, ailments] = ["cluster_sizes", "ailments"].map(|key| json[key].as_array().unwrap());
    let dead = sizes.iter().filter(|size| size.as_u64().unwrap() < 6).count();
    assert!(dead > 0 && ailments.len() == dead && json["advice"].is_string(), "{json}");
}

#[test]
fn scan_goes_through_its_stages() {
    let lab = with_images();
    let report = lab.json(
        "fit d-images-idx3-ubyte -k 10 --net mlp --batch 100 --augment affine:0.1 --scan 2,2,1 --checkpoint c.safetensors",
    );
    assert_eq!(report["epochs"].as_array().unwrap().len(), 5);
    assert!(report["metrics"]["acc"].as_f64().unwrap() > 0.1);
    for stage in ["contrast", "neighbours", "labels"] {
        assert!(lab.exists(&format!("c.{stage}.safetensors")), "{stage}");
    }
}

#[test]
fn a_run_too_large_for_memory_is_refused_before_it_starts() {
    let lab = with_images();
    let fit = "fit d-images-idx3-ubyte -k 10 --net resnet18-cifar --size 256 --batch 600 -o m.safetensors";
    lab.refused(3, fit, &["memory", "--batch", "--size"]);
}

#[test]
fn a_killed_run_goes_on_to_the_same_bits() {
    let lab = with_images();
    let fit = |out: &str, rest: &str| {
        format!("fit d-images-idx3-ubyte -k 10 --net mlp --epochs 12 --batch 50 -o {out}.safetensors {rest}")
    };
    lab.succeed(&fit("whole", ""));
    let half = "--checkpoint c.safetensors --metrics m.jsonl";
    let mut killed = lab.command(&fit("half", half)).stdout(Stdio::null()).spawn().unwrap();
    wait_for(&lab, &mut killed, "c.safetensors", 1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!lab.exists("half.safetensors"), "the run was killed too late for this test");
    lab.succeed(&fit("half", &format!("{half} --resume")));
    assert_eq!(lab.read("half.safetensors"), lab.read("whole.safetensors"));
    let lines = String::from_utf8(lab.read("m.jsonl")).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let told: Vec<(u64, f64)> = lines
        .map(|line| (line["epoch"]["epoch"].as_u64().unwrap(), line["seconds"].as_f64().unwrap()))
        .collect();
    assert!(told.iter().map(|line| line.0).eq(1..=12), "every epoch is told of once: {told:?}");
    assert!(told.is_sorted_by(|a, b| a.1 <= b.1), "{told:?}");
}

#[test]
fn control_c_keeps_what_was_learnt() {
    let lab = with_images();
    let fit = "fit d-images-idx3-ubyte -k 10 --net mlp --epochs 100000 --batch 50 -o m.safetensors --checkpoint c.safetensors";
    let mut child = lab.command(fit).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&lab, &mut child, "c.safetensors", 1);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("is kept in c.safetensors") && told.contains("--resume"), "{told}");
    assert!(!lab.exists("m.safetensors"));
}

#[test]
fn fits_that_make_no_sense_are_refused() {
    let lab = with_images();
    let fit = |rest: &str| format!("fit d-images-idx3-ubyte --net mlp -o m.safetensors {rest}");
    lab.refused(3, &fit("-k 300 --batch 100"), &["300 clusters", "--batch 3000"]);
    for option in [
        "--polish 3",
        "--restarts 3",
        "--dims 8",
        "--prepare l2",
        "--init kmeans",
        "--optimiser adam",
        "--momentum 0.9",
    ] {
        lab.refused(3, &fit(&format!("-k 10 {option}")), &[option.split(' ').next().unwrap(), "--net"]);
    }
    lab.refused(3, &fit("-k 10 --augment flip --scan 1,2"), &["--scan", "three"]);
    lab.refused(2, &fit("-k 10 --scan 1,1,1"), &["--augment"]);
    lab.refused(2, &fit("-k 10 --augment spin"), &["spin", "rotate"]);
    lab.refused(3, &fit("-k 10 --iic 2"), &["--augment"]);
    lab.refused(2, "fit d-images-idx3-ubyte -k 10 --vat 3", &["--net"]);
    lab.refused(3, &fit("-k 10 --device cuda"), &["--features cuda"]);
    for option in ["--array x", "--columns a", "--id-column a", "--memory 2G"] {
        lab.refused(3, &fit(&format!("-k 10 {option}")), &[option.split(' ').next().unwrap(), "images"]);
    }
    let ours = [
        "--loss mi",
        "--lambda 3",
        "--exact-labels",
        "--refresh epoch",
        "--pairs 1",
        "--vat 1",
        "--forward 1",
        "--prior 0.5,0.5",
    ];
    for (aim, option) in ["--iic 2", "--scan 1,1,1"].iter().flat_map(|aim| ours.map(|option| (aim, option))) {
        let name = option.split(' ').next().unwrap();
        lab.refused(3, &fit(&format!("-k 2 --augment flip {aim} {option}")), &[name, &aim[..5]]);
    }
    for prior in ["0.5", "5,-3", "0,1", "0.5,0.3,0.2"] {
        lab.refused(3, &fit(&format!("-k 2 --prior {prior}")), &["prior"]);
    }
    lab.refused(3, &fit("-k 2 --lambda -5"), &["lambda"]);
    lab.refused(3, &fit("-k 2 --loss mi --exact-labels"), &["--exact-labels", "no meaning"]);
    lab.refused(3, &fit("-k 2 --augment flip --vat-length 3"), &["--vat-length", "no meaning"]);
    lab.refused(3, &fit("-k 2 --vat 0 --warm-up 3"), &["--warm-up", "no meaning"]);
    lab.refused(3, &fit("-k 2 --loss mi --forward 1"), &["--forward", "no meaning"]);
    lab.refused(3, &fit("-k 2 --augment flip --pretext 9000 --lambda -5"), &["lambda"]);
    assert!(!lab.exists("m.safetensors"));
}

#[test]
fn outputs_are_checked_before_training() {
    let lab = with_images();
    lab.write("m.jsonl", "of an older run");
    lab.write("none.csv", "-1\n".repeat(600));
    let fit = |rest: &str| format!("fit d-images-idx3-ubyte --net mlp -k 10 --epochs 1 --batch 100 {rest}");
    for option in ["--backbone-out", "--checkpoint", "--metrics"] {
        lab.refused(5, &fit(&format!("{option} nowhere/x.safetensors")), &["nowhere"]);
        let twice = format!("-o m.safetensors {option} m.safetensors");
        lab.refused(3, &fit(&twice), &["m.safetensors", "two outputs"]);
    }
    lab.refused(3, &fit("--checkpoint d-labels-idx1-ubyte"), &["d-labels", ".safetensors"]);
    lab.refused(3, &fit("--metrics m.png"), &["m.png", ".jsonl"]);
    let staged = "--augment flip --pretext 1 --checkpoint c.safetensors -o c.contrast.safetensors";
    lab.refused(3, &fit(staged), &["c.contrast.safetensors", "two outputs"]);
    lab.refused(3, &fit("--truth none.csv -o m.safetensors"), &["label"]);
    lab.refused(3, &fit("--metrics d-images-idx3-ubyte"), &["d-images-idx3-ubyte", "would be lost"]);
    lab.write("w.safetensors", "");
    let same = fit("--init-weights w.safetensors --backbone-out ./w.safetensors");
    lab.refused(3, &same, &["w.safetensors", "would be lost"]);
    lab.refused(3, &fit("--metrics m.jsonl --lambda -1"), &["lambda"]);
    assert_eq!(lab.read("m.jsonl"), b"of an older run");
    assert!(!lab.exists("m.safetensors"));
}

#[test]
fn a_network_is_trained_again_from_its_specification() {
    let lab = with_images();
    let fit = "fit d-images-idx3-ubyte -k 10 --net mlp --epochs 2 --batch 100 --augment flip,affine:0.1 --vat 3 --vat-length 1 --loss mi";
    lab.succeed(&format!("{fit} -o a.safetensors --labels-out a.csv --save-spec a.json"));
    lab.succeed("fit --spec a.json -o b.safetensors --labels-out b.csv --save-spec b.json");
    for (a, b) in [("a.safetensors", "b.safetensors"), ("a.csv", "b.csv"), ("a.json", "b.json")] {
        assert_eq!(lab.read(a), lab.read(b), "{a}");
    }
    let report = lab.json("fit --spec a.json --epochs 1 --vat 0.5 --net linear");
    assert_eq!((&report["params"]["net"], &report["params"]["disturb"]), (&"linear".into(), &0.5.into()));
    lab.refused(3, "fit --spec a.json --polish 3", &["--polish", "--net"]);
    lab.write("rows.json", r#"{ "k": 2 }"#);
    lab.npy("x.npy", &[0.0, 1.0, 2.0, 3.0], 2);
    lab.refused(3, "fit x.npy --spec rows.json --vat 3", &["--net"]);
    lab.refused(3, "fit x.npy --spec rows.json --backbone-out w.safetensors", &["--net"]);
    lab.refused(3, "fit x.npy --spec rows.json --metrics m.jsonl", &["--metrics", "--net"]);
    lab.write("bad.json", r#"{ "k": 2, "network": { "net": "vgg9" } }"#);
    lab.refused(3, "fit d-images-idx3-ubyte --spec bad.json", &["vgg9", "mobilenetv2"]);
}

#[test]
fn pictures_of_other_sizes_are_predicted() {
    let lab = with_images();
    std::fs::create_dir(lab.path("p")).unwrap();
    let header = |side: u8| format!("P5 {side} {side} 255\n").into_bytes();
    for (name, side) in [("a", 8), ("b", 20), ("c", 30)] {
        let pixels = (0..u32::from(side) * u32::from(side)).map(|i| (i * 7) as u8);
        lab.write(&format!("p/{name}.pgm"), [header(side), pixels.collect()].concat());
    }
    lab.write("p/d.png", b"not a picture");
    let fit =
        "fit p --net mlp -k 2 --size 8 --epochs 1 --batch 2 --skip-bad -o m.safetensors --labels-out l.csv";
    lab.succeed(fit);
    lab.refused(3, "predict m.safetensors p -o again.csv", &["d.png", "--skip-bad"]);
    lab.succeed("predict m.safetensors p --skip-bad -o again.csv");
    assert_eq!(lab.read("again.csv"), lab.read("l.csv"));
    lab.refused(3, "predict m.safetensors p --columns a", &["--columns", "images"]);
    lab.succeed("predict m.safetensors p/a.pgm -o one.csv");
    assert_eq!(lab.read("one.csv").iter().filter(|b| **b == b'\n').count(), 2);
    for command in [
        "explain m.safetensors x.npy --row 0",
        "update m.safetensors x.npy",
        "fit x.npy -k 2 --like m.safetensors",
    ] {
        lab.npy("x.npy", &[0.0, 1.0, 2.0, 3.0], 2);
        lab.refused(3, command, &["the model of a network", "predict"]);
    }
}

/// Photos in two folders, one of which is cut short.
fn with_photos() -> Lab {
    let lab = Lab::new();
    let digits = digits().0;
    for (at, image) in digits.chunks_exact(64).take(12).enumerate() {
        let class = ["ant", "bee"][at % 2];
        std::fs::create_dir_all(lab.path("photos").join(class)).unwrap();
        let mut ppm = b"P5 8 8 255\n".to_vec();
        ppm.extend(image.iter().map(|v| (v * 15.0) as u8));
        if at == 4 {
            ppm.truncate(40);
        }
        lab.write(&format!("photos/{class}/{at:02}.pgm"), ppm);
    }
    lab
}

#[test]
fn features_keep_the_names_and_classes_of_their_images() {
    let lab = with_photos();
    weights(&lab);
    let embed = |to: &str| format!("embed photos --weights w.safetensors --size 32 --skip-bad -o {to}");
    let told = lab.json(&embed("f.npy"));
    assert_eq!(
        (&told["n"], &told["skipped"], &told["names"]),
        (&11.into(), &1.into(), &"f.names.csv".into())
    );
    let names = lab.table("f.names.csv");
    assert_eq!(names.len(), 11, "a line for each row of the features");
    assert_eq!(names[2], ["photos/ant/06.pgm", "ant"], "the name after the one that was skipped");
    assert_eq!(names[10], ["photos/bee/11.pgm", "bee"]);
    lab.succeed(&embed("f.parquet"));
    lab.succeed("fit f.parquet -k 2 -r 1 --truth f.parquet --labels-out l.csv");
    let labels = lab.table("l.csv");
    assert_eq!((labels.len(), &*labels[2][0]), (11, "photos/ant/06.pgm"));
    lab.refused(3, &embed("f.csv"), &["f.csv", ".npy or .parquet"]);
}

#[test]
fn two_runs_never_mix_their_rows() {
    let lab = with_images();
    weights(&lab);
    let embed = "embed d-images-idx3-ubyte --weights w.safetensors --size 64 -t 1 -o f.npy";
    let mut first = lab.command(embed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&lab, &mut first, "f.npy.partial", 1);
    let second = lab.run(embed);
    let told = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(5), "{told}");
    assert!(told.contains("f.npy.partial is in use by another run"), "{told}");
    first.kill().unwrap();
    first.wait().unwrap();
    lab.succeed(embed);
    assert_eq!(lab.read("f.npy").len(), 128 + 600 * 1280 * 4);
}
