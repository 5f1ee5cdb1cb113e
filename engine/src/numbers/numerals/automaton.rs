//! [`NumeralAutomaton`]: the arena of interned states, and their transitions by classes of bytes.

use std::fmt::Write as _;
use std::sync::Arc;

use hashbrown::HashMap;

use super::digits::NumeralContext;
use super::prefix::{LeadingZeros, NumeralGrammar, NumeralPart, NumeralPrefix, PlainForm, Precision};
use super::residue::WrittenDigits;
use crate::decimal::{NumberLimitReached, power};
use crate::numbers::decimal_sets::DecimalSetId;
use crate::numbers::half_line::{ExponentRun, HalfLine, Residual, residual_at};
use crate::numbers::number_sets::{NumberSetId, NumberSets};
use crate::numbers::periodic::PeriodicSetId;
use crate::style::NumberStyle;

/// Handle of a state: a numeral's beginning, with respect to a set. Equal handles have equal futures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NumberState(pub(super) u32);

/// The digits that may follow in a number, of up to as many as were asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NextDigits {
    /// Not all of these digits, as far as is easily said.
    Some,
    /// Any but a zero, and behind it any.
    NonZero,
    /// Any.
    Any,
}

/// The automaton over the numerals of one style, and the sets that it reads them against.
#[derive(Debug)]
pub(crate) struct NumeralAutomaton {
    style: NumberStyle,
    sets: NumberSets,
    pub(super) half_lines: Vec<Arc<HalfLine>>,
    half_line_ids: HashMap<Arc<HalfLine>, u32>,
    /// The members that are not integers, of each rule that a plain numeral was begun with.
    fractions: HashMap<PeriodicSetId, PeriodicSetId>,
    pub(super) states: Vec<PrefixState>,
    ids: HashMap<Arc<NumeralPrefix>, u32>,
    /// Successors of each state by class of byte.
    pub(super) next: Vec<[u32; CLASSES]>,
    starts: HashMap<(DecimalSetId, NumeralGrammar), u32>,
    /// Bytes of the digits that states keep.
    written_bytes: usize,
}

/// A state of the automaton.
#[derive(Debug)]
pub(super) struct PrefixState {
    pub(super) prefix: Arc<NumeralPrefix>,
    /// The digits of one of the texts that lead here, where they matter.
    pub(super) written: Option<Arc<WrittenDigits>>,
    /// Whether the text may end here.
    pub(super) ends: bool,
}

/// Bytes that the prefix of a state takes, its digits and its entry in a table included.
const PREFIX_BYTES: usize = 320;

/// Digits behind those written of a number that completes a text.
const MAX_MEMBER_PLACES: u32 = 256;

/// Number of classes of bytes: digits, minus, plus, point, either letter of an exponent.
pub(super) const CLASSES: usize = 14;

/// No such successor.
pub(super) const DEAD: u32 = u32::MAX;
/// The successor was not worked out yet.
pub(super) const UNKNOWN: u32 = u32::MAX - 1;

