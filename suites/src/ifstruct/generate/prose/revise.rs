//! Changes of mind: a first draft of the request, and the sentences that turn it into what is meant.

use super::types::{Diction, with_article};
use crate::ifstruct::draw::Draw;
use crate::ifstruct::generate::phrase::{self, fill, say};
use crate::ifstruct::generate::spec::{Fence, Spec};
use crate::ifstruct::generate::taxonomy::{Bounds, Entity, Field, FieldKind, Length};
use crate::ifstruct::{Count, OutputFormat};

/// A sentence that changes an earlier one.
pub(super) struct Change {
    /// Name of the field that the sentence follows, as the field was first called; `None` where the sentence follows the
    /// requirements.
    pub after: Option<String>,
    pub text: String,
}

/// Draws a first draft of `spec`, and the sentences that change the draft into `spec`.
pub(super) fn revise<'a>(spec: &Spec<'a>, diction: &Diction, draw: &mut Draw) -> (Spec<'a>, Vec<Change>) {
    let mut reviser = Reviser {
        spec,
        draft: spec.clone(),
        diction,
        draw,
        changes: Vec::new(),
        changed: Vec::new(),
    };
    let mut kinds = [
        Revision::Count,
        Revision::Format,
        Revision::Wrapper,
        Revision::Drop,
        Revision::Rename,
        Revision::Retype,
        Revision::Values,
        Revision::Presence,
        Revision::Length,
    ];
    reviser.draw.shuffle(&mut kinds);
    let wanted = usize::try_from(reviser.draw.between(2, 4)).unwrap_or(2);
    for kind in kinds {
        if reviser.changes.len() == wanted {
            break;
        }
        reviser.change(kind);
    }
    (reviser.draft, reviser.changes)
}

/// The part of a request that a change of mind concerns.
#[derive(Clone, Copy)]
enum Revision {
    Count,
    Format,
    Wrapper,
    Drop,
    Rename,
    Retype,
    Values,
    Presence,
    Length,
}

struct Reviser<'s, 'a> {
    spec: &'s Spec<'a>,
    draft: Spec<'a>,
    diction: &'s Diction,
    draw: &'s mut Draw,
    changes: Vec<Change>,
    /// Fields that have been changed, which is enough for each.
    changed: Vec<String>,
}

impl Reviser<'_, '_> {
    /// Changes something of that kind, where there is anything.
    fn change(&mut self, kind: Revision) {
        let done = match kind {
            Revision::Count => self.count(),
            Revision::Format => self.format(),
            Revision::Wrapper => self.wrapper(),
            Revision::Drop => self.drop_field(),
            Revision::Rename => self.rename(),
            Revision::Retype => self.retype(),
            Revision::Values => self.values(),
            Revision::Presence => self.presence(),
            Revision::Length => self.length(),
        };
        // Without a candidate there is nothing to change.
        let _: Option<()> = done;
    }

    fn push(&mut self, after: Option<&str>, text: String) {
        self.changes.push(Change {
            after: after.map(str::to_owned),
            text,
        });
    }

    /// A field of the draft's top level that `test` holds of and nothing has changed.
    fn candidate(&mut self, test: impl Fn(&Field) -> bool) -> Option<usize> {
        let fields = self.draft.fields.iter().enumerate();
        let candidates: Vec<usize> = fields
            .filter(|(_, field)| test(field) && !self.changed.contains(&field.name))
            .map(|(place, _)| place)
            .collect();
        let place = (!candidates.is_empty()).then(|| self.draw.pick(&candidates))?;
        self.changed.push(self.draft.fields[place].name.clone());
        Some(place)
    }

    fn count(&mut self) -> Option<()> {
        let meant = self.spec.count;
        let first = match meant {
            Count::Exactly(1) => 2,
            Count::Exactly(exact) => match self.draw.below(3) {
                0 if exact > 2 => exact - 1,
                1 => exact + 2,
                _ => exact + 1,
            },
            Count::Between(low, _) => low.max(2),
        };
        self.draft.count = Count::Exactly(first);
        let old = phrase::spelled(first);
        let values = [
            ("old", phrase::capitalise(&old)),
            ("count", phrase::count(meant, self.draw)),
            ("noun", self.spec.noun().to_owned()),
        ];
        let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
        let text = say(
            self.draw,
            &[
                "Actually, make that {count} {noun}.",
                "{old} isn't quite right, though: make it {count}.",
                "Hmm, no. {old} doesn't feel right, I want {count} {noun}.",
                "Wait, I promised something else, so it's {count} {noun}.",
            ],
            &values,
        );
        let after = self
            .spec
            .fields
            .first()
            .filter(|_| self.draw.chance(40))
            .map(|field| field.name.clone());
        self.push(after.as_deref(), text);
        Some(())
    }

