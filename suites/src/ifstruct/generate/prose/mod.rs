//! Requests as people write them: the requirements folded into sentences.
//!
//! A [`Voice`](voices::Voice) has sentences and clauses for everything that can be required. [`render`] chooses among them,
//! groups fields into sentences and sentences into paragraphs; nothing that a reply is judged by is left out. Whoever thinks
//! aloud says something else first and changes it ([`revise`]).

mod fields;
pub(super) mod notes;
pub(super) mod requirements;
mod revise;
mod types;
pub(super) mod voices;

use super::phrase::{self, fill};
use super::spec::Spec;
use crate::ifstruct::draw::Draw;
pub(super) use types::Diction;
use voices::{THINKING_ALOUD, Voice};

/// Renders the request of `spec` in `voice`.
pub(super) fn render(spec: &Spec<'_>, voice: &'static Voice, draw: &mut Draw) -> String {
    let diction = Diction::draw(voice, draw);
    let (draft, mut changes) = match voice.name == THINKING_ALOUD.name {
        true => revise::revise(spec, &diction, draw),
        false => (spec.clone(), Vec::new()),
    };
    let (mut opening, format_is_said) = opening(&draft, &diction, draw);
    if let Some(audience) = spec.audience.filter(|_| !voice.casual || draw.chance(40)) {
        opening.push(soften(audience, voice));
    }
    opening.extend(
        notes::sentences(spec, draw)
            .into_iter()
            .map(|note| soften(&note, voice)),
    );

    let mut middle = Vec::new();
    for statement in fields::describe(&draft, &diction, draw) {
        middle.push(statement.text);
        // At once, or when everything has been said.
        let (now, later): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| {
            change
                .after
                .as_ref()
                .is_some_and(|after| statement.defines.contains(after))
        });
        changes = later;
        let mut deferred = Vec::new();
        for change in now {
            match draw.chance(75) {
                true => middle.push(change.text),
                false => deferred.push(revise::Change {
                    after: None,
                    text: change.text,
                }),
            }
        }
        changes.extend(deferred);
    }
    if spec.all_fields().all(|field| field.required) && draw.chance(45) {
        let sentence = fill(draw.pick(voice.all_required), &[("one", &spec.entity.one)]);
        middle.push(sentence);
    }

    let mut end = requirements::sentences(&draft, &diction, format_is_said, draw);
    end.extend(changes.into_iter().map(|change| change.text));
    let closing = draw.pick(voice.closings);
    let mut paragraphs = vec![opening, middle, end];
    if draw.chance(20) && changes_nothing(&draft, spec) {
        // Some say how before they say what.
        paragraphs.swap(1, 2);
    }
    if !closing.is_empty() {
        paragraphs.push(vec![closing.to_owned()]);
    }
    lay_out(&paragraphs, voice, draw)
}

fn changes_nothing(draft: &Spec<'_>, spec: &Spec<'_>) -> bool {
    draft.fields == spec.fields
        && draft.wrapper == spec.wrapper
        && draft.count == spec.count
        && draft.format == spec.format
}

/// The first sentence or sentences, and whether they name the format.
pub(super) fn opening(spec: &Spec<'_>, diction: &Diction, draw: &mut Draw) -> (Vec<String>, bool) {
    let template = draw.pick(diction.voice.openings);
    let count = phrase::count(spec.count, draw);
    let values = [
        ("count", count.as_str()),
        ("noun", spec.noun()),
        ("one", &spec.entity.one),
        ("context", spec.context),
        ("format", &requirements::format_name(spec, diction, draw)),
    ];
    (vec![fill(template, &values)], template.contains("{format}"))
}

/// A sentence as a casual voice would type it.
fn soften(sentence: &str, voice: &Voice) -> String {
    match voice.casual {
        true => sentence.trim_end_matches('.').to_lowercase(),
        false => sentence.to_owned(),
    }
}

/// Puts sentences into paragraphs.
fn lay_out(paragraphs: &[Vec<String>], voice: &Voice, draw: &mut Draw) -> String {
    let (between, breaks) = match voice.casual {
        true => (draw.pick(&[". ", "\n", ". "]), draw.pick(&["\n", ". ", "\n\n"])),
        false => (" ", draw.pick(&["\n\n", "\n\n", " "])),
    };
    let paragraphs: Vec<String> = paragraphs
        .iter()
        .filter(|sentences| !sentences.is_empty())
        .map(|sentences| {
            let mut text = String::new();
            for (place, sentence) in sentences.iter().enumerate() {
                if place > 0 {
                    // A sentence that ends in a mark of its own needs no full stop.
                    text.push_str(if text.ends_with(['!', '?']) && between == ". " {
                        " "
                    } else {
                        between
                    });
                }
                text.push_str(sentence);
            }
            text
        })
        .collect();
    let mut text = String::new();
    for paragraph in paragraphs {
        if !text.is_empty() {
            text.push_str(if text.ends_with(['!', '?']) && breaks == ". " {
                " "
            } else {
                breaks
            });
        }
        text.push_str(&paragraph);
    }
    text
}
