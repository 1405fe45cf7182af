use super::*;
use crate::nets::{Classifier, build};
use burn::module::Module;
use burn::tensor::{Device, TensorData};

fn written(net: Net, change: impl Fn(&mut TensorFile)) -> (tempfile::TempDir, StateDict) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("w.safetensors");
    let backbone = randomise(build(net, [3, 32, 32], &Device::flex()).unwrap(), 5);
    let mut file = TensorFile::default();
    for (name, tensor) in tensors(&backbone) {
        file.tensors.insert(format!("module.{}", net.layouts()[0](&name).unwrap()), tensor);
    }
    change(&mut file);
    file.write(&path).unwrap();
    let state = StateDict::open(&path).unwrap();
    (directory, state)
}

#[test]
fn weights_come_back_through_torchvisions_names() {
    let (_directory, file) = written(Net::Resnet18, |file| {
        let spare = Tensor { shape: vec![1], values: Values::F32(vec![0.0]) };
        file.tensors.insert("module.fc.weight".into(), spare);
    });
    let fresh = build(Net::Resnet18, [3, 32, 32], &Device::flex()).unwrap();
    let loaded = load(fresh, Net::Resnet18, &file).unwrap();
    let same = randomise(build(Net::Resnet18, [3, 32, 32], &Device::flex()).unwrap(), 5);
    assert_eq!(tensors(&loaded), tensors(&same));
}

#[test]
fn weights_are_found_beside_other_parts_under_the_names_of_networks_for_cifar() {
    let net = Net::Resnet18Cifar;
    let twice = |other: &'static str| {
        written(net, move |file| {
            for (name, tensor) in std::mem::take(&mut file.tensors) {
                let name = name.replace("module.", "").replace("downsample", "shortcut");
                file.tensors.insert(format!("backbone.{name}"), tensor.clone());
                file.tensors.insert(format!("{other}.{name}"), tensor);
            }
            file.tensors.retain(|name, _| !name.starts_with("head.") || name == "head.bn1.weight");
        })
    };
    let fresh = || build(net, [3, 32, 32], &Device::flex()).unwrap();
    let (_directory, file) = twice("head");
    let loaded = load(fresh(), net, &file).unwrap();
    assert_eq!(tensors(&loaded), tensors(&randomise(fresh(), 5)));
    let (_directory, file) = twice("momentum");
    let told = load(fresh(), net, &file).unwrap_err().to_string();
    assert!(told.contains("`backbone.`") && told.contains("`momentum.`"), "{told}");
}

#[test]
fn weights_that_are_no_numbers_are_refused() {
    let (_directory, file) = written(Net::Resnet18, |file| {
        if let Some(Values::F32(values)) = file.tensors.get_mut("module.bn1.bias").map(|t| &mut t.values) {
            values[7] = f32::NAN;
        }
    });
    let fresh = build(Net::Resnet18, [3, 32, 32], &Device::flex()).unwrap();
    let told = load(fresh, Net::Resnet18, &file).unwrap_err().to_string();
    assert!(told.contains("number 7 of `module.bn1.bias` is NaN"), "{told}");
}

