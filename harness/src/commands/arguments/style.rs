//! [`DocumentStyle`]: how the documents of `check` and `sample` look.

use clap::ValueEnum;
use maskwright::{ExactOptions, Formats, Style, Whitespace};

/// How documents look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentStyle {
    /// As a model should write, on one line
    Compact,
    /// As a model should write, with spaces and line breaks here and there
    Generation,
    /// Any JSON: any key order, whitespace, escape and spelling of numbers
    Rfc8259,
}

impl DocumentStyle {
    /// The engine's options for documents of this style, with formats asserted unless they are annotations.
    pub fn exact_options(self, annotate_formats: bool) -> ExactOptions {
        let style = match self {
            Self::Compact => Style {
                whitespace: Whitespace::Compact,
                ..Style::generation()
            },
            Self::Generation => Style::generation(),
            Self::Rfc8259 => Style::rfc8259(),
        };
        let formats = match annotate_formats {
            true => Formats::Annotation,
            false => Formats::Asserted,
        };
        ExactOptions::default().style(style).formats(formats)
    }
}
