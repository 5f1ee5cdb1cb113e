//! Shapes: keys under which states share masks, made of the facts that decide the bytes that may come.
//!
//! Most states of a document differ only in their surroundings. A value that is required to satisfy a constraint, with no other
//! verdict open, has a *shape*: the tokens that begin it are found once per shape, and the tokens that end it are combined with the
//! bytes that may follow it. After a member of an independent-key object the same tokens may come whichever keys have been seen, except
//! for keys that are written out.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{ENUMERATED_KEYS, FormulaId, KeySetId, split};
use crate::automaton::search::{ExpectationId, NextKeys, Verdicts};
use crate::automaton::step::style::whitespace::Layout;
use crate::automaton::step::{Automaton, Container, Cursor, Derived, Frame, PartialKey, StackId, State, ValueDemand};
use crate::strings::Fingerprint;
use crate::{KeyOrder, Whitespace};
use std::hash::Hash;

/// Depth up to which values of one shape begin alike where the style asks for all members: no token reaches from this depth to
/// the depth at which the style no longer asks for them.
const SHAPED_DEPTH: u32 = 32;

/// The shape of a value: the requirement on the value, and its position in the layout of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ValueShape {
    demand: ValueDemand,
    layout: Layout,
}

/// The shape of values whose containers, if allowed, may have any content; it has a meaning across schemas. The numbers
/// allowed are left out, because they make no difference to how other values begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommonShape {
    null: bool,
    yes: bool,
    no: bool,
    strings: Fingerprint,
    /// Whether arrays and objects are allowed, and how many levels of free values are around them.
    arrays: Option<u8>,
    objects: Option<u8>,
    layout: Layout,
}

impl ValueDemand {
    /// Whether surely no array or object satisfies the requirement.
    fn is_scalar(&self) -> bool {
        match self {
            Self::Constraint(constraint) => {
                constraint.arrays == FormulaId::FALSE && constraint.objects == FormulaId::FALSE
            }
            Self::Expectation(_) => false,
        }
    }
}

/// The members that may follow a member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NextMembers {
    None,
    /// Members with some of the keys.
    Some,
    /// Members with any key that has not been seen.
    OfAnyName,
}

impl Automaton {
    /// Returns the shape of the value that a state is before; `None` if the bytes that may follow depend on the value. Values of
    /// one shape begin alike wherever they stand.
    pub(crate) fn value_shape(&mut self, at: State) -> Result<Option<ValueShape>, AutomatonError> {
        let Cursor::Value(expected) = at.cursor else {
            return Ok(None);
        };
        // Values that have to differ depend on one another.
        if self.keeps_values(at.stack) || self.is_too_deep(at.stack, SHAPED_DEPTH) {
            return Ok(None);
        }
        let Some(demand) = self.value_demand(expected)? else {
            return Ok(None);
        };
        let layout = self.layout(at, !demand.is_scalar());
        Ok(Some(ValueShape { demand, layout }))
    }

    /// Returns the requirement on a value with an expectation; `None` if the bytes that may follow depend on the value.
    fn value_demand(&mut self, expected: ExpectationId) -> Result<Option<ValueDemand>, AutomatonError> {
        self.shape(expected)?;
        let shape = self.shape_memo.shapes.get(&expected).and_then(Option::as_ref);
        Ok(shape.map(|(demand, _)| *demand))
    }

    /// The shape of the value after the key that a state is behind, in an independent-key object; `None` for other states, or if
    /// the bytes that may follow depend on the value. The shape is found without the state before the value.
    pub(crate) fn shape_behind(&mut self, at: State) -> Result<Option<ValueShape>, AutomatonError> {
        let (Cursor::Colon(name), Some(frame)) = (at.cursor, self.frame(at.stack)) else {
            return Ok(None);
        };
        if frame.plain.0.is_none() || self.is_too_deep(at.stack, SHAPED_DEPTH) {
            return Ok(None);
        }
        let Some(expected) = self.member_expected(&frame, name)? else {
            return Ok(None);
        };
        let Some(demand) = self.value_demand(expected)? else {
            return Ok(None);
        };
        let value = State::new(Cursor::Value(expected), at.stack);
        let layout = self.layout(value, !demand.is_scalar());
        Ok(Some(ValueShape { demand, layout }))
    }

