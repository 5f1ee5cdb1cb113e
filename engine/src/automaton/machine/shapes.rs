//! What may come at a place as little as can be said of it, so that what is worked out for one place serves all others
//! that are alike.

use super::{
    Automaton, AutomatonError, Derived, ExpectedId, Frame, Kind, NextKeys, PartialKey, StackId, State, Top, Verdicts,
};
use crate::automaton::assertion::Constraint;
use crate::automaton::formula::FormulaId;
use crate::automaton::key_sets::KeySetId;
use crate::automaton::satisfiable::{MOST_LISTED, Room, split};
use crate::strings::Fingerprint;
use crate::{KeyOrder, Whitespace};

/// What a value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueShape {
    /// One that satisfies a constraint.
    Constraint(Constraint),
    /// The same, where the order of its members counts as well.
    Expected(ExpectedId),
}

/// A shape as it is known in all schemas: that of values whose containers, if they may be any, may have anything in them.
/// Which numbers there are makes no difference to how other values begin.
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
    /// Those of some names.
    Some,
    /// Those of any name that has not come.
    OfAnyName,
}

/// The shape of a value, and the only verdicts of its assertions.
pub(in crate::automaton) type ForcedShape = (ValueShape, Verdicts);

impl Automaton {
    /// The shape of the value that a place is before, where what may come behind it is the same whichever value it is.
    /// Values of one shape begin alike wherever they are.
    pub(crate) fn value_shape(&mut self, at: State) -> Result<Option<ValueShape>, AutomatonError> {
        let Top::Value(expected) = at.top else {
            return Ok(None);
        };
        // Whitespace that is bounded depends on the depth, and values that are kept on one another.
        if self.style.whitespace != Whitespace::Any || self.keeps(at.stack) {
            return Ok(None);
        }
        self.shape(expected)?;
        let shape = self.shapes.get(&expected).and_then(Option::as_ref);
        Ok(shape.map(|(shape, _)| *shape))
    }

