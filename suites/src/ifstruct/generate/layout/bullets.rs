//! Bullet points with explicit paths.

use super::notation::Notation;
use super::{Row, rows};
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase;
use crate::ifstruct::generate::spec::Spec;
use crate::ifstruct::generate::taxonomy::FieldKind;

/// Order and punctuation of the parts of a line.
#[derive(Clone, Copy)]
enum BulletLayout {
    /// `- `x`: string (between 1 and 5) - Name of the dish`
    Colon,
    /// `* `x` (string, 1 to 5): Name of the dish`
    Parentheses,
    /// `• `x` — string; 1 to 5; name of the dish`
    Dash,
    /// `- `x`: Name of the dish [string, 1 to 5]`
    Brackets,
}

pub(super) fn render(spec: &Spec<'_>, notation: Notation, draw: &mut Draw) -> String {
    let layout = draw.pick(&[
        BulletLayout::Colon,
        BulletLayout::Colon,
        BulletLayout::Parentheses,
        BulletLayout::Dash,
        BulletLayout::Brackets,
    ]);
    let bullet = draw.pick(&["-", "-", "*", "•"]);
    let indent = draw.chance(45);
    let lines = rows(&spec.fields, ".", "[]").into_iter().map(|row| {
        let indent = if indent { "  ".repeat(row.depth) } else { String::new() };
        format!("{indent}{bullet} {}", line(&row, notation, layout))
    });
    lines.collect::<Vec<String>>().join("\n")
}

fn line(row: &Row<'_>, notation: Notation, layout: BulletLayout) -> String {
    let field = row.field;
    let path = format!("`{}`", row.path);
    let mut kind = notation.type_of(field);
    let within = match field.kind {
        FieldKind::Objects { .. } => ", each with",
        FieldKind::Object(_) => " with",
        _ => "",
    };
    let limits = notation.limits(field);
    let presence = notation.presence(field).map(str::to_owned);
    let about = field.about.as_deref();
    match layout {
        BulletLayout::Colon => {
            let details: Vec<String> = limits.into_iter().chain(presence).collect();
            if !details.is_empty() {
                kind = format!("{kind} ({})", details.join(", "));
            }
            let about = about
                .map(|about| format!(" - {}", phrase::label(about)))
                .unwrap_or_default();
            match within {
                "" => format!("{path}: {kind}{about}"),
                _ => format!("{path}: {}{within}:", phrase::with_article(&kind)),
            }
        }
        BulletLayout::Parentheses => {
            let details: Vec<String> = [kind].into_iter().chain(limits).chain(presence).collect();
            let about = about
                .map(|about| format!(": {}", phrase::label(about)))
                .unwrap_or_default();
            format!("{path} ({}){about}", details.join(", "))
        }
        BulletLayout::Dash => {
            let details: Vec<String> = [kind]
                .into_iter()
                .chain(limits)
                .chain(presence)
                .chain(about.map(str::to_owned))
                .collect();
            format!("{path} — {}", details.join("; "))
        }
        BulletLayout::Brackets => {
            let details: Vec<String> = [kind].into_iter().chain(limits).chain(presence).collect();
            let about = about
                .map(|about| format!("{} ", phrase::label(about)))
                .unwrap_or_default();
            format!("{path}: {about}[{}]", details.join(", "))
        }
    }
}
