//! Sentences on the reply around the fields: format, wrapper, fence, commentary, no further fields.

use super::types::Diction;
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase::fill;
use crate::ifstruct::generate::spec::{Fence, Spec};

/// Writes the sentences in a random order. The format is among them unless `format_is_said`.
pub(in crate::ifstruct::generate) fn sentences(
    spec: &Spec<'_>,
    diction: &Diction,
    format_is_said: bool,
    draw: &mut Draw,
) -> Vec<String> {
    let voice = diction.voice;
    let format = format_name(spec, diction, draw);
    let mut templates: Vec<&str> = Vec::new();
    if !format_is_said || draw.chance(20) {
        templates.push(draw.pick(voice.formats));
    }
    templates.push(draw.pick(match spec.wrapper {
        Some(_) => voice.wrapped,
        None => voice.unwrapped,
    }));
    match (spec.fence, spec.no_commentary) {
        (Fence::Forbidden, true) if draw.chance(55) => templates.push(draw.pick(voice.raw_only)),
        (fence, no_commentary) => {
            match fence {
                Fence::Free => {}
                Fence::Any => templates.push(draw.pick(voice.fenced)),
                Fence::Named => templates.push(draw.pick(voice.fenced_named)),
                Fence::Forbidden => templates.push(draw.pick(voice.unfenced)),
            }
            if no_commentary {
                templates.push(draw.pick(voice.only_data));
            }
        }
    }
    templates.push(draw.pick(voice.no_extras));
    // What the format is comes first as a rule.
    let from = usize::from(draw.chance(70));
    if let Some(rest) = templates.get_mut(from..) {
        draw.shuffle(rest);
    }
    let values = [
        ("format", format.as_str()),
        ("language", language(spec)),
        ("key", spec.wrapper.as_deref().unwrap_or_default()),
        ("one", &spec.entity.one),
    ];
    templates.iter().map(|template| fill(template, &values)).collect()
}

/// The format as the voice writes it.
pub(super) fn format_name(spec: &Spec<'_>, diction: &Diction, draw: &mut Draw) -> String {
    let name = language(spec);
    match diction.voice.casual && draw.chance(70) {
        true => name.to_owned(),
        false => name.to_uppercase(),
    }
}

/// Returns the language that a fence names where it names the format.
pub(in crate::ifstruct::generate) fn language(spec: &Spec<'_>) -> &'static str {
    match spec.format {
        crate::ifstruct::OutputFormat::Json => "json",
        crate::ifstruct::OutputFormat::Yaml => "yaml",
    }
}