    /// The shape of the value that comes behind a name, and how the object goes on behind that, as far as it is seen without
    /// the places that they lead to.
    pub(crate) fn member_behind(&mut self, at: State) -> Result<Option<(ValueShape, NextMembers)>, AutomatonError> {
        let (Top::Colon(name), Whitespace::Any) = (at.top, self.style.whitespace) else {
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
        let shape = self.shapes.get(&expected).and_then(Option::as_ref);
        Ok(shape.map(|(shape, _)| (*shape, others)))
    }

    /// How a plain object goes on behind the member of a name that a place is behind; none of other places, or where it is
    /// not seen at once.
    pub(crate) fn others_behind(&mut self, at: State) -> Result<Option<NextMembers>, AutomatonError> {
        let frame = match at.top {
            Top::Colon(_) => self.frames.get(at.stack.0 as usize),
            _ => None,
        };
        let Some((frame, Derived(Some(plain)))) = frame.map(|frame| (frame, &frame.plain)) else {
            return Ok(None);
        };
        if plain.has_room {
            return Ok(Some(NextMembers::OfAnyName));
        }
        let come = self.key_sets.len(frame.kind.used());
        Ok(match self.next_keys(at.stack)? {
            // All that have come are listed, and so is the one that comes now.
            NextKeys::Of(list) => Some(match self.name_list(list).names.len() > come + 1 {
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
        if strings != self.languages.none() && self.languages.word_edges(strings).is_some() {
            return None;
        }
        Some(CommonShape {
            null: constraint.null,
            yes: constraint.yes,
            no: constraint.no,
            strings: self.languages.fingerprint(strings)?,
            arrays,
            objects,
        })
    }

    /// The place behind the value that a place is before, where that has a [shape](Self::value_shape); none of others.
    pub(crate) fn after_shape(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        let Top::Value(expected) = at.top else {
            return Ok(None);
        };
        let verdicts = match self.shapes.get(&expected) {
            Some(Some((_, verdicts))) => verdicts.clone(),
            _ => return Ok(None),
        };
        self.value_done(expected, verdicts, None, at.stack)
    }

    /// Sees to it that the shape of a value is known.
    fn shape(&mut self, expected: ExpectedId) -> Result<(), AutomatonError> {
        if self.shapes.contains_key(&expected) {
            return Ok(());
        }
        let what = self.expected(expected);
        let forced: Option<Verdicts> = self.forced(&what).into_iter().collect();
        let shape = match forced {
            None => None,
            Some(verdicts) => {
                let shape = match self.style.key_order {
                    KeyOrder::Any => {
                        let (all, none) = split(&what.assertions, &verdicts);
                        ValueShape::Constraint(match (&all[..], &none[..]) {
                            ([assertion], []) => self.constraint(*assertion)?,
                            _ => self.combined(&all, &none)?,
                        })
                    }
                    KeyOrder::Schema => ValueShape::Expected(expected),
                };
                Some((shape, verdicts))
            }
        };
        self.shapes.insert(expected, shape);
        Ok(())
    }

    /// The bracket that ends the container that a place is in, if one may come there.
    pub(crate) fn bracket(&self, at: State) -> Option<u8> {
        match at.top {
            Top::ObjectNext => Some(b'}'),
            Top::ArrayNext => Some(b']'),
            _ => None,
        }
    }

    /// The place behind the container that a place is in, where it may end.
    pub(crate) fn closed(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        match self.bracket(at) {
            Some(bracket) => self.step(at, bracket),
            None => Ok(None),
        }
    }

    /// Whether an object that a name is in takes any value for any name that it does not list, however many there are.
    pub(crate) fn is_wide_open(&mut self, name: &PartialKey) -> Result<bool, AutomatonError> {
        // Whitespace that is bounded depends on the depth.
        let is_free = self.style.whitespace == Whitespace::Any && self.style.key_order == KeyOrder::Any;
        let Some(frame) = self.frame(name.object()) else {
            return Ok(false);
        };
        if !is_free || !name.are_alike() || self.keeps(name.object()) || !self.has_room(&frame)? {
            return Ok(false);
        }
        let plain = self.plain(frame.formulas[0]);
        Ok(plain.is_some_and(|plain| plain.is_unbounded()))
    }

    /// The place behind the opening quote of a name, where a name comes next or nothing more in the object.
    pub(crate) fn name_from(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        match at.top {
            Top::ObjectStart | Top::ObjectComma => self.step(at, b'"'),
            _ => Ok(None),
        }
    }

    /// The place before the value of the name that a place is behind.
    pub(crate) fn value_of_name(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        match at.top {
            Top::Colon(_) => self.step(at, b':'),
            _ => Ok(None),
        }
    }

    /// The place before the first item of an array, were there one.
    pub(crate) fn first_item(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        let item = match at.top {
            Top::ArrayStart => self.item(at.stack)?,
            _ => None,
        };
        Ok(item.map(|expected| State::new(Top::Value(expected), at.stack)))
    }

    /// How the object that a place is in goes on after a member, where each name is a matter by itself and nothing else
    /// counts; none of other places.
    pub(crate) fn next_members(&mut self, at: State) -> Result<Option<NextMembers>, AutomatonError> {
        // Where whitespace may come but not in any amount there are many ways to the next name.
        let is_simple = !matches!(self.style.whitespace, Whitespace::Bounded { .. });
        if !is_simple || at.top != Top::ObjectNext || self.keeps(at.stack) {
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
            false => match self.has_next_name(at.stack)? {
                true => NextMembers::Some,
                false => NextMembers::None,
            },
        }))
    }

    /// The place around which the same may come, but that names may come again which have come. After the member of an
    /// object in which there is room for any other name it does not matter which names those are. None of other places.
    pub(super) fn bare_stack(&mut self, at: StackId) -> Result<Option<StackId>, AutomatonError> {
        if let Some(&known) = self.bares.get(&at) {
            return Ok(known);
        }
        let mut bare = None;
        // Where whitespace may come but not in any amount there are many ways to the next name.
        let is_simple = !matches!(self.style.whitespace, Whitespace::Bounded { .. });
        if let Some(frame) = self.frame(at)
            && is_simple
            && self.style.key_order == KeyOrder::Any
            && !self.keeps(at)
            && self.has_room(&frame)?
        {
            let mut frame = (*frame).clone();
            if let Kind::Object { used, .. } = &mut frame.kind {
                *used = KeySetId::EMPTY;
            }
            bare = Some(self.push(frame));
        }
        self.bares.insert(at, bare);
        Ok(bare)
    }

    /// Whether there is room for any name in an object that has not come yet and that it does not speak of.
    pub(super) fn has_room(&mut self, frame: &Frame) -> Result<bool, AutomatonError> {
        match (&frame.kind, &frame.plain) {
            (_, Derived(Some(plain))) => Ok(plain.has_room),
            (Kind::Object { used, .. }, _) if self.key_sets.len(*used) < MOST_LISTED => {
                self.is_roomy(frame.formulas[0])
            }
            _ => Ok(false),
        }
    }

    /// The same of any object of which a formula is left.
    pub(super) fn is_roomy(&mut self, formula: FormulaId) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.roomy.get(&formula) {
            return Ok(known);
        }
        // What was read so far can be completed, so that it is known that the object can end.
        let has_room = match self.plain(formula) {
            Some(plain) => self.plain_room(&plain)? == Some(Room::Any),
            None => false,
        };
        self.roomy.insert(formula, has_room);
        Ok(has_room)
    }
}
