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
    let AnyModel::Linear(file) = model else {
        bail!(
            "{} is the model of a network, which is not exported as ONNX; only models of rows are",
            args.model.display()
        );
    };
    write_onnx(&file.model, &args.output)?;
    let mut text = line("ONNX model", &args.output.display().to_string());
    for columns in file.names.columns.iter().flatten() {
        text += &line("columns", &format!("{} (in this order)", columns.names.join(", ")));
    }
    if file.encoders.iter().flatten().any(|encoder| encoder.kind == "table") {
        let what = "ONNX takes the numbers that the plan makes of these columns, not the columns";
        text += &line("plan", what);
    }
    if let Some(medians) = &file.medians {
        // ONNX gives NaN for a row with a gap, where `predict` would fill it.
        let medians: Vec<String> = medians.iter().map(f32::to_string).collect();
        text += &line("missing", &format!("not filled by ONNX; fill in {} first", medians.join(", ")));
    }
    Ok(outputs::say(&text)?)
}

fn line(name: &str, what: &str) -> String {
    format!("  {name:<13} {what}\n")
}
