//! Walks the text of a number byte by byte against a set: which bytes can follow, and whether the text may end.
//!
//! # What a beginning can become
//!
//! Sign aside (the two halves of a set are walked alike), let `s` be the digits written so far without leading zeros,
//! point left out, and `j` how many of them follow the point. More digits `w`, `i` of them, and an exponent `x` give
//!
//! - in the integer part `(s·10^i + w)·10^x`, with the point anywhere in `w`: with exponents allowed, because `x` is any
//!   integer, *all numbers with the leading digits `s`*; without, the numbers of `[s·10^i, (s+1)·10^i)` for `i >= 0`;
//! - in the fraction the same with exponents allowed, and `[s·10^-j, (s+1)·10^-j)` without;
//! - after the exponent's sign and digits `y`: `s·10^-j` times a power with one of the exponents that begin with `y`,
//!   leading zeros included.
//!
//! So both styles ask of each exponent `e` which numbers of `[s·10^e, (s+1)·10^e)` are members; the style says which
//! `e` are open. That is a piece ([`half::Piece`]) per exponent, and for all but as many exponents as the cuts of the
//! set have magnitudes, the piece is one rule: a handful of runs. A digit refines a piece only where cuts share the
//! leading digits. So huge and long bounds cost nothing until their digits are written.
//!
//! # Which beginnings are the same
//!
//! States are interned by what decides their future: the runs, counted from the exponent that no further text means,
//! and residues ([`residue`]) of the digits for the steps that still occur. A set without steps needs no residues, and
//! once no cut shares the digits, only the lengths count: a few states in all. With exponents allowed, numbers are not
//! a regular language: how many digits were written matters as soon as there are bounds (`523e-1` is at most 100, where
//! `5234e-1` is not), and where there are steps so do the place of the point and the zeros at the end (`1500e-2` is an
//! integer, `1.500e2`, too). Then a text visits as many states as it has bytes, and no more than that.
//!
//! Whether a beginning is *viable* asks for one member in an interval of a few pieces, and is answered by counting
//! multiples of steps, with the digits of any one text that leads to the state.

mod digits;
mod exponent;
mod half;
mod residue;
mod zeros;

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use super::decimals::DecimalSetId;
use super::lattice::LatticeId;
use super::{NumberSetId, NumberSets};
use crate::decimal::LimitReached;
use digits::{Context, Digits, Phase};
use exponent::{ExponentSet, Magnitudes, Remainder};
use half::{Half, Piece, Run};
use residue::Track;
use zeros::Zeros;

/// Which texts of a number are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberStyle {
    /// Everything that the grammar of RFC 8259 allows, so that a number has infinitely many texts.
    Rfc8259,
    /// No exponent. A fraction is begun only where the set has a number with this sign and integer part that is not an
    /// integer, and a minus only where it has a number below zero; `-0` is not written. Once begun, a fraction may be
    /// any, so that prices may end in `.50` or `.00` and a model that has written `2.0` need not go on. A set of
    /// integers so has integer literals only.
    ///
    /// Every decimal has such a text (the shortest one), so that nothing is lost of any set.
    Plain,
}

/// Which texts begin with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spelling {
    /// Those of [`NumberStyle::Rfc8259`].
    Any,
    /// Those of [`NumberStyle::Plain`].
    Plain,
    /// Literals without fraction and exponent, `-0` among them, of a set of integers.
    Literal,
}

/// Handle of a state: a text so far, with respect to a set. Equal handles have equal futures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NumberState(u32);

/// Which digits may follow in a number, of up to as many as were asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NextDigits {
    /// Not all of these, as far as is easily said.
    Some,
    /// Any but a zero, and behind it any.
    NonZero,
    /// Any.
    Any,
}

/// The arena of number states of one style, and of the sets they refer to.
#[derive(Debug)]
pub(crate) struct NumberTexts {
    style: NumberStyle,
    sets: NumberSets,
    halves: Vec<Arc<Half>>,
    half_ids: HashMap<Arc<Half>, u32>,
    /// The members that are not integers, of each rule that a plain text was started with.
    fractions: HashMap<LatticeId, LatticeId>,
    states: Vec<State>,
    ids: HashMap<Arc<Shape>, u32>,
    /// Successors of each state by class of byte.
    next: Vec<[u32; CLASSES]>,
    starts: HashMap<(DecimalSetId, Spelling), u32>,
}

