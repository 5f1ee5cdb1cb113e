//! [`Judging`]: conditions under which the documents of a suite are judged, and [`Spelling`]: a function that writes them for a framework.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use ::maskwright::{ExactOptions, Formats, Style};
use maskwright_worker::StyleChanges;

/// Conditions under which documents are judged.
#[derive(Clone, Copy, Debug)]
pub struct Judging<'a> {
    /// JSON texts by URI that `$ref` may lead to.
    pub documents: &'a BTreeMap<String, String>,
    /// Whether `format` is an assertion.
    pub assert_formats: bool,
    /// Changes to the style of documents, for frameworks that write a style of their own.
    pub style: &'a StyleChanges,
}

impl Judging<'_> {
    /// Returns the options of this project's engine for documents in which a value may have any of its texts.
    pub(super) fn judging_options(&self) -> ExactOptions {
        self.options(Style::rfc8259())
    }

    /// Returns the options of this project's engine for documents as models write them.
    pub(super) fn writing_options(&self) -> ExactOptions {
        self.style.applied(self.options(Style::generation()))
    }

    fn options(&self, style: Style) -> ExactOptions {
        let mut options = ExactOptions::default().style(style).formats(match self.assert_formats {
            true => Formats::Asserted,
            false => Formats::Annotation,
        });
        options.schema.documents.clone_from(self.documents);
        options
    }
}

/// Function that writes a valid instance as a framework takes it. Its arguments are the conditions, the JSON texts of the schema and of the
/// instance, and a flag which another thread sets to stop the search. It returns `None` where there is no such text, or where it was stopped.
pub type Spelling = fn(&Judging<'_>, &str, &str, &AtomicBool) -> Option<String>;
