use super::*;
use crate::device::tested;
use crate::nets::Net;
use crate::optimise::Rule;
use partita::linear::{Loss, Solver};
use partita::metrics::scores;
use partita::report::Silent;
use partita_embed::images::Images;
use partita_embed::photos::PhotoNet;
use rand::RngExt;
use std::borrow::Cow;

/// Vertical or horizontal stripes of random phase, with noise.
fn stripes(n: usize) -> (Pixels, Vec<i64>) {
    let mut rng = stream(1, Stream::Synthetic, 0);
    let (mut bytes, mut truth) = (Vec::new(), Vec::new());
    for i in 0..n {
        let (class, phase) = (i % 2, rng.random_range(0..4usize));
        let lit = |y: usize, x: usize| (if class == 0 { y } else { x } + phase) % 4 < 2;
        for (y, x) in (0..8).flat_map(|y| (0..8).map(move |x| (y, x))) {
            bytes.push(if lit(y, x) { 200 } else { 20 } + rng.random_range(0..40u8));
        }
        truth.push(class as i64);
    }
    (Pixels::new([1, 8, 8], bytes), truth)
}

/// Bright vertical or horizontal bars at random places, with noise.
fn bars(n: usize) -> (Pixels, Vec<i64>) {
    let mut rng = stream(1, Stream::Synthetic, 0);
    let (mut bytes, mut truth) = (Vec::new(), Vec::new());
    for i in 0..n {
        let (class, at) = (i % 2, rng.random_range(0..8usize));
        let lit = |y: usize, x: usize| if class == 0 { y == at } else { x == at };
        for (y, x) in (0..8).flat_map(|y| (0..8).map(move |x| (y, x))) {
            bytes.push(if lit(y, x) { 220 } else { rng.random_range(0..30u8) });
        }
        truth.push(class as i64);
    }
    (Pixels::new([1, 8, 8], bytes), truth)
}

fn options(net: Net) -> Params {
    Params { batch: 50, epochs: 2, ..Params::new(2, net) }
}

fn input(pixels: &Pixels) -> Input<'_> {
    Input::new(pixels)
}

fn trained(input: &Input<'_>, params: &Params) -> DeepFit {
    fit(input, params, tested(), &Silent, |_, _| Ok(())).unwrap()
}

fn bits(fit: &DeepFit) -> Vec<(String, Vec<u32>)> {
    let mut out = Vec::new();
    weights::walk::each(&fit.model.net, &mut |name, _, values| {
        out.push((name.to_owned(), values.iter().map(|v| v.to_bits()).collect()));
    });
    out
}

/// Stops a run at this progress.
struct StopAt(f64);

