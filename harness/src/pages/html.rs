//! HTML of sections, and escaping of texts that others wrote.

use std::fmt::Write as _;

use super::block::{Block, Chart, Section};
use crate::report::part::Part;
use crate::report::table::Table;
use crate::terminal::harmless;

/// A text as HTML has it, in elements and in attributes with double quotes. Control characters, those that turn the direction of text
/// among them, are shown instead of obeyed.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in harmless(text).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            character => escaped.push(character),
        }
    }
    escaped
}

/// Returns JSON text in the form that an element of type `application/json` may hold: nothing in the text ends the element.
pub fn json_in_element(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Within strings of JSON, the only place of these characters.
                let _ = write!(escaped, "\\u{:04x}", u32::from(character));
            }
            character => escaped.push(character),
        }
    }
    escaped
}

/// A text with parts in backticks, as the sentences of our reports have them: these become code.
fn sentence(text: &str) -> String {
    let parts = escape(text);
    let mut html = String::with_capacity(parts.len());
    let pieces: Vec<&str> = parts.split('`').collect();
    for (number, piece) in pieces.iter().enumerate() {
        // A backtick without a second one stays what it is.
        match (number % 2 == 1, number + 1 < pieces.len()) {
            (true, true) => {
                let _ = write!(html, "<code>{piece}</code>");
            }
            (true, false) => {
                let _ = write!(html, "`{piece}");
            }
            (false, _) => html.push_str(piece),
        }
    }
    html
}

/// Gives every picture of a page names of its own.
#[derive(Debug, Default)]
pub struct Pictures {
    count: usize,
}

impl Pictures {
    /// The sections as HTML.
    pub fn sections(&mut self, sections: &[Section]) -> String {
        sections.iter().map(|section| self.section(section)).collect()
    }

    fn section(&mut self, section: &Section) -> String {
        let (id, title) = (section.id, escape(section.title));
        let mut html =
            format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n");
        for block in &section.blocks {
            html += &match block {
                Block::Heading(heading) => format!("<h3>{}</h3>\n", escape(heading)),
                Block::Text(paragraph) => format!("<p>{}</p>\n", sentence(paragraph)),
                Block::List(items) => {
                    let items = items.iter().map(|item| format!("<li>{}</li>\n", sentence(item)));
                    format!("<ul>\n{}</ul>\n", items.collect::<String>())
                }
                Block::Table(part) => table_with_notes(part, false),
                Block::HeatMap(part) => table_with_notes(part, true),
                Block::Charts(charts) => {
                    let charts = charts.iter().map(|chart| self.chart(chart));
                    format!("<div class=\"charts\">\n{}</div>\n", charts.collect::<String>())
                }
                Block::Failures => FAILURES.to_owned(),
            };
        }
        html + "</section>\n"
    }

    fn chart(&mut self, chart: &Chart) -> String {
        self.count += 1;
        let title = escape(&chart.title);
        let svg = chart.svg.trim_start_matches(|character| character != '<');
        // Names of fills are of the whole page.
        let svg = svg
            .replace("id=\"fill", &format!("id=\"p{}-fill", self.count))
            .replace("url(#fill", &format!("url(#p{}-fill", self.count))
            .replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{title}\" "), 1);
        format!("<figure class=\"chart\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">\n{svg}</figure>\n")
    }
}

/// Element that the page's script fills with failures.
const FAILURES: &str = "<div id=\"failures-list\"><noscript><p>The list of failures needs JavaScript; \
<code>maskwright report --markdown</code> prints the first of them.</p></noscript></div>\n";

fn table_with_notes(part: &Part, shaded: bool) -> String {
    let notes = part
        .notes
        .iter()
        .map(|note| format!("<p class=\"note\">{}</p>\n", sentence(note)));
    table(&part.title, &part.table, shaded) + &notes.collect::<String>()
}

/// A table with its title. In a shaded one, cells with a share in per cent tell the style how dark they are.
pub fn table(title: &str, content: &Table, shaded: bool) -> String {
    let title = escape(title);
    let class = if shaded { " class=\"heat\"" } else { "" };
    let mut html = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n<table{class}><caption>{title}</caption>\n<thead><tr>"
    );
    for (column, name) in content.header().iter().enumerate() {
        let class = if column < content.names() {
            " class=\"name\""
        } else {
            ""
        };
        let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escape(name));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in content.rows() {
        html += "<tr>";
        for column in 0..content.header().len() {
            let cell = row.get(column);
            let text = cell.map_or("", |cell| cell.text());
            let shown = escape(text);
            let _ = match (column < content.names(), share(text).filter(|_| shaded)) {
                (true, _) if column == 0 => write!(html, "<th scope=\"row\">{shown}</th>"),
                (true, _) => write!(html, "<td class=\"name\">{shown}</td>"),
                (false, Some(share)) => write!(html, "<td class=\"s{:.0}\">{shown}</td>", (10.0 * share).round()),
                (false, None) if cell.is_some_and(|cell| cell.is_best()) => {
                    write!(html, "<td class=\"best\">{shown}</td>")
                }
                (false, None) => write!(html, "<td>{shown}</td>"),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody></table>\n</div>\n"
}

/// The share that a cell such as `OU 87 %*` has, from 0 to 1.
fn share(cell: &str) -> Option<f64> {
    let (before, _) = cell.split_once(" %")?;
    let number = before.rsplit(' ').next()?;
    let percent: f64 = number.parse().ok()?;
    Some((percent / 100.0).clamp(0.0, 1.0))
}
