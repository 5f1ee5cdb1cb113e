//! One line for each path.

use super::notation::Notation;
use super::rows;
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase;
use crate::ifstruct::generate::spec::Spec;
use crate::ifstruct::generate::taxonomy::FieldKind;

/// Spelling of paths, and the sign between a path and its description.
#[derive(Clone, Copy)]
enum GlossaryLayout {
    /// `ingredients[].quantity = number, 1 to 5 // Quantity`
    Equals,
    /// `ingredients[*].quantity -> number; 1 to 5; how much`
    Arrow,
    /// `/ingredients/*/quantity :: number :: 1 to 5 :: Quantity`
    Pointer,
    /// `ingredients[].quantity: number (1 to 5)`
    Colon,
}

pub(super) fn render(spec: &Spec<'_>, notation: Notation, draw: &mut Draw) -> String {
    let layout = draw.pick(&[
        GlossaryLayout::Equals,
        GlossaryLayout::Arrow,
        GlossaryLayout::Pointer,
        GlossaryLayout::Colon,
    ]);
    let (separator, items, prefix) = match layout {
        GlossaryLayout::Equals | GlossaryLayout::Colon => (".", "[]", ""),
        GlossaryLayout::Arrow => (".", "[*]", "$."),
        GlossaryLayout::Pointer => ("/", "/*", "/"),
    };
    let rows = rows(&spec.fields, separator, items);
    let width = match draw.chance(50) {
        true => rows.iter().map(|row| row.path.len() + prefix.len()).max().unwrap_or(0),
        false => 0,
    };
    let lines = rows.iter().map(|row| {
        let path = format!(
            "{prefix}{:width$}",
            row.path,
            width = width.saturating_sub(prefix.len())
        );
        let mut kind = notation.type_of(row.field);
        if let FieldKind::Objects { .. } = row.field.kind {
            // A list named after its items does not say that they are objects.
            kind.push_str(", each an object");
        }
        let about = row.field.about.as_deref();
        let details = || {
            let limits = notation.limits(row.field);
            let presence = notation.presence(row.field).map(str::to_owned);
            limits.into_iter().chain(presence)
        };
        match layout {
            GlossaryLayout::Equals => {
                let details: Vec<String> = [kind].into_iter().chain(details()).collect();
                let about = about
                    .map(|about| format!("  // {}", phrase::label(about)))
                    .unwrap_or_default();
                format!("{path} = {}{about}", details.join(", "))
            }
            GlossaryLayout::Arrow => {
                let about = about.map(str::to_owned);
                let details: Vec<String> = [kind].into_iter().chain(details()).chain(about).collect();
                format!("{path} -> {}", details.join("; "))
            }
            GlossaryLayout::Pointer => {
                let about = about.map(phrase::label);
                let details: Vec<String> = [kind].into_iter().chain(details()).chain(about).collect();
                format!("{path} :: {}", details.join(" :: "))
            }
            GlossaryLayout::Colon => {
                let details: Vec<String> = details().collect();
                let details = match details.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", details.join(", ")),
                };
                let about = about
                    .map(|about| format!(" - {}", phrase::label(about)))
                    .unwrap_or_default();
                format!("{path}: {kind}{details}{about}")
            }
        }
    });
    lines.collect::<Vec<String>>().join("\n")
}
