//! Fields that would silently be ignored beside others are refused instead, once for all front ends.

use super::network::{PretextOptimiser, VAT_LENGTH, VIEWS};
use super::{DataSpec, FitSpec, MethodSpec, NetworkSpec, OptimiserKind, PriorSpec, RESTARTS};
use crate::error::{JobError, Result};
use crate::field::Field;
use crate::resources::{MEMORY, Resources};
use partita::linear::{Dims, EM_ITERATIONS, Init, Loss, Neighbours, Prepare, Refresh};

/// Fields that the linear engine, its loss or its optimiser does not use.
pub(super) fn refuse_for_linear(spec: &FitSpec, resources: &Resources) -> Result<()> {
    let of_networks =
        [(Field::Device, resources.device != Resources::CPU), (Field::Metrics, resources.metrics.is_some())];
    JobError::first_idle(&of_networks, "without a network; leave it out, or give `net`")?;
    refuse_for_optimiser(&spec.method)?;
    refuse_for_loss(&spec.method)?;
    refuse_neighbours(&spec.method)
}

/// Only the kernel of the default loss finds pseudo-labels from other rows than those that learn them.
fn refuse_neighbours(method: &MethodSpec) -> Result<()> {
    let asked = !matches!(method.neighbours, Neighbours::Auto | Neighbours::Exactly(0));
    let other = method.loss != Loss::Strong
        || method.exact_labels
        || method.refresh == Refresh::Epoch
        || method.optimiser == OptimiserKind::Lbfgs;
    let why = "beside these options: neighbours teach by the labels that the `loss` strong finds in every batch; leave it out";
    JobError::first_idle(&[(Field::Neighbours, asked && other)], why)
}

/// Fields that say something about a number of clusters that is still to be chosen.
pub(super) fn refuse_for_choice(spec: &FitSpec) -> Result<()> {
    let given = [
        (Field::Net, spec.network.is_some()),
        (Field::Prior, matches!(spec.prior, PriorSpec::Shares(_) | PriorSpec::File(_))),
        (Field::Known, spec.known.is_some()),
        (Field::Balance, spec.sizes.balance.is_some()),
        (Field::MinSize, spec.sizes.min_size.is_some()),
        (Field::MaxSize, spec.sizes.max_size.is_some()),
    ];
    JobError::first_idle(&given, "while `k` is to be chosen; leave it out, or give a number for `k`")
}

/// What is said about the first lines of files beside the rows, where there are none.
pub(super) fn refuse_header(spec: &FitSpec) -> Result<()> {
    let given = [(Field::LabelHeader, spec.data.label_header.is_some() && spec.beside().is_empty())];
    JobError::first_idle(&given, "without a file of `truth`, `known` or `weights`; leave it out")
}

fn refuse_for_optimiser(method: &MethodSpec) -> Result<()> {
    let dims = [(Field::Dims, method.lift.is_asked() && method.dims != Dims::Auto)];
    JobError::first_idle(&dims, "beside `lift`, which has dimensions of its own; leave it out")?;
    let momentum = (Field::Momentum, method.momentum != 0.0);
    match method.optimiser {
        OptimiserKind::Lbfgs => {
            let batches = [
                (Field::Epochs, method.epochs.is_some()),
                (Field::Batch, method.batch.is_some()),
                (Field::LearningRate, method.learning_rate.is_some()),
                (Field::Refresh, method.refresh == Refresh::Epoch),
                (Field::EmIterations, method.em_iterations != EM_ITERATIONS),
                momentum,
            ];
            let why = "where `optimiser` is lbfgs, which takes all rows at once; leave it out";
            JobError::first_idle(&batches, why)
        }
        OptimiserKind::Adam => {
            JobError::first_idle(&[momentum], "where `optimiser` is adam, which has its own; leave it out")
        }
        OptimiserKind::Sgd => Ok(()),
    }
}

