//! [`Section`] and [`Block`]: the parts of a report, before it becomes a page or Markdown.

use crate::figures::bars::{Panel, stacked};
use crate::report::part::Part;
use crate::report::table::Style;

/// A section with its title.
pub struct Section {
    /// Identifier that links lead to.
    pub id: &'static str,
    /// The title.
    pub title: &'static str,
    /// Blocks of the section.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
pub enum Block {
    /// A title within the section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Items below one another.
    List(Vec<String>),
    /// A table.
    Table(Part),
    /// A table whose cells are the darker, the greater the share in them: a heat map.
    HeatMap(Part),
    /// Pictures beside one another, with the same figures in a table below.
    Charts(Vec<Chart>),
    /// The list of failures, which is shown by the page's script.
    Failures,
}

/// A picture.
pub struct Chart {
    /// Title of the picture.
    pub title: String,
    /// SVG text.
    pub svg: String,
}

impl Chart {
    /// A picture of bars; none without a bar.
    pub fn of_bars(panel: Panel) -> Option<Self> {
        (!panel.bars.is_empty()).then(|| Self {
            title: format!("{}: {}", panel.title, panel.subtitle),
            svg: stacked(&[panel]),
        })
    }
}

impl Section {
    /// A section without anything so far.
    pub fn new(id: &'static str, title: &'static str) -> Self {
        Self {
            id,
            title,
            blocks: Vec::new(),
        }
    }

    /// Adds a block.
    pub fn add(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Adds pictures where there are some.
    pub fn add_charts(&mut self, charts: Vec<Chart>) {
        if !charts.is_empty() {
            self.add(Block::Charts(charts));
        }
    }

    /// The section as text, without its pictures: their figures stand in the tables.
    pub fn text(&self, style: Style) -> String {
        let mut text = match style {
            Style::Terminal => format!("{}\n{}\n\n", self.title, "=".repeat(self.title.chars().count())),
            Style::Markdown => format!("## {}\n\n", self.title),
        };
        for block in &self.blocks {
            text += &match (block, style) {
                (Block::Heading(heading), Style::Terminal) => format!("{heading}\n\n"),
                (Block::Heading(heading), Style::Markdown) => format!("### {heading}\n\n"),
                (Block::Text(paragraph), Style::Terminal) => format!("{}\n\n", crate::terminal::wrapped(paragraph)),
                (Block::Text(paragraph), Style::Markdown) => format!("{paragraph}\n\n"),
                (Block::List(items), _) => {
                    let items = items.iter().map(|item| format!("- {item}\n"));
                    items.collect::<String>() + "\n"
                }
                (Block::Table(part) | Block::HeatMap(part), style) => part.text(style) + "\n",
                (Block::Charts(_) | Block::Failures, _) => String::new(),
            };
        }
        text
    }
}