#[test]
fn what_does_not_fit_is_listed() {
    let (_directory, file) = written(Net::Resnet18, |file| {
        let moved = file.tensors.remove("module.layer1.0.conv1.weight").unwrap();
        file.tensors.insert("module.layer9.weight".into(), moved);
        if let Some(bias) = file.tensors.get_mut("module.bn1.bias") {
            *bias = Tensor { shape: vec![3], values: Values::F32(vec![0.0; 3]) };
        }
    });
    let fresh = build(Net::Resnet18, [3, 32, 32], &Device::flex()).unwrap();
    let told = load(fresh, Net::Resnet18, &file).unwrap_err().to_string();
    for word in ["resnet18", "1 tensors are missing", "layer1.0.conv1.weight", "layer9", "[3], not [64]"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    let other = build(Net::Mobilenetv2, [3, 32, 32], &Device::flex()).unwrap();
    assert!(load(other, Net::Mobilenetv2, &file).is_err());
}

#[test]
fn random_weights_depend_on_the_seed() {
    let net = |seed| tensors(&randomise(build(Net::Mlp, [1, 2, 2], &Device::flex()).unwrap(), seed));
    assert_eq!(net(1), net(1));
    assert_ne!(net(1), net(2));
}

#[test]
fn a_network_apart_trains_the_same_weights_and_leaves_the_moments() {
    let device = crate::device::tested().autodiff();
    let net = Classifier::new(Net::Vgg4, [1, 8, 8], &[3], &device).unwrap();
    let net = randomise(net, 1);
    let image = |i: i64| ((i * 37) % 101) as f32 / 101.0;
    let numbers: Vec<f32> = (0..4 * 64).map(image).collect();
    let x = burn::tensor::Tensor::<4>::from_data(TensorData::new(numbers, [4, 1, 8, 8]), &device);
    let gradient = |through: &Classifier| {
        let mut found =
            Found { gradients: through.forward(x.clone()).square().sum().backward(), all: Vec::new() };
        net.visit(&mut found);
        found.all
    };
    let before = tensors(&net.valid());
    let by_apart = gradient(&walk::apart(&net));
    assert_eq!(tensors(&net.valid()), before);
    let own = gradient(&net);
    assert_eq!(own, by_apart);
    // Four convolutions with γ and β, and the head; running moments have no gradient.
    assert_eq!(own.iter().flatten().count(), 4 * 3 + 2);
    let changed = tensors(&net.valid());
    assert!(changed.keys().any(|name| name.ends_with("running_mean") && changed[name] != before[name]));
}

/// The gradients of a network's parameters, if they have any.
struct Found {
    gradients: burn::tensor::Gradients,
    all: Vec<Option<Vec<f32>>>,
}

impl burn::module::ModuleVisitor for Found {
    fn visit_float<const D: usize>(&mut self, param: &burn::module::Param<burn::tensor::Tensor<D>>) {
        self.all.push(param.val().grad(&self.gradients).map(walk::values));
    }
}

#[test]
fn a_frozen_network_apart_stays_frozen() {
    let device = crate::device::tested().autodiff();
    let mut net = randomise(Classifier::new(Net::Vgg4, [1, 8, 8], &[3], &device).unwrap(), 1);
    net.backbone = net.backbone.freeze();
    let x = burn::tensor::Tensor::<4>::ones([4, 1, 8, 8], &device);
    let mut found =
        Found { gradients: walk::apart(&net).forward(x).square().sum().backward(), all: Vec::new() };
    net.visit(&mut found);
    assert_eq!(found.all.iter().flatten().count(), 2, "the head alone learns");
}

#[test]
fn weights_of_a_network_that_looks_the_same_are_refused_by_name() {
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("w.safetensors");
    let fresh = |net: Net| build(net, [3, 32, 32], &Device::flex()).unwrap();
    let pairs = [(Net::Resnet18Cifar, Net::Resnet18Stl), (Net::Resnet18Stl, Net::Resnet18Cifar)];
    for (net, other) in pairs {
        save(&randomise(fresh(net), 5), net, &path).unwrap();
        let file = StateDict::open(&path).unwrap();
        assert_eq!((file.doubt(net), file.doubt(other)), (None, None));
        assert_eq!(tensors(&load(fresh(net), net, &file).unwrap()), tensors(&randomise(fresh(net), 5)));
        let told = load(fresh(other), other, &file).unwrap_err().to_string();
        assert!(told.contains(&format!("weights of {other}: they are those of {net}")), "{told}");
        // A file from elsewhere does not say whose weights it holds.
        let (_directory, file) = written(net, |_| {});
        let doubt = file.doubt(other).unwrap();
        assert!(doubt.contains("resnet18-cifar") && doubt.contains("resnet18-stl"), "{doubt}");
        assert!(load(fresh(other), other, &file).is_ok());
    }
    assert_eq!(
        written(Net::Resnet18, |_| {}).1.doubt(Net::Resnet18),
        None,
        "its first layer is unlike the others'"
    );
}

#[test]
fn weights_of_one_form_of_resnet50_are_refused_by_the_other() {
    let fresh = |net: Net| build(net, [3, 32, 32], &Device::flex()).unwrap();
    for (net, other, spread) in
        [(Net::Resnet50, Net::Resnet50Keras, 2.0), (Net::Resnet50Keras, Net::Resnet50, 2000.0)]
    {
        // A file from elsewhere, which does not say what network it is from.
        let (_directory, file) = written(net, |file| {
            let spread = Tensor { shape: vec![64], values: Values::F32(vec![spread; 64]) };
            file.tensors.insert("module.bn1.running_var".into(), spread);
        });
        assert!(load(fresh(net), net, &file).is_ok());
        let refused = load(fresh(other), other, &file).unwrap_err().to_string();
        assert!(refused.contains(&format!("use {net}")) && refused.contains("pixels"), "{refused}");
    }
}
