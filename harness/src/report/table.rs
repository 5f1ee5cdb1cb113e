//! Tables as all commands print them.

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// Where a table goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// To a terminal.
    Terminal,
    /// Into a Markdown file.
    Markdown,
}

/// An empty table whose first `names` columns hold names; the others hold figures and are aligned to the right.
pub fn table<'a>(header: impl IntoIterator<Item = &'a str>, names: usize, style: Style) -> Table {
    let mut table = Table::new();
    table.load_style(match style {
        Style::Terminal => UTF8_FULL_CONDENSED,
        Style::Markdown => ASCII_MARKDOWN,
    });
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
