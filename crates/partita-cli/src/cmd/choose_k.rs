//! `partita choose-k`.

use super::opened;
use crate::args::{ChooseArgs, Format};
use crate::outputs;
use crate::picture::curves_png;
use crate::progress::Terminal;
use crate::recommendation::Grounds;
use anyhow::Result;
use partita::choose::{Candidate, Choice, Trial, choose};
use partita::compare::Spread;
use partita::linear::Input;
use partita_data::appear_together;
use partita_job::export::{check_files, complete, named};
use partita_job::{CandidateSpec, Dataset, Resources, usual_range};
use partita_study::chart::{Axis, Chart, Mark};
use partita_study::table::{Table, words};
use std::path::Path;

pub fn run(args: &ChooseArgs) -> Result<()> {
    let output = outputs::file(args.output.as_deref());
    let format = outputs::format(args.format, output)?;
    let files: Vec<&Path> = output.into_iter().chain(args.picture.as_deref()).collect();
    let inputs = args.read.inputs(&[]);
    check_files(&files, &inputs)?;
    if let Some(path) = &args.picture {
        named(path, &["svg", "png"], "the curves are drawn as .svg or .png")?;
    }
    let terminal = Terminal::new(format != Format::Json || output.is_some())?;
    let resources = Resources { result: output.map(Path::to_owned), ..args.read.resources() };
    let dataset = opened(Dataset::open(&args.read.spec(), &resources, &terminal))?;
    let rows = dataset.rows()?;
    let input = Input { widths: dataset.widths(), memory: resources.memory, ..Input::new(&rows) };
    let tried = CandidateSpec {
        k: args.range.clone().unwrap_or_else(|| usual_range(dataset.n())).collect(),
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
        let text = match format {
            Format::Json => serde_json::to_string_pretty(&choice)? + "\n",
            Format::Md => table(&choice).markdown(),
            Format::Csv => figures(&choice).csv(),
            Format::Html => {
                table(&choice).html().replace("</table>", &format!("</table>{}", chart(&choice).svg()))
            }
        };
        let mut files = Vec::new();
        if let Some(path) = &args.picture {
            files.push(complete(path, &drawn(&chart(&choice), path)?)?);
        }
        if let Some(path) = output {
            files.push(complete(path, text.as_bytes())?);
        }
        appear_together(files)?;
        if output.is_none() {
            outputs::print(&text)?;
        }
        Ok(())
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

/// Numbers for a program: one row for each split of each candidate, with the losses of its two models.
fn figures(choice: &Choice) -> Table {
    let number = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
    let rows = choice.candidates.iter().enumerate().flat_map(|(at, c)| {
        (0..c.stability.len()).map(move |split| {
            vec![
                c.k.to_string(),
                number(c.lambda),
                number(c.gamma),
                split.to_string(),
                number(c.stability.get(split).copied()),
                number(c.loss.get(2 * split).copied()),
                number(c.loss.get(2 * split + 1).copied()),
                number(c.prediction.get(split).copied()),
                u8::from(c.plausible).to_string(),
                u8::from(at == choice.place).to_string(),
            ]
        })
    });
    Table {
        title: String::new(),
        headings: words(&[
            "k",
            "lambda",
            "gamma",
            "split",
            "stability",
            "loss_1",
            "loss_2",
            "prediction",
            "plausible",
            "recommended",
        ]),
        rows: rows.collect(),
        notes: Vec::new(),
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

fn chart(choice: &Choice) -> Chart {
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
    Chart {
        title: recommendation(choice),
        x: Axis::new(axis),
        y: Axis::between("", 0.0, 1.0),
        marks: vec![
            Mark::Highlight { x: places[choice.place] },
            line("stability", 0, |c| &c.stability),
            line("prediction", 6, |c| &c.prediction),
            line("held-out loss", 2, |c| &c.loss),
        ],
    }
}

/// The bytes of a picture in the format that its name says.
fn drawn(chart: &Chart, path: &Path) -> Result<Vec<u8>> {
    match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
        true => curves_png(chart),
        false => Ok(chart.svg().into_bytes()),
    }
}
