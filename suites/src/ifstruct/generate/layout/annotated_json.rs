//! A JSON document with types in place of values.

use super::notation::Notation;
use crate::ifstruct::Count;
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase;
use crate::ifstruct::generate::spec::Spec;
use crate::ifstruct::generate::taxonomy::{Field, FieldKind};

/// Spelling of placeholders and comments.
struct AnnotatedJson {
    notation: Notation,
    /// Whether placeholders are strings, as `"<integer>"`.
    quoted: bool,
    comment: &'static str,
    step: &'static str,
}

pub(super) fn render(spec: &Spec<'_>, notation: Notation, draw: &mut Draw) -> String {
    let layout = AnnotatedJson {
        notation,
        quoted: draw.chance(40),
        comment: draw.pick(&["  // ", " // ", "  # "]),
        step: draw.pick(&["  ", "  ", "    "]),
    };
    let how_many = match spec.count {
        Count::Exactly(1) => "1 item".to_owned(),
        Count::Exactly(exact) => format!("{exact} items"),
        Count::Between(low, high) => format!("{low} to {high} items"),
    };
    let mut lines = Vec::new();
    let depth = match &spec.wrapper {
        Some(key) => {
            lines.push("{".to_owned());
            lines.push(format!("{}\"{key}\": [{}{how_many}", layout.step, layout.comment));
            1
        }
        None => {
            lines.push(format!("[{}{how_many}", layout.comment));
            0
        }
    };
    let indent = |depth: usize| layout.step.repeat(depth);
    lines.push(format!("{}{{", indent(depth + 1)));
    layout.members(&spec.fields, depth + 2, &mut lines);
    let more = !matches!(spec.count, Count::Exactly(1));
    lines.push(format!("{}}}{}", indent(depth + 1), if more { "," } else { "" }));
    if more {
        lines.push(format!("{}...", indent(depth + 1)));
    }
    lines.push(format!("{}]", indent(depth)));
    if spec.wrapper.is_some() {
        lines.push("}".to_owned());
    }
    lines.join("\n")
}

impl AnnotatedJson {
    fn members(&self, fields: &[Field], depth: usize, lines: &mut Vec<String>) {
        let indent = self.step.repeat(depth);
        for (place, field) in fields.iter().enumerate() {
            let comma = if place + 1 < fields.len() { "," } else { "" };
            let name = &field.name;
            match &field.kind {
                FieldKind::Object(inner) => {
                    lines.push(format!("{indent}\"{name}\": {{{}", self.comment(field, None)));
                    self.members(inner, depth + 1, lines);
                    lines.push(format!("{indent}}}{comma}"));
                }
                FieldKind::Objects { length, fields, .. } => {
                    let items = self.notation.items(*length);
                    lines.push(format!("{indent}\"{name}\": [{}", self.comment(field, items)));
                    lines.push(format!("{indent}{}{{", self.step));
                    self.members(fields, depth + 2, lines);
                    lines.push(format!("{indent}{}}}", self.step));
                    lines.push(format!("{indent}]{comma}"));
                }
                FieldKind::List { length, .. } => {
                    let items = self.notation.items(*length);
                    let value = self.placeholder(&self.notation.bare_type(field));
                    lines.push(format!(
                        "{indent}\"{name}\": [{value}]{comma}{}",
                        self.comment(field, items)
                    ));
                }
                kind => {
                    let mut value = self.notation.bare_type(field);
                    if let (FieldKind::Integer(_) | FieldKind::Number(_), Some(limits)) =
                        (kind, self.notation.limits(field))
                    {
                        value = format!("{value} ({limits})");
                    }
                    let value = self.placeholder(&value);
                    lines.push(format!(
                        "{indent}\"{name}\": {value}{comma}{}",
                        self.comment(field, None)
                    ));
                }
            }
        }
    }

    fn placeholder(&self, kind: &str) -> String {
        // Values in quotation marks stand for themselves.
        match self.quoted && !kind.starts_with('"') {
            true => format!("\"<{kind}>\""),
            false => kind.to_owned(),
        }
    }

    /// Writes the comment behind the value, if there is one: length, limits of items, presence, meaning.
    fn comment(&self, field: &Field, items: Option<String>) -> String {
        let limits = match field.kind {
            FieldKind::List { .. } => self.notation.limits(field),
            _ => None,
        };
        let presence = self.notation.presence(field).map(str::to_owned);
        let about = field.about.as_deref().map(phrase::label);
        let notes: Vec<String> = items.into_iter().chain(limits).chain(presence).chain(about).collect();
        match notes.is_empty() {
            true => String::new(),
            false => format!("{}{}", self.comment, notes.join("; ")),
        }
    }
}