#[derive(Debug)]
struct State {
    shape: Arc<Shape>,
    track: Option<Arc<Track>>,
    ends: bool,
}

/// What a state is interned by.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Shape {
    /// Of a set that minds how numbers are written, no more than a sign and an integer part: the states of the text as
    /// one without fraction and exponent, and as one with. [`DEAD`] where there is none.
    Either { literal: u32, other: u32 },
    /// Nothing written; the halves above and below zero.
    Start { above: u32, below: u32, spelling: Spelling },
    /// A minus.
    Minus { below: u32, spelling: Spelling },
    /// Zeros only.
    Zeros(Zeros),
    /// Digits, not only zeros.
    Digits(Digits),
    /// The letter of the exponent.
    Exponent(ExponentSet),
    /// Its sign.
    ExponentSign(Magnitudes),
    /// Zeros at its beginning.
    ExponentZeros(Magnitudes),
    /// A digit that is not zero.
    ExponentDigits(Remainder),
}

/// Digits, minus, plus, point, either letter of an exponent.
const CLASSES: usize = 14;
const MINUS: usize = 10;
const PLUS: usize = 11;
const POINT: usize = 12;
const LETTER: usize = 13;

/// No such successor.
const DEAD: u32 = u32::MAX;
/// Not worked out yet.
const UNKNOWN: u32 = u32::MAX - 1;

fn class(byte: u8) -> Option<usize> {
    match byte {
        b'0'..=b'9' => Some(usize::from(byte - b'0')),
        b'-' => Some(MINUS),
        b'+' => Some(PLUS),
        b'.' => Some(POINT),
        b'e' | b'E' => Some(LETTER),
        _ => None,
    }
}

impl NumberTexts {
    /// An arena without states.
    pub(crate) fn new(style: NumberStyle, sets: NumberSets) -> Self {
        Self {
            style,
            sets,
            halves: Vec::new(),
            half_ids: HashMap::new(),
            fractions: HashMap::new(),
            states: Vec::new(),
            ids: HashMap::new(),
            next: Vec::new(),
            starts: HashMap::new(),
        }
    }

    /// The style of the texts.
    #[cfg(test)]
    pub(crate) fn style(&self) -> NumberStyle {
        self.style
    }

    /// The sets that texts are walked against.
    pub(crate) fn sets(&self) -> &NumberSets {
        &self.sets
    }

    /// The sets, to make more of them.
    pub(crate) fn sets_mut(&mut self) -> &mut NumberSets {
        &mut self.sets
    }

    /// How many states there are so far, for whoever bounds memory.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The state before the first byte of a number of `set`. It is there for the empty set, too, and leads nowhere.
    ///
    /// # Errors
    ///
    /// Where the steps of the set are too long to be told from integers. Walking on never fails.
    pub(crate) fn start(&mut self, set: NumberSetId) -> Result<NumberState, LimitReached> {
        let (spelling, literal) = match self.style {
            NumberStyle::Rfc8259 => (Spelling::Any, Spelling::Literal),
            NumberStyle::Plain => (Spelling::Plain, Spelling::Plain),
        };
        let other = self.start_of(set.others, spelling)?;
        if !set.minds_spelling() {
            return Ok(NumberState(other));
        }
        let decimals = &mut self.sets.decimals;
        let integers = decimals.integers();
        let literals = decimals.and(set.literals, integers)?;
        let literal = self.start_of(literals, literal)?;
        Ok(NumberState(self.intern(Shape::Either { literal, other }, None)))
    }

