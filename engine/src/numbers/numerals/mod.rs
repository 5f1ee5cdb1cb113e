//! Walks the text of a number byte by byte against a set: which bytes can follow, and whether the text may end.
//!
//! # What a beginning can become
//!
//! Sign aside (the two half_lines of a set are walked alike), let `s` be the digits written so far without leading zeros,
//! point left out, and `j` how many of them follow the point. More digits `w`, `i` of them, and an exponent `x` give
//!
//! - in the integer part `(s·10^i + w)·10^x`, with the point anywhere in `w`: with exponents allowed, because `x` is any
//!   integer, *all numbers with the leading digits `s`*; without, the numbers of `[s·10^i, (s+1)·10^i)` for `i >= 0`;
//! - in the fraction the same with exponents allowed, and `[s·10^-j, (s+1)·10^-j)` without;
//! - after the exponent's sign and digits `y`: `s·10^-j` times a power with one of the exponents that begin with `y`,
//!   leading zeros included.
//!
//! So both styles ask of each exponent `e` which numbers of `[s·10^e, (s+1)·10^e)` are members; the style says which
//! `e` are open. That is a residual ([`half_line::Residual`]) per exponent, and for all but as many exponents as the breakpoints of the
//! set have magnitudes, the residual is one rule: a handful of runs. A digit refines a residual only where breakpoints share the
//! leading digits. So huge and long bounds cost nothing until their digits are written.
//!
//! # Which beginnings are the same
//!
//! States are interned by what decides their future: the runs, counted from the exponent that no further text means,
//! and residues ([`residue`]) of the digits for the steps that still occur. A set without steps needs no residues, and
//! once no breakpoint shares the digits, only the lengths count: a few states in all. With exponents allowed, numbers are not
//! a regular language: how many digits were written matters as soon as there are bounds (`523e-1` is at most 100, where
//! `5234e-1` is not), and where there are steps so do the place of the point and the zeros at the end (`1500e-2` is an
//! integer, `1.500e2`, too). Then a text visits as many states as it has bytes, and no more than that.
//!
//! Whether a beginning is *viable* asks for one member in an interval of a few rules, and is answered by counting
//! multiples of steps, with the digits of any one text that leads to the state.

