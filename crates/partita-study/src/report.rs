//! What was reproduced, as one page, as Markdown, and as pictures.

use crate::chart::{SCRIPT, sheet};
use crate::paper::Figure;
use crate::spec::{Check, Short, Spec, Verdict};
use crate::standing::{Record, Standing, tally};
use crate::table::{STYLE, Table, escape, words};

/// What the report is called, and the paper it is about.
const TITLE: &str = "The paper, drawn again and checked";
const PAPER: &str = "The paper is \"Discriminative Entropy Clustering and its Relation to K-means and SVM\" \
                     by Zhongwen (Rex) Zhang and Yuri Boykov.";
/// How to read the checks.
const LEGEND: &str = "A check compares a number with a tolerance. \"told\" has none: the number is only shown. \"miss\" gives the \
                      reason why the claim does not hold here; a miss without one makes the command fail.";

impl Record {
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
        let headings = words(&["check", "paper", "here", "tolerance", "verdict"]);
        Table { headings, rows: self.verdicts().into_iter().map(row).collect(), ..Table::default() }
    }

    /// The command that runs it.
    fn command(&self) -> String {
        format!("partita reproduce {}", self.name)
    }
}

/// The word for a check that does not hold.
fn miss(check: &Check) -> String {
    check.reason.as_ref().map_or_else(|| "MISS".to_owned(), |why| format!("miss: {why}"))
}

/// One line for each record: where it is in the paper, what it is, whether it holds.
fn summary(records: &[Record], link: impl Fn(&Record) -> String) -> Table {
    let row = |record: &Record| {
        let standing = Standing::of(record);
        vec![record.spec.paper.clone(), link(record), standing.to_string(), standing.checks()]
    };
    let headings = words(&["in the paper", "what", "verdict", "checks that hold"]);
    Table { headings, rows: records.iter().map(row).collect(), ..Table::default() }
}

/// All records as Markdown; pictures are linked from beside it.
pub fn markdown(records: &[Record]) -> String {
    let link = |record: &Record| format!("[{}](#{})", record.spec.title, record.name);
    let mut out = format!("# {TITLE}\n\n{PAPER}\n\n{}. {LEGEND}\n", tally(records));
    out += &bare(&summary(records, link));
    for record in records {
        let Spec { title, paper, claim, differences, .. } = &record.spec;
        out += &format!("\n<a id=\"{}\"></a>\n\n## {title} ({paper})\n\n{claim}\n", record.name);
        if !differences.is_empty() {
            out += &format!("\nDifferences: {differences}\n");
        }
        out += &format!("\n**{}** (`{}`)\n", capital(&Standing::of(record).to_string()), record.command());
        if let Ok(outcome) = &record.outcome {
            let checks = Some(record.checks()).filter(|checks| !checks.rows.is_empty());
            out += &checks.iter().chain(&outcome.tables).map(bare).collect::<String>();
            for (file, _) in record.pictures() {
                out += &format!("\n![{title}]({file})\n");
            }
        }
    }
    out
}

/// A sentence's beginning.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A table with its title as a plain line.
fn bare(table: &Table) -> String {
    let text = table.markdown();
    let body = text.split_once("\n\n").map_or("", |(_, body)| body);
    if table.title.is_empty() { format!("\n{body}") } else { format!("\n{}:\n\n{body}", table.title) }
}

/// All records as one page that needs nothing else.
pub fn html(records: &[Record]) -> String {
    let mut body = format!(
        "<h1>{TITLE}</h1>\n<p>{}</p>\n<p>{}.</p>\n<p class=\"aside\">{}</p>\n",
        escape(PAPER),
        tally(records),
        escape(LEGEND)
    );
    body += &overview(records);
    for record in records {
        body += &section(record);
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Partita: the paper reproduced</title>\n\
         <style>{STYLE}{MORE_STYLE}</style>\n</head><body>\n{body}<script>\n{SCRIPT}</script>\n</body></html>\n"
    )
}

/// The summary with links and colours.
fn overview(records: &[Record]) -> String {
    let line = |record: &Record| {
        let standing = Standing::of(record);
        format!(
            "<tr><td>{}</td><td><a href=\"#{}\">{}</a></td><td><span class=\"verdict {}\">{}</span>{}</td><td>{}</td></tr>\n",
            escape(&record.spec.paper),
            record.name,
            escape(&record.spec.title),
            standing.class(),
            standing.word(),
            escape(&standing.rest()),
            standing.checks()
        )
    };
    let lines: String = records.iter().map(line).collect();
    format!(
        "<table class=\"overview\">\n<thead><tr><th>in the paper</th><th>what</th><th>verdict</th><th>checks that hold</th></tr></thead>\n\
         <tbody>\n{lines}</tbody>\n</table>\n"
    )
}

