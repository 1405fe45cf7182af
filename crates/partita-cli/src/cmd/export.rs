//! `partita export`.

use crate::args::ExportArgs;
use crate::outputs;
use anyhow::{Result, bail};
use partita_job::AnyModel;
use partita_job::export::{named, writable};
use partita_job::onnx::write_onnx;

pub fn run(args: &ExportArgs) -> Result<()> {
    named(&args.output, &["onnx"], "models for other programs are written as .onnx")?;
    writable(&args.output)?;
    let model = AnyModel::read(&args.model)?;
    let Some(linear) = model.linear() else {
        bail!(
            "{} is the model of a network, which is not exported as ONNX; only models of rows are",
            args.model.display()
        );
    };
    write_onnx(linear, &args.output)?;
    Ok(outputs::say(&format!("  {:<13} {}\n", "ONNX model", args.output.display()))?)
}
