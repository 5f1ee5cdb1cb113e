//! A YAML document with types in place of values.

use super::notation::Notation;
use crate::ifstruct::Count;
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase;
use crate::ifstruct::generate::spec::Spec;
use crate::ifstruct::generate::taxonomy::{Field, FieldKind};

/// Spelling of placeholders.
struct AnnotatedYaml {
    notation: Notation,
    /// Around a placeholder: `<string>`.
    marks: (&'static str, &'static str),
}

pub(super) fn render(spec: &Spec<'_>, notation: Notation, draw: &mut Draw) -> String {
    let layout = AnnotatedYaml {
        notation,
        marks: draw.pick(&[("<", ">"), ("", ""), ("{{", "}}")]),
    };
    let how_many = match spec.count {
        Count::Exactly(1) => "1 item".to_owned(),
        Count::Exactly(exact) => format!("{exact} items"),
        Count::Between(low, high) => format!("{low} to {high} items"),
    };
    let mut lines = Vec::new();
    let depth = match &spec.wrapper {
        Some(key) => {
            lines.push(format!("{key}:  # {how_many}"));
            1
        }
        None => {
            lines.push(format!("# {how_many}"));
            0
        }
    };
    layout.members(&spec.fields, depth, true, &mut lines);
    if !matches!(spec.count, Count::Exactly(1)) {
        lines.push(format!("{}# ... and so on", "  ".repeat(depth)));
    }
    lines.join("\n")
}

impl AnnotatedYaml {
    /// The members of an object at `depth`, of an item of a list where `item`.
    fn members(&self, fields: &[Field], depth: usize, item: bool, lines: &mut Vec<String>) {
        for (place, field) in fields.iter().enumerate() {
            let indent = match (item, place) {
                (true, 0) => format!("{}- ", "  ".repeat(depth)),
                (true, _) => "  ".repeat(depth + 1),
                (false, _) => "  ".repeat(depth),
            };
            let within = depth + usize::from(item) + 1;
            let name = &field.name;
            match &field.kind {
                FieldKind::Object(inner) => {
                    lines.push(format!("{indent}{name}:{}", self.comment(field, None)));
                    self.members(inner, within, false, lines);
                }
                FieldKind::Objects { length, fields, .. } => {
                    let items = self.notation.items(*length).or_else(|| Some("a list".to_owned()));
                    lines.push(format!("{indent}{name}:{}", self.comment(field, items)));
                    self.members(fields, within, true, lines);
                }
                FieldKind::List { length, .. } => {
                    let items = self.notation.items(*length);
                    lines.push(format!("{indent}{name}:{}", self.comment(field, items)));
                    let value = self.placeholder(&self.notation.bare_type(field));
                    lines.push(format!("{}- {value}", "  ".repeat(within)));
                }
                kind => {
                    let mut value = self.notation.bare_type(field);
                    if let (FieldKind::Integer(_) | FieldKind::Number(_), Some(limits)) =
                        (kind, self.notation.limits(field))
                    {
                        value = format!("{value} ({limits})");
                    }
                    let value = self.placeholder(&value);
                    lines.push(format!("{indent}{name}: {value}{}", self.comment(field, None)));
                }
            }
        }
    }

    fn placeholder(&self, kind: &str) -> String {
        match kind.starts_with('"') {
            true => kind.to_owned(),
            false => format!("{}{kind}{}", self.marks.0, self.marks.1),
        }
    }

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
            false => format!("  # {}", notes.join("; ")),
        }
    }
}
