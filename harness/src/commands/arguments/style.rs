//! [`DocumentStyle`] and [`StyleArguments`]: the style of documents.

use clap::{Args, ValueEnum};
use maskwright::{ExactOptions, Formats, Style, Whitespace};
use maskwright_worker::StyleChanges;
use maskwright_worker::style::{
    Bound, EscapesChange, IndentChange, KeyOrderChange, LayoutChange, LineBreakChange, NumbersChange, Preference, Tab,
};

/// Style of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentStyle {
    /// Documents on one line, as a model should write them
    Compact,
    /// Documents as a model should write them, with spaces and line breaks here and there
    Generation,
    /// Any JSON: any key order, whitespace, escape and spelling of numbers
    Rfc8259,
}

impl DocumentStyle {
    /// Returns the engine's style of this name.
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

/// Options that each change one field of the style named by `--style`. A field whose option is not given stays as the
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
    /// Spaces per level, or `tab`: each item and member on a line of its own [default: whitespace as the style has it; with
    /// one of the options of the layout, no line breaks]
    #[arg(long, value_name = "N|tab", value_parser = indent)]
    indent: Option<IndentChange>,
    /// Separator of items and members, with the spaces that belong to it [default with an option of the layout: `,`]
    #[arg(long, value_name = "TEXT", value_parser = item_separator)]
    item_separator: Option<(u8, u8)>,
    /// Separator of names and values, with the spaces that belong to it [default with an option of the layout: `: `]
    #[arg(long, value_name = "TEXT", value_parser = key_separator)]
    key_separator: Option<(u8, u8)>,
    /// Spaces behind opening and before closing brackets, where no line breaks stand there [default with an option of the
    /// layout: 0]
    #[arg(long, value_name = "N")]
    padding: Option<u8>,
    /// Line break of an indented document [default with an option of the layout: lf]
    #[arg(long, value_enum)]
    line_break: Option<LineBreakArgument>,
    /// Arrays and objects that nest in a value on which the schema says nothing, or `none` [default: 8; `none` in the style
    /// `rfc8259`]
    #[arg(long, value_name = "N|none", value_parser = depth_bound)]
    max_depth: Option<Bound>,
    /// Characters of a string without `maxLength`, or `none` [default: 65536; `none` in the style `rfc8259`]
    #[arg(long, value_name = "N|none", value_parser = bound)]
    max_string: Option<Bound>,
    /// Characters of a name that the schema does not list, or `none` [default: 1024; `none` in the style `rfc8259`]
    #[arg(long, value_name = "N|none", value_parser = bound)]
    max_name: Option<Bound>,
    /// Items of an array without `maxItems`, or `none` [default: 4096; `none` in the style `rfc8259`]
    #[arg(long, value_name = "N|none", value_parser = bound)]
    max_items: Option<Bound>,
    /// Members of an object beside those that the schema lists, or `none` [default: 4096; `none` in the style `rfc8259`]
    #[arg(long, value_name = "N|none", value_parser = bound)]
    max_members: Option<Bound>,
    /// Spellings of numbers [default: `any` in the style `rfc8259`, otherwise `plain`]
    #[arg(long, value_enum)]
    numbers: Option<NumbersArgument>,
    /// Escapes in strings and names [default: `any` in the style `rfc8259`, otherwise `needed`]
    #[arg(long, value_enum)]
    escapes: Option<EscapesArgument>,
    /// Valid strings that are written rather than others, one or several with commas [default: `none` in the style
    /// `rfc8259`, otherwise `formats`]
    #[arg(long, value_enum, value_delimiter = ',')]
    prefer: Vec<PreferenceArgument>,
    /// Let `date-time` and `time` lack the offset from UTC, as many programs write them. Such documents are not valid by RFC 3339
    #[arg(long)]
    local_times: bool,
}

/// Reads a number, or `none`.
fn bound(text: &str) -> Result<Bound, String> {
    match text {
        "none" => Ok(Bound::NONE),
        _ => text
            .parse()
            .map(Bound::Most)
            .map_err(|_| format!("a number up to {}, or `none`", u32::MAX)),
    }
}

/// Reads a bound on depth, which the engine counts in a byte.
fn depth_bound(text: &str) -> Result<Bound, String> {
    match bound(text) {
        Ok(Bound::Most(depth)) if depth > u8::MAX.into() => Err(format!("a number up to {}, or `none`", u8::MAX)),
        other => other,
    }
}

/// Line break of an indented document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LineBreakArgument {
    /// A line feed
    Lf,
    /// A carriage return and a line feed
    Crlf,
}