    fn start_of(&mut self, set: DecimalSetId, spelling: Spelling) -> Result<u32, LimitReached> {
        if let Some(&known) = self.starts.get(&(set, spelling)) {
            return Ok(known);
        }
        let pieces = Arc::clone(self.sets.decimals.get(set));
        let lattices = &mut self.sets.decimals.lattices;
        if spelling != Spelling::Any {
            for &rule in &pieces.pieces {
                let fractional = lattices.without_integers(rule)?;
                self.fractions.insert(rule, fractional);
            }
        }
        let (above, below) = (Half::of(&pieces, lattices, false), Half::of(&pieces, lattices, true));
        let (above, below) = (self.half(above), self.half(below));
        let state = self.intern(Shape::Start { above, below, spelling }, None);
        self.starts.insert((set, spelling), state);
        Ok(state)
    }

    /// The state after one more byte; `None` where no text that begins so denotes a member.
    pub(crate) fn step(&mut self, state: NumberState, byte: u8) -> Option<NumberState> {
        let next = self.after(state.0, class(byte)?);
        (next != DEAD).then_some(NumberState(next))
    }

    fn after(&mut self, state: u32, class: usize) -> u32 {
        match self.next[state as usize][class] {
            UNKNOWN => self.work_out(state, class),
            known => known,
        }
    }

    /// Which digits may follow, if they are at most `longest`: there are members that begin with whatever was written where
    /// they have no largest magnitude, or where one rule with members holds for numbers of so many digits more and the
    /// stretch of those is as wide as the rule's period. Exponents make a number as small as there are rules for.
    pub(crate) fn next_digits(&self, state: NumberState, longest: u32) -> NextDigits {
        self.next_of(state.0, longest)
    }

    fn next_of(&self, state: u32, longest: u32) -> NextDigits {
        let root = |half: u32| &self.halves[half as usize].root[..];
        let (runs, spelling, digits, next) = match &*self.states[state as usize].shape {
            // Neither is of two kinds itself: this calls itself once.
            &Shape::Either { literal, other } => {
                let known = [literal, other].into_iter().filter(|state| *state != DEAD);
                let next = known.map(|state| self.next_of(state, longest)).max();
                return next.unwrap_or(NextDigits::Some);
            }
            &Shape::Start { above, spelling, .. } => (root(above), spelling, Some(longest), NextDigits::NonZero),
            &Shape::Minus { below, spelling } => (root(below), spelling, Some(longest), NextDigits::NonZero),
            Shape::Digits(digits) if digits.phase == Phase::Integer => {
                (&digits.runs[..], digits.spelling, Some(longest), NextDigits::Any)
            }
            Shape::Digits(digits) if digits.spelling == Spelling::Any => {
                (&digits.runs[..], digits.spelling, None, NextDigits::Any)
            }
            Shape::Zeros(zeros) if zeros.phase != Phase::Integer && self.halves[zeros.half as usize].is_all() => {
                return NextDigits::Any;
            }
            _ => return NextDigits::Some,
        };
        let lattices = &self.sets.decimals.lattices;
        let is_open = |run: &Run| match run.piece {
            Piece::Pure(rule) => match (lattices.get(rule), digits) {
                (lattice, Some(digits)) if !lattice.is_none() => {
                    let width = run.last.saturating_sub(digits.into());
                    width >= digits::lowest(spelling) && lattice.meets_all(width)
                }
                // Digits of a fraction do not make a number longer, but leave it less width.
                (lattice, _) => lattice.generic,
            },
            _ => false,
        };
        match runs.last().is_some_and(Run::is_endless) || runs.iter().any(is_open) {
            true => next,
            false => NextDigits::Some,
        }
    }

    /// Whether the text so far is a number of the set.
    pub(crate) fn can_end(&self, state: NumberState) -> bool {
        self.states[state.0 as usize].ends
    }

    fn work_out(&mut self, state: u32, class: usize) -> u32 {
        let State { shape, track, .. } = &self.states[state as usize];
        let (shape, track) = (Arc::clone(shape), track.clone());
        let next = match *shape {
            Shape::Either { literal, other } => self.after_either(literal, other, class),
            _ => match self.successor(&shape, track.as_deref(), class) {
                Some((shape, track)) => self.intern(shape, track),
                None => DEAD,
            },
        };
        let alike = self.alike(&shape);
        match alike.contains(&class) {
            true => self.next[state as usize][alike].fill(next),
            false => self.next[state as usize][class] = next,
        }
        next
    }

