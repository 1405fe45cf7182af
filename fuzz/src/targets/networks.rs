//! Images, weights of networks, trained networks and checkpoints of their training.

use super::{chosen, file, folder, packed_as_gzip};
use image::ImageReader;
use partita::report::{Flow, Observer, Progress, Silent};
use partita_deep::device::Processor;
use partita_deep::nets::Net;
use partita_deep::train::{DeepFit, DeepModel, Input, Params, fit};
use partita_embed::images::{Images, Pixels};
use partita_embed::weights::StateDict;
use std::io::Cursor;
use std::path::Path;

/// Pixels of a picture that is decoded here. Few bytes can hold a large picture of one colour; up to the limit of the program it is
/// decoded, which takes its time.
const MOST_PIXELS: u64 = 1 << 18;

/// A picture.
pub fn picture(bytes: &[u8]) -> bool {
    let claimed = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok();
    let size = claimed.and_then(|reader| reader.into_dimensions().ok());
    if size.is_some_and(|(w, h)| u64::from(w) * u64::from(h) > MOST_PIXELS) {
        return false;
    }
    let file = file(".png", bytes);
    let Ok(images) = Images::open(&[file.path()]) else { return false };
    images.get(0).is_ok_and(|image| {
        assert_eq!(image.pixels.len(), image.shape().iter().product::<usize>());
        true
    })
}

/// Images of CIFAR, STL-10 or MNIST in one file, plain or packed.
pub fn packed(bytes: &[u8]) -> bool {
    let (choice, bytes) = chosen(bytes);
    let file = match choice & 1 {
        0 => file(".bin", bytes),
        _ => file(".bin.gz", &packed_as_gzip(bytes)),
    };
    let Ok(images) = Images::open(&[file.path()]) else { return false };
    for i in [0, images.len() / 2, images.len() - 1] {
        images.get(i).expect("an image of an open file");
    }
    for clusters in [10, 100] {
        assert!(images.labels(clusters).is_none_or(|labels| labels.len() == images.len()));
    }
    true
}

/// PyTorch's weights of any age.
pub fn torch(bytes: &[u8]) -> bool {
    let file = file(".pt", bytes);
    let Ok(weights) = StateDict::open(file.path()) else { return false };
    // A file may name the same numbers any number of times, but a network reads only its own.
    for (name, shape) in weights.shapes().iter().take(50) {
        if let Ok(values) = weights.read(name) {
            assert_eq!(values.len(), shape.iter().product::<usize>());
        }
    }
    true
}

/// A trained network, used for one small image.
pub fn network_model(bytes: &[u8]) -> bool {
    let file = file(".safetensors", bytes);
    let device = Processor::Cpu.device().expect("a processor");
    let Ok(model) = DeepModel::read(file.path(), device) else { return false };
    let size: usize = model.shape.iter().product();
    if size <= 3 * 32 * 32 {
        let _ = model.probabilities(&Pixels::new(model.shape, vec![128; size]), &Silent);
    }
    true
}

/// The state of a network's training: read, and one step further.
pub fn network_checkpoint(bytes: &[u8]) -> bool {
    let folder = folder();
    let path = folder.path().join("state.safetensors");
    std::fs::write(&path, bytes).expect("a checkpoint");
    train_with_checkpoint(&path, &Stop).is_ok()
}

/// Stops at once.
struct Stop;

impl Observer for Stop {
    fn progress(&self, _: Progress) -> Flow {
        Flow::Stop
    }
}

/// Go on from a checkpoint, if there is one.
pub fn train_with_checkpoint(path: &Path, observer: &dyn Observer) -> partita_deep::Result<DeepFit> {
    let pixels = Pixels::new([1, 2, 2], (0..24).map(|i| i * 10).collect());
    let params = Params { batch: 3, epochs: 2, disturb: 0.0, ..Params::new(2, Net::Linear) };
    let input = Input { checkpoint: Some(path), resume: true, ..Input::new(&pixels) };
    fit(&input, &params, Processor::Cpu.device()?, observer, |_, _| Ok(()))
}