impl Observer for StopAt {
    fn progress(&self, progress: Progress) -> Flow {
        if progress.done > self.0 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    let (pixels, _) = bars(200);
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("c.safetensors");
    let augment = "flip,rotate:10".parse().unwrap();
    for params in [
        Params { epochs: 3, ..options(Net::Mlp) },
        Params { epochs: 3, forward: Some(3), ..options(Net::Linear) },
        Params { epochs: 3, augment, pairs: 1.0, disturb: 0.0, ..options(Net::Vgg4) },
        Params { epochs: 3, augment, disturb: 0.0, aim: Aim::Iic { heads: 4, over: 4 }, ..options(Net::Mlp) },
        Params {
            epochs: 3,
            augment,
            pairs: 1.0,
            views: 3,
            revive: Some(true),
            normalise: Some("0.4/0.3".parse().unwrap()),
            ..options(Net::Mlp)
        },
    ] {
        let whole = trained(&input(&pixels), &params);
        let first = Input { checkpoint: Some(&path), ..input(&pixels) };
        let stopped = fit(&first, &params, tested(), &StopAt(0.5), |_, _| Ok(())).unwrap();
        assert_eq!((stopped.stop, stopped.epochs.len()), (StopReason::Interrupted, 1));
        let second = Input { resume: true, ..first };
        let mut seen = Vec::new();
        let each = |epoch: &Epoch, _: &DeepModel| {
            seen.push(epoch.epoch);
            Ok(())
        };
        let resumed = fit(&second, &params, tested(), &Silent, each).unwrap();
        assert_eq!(seen, [2, 3]);
        assert_eq!(bits(&resumed), bits(&whole));
        assert_eq!(resumed.epochs, whole.epochs);
        // Also when nothing is left to do but choose a head.
        let again = trained(&second, &params);
        assert_eq!((bits(&again), again.model.head), (bits(&whole), whole.model.head));
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let ((pixels, truth), (others, _)) = (bars(200), stripes(200));
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("c.safetensors");
    let params = options(Net::Mlp);
    let first = Input { checkpoint: Some(&path), ..input(&pixels) };
    trained(&first, &params);
    let second = Input { resume: true, ..first };
    let refused = |input: &Input<'_>, params: &Params| {
        fit(input, params, Device::flex(), &Silent, |_, _| Ok(())).unwrap_err().to_string()
    };
    assert!(refused(&second, &Params { seed: 9, ..params.clone() }).contains("other options"));
    assert!(refused(&second, &Params { epochs: 1, ..params.clone() }).contains("more epochs"));
    assert!(refused(&Input { pixels: &others, ..second }, &params).contains("other images"));
    let known: Vec<i32> = truth.iter().map(|t| *t as i32).collect();
    assert!(refused(&Input { known: Some(&known), ..second }, &params).contains("known labels"));
    let other = trained(&input(&others), &params);
    assert!(refused(&Input { begin: Some(&other.model), ..second }, &params).contains("weights"));
    trained(&second, &params);
}

#[test]
fn training_that_fails_is_not_a_result() {
    let (pixels, _) = bars(100);
    for net in [Net::Mlp, Net::Vgg4] {
        let pace = crate::optimise::Pace { rate: 1e30, decay: 0.0 };
        let params = Params { backbone: pace, disturb: 0.0, epochs: 3, ..options(net) };
        let failed = fit(&input(&pixels), &params, tested(), &Silent, |_, _| Ok(()));
        assert!(failed.is_err_and(|e| e.to_string().contains("smaller learning rate")), "{net}");
    }
}

#[test]
fn a_hostile_model_is_refused() {
    use partita_data::safetensors_io::TensorFile;
    let (pixels, _) = bars(100);
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("m.safetensors");
    trained(&input(&pixels), &options(Net::Mlp)).model.write(&path).unwrap();
    let honest = TensorFile::read(&path).unwrap();
    let iic = |heads: u64| Aim::Iic { heads: heads as usize, over: 2 };
    let contrast = Aim::Contrast { width: 2, temperature: 0.1 };
    let changes: [(usize, Aim); 5] = [
        (0, options(Net::Mlp).aim),
        (1 << 60, options(Net::Mlp).aim),
        (2, iic(1 << 40)),
        (2, iic(1 << 62)),
        (2, contrast),
    ];
    for (k, aim) in changes {
        let params = Params { k, aim, ..options(Net::Mlp) };
        let mut file = honest.clone();
        file.metadata.insert("params".into(), serde_json::to_string(&params).unwrap());
        file.write(&path).unwrap();
        assert!(DeepModel::read(&path, tested()).is_err(), "{k} {aim:?}");
    }
    honest.write(&path).unwrap();
    assert!(DeepModel::read(&path, tested()).is_ok());
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let (pixels, _) = bars(150);
    let augment = "flip,affine:0.1".parse().unwrap();
    let nets = [(Net::Mlp, 1.0), (Net::Vgg4, 0.0), (Net::Resnet18Cifar, 0.0), (Net::Resnet18Stl, 0.0)];
    for (net, pairs) in nets {
        let params = Params { epochs: 1, augment, pairs, views: 2, ..options(net) };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bits(&trained(&input(&pixels), &params)))
        };
        assert!(on(1) == on(3), "{net}");
    }
}

