//! Checks of single keywords without an automaton: whether a keyword excludes a value, or every continuation of a partial value.
//!
//! Such a check decides for complete values, and for much that shows at the beginning of a value; else the automaton has to.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::keyword_part::KeywordPart;
use super::text_tree::{TextKind, TextTree, TextValue, beginning};
use crate::Limits;
use crate::decimal::Decimal;
use crate::json::{Document, Shape, Value, ValueRef};
use crate::schema::{Body, Keywords, NodeId, SchemaSet, TypeSet};

/// Maximal depth of subschemas that are searched, from each branch, for a property that tells branches apart.
pub(super) const MAX_DISCRIMINATOR_DEPTH: usize = 6;

/// Number of names or values that are compared in a unit of work (see [`MAX_WORK`](super::minimal_conflict::MAX_WORK)).
pub(super) const COMPARED_PER_WORK: usize = 16;

/// The verdict on a keyword and a value that is reached without an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DirectCheck {
    /// The keyword excludes the value, at this byte.
    Fails(usize),
    /// The keyword does not exclude the value by itself, or only together with others.
    Passes,
    /// An automaton has to tell.
    Unknown,
}

/// A text with its tree of values; complete values are parsed on demand.
#[derive(Debug)]
pub(super) struct JudgedText<'t> {
    pub(super) text: &'t [u8],
    pub(super) tree: TextTree,
    parsed: HashMap<usize, Option<Value>>,
}

impl<'t> JudgedText<'t> {
    /// A text that ends, where `is_all`, or may go on.
    pub(super) fn new(text: &'t [u8], is_all: bool) -> Self {
        Self {
            text,
            tree: TextTree::of(text, is_all),
            parsed: HashMap::new(),
        }
    }

    pub(super) fn value(&self, index: usize) -> &TextValue {
        &self.tree.values[index]
    }

    /// Returns a complete value, parsed; none for partial values, and for values that cannot be kept.
    pub(super) fn ended(&mut self, index: usize) -> Option<&Value> {
        let value = self.tree.values.get(index)?;
        if value.is_open {
            return None;
        }
        let parsed = match self.parsed.entry(index) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let text = std::str::from_utf8(&self.text[value.span.clone()]).ok();
                let document = text.and_then(|text| Document::parse(text, &Limits::default()).ok());
                new.insert(document.and_then(|document| Value::new(&document, 0).ok()))
            }
        };
        parsed.as_ref()
    }

    /// The work of [`check`](Self::check), in the units of [`MAX_WORK`](super::minimal_conflict::MAX_WORK).
    pub(super) fn work(&self, part: KeywordPart, keywords: &Keywords, index: usize) -> usize {
        let children = self.value(index).children.len();
        let compared = match part {
            KeywordPart::Values => keywords.values.as_ref().map_or(0, Vec::len),
            KeywordPart::Required => children + keywords.required.len(),
            KeywordPart::DependentRequired => {
                let dependent = keywords.dependent_required.iter();
                children + dependent.map(|(_, required)| 1 + required.len()).sum::<usize>()
            }
            _ => 0,
        };
        compared / COMPARED_PER_WORK
    }

    /// Judges a value by a part of a subschema's keywords.
    pub(super) fn check(&mut self, part: KeywordPart, keywords: &Keywords, index: usize) -> DirectCheck {
        use DirectCheck::{Fails, Passes, Unknown};
        let value = &self.tree.values[index];
        let (kind, start) = (value.kind, value.span.start);
        let last = value.span.end.saturating_sub(1);
        let fails_if = |fails: bool| if fails { Fails(last) } else { Passes };
        let has_ended = !value.is_open;
        let asked_of = |of: TextKind| if kind == of { Unknown } else { Passes };
        let above = |count: u64, most: Option<u64>| {
            most.is_some_and(|most| count > most).then(|| {
                value
                    .children
                    .get(most.unwrap_or(0) as usize)
                    .map_or(last, |child| child.start)
            })
        };
        match part {
            KeywordPart::False | KeywordPart::AnyOf => Fails(start),
            KeywordPart::Type => self.check_type(keywords.types.unwrap_or_default(), index),
            KeywordPart::Values => self.check_values(keywords.values.as_deref().unwrap_or_default(), index),
            KeywordPart::Minimum | KeywordPart::Maximum if kind == TextKind::Number && has_ended => {
                let bytes = &self.text[value.span.clone()];
                match Decimal::parse(bytes) {
                    Ok(number) => fails_if(!is_within(part, keywords, &number)),
                    Err(_) => Unknown,
                }
            }
            KeywordPart::Minimum | KeywordPart::Maximum | KeywordPart::MultipleOf => asked_of(TextKind::Number),
            KeywordPart::MinLength | KeywordPart::MaxLength | KeywordPart::Pattern | KeywordPart::Format => {
                asked_of(TextKind::String)
            }
            KeywordPart::MinItems if kind == TextKind::Array => {
                let least = keywords.min_items.unwrap_or(0);
                fails_if(has_ended && (value.children.len() as u64) < least)
            }
            KeywordPart::MaxItems if kind == TextKind::Array => {
                above(value.least_children as u64, keywords.max_items).map_or(Passes, Fails)
            }
            KeywordPart::MinProperties if kind == TextKind::Object => {
                let least = keywords.min_properties.unwrap_or(0);
                fails_if(has_ended && (value.children.len() as u64) < least)
            }
            KeywordPart::MaxProperties if kind == TextKind::Object => {
                above(value.least_children as u64, keywords.max_properties).map_or(Passes, Fails)
            }
            KeywordPart::Required if kind == TextKind::Object && has_ended => {
                fails_if(missing(&member_names(value), &keywords.required).next().is_some())
            }
            KeywordPart::DependentRequired if kind == TextKind::Object && has_ended => {
                let names = member_names(value);
                let mut dependent = keywords.dependent_required.iter();
                fails_if(dependent.any(|(name, required)| {
                    names.contains(name.as_str()) && missing(&names, required).next().is_some()
                }))
            }
            _ => Passes,
        }
    }

    fn check_type(&self, types: TypeSet, index: usize) -> DirectCheck {
        let value = self.value(index);
        let asked = match value.kind {
            TextKind::Null => TypeSet::NULL,
            TextKind::Boolean => TypeSet::BOOLEAN,
            TextKind::Number => TypeSet::NUMBER,
            TextKind::String => TypeSet::STRING,
            TextKind::Array => TypeSet::ARRAY,
            TextKind::Object => TypeSet::OBJECT,
        };
        let integers = [TypeSet::INTEGER, TypeSet::INTEGER_LITERAL];
        match types.contains(asked) {
            true => DirectCheck::Passes,
            false if asked == TypeSet::NUMBER && integers.iter().any(|integer| types.contains(*integer)) => {
                DirectCheck::Unknown
            }
            false => DirectCheck::Fails(value.span.start),
        }
    }

    fn check_values(&mut self, values: &[Value], index: usize) -> DirectCheck {
        let value = self.value(index);
        let (kind, start, is_open) = (value.kind, value.span.start, value.is_open);
        let bytes = &self.text[value.span.clone()];
        let mut of_kind = values.iter().map(Value::as_ref).filter(|value| kind_of(*value) == kind);
        if of_kind.clone().next().is_none() {
            return DirectCheck::Fails(start);
        }
        if kind == TextKind::String {
            let begun = beginning(bytes, !is_open);
            let shared = of_kind.map(|value| match value.shape() {
                Shape::String(text) if is_open && text.starts_with(&begun) || text == begun => usize::MAX,
                Shape::String(text) => text.bytes().zip(begun.bytes()).take_while(|(a, b)| a == b).count(),
                _ => 0,
            });
            return match shared.max() {
                Some(usize::MAX) => DirectCheck::Passes,
                shared => DirectCheck::Fails(start + 1 + shared.unwrap_or(0)),
            };
        }
        let last = value.span.end.saturating_sub(1);
        match self.ended(index) {
            Some(ended) => match of_kind.any(|value| value == ended.as_ref()) {
                true => DirectCheck::Passes,
                false => DirectCheck::Fails(last),
            },
            None => DirectCheck::Unknown,
        }
    }
}

