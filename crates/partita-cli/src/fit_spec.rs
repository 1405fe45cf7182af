//! What was typed for a fit as a specification, and what it may use and writes.

use crate::args::{FitArgs, ItemOptions, MethodArgs};
use partita_job::{FitSpec, MethodSpec, Outputs, Resources, Result};

#[cfg(feature = "deep")]
use crate::args::NetworkArgs;
#[cfg(feature = "deep")]
use partita_job::{Field, JobError, NetworkSpec};
#[cfg(feature = "deep")]
use std::path::PathBuf;

/// The specification in the file of `--spec`, if there is one, with all that was typed.
pub fn spec(args: &FitArgs) -> Result<FitSpec> {
    let mut spec = args.spec.as_ref().map(FitSpec::read).transpose()?.unwrap_or_default();
    if !args.data.is_empty() {
        spec.data.paths.clone_from(&args.data);
    }
    if !args.read.columns.is_empty() {
        spec.data.columns.clone_from(&args.read.columns);
    }
    if !args.read.exclude.is_empty() {
        spec.data.exclude.clone_from(&args.read.exclude);
    }
    set_some(&mut spec.data.header, args.read.header.as_ref());
    set_some(&mut spec.data.label_header, args.label_header.as_ref());
    set_some(&mut spec.data.missing, args.read.missing.map(Into::into).as_ref());
    spec.data.roles.extend(args.read.roles.iter().cloned());
    set_some(&mut spec.data.array, args.read.array.as_ref());
    set_some(&mut spec.data.id_column, args.read.id_column.as_ref());
    spec.name_clusters |= args.name_clusters;
    set_some(&mut spec.k, args.k.as_ref());
    set(&mut spec.restarts, args.restarts);
    set(&mut spec.seed, args.seed);
    set(&mut spec.prior, args.prior.as_deref().map(str::parse).transpose()?);
    let sizes = args.sizes.spec();
    set_some(&mut spec.sizes.balance, sizes.balance.as_ref());
    set_some(&mut spec.sizes.min_size, sizes.min_size.as_ref());
    set_some(&mut spec.sizes.max_size, sizes.max_size.as_ref());
    set_some(&mut spec.outliers, args.outliers.as_ref());
    set_some(&mut spec.known, args.known.as_ref());
    set(&mut spec.method.known_weight, args.known_weight);
    set_some(&mut spec.weights, args.weights.as_ref());
    set_some(&mut spec.truth, args.truth.as_ref());
    set_some(&mut spec.like, args.like.as_ref());
    method(&args.method, &mut spec.method);
    items(&args.read.items, &mut spec);
    #[cfg(feature = "deep")]
    network(&args.network, &mut spec.network)?;
    #[cfg(feature = "deep")]
    if let Some(network) = &mut spec.network {
        network.skip_bad |= std::mem::take(&mut spec.data.skip_bad);
    }
    Ok(spec)
}

fn items(args: &ItemOptions, spec: &mut FitSpec) {
    set_some(&mut spec.data.text, args.text.as_ref());
    if !args.encoder.is_empty() {
        spec.data.encoder.clone_from(&args.encoder);
    }
    set_some(&mut spec.data.encoder_weights, args.encoder_weights.as_ref());
    spec.data.skip_bad |= args.skip_bad;
}

fn method(args: &MethodArgs, method: &mut MethodSpec) {
    set(&mut method.loss, args.loss);
    set_some(&mut method.lambda, args.lambda.as_ref());
    set_some(&mut method.gamma, args.gamma.as_ref());
    set(&mut method.prepare, args.prepare.map(Into::into));
    set(&mut method.lift, args.lift.map(Into::into));
    set(&mut method.neighbours, args.neighbours);
    set(&mut method.dims, args.dims);
    set(&mut method.init, args.init.map(Into::into));
    set_some(&mut method.epochs, args.epochs.as_ref());
    set_some(&mut method.batch, args.batch.as_ref());
    set(&mut method.em_iterations, args.em_iterations);
    method.exact_labels |= args.exact_labels;
    set(&mut method.refresh, args.refresh.map(Into::into));
    set(&mut method.optimiser, args.optimiser.map(Into::into));
    set(&mut method.momentum, args.momentum);
    set_some(&mut method.learning_rate, args.learning_rate.as_ref());
    set(&mut method.polish, args.polish);
}

