//! [`DocumentStyle`] and [`StyleArguments`]: how the documents of `check` and `sample` look.

use clap::{Args, ValueEnum};
use maskwright::{
    Escapes, ExactOptions, FixedWhitespace, Formats, Indent, KeyOrder, LineBreak, NumberStyle, SpacesAround,
    StringStyle, Style, Whitespace,
};

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
    /// Spaces per level, or `tab`: each item and member on a line of its own [default: whitespace as the style has it; with
    /// one of the options of the layout, no line breaks]
    #[arg(long, value_name = "N|tab", value_parser = indent)]
    indent: Option<Indent>,
    /// Separator of items and members, with the spaces that belong to it [default with an option of the layout: `,`]
    #[arg(long, value_name = "TEXT", value_parser = item_separator)]
    item_separator: Option<SpacesAround>,
    /// Separator of names and values, with the spaces that belong to it [default with an option of the layout: `: `]
    #[arg(long, value_name = "TEXT", value_parser = key_separator)]
    key_separator: Option<SpacesAround>,
    /// Spaces behind opening and before closing brackets, where no line breaks stand there [default with an option of the
    /// layout: 0]
    #[arg(long, value_name = "N")]
    padding: Option<u8>,
    /// How the lines of an indented document end [default with an option of the layout: lf]
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
}

/// A bound as an argument; `None` stands for no bound.
#[derive(Clone, Copy, Debug)]
struct Bound(Option<u32>);

/// A number, or `none`.
fn bound(text: &str) -> Result<Bound, String> {
    match text {
        "none" => Ok(Bound(None)),
        _ => text
            .parse()
            .map(|bound| Bound(Some(bound)))
            .map_err(|_| format!("a number up to {}, or `none`", u32::MAX)),
    }
}

/// A bound on depth, which the engine counts in a byte.
fn depth_bound(text: &str) -> Result<Bound, String> {
    match bound(text) {
        Ok(Bound(Some(depth))) if depth > u8::MAX.into() => Err(format!("a number up to {}, or `none`", u8::MAX)),
        other => other,
    }
}

/// How lines end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LineBreakArgument {
    /// A line feed
    Lf,
    /// A carriage return and a line feed
    Crlf,
}

/// An indent as an argument: a number of spaces, or `tab`.
fn indent(text: &str) -> Result<Indent, String> {
    match text {
        "tab" => Ok(Indent::Tab),
        _ => text
            .parse()
            .map(Indent::Spaces)
            .map_err(|_| "a number of spaces up to 255, or `tab`".to_owned()),
    }
}

/// A comma with spaces around it.
fn item_separator(text: &str) -> Result<SpacesAround, String> {
    separator(text, ',')
}

/// A colon with spaces around it.
fn key_separator(text: &str) -> Result<SpacesAround, String> {
    separator(text, ':')
}

/// The spaces around one character.
fn separator(text: &str, character: char) -> Result<SpacesAround, String> {
    let parts = text.split_once(character);
    let spaces = |part: &str| match part.bytes().all(|byte| byte == b' ') {
        true => u8::try_from(part.len()).ok(),
        false => None,
    };
    let around = parts.and_then(|(before, behind)| {
        Some(SpacesAround {
            before: spaces(before)?,
            behind: spaces(behind)?,
        })
    });
    around.ok_or_else(|| format!("`{character}` with nothing but spaces around it"))
}

/// Spellings of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NumbersArgument {
    /// All that JSON has
    Any,
    /// Of bounded length, without exponents
    Plain,
    /// Of bounded length, with exponents
    Scientific,
}

/// Escapes in strings and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EscapesArgument {
    /// All that JSON has
    Any,
    /// Those that JSON needs
    Needed,
    /// Those that JSON needs, and those of characters that YAML does not hold as they are
    Printable,
    /// Those that JSON needs, and those of all characters beyond ASCII
    Ascii,
}

/// Valid strings that are written rather than others.
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
        let bounds = &mut style.bounds;
        if let Some(Bound(depth)) = self.max_depth {
            bounds.free_depth = depth.and_then(|depth| u8::try_from(depth).ok());
        }
        let counts = [
            (&mut bounds.string_characters, self.max_string),
            (&mut bounds.name_characters, self.max_name),
            (&mut bounds.array_items, self.max_items),
            (&mut bounds.object_members, self.max_members),
        ];
        for (bound, asked) in counts {
            if let Some(Bound(count)) = asked {
                *bound = count;
            }
        }
        if let Some(layout) = self.layout() {
            style.whitespace = Whitespace::Fixed(layout);
        }
        if let Some(numbers) = self.numbers {
            style.numbers = match numbers {
                NumbersArgument::Any => NumberStyle::Rfc8259,
                NumbersArgument::Plain => NumberStyle::Plain,
                NumbersArgument::Scientific => NumberStyle::Scientific,
            };
        }
        if let Some(escapes) = self.escapes {
            style.escapes = match escapes {
                EscapesArgument::Any => Escapes::Any,
                EscapesArgument::Needed => Escapes::Needed,
                EscapesArgument::Printable => Escapes::Printable,
                EscapesArgument::Ascii => Escapes::Ascii,
            };
        }
        if !self.prefer.is_empty() {
            style.strings = self.prefer.iter().fold(StringStyle::any(), |strings, one| match one {
                PreferenceArgument::None => strings,
                PreferenceArgument::Formats => strings.usual_formats(true),
                PreferenceArgument::Hosts => strings.hosts(true),
                PreferenceArgument::Domains => strings.domains(true),
                PreferenceArgument::WholePatterns => strings.anchored_patterns(true),
            });
        }
        style
    }

    /// The layout that is asked for; `None` where no option speaks of it.
    fn layout(&self) -> Option<FixedWhitespace> {
        let is_asked = self.indent.is_some()
            || self.item_separator.is_some()
            || self.key_separator.is_some()
            || self.padding.is_some()
            || self.line_break.is_some();
        let usual = FixedWhitespace::default();
        is_asked.then(|| FixedWhitespace {
            comma: self.item_separator.unwrap_or(usual.comma),
            colon: self.key_separator.unwrap_or(usual.colon),
            padding: self.padding.unwrap_or(usual.padding),
            indent: self.indent,
            line_break: match self.line_break {
                Some(LineBreakArgument::Crlf) => LineBreak::CarriageReturnLineFeed,
                Some(LineBreakArgument::Lf) | None => usual.line_break,
            },
        })
    }
}