mod digits;
mod exponent;
mod leading_zeros;
mod residue;

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::decimal::LimitReached;
use crate::numbers::decimal_sets::DecimalSetId;
use crate::numbers::half_line::{ExponentRun, HalfLine, Residual};
use crate::numbers::number_sets::{NumberSetId, NumberSets};
use crate::numbers::periodic::PeriodicSetId;
use digits::{NumeralContext, NumeralPart, SignificantDigits};
use exponent::{ExponentSet, Magnitudes, Remainder};
use leading_zeros::LeadingZeros;
use residue::WrittenDigits;

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
enum NumeralGrammar {
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
pub(crate) struct NumeralAutomaton {
    style: NumberStyle,
    sets: NumberSets,
    half_lines: Vec<Arc<HalfLine>>,
    half_line_ids: HashMap<Arc<HalfLine>, u32>,
    /// The members that are not integers, of each rule that a plain text was started with.
    fractions: HashMap<PeriodicSetId, PeriodicSetId>,
    states: Vec<NumeralState>,
    ids: HashMap<Arc<NumeralPrefix>, u32>,
    /// Successors of each state by class of byte.
    next: Vec<[u32; CLASSES]>,
    starts: HashMap<(DecimalSetId, NumeralGrammar), u32>,
}

#[derive(Debug)]
struct NumeralState {
    prefix: Arc<NumeralPrefix>,
    written: Option<Arc<WrittenDigits>>,
    ends: bool,
}

/// What a state is interned by.
#[derive(Debug, PartialEq, Eq, Hash)]
enum NumeralPrefix {
    /// Of a set that minds how numbers are written, no more than a sign and an integer part: the states of the text as
    /// one without fraction and exponent, and as one with. [`DEAD`] where there is none.
    Either { literal: u32, other: u32 },
    /// Nothing written; the half_lines above and below zero.
    Start {
        above: u32,
        below: u32,
        grammar: NumeralGrammar,
    },
    /// A minus.
    Minus { below: u32, grammar: NumeralGrammar },
    /// LeadingZeros only.
    LeadingZeros(LeadingZeros),
    /// SignificantDigits, not only zeros.
    SignificantDigits(SignificantDigits),
    /// The letter of the exponent.
    Exponent(ExponentSet),
    /// Its sign.
    ExponentSign(Magnitudes),
    /// LeadingZeros at its beginning.
    ExponentZeros(Magnitudes),
    /// A digit that is not zero.
    ExponentDigits(Remainder),
}

/// SignificantDigits, minus, plus, point, either letter of an exponent.
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

impl NumeralAutomaton {
    /// An arena without states.
    pub(crate) fn new(style: NumberStyle, sets: NumberSets) -> Self {
        Self {
            style,
            sets,
            half_lines: Vec::new(),
            half_line_ids: HashMap::new(),
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
        let (grammar, literal) = match self.style {
            NumberStyle::Rfc8259 => (NumeralGrammar::Any, NumeralGrammar::Literal),
            NumberStyle::Plain => (NumeralGrammar::Plain, NumeralGrammar::Plain),
        };
        let other = self.start_of(set.others, grammar)?;
        if !set.depends_on_spelling() {
            return Ok(NumberState(other));
        }
        let decimals = &mut self.sets.decimals;
        let integers = decimals.integers();
        let literals = decimals.and(set.literals, integers)?;
        let literal = self.start_of(literals, literal)?;
        Ok(NumberState(self.intern(NumeralPrefix::Either { literal, other }, None)))
    }

    fn start_of(&mut self, set: DecimalSetId, grammar: NumeralGrammar) -> Result<u32, LimitReached> {
        if let Some(&known) = self.starts.get(&(set, grammar)) {
            return Ok(known);
        }
        let rules = Arc::clone(self.sets.decimals.get(set));
        let periodic_sets = &mut self.sets.decimals.periodic_sets;
        if grammar != NumeralGrammar::Any {
            for &rule in &rules.rules {
                let fractional = periodic_sets.without_integers(rule)?;
                self.fractions.insert(rule, fractional);
            }
        }
        let (above, below) = (
            HalfLine::of(&rules, periodic_sets, false),
            HalfLine::of(&rules, periodic_sets, true),
        );
        let (above, below) = (self.half_line(above), self.half_line(below));
        let state = self.intern(NumeralPrefix::Start { above, below, grammar }, None);
        self.starts.insert((set, grammar), state);
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
        let root = |half_line: u32| &self.half_lines[half_line as usize].root[..];
        let (runs, grammar, digits, next) = match &*self.states[state as usize].prefix {
            // Neither is of two kinds itself: this calls itself once.
            &NumeralPrefix::Either { literal, other } => {
                let known = [literal, other].into_iter().filter(|state| *state != DEAD);
                let next = known.map(|state| self.next_of(state, longest)).max();
                return next.unwrap_or(NextDigits::Some);
            }
            &NumeralPrefix::Start { above, grammar, .. } => (root(above), grammar, Some(longest), NextDigits::NonZero),
            &NumeralPrefix::Minus { below, grammar } => (root(below), grammar, Some(longest), NextDigits::NonZero),
            NumeralPrefix::SignificantDigits(digits) if digits.part == NumeralPart::Integer => {
                (&digits.runs[..], digits.grammar, Some(longest), NextDigits::Any)
            }
            NumeralPrefix::SignificantDigits(digits) if digits.grammar == NumeralGrammar::Any => {
                (&digits.runs[..], digits.grammar, None, NextDigits::Any)
            }
            NumeralPrefix::LeadingZeros(zeros)
                if zeros.part != NumeralPart::Integer && self.half_lines[zeros.half_line as usize].is_all() =>
            {
                return NextDigits::Any;
            }
            _ => return NextDigits::Some,
        };
        let periodic_sets = &self.sets.decimals.periodic_sets;
        let is_open = |run: &ExponentRun| match run.residual {
            Residual::Pure(rule) => match (periodic_sets.get(rule), digits) {
                (periodic, Some(digits)) if !periodic.is_none() => {
                    let width = run.last.saturating_sub(digits.into());
                    width >= digits::lowest(grammar) && periodic.meets_all(width)
                }
                // SignificantDigits of a fraction do not make a number longer, but leave it less width.
                (periodic, _) => periodic.generic,
            },
            _ => false,
        };
        match runs.last().is_some_and(ExponentRun::is_endless) || runs.iter().any(is_open) {
            true => next,
            false => NextDigits::Some,
        }
    }

    /// Whether the text so far is a number of the set.
    pub(crate) fn can_end(&self, state: NumberState) -> bool {
        self.states[state.0 as usize].ends
    }

    fn work_out(&mut self, state: u32, class: usize) -> u32 {
        let NumeralState { prefix, written, .. } = &self.states[state as usize];
        let (prefix, written) = (Arc::clone(prefix), written.clone());
        let next = match *prefix {
            NumeralPrefix::Either { literal, other } => self.after_either(literal, other, class),
            _ => match self.successor(&prefix, written.as_deref(), class) {
                Some((prefix, written)) => self.intern(prefix, written),
                None => DEAD,
            },
        };
        let alike = self.alike(&prefix);
        match alike.contains(&class) {
            true => self.next[state as usize][alike].fill(next),
            false => self.next[state as usize][class] = next,
        }
        next
    }

    /// The digits that all lead the same way because the set tells no number from another.
    fn alike(&self, prefix: &NumeralPrefix) -> Range<usize> {
        match prefix {
            NumeralPrefix::Start { above: half_line, .. }
            | NumeralPrefix::Minus { below: half_line, .. }
            | NumeralPrefix::LeadingZeros(LeadingZeros { half_line, .. }) => {
                match self.half_lines[*half_line as usize].is_constant() {
                    true => 1..10,
                    false => 0..0,
                }
            }
            NumeralPrefix::SignificantDigits(digits) if digits.runs.iter().all(ExponentRun::is_constant) => 0..10,
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
                let NumeralState { prefix, written, .. } = &self.states[other as usize];
                let (prefix, written) = (Arc::clone(prefix), written.clone());
                match self.point(&prefix, written.as_deref()) {
                    Some((prefix, written)) => self.intern(prefix, written),
                    None => DEAD,
                }
            }
            POINT | LETTER => after_other,
            _ => match next(self, literal) {
                DEAD if after_other == DEAD => DEAD,
                literal => {
                    let other = after_other;
                    self.intern(NumeralPrefix::Either { literal, other }, None)
                }
            },
        }
    }

