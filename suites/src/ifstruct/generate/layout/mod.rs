//! The structure as a block of its own: bullets, tables, glossaries, examples, schemas.

mod annotated_json;
mod annotated_yaml;
mod bullets;
mod glossary;
mod json_schema;
mod notation;
mod table;

use super::phrase::{self, say};
use super::spec::Spec;
use super::taxonomy::{Field, FieldKind};
use crate::ifstruct::Presentation;
use crate::ifstruct::draw::Draw;
use notation::Notation;

/// Renders the structure of `spec` and the line that introduces it.
pub(super) fn render(spec: &Spec<'_>, style: Presentation, draw: &mut Draw) -> String {
    let notation = Notation::draw(draw);
    let block = match style {
        Presentation::Bullets | Presentation::Prose => bullets::render(spec, notation, draw),
        Presentation::JsonSchema => json_schema::render(spec, draw),
        Presentation::AnnotatedJson => annotated_json::render(spec, notation, draw),
        Presentation::AnnotatedYaml => annotated_yaml::render(spec, notation, draw),
        Presentation::PathGlossary => glossary::render(spec, notation, draw),
        Presentation::AsciiTable => table::render(spec, notation, draw),
    };
    let a_one = phrase::with_article(&spec.entity.one);
    let values = [
        ("one", spec.entity.one.as_str()),
        ("many", &spec.entity.many),
        ("a_one", &a_one),
        ("A_one", &phrase::capitalise(&a_one)),
    ];
    let header = say(draw, headers(style), &values);
    format!("{header}\n{}{block}", draw.pick(&["", "\n"]))
}

fn headers(style: Presentation) -> &'static [&'static str] {
    match style {
        Presentation::Bullets | Presentation::Prose => &[
            "Each {one} should have:",
            "Every {one} must contain:",
            "Fields of each {one}:",
            "For each {one}, provide:",
            "{A_one} is made up of the following:",
            "What belongs in each {one}:",
        ],
        Presentation::JsonSchema => &[
            "The data must be valid against this JSON Schema:",
            "Follow this schema:",
            "Schema (JSON Schema, draft 2020-12):",
            "Validate against:",
            "Here is the schema our validator uses:",
        ],
        Presentation::AnnotatedJson | Presentation::AnnotatedYaml => &[
            "The structure should look like this:",
            "Use exactly this shape (types in place of values):",
            "Expected structure:",
            "Template for the {many}:",
            "Match this annotated example:",
        ],
        Presentation::PathGlossary => &[
            "Path glossary:",
            "Fields by path, relative to one {one}:",
            "Data dictionary (paths begin at the {one}):",
            "Every path of {a_one}, one per line:",
        ],
        Presentation::AsciiTable => &[
            "Field table for each {one}:",
            "Field specification, one row per field of {a_one}:",
            "Specification of {a_one}:",
            "Each {one} has these fields:",
        ],
    }
}

/// A field with where it stands.
struct Row<'a> {
    path: String,
    depth: usize,
    field: &'a Field,
}

/// The fields in order, those within an object or a list behind it. Paths join names by `separator`; a list's carries
/// `items` before what is within.
fn rows<'a>(fields: &'a [Field], separator: &str, items: &str) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for field in fields {
        rows.push(Row {
            path: field.name.clone(),
            depth: 0,
            field,
        });
        let items = match &field.kind {
            FieldKind::Objects { .. } => items,
            _ => "",
        };
        for inner in field.kind.fields().unwrap_or_default() {
            rows.push(Row {
                path: format!("{}{items}{separator}{}", field.name, inner.name),
                depth: 1,
                field: inner,
            });
        }
    }
    rows
}
