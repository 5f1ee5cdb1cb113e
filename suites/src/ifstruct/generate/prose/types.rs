//! The words of a voice for the type of a field.

use super::voices::{Quote, Voice};
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase::{self, Range};
use crate::ifstruct::generate::taxonomy::{Bounds, Field, FieldKind, Item, Length};

/// The habits of one request in a voice.
#[derive(Clone, Copy)]
pub(in crate::ifstruct::generate) struct Diction {
    pub(super) voice: &'static Voice,
    quote: Quote,
    range: Range,
    string: (&'static str, &'static str),
    integer: (&'static str, &'static str),
    number: (&'static str, &'static str),
    boolean: (&'static str, &'static str),
}

impl Diction {
    /// Draws the habits of one request.
    pub(in crate::ifstruct::generate) fn draw(voice: &'static Voice, draw: &mut Draw) -> Self {
        Self {
            voice,
            quote: draw.pick(voice.quotes),
            range: draw.pick(voice.ranges),
            string: draw.pick(voice.strings),
            integer: draw.pick(voice.integers),
            number: draw.pick(voice.numbers),
            boolean: draw.pick(voice.booleans),
        }
    }

    /// A name as it is set off: one without an underscore is never left bare, since it could be any word.
    pub(super) fn name(&self, name: &str) -> String {
        match self.quote {
            Quote::Bare if name.contains('_') => name.to_owned(),
            Quote::Double => format!("\"{name}\""),
            _ => format!("`{name}`"),
        }
    }

    /// A value of an enumeration as it is set off.
    pub(super) fn value(&self, value: &str) -> String {
        match self.quote {
            Quote::Bare => value.to_owned(),
            Quote::Double => format!("\"{value}\""),
            Quote::Backticks => format!("`{value}`"),
        }
    }

    /// The type as a noun, with whether null will do and whether the field may be left out; `within` parentheses or not.
    pub(super) fn type_of(&self, field: &Field, within: bool, draw: &mut Draw) -> String {
        let mut text = self.plain_type(&field.kind, draw);
        let usable = |choices: &[&'static str], draw: &mut Draw| {
            let usable: Vec<&str> = choices
                .iter()
                .copied()
                .filter(|choice| !within || !choice.contains('('))
                .collect();
            if usable.is_empty() {
                choices[0]
            } else {
                draw.pick(&usable)
            }
        };
        if field.nullable {
            // Two relative clauses in a row are one too many.
            let short = self.voice.nulls.iter().find(|null| null.starts_with(" or null"));
            match short.filter(|_| !field.required) {
                Some(short) => text.push_str(short),
                None => text.push_str(usable(self.voice.nulls, draw)),
            }
        }
        if !field.required {
            text.push_str(usable(self.voice.optional, draw));
        }
        text
    }

    /// The type as a noun.
    fn plain_type(&self, kind: &FieldKind, draw: &mut Draw) -> String {
        match kind {
            FieldKind::Text(_) => self.string.0.to_owned(),
            FieldKind::Boolean => self.boolean.0.to_owned(),
            FieldKind::Integer(bounds) => self.bounded(self.integer.0, *bounds),
            FieldKind::Number(bounds) => self.bounded(self.number.0, *bounds),
            FieldKind::Enum(values) => self.choice(values, draw),
            FieldKind::List { item, length } => self.list(*item, *length),
            FieldKind::Object(_) => "object".to_owned(),
            FieldKind::Objects { one, many, length, .. } => self.list_of(one, many, *length),
        }
    }

    /// Several of that type, where the type is nothing but a name.
    pub(super) fn plural(&self, kind: &FieldKind) -> Option<&'static str> {
        match kind {
            FieldKind::Text(_) => Some(self.string.1),
            FieldKind::Boolean => Some(self.boolean.1),
            FieldKind::Integer(bounds) if *bounds == Bounds::default() => Some(self.integer.1),
            FieldKind::Number(bounds) if *bounds == Bounds::default() => Some(self.number.1),
            _ => None,
        }
    }

    fn choice(&self, values: &[String], draw: &mut Draw) -> String {
        let intro = draw.pick(self.voice.choices);
        let compact = self.voice.compact_choices;
        if !compact.is_empty() && (intro.ends_with(':') || draw.chance(50)) {
            return values.join(draw.pick(compact));
        }
        let values: Vec<String> = values.iter().map(|value| self.value(value)).collect();
        let intro = match (intro, values.len()) {
            // There is no either of three.
            ("either", 3..) => "one of",
            ("enum:", _) => "one of",
            (intro, _) => intro,
        };
        format!("{intro} {}", phrase::join(&values, "or"))
    }

    fn bounded(&self, noun: &str, bounds: Bounds) -> String {
        let Some(limits) = self.range.bounds(bounds) else {
            return noun.to_owned();
        };
        let both = bounds.min.is_some() && bounds.max.is_some();
        match self.range {
            Range::To if both => format!("{noun} from {limits}"),
            Range::Between | Range::To | Range::Dash if !both => format!("{noun} of {limits}"),
            Range::MinMax | Range::Keywords => format!("{noun}, {limits}"),
            _ => format!("{noun} {limits}"),
        }
    }

    fn list(&self, item: Item, length: Length) -> String {
        let ((one, many), bounds) = match item {
            Item::Text(_) => (self.string, Bounds::default()),
            Item::Integer(bounds) => (self.integer, bounds),
            Item::Number(bounds) => (self.number, bounds),
        };
        let list = self.list_of(one, many, length);
        match self.range.bounds(bounds) {
            Some(limits) if self.range == Range::To && bounds.min.is_some() && bounds.max.is_some() => {
                format!("{list}, each from {limits}")
            }
            Some(limits) => format!("{list}, each {limits}"),
            None => list,
        }
    }

    fn list_of(&self, one: &str, many: &str, length: Length) -> String {
        let noun = if phrase::is_single(length) { one } else { many };
        match self.length(length) {
            Some(length) => format!("list of {length} {noun}"),
            None => format!("list of {many}"),
        }
    }

    /// Writes the length of a list; `None` where any number of items will do.
    pub(super) fn length(&self, length: Length) -> Option<String> {
        let dash = if self.range == Range::Dash { "-" } else { " to " };
        phrase::length(length, dash)
    }
}

/// A type with the article it takes, if any.
pub(super) fn with_article(kind: &str) -> String {
    let word = kind.split([' ', ',']).next().unwrap_or_default();
    let takes_none = matches!(word, "one" | "only" | "either" | "exactly" | "pick") || kind == "text";
    let is_mass = word == "text" || (word == "true/false" && !kind.starts_with("true/false value"));
    if takes_none || is_mass {
        return kind.to_owned();
    }
    if word.contains(['|', '/']) && word != "true/false" {
        return format!("one of {kind}");
    }
    phrase::with_article(kind)
}