    /// Returns the place in the layout that is reached after a member of the object that `at` is in.
    pub(crate) fn layout_after_member(&self, at: State) -> Layout {
        self.layout(State::new(Cursor::ObjectNext, at.stack), true)
    }

    /// The members that may follow the member whose key a state is behind, in an independent-key object; `None` for
    /// other states, or if this does not show at once.
    pub(crate) fn others_behind(&mut self, at: State) -> Result<Option<NextMembers>, AutomatonError> {
        let (Cursor::Colon(name), Some(frame)) = (at.cursor, self.frame(at.stack)) else {
            return Ok(None);
        };
        let (Derived(Some(plain)), &Container::Object { order, passed, .. }) = (&frame.plain, &frame.kind) else {
            return Ok(None);
        };
        let ahead = self.search.algebra.ordered(order, passed);
        // Near its bound, it takes the members that come to tell whether others may.
        if self.is_nearly_full(&frame) {
            return Ok(None);
        }
        if ahead.is_empty() {
            if plain.has_room {
                return Ok(Some(NextMembers::OfAnyName));
            }
            let seen = self.search.algebra.key_sets.len(frame.kind.used());
            return Ok(match self.next_keys(at.stack)? {
                // The list contains all keys seen, and the key of the member that comes now.
                NextKeys::Of(list) => Some(match self.search.key_list(list).names.len() > seen + 1 {
                    true => NextMembers::Some,
                    false => NextMembers::None,
                }),
                _ => None,
            });
        }
        let all = passed + ahead.len() as u32;
        let place = ahead.iter().position(|one| *one == name);
        let ahead = &ahead[place.map_or(ahead.len(), |place| place + 1)..];
        let comes = u32::from(place.is_some() && plain.asked.requires(name));
        if plain.awaited > comes {
            return Ok(Some(NextMembers::Some));
        }
        if plain.has_room {
            return Ok(Some(NextMembers::OfAnyName));
        }
        if self.some_key_may_come(&plain.asked, ahead)? {
            return Ok(Some(NextMembers::Some));
        }
        let others = self.first_keys(at.stack, &frame, all)?;
        Ok((others == NextKeys::None).then_some(NextMembers::None))
    }

    /// The schema-independent form of a shape; `None` if its containers are restricted in their content.
    pub(crate) fn common_shape(&mut self, shape: ValueShape) -> Option<CommonShape> {
        let ValueDemand::Constraint(constraint) = shape.demand else {
            return None;
        };
        // The form would be shared with schemas that do not leave these texts out.
        if self.search.algebra.leaves_out_texts() {
            return None;
        }
        let any_or_none = |formula| match formula {
            FormulaId::FALSE => Some(None),
            FormulaId::TRUE => Some(Some(0)),
            _ => None,
        };
        let free = self.search.algebra.free_level(constraint.arrays, constraint.objects);
        let (arrays, objects) = match free {
            Some(level) => (Some(level), Some(level)),
            None => (any_or_none(constraint.arrays)?, any_or_none(constraint.objects)?),
        };
        let strings = constraint.all_strings().written();
        // Lists of words rarely recur, and are found as quickly.
        if strings != self.languages().none() && self.languages().word_edges(strings).is_some() {
            return None;
        }
        Some(CommonShape {
            null: constraint.null,
            yes: constraint.yes,
            no: constraint.no,
            strings: self.languages_mut().fingerprint(strings)?,
            arrays,
            objects,
            layout: shape.layout,
        })
    }

