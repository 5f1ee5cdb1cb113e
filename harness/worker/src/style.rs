//! [`StyleChanges`]: changes to the style of documents, in the form of the protocol's requests and of the command line.

use maskwright::{
    Escapes, ExactOptions, FixedWhitespace, Formats, Indent, KeyOrder, LineBreak, NumberStyle, SpacesAround,
    StringStyle, Style, Whitespace,
};
use serde::{Deserialize, Serialize};

/// Changes to the style of documents. An absent member leaves its part of the style as the framework has it.
///
/// Frameworks other than this project's own need not heed the changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StyleChanges {
    /// Order of the members of an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_order: Option<KeyOrderChange>,
    /// Whether members that the schema does not declare are left out, where the schema does not speak of further ones.
    #[serde(skip_serializing_if = "is_false")]
    pub closed: bool,
    /// Whether all members that the schema declares are written.
    #[serde(skip_serializing_if = "is_false")]
    pub all_required: bool,
    /// Fixed layout: indents, line breaks, and spaces around commas and colons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutChange>,
    /// Bound on the depth of values on which the schema says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<Bound>,
    /// Bound on the characters of strings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_string: Option<Bound>,
    /// Bound on the characters of names that the schema does not list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_name: Option<Bound>,
    /// Bound on the items of an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<Bound>,
    /// Bound on the members of an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_members: Option<Bound>,
    /// Spellings of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumbersChange>,
    /// Escapes in strings and names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escapes: Option<EscapesChange>,
    /// Valid strings that are written rather than others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefer: Option<Vec<Preference>>,
    /// Dates and times that may lack the offset from UTC, where formats are asserted.
    #[serde(skip_serializing_if = "is_false")]
    pub local_times: bool,
}

/// A bound: a number, or `"none"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Bound {
    /// At most this number.
    Most(u32),
    /// No bound.
    None(NoBound),
}

/// The word for no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoBound {
    /// No bound.
    None,
}

impl Bound {
    /// No bound.
    pub const NONE: Self = Self::None(NoBound::None);

    fn count(self) -> Option<u32> {
        match self {
            Self::Most(count) => Some(count),
            Self::None(_) => None,
        }
    }
}

/// Order of the members of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOrderChange {
    /// Members in any order.
    Any,
    /// Names that the schema lists first and in its order.
    Schema,
}

/// Spellings of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumbersChange {
    /// All spellings of numbers that JSON has.
    Any,
    /// Numbers of bounded length, without exponents.
    Plain,
    /// Numbers of bounded length, with exponents.
    Scientific,
}

/// Escapes in strings and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EscapesChange {
    /// All escapes that JSON has.
    Any,
    /// Escapes that JSON needs.
    Needed,
    /// Escapes that JSON needs, and escapes of characters that YAML does not hold as they are.
    Printable,
    /// Escapes that JSON needs, and escapes of all characters beyond ASCII.
    Ascii,
}

/// Valid strings that are written rather than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    /// Dates and times with a capital T and Z and without leap seconds, UUIDs in lower case.
    Formats,
    /// URIs with a host.
    Hosts,
    /// Mail addresses at a domain with a dot.
    Domains,
    /// Strings that a pattern matches whole.
    WholePatterns,
}

/// Fixed layout. An absent member has its value of a document on one line, with a space after each colon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LayoutChange {
    /// Spaces for each level, or `"tab"`; absent for no line breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indent: Option<IndentChange>,
    /// Spaces before and behind the comma between items and members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around_comma: Option<(u8, u8)>,
    /// Spaces before and behind the colon between a name and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around_colon: Option<(u8, u8)>,
    /// Spaces behind opening and before closing brackets, where no line breaks stand there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<u8>,
    /// Line break of an indented document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_break: Option<LineBreakChange>,
}

/// An indent: a number of spaces, or `"tab"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IndentChange {
    /// Number of spaces for each level.
    Spaces(u8),
    /// A tab for each level.
    Tab(Tab),
}

/// The word for a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tab {
    /// A tab.
    Tab,
}

/// Line break of an indented document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineBreakChange {
    /// A line feed.
    Lf,
    /// A carriage return and a line feed.
    Crlf,
}

