//! The spelling of types, bounds, lengths and presence in one prompt.

use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase::{self, Range};
use crate::ifstruct::generate::taxonomy::{Field, FieldKind, Item, Length};

/// The spelling that one prompt keeps to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notation {
    pub range: Range,
    /// Text between the two ends of a length.
    dash: &'static str,
    list: &'static str,
    enumeration: Enumeration,
    /// Text behind the type that lets null in.
    null: &'static str,
    pub optional: &'static str,
    /// Mark of required fields; `None` where they have no mark.
    pub required: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
enum Enumeration {
    /// `one of "a", "b", "c"`
    OneOf,
    /// `"a" | "b" | "c"`
    Bars,
    /// `enum (a, b, c)`
    Enum,
    /// `either "a", "b" or "c"`
    Either,
}

impl Notation {
    /// Draws the spelling of one prompt.
    pub(super) fn draw(draw: &mut Draw) -> Self {
        Self {
            range: draw.pick(&[
                Range::Symbols,
                Range::MinMax,
                Range::Between,
                Range::To,
                Range::Keywords,
                Range::Comparisons,
                Range::Dash,
            ]),
            dash: draw.pick(&["-", " to "]),
            list: draw.pick(&["list", "array"]),
            enumeration: draw.pick(&[
                Enumeration::OneOf,
                Enumeration::Bars,
                Enumeration::Enum,
                Enumeration::Either,
            ]),
            null: draw.pick(&[" or null", ", nullable", " (null allowed)"]),
            optional: draw.pick(&["optional", "optional", "may be omitted", "not required"]),
            required: draw.pick(&[None, None, Some("required")]),
        }
    }

    /// The type: `list of 2-4 strings`, `one of "a", "b"`, `number or null`.
    pub(super) fn type_of(&self, field: &Field) -> String {
        let name = match &field.kind {
            FieldKind::Text(_) => "string".to_owned(),
            FieldKind::Boolean => "boolean".to_owned(),
            FieldKind::Integer(_) => "integer".to_owned(),
            FieldKind::Number(_) => "number".to_owned(),
            FieldKind::Enum(values) => self.values(values),
            FieldKind::List { item, length } => self.list_of(item_words(*item), *length),
            FieldKind::Object(_) => "object".to_owned(),
            FieldKind::Objects { one, many, length, .. } => self.list_of((one, many), *length),
        };
        match field.nullable {
            true => format!("{name}{}", self.null),
            false => name,
        }
    }

    /// Writes the type without the limits that a comment can say: `string`, `number`, `"a" | "b"`.
    pub(super) fn bare_type(&self, field: &Field) -> String {
        let name = match &field.kind {
            FieldKind::Enum(values) => Enumeration::Bars.write(values),
            FieldKind::List { item, .. } => item_words(*item).0.to_owned(),
            _ => return self.type_of(field),
        };
        match field.nullable {
            true => format!("{name} or null"),
            false => name,
        }
    }

    fn list_of(&self, (one, many): (&str, &str), length: Length) -> String {
        let noun = if phrase::is_single(length) { one } else { many };
        match phrase::length(length, self.dash) {
            Some(length) => format!("{} of {length} {noun}", self.list),
            None => format!("{} of {many}", self.list),
        }
    }

    /// The bounds of a number, or of the numbers in a list.
    pub(super) fn limits(&self, field: &Field) -> Option<String> {
        match &field.kind {
            FieldKind::Integer(bounds) | FieldKind::Number(bounds) => self.range.bounds(*bounds),
            FieldKind::List {
                item: Item::Integer(bounds) | Item::Number(bounds),
                ..
            } => self.range.bounds(*bounds).map(|limits| format!("each {limits}")),
            _ => None,
        }
    }

    /// Writes the number of items that a list must have, as `2-4 items`.
    pub(super) fn items(&self, length: Length) -> Option<String> {
        let noun = if phrase::is_single(length) { "item" } else { "items" };
        phrase::length(length, self.dash).map(|length| format!("{length} {noun}"))
    }

    fn values(&self, values: &[String]) -> String {
        self.enumeration.write(values)
    }

    /// Whether a field must be there, where the prompt marks it.
    pub(super) fn presence(&self, field: &Field) -> Option<&'static str> {
        if field.required {
            self.required
        } else {
            Some(self.optional)
        }
    }
}

impl Enumeration {
    fn write(self, values: &[String]) -> String {
        let quoted: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
        match self {
            Self::OneOf => format!("one of {}", quoted.join(", ")),
            Self::Bars => quoted.join(" | "),
            Self::Enum => format!("enum ({})", values.join(", ")),
            Self::Either => format!("either {}", phrase::join(&quoted, "or")),
        }
    }
}

/// Returns the names of an item and of several items.
fn item_words(item: Item) -> (&'static str, &'static str) {
    match item {
        Item::Text(_) => ("string", "strings"),
        Item::Integer(_) => ("integer", "integers"),
        Item::Number(_) => ("number", "numbers"),
    }
}
