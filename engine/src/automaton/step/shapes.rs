//! What may come at a state as little as can be said of it, so that what is worked out for one state serves all others
//! that are alike.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{ENUMERATED_KEYS, FormulaId, KeySetId, split};
use crate::automaton::search::{ExpectationId, NextKeys, Verdicts};
use crate::automaton::step::{Automaton, Container, Cursor, Derived, Frame, PartialKey, StackId, State, ValueShape};
use crate::strings::Fingerprint;
use crate::{KeyOrder, Whitespace};
use std::hash::Hash;

/// A shape as it is known in all schemas: that of values whose containers, if they may be any, may have anything in
/// them. Which numbers there are makes no difference to how other values begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommonShape {
    null: bool,
    yes: bool,
    no: bool,
    strings: Fingerprint,
    arrays: bool,
    objects: bool,
}

/// Members that may come behind one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NextMembers {
    None,
    /// Those of some keys.
    Some,
    /// Those of any key that has not come.
    OfAnyName,
}

impl Automaton {
    /// The shape of the value that a state is before, where what may come behind it is the same whichever value it is.
    /// Values of one shape begin alike wherever they are.
    pub(crate) fn value_shape(&mut self, at: State) -> Result<Option<ValueShape>, AutomatonError> {
        let Cursor::Value(expected) = at.cursor else {
            return Ok(None);
        };
        // Whitespace that is bounded depends on the depth, and values that are kept on one another.
        if self.search.algebra.style.whitespace != Whitespace::Any || self.keeps_values(at.stack) {
            return Ok(None);
        }
        self.shape(expected)?;
        let shape = self.shape_memo.shapes.get(&expected).and_then(Option::as_ref);
        Ok(shape.map(|(shape, _)| *shape))
    }

    /// The shape of the value that comes behind a key, and how the object goes on behind that, as far as it is seen
    /// without the states that they lead to.
    pub(crate) fn member_behind(&mut self, at: State) -> Result<Option<(ValueShape, NextMembers)>, AutomatonError> {
        let (Cursor::Colon(name), Whitespace::Any) = (at.cursor, self.search.algebra.style.whitespace) else {
            return Ok(None);
        };
        let Some(others) = self.others_behind(at)? else {
            return Ok(None);
        };
        let Some(frame) = self.frame(at.stack) else {
            return Ok(None);
        };
        let Some(expected) = self.member_expected(&frame, name)? else {
            return Ok(None);
        };
        self.shape(expected)?;
        let shape = self.shape_memo.shapes.get(&expected).and_then(Option::as_ref);
        Ok(shape.map(|(shape, _)| (*shape, others)))
    }

    /// How an independent-key object goes on behind the member of a key that a state is behind; none of other states,
    /// or where it is not seen at once.
    pub(crate) fn others_behind(&mut self, at: State) -> Result<Option<NextMembers>, AutomatonError> {
        let frame = match at.cursor {
            Cursor::Colon(_) => self.frames.all.get(at.stack.0 as usize),
            _ => None,
        };
        let Some((frame, Derived(Some(plain)))) = frame.map(|frame| (frame, &frame.plain)) else {
            return Ok(None);
        };
        if plain.has_room {
            return Ok(Some(NextMembers::OfAnyName));
        }
        let seen = self.search.algebra.key_sets.len(frame.kind.used());
        Ok(match self.next_keys(at.stack)? {
            // All that have come are listed, and so is the one that comes now.
            NextKeys::Of(list) => Some(match self.search.key_list(list).names.len() > seen + 1 {
                true => NextMembers::Some,
                false => NextMembers::None,
            }),
            _ => None,
        })
    }