/// Fields that the loss does not use, for either engine.
fn refuse_for_loss(method: &MethodSpec) -> Result<()> {
    let em = method.em_iterations != EM_ITERATIONS;
    if method.loss != Loss::Strong {
        let labels = [(Field::ExactLabels, method.exact_labels), (Field::EmIterations, em)];
        let why = "for this loss, which finds labels in its own way or has none; it is for the `loss` strong";
        JobError::first_idle(&labels, why)?;
    }
    if method.loss == Loss::Hinge {
        let lambda = [(Field::Lambda, method.lambda.is_some())];
        JobError::first_idle(&lambda, "where `loss` is hinge, which has no such weight; leave it out")?;
    }
    let em = [(Field::EmIterations, em && method.exact_labels)];
    JobError::first_idle(&em, "beside `exact_labels`; leave one of them out")
}

/// Fields of the linear engine beside any network, and those of our losses beside IIC and SCAN.
pub(super) fn refuse_for_network(spec: &FitSpec, network: &NetworkSpec, resources: &Resources) -> Result<()> {
    if !cfg!(feature = "deep") {
        let problem = "this program was built without networks; build it with the feature `deep`";
        return Err(JobError::refused(Field::Net, problem));
    }
    refuse_for_images(&spec.data, resources)?;
    let resume = [(Field::Resume, resources.resume && resources.checkpoint.is_none())];
    JobError::first_idle(&resume, "without a `checkpoint` to go on from; leave it out")?;
    let method = &spec.method;
    let given = [
        (Field::Weights, spec.weights.is_some()),
        (Field::Like, spec.like.is_some()),
        (Field::Balance, spec.sizes.balance.is_some()),
        (Field::MinSize, spec.sizes.min_size.is_some()),
        (Field::MaxSize, spec.sizes.max_size.is_some()),
        (Field::Outliers, spec.outliers.is_some()),
        (Field::Polish, method.polish > 0),
        (Field::KnownWeight, method.known_weight != 0.0),
        (Field::Gamma, method.gamma.is_some()),
        (Field::Restarts, spec.restarts != RESTARTS),
        (Field::Lift, method.lift.is_asked()),
        (Field::Neighbours, method.neighbours != Neighbours::Auto),
        (Field::Dims, method.dims != Dims::Auto),
        (Field::Prepare, method.prepare != Prepare::Auto),
        (Field::Init, method.init != Init::Auto),
        (Field::Optimiser, method.optimiser != OptimiserKind::Sgd),
        (Field::Momentum, method.momentum != 0.0),
    ];
    JobError::first_idle(&given, "for a network; leave it out, or leave out `net`")?;
    let auto = [(Field::Prior, spec.prior == PriorSpec::Auto)];
    JobError::first_idle(&auto, "for a network where it is auto; give shares, or leave it out")?;
    refuse_for_loss(method)?;
    refuse_for_aim(spec, network)?;
    let reverse = matches!(method.loss, Loss::Strong | Loss::Weak);
    let forward = [(Field::Forward, network.forward.is_some() && !reverse)];
    JobError::first_idle(&forward, "beside a `loss` without reverse cross-entropy; leave it out")?;
    refuse_for_weights(network)?;
    refuse_for_pretext(network)?;
    let revive = [(Field::Revive, network.revive == Some(true) && spec.known.is_some())];
    JobError::first_idle(&revive, "beside `known`, whose labels hold their clusters in place; leave it out")?;
    let truth = [(Field::HoldoutTruth, network.holdout_truth.is_some() && network.holdout.is_empty())];
    JobError::first_idle(&truth, "without `holdout`; leave it out")
}

/// Fields about a pretext where there is none.
fn refuse_for_pretext(network: &NetworkSpec) -> Result<()> {
    let given = [
        (Field::PretextData, !network.pretext_data.is_empty()),
        (Field::PretextRate, network.pretext_rate.is_some()),
        (Field::PretextBatch, network.pretext_batch.is_some()),
        (Field::PretextOptimiser, network.pretext_optimiser != PretextOptimiser::Adam),
        (Field::PretextCosine, network.pretext_cosine),
    ];
    let given = given.map(|(field, given)| (field, given && !network.has_pretext()));
    JobError::first_idle(&given, "without `pretext` or `scan`; leave it out")
}

