//! Seconds of a training step; `bench/deep.py` is the same in PyTorch. Arguments: the number of threads, and a network.

use burn::tensor::{Device, Tensor, activation::log_softmax};
use partita_deep::nets::{Classifier, Net};
use partita_deep::optimise::{Optimiser, Pace};
use partita_deep::weights::randomise;
use std::time::Instant;

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[allow(clippy::print_stdout)] // It is a program.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = std::env::args().nth(1).map_or(Ok(2), |text| text.parse())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    for (net, shape) in
        [(Net::Mlp, [250, 1, 28, 28]), (Net::Vgg4, [250, 1, 24, 24]), (Net::Resnet18Cifar, [64, 3, 32, 32])]
    {
        if std::env::args().nth(2).is_some_and(|only| only != net.to_string()) {
            continue;
        }
        let seconds = pool.install(|| step(net, shape))?;
        println!("{:<20} {seconds:.4} s", format!("{net} {}", shape[0]));
    }
    Ok(())
}

/// The fastest of five steps.
fn step(net: Net, shape: [usize; 4]) -> partita_deep::Result<f64> {
    let device = Device::flex().autodiff();
    let mut model = randomise(Classifier::new(net, [shape[1], shape[2], shape[3]], &[10], &device)?, 0);
    let pace = Pace { rate: 1e-3, decay: 0.0 };
    let mut adam = Optimiser::new(pace, pace);
    let x = Tensor::<4>::ones(shape, &device) * 0.5;
    let mut fastest = f64::INFINITY;
    for _ in 0..5 {
        let started = Instant::now();
        let log_sigma = log_softmax(model.forward(x.clone()), 1);
        let loss = -(log_sigma.clone().exp() * log_sigma).sum() / shape[0] as f32;
        model = adam.step(model, loss.backward());
        fastest = fastest.min(started.elapsed().as_secs_f64());
    }
    Ok(fastest)
}