    /// The digits that all lead the same way because the set tells no number from another.
    fn alike(&self, shape: &Shape) -> Range<usize> {
        match shape {
            Shape::Start { above: half, .. } | Shape::Minus { below: half, .. } | Shape::Zeros(Zeros { half, .. }) => {
                match self.halves[*half as usize].is_constant() {
                    true => 1..10,
                    false => 0..0,
                }
            }
            Shape::Digits(digits) if digits.runs.iter().all(Run::is_constant) => 0..10,
            _ => 0..0,
        }
    }

    /// After a text that may still become a literal without fraction and exponent or one with.
    fn after_either(&mut self, literal: u32, other: u32, class: usize) -> u32 {
        let ends = |texts: &Self, state: u32| state != DEAD && texts.states[state as usize].ends;
        let next = |texts: &mut Self, state: u32| match state {
            DEAD => DEAD,
            state => texts.after(state, class),
        };
        let after_other = next(self, other);
        match class {
            // An integer that is a member only with a fraction keeps a text in the plain style, too.
            POINT if after_other == DEAD && ends(self, other) && !ends(self, literal) => {
                let State { shape, track, .. } = &self.states[other as usize];
                let (shape, track) = (Arc::clone(shape), track.clone());
                match self.point(&shape, track.as_deref()) {
                    Some((shape, track)) => self.intern(shape, track),
                    None => DEAD,
                }
            }
            POINT | LETTER => after_other,
            _ => match next(self, literal) {
                DEAD if after_other == DEAD => DEAD,
                literal => {
                    let other = after_other;
                    self.intern(Shape::Either { literal, other }, None)
                }
            },
        }
    }

    fn successor(&mut self, shape: &Shape, track: Option<&Track>, class: usize) -> Option<(Shape, Option<Track>)> {
        let digit = u8::try_from(class).ok().filter(|&digit| digit < 10);
        match (shape, digit) {
            (&Shape::Start { above, spelling, .. }, Some(digit)) => self.first_digit(above, spelling, digit, false),
            (&Shape::Start { below, spelling, .. }, None) if class == MINUS => {
                let half = &self.halves[below as usize];
                let zero = half.zero && spelling != Spelling::Plain;
                let viable = zero || self.context(Some(below), spelling).half_meets(None, false);
                viable.then_some((Shape::Minus { below, spelling }, None))
            }
            (&Shape::Minus { below, spelling }, Some(digit)) => self.first_digit(below, spelling, digit, true),
            (_, None) if class == POINT => self.point_if_it_may(shape, track),
            (Shape::Zeros(zeros), _) => self.after_zeros(zeros, class),
            (Shape::Digits(digits), Some(digit)) => self.more_digits(digits, track, digit),
            (Shape::Digits(digits), None) if class == LETTER => self.letter(digits, track),
            (Shape::Exponent(set), _) => {
                let magnitudes = set.magnitudes(class == MINUS);
                match digit {
                    Some(digit) => exponent_digit(&magnitudes, digit),
                    None if matches!(class, MINUS | PLUS) && !magnitudes.is_empty() => {
                        Some((Shape::ExponentSign(magnitudes), None))
                    }
                    None => None,
                }
            }
            (Shape::ExponentSign(set) | Shape::ExponentZeros(set), Some(digit)) => exponent_digit(set, digit),
            (Shape::ExponentDigits(rest), Some(digit)) => remainder(rest.after(digit)),
            _ => None,
        }
    }

    fn more_digits(&mut self, digits: &Digits, track: Option<&Track>, digit: u8) -> Option<(Shape, Option<Track>)> {
        let phase = if digits.phase == Phase::Integer {
            Phase::Integer
        } else {
            Phase::Fraction
        };
        let track = track.map(|track| track.push(digit, phase == Phase::Fraction));
        let mut context = self.context(digits.half, digits.spelling);
        let runs = context.slice(&digits.runs, digit, phase);
        let (next, track) = context.state(phase, runs, track)?;
        Some((Shape::Digits(next), track))
    }