/// Reads an indent: a number of spaces, or `tab`.
fn indent(text: &str) -> Result<IndentChange, String> {
    match text {
        "tab" => Ok(IndentChange::Tab(Tab::Tab)),
        _ => text
            .parse()
            .map(IndentChange::Spaces)
            .map_err(|_| "a number of spaces up to 255, or `tab`".to_owned()),
    }
}

/// Reads a comma with spaces around it.
fn item_separator(text: &str) -> Result<(u8, u8), String> {
    separator(text, ',')
}

/// Reads a colon with spaces around it.
fn key_separator(text: &str) -> Result<(u8, u8), String> {
    separator(text, ':')
}

/// Reads the numbers of spaces before and after `character`.
fn separator(text: &str, character: char) -> Result<(u8, u8), String> {
    let parts = text.split_once(character);
    let spaces = |part: &str| match part.bytes().all(|byte| byte == b' ') {
        true => u8::try_from(part.len()).ok(),
        false => None,
    };
    let around = parts.and_then(|(before, behind)| Some((spaces(before)?, spaces(behind)?)));
    around.ok_or_else(|| format!("`{character}` with nothing but spaces around it"))
}

/// Spellings of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NumbersArgument {
    /// All spellings of numbers that JSON has
    Any,
    /// Numbers of bounded length, without exponents
    Plain,
    /// Numbers of bounded length, with exponents
    Scientific,
}

/// Escapes in strings and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EscapesArgument {
    /// All escapes that JSON has
    Any,
    /// Escapes that JSON needs
    Needed,
    /// Escapes that JSON needs, and escapes of characters that YAML does not hold as they are
    Printable,
    /// Escapes that JSON needs, and escapes of all characters beyond ASCII
    Ascii,
}

/// Preferences among valid strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PreferenceArgument {
    /// No string rather than another
    None,
    /// Dates and times with a capital T and Z and without leap seconds, UUIDs in lower case
    Formats,
    /// URIs with a host
    Hosts,
    /// Mail addresses at a domain with a dot
    Domains,
    /// Strings that a pattern matches whole
    WholePatterns,
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
    /// Returns the engine's options for documents of a style with these changes, with formats asserted unless they are
    /// annotations.
    pub fn exact_options(&self, style: DocumentStyle, annotate_formats: bool) -> ExactOptions {
        let formats = match annotate_formats {
            true => Formats::Annotation,
            false => Formats::Asserted,
        };
        let options = ExactOptions::default().style(style.style()).formats(formats);
        self.changes().applied(options)
    }

    /// Returns the changes to the style that the options ask for.
    pub fn changes(&self) -> StyleChanges {
        StyleChanges {
            key_order: self.key_order.map(|order| match order {
                KeyOrderArgument::Any => KeyOrderChange::Any,
                KeyOrderArgument::Schema => KeyOrderChange::Schema,
            }),
            closed: self.closed,
            all_required: self.all_required,
            layout: self.layout(),
            max_depth: self.max_depth,
            max_string: self.max_string,
            max_name: self.max_name,
            max_items: self.max_items,
            max_members: self.max_members,
            numbers: self.numbers.map(|numbers| match numbers {
                NumbersArgument::Any => NumbersChange::Any,
                NumbersArgument::Plain => NumbersChange::Plain,
                NumbersArgument::Scientific => NumbersChange::Scientific,
            }),
            escapes: self.escapes.map(|escapes| match escapes {
                EscapesArgument::Any => EscapesChange::Any,
                EscapesArgument::Needed => EscapesChange::Needed,
                EscapesArgument::Printable => EscapesChange::Printable,
                EscapesArgument::Ascii => EscapesChange::Ascii,
            }),
            prefer: self.preferences(),
            local_times: self.local_times,
        }
    }

    /// Returns the preferences that the options ask for; `None` where no such option is given.
    fn preferences(&self) -> Option<Vec<Preference>> {
        let preferences = self.prefer.iter().filter_map(|one| match one {
            PreferenceArgument::None => None,
            PreferenceArgument::Formats => Some(Preference::Formats),
            PreferenceArgument::Hosts => Some(Preference::Hosts),
            PreferenceArgument::Domains => Some(Preference::Domains),
            PreferenceArgument::WholePatterns => Some(Preference::WholePatterns),
        });
        (!self.prefer.is_empty()).then(|| preferences.collect())
    }

    /// Returns the layout that the options ask for; `None` where no option of the layout is given.
    fn layout(&self) -> Option<LayoutChange> {
        let layout = LayoutChange {
            indent: self.indent,
            around_comma: self.item_separator,
            around_colon: self.key_separator,
            padding: self.padding,
            line_break: self.line_break.map(|line_break| match line_break {
                LineBreakArgument::Lf => LineBreakChange::Lf,
                LineBreakArgument::Crlf => LineBreakChange::Crlf,
            }),
        };
        (layout != LayoutChange::default()).then_some(layout)
    }
}
