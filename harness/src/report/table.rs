//! [`Table`]: tables as all commands print them, as wide as the terminal at most.

use std::ffi::OsStr;
use std::fmt;

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement};

/// Output medium of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A terminal.
    Terminal,
    /// A Markdown file.
    Markdown,
}

impl Style {
    /// Returns the text that separates a paragraph from the line before: a line break in Markdown, nothing on a terminal.
    pub fn paragraph(self) -> &'static str {
        match self {
            Self::Terminal => "",
            Self::Markdown => "\n",
        }
    }

    /// Returns a paragraph as it stands below a table: in lines as wide as the terminal, and in one line in Markdown.
    pub fn prose(self, text: &str) -> String {
        match self {
            Self::Terminal => crate::terminal::wrapped(text),
            Self::Markdown => text.to_owned(),
        }
    }
}

/// A table whose first columns hold names and stand at the left; the others hold figures and are aligned to the right.
///
/// For a terminal that is too narrow, it is printed in parts one below the other, each with the names and some of the figures.
#[derive(Clone, Debug)]
pub struct Table {
    header: Vec<String>,
    /// Number of columns that hold names.
    names: usize,
    rows: Vec<Vec<CellText>>,
    style: Style,
    /// Whether the best figures are coloured.
    colours: bool,
}

/// Content of a cell: its text, and whether it is the best figure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellText {
    text: String,
    is_best: bool,
}

impl From<String> for CellText {
    fn from(text: String) -> Self {
        Self { text, is_best: false }
    }
}

impl CellText {
    /// Returns the text of the cell.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the cell's figure is the best of those compared with it.
    pub fn is_best(&self) -> bool {
        self.is_best
    }

    /// A cell with a figure that is the best of those compared with it.
    pub fn best(text: String) -> Self {
        Self { text, is_best: true }
    }
}

/// An empty table whose first `names` columns hold names.
pub fn table<'a>(header: impl IntoIterator<Item = &'a str>, names: usize, style: Style) -> Table {
    Table {
        header: header.into_iter().map(str::to_owned).collect(),
        names,
        rows: Vec::new(),
        style,
        colours: has_colours(),
    }
}

impl Table {
    /// Adds a row, which may be shorter than the header.
    pub fn add_row<C: Into<CellText>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The titles of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Number of columns, from the first, that hold names.
    pub fn names(&self) -> usize {
        self.names
    }

    /// The rows, which may be shorter than the header.
    pub fn rows(&self) -> &[Vec<CellText>] {
        &self.rows
    }

    /// The table, in parts that are no wider than `width` where that can be.
    fn within(&self, width: Option<usize>) -> String {
        let Some(width) = width.filter(|_| self.style == Style::Terminal) else {
            return self.part(&self.all_columns(), None);
        };
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for column in self.names..self.header.len() {
            match parts.last_mut() {
                Some(part) if self.width(part) + self.column_width(column) < width => part.push(column),
                _ => parts.push((0..self.names).chain([column]).collect()),
            }
        }
        if parts.is_empty() {
            parts.push(self.all_columns());
        }
        let parts = parts.iter().map(|columns| {
            let is_too_wide = self.width(columns) > width;
            self.part(columns, is_too_wide.then_some(width))
        });
        parts.collect::<Vec<_>>().join("\n")
    }

    fn all_columns(&self) -> Vec<usize> {
        (0..self.header.len()).collect()
    }

    /// Characters that a part takes, with its borders.
    fn width(&self, columns: &[usize]) -> usize {
        columns.iter().map(|&column| self.column_width(column)).sum::<usize>() + 1
    }

    /// Characters that a column takes, with the space around it and one border.
    fn column_width(&self, column: usize) -> usize {
        let cells = self
            .rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.text.as_str());
        let texts = cells.chain([self.header[column].as_str()]);
        texts.map(|text| text.chars().count()).max().unwrap_or(0) + 3
    }

    /// A table of some columns, whose cells are wrapped where a width is given.
    fn part(&self, columns: &[usize], width: Option<usize>) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(match self.style {
            Style::Terminal => UTF8_FULL_CONDENSED,
            Style::Markdown => ASCII_MARKDOWN,
        });
        table.set_content_arrangement(match width {
            Some(_) => ContentArrangement::Dynamic,
            None => ContentArrangement::Disabled,
        });
        if let Some(width) = width {
            table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        }
        match self.colours {
            true => table.enforce_styling(),
            false => table.force_no_tty(),
        };
        table.set_header(columns.iter().map(|&column| self.header[column].as_str()));
        for row in &self.rows {
            let cells = columns.iter().map(|&column| self.cell(row.get(column)));
            table.add_row(cells.collect::<Vec<_>>());
        }
        for (column, shown) in columns.iter().zip(table.column_iter_mut()) {
            if *column >= self.names {
                shown.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string()
    }

    fn cell(&self, content: Option<&CellText>) -> Cell {
        let Some(CellText { text, is_best }) = content else {
            return Cell::new("");
        };
        // What others named is shown in one line and without control characters.
        let text = match self.style {
            Style::Terminal => crate::terminal::one_line(text),
            Style::Markdown => in_markdown_cell(&crate::terminal::one_line(text)),
        };
        match (self.style, is_best) {
            (_, false) => Cell::new(text),
            (Style::Markdown, true) => Cell::new(format!("**{text}**")),
            (Style::Terminal, true) => Cell::new(text).fg(Color::Green).add_attribute(Attribute::Bold),
        }
    }
}

