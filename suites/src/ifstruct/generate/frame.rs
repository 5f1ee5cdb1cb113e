//! Requests that show the structure as a block: the sentences before and behind it.

use super::layout;
use super::phrase::fill;
use super::prose::voices::FORMAL;
use super::prose::{Diction, notes, opening, requirements};
use super::spec::Spec;
use crate::ifstruct::Presentation;
use crate::ifstruct::draw::Draw;

/// Renders the request of `spec`, with the structure as a block in `style`.
pub(super) fn render(spec: &Spec<'_>, style: Presentation, draw: &mut Draw) -> String {
    let diction = Diction::draw(&FORMAL, draw);
    let (mut before, format_is_said) = opening(spec, &diction, draw);
    before.extend(spec.audience.map(str::to_owned));
    before.extend(notes::sentences(spec, draw));
    let mut behind = requirements::sentences(spec, &diction, format_is_said, draw);
    if spec.all_fields().all(|field| field.required) && draw.chance(45) {
        let sentence = fill(draw.pick(FORMAL.all_required), &[("one", &spec.entity.one)]);
        behind.insert(0, sentence);
    }
    let between = draw.pick(&[" ", "\n", "\n"]);
    let block = layout::render(spec, style, draw);
    let behind = match draw.below(5) {
        0 => bulleted(&behind, "Output requirements:"),
        1 => bulleted(&behind, "Rules:"),
        2 => behind.join(" "),
        _ => behind.join("\n"),
    };
    match draw.chance(85) {
        true => format!("{}\n\n{block}\n\n{behind}", before.join(between)),
        false => format!("{}\n\n{behind}\n\n{block}", before.join(between)),
    }
}

fn bulleted(sentences: &[String], header: &str) -> String {
    let mut text = header.to_owned();
    for sentence in sentences {
        text.push_str("\n- ");
        text.push_str(sentence);
    }
    text
}
