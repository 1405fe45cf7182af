//! `partita choose-k`.

use super::opened;
use crate::args::{ChooseArgs, Format};
use crate::outputs;
use crate::progress::Terminal;
use crate::recommendation::Grounds;
use anyhow::Result;
use partita::choose::{Candidate, Choice, Trial, choose};
use partita::compare::Spread;
use partita::linear::Input;
use partita_job::export::check_files;
use partita_job::{CandidateSpec, Dataset};
use partita_study::chart::{Axis, Chart, Mark};
use partita_study::table::{Table, words};
use std::path::PathBuf;

pub fn run(args: &ChooseArgs) -> Result<()> {
    let outputs = [&args.output, &args.picture].into_iter().filter_map(Option::as_deref);
    let inputs = args.read.inputs(&[]);
    check_files(&outputs.collect::<Vec<_>>(), &inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let terminal = Terminal::new(args.format != Format::Json || args.output.is_some())?;
    let resources = args.read.resources();
    let dataset = opened(Dataset::open(&args.read.spec(), &resources))?;
    let rows = dataset.rows()?;
    let input = Input { widths: dataset.widths(), memory: resources.memory, ..Input::new(&rows) };
    let tried = CandidateSpec {
        k: args.range.clone().collect(),
        lambda: args.lambda.clone(),
        gamma: args.gamma.clone(),
        unequal: args.unequal,
        restarts: args.restarts,
        seed: args.seed,
        prepare: args.prepare.into(),
        lift: args.lift.into(),
    };
    let trial = Trial { splits: args.splits, curves: true };
    resources.on_threads(|| {
        let choice = choose(&input, &tried.candidates(), trial, &terminal)
            .map_err(|error| dataset.explained(error.into()))?;
        terminal.finish();
        if let Some(path) = &args.picture {
            outputs::text(Some(path), &picture(&choice))?;
        }
        let text = match args.format {
            Format::Json => serde_json::to_string_pretty(&choice)? + "\n",
            Format::Md => table(&choice).markdown(),
            Format::Csv => table(&choice).csv(),
            Format::Html => {
                table(&choice).html().replace("</table>", &format!("</table>{}", picture(&choice)))
            }
        };
        Ok(outputs::text(args.output.as_deref(), &text)?)
    })?
}

/// Whether the candidates differ in more than K.
fn has_weights(choice: &Choice) -> bool {
    choice.candidates.iter().any(|c| c.lambda.is_some() || c.gamma.is_some())
}

fn name(candidate: &Candidate, weights: bool) -> String {
    let mut text = candidate.k.to_string();
    if weights {
        let value = |v: Option<f64>| v.map_or_else(|| "default".to_owned(), |v| v.to_string());
        text += &format!(", λ {}, γ {}", value(candidate.lambda), value(candidate.gamma));
    }
    text
}

fn table(choice: &Choice) -> Table {
    let weights = has_weights(choice);
    let cell =
        |values: &[f64]| Spread::of(values.iter().copied()).map_or_else(String::new, |s| format!("{s:.3}"));
    let row = |(at, c): (usize, &Candidate)| {
        let mark = match at {
            at if at == choice.place => "recommended",
            _ if c.plausible => "plausible",
            _ => "",
        };
        vec![name(c, weights), cell(&c.stability), cell(&c.loss), cell(&c.prediction), mark.to_owned()]
    };
    Table {
        title: recommendation(choice),
        headings: words(&["K", "stability", "held-out loss", "prediction", ""]),
        rows: choice.candidates.iter().enumerate().map(row).collect(),
        notes: vec![
            "Stability: how well the clusters of two models fitted to different rows are found again in each other, on rows \
             that neither saw: 1 if all are, 0 for chance. Of the most stable, up to 0.02 and without the worst split in \
             five, the largest K is chosen. Held-out loss: doubt and unfairness on such rows, 0 to 1, lower is better. Prediction: accuracy of a \
             classifier that learned the labels of some rows, on others."
                .to_owned(),
        ],
    }
}

/// One sentence, with how sure it is.
fn recommendation(choice: &Choice) -> String {
    let weights = has_weights(choice);
    let others = choice.candidates.iter().enumerate().filter(|(at, c)| c.plausible && *at != choice.place);
    let others: Vec<String> = others.map(|(_, c)| name(c, weights)).collect();
    let best = name(choice.chosen(), weights);
    let Choice { stability, support, .. } = *choice;
    Grounds { best: &best, stability, support, verdict: choice.verdict(), others: &others }.sentence()
}

fn picture(choice: &Choice) -> String {
    let (axis, places): (&str, Vec<f64>) = match has_weights(choice) {
        true => ("candidate", (1..=choice.candidates.len()).map(|at| at as f64).collect()),
        false => ("number of clusters K", choice.candidates.iter().map(|c| c.k as f64).collect()),
    };
    let line = |name: &str, colour: usize, values: fn(&Candidate) -> &Vec<f64>| {
        let spread = |c: &Candidate| Spread::of(values(c).iter().copied());
        let point = |(x, c): (&f64, &Candidate)| spread(c).map(|s| (*x, s.mean, s.sd));
        let points = places.iter().zip(&choice.candidates).filter_map(point).collect();
        Mark::Means { name: name.to_owned(), points, colour }
    };
    let chart = Chart {
        title: recommendation(choice),
        x: Axis::new(axis),
        y: Axis::between("", 0.0, 1.0),
        marks: vec![
            Mark::Highlight { x: places[choice.place] },
            line("stability", 0, |c| &c.stability),
            line("prediction", 6, |c| &c.prediction),
            line("held-out loss", 2, |c| &c.loss),
        ],
    };
    chart.svg()
}
