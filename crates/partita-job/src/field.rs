//! The fields of a specification and of what stands beside it, by name, so that an error can say which one it is about and
//! every front end can spell it in its own way.

macro_rules! fields {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// A field that an error may be about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Field {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Field {
            /// Every field.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name in a specification.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

fields! {
    /// The files to cluster.
    Data = "data",
    /// The array of a file with several.
    Array = "array",
    /// The feature columns of a table.
    Columns = "columns",
    /// The column that names the rows.
    IdColumn = "id_column",
    /// Columns that are no features.
    Exclude = "exclude",
    /// Whether the first line of a text table names the columns.
    Header = "header",
    /// Whether the first line of a file of labels or weights names its columns.
    LabelHeader = "label_header",
    /// What is done about missing values.
    Missing = "missing",
    /// What columns of a table are taken for.
    As = "as",
    /// The column or field of the texts.
    Text = "text",
    /// What makes rows of raw items.
    Encoder = "encoder",
    /// Where the weights of encoders are.
    EncoderWeights = "encoder_weights",
    /// Where finished rows of photos are kept.
    Cache = "cache",
    /// Number of clusters.
    K = "k",
    /// Seed of all random choices.
    Seed = "seed",
    /// Independent starts.
    Restarts = "restarts",
    /// Expected sizes of the clusters.
    Prior = "prior",
    /// Sizes exactly as the prior says.
    Balance = "balance",
    /// Smallest size of a cluster.
    MinSize = "min_size",
    /// Largest size of a cluster.
    MaxSize = "max_size",
    /// Which rows belong to no cluster.
    Outliers = "outliers",
    /// Labels known for some rows.
    Known = "known",
    /// Weights of the rows.
    Weights = "weights",
    /// True labels, for the report.
    Truth = "truth",
    /// A model whose cluster numbers are kept.
    Like = "like",
    /// Names of clusters made of what tells them apart.
    NameClusters = "name_clusters",
    /// What is minimised.
    Loss = "loss",
    /// Weight of fairness.
    Lambda = "lambda",
    /// Weight of the squared norm.
    Gamma = "gamma",
    /// How rows are prepared.
    Prepare = "prepare",
    /// The feature map before the softmax.
    Lift = "lift",
    /// Neighbours that rows are averaged with to teach them.
    Neighbours = "neighbours",
    /// Dimensions to train on.
    Dims = "dims",
    /// Where training starts.
    Init = "init",
    /// Passes over the data.
    Epochs = "epochs",
    /// Rows of a batch.
    Batch = "batch",
    /// EM iterations for the pseudo-labels of a batch.
    EmIterations = "em_iterations",
    /// Optimal pseudo-labels.
    ExactLabels = "exact_labels",
    /// How often pseudo-labels are computed again.
    Refresh = "refresh",
    /// Optimiser of the weights.
    Optimiser = "optimiser",
    /// Momentum of gradient descent.
    Momentum = "momentum",
    /// Learning rate.
    LearningRate = "learning_rate",
    /// L-BFGS iterations after training.
    Polish = "polish",
    /// Weight of the cross-entropy of known rows.
    KnownWeight = "known_weight",
    /// The network.
    Net = "net",
    /// Side of an image in pixels.
    Size = "size",
    /// How pixels become the network's input.
    Normalise = "normalise",
    /// How views of an image differ from it.
    Augment = "augment",
    /// Weight of self-augmentation.
    Pairs = "pairs",
    /// Views that are compared with an image.
    Views = "views",
    /// Weight of virtual adversarial training.
    Vat = "vat",
    /// Length of its disturbance.
    VatLength = "vat_length",
    /// Epochs over which these weights rise.
    WarmUp = "warm_up",
    /// Epochs over which KL(y‖σ) fades out.
    Forward = "forward",
    /// Heads of invariant information clustering.
    Iic = "iic",
    /// Clusters of its over-clustering heads.
    Over = "over",
    /// Epochs of the three stages of SCAN.
    Scan = "scan",
    /// Epochs of contrast before training.
    Pretext = "pretext",
    /// Images for that.
    PretextData = "pretext_data",
    /// Learning rate meanwhile.
    PretextRate = "pretext_rate",
    /// Images of a batch meanwhile.
    PretextBatch = "pretext_batch",
    /// Optimiser meanwhile.
    PretextOptimiser = "pretext_optimiser",
    /// Lower the rate meanwhile along half a cosine.
    PretextCosine = "pretext_cosine",
    /// Whether clusters without images start again.
    Revive = "revive",
    /// Images that are not trained on.
    Holdout = "holdout",
    /// Their true labels.
    HoldoutTruth = "holdout_truth",
    /// Initial weights.
    InitWeights = "init_weights",
    /// Train only the head.
    Freeze = "freeze",
    /// Learning rate of the head.
    HeadRate = "head_rate",
    /// Weight decay.
    WeightDecay = "weight_decay",
    /// Leave out images that cannot be decoded.
    SkipBad = "skip_bad",
    /// Threads to work with.
    Threads = "threads",
    /// Memory for rows.
    Memory = "memory",
    /// Where the state of training is kept.
    Checkpoint = "checkpoint",
    /// Go on from the checkpoint.
    Resume = "resume",
    /// The processor of a network.
    Device = "device",
    /// A line of JSON for every epoch.
    Metrics = "metrics",
}

/// `text` with every field name that stands between backticks in the spelling of a front end.
///
/// ```
/// use partita_job::spelled;
/// let flag = |field: partita_job::Field| format!("--{}", field.name().replace('_', "-"));
/// assert_eq!(spelled("give more `epochs`, or a smaller `head_rate`", &flag), "give more --epochs, or a smaller --head-rate");
/// ```
pub fn spelled(text: &str, spell: &dyn Fn(Field) -> String) -> String {
    Field::ALL
        .iter()
        .fold(text.to_owned(), |text, field| text.replace(&format!("`{}`", field.name()), &spell(*field)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_fields_share_a_name() {
        let names: HashSet<&str> = Field::ALL.iter().map(|field| field.name()).collect();
        assert_eq!(names.len(), Field::ALL.len());
    }
}