    fn successor(
        &mut self,
        prefix: &NumeralPrefix,
        written: Option<&WrittenDigits>,
        class: usize,
    ) -> Option<(NumeralPrefix, Option<WrittenDigits>)> {
        let digit = u8::try_from(class).ok().filter(|&digit| digit < 10);
        match (prefix, digit) {
            (&NumeralPrefix::Start { above, grammar, .. }, Some(digit)) => {
                self.first_digit(above, grammar, digit, false)
            }
            (&NumeralPrefix::Start { below, grammar, .. }, None) if class == MINUS => {
                let half_line = &self.half_lines[below as usize];
                let zero = half_line.zero && grammar != NumeralGrammar::Plain;
                let viable = zero || self.context(Some(below), grammar).half_meets(None, false);
                viable.then_some((NumeralPrefix::Minus { below, grammar }, None))
            }
            (&NumeralPrefix::Minus { below, grammar }, Some(digit)) => self.first_digit(below, grammar, digit, true),
            (_, None) if class == POINT => self.point_if_it_may(prefix, written),
            (NumeralPrefix::LeadingZeros(zeros), _) => self.after_zeros(zeros, class),
            (NumeralPrefix::SignificantDigits(digits), Some(digit)) => self.more_digits(digits, written, digit),
            (NumeralPrefix::SignificantDigits(digits), None) if class == LETTER => self.letter(digits, written),
            (NumeralPrefix::Exponent(set), _) => {
                let magnitudes = set.magnitudes(class == MINUS);
                match digit {
                    Some(digit) => exponent_digit(&magnitudes, digit),
                    None if matches!(class, MINUS | PLUS) && !magnitudes.is_empty() => {
                        Some((NumeralPrefix::ExponentSign(magnitudes), None))
                    }
                    None => None,
                }
            }
            (NumeralPrefix::ExponentSign(set) | NumeralPrefix::ExponentZeros(set), Some(digit)) => {
                exponent_digit(set, digit)
            }
            (NumeralPrefix::ExponentDigits(rest), Some(digit)) => remainder(rest.after(digit)),
            _ => None,
        }
    }

    fn more_digits(
        &mut self,
        digits: &SignificantDigits,
        written: Option<&WrittenDigits>,
        digit: u8,
    ) -> Option<(NumeralPrefix, Option<WrittenDigits>)> {
        let part = if digits.part == NumeralPart::Integer {
            NumeralPart::Integer
        } else {
            NumeralPart::Fraction
        };
        let written = written.map(|written| written.push(digit, part == NumeralPart::Fraction));
        let mut context = self.context(digits.half_line, digits.grammar);
        let runs = context.slice(&digits.runs, digit, part);
        let (next, written) = context.state(part, runs, written)?;
        Some((NumeralPrefix::SignificantDigits(next), written))
    }

    /// After the letter of an exponent.
    fn letter(
        &mut self,
        digits: &SignificantDigits,
        written: Option<&WrittenDigits>,
    ) -> Option<(NumeralPrefix, Option<WrittenDigits>)> {
        if digits.grammar != NumeralGrammar::Any || digits.part == NumeralPart::Point {
            return None;
        }
        let exponents = self
            .context(digits.half_line, NumeralGrammar::Any)
            .exponents(&digits.runs, written);
        (!exponents.is_empty()).then_some((NumeralPrefix::Exponent(exponents), None))
    }

