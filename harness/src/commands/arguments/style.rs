//! [`DocumentStyle`] and [`StyleArguments`]: how the documents of `check` and `sample` look.

use clap::{Args, ValueEnum};
use maskwright::{ExactOptions, Formats, KeyOrder, Style, Whitespace};

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
    /// The engine's style of this name.
    fn style(self) -> Style {
        match self {
            Self::Compact => Style {
                whitespace: Whitespace::Compact,
                ..Style::generation()
            },
            Self::Generation => Style::generation(),
            Self::Rfc8259 => Style::rfc8259(),
        }
    }
}

/// Options that change one field each of the style that `--style` names. One that is not given leaves its field as the
/// style has it.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Style")]
pub struct StyleArguments {
    /// Order of the members of an object [default: `any` in the style `rfc8259`, otherwise `schema`]
    #[arg(long, value_enum)]
    key_order: Option<KeyOrderArgument>,
    /// Leave out members that no subschema declares or requires, where the schema says nothing of further ones; a schema
    /// with `properties` and without `type` takes objects only
    #[arg(long)]
    closed: bool,
    /// Have all members that `properties` declares, as far as a finite value has them
    #[arg(long)]
    all_required: bool,
}

/// Order of the members of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KeyOrderArgument {
    /// Members in any order
    Any,
    /// Names that the schema lists first and in its order
    Schema,
}

impl StyleArguments {
    /// The engine's options for documents of a style with these changes, with formats asserted unless they are
    /// annotations.
    pub fn exact_options(&self, style: DocumentStyle, annotate_formats: bool) -> ExactOptions {
        let formats = match annotate_formats {
            true => Formats::Annotation,
            false => Formats::Asserted,
        };
        ExactOptions::default()
            .style(self.applied_to(style.style()))
            .formats(formats)
    }

    /// A style with these changes.
    fn applied_to(&self, mut style: Style) -> Style {
        if let Some(order) = self.key_order {
            style.key_order = match order {
                KeyOrderArgument::Any => KeyOrder::Any,
                KeyOrderArgument::Schema => KeyOrder::Schema,
            };
        }
        style.closed |= self.closed;
        style.all_required |= self.all_required;
        style
    }
}