impl StyleChanges {
    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A style with these changes.
    pub fn applied_to(&self, mut style: Style) -> Style {
        if let Some(order) = self.key_order {
            style.key_order = match order {
                KeyOrderChange::Any => KeyOrder::Any,
                KeyOrderChange::Schema => KeyOrder::Schema,
            };
        }
        style.closed |= self.closed;
        style.all_required |= self.all_required;
        let bounds = &mut style.bounds;
        if let Some(depth) = self.max_depth {
            // The engine counts depth in a byte.
            bounds.free_depth = depth.count().map(|depth| u8::try_from(depth).unwrap_or(u8::MAX));
        }
        let counts = [
            (&mut bounds.string_characters, self.max_string),
            (&mut bounds.name_characters, self.max_name),
            (&mut bounds.array_items, self.max_items),
            (&mut bounds.object_members, self.max_members),
        ];
        for (bound, asked) in counts {
            if let Some(asked) = asked {
                *bound = asked.count();
            }
        }
        if let Some(layout) = &self.layout {
            style.whitespace = Whitespace::Fixed(layout.whitespace());
        }
        if let Some(numbers) = self.numbers {
            style.numbers = match numbers {
                NumbersChange::Any => NumberStyle::Rfc8259,
                NumbersChange::Plain => NumberStyle::Plain,
                NumbersChange::Scientific => NumberStyle::Scientific,
            };
        }
        if let Some(escapes) = self.escapes {
            style.escapes = match escapes {
                EscapesChange::Any => Escapes::Any,
                EscapesChange::Needed => Escapes::Needed,
                EscapesChange::Printable => Escapes::Printable,
                EscapesChange::Ascii => Escapes::Ascii,
            };
        }
        if let Some(preferences) = &self.prefer {
            style.strings = preferences.iter().fold(StringStyle::any(), |strings, one| match one {
                Preference::Formats => strings.usual_formats(true),
                Preference::Hosts => strings.hosts(true),
                Preference::Domains => strings.domains(true),
                Preference::WholePatterns => strings.anchored_patterns(true),
            });
        }
        style
    }

    /// Options with these changes to their style and formats.
    #[must_use]
    pub fn applied(&self, options: ExactOptions) -> ExactOptions {
        let formats = match options.formats {
            Formats::Asserted if self.local_times => Formats::LocalTimes,
            formats => formats,
        };
        let style = self.applied_to(options.style);
        options.style(style).formats(formats)
    }
}

impl LayoutChange {
    fn whitespace(&self) -> FixedWhitespace {
        let usual = FixedWhitespace::default();
        let spaces =
            |around: Option<(u8, u8)>, usual| around.map_or(usual, |(before, behind)| SpacesAround { before, behind });
        FixedWhitespace {
            comma: spaces(self.around_comma, usual.comma),
            colon: spaces(self.around_colon, usual.colon),
            padding: self.padding.unwrap_or(usual.padding),
            indent: self.indent.map(|indent| match indent {
                IndentChange::Spaces(spaces) => Indent::Spaces(spaces),
                IndentChange::Tab(Tab::Tab) => Indent::Tab,
            }),
            line_break: match self.line_break {
                Some(LineBreakChange::Crlf) => LineBreak::CarriageReturnLineFeed,
                Some(LineBreakChange::Lf) | None => usual.line_break,
            },
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_are_written() {
        let text = r#"{"key_order":"any","closed":true,"layout":{"indent":"tab","around_comma":[0,1]},"max_string":200,"max_items":"none","numbers":"scientific","prefer":["hosts","whole_patterns"],"local_times":true}"#;
        let changes: StyleChanges = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&changes).unwrap(), text);
        let options = changes.applied(ExactOptions::default().formats(Formats::Asserted));
        let (style, usual) = (options.style, Style::generation());
        assert_eq!(options.formats, Formats::LocalTimes);
        assert_eq!(
            (style.bounds.array_items, style.bounds.string_characters),
            (None, Some(200))
        );
        assert_eq!(
            (style.key_order, style.closed, style.all_required),
            (KeyOrder::Any, true, false)
        );
        assert_eq!(style.strings, StringStyle::any().hosts(true).anchored_patterns(true));
        assert_eq!(
            (style.escapes, style.bounds.free_depth),
            (usual.escapes, usual.bounds.free_depth)
        );
        let layout = FixedWhitespace {
            indent: Some(Indent::Tab),
            comma: SpacesAround { before: 0, behind: 1 },
            ..FixedWhitespace::default()
        };
        assert_eq!(style.whitespace, Whitespace::Fixed(layout));
        assert!(StyleChanges::default().is_empty() && StyleChanges::default().applied_to(usual) == usual);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for text in [
            r#"{"colour":1}"#,
            r#"{"max_items":"many"}"#,
            r#"{"layout":{"indent":-1}}"#,
            r#"{"numbers":"roman"}"#,
        ] {
            assert!(serde_json::from_str::<StyleChanges>(text).is_err(), "{text}");
        }
    }
}
