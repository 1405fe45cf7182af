//! `partita fit`.

use super::{opened, show};
use crate::args::FitArgs;
use crate::fit_spec;
use crate::interrupt;
use crate::outputs::say;
use crate::progress::Terminal;
use crate::summary::{self, Written};
use anyhow::Result;
use partita_job::{Dataset, Given, run as fit};

pub fn run(args: &FitArgs) -> Result<()> {
    let spec = fit_spec::spec(args)?;
    let (resources, outputs) = (fit_spec::resources(args), fit_spec::outputs(args));
    spec.check(&resources)?;
    outputs.check_for(&spec, args.spec.as_deref().as_slice(), &resources)?;
    let terminal = Terminal::new(!args.json)?;
    if let Some(path) = &resources.checkpoint {
        interrupt::keeps(path, "go on with --resume");
    }
    let encoding = Terminal::new(!args.json)?;
    let dataset = opened(Dataset::open_for(&spec, &resources, &encoding))?;
    encoding.finish();
    if !args.json {
        say(&summary::plans(&dataset.plans()))?;
    }
    let given = Given::read(&spec, &dataset)?;
    show(&given.notes);
    let record = fit(&spec, &dataset, &given, &resources, &terminal)?;
    terminal.finish();
    outputs.write(&spec, &record, &dataset, &resources)?;
    let files = [
        ("model", &outputs.model),
        ("labels", &outputs.labels),
        ("probabilities", &outputs.proba),
        ("backbone", &outputs.backbone),
        ("specification", &outputs.spec),
    ];
    let written: Vec<Written<'_>> =
        files.into_iter().filter_map(|(what, path)| Some((what, path.as_deref()?))).collect();
    summary::show(record, &written, args.json)
}
