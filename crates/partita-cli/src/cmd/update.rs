//! `partita update`.

use super::{opened, show};
use crate::args::UpdateArgs;
use crate::progress::Terminal;
use crate::summary::{self, Written};
use anyhow::Result;
use partita_data::model_file::ModelFile;
use partita_job::export::apart;
use partita_job::{DataSpec, Dataset, Field, FitSpec, Given, Outputs, Resources, continue_model};
use std::path::Path;

pub fn run(args: &UpdateArgs) -> Result<()> {
    let output = args.output.as_ref().unwrap_or(&args.model);
    let resources = Resources { result: Some(output.clone()), ..args.read.resources() };
    let outputs =
        Outputs { model: Some(output.clone()), labels: args.labels_out.clone(), ..Outputs::default() };
    let inputs = args.read.inputs(&[args.truth.as_deref()]);
    outputs.check(&inputs, &resources)?;
    apart(args.labels_out.as_deref().as_slice(), &[&args.model])?;
    let terminal = Terminal::new(!args.json)?;
    let old = ModelFile::read(&args.model)?;
    let beside: Vec<(Field, &Path)> =
        args.truth.as_deref().map(|typed| (Field::Truth, typed)).into_iter().collect();
    let spec = DataSpec { label_header: args.label_header, ..args.read.spec() };
    let dataset = opened(Dataset::open_for_model(&old, &spec, &beside, &resources, &terminal))?;
    let truth = args.truth.as_deref().map(|typed| dataset.labels(typed, Field::Truth)).transpose()?;
    let truth = truth.map(|(labels, notes)| {
        show(&notes);
        labels.values.into()
    });
    let given = Given { truth, ..Given::default() };
    let record = continue_model(&old, args.epochs, &dataset, &given, &resources, &terminal)?;
    terminal.finish();
    outputs.write(&FitSpec::default(), &record, &dataset, &resources)?;
    let mut written: Vec<Written<'_>> = vec![("model", output)];
    written.extend(args.labels_out.as_deref().map(|path| ("labels", path)));
    summary::show(record, &written, args.json)
}