const MORE_STYLE: &str = "h2{font-size:1.15rem;margin:0 0 .3rem}section{margin-top:2.2rem;padding-top:1.2rem;border-top:2px solid #e3e6ea}\
td,th{white-space:normal;vertical-align:top}td:not(:first-child),th:not(:first-child){min-width:4.5em}\
.checks td:last-child,.checks th:last-child,.overview td,.overview th{text-align:left}.checks td:first-child{width:38%}\
.checks td:last-child{max-width:24rem}.overview td:first-child{min-width:8em}.scroll{overflow-x:auto}\
.charts{display:grid;gap:.5rem;margin:1rem 0}.charts.one{max-width:46rem}.text td:last-child,.text th:last-child{text-align:left;overflow-wrap:anywhere}.chart{width:100%;cursor:crosshair;touch-action:none;user-select:none}\
.charts output{display:block;min-height:1.3em;font-size:.8rem;color:#717581;text-align:right}.paper,.aside{color:#717581;font-weight:400}\
.aside{font-size:.9rem}code{font-size:.85em;background:#f3f4f6;padding:.1em .3em;border-radius:3px}\
.verdict{display:inline-block;border-radius:3px;padding:0 .45em;font-weight:600;font-size:.85em}\
.good{background:#dff3e4;color:#14692f}.partly{background:#fdf1d3;color:#7a5200}.bad{background:#fbe0dd;color:#9b1c10}.none{background:#e8eaee;color:#4a4f5a}";

fn section(record: &Record) -> String {
    let Spec { title, paper, claim, differences, .. } = &record.spec;
    let standing = Standing::of(record);
    let mut out = format!(
        "<section id=\"{}\"><h2>{} <span class=\"paper\">{}</span></h2>\n<p>{}</p>\n",
        record.name,
        escape(title),
        escape(paper),
        escape(claim)
    );
    if !differences.is_empty() {
        out += &format!("<p><b>Differences:</b> {}</p>\n", escape(differences));
    }
    out += &format!(
        "<p><span class=\"verdict {}\">{}</span>{} <span class=\"aside\"><code>{}</code> {:.1} s</span></p>\n",
        standing.class(),
        standing.word(),
        escape(&standing.rest()),
        escape(&record.command()),
        record.seconds
    );
    if let Ok(outcome) = &record.outcome {
        outcome.figures.iter().for_each(|figure| out += &charts(figure));
        if !record.spec.checks.is_empty() {
            out += &format!("<div class=\"checks\">{}</div>\n", record.checks().html_part());
        }
        for table in &outcome.tables {
            // Commands are read from the left.
            let text = table.headings.last().is_some_and(|last| last == "command");
            let class = if text { "scroll text" } else { "scroll" };
            let title = escape(&table.title);
            out += &format!("<p>{title}</p>\n<div class=\"{class}\">{}</div>\n", table.html_part());
        }
    }
    out + "</section>\n"
}

/// The charts of a figure side by side.
fn charts(figure: &Figure) -> String {
    let columns = figure.columns.min(2);
    let class = if columns == 1 { "charts one" } else { "charts" };
    let mut out =
        format!("<div class=\"{class}\" style=\"grid-template-columns:repeat({columns},minmax(0,1fr))\">\n");
    for chart in &figure.charts {
        out += &format!("<div>{}</div>\n", chart.html_part());
    }
    out + "</div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Findings;
    use crate::standing::Tally;
    use std::collections::BTreeMap;

    fn record(outcome: Result<Findings, String>) -> Record {
        let text = "experiment = 'x'\ntitle = 'A & B'\npaper = 'Figure 0'\nclaim = 'c'\ndifferences = 'other data'\n\
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
        assert_eq!(tally(&records), Tally { passed: 1, explained: 1, missed: 1, not_run: 1, recorded: 0 });
        let text = markdown(&records);
        for word in [
            "| one ",
            "pass",
            "miss: because",
            "no number \"c\"",
            "not run: no data",
            "Differences: other data",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        let page = html(&records);
        for word in [
            "A &amp; B",
            "miss: because",
            "not run</span>: no data",
            "svg.chart",
            "partita reproduce x",
            "other data",
        ] {
            assert!(page.contains(word), "{word}");
        }
    }
}