    fn format(&mut self) -> Option<()> {
        if self.spec.fence == Fence::Named {
            // The fence names the format, and is not spoken of again.
            return None;
        }
        self.draft.format = match self.spec.format {
            OutputFormat::Json => OutputFormat::Yaml,
            OutputFormat::Yaml => OutputFormat::Json,
        };
        let name = |format| match format {
            OutputFormat::Json => "JSON",
            OutputFormat::Yaml => "YAML",
        };
        let text = say(
            self.draw,
            &[
                "Hmm, {old}... actually no, {new} fits better with what we have.",
                "Forget what I said about {old}, let's go with {new}.",
                "On second thought, not {old} but {new}.",
                "Wait, the script can't read {old}, so {new} it is.",
                "Scrap {old}, I'd rather have {new}.",
            ],
            &[("old", name(self.draft.format)), ("new", name(self.spec.format))],
        );
        self.push(None, text);
        Some(())
    }

    fn wrapper(&mut self) -> Option<()> {
        let other = |draw: &mut Draw, not: &str| {
            let names = ["list", "content", "rows", "result_set", "all_items"];
            let usable: Vec<&str> = names.into_iter().filter(|name| *name != not).collect();
            draw.pick(&usable)
        };
        let text = match &self.spec.wrapper {
            Some(key) if self.draw.chance(60) => {
                let first = other(self.draw, key);
                self.draft.wrapper = Some(first.to_owned());
                say(
                    self.draw,
                    &[
                        "Hmm, `{old}` as the top-level key says nothing, make it `{new}`.",
                        "Actually the top-level key shouldn't be `{old}` but `{new}`.",
                    ],
                    &[("old", first), ("new", key)],
                )
            }
            Some(key) => {
                self.draft.wrapper = None;
                say(
                    self.draw,
                    &[
                        "Then again, a bare list is hard to extend later, so do wrap it in an object, under the key `{new}`.",
                        "No, wait, the importer needs a wrapper object, so put the list under the key `{new}`.",
                    ],
                    &[("new", key)],
                )
            }
            None => {
                self.draft.wrapper = Some(other(self.draw, "").to_owned());
                say(
                    self.draw,
                    &[
                        "You know what, forget the wrapper: just the plain list at the top level.",
                        "Actually no, drop that wrapping object, a bare list will do.",
                    ],
                    &[],
                )
            }
        };
        self.push(None, text);
        Some(())
    }

    /// Says a field that is not wanted after all.
    fn drop_field(&mut self) -> Option<()> {
        let wanted: Vec<String> = self.spec.all_fields().map(|field| field.name.clone()).collect();
        let entity: &Entity = self.spec.entity;
        let others: Vec<&Field> = entity
            .fields
            .iter()
            .filter(|field| field.kind.fields().is_none() && !wanted.contains(&field.name))
            .collect();
        let field = (!others.is_empty()).then(|| self.draw.pick(&others))?.clone();
        let name = field.name.clone();
        let text = self.of_field(
            &name,
            &[
                "Hmm, no, scratch {N}, nobody reads that.",
                "On second thought, drop {N}, we have that elsewhere.",
                "Actually, forget {N}, nobody would keep it up to date.",
                "Then again, cut {N}, it adds nothing.",
            ],
        );
        let place = 1 + self.draw.below(self.draft.fields.len());
        self.draft.fields.insert(place.min(self.draft.fields.len()), field);
        self.changed.push(name.clone());
        self.push(Some(&name), text);
        Some(())
    }

    fn rename(&mut self) -> Option<()> {
        let place = self.candidate(|field| field.kind.fields().is_none())?;
        let new = self.draft.fields[place].name.clone();
        let old = clumsy(&new);
        if self
            .draft
            .all_fields()
            .chain(self.spec.all_fields())
            .any(|field| field.name == old)
        {
            return None;
        }
        let values = [("old", self.diction.name(&old)), ("new", self.diction.name(&new))];
        let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
        let text = say(
            self.draw,
            &[
                "Let me rename {old} to {new}, that's what the other files use.",
                "Actually, {old} is a clumsy name, so call it {new}.",
                "Hmm, {old} sounds odd, that should be called {new}.",
            ],
            &values,
        );
        self.draft.fields[place].name.clone_from(&old);
        self.changed.push(old.clone());
        self.push(Some(&old), text);
        Some(())
    }

