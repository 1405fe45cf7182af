//! A table as Markdown, CSV or a page.

/// Cells under headings; the first column is text, the others numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// One line above it.
    pub title: String,
    /// One for each column.
    pub headings: Vec<String>,
    /// Cells, row after row.
    pub rows: Vec<Vec<String>>,
    /// Lines below the table.
    pub notes: Vec<String>,
}

/// Headings from plain words.
pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

impl Table {
    /// Columns padded, so that it reads well as plain text too.
    pub fn markdown(&self) -> String {
        // A bar would end the cell.
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect()).collect();
        let width = |c: usize| {
            let cells = rows.iter().map(|row| row[c].chars().count());
            cells.chain([self.headings[c].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.headings.len()).map(width).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let padded: Vec<String> = cells.zip(&widths).map(|(cell, &w)| format!("{cell:<w$}")).collect();
            format!("| {} |\n", padded.join(" | "))
        };
        let mut out = format!("### {}\n\n", self.title);
        out += &line(&mut self.headings.iter().map(|h| &**h));
        let rule: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(c, w)| if c == 0 { "-".repeat(w + 2) } else { format!("{}:", "-".repeat(w + 1)) })
            .collect();
        out += &format!("|{}|\n", rule.join("|"));
        for row in &rows {
            out += &line(&mut row.iter().map(|cell| &**cell));
        }
        for note in &self.notes {
            out += &format!("\n{note}\n");
        }
        out
    }

    /// Headings and rows; cells with commas or quotes are quoted.
    pub fn csv(&self) -> String {
        let cell = |text: &str| match text.contains([',', '"', '\n']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        };
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let mut out = line(self.headings.iter().map(|h| cell(h)).collect());
        for row in &self.rows {
            out += &line(row.iter().map(|c| cell(c)).collect());
        }
        out
    }

    /// The table alone, as a part of a page.
    pub fn html_part(&self) -> String {
        let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| -> String {
            cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
        };
        let rows: String = self
            .rows
            .iter()
            .map(|row| format!("<tr>{}</tr>\n", cells("td", &mut row.iter().map(|c| &**c))))
            .collect();
        let notes: String = self.notes.iter().map(|note| format!("<p>{}</p>\n", escape(note))).collect();
        let head = cells("th", &mut self.headings.iter().map(|h| &**h));
        format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n{notes}")
    }

    /// One self-contained page.
    pub fn html(&self) -> String {
        let (title, part) = (escape(&self.title), self.html_part());
        format!(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n<style>{STYLE}</style>\n\
             <h1>{title}</h1>\n{part}</html>\n"
        )
    }
}

/// How tables and the text around them look on a page.
pub const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222}\
h1{font-size:1.3rem}table{border-collapse:collapse;width:100%}th,td{padding:.35rem .6rem;text-align:right;\
border-bottom:1px solid #ddd;font-variant-numeric:tabular-nums;white-space:nowrap}th:first-child,td:first-child{text-align:left}\
tbody tr:hover{background:#f5f7fa}";

/// Text as a part of a page.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            title: "A <title>".to_owned(),
            headings: words(&["name", "value"]),
            rows: vec![vec!["a,b".to_owned(), "1 ± 2".to_owned()]],
            notes: vec!["A note.".to_owned()],
        }
    }

    #[test]
    fn every_form_holds_every_cell() {
        assert_eq!(table().csv(), "name,value\n\"a,b\",1 ± 2\n");
        let markdown = table().markdown();
        assert!(markdown.contains("| a,b  | 1 ± 2 |") && markdown.contains("\nA note.\n"), "{markdown}");
        let html = table().html();
        assert!(html.contains("A &lt;title&gt;") && html.contains("<td>1 ± 2</td>"), "{html}");
    }
}
