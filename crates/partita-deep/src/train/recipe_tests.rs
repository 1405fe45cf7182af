//! Options that a recipe of the literature needs: several views, normalised images, another optimiser, other images.

use super::*;
use crate::device::tested;
use crate::losses::symmetric_kl;
use crate::nets::Net;
use crate::optimise::{Pace, Rule};
use burn::tensor::Tensor;
use partita::linear::{Loss, Solver};
use partita::report::Silent;
use partita_embed::images::Images;
use rand::RngExt;

fn noise(n: usize, seed: u64) -> Pixels {
    let mut rng = stream(seed, Stream::Synthetic, 0);
    Pixels::new([1, 8, 8], (0..n * 64).map(|_| rng.random()).collect())
}

fn options(net: Net) -> Params {
    Params { batch: 20, epochs: 2, disturb: 0.0, ..Params::new(2, net) }
}

fn trained(input: &Input<'_>, params: &Params) -> DeepFit {
    fit(input, params, tested(), &Silent, |_, _| Ok(())).unwrap()
}

fn bits(fit: &DeepFit) -> Vec<u32> {
    let mut out = Vec::new();
    weights::walk::each(&fit.model.net, &mut |_, _, values| out.extend(values.iter().map(|v| v.to_bits())));
    out
}

#[test]
fn the_divergences_of_all_views_add_up() {
    let pixels = noise(20, 1);
    let augment = "rotate:30,affine:0.2".parse().unwrap();
    let params = Params { augment, pairs: 0.5, views: 3, ..options(Net::Linear) };
    let mut trainer = Trainer::new(&Input::new(&pixels), &params, tested()).unwrap();
    let rows: Vec<usize> = (0..20).collect();
    let net = trainer.model.clone();
    let z = |data| net.forward(Tensor::from_data(data, &trainer.device));
    let inputs = trainer.source.inputs(&rows, 4);
    let image = z(inputs.first);
    let each: Vec<f64> =
        inputs.others.into_iter().map(|view| step::scalar(&symmetric_kl(image.clone(), z(view)))).collect();
    assert!(each.len() == 3 && each[0] != each[1] && each[1] != each[2] && each[0] != each[2], "{each:?}");
    let judge = trainer.judge(&rows);
    let inputs = trainer.source.inputs(&rows, 4);
    let pairs = trainer.step(inputs, &judge).pairs;
    assert!((pairs - 0.5 * each.iter().sum::<f64>()).abs() < 1e-6, "{pairs} {each:?}");
}

#[test]
fn no_view_is_seen_twice() {
    let pixels = noise(2, 1);
    for views in [1, 2, 5] {
        let augment = "rotate:30".parse().unwrap();
        let params = Params { augment, pairs: 1.0, views, ..options(Net::Linear) };
        let trainer = Trainer::new(&Input::new(&pixels), &params, tested()).unwrap();
        let epochs = (0..4).flat_map(|epoch| trainer.source.inputs(&[1], epoch).others);
        let mut seen: Vec<Vec<u32>> = epochs
            .map(|view| view.try_to_vec::<f32>().unwrap().iter().map(|v| v.to_bits()).collect())
            .collect();
        assert_eq!(seen.len(), 4 * views);
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 4 * views);
    }
}

#[test]
fn dead_clusters_start_again_where_that_is_asked_for_and_by_default_with_our_loss() {
    let pixels = noise(80, 2);
    let run = |loss: Loss, revive: Option<bool>| {
        let solver = Solver::Em { iterations: 5 };
        let aim = Aim::Core { loss, lambda: loss.default_lambda(), solver, refresh: Refresh::Batch };
        // With so large steps all images go to one of the four clusters.
        let heads = Pace { rate: 50.0, decay: 0.0 };
        let params = Params { k: 4, aim, revive, heads, batch: 8, epochs: 4, ..options(Net::Linear) };
        bits(&trained(&Input::new(&pixels), &params))
    };
    for (loss, usual) in [(Loss::Strong, true), (Loss::MutualInformation, false)] {
        let [yes, no] = [true, false].map(|revive| run(loss, Some(revive)));
        assert!(yes != no, "{loss}: a cluster died and came back");
        assert!(run(loss, None) == if usual { yes } else { no }, "{loss}");
    }
}