    /// Says other bounds first, or text in place of a number.
    fn retype(&mut self) -> Option<()> {
        let place = self.candidate(|field| match &field.kind {
            FieldKind::Integer(bounds) | FieldKind::Number(bounds) => {
                *bounds != Bounds::default() && !field.nullable && field.required
            }
            _ => false,
        })?;
        let field = self.draft.fields[place].clone();
        let (FieldKind::Integer(bounds) | FieldKind::Number(bounds)) = &field.kind else {
            return None;
        };
        let other = Bounds {
            min: bounds.min,
            max: bounds.max.map(|max| if max > 0.0 { max * 2.0 } else { max / 2.0 }),
        };
        self.draft.fields[place].kind = match &field.kind {
            _ if other == *bounds || self.draw.chance(35) => {
                FieldKind::Text(crate::ifstruct::generate::taxonomy::Flavour::String)
            }
            FieldKind::Integer(_) => FieldKind::Integer(other),
            _ => FieldKind::Number(other),
        };
        let kind = self.diction.type_of(&field, false, self.draw);
        let templates = [
            "Wait, {N} should really be {aT}.",
            "Actually no, {N} has to be {aT}.",
            "Correction, {N} is {aT}, I just checked.",
        ];
        let template = self.draw.pick(&templates);
        let text = fill(
            template,
            &[("N", &self.diction.name(&field.name)), ("aT", &with_article(&kind))],
        );
        self.push(Some(&field.name), text);
        Some(())
    }

    /// Says another value in place of one of an enumeration's.
    fn values(&mut self) -> Option<()> {
        let entity: &Entity = self.spec.entity;
        let spare = |field: &Field| {
            let FieldKind::Enum(values) = &field.kind else {
                return None;
            };
            let template = entity.fields.iter().find(|other| other.name == field.name)?;
            let FieldKind::Enum(all) = &template.kind else {
                return None;
            };
            all.iter().find(|value| !values.contains(value)).cloned()
        };
        let place = self.candidate(|field| spare(field).is_some())?;
        let old = spare(&self.draft.fields[place])?;
        let name = self.draft.fields[place].name.clone();
        let FieldKind::Enum(values) = &mut self.draft.fields[place].kind else {
            return None;
        };
        let changed = self.draw.below(values.len());
        let new = std::mem::replace(&mut values[changed], old.clone());
        let words = [
            ("N", self.diction.name(&name)),
            ("old", self.diction.value(&old)),
            ("new", self.diction.value(&new)),
        ];
        let words = words.each_ref().map(|(name, value)| (*name, value.as_str()));
        let text = say(
            self.draw,
            &[
                "Hmm, in {N} I'd swap {old} for {new}.",
                "For {N}, replace {old} with {new}, that's the term people know.",
                "Wait, {N} can't be {old} in our system, so replace {old} with {new}.",
            ],
            &words,
        );
        self.push(Some(&name), text);
        Some(())
    }

    /// Inverts in the draft whether a field is required, and writes the sentence that changes it back.
    fn presence(&mut self) -> Option<()> {
        let place = self.candidate(|field| field.kind.fields().is_none())?;
        let field = &mut self.draft.fields[place];
        let (name, meant) = (field.name.clone(), field.required);
        field.required = !meant;
        let text = match meant {
            true => self.of_field(
                &name,
                &[
                    "No, thinking about it, {N} is required after all.",
                    "Actually, {N} has to be there, so required.",
                ],
            ),
            false => self.of_field(
                &name,
                &[
                    "Then again, {N} can be optional.",
                    "Hmm, not everybody has that, so make {N} optional.",
                ],
            ),
        };
        self.push(Some(&name), text);
        Some(())
    }

    fn length(&mut self) -> Option<()> {
        let known = |field: &Field| match &field.kind {
            FieldKind::List { length, .. } | FieldKind::Objects { length, .. } => length.max.is_some_and(|max| max > 1),
            _ => false,
        };
        let place = self.candidate(known)?;
        let field = &mut self.draft.fields[place];
        let name = field.name.clone();
        let (FieldKind::List { length, .. } | FieldKind::Objects { length, .. }) = &mut field.kind else {
            return None;
        };
        let meant = *length;
        *length = Length {
            min: Some(meant.min.unwrap_or(0) + 1),
            max: meant.max.map(|max| max + 2),
        };
        let words = self.diction.length(meant)?;
        let text = say(
            self.draw,
            &[
                "Come to think of it, {N} should have {length} entries.",
                "Hmm, that's a lot, let {N} have {length} entries instead.",
            ],
            &[("N", &self.diction.name(&name)), ("length", &words)],
        );
        self.push(Some(&name), text);
        Some(())
    }

    fn of_field(&mut self, name: &str, templates: &[&str]) -> String {
        say(self.draw, templates, &[("N", &self.diction.name(name))])
    }
}

/// A name that somebody might think of first.
fn clumsy(name: &str) -> String {
    match name.split('_').collect::<Vec<&str>>().as_slice() {
        [first, second] => format!("{second}_of_{first}"),
        [_, rest @ ..] if rest.len() > 1 => rest.join("_"),
        _ => format!("{name}_value"),
    }
}