    /// After the letter of an exponent.
    fn letter(&mut self, digits: &Digits, track: Option<&Track>) -> Option<(Shape, Option<Track>)> {
        if digits.spelling != Spelling::Any || digits.phase == Phase::Point {
            return None;
        }
        let exponents = self.context(digits.half, Spelling::Any).exponents(&digits.runs, track);
        (!exponents.is_empty()).then_some((Shape::Exponent(exponents), None))
    }

    /// After the point of a text that may have a fraction.
    fn point_if_it_may(&mut self, shape: &Shape, track: Option<&Track>) -> Option<(Shape, Option<Track>)> {
        let may = match shape {
            Shape::Zeros(zeros) => zeros.spelling == Spelling::Any || self.below_one(zeros.half, zeros.spelling),
            Shape::Digits(digits) if digits.spelling == Spelling::Any => true,
            Shape::Digits(digits) => {
                let context = self.context(digits.half, digits.spelling);
                context.takes_fraction(&digits.runs, track)
            }
            _ => false,
        };
        may.then(|| self.point(shape, track)).flatten()
    }

    /// After the point.
    fn point(&mut self, shape: &Shape, track: Option<&Track>) -> Option<(Shape, Option<Track>)> {
        match shape {
            Shape::Zeros(zeros) => self.point_of_zeros(zeros),
            Shape::Digits(digits) if digits.phase == Phase::Integer => {
                let runs = match digits.spelling {
                    Spelling::Any => digits.runs.clone(),
                    Spelling::Plain | Spelling::Literal => vec![Run {
                        last: 0,
                        piece: digits::piece_at(&digits.runs, 0),
                    }],
                };
                let mut context = self.context(digits.half, digits.spelling);
                let (next, track) = context.state(Phase::Point, runs, track.cloned())?;
                Some((Shape::Digits(next), track))
            }
            _ => None,
        }
    }

    fn context(&mut self, half: Option<u32>, spelling: Spelling) -> Context<'_> {
        Context {
            spelling,
            lattices: &mut self.sets.decimals.lattices,
            half: half.map(|half| (half, Arc::clone(&self.halves[half as usize]))),
            fractions: &self.fractions,
        }
    }

    fn half(&mut self, half: Half) -> u32 {
        let half = Arc::new(half);
        if let Some(&id) = self.half_ids.get(&half) {
            return id;
        }
        let id = self.halves.len() as u32;
        self.halves.push(Arc::clone(&half));
        self.half_ids.insert(half, id);
        id
    }

    fn intern(&mut self, shape: Shape, track: Option<Track>) -> u32 {
        let shape = Arc::new(shape);
        if let Some(&id) = self.ids.get(&shape) {
            return id;
        }
        let ends = match &*shape {
            Shape::Zeros(zeros) => zeros.ends && zeros.phase != Phase::Point,
            Shape::Digits(digits) => {
                let context = self.context(digits.half, digits.spelling);
                digits.phase != Phase::Point && context.is_member(&digits.runs, track.as_ref())
            }
            Shape::Either { literal: DEAD, .. } => false,
            Shape::Either { literal, .. } => self.states[*literal as usize].ends,
            Shape::ExponentZeros(set) => set.has_zero(),
            Shape::ExponentDigits(rest) => rest.ends(),
            Shape::Start { .. } | Shape::Minus { .. } | Shape::Exponent(_) | Shape::ExponentSign(_) => false,
        };
        let id = self.states.len() as u32;
        self.states.push(State {
            shape: Arc::clone(&shape),
            track: track.map(Arc::new),
            ends,
        });
        self.next.push([UNKNOWN; CLASSES]);
        self.ids.insert(shape, id);
        id
    }
}

fn exponent_digit(set: &Magnitudes, digit: u8) -> Option<(Shape, Option<Track>)> {
    match digit {
        0 if set.is_empty() => None,
        0 => Some((Shape::ExponentZeros(set.clone()), None)),
        digit => remainder(set.after(digit)),
    }
}

fn remainder(rest: Remainder) -> Option<(Shape, Option<Track>)> {
    (!rest.is_empty()).then_some((Shape::ExponentDigits(rest), None))
}