#[test]
fn a_network_remembers_how_its_images_are_normalised() {
    let lab = tempfile::tempdir().unwrap();
    for i in 0..20_u8 {
        let pixels = (0..192_u8).map(|p| p.wrapping_mul(7).wrapping_add(i.wrapping_mul(31)));
        let bytes = [b"P6 8 8 255\n".to_vec(), pixels.collect()].concat();
        std::fs::write(lab.path().join(format!("{i:02}.ppm")), bytes).unwrap();
    }
    let (images, rows) = (Images::open(&[lab.path()]).unwrap(), (0..20).collect::<Vec<usize>>());
    let pixels = Pixels::load(&images, &rows, None).unwrap();
    let params = Params { normalise: Some(Normalise::CIFAR10), ..options(Net::Vgg4) };
    let found = trained(&Input::new(&pixels), &params);
    let [model, weights] = ["m.safetensors", "w.safetensors"].map(|name| lab.path().join(name));
    found.model.write(&model).unwrap();
    found.model.complete_backbone(&weights).unwrap().appear().unwrap();
    let read = DeepModel::read(&model, tested()).unwrap();
    let proba = |model: &DeepModel| model.probabilities(&pixels, &Silent).unwrap();
    assert_eq!(proba(&read), proba(&found.model));
    let plain = DeepModel { normalise: Normalise::PLAIN, ..read.clone() };
    assert_ne!(proba(&plain), proba(&read));
    // Both files say it to whatever starts from them.
    for path in [&model, &weights] {
        let start = StateDict::open(path).unwrap();
        assert_eq!(start.normalise(), Some(Normalise::CIFAR10));
        let input = Input { start: Some(&start), ..Input::new(&pixels) };
        assert_eq!(
            Trainer::new(&input, &options(Net::Vgg4), tested()).unwrap().source.normalise,
            Normalise::CIFAR10
        );
        let other = Params { normalise: Some(Normalise::IMAGENET), ..options(Net::Vgg4) };
        assert_eq!(Trainer::new(&input, &other, tested()).unwrap().source.normalise, Normalise::IMAGENET);
    }
}

/// Stops a run after half of it.
struct Half;

impl Observer for Half {
    fn progress(&self, progress: Progress) -> Flow {
        if progress.done > 0.5 { Flow::Stop } else { Flow::Continue }
    }
}

#[test]
fn a_pretext_by_descent_on_other_images_goes_on_to_the_same_bits() {
    let (pixels, others) = (noise(40, 3), noise(60, 4));
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("c.safetensors");
    let params = Params { augment: "affine:0.3".parse().unwrap(), ..options(Net::Mlp) };
    let rule = Rule::Sgd { momentum: 0.9 };
    let stage = Pretext { rate: 0.01, batch: Some(30), rule, cosine: true, ..Pretext::new(4) };
    let known = [0; 40];
    let input = Input { pretext: Some(&others), known: Some(&known), ..Input::new(&pixels) };
    let run = |input: &Input<'_>, stage: &Pretext, observer: &dyn Observer| {
        pretext(input, &params, stage, &tested(), observer, |_, _| Ok(()))
    };
    let whole = run(&input, &stage, &Silent).unwrap();
    let kept = Input { checkpoint: Some(&path), ..input };
    assert_eq!(run(&kept, &stage, &Half).unwrap().epochs.len(), 2);
    let resumed = Input { resume: true, ..kept };
    assert!(bits(&run(&resumed, &stage, &Silent).unwrap()) == bits(&whole));
    // Every one of these options matters.
    for other in [
        Pretext { rate: 0.02, ..stage },
        Pretext { batch: None, ..stage },
        Pretext { rule: Rule::Adam, ..stage },
        Pretext { cosine: false, ..stage },
    ] {
        assert!(bits(&run(&input, &other, &Silent).unwrap()) != bits(&whole), "{other:?}");
    }
    assert!(bits(&run(&Input { pretext: None, ..input }, &stage, &Silent).unwrap()) != bits(&whole));
    // Rates that fall towards the last epoch leave no way to add one.
    let longer = run(&resumed, &Pretext { epochs: 5, ..stage }, &Silent).unwrap_err().to_string();
    assert!(longer.contains("give as many"), "{longer}");
}

#[test]
fn scan_begins_with_weights_and_ends_with_its_second_stage_where_that_is_asked_for() {
    let pixels = noise(40, 5);
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("w.safetensors");
    let params = Params { augment: "affine:0.3".parse().unwrap(), ..options(Net::Mlp) };
    let run = |input: &Input<'_>, epochs: [usize; 3]| {
        scan(input, &params, &Scan::new(epochs), &tested(), &Silent, |_, _| Ok(()))
    };
    let learnt = pretext(&Input::new(&pixels), &params, &Pretext::new(2), &tested(), &Silent, |_, _| Ok(()));
    learnt.unwrap().model.complete_backbone(&path).unwrap().appear().unwrap();
    let start = StateDict::open(&path).unwrap();
    let from_weights = run(&Input { start: Some(&start), ..Input::new(&pixels) }, [0, 2, 0]).unwrap();
    let whole = run(&Input::new(&pixels), [2, 2, 0]).unwrap();
    assert_eq!(bits(&from_weights), bits(&whole));
    assert_eq!((from_weights.epochs.len(), whole.epochs.len()), (2, 4));
    let told = run(&Input::new(&pixels), [0, 2, 0]).unwrap_err().to_string();
    assert!(told.contains("--init-weights"), "{told}");
    assert!(run(&Input::new(&pixels), [2, 0, 2]).is_err());
}
