//! `partita update`.

use super::opened;
use crate::args::UpdateArgs;
use crate::progress::Terminal;
use crate::summary::{self, Written};
use anyhow::Result;
use partita_data::model_file::ModelFile;
use partita_job::export::apart;
use partita_job::{Dataset, Field, FitSpec, Given, Outputs, continue_model, labels_of};

pub fn run(args: &UpdateArgs) -> Result<()> {
    let (resources, output) = (args.read.resources(), args.output.as_ref().unwrap_or(&args.model));
    let outputs =
        Outputs { model: Some(output.clone()), labels: args.labels_out.clone(), ..Outputs::default() };
    outputs.check(&args.read.inputs(&[args.truth.as_deref()]), &resources)?;
    apart(args.labels_out.as_deref().as_slice(), &[&args.model])?;
    let terminal = Terminal::new(!args.json)?;
    let old = ModelFile::read(&args.model)?;
    let dataset = opened(Dataset::open(&args.read.spec(), &resources))?;
    let truth = args.truth.as_deref().map(|path| labels_of(path, dataset.n(), Some(Field::Truth)));
    let given = Given { truth: truth.transpose()?.map(|labels| labels.values.into()), ..Given::default() };
    let record = continue_model(&old, args.epochs, &dataset, &given, &resources, &terminal)?;
    terminal.finish();
    outputs.write(&FitSpec::default(), &record, &dataset, &resources)?;
    let mut written: Vec<Written<'_>> = vec![("model", output)];
    written.extend(args.labels_out.as_deref().map(|path| ("labels", path)));
    summary::show(record, &written, args.json)
}