impl NumeralAutomaton {
    /// An automaton without states.
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
            written_bytes: 0,
        }
    }

    /// The style of the numerals.
    #[cfg(test)]
    pub(crate) fn style(&self) -> NumberStyle {
        self.style
    }

    /// The sets that numerals are read against.
    pub(crate) fn sets(&self) -> &NumberSets {
        &self.sets
    }

    /// The sets, to make more of them.
    pub(crate) fn sets_mut(&mut self) -> &mut NumberSets {
        &mut self.sets
    }

    /// Number of states so far.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Bytes of memory that states and sets take, roughly.
    pub(crate) fn memory(&self) -> usize {
        let state = size_of::<PrefixState>() + size_of::<[u32; CLASSES]>() + PREFIX_BYTES;
        state * self.states.len() + self.written_bytes + self.sets.decimals.memory()
    }

    /// The state before the first byte of a number of `set`; a style with bounded numerals writes it with this precision. The
    /// empty set has such a state, too, and it leads nowhere.
    ///
    /// # Errors
    ///
    /// Where the divisors of the set are too long to be told from integers. Reading on never fails.
    pub(crate) fn start(&mut self, set: NumberSetId, precision: Precision) -> Result<NumberState, NumberLimitReached> {
        let plain = |zero_fractions| {
            NumeralGrammar::Plain(PlainForm {
                zero_fractions,
                precision,
            })
        };
        let (grammar, of_literals) = match self.style {
            NumberStyle::Rfc8259 => (NumeralGrammar::Any { brief: false }, NumeralGrammar::IntegerLiteral),
            NumberStyle::Scientific if set.zero_fractions => {
                let brief = precision == Precision::Usual;
                (NumeralGrammar::Any { brief }, plain(false))
            }
            NumberStyle::Plain | NumberStyle::Scientific => (plain(set.zero_fractions), plain(false)),
        };
        let other = self.start_of(set.others, grammar)?;
        if !set.depends_on_spelling() {
            return Ok(NumberState(other));
        }
        let decimals = &mut self.sets.decimals;
        let integers = decimals.integers();
        let literals = decimals.and(set.literals, integers)?;
        let literal = self.start_of(literals, of_literals)?;
        Ok(NumberState(self.intern(NumeralPrefix::Either { literal, other }, None)))
    }

    fn start_of(&mut self, set: DecimalSetId, grammar: NumeralGrammar) -> Result<u32, NumberLimitReached> {
        if let Some(&known) = self.starts.get(&(set, grammar)) {
            return Ok(known);
        }
        let set_by_intervals = Arc::clone(self.sets.decimals.get(set));
        let periodic_sets = &mut self.sets.decimals.periodic_sets;
        if !grammar.has_exponents() {
            for &rule in &set_by_intervals.rules {
                let fractional = periodic_sets.without_integers(rule)?;
                self.fractions.insert(rule, fractional);
            }
        }
        let [above, below] = [false, true].map(|negative| {
            let half_line = HalfLine::of(&set_by_intervals, &self.sets.decimals.periodic_sets, negative);
            self.half_line(half_line)
        });
        let state = self.intern(NumeralPrefix::Start { above, below, grammar }, None);
        self.starts.insert((set, grammar), state);
        Ok(state)
    }

    /// Returns the digits that may follow, if they are at most `longest`: there are members that begin with whatever was written
    /// where they have no largest magnitude, or where one rule with members holds for numbers of so many digits more and their
    /// interval is as wide as the rule's period. Exponents make a number as small as there are rules for.
    pub(crate) fn next_digits(&self, state: NumberState, longest: u32) -> NextDigits {
        if self.ends_before(state, longest) {
            return NextDigits::Some;
        }
        let root = |half_line: u32| &self.half_lines[half_line as usize].root[..];
        let (runs, grammar, digits, next) = match &*self.states[state.0 as usize].prefix {
            // Neither is of two kinds itself: this calls itself once.
            &NumeralPrefix::Either { literal, other } => {
                let known = [literal, other].into_iter().filter(|state| *state != DEAD);
                let next = known.map(|state| self.next_digits(NumberState(state), longest)).max();
                return next.unwrap_or(NextDigits::Some);
            }
            &NumeralPrefix::Start { above, grammar, .. } => (root(above), grammar, Some(longest), NextDigits::NonZero),
            &NumeralPrefix::Minus { below, grammar } => (root(below), grammar, Some(longest), NextDigits::NonZero),
            NumeralPrefix::Digits(digits) if digits.part == NumeralPart::Integer => {
                (&digits.runs[..], digits.grammar, Some(longest), NextDigits::Any)
            }
            NumeralPrefix::Digits(digits) if digits.grammar.has_exponents() => {
                (&digits.runs[..], digits.grammar, None, NextDigits::Any)
            }
            NumeralPrefix::Zeros(zeros) if zeros.part != NumeralPart::Integer => {
                let half_line = &self.half_lines[zeros.half_line as usize];
                return match half_line.is_all() && !zeros.grammar.is_plain() || self.is_free(zeros, longest) {
                    true => NextDigits::Any,
                    false => NextDigits::Some,
                };
            }
            NumeralPrefix::Free { left, .. } if *left >= longest => return NextDigits::Any,
            _ => return NextDigits::Some,
        };
        let is_open = |run: &ExponentRun| match run.residual {
            Residual::Rule(rule) => match (self.sets.decimals.periodic_sets.get(rule), digits) {
                (set, Some(digits)) if !set.is_none() => {
                    let width = run.last.saturating_sub(digits.into());
                    width >= grammar.lowest_exponent() && set.meets_all(width)
                }
                // Digits of a fraction do not make a number longer, but leave it less width.
                (set, _) => set.generic,
            },
            _ => false,
        };
        match runs.last().is_some_and(ExponentRun::is_endless) || runs.iter().any(is_open) {
            true => next,
            false => NextDigits::Some,
        }
    }

    /// Whether a numeral may have all of its digits before so many more.
    fn ends_before(&self, state: NumberState, digits: u32) -> bool {
        match &*self.states[state.0 as usize].prefix {
            NumeralPrefix::Digits(begun) => {
                begun.grammar.is_brief() && begun.count.significant + digits > NumberStyle::SIGNIFICANT_DIGITS
            }
            NumeralPrefix::Zeros(zeros) => zeros.grammar.is_brief(),
            _ => digits > NumberStyle::SIGNIFICANT_DIGITS && self.style == NumberStyle::Scientific,
        }
    }

    /// Whether any digits, up to so many, may follow zeros of a fraction, because all numbers up to the last place are members.
    fn is_free(&self, zeros: &LeadingZeros, longest: u32) -> bool {
        let half_line = &self.half_lines[zeros.half_line as usize];
        let nearest = half_line.breakpoints.first().map(|first| first.at.magnitude());
        self.grid().is_some_and(|(grid, places)| {
            zeros.grammar.is_plain()
                && longest <= NumberStyle::SIGNIFICANT_DIGITS
                && half_line.rules[0] == grid
                && zeros.scale + u64::from(longest) < places.into()
                && nearest.is_none_or(|nearest| nearest > -(zeros.scale as i64))
        })
    }

    /// The rule of numbers of any digits up to so many places, where there is such a bound.
    fn grid(&self) -> Option<(PeriodicSetId, u32)> {
        self.sets
            .writable
            .as_ref()
            .map(|writable| (writable.grid, writable.places))
    }

    /// Whether so many more digits of the integer part may lead to a member: `false` only if they do not.
    pub(crate) fn may_end_after(&mut self, state: NumberState, digits: u32) -> bool {
        let PrefixState { prefix, written, .. } = &self.states[state.0 as usize];
        let (prefix, written) = (Arc::clone(prefix), written.clone());
        match &*prefix {
            // Neither is of two kinds itself: this calls itself once.
            &NumeralPrefix::Either { literal, other } => [literal, other]
                .into_iter()
                .any(|state| state != DEAD && self.may_end_after(NumberState(state), digits)),
            NumeralPrefix::Digits(begun) if begun.part == NumeralPart::Integer => {
                let context = self.context(begun.half_line, begun.grammar);
                context.meets_after(&begun.runs, written.as_deref(), digits.into())
            }
            _ => true,
        }
    }

    /// Returns bytes that complete the text to the next number of one of the rules that its digits may still meet, with an exponent of ten where that is
    /// not zero. Other bounds of the set, and the grammar, are not looked at: the caller has to read the bytes.
    pub(crate) fn next_member(&self, state: NumberState, exponent: u32) -> Option<Vec<u8>> {
        let PrefixState { prefix, written, .. } = &self.states[state.0 as usize];
        let (zero, residual);
        let (part, written, rules) = match &**prefix {
            // Neither is of two kinds itself: this calls itself once.
            &NumeralPrefix::Either { literal, other } => {
                let mut states = [literal, other].into_iter().filter(|state| *state != DEAD);
                return states.find_map(|state| self.next_member(NumberState(state), exponent));
            }
            NumeralPrefix::Digits(begun) => {
                let half_line = begun.half_line.map(|index| &*self.half_lines[index as usize]);
                residual = residual_at(&begun.runs, exponent.into());
                (
                    begun.part,
                    written.as_deref()?,
                    HalfLine::rules_of(half_line, &residual),
                )
            }
            NumeralPrefix::Zeros(zeros) => {
                zero = WrittenDigits::first(0, zeros.scale);
                let half_line = &self.half_lines[zeros.half_line as usize];
                (zeros.part, &zero, &half_line.rules[..])
            }
            _ => return None,
        };
        let (low, high) = written.bounds(exponent.into());
        let sets = &self.sets.decimals.periodic_sets;
        let members = rules.iter().filter_map(|rule| sets.get(*rule).nth_above(&low, 1));
        let member = members.min().filter(|member| *member < high)?;
        // Between two numbers whose last digit is this place, a number has more digits.
        let places = i64::from(exponent).saturating_sub_unsigned(written.scale) - member.exponent();
        let places = u32::try_from(places)
            .ok()
            .filter(|places| *places <= MAX_MEMBER_PLACES)?;
        let digits = member.significand() - &written.digits * power(10, places.into());
        let mut rest = String::new();
        if part == NumeralPart::Integer {
            rest.push('.');
        }
        let _ = write!(rest, "{:0>width$}", digits.to_string(), width = places as usize);
        if exponent > 0 {
            let _ = write!(rest, "e{exponent}");
        }
        Some(rest.into_bytes())
    }

    /// Whether the text so far is a number of the set.
    pub(crate) fn can_end(&self, state: NumberState) -> bool {
        self.states[state.0 as usize].ends
    }

    pub(super) fn context(&mut self, half_line: Option<u32>, grammar: NumeralGrammar) -> NumeralContext<'_> {
        let grid = self.grid();
        NumeralContext {
            grammar,
            grid,
            periodic_sets: &mut self.sets.decimals.periodic_sets,
            half_line: half_line.map(|index| (index, Arc::clone(&self.half_lines[index as usize]))),
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

    /// The state of a beginning.
    pub(super) fn intern(&mut self, prefix: NumeralPrefix, written: Option<WrittenDigits>) -> u32 {
        let prefix = Arc::new(prefix);
        if let Some(&id) = self.ids.get(&prefix) {
            return id;
        }
        let ends = match &*prefix {
            NumeralPrefix::Zeros(zeros) => zeros.ends && zeros.part != NumeralPart::Point,
            NumeralPrefix::Digits(digits) => {
                let context = self.context(digits.half_line, digits.grammar);
                digits.part != NumeralPart::Point && context.is_member(&digits.runs, written.as_ref())
            }
            NumeralPrefix::Either { literal: DEAD, .. } => false,
            NumeralPrefix::Either { literal, .. } => self.states[*literal as usize].ends,
            NumeralPrefix::Free { after_point, .. } | NumeralPrefix::EndingZeros { after_point, .. } => !after_point,
            NumeralPrefix::ExponentZeros(set) => set.has_zero(),
            NumeralPrefix::ExponentDigits(rest) => rest.ends(),
            _ => false,
        };
        let id = self.states.len() as u32;
        self.written_bytes += written.as_ref().map_or(0, |written| written.digits.bits() as usize / 8);
        self.states.push(PrefixState {
            prefix: Arc::clone(&prefix),
            written: written.map(Arc::new),
            ends,
        });
        self.next.push([UNKNOWN; CLASSES]);
        self.ids.insert(prefix, id);
        id
    }
}
