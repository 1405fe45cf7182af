//! What was typed, as options of the deep engine.

use crate::args::{FitArgs, InitArg, MEMORY, OptimiserArg, PrepareArg, RESTARTS, ReadArgs, RefreshArg};
use crate::cmd::idle::{refuse, refuse_of_loss};
use anyhow::Result;
use partita::linear::{Dims, EM_ITERATIONS, Loss, Solver};
use partita_deep::losses::Vat;
use partita_deep::nets::Net;
use partita_deep::optimise::Pace;
use partita_deep::train::{Aim, Params};

/// Options that would silently be ignored: those of the linear engine by any network, those of our losses by IIC and SCAN.
pub fn refuse_idle_options(args: &FitArgs) -> Result<()> {
    refuse_reading_options(&args.read)?;
    let (deep, method) = (&args.deep, &args.method);
    let defaults = Params::new(2, Net::Linear);
    let given = [
        ("--weights", args.weights.is_some()),
        ("--like", args.like.is_some()),
        ("--balance", args.sizes.balance.is_some()),
        ("--min-size", args.sizes.min_size.is_some()),
        ("--max-size", args.sizes.max_size.is_some()),
        ("--polish", args.method.polish > 0),
        ("--gamma", args.method.gamma.is_some()),
        ("--restarts", args.restarts != RESTARTS),
        ("--dims", args.method.dims != Dims::Auto),
        ("--prepare", !matches!(args.method.prepare, PrepareArg::Auto)),
        ("--init", !matches!(args.method.init, InitArg::Auto)),
        ("--optimiser", !matches!(args.method.optimiser, OptimiserArg::Sgd)),
        ("--momentum", args.method.momentum != 0.0),
        ("--prior auto", args.prior.as_deref() == Some("auto")),
    ];
    refuse(&given, "for a network; leave it out, or leave out --net")?;
    refuse_of_loss(method)?;
    let ours = [
        ("--loss", method.loss != Loss::Strong),
        ("--lambda", method.lambda.is_some()),
        ("--em-iterations", method.em_iterations != EM_ITERATIONS),
        ("--exact-labels", method.exact_labels),
        ("--refresh epoch", matches!(method.refresh, RefreshArg::Epoch)),
        ("--pairs", deep.pairs.is_some()),
        ("--vat", deep.vat.is_some()),
        ("--vat-length", deep.vat_length != defaults.vat.epsilon),
        ("--warm-up", deep.warm_up > 0),
        ("--prior", args.prior.is_some()),
        ("--epochs", deep.scan.is_some() && method.epochs.is_some()),
    ];
    match (deep.iic, &deep.scan) {
        (Some(_), _) => refuse(&ours, "with --iic, which has a loss of its own; leave it out"),
        (_, Some(_)) => {
            refuse(&ours, "with --scan, whose stages have losses and epochs of their own; leave it out")
        }
        _ => Ok(()),
    }
}

/// The same for reading: images have no columns, and are all in memory.
pub fn refuse_reading_options(read: &ReadArgs) -> Result<()> {
    let given = [
        ("--array", read.array.is_some()),
        ("--columns", !read.columns.is_empty()),
        ("--id-column", read.id_column.is_some()),
        ("--memory", read.memory != MEMORY),
    ];
    refuse(&given, "for images; leave it out")
}

pub fn params(args: &FitArgs, net: Net) -> Result<Params> {
    let (deep, method) = (&args.deep, &args.method);
    let defaults = Params::new(args.k, net);
    let rate = method.learning_rate.unwrap_or(defaults.backbone.rate);
    let aim = match deep.iic {
        Some(heads) => Aim::Iic { heads, over: deep.over.unwrap_or(5 * args.k) },
        None => Aim::Core {
            loss: method.loss,
            lambda: method.lambda.unwrap_or(method.loss.default_lambda()),
            solver: if method.exact_labels {
                Solver::Exact
            } else {
                Solver::Em { iterations: method.em_iterations }
            },
            refresh: method.refresh.into(),
        },
    };
    let views = !deep.augment.to_string().is_empty();
    let pairs = deep.pairs.unwrap_or(if views && deep.iic.is_none() { 1.0 } else { 0.0 });
    let disturb = deep.vat.unwrap_or(if views || deep.iic.is_some() { 0.0 } else { defaults.disturb });
    let length = ("--vat-length", disturb == 0.0 && deep.vat_length != defaults.vat.epsilon);
    refuse(
        &[length],
        "where the weight of --vat is 0, as it is with --augment if nothing else is said; give --vat 10, or leave it out",
    )?;
    let warm_up = ("--warm-up", disturb == 0.0 && pairs == 0.0 && deep.warm_up > 0);
    refuse(&[warm_up], "without weights of --pairs or --vat that could rise; leave it out")?;
    Ok(Params {
        aim,
        prior: args.prior.as_deref().map(crate::cmd::fit::shares).transpose()?,
        augment: deep.augment,
        pairs,
        disturb,
        vat: Vat { epsilon: deep.vat_length, ..defaults.vat },
        warm_up: deep.warm_up,
        epochs: method.epochs.unwrap_or(defaults.epochs),
        batch: method.batch.unwrap_or(defaults.batch),
        backbone: Pace { rate: if deep.freeze { 0.0 } else { rate }, decay: deep.weight_decay },
        heads: Pace { rate: deep.head_rate.unwrap_or(rate), decay: deep.weight_decay },
        seed: args.seed,
        ..defaults
    })
}