    /// The state after the value that a state is before, if that has a [shape](Self::value_shape); `None` otherwise.
    pub(crate) fn after_shape(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        let Cursor::Value(expected) = at.cursor else {
            return Ok(None);
        };
        let verdicts = match self.shape_memo.shapes.get(&expected) {
            Some(Some((_, verdicts))) => verdicts.clone(),
            _ => return Ok(None),
        };
        self.value_done(expected, verdicts, None, at.stack)
    }

    /// Makes sure that the shape of values with an expectation is in the memo.
    pub(crate) fn shape(&mut self, expected: ExpectationId) -> Result<(), AutomatonError> {
        if self.shape_memo.shapes.contains_key(&expected) {
            return Ok(());
        }
        let what = self.search.expected(expected);
        let forced: Option<Verdicts> = self.search.forced(&what).into_iter().collect();
        let shape = match forced {
            None => None,
            Some(verdicts) => {
                let (all, none) = split(&what.assertions, &verdicts);
                let constraint = match (&all[..], &none[..]) {
                    ([assertion], []) => {
                        let constraint = self.search.algebra.constraint(*assertion)?;
                        self.search.algebra.written(constraint)?
                    }
                    _ => self.search.algebra.combined(&all, &none)?,
                };
                let constraint = match self.search.algebra.style.closed {
                    true => {
                        let meant = self.search.types_meant(expected)?;
                        self.search.algebra.of_meant_types(constraint, meant)
                    }
                    false => constraint,
                };
                // The constraint lacks the prescribed order of an object's members: where there is one, the demand is the expectation.
                let style = self.search.algebra.style;
                let orders_keys = style.key_order == KeyOrder::Schema || style.closed || style.all_required;
                let is_free = self
                    .search
                    .algebra
                    .free_level(constraint.arrays, constraint.objects)
                    .is_some();
                let is_ordered = orders_keys
                    && !is_free
                    && match constraint.objects {
                        _ if constraint.arrays.decided().is_none() => true,
                        FormulaId::FALSE => false,
                        FormulaId::TRUE => {
                            let order = self.search.planned_order(expected)?;
                            !self.search.algebra.orders.is_free(order)
                        }
                        _ => true,
                    };
                let shape = match is_ordered {
                    true => ValueDemand::Expectation(expected),
                    false => ValueDemand::Constraint(constraint),
                };
                Some((shape, verdicts))
            }
        };
        self.shape_memo.shapes.insert(expected, shape);
        Ok(())
    }

    /// The bracket that would close the innermost container at a state after a member or item; `None` for other states.
    pub(crate) fn bracket(&self, at: State) -> Option<u8> {
        match at.cursor {
            Cursor::ObjectNext => Some(b'}'),
            Cursor::ArrayNext => Some(b']'),
            _ => None,
        }
    }

    /// The state after the innermost container, if it may end here, behind the whitespace that the style fixes.
    pub(crate) fn closed(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        match self.bracket(at) {
            Some(bracket) => self.step(self.behind_gap(at, bracket), bracket),
            None => Ok(None),
        }
    }

    /// Whether an object accepts any value for any key that it does not list, however many members there are. `name` is
    /// a key within the object.
    pub(crate) fn is_wide_open(&mut self, name: &PartialKey) -> Result<bool, AutomatonError> {
        // Bounded whitespace depends on the nesting depth.
        let is_free = self.search.algebra.style.whitespace == Whitespace::Any
            && self.search.algebra.style.key_order == KeyOrder::Any;
        let Some(frame) = self.frame(name.object()) else {
            return Ok(false);
        };
        if self.is_nearly_full(&frame) {
            return Ok(false);
        }
        if !is_free || !name.are_alike() || self.keeps_values(name.object()) || !self.has_room(&frame)? {
            return Ok(false);
        }
        let plain = self.search.algebra.independent_keys(frame.formulas[0]);
        Ok(plain.is_some_and(|plain| plain.is_unbounded() && plain.languages.is_empty()))
    }

