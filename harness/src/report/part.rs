//! [`Part`]: a table of a report with its title and notes, wherever the report is shown.

use super::table::{Style, Table};

/// A table with its title and legend. Every report gives its parts, so that a page shows the tables that the command prints.
#[derive(Clone, Debug)]
pub struct Part {
    /// Title of the table.
    pub title: String,
    /// The table.
    pub table: Table,
    /// Paragraphs below the table, the legend first.
    pub notes: Vec<String>,
}

impl Part {
    /// A table with its title and legend.
    pub fn new(title: impl Into<String>, table: Table, legend: impl Into<String>) -> Self {
        let legend = legend.into();
        Self {
            title: title.into(),
            table,
            notes: if legend.is_empty() { Vec::new() } else { vec![legend] },
        }
    }

    /// The part with further paragraphs under its table.
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// The part as text; its table has been made for `style`.
    pub fn text(&self, style: Style) -> String {
        let mut text = match style {
            Style::Terminal => format!("{}\n{}\n", self.title, self.table),
            Style::Markdown => format!("**{}**\n\n{}\n", self.title, self.table),
        };
        for note in &self.notes {
            text += &format!("{}{}\n", style.paragraph(), style.prose(note));
        }
        text
    }
}
