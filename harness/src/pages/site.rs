//! A site of many runs: a page with models × frameworks, and a page for each model.

use std::path::PathBuf;

use super::block::Section;
use super::html::{Pictures, escape};
use super::page::Page;
use super::report::{ReportOptions, RunReport};
use super::sections::{coverage, manifest, masks, overview, testsuite};
use crate::error::CommandError;
use crate::report::table::Style;
use crate::results::run::{Run, together};

/// A file of a site.
pub struct SitePage {
    /// Name of the file.
    pub name: String,
    /// Content of the file.
    pub html: String,
}

/// The page that all others lead to.
const INDEX: &str = "index.html";

/// The pages of the runs in `paths`.
///
/// # Errors
///
/// [`CommandError`], where runs cannot be read or curves cannot be drawn.
pub fn pages(paths: &[PathBuf], title: &str, options: ReportOptions<'_>) -> Result<Vec<SitePage>, CommandError> {
    let runs = together(Run::read_all(paths)?);
    let mut models: Vec<String> = Vec::new();
    for model in runs.iter().flat_map(Run::models) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let names = file_names(&models);
    let mut pages = vec![index(&runs, title, &models, &names, options)?];
    for (model, name) in models.iter().zip(&names) {
        let mut own = Run::read_all(paths)?;
        own.retain_mut(|run| run.keep_model(model));
        let report = RunReport::new(own, options, Style::Markdown)?;
        pages.push(SitePage {
            name: name.clone(),
            html: report.html(&format!("{title}: {model}"), Some(INDEX)),
        });
    }
    Ok(pages)
}

/// Returns the page of all models, and of the runs that judge frameworks without a model.
fn index(
    runs: &[Run],
    title: &str,
    models: &[String],
    names: &[String],
    options: ReportOptions<'_>,
) -> Result<SitePage, CommandError> {
    let style = Style::Markdown;
    let mut sections = vec![overview::section(runs, options.reading, style)];
    sections.extend(testsuite::section(runs, style));
    sections.extend(masks::section(runs, options.reading, style)?);
    sections.extend(coverage::section(runs, style));
    sections.push(manifest::section(runs, style));
    sections.push(manifest::missing(runs));
    let links = models
        .iter()
        .zip(names)
        .map(|(model, name)| format!("<li><a href=\"{}\">{}</a></li>", escape(name), escape(model)));
    let links: String = links.collect();
    let lead = match links.is_empty() {
        true => String::new(),
        false => format!("<p>Everything about one model:</p>\n<ul class=\"models\">{links}</ul>"),
    };
    let contents = sections
        .iter()
        .map(|section: &Section| (section.id, section.title))
        .collect();
    Ok(SitePage {
        name: INDEX.to_owned(),
        html: Page {
            title,
            lead,
            contents,
            body: Pictures::default().sections(&sections),
            failures: None,
        }
        .html(),
    })
}

/// A name of a file for each model, all different.
fn file_names(models: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for model in models {
        let plain = |character: char| match character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_') {
            true => character,
            false => '-',
        };
        let stem: String = model.chars().map(plain).collect();
        let numbered = (2..).map(|number| format!("model-{stem}-{number}.html"));
        let name = std::iter::once(format!("model-{stem}.html"))
            .chain(numbered)
            .find(|name| !names.iter().any(|known| known.eq_ignore_ascii_case(name)));
        names.extend(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::file_names;

    #[test]
    fn names_of_files_are_plain_and_different() {
        let models = ["Org/name", "org-name", "../x"].map(str::to_owned);
        assert_eq!(
            file_names(&models),
            ["model-Org-name.html", "model-org-name-2.html", "model-..-x.html"]
        );
    }
}