    /// The state after a key's opening quote, from a state after `{` or after a comma in an object; `None` for other
    /// states.
    pub(crate) fn key_from(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        match at.cursor {
            Cursor::ObjectStart | Cursor::ObjectComma => self.step(at, b'"'),
            _ => Ok(None),
        }
    }

    /// Whether the object that a state is in judges each key by itself, so that the value of one does not depend on the
    /// members before it.
    pub(crate) fn judges_keys_singly(&self, at: State) -> bool {
        self.frame(at.stack).is_some_and(|frame| frame.plain.0.is_some())
    }

    /// The state before the value, from a state behind its key; `None` for other states.
    pub(crate) fn value_of_key(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        match at.cursor {
            Cursor::Colon(_) => self.step(at, b':'),
            _ => Ok(None),
        }
    }

    /// The state before the first item of an array, from a state after `[`; `None` if there cannot be an item.
    pub(crate) fn first_item(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        let item = match at.cursor {
            Cursor::ArrayStart => self.item(at.stack)?,
            _ => None,
        };
        Ok(item.map(|expected| State::new(Cursor::Value(expected), at.stack)))
    }

    /// The members that may follow a member of the independent-key object that a state is in; `None` for other states,
    /// or if more than the keys counts.
    pub(crate) fn next_members(&mut self, at: State) -> Result<Option<NextMembers>, AutomatonError> {
        if at.cursor != Cursor::ObjectNext || self.keeps_values(at.stack) {
            return Ok(None);
        }
        let Some(frame) = self.frame(at.stack) else {
            return Ok(None);
        };
        if frame.plain.0.is_none() {
            return Ok(None);
        }
        if self.is_nearly_full(&frame) {
            return Ok(None);
        }
        Ok(Some(match self.has_room(&frame)? {
            true => NextMembers::OfAnyName,
            false => match self.has_next_key(at.stack)? {
                true => NextMembers::Some,
                false => NextMembers::None,
            },
        }))
    }

    /// The stack with no keys seen, for an object with room for any other key. The same bytes may come after a member for both
    /// stacks, except that seen keys may come again. `None` for other stacks.
    pub(super) fn bare_stack(&mut self, at: StackId) -> Result<Option<StackId>, AutomatonError> {
        if let Some(&known) = self.shape_memo.bare.get(&at) {
            return Ok(known);
        }
        let mut bare = None;
        // Elsewhere the whitespace before the next key depends on where the object stands.
        let is_simple = matches!(
            self.search.algebra.style.whitespace,
            Whitespace::Any | Whitespace::Compact
        );
        if let Some(frame) = self.frame(at)
            && is_simple
            && self.search.algebra.style.key_order == KeyOrder::Any
            && !self.keeps_values(at)
            && !self.is_nearly_full(&frame)
            && self.has_room(&frame)?
        {
            let mut frame = (*frame).clone();
            if let Container::Object { used, .. } = &mut frame.kind {
                *used = KeySetId::EMPTY;
            }
            // What is required counts as not yet seen, too.
            frame.plain = Derived(None);
            self.note_independent(&mut frame)?;
            bare = Some(self.push(frame));
        }
        self.shape_memo.bare.insert(at, bare);
        Ok(bare)
    }

    /// Whether an object has room for any key that it does not mention and that has not been seen.
    pub(crate) fn has_room(&mut self, frame: &Frame) -> Result<bool, AutomatonError> {
        match (&frame.kind, &frame.plain) {
            (_, Derived(Some(plain))) => Ok(plain.has_room && plain.awaited == 0),
            (Container::Object { used, .. }, _) if self.search.algebra.key_sets.len(*used) < ENUMERATED_KEYS => {
                self.search.is_roomy(frame.formulas[0])
            }
            _ => Ok(false),
        }
    }
}
