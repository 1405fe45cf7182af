//! What was reproduced, as one page, as Markdown, and as pictures.

use crate::chart::{SCRIPT, sheet};
use crate::paper::{Figure, Findings};
use crate::spec::{Check, Short, Spec, Verdict};
use crate::table::{STYLE, Table, escape, words};

/// What the report is called, and the paper it is about.
const TITLE: &str = "The paper, drawn again and checked";
const PAPER: &str = "The paper is \"Discriminative Entropy Clustering and its Relation to K-means and SVM\" \
                     by Zhongwen (Rex) Zhang and Yuri Boykov.";

/// One description and what came of it.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// The description.
    pub spec: Spec,
    /// What the experiment showed, or why it was not run.
    pub outcome: Result<Findings, String>,
    /// How long it took.
    pub seconds: f64,
}

/// How the checks of a study ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Checks that hold.
    pub passed: usize,
    /// Checks that do not, for a reason that the description gives.
    pub explained: usize,
    /// Checks that do not.
    pub missed: usize,
    /// Descriptions that were not run.
    pub not_run: usize,
}

impl Record {
    /// Every check with its verdict.
    pub fn verdicts(&self) -> Vec<(&Check, Verdict)> {
        let Ok(outcome) = &self.outcome else { return Vec::new() };
        self.spec.checks.iter().map(|check| (check, check.judge(&outcome.numbers))).collect()
    }

    /// The pictures: file names and contents.
    pub fn pictures(&self) -> Vec<(String, String)> {
        let file = |figure: &Figure| (format!("{}.svg", figure.name), sheet(&figure.charts, figure.columns));
        self.outcome.iter().flat_map(|outcome| outcome.figures.iter().map(file)).collect()
    }

    /// The checks as a table.
    fn checks(&self) -> Table {
        let row = |(check, verdict): (&Check, Verdict)| {
            let (value, word) = match verdict {
                Verdict::Pass(value) => (Short(value).to_string(), "pass".to_owned()),
                Verdict::Miss(value) => (Short(value).to_string(), miss(check)),
                Verdict::Told(value) => (Short(value).to_string(), "told".to_owned()),
                Verdict::Unknown => (String::new(), format!("no number \"{}\" was found", check.number)),
            };
            let paper = check.paper.map_or_else(String::new, |p| Short(p).to_string());
            vec![check.says.clone(), paper, value, check.bounds(), word]
        };
        let headings = words(&["must hold", "paper", "here", "tolerance", ""]);
        Table { headings, rows: self.verdicts().into_iter().map(row).collect(), ..Table::default() }
    }
}

/// The word for a check that does not hold.
fn miss(check: &Check) -> String {
    check.reason.as_ref().map_or_else(|| "MISS".to_owned(), |why| format!("miss: {why}"))
}

/// Count the checks of many records.
pub fn tally(records: &[Record]) -> Tally {
    let mut tally =
        Tally { not_run: records.iter().filter(|r| r.outcome.is_err()).count(), ..Tally::default() };
    for (check, verdict) in records.iter().flat_map(Record::verdicts) {
        match verdict {
            Verdict::Pass(_) => tally.passed += 1,
            Verdict::Told(_) => {}
            Verdict::Miss(_) if check.reason.is_some() => tally.explained += 1,
            _ => tally.missed += 1,
        }
    }
    tally
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { passed, explained, missed, not_run } = *self;
        write!(
            f,
            "{passed} checks pass, {explained} miss for a known reason, {missed} miss, {not_run} not run"
        )
    }
}

/// All records as Markdown; pictures are linked from beside it.
pub fn markdown(records: &[Record]) -> String {
    let mut out = format!("# {TITLE}\n\n{PAPER}\n\n{}\n", tally(records));
    for record in records {
        let Spec { title, paper, claim, .. } = &record.spec;
        out += &format!("\n## {title} ({paper})\n\n{claim}\n");
        match &record.outcome {
            Err(why) => out += &format!("\nNot run: {why}.\n"),
            Ok(outcome) => {
                let tables =
                    std::iter::once(&record.checks()).chain(&outcome.tables).map(bare).collect::<Vec<_>>();
                out += &tables.join("");
                for (file, _) in record.pictures() {
                    out += &format!("\n![{title}]({file})\n");
                }
            }
        }
    }
    out
}

