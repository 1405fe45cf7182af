//! The result of a job: one record for either engine.

use crate::block::Block;
use crate::choosing::ChoiceNote;
use crate::dataset::{Dataset, MissingNote};
use crate::items::ItemPortraits;
use crate::model::AnyModel;
use crate::sizes::Balanced;
use partita::linear::Ailment;
use partita::linear::{Fit, Model, Params, Restart};
use partita::metrics::Scores;
use partita::outliers::OutlierNote;
use partita::prepare::{LiftNote, PrepareNote};
use partita::report::StopReason;
use partita_data::model_file::{ModelFile, Names};
use partita_data::{Columns, called};
use partita_embed::tables::PlanNote;
use serde::Serialize;

/// A fit: its model, its labels, and all that is known about it. As JSON it is one flat object without the model and the labels.
#[derive(Debug, Serialize)]
pub struct Record {
    /// Rows.
    pub n: usize,
    /// Clusters.
    pub k: usize,
    /// How the number of clusters was chosen, if it was.
    pub choice: Option<ChoiceNote>,
    /// The columns of each table that was read, which are numbers from 1 where it has no names; null for arrays.
    pub columns: Vec<Option<Columns>>,
    /// What was done to the columns of each table that holds more than numbers, and what was left out and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<PlanNote>,
    /// What was done about missing values, if there were any.
    pub missing: Option<MissingNote>,
    /// The names of the first clusters, where known labels were words; others are called by their number.
    pub cluster_names: Option<Vec<String>>,
    /// Rows in each cluster, outliers not counted.
    pub cluster_sizes: Vec<usize>,
    /// Rows that belong to no cluster, if outliers were asked for.
    pub outliers: Option<OutlierNote>,
    /// mean H(σ): 0 when every row is decided.
    pub decisiveness: f64,
    /// Clusters that are not alive.
    pub ailments: Vec<Ailment>,
    /// What to change, if clusters are lost; names of fields stand between backticks, for [`crate::spelled`].
    pub advice: Option<String>,
    /// Agreement with the true labels, of the rows that belong to a cluster.
    pub metrics: Option<Scores>,
    /// Outliers with a true label, which the metrics leave out, if outliers were asked for.
    pub unscored: Option<usize>,
    /// How labels were moved to give clusters the requested sizes.
    pub balance: Option<Balanced>,
    /// What the clusters are like in the language of the raw items, if there are any.
    pub portraits: Option<ItemPortraits>,
    /// Seconds from the first read to the last label.
    pub seconds: f64,
    /// Threads that worked.
    pub threads: usize,
    /// What only one of the engines reports.
    #[serde(flatten)]
    pub details: Details,
    /// The most probable cluster of each row, outliers included.
    #[serde(skip)]
    pub labels: Vec<u32>,
    /// How sparse the place of each row is beside its cluster, if outliers were asked for.
    #[serde(skip)]
    pub outlier_scores: Option<Vec<f32>>,
    /// Probabilities of the clusters, row after row, where the engine has them at hand.
    #[serde(skip)]
    pub proba: Option<Vec<f32>>,
    /// The model.
    #[serde(skip)]
    pub model: AnyModel,
}

/// What only one of the engines reports.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Details {
    /// The linear engine.
    Linear(Box<LinearDetails>),
    /// A network.
    #[cfg(feature = "deep")]
    Network(Box<NetworkDetails>),
}

/// What the linear engine reports. The fields are those of [`partita::linear::Report`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearDetails {
    /// Features.
    pub m: usize,
    /// The feature map before the softmax, if there is one.
    pub lift: Option<LiftNote>,
    /// What was done to the features of each file first, and why.
    pub prepare: Vec<PrepareNote>,
    /// Neighbours that each row was averaged with to teach it.
    pub neighbours: usize,
    /// The prior u over the sizes, as given or as estimated.
    pub prior: Vec<f64>,
    /// Loss of the chosen restart, norm included.
    pub loss: f64,
    /// KL(u‖σ̄): 0 when clusters are as large as the prior says.
    pub fairness: f64,
    /// Smallest lead of the winning logit over the second, over ‖W‖.
    pub margin: f64,
    /// Median of that lead.
    pub median_margin: f64,
    /// Loss of each restart.
    pub restarts: Vec<Restart>,
    /// Mean adjusted Rand index between the labelings of the restarts.
    pub agreement: f64,
    /// Rows on which restarts were compared.
    pub judged_rows: usize,
    /// Steps of the search.
    pub steps: usize,
    /// All steps that the chosen restart made.
    pub iterations: usize,
    /// Rows of a batch.
    pub batch: usize,
    /// Why training stopped.
    pub stop: StopReason,
    /// Mean batch loss of the chosen restart in each epoch.
    pub trace: Vec<f64>,
    /// The options of the fit.
    pub params: Params,
}