/// The names of an object's members.
pub(super) fn member_names(object: &TextValue) -> HashSet<&str> {
    object.children.iter().map(|child| child.name.as_str()).collect()
}

/// The required names that are not among those of an object's members.
pub(super) fn missing<'n>(names: &HashSet<&str>, required: &'n [String]) -> impl Iterator<Item = &'n String> {
    required.iter().filter(move |name| !names.contains(name.as_str()))
}

fn kind_of(value: ValueRef<'_>) -> TextKind {
    match value.shape() {
        Shape::Null => TextKind::Null,
        Shape::Bool(_) => TextKind::Boolean,
        Shape::Number(_) => TextKind::Number,
        Shape::String(_) => TextKind::String,
        Shape::Array(_) => TextKind::Array,
        Shape::Object(_) => TextKind::Object,
    }
}

/// Whether a number keeps to one of the bounds.
fn is_within(bound: KeywordPart, keywords: &Keywords, number: &Decimal) -> bool {
    let is_beyond = |limit: &Decimal| match bound {
        KeywordPart::Minimum => number < limit,
        _ => number > limit,
    };
    let bound = match bound {
        KeywordPart::Minimum => &keywords.minimum,
        _ => &keywords.maximum,
    };
    let violates = |bound: &crate::schema::Bound| is_beyond(&bound.value) || bound.exclusive && *number == bound.value;
    !bound.as_ref().is_some_and(violates)
}

/// The values that a subschema demands, where it lists some.
pub(super) fn demanded(set: &SchemaSet, node: NodeId) -> Option<&[Value]> {
    let mut node = node;
    for _ in 0..MAX_DISCRIMINATOR_DEPTH {
        let Body::Keywords(keywords) = &set.node(node).body else {
            return None;
        };
        if let Some(values) = &keywords.values {
            let is_scalar = |value: &Value| !matches!(value.as_ref().shape(), Shape::Array(_) | Shape::Object(_));
            return values.iter().all(is_scalar).then_some(values);
        }
        node = *keywords.refs.first().or(keywords.all_of.first())?;
    }
    None
}
