//! [`RunReport`]: the report of runs, in sections.

use std::path::Path;

use super::block::{Block, Section};
use super::data::FailureData;
use super::html::{Pictures, escape};
use super::page::Page;
use super::sections::{bench, coverage, failures, ifstruct, manifest, masks, overview, quality, testsuite, tools};
use crate::error::CommandError;
use crate::report::table::Style;
use crate::results::bench::ReadOptions;
use crate::results::failures::{Failure, explain};
use crate::results::run::{Run, together};
use crate::results::schemas::Schemas;

/// Options of a report.
#[derive(Clone, Copy, Debug)]
pub struct ReportOptions<'a> {
    /// Options for reading records.
    pub reading: ReadOptions,
    /// Largest number of failures that are explained by their schemas.
    pub explained: usize,
    /// Directory of the schemas that records are about; the fetched data where this is none.
    pub data: Option<&'a Path>,
}

/// A report of runs.
pub struct RunReport {
    /// The sections.
    pub sections: Vec<Section>,
    /// Failures of the runs.
    pub failures: Vec<Failure>,
    data: FailureData,
}

impl RunReport {
    /// The report of `runs`, with tables made for `style`; pages take either.
    ///
    /// # Errors
    ///
    /// [`CommandError::Plot`], where curves cannot be drawn.
    pub fn new(runs: Vec<Run>, options: ReportOptions<'_>, style: Style) -> Result<Self, CommandError> {
        let runs = together(runs);
        let manifests = runs.iter().flat_map(|run| &run.manifests);
        let schemas = Schemas::new(options.data).with_recorded(manifests);
        let mut found = crate::results::failures::failures(&runs, &schemas, options.reading.scoring);
        let explained = explain(&mut found, options.explained);
        let data = FailureData::new(&found);
        let mut sections = vec![overview::section(&runs, options.reading, style)];
        sections.extend(bench::sections(&runs, options.reading, style));
        sections.extend(testsuite::section(&runs, style));
        sections.extend(masks::section(&runs, options.reading, style)?);
        sections.extend(coverage::section(&runs, style));
        sections.extend(quality::section(&runs, style));
        sections.extend(ifstruct::section(&runs, style));
        sections.extend(tools::section(&runs, style));
        sections.push(failures::section(&found, explained, data.left_out(), style));
        sections.push(manifest::section(&runs, style));
        sections.push(manifest::missing(&runs));
        Ok(Self {
            sections,
            failures: found,
            data,
        })
    }

    /// The tables, for a terminal or in Markdown.
    pub fn text(&self, style: Style) -> String {
        let sections = self.sections.iter().map(|section| {
            // A page's script has the list; a text has its beginning.
            let listed = failures::first(&self.failures, style).filter(|_| section.id == failures::ID);
            section.text(style) + &listed.map_or_else(String::new, |part| part.text(style) + "\n")
        });
        sections.collect()
    }

    /// The report as a page of its own; `up` leads back to a page around it.
    pub fn html(self, title: &str, up: Option<&str>) -> String {
        let contents = self.sections.iter().map(|section| (section.id, section.title));
        let up = up.map(|up| format!("<p><a href=\"{}\">All models</a></p>", escape(up)));
        Page {
            title,
            lead: up.unwrap_or_default(),
            contents: contents.collect(),
            body: Pictures::default().sections(&self.sections),
            failures: Some(self.data),
        }
        .html()
    }
}

/// Adds a heading with the name of a run where its command has several.
pub fn add_name(section: &mut Section, run: &Run, several: bool) {
    if several {
        section.add(Block::Heading(run.name()));
    }
}