/// A text in a cell of Markdown: it neither ends the cell nor begins an element.
fn in_markdown_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.within(crate::terminal::width()))
    }
}

/// Whether standard output shows colours, and nobody forbids them (<https://no-color.org>).
pub fn has_colours() -> bool {
    shows_colours(&std::io::stdout())
}

/// Whether a stream of this process shows colours, and nobody forbids them.
pub fn shows_colours(stream: &impl std::io::IsTerminal) -> bool {
    let forbidden = std::env::var_os("NO_COLOR");
    are_colours_shown(stream.is_terminal(), forbidden.as_deref())
}

fn are_colours_shown(is_terminal: bool, no_color: Option<&OsStr>) -> bool {
    is_terminal && no_color.is_none_or(OsStr::is_empty)
}

/// A figure with three significant digits, more where it is large and whole; `NA` where there is none.
pub fn figure(value: Option<f64>) -> String {
    let Some(value) = value else {
        return "NA".to_owned();
    };
    let decimals = match value.abs() {
        0.0 => 0,
        ..1e-4 => return format!("{value:.1e}"),
        size @ ..1.0 => (2.0 - size.log10().floor()) as usize,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide() -> Table {
        let mut table = table(
            ["framework", "first figure", "second figure", "third figure"],
            1,
            Style::Terminal,
        );
        table.add_row(["a", "1", "2", "3"].map(str::to_owned));
        table.add_row(["a framework with a long name", "1", "2"].map(str::to_owned));
        table
    }

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap()
    }

    #[test]
    fn a_table_is_printed_in_parts_where_it_is_too_wide() {
        assert_eq!(wide().within(None).matches("a framework with").count(), 1);
        for width in [60, 50, 48] {
            let text = wide().within(Some(width));
            assert!(widest(&text) <= width, "{width}:\n{text}");
            assert!(text.matches("a framework with").count() > 1, "{text}");
            assert!(text.contains("third figure"), "{text}");
        }
        let text = wide().within(Some(30));
        assert!(widest(&text) <= 30, "names are wrapped:\n{text}");
    }

    #[test]
    fn colours_mark_the_best_where_a_terminal_shows_them_and_nobody_forbids_them() {
        let shown = |is_terminal, no_color: Option<&str>| are_colours_shown(is_terminal, no_color.map(OsStr::new));
        assert!(shown(true, None) && shown(true, Some("")));
        assert!(!shown(true, Some("1")) && !shown(false, None));
        let mut table = table(["name", "figure"], 1, Style::Terminal);
        table.add_row([CellText::from("x".to_owned()), CellText::best("1".to_owned())]);
        for colours in [true, false] {
            table.colours = colours;
            assert_eq!(table.within(Some(80)).contains('\u{1b}'), colours);
        }
    }

    #[test]
    fn figures_have_three_digits() {
        let shown = |value| figure(Some(value));
        assert_eq!(
            [0.0, 0.000_012_3, 0.001_234, 0.1234, 1.234, 12.34, 123.4, 12345.6].map(shown),
            ["0", "1.2e-5", "0.00123", "0.123", "1.23", "12.3", "123", "12346"]
        );
        assert_eq!(figure(None), "NA");
    }

    #[test]
    fn names_neither_end_a_cell_of_markdown_nor_begin_an_element() {
        for (style, expected) in [
            (Style::Markdown, "a\\|b &lt;img src=x>"),
            (Style::Terminal, "a|b <img src=x>"),
        ] {
            let mut table = table(["name", "figure"], 1, style);
            table.add_row(["a|b <img src=x>", "1"].map(str::to_owned));
            let text = table.within(None);
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn markdown_is_not_broken_up_and_marks_the_best() {
        let mut table = table(["name", "figure"], 1, Style::Markdown);
        table.add_row([
            CellText::from("x\u{1b}[31m\ny".to_owned()),
            CellText::best("1".to_owned()),
        ]);
        let text = table.within(Some(5));
        assert!(
            text.contains("**1**") && !text.contains('\u{1b}') && text.lines().count() == 3,
            "{text}"
        );
    }
}