/// A table with its title as a plain line.
fn bare(table: &Table) -> String {
    let text = table.markdown();
    let body = text.split_once("\n\n").map_or("", |(_, body)| body);
    if table.title.is_empty() { format!("\n{body}") } else { format!("\n{}:\n\n{body}", table.title) }
}

/// All records as one page that needs nothing else.
pub fn html(records: &[Record]) -> String {
    let mut body = format!("<h1>{TITLE}</h1>\n<p>{}</p>\n<p>{}</p>\n", escape(PAPER), tally(records));
    let links = records.iter().map(|r| format!("<a href=\"#{}\">{}</a>", r.name, escape(&r.spec.title)));
    body += &format!("<nav>{}</nav>\n", links.collect::<Vec<_>>().join(" · "));
    for record in records {
        body += &section(record);
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Partita: the paper reproduced</title>\n\
         <style>{STYLE}{MORE_STYLE}</style>\n</head><body>\n{body}<script>\n{SCRIPT}</script>\n</body></html>\n"
    )
}

const MORE_STYLE: &str = "h2{font-size:1.15rem;margin-top:2.5rem}td,th{white-space:normal}td:last-child{text-align:left}\
.charts{display:grid;gap:.5rem;margin:1rem 0}.chart{width:100%;cursor:crosshair;touch-action:none;user-select:none}\
.charts output{display:block;min-height:1.3em;font-size:.8rem;color:#717581;text-align:right}nav{line-height:1.9}.paper{color:#717581;font-weight:400}";

fn section(record: &Record) -> String {
    let Spec { title, paper, claim, .. } = &record.spec;
    let mut out = format!(
        "<section id=\"{}\"><h2>{} <span class=\"paper\">{}, {:.1} s</span></h2>\n<p>{}</p>\n",
        record.name,
        escape(title),
        escape(paper),
        record.seconds,
        escape(claim)
    );
    match &record.outcome {
        Err(why) => out += &format!("<p><b>Not run:</b> {}.</p>\n", escape(why)),
        Ok(outcome) => {
            outcome.figures.iter().for_each(|figure| out += &charts(figure));
            out += &record.checks().html_part();
            for table in &outcome.tables {
                out += &format!("<p>{}</p>\n{}", escape(&table.title), table.html_part());
            }
        }
    }
    out + "</section>\n"
}

/// The charts of a figure side by side.
fn charts(figure: &Figure) -> String {
    let columns = figure.columns.min(2);
    let mut out =
        format!("<div class=\"charts\" style=\"grid-template-columns:repeat({columns},minmax(0,1fr))\">\n");
    for chart in &figure.charts {
        out += &format!("<div>{}</div>\n", chart.html_part());
    }
    out + "</div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn record(outcome: Result<Findings, String>) -> Record {
        let text = "experiment = 'x'\ntitle = 'A & B'\npaper = 'Figure 0'\nclaim = 'c'\n\
                    [[checks]]\nsays = 'one'\nnumber = 'a'\nat_least = 1.0\n\
                    [[checks]]\nsays = 'two'\nnumber = 'b'\nat_most = 1.0\nreason = 'because'\n\
                    [[checks]]\nsays = 'three'\nnumber = 'c'\n";
        let spec = Spec::parse("x", text).expect("well-formed");
        Record { name: "x".to_owned(), spec, outcome, seconds: 1.0 }
    }

    #[test]
    fn every_check_is_told_in_every_form() {
        let numbers = BTreeMap::from([("a".to_owned(), 2.0), ("b".to_owned(), 3.0)]);
        let outcome = Findings { numbers, ..Findings::default() };
        let records = [record(Ok(outcome)), record(Err("no data".to_owned()))];
        assert_eq!(tally(&records), Tally { passed: 1, explained: 1, missed: 1, not_run: 1 });
        let text = markdown(&records);
        for word in ["| one ", "pass", "miss: because", "no number \"c\"", "Not run: no data."] {
            assert!(text.contains(word), "{word}: {text}");
        }
        let page = html(&records);
        for word in ["A &amp; B", "miss: because", "<b>Not run:</b> no data", "svg.chart"] {
            assert!(page.contains(word), "{word}");
        }
    }
}
