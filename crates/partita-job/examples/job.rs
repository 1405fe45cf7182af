//! A job by the library alone: reads a specification, writes the model and the labels. The test of all doors
//! (python/tests/test_doors.py) compares them with those of the command and of the Python package.
//!
//! ```text
//! job SPEC.json MODEL.safetensors LABELS.npy [VALUES.npy COLUMNS.npy STARTS.npy M]
//! ```
//!
//! With the last four the rows are sparse: the parts of a CSR matrix of M features, instead of the files of the specification.

use partita::report::Silent;
use partita::rows::Csr;
use partita_data::read_vector;
use partita_job::{DataPart, Dataset, FitSpec, Given, Outputs, Resources, run};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match job(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn job(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [spec, model, labels, sparse @ ..] = arguments else {
        return Err("give SPEC.json MODEL.safetensors LABELS.npy".into());
    };
    let (spec, resources) = (FitSpec::read(spec)?, Resources::default());
    let dataset =
        if sparse.is_empty() { Dataset::open_for(&spec, &resources, &Silent)? } else { sparse_rows(sparse)? };
    let given = Given::read(&spec, &dataset)?;
    let record = run(&spec, &dataset, &given, &resources, &Silent)?;
    let (model, labels) = (Some(PathBuf::from(model)), Some(PathBuf::from(labels)));
    let outputs = Outputs { model, labels, ..Outputs::default() };
    Ok(outputs.write(&spec, &record, &dataset, &resources)?)
}

fn sparse_rows(parts: &[String]) -> Result<Dataset<'static>, Box<dyn Error>> {
    let [values, columns, starts, m] = parts else { return Err("give VALUES COLUMNS STARTS M".into()) };
    let values: Vec<f32> = read_vector(values)?.iter().map(|&value| value as f32).collect();
    let columns: Vec<i32> = read_vector(columns)?.iter().map(|&column| column as i32).collect();
    let starts = read_vector(starts)?.iter().map(|&start| start as usize).collect();
    let rows = Csr::new(starts, columns.into(), values.into(), m.parse()?)?;
    Ok(Dataset::new(vec![DataPart::new(Arc::new(rows))])?)
}