#[test]
fn every_aim_lowers_its_loss() {
    let (pixels, _) = bars(200);
    let core = |loss: &str, lambda, refresh| Aim::Core {
        loss: loss.parse::<Loss>().unwrap(),
        lambda,
        solver: Solver::Em { iterations: 3 },
        refresh,
    };
    let augment = "affine:0.1".parse().unwrap();
    let aims = [
        core("strong", 100.0, Refresh::Batch),
        core("mi", 4.0, Refresh::Batch),
        core("renyi:2", 1.0, Refresh::Batch),
        core("renyi-labels:2", 10.0, Refresh::Batch),
        core("sela", 20.0, Refresh::Epoch),
        core("miadm-dec", 1.0, Refresh::Epoch),
        core("miadm-depict", 1.0, Refresh::Batch),
        Aim::Iic { heads: 2, over: 4 },
    ];
    for (aim, views) in aims.into_iter().zip([1, 1, 1, 1, 1, 1, 2, 2]) {
        // The forward half is a part of the loss at first and not at the end.
        let forward = matches!(aim, Aim::Core { loss: Loss::Strong, .. }).then_some(0);
        let params =
            Params { aim, augment, views, epochs: 6, disturb: 0.0, pairs: 0.5, forward, ..options(Net::Mlp) };
        let found = trained(&input(&pixels), &params);
        let (first, last) = (&found.epochs[0], &found.epochs[5]);
        assert!(last.loss < first.loss, "{aim:?}: {first:?} {last:?}");
    }
}

/// With one batch per epoch, the labels of the batch are those of the epoch.
#[test]
fn labels_of_a_batch_and_of_an_epoch_of_one_batch_are_the_same() {
    let (pixels, truth) = bars(60);
    let known: Vec<i32> = (0..60).map(|i| if i % 5 == 0 { truth[i] as i32 } else { -1 }).collect();
    for (loss, known) in
        ["strong", "weak", "miadm-dec", "sela"].iter().flat_map(|l| [(l, None), (l, Some(&*known))])
    {
        let [batch, epoch] = [Refresh::Batch, Refresh::Epoch].map(|refresh| {
            let solver = Solver::Em { iterations: 5 };
            let aim = Aim::Core { loss: loss.parse().unwrap(), lambda: 10.0, solver, refresh };
            let params = Params { aim, batch: 60, epochs: 4, disturb: 0.0, ..options(Net::Mlp) };
            trained(&Input { known, ..input(&pixels) }, &params)
        });
        for (a, b) in batch.epochs.iter().zip(&epoch.epochs) {
            assert!((a.loss - b.loss).abs() < 1e-5, "{loss}: {a:?} {b:?}");
        }
        assert!(batch.epochs[3].loss < batch.epochs[0].loss, "{loss}");
    }
}

/// The labels depend on the batches of the epoch, including the incomplete last one, but not on the images' places in
/// the file.
#[test]
fn labels_of_an_epoch_do_not_depend_on_the_places_of_the_images() {
    let (pixels, _) = bars(110);
    let sorted: Vec<usize> = (0..110).step_by(2).chain((1..110).step_by(2)).collect();
    let bytes: Vec<u8> = sorted.iter().flat_map(|&i| pixels.get(i).pixels).collect();
    let others = Pixels::new([1, 8, 8], bytes);
    let params = options(Net::Mlp);
    let solver = Loss::Strong.solver(Solver::Em { iterations: 3 }, 100.0);
    let objective = Loss::Strong.self_labelled(solver, params.prior(), 100.0);
    let labels = |pixels: &Pixels, order: &[usize]| {
        Trainer::new(&input(pixels), &params, tested()).unwrap().label_all(&objective, order)
    };
    let order: Vec<usize> = (0..110).map(|i| i * 37 % 110).collect();
    let place = |i: usize| sorted.iter().position(|&other| other == i).unwrap();
    let found = labels(&pixels, &order);
    let elsewhere = labels(&others, &order.iter().map(|&i| place(i)).collect::<Vec<_>>());
    for i in 0..110 {
        let (a, b) = (found[2 * i], elsewhere[2 * place(i)]);
        assert!((a - b).abs() < 1e-9, "{i}: {a} {b}");
    }
    let first = found[0];
    assert!(found.chunks_exact(2).any(|y| (y[0] - first).abs() > 1e-3), "labels differ");
    let in_file = labels(&pixels, &(0..110).collect::<Vec<_>>());
    assert!(found.iter().zip(&in_file).any(|(a, b)| (a - b).abs() > 1e-4), "batches do matter");
}