#[cfg(feature = "deep")]
fn network(args: &NetworkArgs, network: &mut Option<NetworkSpec>) -> Result<()> {
    let mut typed = network.clone().unwrap_or_default();
    set(&mut typed.net, args.net.map(|net| net.to_string()));
    set_some(&mut typed.size, args.size.as_ref());
    set_some(&mut typed.normalise, args.normalise.map(|normalise| normalise.to_string()).as_ref());
    set(&mut typed.augment, args.augment.map(|augment| augment.to_string()));
    set_some(&mut typed.pairs, args.pairs.as_ref());
    set(&mut typed.views, args.views);
    set_some(&mut typed.vat, args.vat.as_ref());
    set(&mut typed.vat_length, args.vat_length);
    set(&mut typed.warm_up, args.warm_up);
    set_some(&mut typed.forward, args.forward.as_ref());
    set_some(&mut typed.iic, args.iic.as_ref());
    set_some(&mut typed.over, args.over.as_ref());
    set_some(&mut typed.scan, args.scan.as_ref());
    set_some(&mut typed.pretext, args.pretext.as_ref());
    pretext(args, &mut typed);
    set_some(&mut typed.revive, args.revive.as_ref());
    set_paths(&mut typed.holdout, &args.holdout);
    set_some(&mut typed.holdout_truth, args.holdout_truth.as_ref());
    set_some(&mut typed.init_weights, args.init_weights.as_ref());
    typed.freeze |= args.freeze;
    set_some(&mut typed.head_rate, args.head_rate.as_ref());
    set(&mut typed.weight_decay, args.weight_decay);
    if args.net.is_some() || network.is_some() {
        *network = Some(typed);
    } else if typed != NetworkSpec::default() {
        let problem =
            "an option of networks was given, but the specification has no network; give `net` as well";
        return Err(JobError::Refused { field: Some(Field::Net), problem: problem.to_owned() });
    }
    Ok(())
}

/// How the network first learns to tell images apart.
#[cfg(feature = "deep")]
fn pretext(args: &NetworkArgs, typed: &mut NetworkSpec) {
    set_paths(&mut typed.pretext_data, &args.pretext_data);
    set_some(&mut typed.pretext_rate, args.pretext_rate.as_ref());
    set_some(&mut typed.pretext_batch, args.pretext_batch.as_ref());
    set(&mut typed.pretext_optimiser, args.pretext_optimiser.map(Into::into));
    typed.pretext_cosine |= args.pretext_cosine;
}

#[cfg(feature = "deep")]
fn set_paths(field: &mut Vec<PathBuf>, typed: &[PathBuf]) {
    if !typed.is_empty() {
        *field = typed.to_vec();
    }
}

/// What was typed takes the place of what stands there.
fn set<T>(field: &mut T, typed: Option<T>) {
    if let Some(typed) = typed {
        *field = typed;
    }
}

fn set_some<T: Clone>(field: &mut Option<T>, typed: Option<&T>) {
    if let Some(typed) = typed {
        *field = Some(typed.clone());
    }
}

/// What a fit may use.
pub fn resources(args: &FitArgs) -> Resources {
    let resources =
        Resources { checkpoint: args.checkpoint.clone(), resume: args.resume, ..args.read.resources() };
    let result = args.output.clone().or(args.labels_out.clone()).or(args.proba_out.clone());
    let resources = Resources { result, ..resources };
    #[cfg(feature = "deep")]
    let resources =
        Resources { device: args.network.device.clone(), metrics: args.network.metrics.clone(), ..resources };
    resources
}

/// What a fit writes.
pub fn outputs(args: &FitArgs) -> Outputs {
    Outputs {
        model: args.output.clone(),
        labels: args.labels_out.clone(),
        proba: args.proba_out.clone(),
        #[cfg(feature = "deep")]
        backbone: args.network.backbone_out.clone(),
        #[cfg(not(feature = "deep"))]
        backbone: None,
        spec: args.save_spec.clone(),
    }
}