    /// What a shape is known by in all schemas, if its containers may have anything in them.
    pub(crate) fn common_shape(&mut self, shape: ValueShape) -> Option<CommonShape> {
        let ValueShape::Constraint(constraint) = shape else {
            return None;
        };
        let any_or_none = |formula| match formula {
            FormulaId::FALSE => Some(false),
            FormulaId::TRUE => Some(true),
            _ => None,
        };
        let (arrays, objects) = (any_or_none(constraint.arrays)?, any_or_none(constraint.objects)?);
        let strings = constraint.strings;
        // Lists of words hardly come again, and are found as quickly.
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
        })
    }

    /// The state behind the value that a state is before, where that has a [shape](Self::value_shape); none of others.
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

    /// Sees to it that the shape of a value is known.
    pub(crate) fn shape(&mut self, expected: ExpectationId) -> Result<(), AutomatonError> {
        if self.shape_memo.shapes.contains_key(&expected) {
            return Ok(());
        }
        let what = self.search.expected(expected);
        let forced: Option<Verdicts> = self.search.forced(&what).into_iter().collect();
        let shape = match forced {
            None => None,
            Some(verdicts) => {
                let shape = match self.search.algebra.style.key_order {
                    KeyOrder::Any => {
                        let (all, none) = split(&what.assertions, &verdicts);
                        ValueShape::Constraint(match (&all[..], &none[..]) {
                            ([assertion], []) => self.search.algebra.constraint(*assertion)?,
                            _ => self.search.algebra.combined(&all, &none)?,
                        })
                    }
                    KeyOrder::Schema => ValueShape::Expectation(expected),
                };
                Some((shape, verdicts))
            }
        };
        self.shape_memo.shapes.insert(expected, shape);
        Ok(())
    }

    /// The bracket that ends the container that a state is in, if one may come there.
    pub(crate) fn bracket(&self, at: State) -> Option<u8> {
        match at.cursor {
            Cursor::ObjectNext => Some(b'}'),
            Cursor::ArrayNext => Some(b']'),
            _ => None,
        }
    }

    /// The state behind the container that a state is in, where it may end.
    pub(crate) fn closed(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        match self.bracket(at) {
            Some(bracket) => self.step(at, bracket),
            None => Ok(None),
        }
    }

    /// Whether an object that a key is in takes any value for any key that it does not list, however many there are.
    pub(crate) fn is_wide_open(&mut self, name: &PartialKey) -> Result<bool, AutomatonError> {
        // Whitespace that is bounded depends on the depth.
        let is_free = self.search.algebra.style.whitespace == Whitespace::Any
            && self.search.algebra.style.key_order == KeyOrder::Any;
        let Some(frame) = self.frame(name.object()) else {
            return Ok(false);
        };
        if !is_free || !name.are_alike() || self.keeps_values(name.object()) || !self.has_room(&frame)? {
            return Ok(false);
        }
        let plain = self.search.algebra.independent_keys(frame.formulas[0]);
        Ok(plain.is_some_and(|plain| plain.is_unbounded()))
    }

    /// The state behind the opening quote of a key, where a key comes next or nothing more in the object.
    pub(crate) fn key_from(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        match at.cursor {
            Cursor::ObjectStart | Cursor::ObjectComma => self.step(at, b'"'),
            _ => Ok(None),
        }
    }

    /// The state before the value of the key that a state is behind.
    pub(crate) fn value_of_key(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        match at.cursor {
            Cursor::Colon(_) => self.step(at, b':'),
            _ => Ok(None),
        }
    }

    /// The state before the first item of an array, were there one.
    pub(crate) fn first_item(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        let item = match at.cursor {
            Cursor::ArrayStart => self.item(at.stack)?,
            _ => None,
        };
        Ok(item.map(|expected| State::new(Cursor::Value(expected), at.stack)))
    }

    /// How the object that a state is in goes on after a member, where each key is a matter by itself and nothing else
    /// counts; none of other states.
    pub(crate) fn next_members(&mut self, at: State) -> Result<Option<NextMembers>, AutomatonError> {
        // Where whitespace may come but not in any amount there are many ways to the next key.
        let is_simple = !matches!(self.search.algebra.style.whitespace, Whitespace::Bounded { .. });
        if !is_simple || at.cursor != Cursor::ObjectNext || self.keeps_values(at.stack) {
            return Ok(None);
        }
        let Some(frame) = self.frame(at.stack) else {
            return Ok(None);
        };
        let Derived(Some(plain)) = &frame.plain else {
            return Ok(None);
        };
        Ok(Some(match plain.has_room {
            true => NextMembers::OfAnyName,
            false => match self.has_next_key(at.stack)? {
                true => NextMembers::Some,
                false => NextMembers::None,
            },
        }))
    }

    /// The state around which the same may come, but that names may come again which have come. After the member of an
    /// object in which there is room for any other key it does not matter which keys those are. None of other states.
    pub(super) fn bare_stack(&mut self, at: StackId) -> Result<Option<StackId>, AutomatonError> {
        if let Some(&known) = self.shape_memo.bare.get(&at) {
            return Ok(known);
        }
        let mut bare = None;
        // Where whitespace may come but not in any amount there are many ways to the next key.
        let is_simple = !matches!(self.search.algebra.style.whitespace, Whitespace::Bounded { .. });
        if let Some(frame) = self.frame(at)
            && is_simple
            && self.search.algebra.style.key_order == KeyOrder::Any
            && !self.keeps_values(at)
            && self.has_room(&frame)?
        {
            let mut frame = (*frame).clone();
            if let Container::Object { used, .. } = &mut frame.kind {
                *used = KeySetId::EMPTY;
            }
            bare = Some(self.push(frame));
        }
        self.shape_memo.bare.insert(at, bare);
        Ok(bare)
    }

    /// Whether there is room for any key in an object that has not come yet and that it does not speak of.
    pub(crate) fn has_room(&mut self, frame: &Frame) -> Result<bool, AutomatonError> {
        match (&frame.kind, &frame.plain) {
            (_, Derived(Some(plain))) => Ok(plain.has_room),
            (Container::Object { used, .. }, _) if self.search.algebra.key_sets.len(*used) < ENUMERATED_KEYS => {
                self.search.is_roomy(frame.formulas[0])
            }
            _ => Ok(false),
        }
    }
}