#[test]
fn known_labels_teach_the_network() {
    let (pixels, truth) = bars(400);
    let known: Vec<i32> =
        truth.iter().enumerate().map(|(i, t)| if i % 4 < 2 { *t as i32 } else { -1 }).collect();
    for refresh in [Refresh::Batch, Refresh::Epoch] {
        let solver = Solver::Em { iterations: 3 };
        let aim = Aim::Core { loss: Loss::Strong, lambda: 100.0, solver, refresh };
        let params = Params { epochs: 15, aim, ..options(Net::Mlp) };
        let found = trained(&Input { known: Some(&known), ..input(&pixels) }, &params);
        let proba = found.model.probabilities(&pixels, &Silent).unwrap();
        let labels = proba.chunks_exact(2).map(|p| i64::from(p[1] > p[0]));
        let right = labels.zip(&truth).filter(|(a, b)| a == *b).count();
        assert!(right > 340, "{refresh:?}: {right} of 400, numbered as in the known labels");
    }
}

#[test]
fn weights_trained_here_give_the_features_they_were_trained_for() {
    let lab = tempfile::tempdir().unwrap();
    for i in 0..20_u8 {
        let pixels = (0..192_u8).map(|p| p.wrapping_mul(7).wrapping_add(i.wrapping_mul(31)));
        let bytes = [b"P6 8 8 255\n".to_vec(), pixels.collect()].concat();
        std::fs::write(lab.path().join(format!("{i:02}.ppm")), bytes).unwrap();
    }
    let images = Images::open(&[lab.path()]).unwrap();
    let rows: Vec<usize> = (0..20).collect();
    let pixels = Pixels::load(&images, &rows, None).unwrap();
    let net = Net::Resnet18Cifar;
    let found = trained(&input(&pixels), &Params { batch: 10, epochs: 1, ..options(net) });
    let path = lab.path().join("w.safetensors");
    found.model.complete_backbone(&path).unwrap().appear().unwrap();
    let encoder = PhotoNet::new(net, &StateDict::open(&path).unwrap(), Normalise::PLAIN, 8).unwrap();
    let mut features = vec![0.0; 20 * encoder.features()];
    encoder.encode(|i| images.get(i).map(Cow::Owned), |i| images.name(i), &mut features).unwrap();
    let (expected, width) = found.model.features(&pixels, &Silent).unwrap();
    assert_eq!((features.len(), width), (expected.len(), encoder.features()));
    assert!(expected.iter().any(|v| *v > 0.0));
    for (a, b) in features.iter().zip(&expected) {
        assert!((a - b).abs() <= 1e-4 * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn a_model_says_the_same_after_it_was_written_and_read() {
    let (pixels, _) = bars(100);
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("m.safetensors");
    let found = trained(&input(&pixels), &options(Net::Vgg4));
    found.model.write(&path).unwrap();
    assert!(DeepModel::is_one(&path));
    let read = DeepModel::read(&path, tested()).unwrap();
    assert_eq!(
        read.probabilities(&pixels, &Silent).unwrap(),
        found.model.probabilities(&pixels, &Silent).unwrap()
    );
    let other = Pixels::new([1, 8, 9], vec![0; 72]);
    assert!(read.probabilities(&other, &Silent).is_err());
}

#[test]
fn a_frozen_backbone_stays_as_it_was() {
    let (pixels, _) = bars(100);
    let mut params = options(Net::Vgg4);
    params.backbone.rate = 0.0;
    let found = trained(&input(&pixels), &params);
    let fresh = Classifier::new(Net::Vgg4, [1, 8, 8], &[2], &Device::flex()).unwrap();
    let fresh = weights::tensors(&weights::randomise(fresh, params.seed));
    let now = weights::tensors(&found.model.net);
    let changed: Vec<&String> = now.keys().filter(|name| now[*name] != fresh[*name]).collect();
    assert!(changed.iter().all(|name| name.starts_with("heads.")) && changed.len() == 2, "{changed:?}");
}

#[test]
fn options_that_cannot_work_are_refused() {
    let (pixels, _) = bars(60);
    let refused =
        |params: Params| Trainer::new(&input(&pixels), &params, Device::flex()).err().unwrap().to_string();
    assert!(refused(Params { k: 51, ..options(Net::Mlp) }).contains("--batch 510"));
    assert!(refused(Params { k: 100, ..options(Net::Mlp) }).contains("60 images"));
    assert!(refused(Params { pairs: 1.0, ..options(Net::Mlp) }).contains("--augment"));
    assert!(refused(Params { views: 0, ..options(Net::Mlp) }).contains("0 views"));
    assert!(refused(Params { views: 1000, ..options(Net::Mlp) }).contains("1000 views"));
    let rule = Rule::Sgd { momentum: 1.0 };
    assert!(refused(Params { rule, ..options(Net::Mlp) }).contains("momentum of 1"));
    let dark = Normalise { deviation: [0.0; 3], ..Normalise::PLAIN };
    assert!(refused(Params { normalise: Some(dark), ..options(Net::Mlp) }).contains("normalised"));
    assert!(refused(options(Net::Mobilenetv2)).contains("three channels"));
    assert!(refused(Params { disturb: f64::NAN, ..options(Net::Mlp) }).contains("finite"));
    for prior in [vec![0.5], vec![0.5, 0.1], vec![5.0, -4.0], vec![0.0, 1.0], vec![0.5, 0.3, 0.2]] {
        let told = refused(Params { prior: Some(prior.clone()), ..options(Net::Mlp) });
        assert!(told.contains("prior"), "{prior:?}: {told}");
    }
    let core = |lambda, iterations| Aim::Core {
        loss: Loss::Strong,
        lambda,
        solver: Solver::Em { iterations },
        refresh: Refresh::Batch,
    };
    for lambda in [-5.0, f64::INFINITY, f64::NAN] {
        assert!(refused(Params { aim: core(lambda, 3), ..options(Net::Mlp) }).contains("lambda"));
    }
    assert!(refused(Params { aim: core(100.0, 0), ..options(Net::Mlp) }).contains("EM iteration"));
}

#[test]
fn labels_and_neighbours_of_other_images_are_refused() {
    let (pixels, _) = bars(60);
    let refused = |input: Input<'_>, params: &Params| {
        Trainer::new(&input, params, Device::flex()).err().unwrap().to_string()
    };
    let params = options(Net::Mlp);
    assert!(refused(Input { known: Some(&[0; 59]), ..input(&pixels) }, &params).contains("59 known labels"));
    assert!(refused(Input { known: Some(&[2; 60]), ..input(&pixels) }, &params).contains("label is 2"));
    let aim = Aim::Neighbours { entropy: 5.0 };
    let params = Params { aim, augment: "flip".parse().unwrap(), ..params };
    for near in [&[][..], &[0; 61], &[60; 60]] {
        assert!(refused(Input { neighbours: near, ..input(&pixels) }, &params).contains("neighbours"));
    }
}

#[test]
fn the_forward_half_fades_out_of_the_first_half_of_a_run() {
    let (pixels, truth) = bars(200);
    let known: Vec<i32> = truth.iter().map(|t| *t as i32).collect();
    // Four batches an epoch, eight epochs.
    let weights = |input: &Input<'_>, params: &Params| {
        let params = Params { epochs: 8, ..params.clone() };
        let mut trainer = Trainer::new(input, &params, tested()).unwrap();
        [0, 4, 8, 16, 31].map(|steps| {
            trainer.adam.steps = steps;
            trainer.forward_weight()
        })
    };
    let ours = options(Net::Linear);
    assert_eq!(weights(&input(&pixels), &ours), [1.0, 0.75, 0.5, 0.0, 0.0]);
    let asked = |epochs| Params { forward: Some(epochs), ..ours.clone() };
    assert_eq!(weights(&input(&pixels), &asked(2)), [1.0, 0.5, 0.0, 0.0, 0.0]);
    assert_eq!(weights(&input(&pixels), &asked(0)), [0.0; 5]);
    let taught = Input { known: Some(&known), ..input(&pixels) };
    assert_eq!(weights(&taught, &ours), [0.0; 5]);
    assert_eq!(weights(&taught, &asked(2)), [1.0, 0.5, 0.0, 0.0, 0.0]);
    let other = |loss: &str, forward| Params {
        aim: Aim::Core {
            loss: loss.parse().unwrap(),
            lambda: 4.0,
            solver: Solver::Exact,
            refresh: Refresh::Batch,
        },
        forward,
        ..ours.clone()
    };
    for loss in ["mi", "weak", "sela", "miadm"] {
        assert_eq!(weights(&input(&pixels), &other(loss, None)), [0.0; 5], "{loss}");
    }
    assert_eq!(weights(&input(&pixels), &other("weak", Some(4))), [1.0, 0.75, 0.5, 0.0, 0.0]);
    let refused = Trainer::new(&input(&pixels), &other("mi", Some(1)), tested()).err().unwrap().to_string();
    assert!(refused.contains("mi") && refused.contains("reverse"), "{refused}");
}

#[test]
fn what_follows_a_pretext_is_checked_before_it() {
    let (pixels, _) = bars(60);
    let augment = "affine:0.1".parse().unwrap();
    let params = Params { k: 51, augment, ..options(Net::Mlp) };
    let each = |_: &Epoch, _: &DeepModel| unreachable!("nothing is trained");
    let refused = pretext(&input(&pixels), &params, &Pretext::new(3), &tested(), &Silent, each).unwrap_err();
    assert!(refused.to_string().contains("--batch 510"), "{refused}");
}

#[test]
fn scan_separates_stripes_and_resumes() {
    let (pixels, truth) = stripes(300);
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("c.safetensors");
    let augment = "affine:0.3".parse().unwrap();
    let params = Params { augment, batch: 100, ..Params::new(2, Net::Vgg4) };
    let stages = Scan { neighbours: 10, threshold: 0.9, ..Scan::new([6, 8, 3]) };
    let run = |input: &Input<'_>, stages: &Scan| {
        scan(input, &params, stages, &Device::flex(), &Silent, |_, _| Ok(())).unwrap()
    };
    let whole = run(&input(&pixels), &stages);
    let proba = whole.model.probabilities(&pixels, &Silent).unwrap();
    let labels: Vec<i64> = proba.chunks_exact(2).map(|p| i64::from(p[1] > p[0])).collect();
    let acc = scores(&truth, &labels).unwrap().acc;
    assert!(acc > 0.9, "{acc}");
    assert_eq!(whole.epochs.len(), 17);
    let sure: Vec<f64> = whole.epochs.iter().filter_map(|epoch| epoch.sure).collect();
    assert!(sure.len() == 3 && sure.iter().all(|share| (0.1..=1.0).contains(share)), "{sure:?}");
    // A run that was stopped in the second stage continues there.
    let kept = Input { checkpoint: Some(&path), resume: true, ..input(&pixels) };
    let short = Scan { epochs: [8, 1], ..stages };
    run(&kept, &short);
    assert_eq!(bits(&run(&kept, &stages)), bits(&whole));
}

#[test]
fn a_pretext_learns_even_if_what_follows_is_frozen() {
    let (pixels, _) = stripes(100);
    let augment = "affine:0.3".parse().unwrap();
    let mut params = Params { augment, ..options(Net::Vgg4) };
    params.backbone.rate = 0.0;
    let learnt =
        pretext(&input(&pixels), &params, &Pretext::new(3), &tested(), &Silent, |_, _| Ok(())).unwrap();
    assert!(learnt.epochs[2].loss < learnt.epochs[0].loss, "{:?}", learnt.epochs);
    let follows = trained(&Input { begin: Some(&learnt.model), ..input(&pixels) }, &params);
    let [learnt, kept] = [&learnt, &follows].map(|fit| weights::tensors(&fit.model.net));
    let backbone: Vec<&String> = kept.keys().filter(|name| name.starts_with("backbone.")).collect();
    assert!(!backbone.is_empty() && backbone.iter().all(|name| kept[*name] == learnt[*name]));
}