    /// After the point of a text that may have a fraction.
    fn point_if_it_may(
        &mut self,
        prefix: &NumeralPrefix,
        written: Option<&WrittenDigits>,
    ) -> Option<(NumeralPrefix, Option<WrittenDigits>)> {
        let may = match prefix {
            NumeralPrefix::LeadingZeros(zeros) => {
                zeros.grammar == NumeralGrammar::Any || self.below_one(zeros.half_line, zeros.grammar)
            }
            NumeralPrefix::SignificantDigits(digits) if digits.grammar == NumeralGrammar::Any => true,
            NumeralPrefix::SignificantDigits(digits) => {
                let context = self.context(digits.half_line, digits.grammar);
                context.takes_fraction(&digits.runs, written)
            }
            _ => false,
        };
        may.then(|| self.point(prefix, written)).flatten()
    }

    /// After the point.
    fn point(
        &mut self,
        prefix: &NumeralPrefix,
        written: Option<&WrittenDigits>,
    ) -> Option<(NumeralPrefix, Option<WrittenDigits>)> {
        match prefix {
            NumeralPrefix::LeadingZeros(zeros) => self.point_of_zeros(zeros),
            NumeralPrefix::SignificantDigits(digits) if digits.part == NumeralPart::Integer => {
                let runs = match digits.grammar {
                    NumeralGrammar::Any => digits.runs.clone(),
                    NumeralGrammar::Plain | NumeralGrammar::Literal => vec![ExponentRun {
                        last: 0,
                        residual: digits::residual_at(&digits.runs, 0),
                    }],
                };
                let mut context = self.context(digits.half_line, digits.grammar);
                let (next, written) = context.state(NumeralPart::Point, runs, written.cloned())?;
                Some((NumeralPrefix::SignificantDigits(next), written))
            }
            _ => None,
        }
    }

    fn context(&mut self, half_line: Option<u32>, grammar: NumeralGrammar) -> NumeralContext<'_> {
        NumeralContext {
            grammar,
            periodic_sets: &mut self.sets.decimals.periodic_sets,
            half_line: half_line.map(|half_line| (half_line, Arc::clone(&self.half_lines[half_line as usize]))),
            fractions: &self.fractions,
        }
    }

    fn half_line(&mut self, half_line: HalfLine) -> u32 {
        let half_line = Arc::new(half_line);
        if let Some(&id) = self.half_line_ids.get(&half_line) {
            return id;
        }
        let id = self.half_lines.len() as u32;
        self.half_lines.push(Arc::clone(&half_line));
        self.half_line_ids.insert(half_line, id);
        id
    }

    fn intern(&mut self, prefix: NumeralPrefix, written: Option<WrittenDigits>) -> u32 {
        let prefix = Arc::new(prefix);
        if let Some(&id) = self.ids.get(&prefix) {
            return id;
        }
        let ends = match &*prefix {
            NumeralPrefix::LeadingZeros(zeros) => zeros.ends && zeros.part != NumeralPart::Point,
            NumeralPrefix::SignificantDigits(digits) => {
                let context = self.context(digits.half_line, digits.grammar);
                digits.part != NumeralPart::Point && context.is_member(&digits.runs, written.as_ref())
            }
            NumeralPrefix::Either { literal: DEAD, .. } => false,
            NumeralPrefix::Either { literal, .. } => self.states[*literal as usize].ends,
            NumeralPrefix::ExponentZeros(set) => set.has_zero(),
            NumeralPrefix::ExponentDigits(rest) => rest.ends(),
            NumeralPrefix::Start { .. }
            | NumeralPrefix::Minus { .. }
            | NumeralPrefix::Exponent(_)
            | NumeralPrefix::ExponentSign(_) => false,
        };
        let id = self.states.len() as u32;
        self.states.push(NumeralState {
            prefix: Arc::clone(&prefix),
            written: written.map(Arc::new),
            ends,
        });
        self.next.push([UNKNOWN; CLASSES]);
        self.ids.insert(prefix, id);
        id
    }
}

fn exponent_digit(set: &Magnitudes, digit: u8) -> Option<(NumeralPrefix, Option<WrittenDigits>)> {
    match digit {
        0 if set.is_empty() => None,
        0 => Some((NumeralPrefix::ExponentZeros(set.clone()), None)),
        digit => remainder(set.after(digit)),
    }
}

fn remainder(rest: Remainder) -> Option<(NumeralPrefix, Option<WrittenDigits>)> {
    (!rest.is_empty()).then_some((NumeralPrefix::ExponentDigits(rest), None))
}