/// Fields that invariant information clustering, SCAN, or neither of them would ignore.
fn refuse_for_aim(spec: &FitSpec, network: &NetworkSpec) -> Result<()> {
    let method = &spec.method;
    let ours = [
        (Field::Loss, method.loss != Loss::Strong),
        (Field::Lambda, method.lambda.is_some()),
        (Field::EmIterations, method.em_iterations != EM_ITERATIONS),
        (Field::ExactLabels, method.exact_labels),
        (Field::Refresh, method.refresh == Refresh::Epoch),
        (Field::Pairs, network.pairs.is_some()),
        (Field::Vat, network.vat.is_some()),
        (Field::VatLength, network.vat_length != VAT_LENGTH),
        (Field::WarmUp, network.warm_up > 0),
        (Field::Revive, network.revive.is_some()),
        (Field::Forward, network.forward.is_some()),
        (Field::Prior, !matches!(spec.prior, PriorSpec::Usual | PriorSpec::Equal)),
        (Field::Epochs, network.scan.is_some() && method.epochs.is_some()),
    ];
    if network.iic.is_none() {
        let over = [(Field::Over, network.over.is_some())];
        JobError::first_idle(&over, "without `iic`; leave it out")?;
    }
    match (network.iic, &network.scan) {
        (Some(_), Some(_)) => {
            Err(JobError::Idle { field: Field::Scan, why: "beside `iic`; leave one of them out" })
        }
        (Some(_), None) => {
            JobError::first_idle(&ours, "beside `iic`, which has a loss of its own; leave it out")
        }
        (None, Some(_)) => {
            let why = "beside `scan`, whose stages have losses and epochs of their own; leave it out";
            JobError::first_idle(&ours, why)?;
            let views = [(Field::Views, network.views != VIEWS)];
            JobError::first_idle(&views, "beside `scan`, which compares two views; leave it out")?;
            let pretext = [(Field::Pretext, network.pretext.is_some())];
            JobError::first_idle(&pretext, "beside `scan`, which begins with it; leave it out")
        }
        (None, None) => Ok(()),
    }
}

/// Fields about weights of the loss that are 0.
fn refuse_for_weights(network: &NetworkSpec) -> Result<()> {
    let (pairs, vat) = (network.pairs_weight(), network.vat_weight());
    let views = [(Field::Views, network.views != VIEWS && pairs == 0.0 && network.iic.is_none())];
    let why = "where the weight of `pairs` is 0, which is its default without `augment`; give a `pairs` of 1, or leave it out";
    JobError::first_idle(&views, why)?;
    let length = [(Field::VatLength, vat == 0.0 && network.vat_length != VAT_LENGTH)];
    let why = "where the weight of `vat` is 0, which is its default beside `augment`; give a `vat` of 10, or leave it out";
    JobError::first_idle(&length, why)?;
    let warm_up = [(Field::WarmUp, vat == 0.0 && pairs == 0.0 && network.warm_up > 0)];
    JobError::first_idle(&warm_up, "without a weight of `pairs` or `vat` that could rise; leave it out")
}

/// Fields about reading: images have no columns, and are all in memory.
pub(crate) fn refuse_for_images(data: &DataSpec, resources: &Resources) -> Result<()> {
    let given = [
        (Field::Array, data.array.is_some()),
        (Field::Columns, !data.columns.is_empty()),
        (Field::IdColumn, data.id_column.is_some()),
        (Field::Exclude, !data.exclude.is_empty()),
        (Field::Header, data.header.is_some()),
        (Field::Missing, data.missing.is_some()),
        (Field::As, !data.roles.is_empty()),
        (Field::Memory, resources.memory != MEMORY),
    ];
    JobError::first_idle(&given, "for images; leave it out")
}
