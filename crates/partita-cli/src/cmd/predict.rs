//! `partita predict`.

use super::outputs;
use crate::args::PredictArgs;
use crate::input::{Opened, on_threads};
use crate::progress::Terminal;
use anyhow::{Context, Result, bail};
use partita::linear::Model;
use partita::rows::Rows;
use partita_data::model_file::ModelFile;
use std::fmt::Write as _;

pub fn run(args: &PredictArgs) -> Result<()> {
    #[cfg(feature = "deep")]
    if partita_deep::train::DeepModel::is_one(&args.model) {
        return super::deep::predict(args);
    }
    #[cfg(feature = "deep")]
    if args.skip_bad {
        bail!("--skip-bad is for images; {} is a model of rows", args.model.display());
    }
    let terminal = Terminal::new(false)?;
    let (labels, proba) =
        if args.proba { (None, args.output.as_deref()) } else { (args.output.as_deref(), None) };
    outputs::check(None, labels, proba, &args.read.inputs(&[Some(&args.model)]))?;
    if args.proba && args.sizes.any() {
        bail!(
            "--proba writes the model's own probabilities, which have no sizes; \
             leave it out, or leave out --balance, --min-size and --max-size"
        );
    }
    let model = ModelFile::read(&args.model)?.model;
    let opened = Opened::new(&args.read)?;
    let rows = opened.rows()?;
    model.check_widths(&rows.widths()).with_context(|| args.model.display().to_string())?;
    on_threads(args.read.threads, || {
        let interruptible = Interruptible { rows: &rows, terminal: &terminal };
        let done = || -> Result<()> {
            let balanced = args.sizes.balance(&model, &interruptible)?.map(|found| found.labels);
            let balanced = balanced.as_deref();
            if args.output.is_some() {
                outputs::predictions(&model, &interruptible, opened.ids(), balanced, (labels, proba))
            } else {
                print_table(&model, &interruptible, opened.ids(), balanced, args.proba)
            }
        };
        done().with_context(|| format!("{} on {}", args.model.display(), args.read.data[0].display()))
    })?
}

/// CSV on standard output, block by block.
fn print_table(
    model: &Model,
    rows: &dyn Rows,
    ids: Option<&[String]>,
    balanced: Option<&[u32]>,
    proba: bool,
) -> Result<()> {
    let mut text = String::from(if ids.is_some() { "id" } else { "row" });
    match proba {
        true => (0..model.k()).try_for_each(|c| write!(text, ",p{c}"))?,
        false => text += ",cluster,confidence",
    }
    text.push('\n');
    let mut failed = Ok(());
    model.predict_each(rows, |block| {
        for (i, (p, &label)) in block.proba.chunks_exact(model.k()).zip(&block.labels).enumerate() {
            let row = block.start + i;
            let label = balanced.map_or(label, |all| all[row]);
            text += &ids.map_or_else(|| row.to_string(), |ids| partita_data::csv_cell(&ids[row]));
            match proba {
                true => p.iter().for_each(|p| text += &format!(",{p}")),
                false => text += &format!(",{label},{}", p[label as usize]),
            }
            text.push('\n');
        }
        if failed.is_ok() {
            failed = outputs::print(&text);
        }
        text.clear();
        Ok(())
    })?;
    failed
}

/// Rows that stop being readable after Ctrl-C.
struct Interruptible<'a> {
    rows: &'a dyn Rows,
    terminal: &'a Terminal,
}

impl Rows for Interruptible<'_> {
    fn n(&self) -> usize {
        self.rows.n()
    }
    fn m(&self) -> usize {
        self.rows.m()
    }
    fn read(&self, start: usize, out: &mut [f32]) -> partita::Result<()> {
        if self.terminal.interrupted() {
            return Err(partita::Error::Interrupted);
        }
        self.rows.read(start, out)
    }
    fn release(&self) {
        self.rows.release();
    }
}