/// What the training of a network reports.
#[cfg(feature = "deep")]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkDetails {
    /// The losses of each epoch.
    pub epochs: Vec<partita_deep::train::Epoch>,
    /// What was found for images that were not trained on, if there are any.
    pub holdout: Option<HeldOut>,
    /// The options of the training.
    pub params: partita_deep::train::Params,
}

/// Images that were not trained on, and how their clusters agree with their true labels.
#[cfg(feature = "deep")]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOut {
    /// Images.
    pub n: usize,
    /// Images in each cluster.
    pub cluster_sizes: Vec<usize>,
    /// Agreement with the true labels.
    pub metrics: Scores,
}

impl Record {
    /// The details of the linear engine, if it made the record.
    pub fn linear(&self) -> Option<&LinearDetails> {
        match &self.details {
            Details::Linear(details) => Some(details),
            #[cfg(feature = "deep")]
            Details::Network(_) => None,
        }
    }

    /// What a cluster is called.
    pub fn cluster(&self, cluster: usize) -> String {
        called(self.cluster_names.as_deref().unwrap_or_default(), cluster)
    }

    /// The record with what is known about its rows and clusters by name; the model gets to know it too. Columns that it knows already
    /// stay as they are.
    pub(crate) fn named(
        mut self,
        dataset: &Dataset<'_>,
        clusters: Option<&[String]>,
        old: Option<&ModelFile>,
    ) -> Self {
        self.columns = dataset.tables().to_vec();
        self.plans = dataset.plans();
        self.missing = dataset.missing_note().cloned();
        let before = old.map(|old| &*old.names.clusters).filter(|names| !names.is_empty());
        self.cluster_names = clusters.or(before).map(<[String]>::to_vec);
        match &mut self.model {
            AnyModel::Linear(file) => {
                let found = || dataset.parts().iter().map(|part| part.columns.clone()).collect();
                let kept = old.map(|old| old.names.columns.clone());
                let kept = kept.filter(|columns| columns.iter().any(Option::is_some));
                let medians = dataset.medians().or(old.and_then(|old| old.medians.as_deref()));
                let clusters = self.cluster_names.clone().unwrap_or_default();
                file.names = Names { columns: kept.unwrap_or_else(found), clusters };
                file.medians = medians.map(<[f32]>::to_vec);
                let encoders: Vec<_> = dataset.parts().iter().map(|part| part.encoder.clone()).collect();
                let found = if encoders.iter().any(Option::is_some) { encoders } else { Vec::new() };
                file.encoders = old.map_or(found, |old| old.encoders.clone());
            }
            #[cfg(feature = "deep")]
            AnyModel::Network(model) => {
                model.cluster_names = self.cluster_names.clone().unwrap_or_default();
            }
        }
        self
    }

    /// The cluster of each row, −1 for outliers.
    pub fn assigned(&self) -> Vec<i32> {
        self.block(&[]).assigned()
    }

    /// All rows with these probabilities.
    pub(crate) fn block<'a>(&'a self, proba: &'a [f32]) -> Block<'a> {
        let found = self.model.linear().and_then(Model::outliers);
        let outliers = found.zip(self.outlier_scores.as_deref());
        Block { start: 0, k: self.k, labels: &self.labels, proba, outliers }
    }

    /// A fit of the linear engine with the options `params`; its model is kept with the options `stored`.
    pub(crate) fn of_linear(found: Fit, params: Params, stored: Params) -> Self {
        let Fit { model, labels, outlier_scores, report } = found;
        let details = LinearDetails {
            m: report.m,
            lift: report.lift,
            prepare: report.prepare,
            neighbours: report.neighbours,
            prior: report.prior,
            loss: report.loss,
            fairness: report.fairness,
            margin: report.margin,
            median_margin: report.median_margin,
            restarts: report.restarts,
            agreement: report.agreement,
            judged_rows: report.judged_rows,
            steps: report.steps,
            iterations: report.iterations,
            batch: report.batch,
            stop: report.stop,
            trace: report.trace,
            params,
        };
        Self {
            n: report.n,
            k: report.k,
            choice: None,
            columns: Vec::new(),
            plans: Vec::new(),
            missing: None,
            cluster_names: None,
            cluster_sizes: report.cluster_sizes,
            outliers: report.outliers,
            decisiveness: report.decisiveness,
            ailments: report.ailments,
            advice: report.advice,
            metrics: None,
            unscored: None,
            balance: None,
            portraits: None,
            seconds: report.seconds,
            threads: rayon::current_num_threads(),
            details: Details::Linear(Box::new(details)),
            labels,
            outlier_scores,
            proba: None,
            model: AnyModel::Linear(Box::new(ModelFile::new(model, stored))),
        }
    }
}
