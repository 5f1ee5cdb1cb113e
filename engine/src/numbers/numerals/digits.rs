//! Transitions between the first significant digit of a numeral and its exponent.

use std::sync::Arc;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::exponent::ExponentSet;
use super::prefix::{
    DigitCount, NumeralGrammar, NumeralPart, NumeralPrefix, PlainForm, Precision, SignificantDigits, Successor,
};
use super::residue::{self, WrittenDigits};
use crate::decimal::Decimal;
use crate::numbers::divisor::Divisor;
use crate::numbers::half_line::{EMPTY, ENDLESS, ExponentRun, HalfLine, Residual, residual_at};
use crate::numbers::periodic::{PeriodicSetId, PeriodicSets};
use crate::style::NumberStyle;

/// A half-line of a set, and the context in which it is asked about a numeral's beginning.
pub(super) struct NumeralContext<'a> {
    pub(super) grammar: NumeralGrammar,
    pub(super) periodic_sets: &'a mut PeriodicSets,
    pub(super) half_line: Option<(u32, Arc<HalfLine>)>,
    /// The members that are not integers, of each rule of a set.
    pub(super) fractions: &'a HashMap<PeriodicSetId, PeriodicSetId>,
    /// The rule of numbers of any digits up to so many places, where there is such a bound.
    pub(super) grid: Option<(PeriodicSetId, u32)>,
}

impl NumeralContext<'_> {
    /// Returns the successor by one more digit, with which `written` ends. A digit of the integer part moves all runs down by one
    /// exponent.
    pub(super) fn after_digit(
        &mut self,
        runs: &[ExponentRun],
        digit: u8,
        part: NumeralPart,
        written: Option<WrittenDigits>,
        count: DigitCount,
    ) -> Successor {
        let half_line = self.half_line.as_ref().map(|(_, half_line)| &**half_line);
        let down = i64::from(part == NumeralPart::Integer);
        let moved = runs.iter().map(|run| ExponentRun {
            last: if run.last == ENDLESS { ENDLESS } else { run.last - down },
            residual: HalfLine::after_digit(half_line, self.periodic_sets, run.residual, digit),
        });
        let moved = moved.filter(|run| run.last >= self.grammar.lowest_exponent()).collect();
        self.prefix(part, moved, written, count)
    }

    /// The canonical form of a beginning, with the written digits as far as they matter; `None` where no numeral that
    /// begins so is a member.
    pub(super) fn prefix(
        &mut self,
        part: NumeralPart,
        mut runs: Vec<ExponentRun>,
        written: Option<WrittenDigits>,
        count: DigitCount,
    ) -> Successor {
        if let (Some(free), [run]) = (self.free(part, count), &runs[..])
            && self.is_grid(run.residual)
        {
            return Some((free, None));
        }
        let mut low = self.grammar.lowest_exponent();
        for run in &mut runs {
            run.residual = self.settle(part, run.residual, written.as_ref(), low, run.last);
            low = run.last.saturating_add(1);
        }
        let has_breakpoints = |run: &ExponentRun| matches!(run.residual, Residual::Breakpoints { .. });
        runs.dedup_by(|run, before| {
            let is_same = before.residual == run.residual && !has_breakpoints(run);
            if is_same {
                before.last = run.last;
            }
            is_same
        });
        if runs.iter().all(|run| run.residual == EMPTY) {
            return None;
        }
        match runs[..] {
            [ExponentRun { residual, .. }] if self.grammar.is_plain() && part != NumeralPart::Integer => {
                match (self.free(part, count), residual) {
                    (Some(free), residual) if self.is_grid(residual) => return Some((free, None)),
                    (_, Residual::OnlyZeros(true)) => return Some((ending_zeros(part, count.places), None)),
                    _ => {}
                }
            }
            _ => {}
        }
        let live = self.live_divisors(&runs);
        let written = written.filter(|_| !live.is_empty());
        let residues = match (&written, self.grammar, part) {
            (None, ..) => Vec::new(),
            (Some(written), NumeralGrammar::Any { .. }, _) => residue::any_exponent(written, &live),
            (Some(written), _, NumeralPart::Integer) => residue::integer_part(written, &live),
            (Some(written), ..) => residue::fraction(written, &live),
        };
        let half_line = self.half_line.as_ref().map(|(index, _)| *index);
        let digits = SignificantDigits {
            grammar: self.grammar,
            part,
            half_line: half_line.filter(|_| runs.iter().any(has_breakpoints)),
            count: self.count_that_matters(&runs, count),
            runs,
            residues,
        };
        Some((NumeralPrefix::Digits(digits), written))
    }

    /// The state behind the point, or behind a place of the fraction, where all numbers up to the last place are members; `None`
    /// behind the last place, and where none is the last.
    fn free(&self, part: NumeralPart, count: DigitCount) -> Option<NumeralPrefix> {
        let (NumeralGrammar::Plain(PlainForm { precision, .. }), Some((_, places))) = (self.grammar, self.grid) else {
            return None;
        };
        if part == NumeralPart::Integer {
            return None;
        }
        let most = match precision {
            Precision::Usual => NumberStyle::SIGNIFICANT_DIGITS.saturating_sub(count.significant),
            Precision::Full => u32::MAX,
        };
        let left = places.checked_sub(count.places)?.min(most);
        let after_point = part == NumeralPart::Point;
        Some(match left {
            0 if after_point => ending_zeros(part, 0),
            left => NumeralPrefix::Free { after_point, left },
        })
    }

    /// Whether all numbers up to the last place are members.
    fn is_grid(&self, residual: Residual) -> bool {
        self.grid.is_some_and(|(grid, _)| residual == Residual::Rule(grid))
    }

    /// The number of digits, as far as it makes a difference.
    fn count_that_matters(&self, runs: &[ExponentRun], count: DigitCount) -> DigitCount {
        let NumeralGrammar::Plain(PlainForm { precision, .. }) = self.grammar else {
            let significant = if self.grammar.is_brief() {
                count.significant.min(NumberStyle::SIGNIFICANT_DIGITS)
            } else {
                0
            };
            return DigitCount { significant, places: 0 };
        };
        let half_line = self.half_line.as_ref().map(|(_, half_line)| &**half_line);
        let mut rules = runs.iter().flat_map(|run| HalfLine::rules_of(half_line, &run.residual));
        let may_be_free = precision == Precision::Usual && rules.any(|rule| self.is_grid(Residual::Rule(*rule)));
        DigitCount {
            significant: if may_be_free { count.significant } else { 0 },
            places: if runs.iter().all(ExponentRun::is_constant) {
                0
            } else {
                count.places
            },
        }
    }

    /// A residual that means the same for the exponents from `low` to `last`: the empty rule where it has no member.
    fn settle(
        &mut self,
        part: NumeralPart,
        residual: Residual,
        written: Option<&WrittenDigits>,
        low: i64,
        last: i64,
    ) -> Residual {
        let (residual, meets) = match (residual, written) {
            (Residual::Rule(rule), _) if PeriodicSets::is_constant(rule) => return residual,
            (Residual::OnlyZeros(_), _) | (Residual::Rule(_), None) => return residual,
            (Residual::Rule(rule), Some(written)) if !self.grammar.has_exponents() && part != NumeralPart::Integer => {
                match self.rule_in_fraction(rule, written) {
                    Residual::Rule(rule) => (Residual::Rule(rule), self.run_meets(rule, written, 0, 0)),
                    settled => return settled,
                }
            }
            (Residual::Rule(rule), Some(written)) => (residual, self.run_meets(rule, written, low, last)),
            (Residual::Breakpoints { low: from, high, .. }, _) => {
                let residual = match written {
                    Some(written)
                        if !self.grammar.has_exponents() && part != NumeralPart::Integer && high - from == 1 =>
                    {
                        self.after_last_digit(residual, written)
                    }
                    _ => residual,
                };
                (residual, self.interval_meets(residual, written, last, false))
            }
        };
        if meets { residual } else { EMPTY }
    }

    /// A rule as it looks between the written number and the next one of its length, in a fraction without exponent:
    /// divisors without multiples there say nothing, and those of which the written number is a multiple on a grid that
    /// is no finer than its digits hold for it alone.
    fn rule_in_fraction(&mut self, rule: PeriodicSetId, written: &WrittenDigits) -> Residual {
        let (start, end) = written.bounds(0);
        let rule = self.periodic_sets.retain(rule, |divisor| {
            divisor.divides(&start) || divisor.multiple_between(&start, &end)
        });
        let set = Arc::clone(self.periodic_sets.get(rule));
        if set.terms.iter().any(|(divisor, _)| !written.is_settled(divisor)) {
            return Residual::Rule(rule);
        }
        match set.value(|_| true) {
            at if at == set.generic => Residual::Rule(PeriodicSets::constant(at)),
            at => Residual::OnlyZeros(at),
        }
    }

    /// A single breakpoint as it looks in a fraction without exponent once all of its digits were written: simpler,
    /// where the rule above it says nothing any more.
    fn after_last_digit(&mut self, residual: Residual, written: &WrittenDigits) -> Residual {
        let (Residual::Breakpoints { low, high, depth }, Some((_, half_line))) = (residual, &self.half_line) else {
            return residual;
        };
        let (breakpoint, above) = (&half_line.breakpoints[low as usize], half_line.rules[high as usize]);
        if !breakpoint.ends_by(depth) {
            return residual;
        }
        let (start, end) = written.bounds(0);
        let above = self
            .periodic_sets
            .retain(above, |divisor| divisor.multiple_between(&start, &end));
        match PeriodicSets::is_constant(above) {
            true if self.periodic_sets.get(above).generic == breakpoint.member => Residual::Rule(above),
            true => Residual::OnlyZeros(breakpoint.member),
            false => residual,
        }
    }

    /// Whether a rule that is not constant has a member at some exponent from `low` to `high`.
    fn run_meets(&self, rule: PeriodicSetId, written: &WrittenDigits, low: i64, high: i64) -> bool {
        let set = self.periodic_sets.get(rule);
        if high == ENDLESS || set.generic || set.is_none() {
            return !set.is_none();
        }
        if let Some(power) = set.exponent_of_ten() {
            return written.has_multiple(power, high);
        }
        // From wide intervals, which surely have members, down to those below every multiple: few in between.
        let least = set.base.value();
        let mut exponent = high;
        loop {
            let (start, end) = written.bounds(exponent);
            if self.periodic_sets.contains(rule, &start) || set.meets(Some(&start), Some(&end)) {
                return true;
            }
            if end <= least || exponent <= low {
                return false;
            }
            exponent -= 1;
        }
    }

    /// Whether there is a member with so many more digits of the integer part.
    pub(super) fn meets_after(&self, runs: &[ExponentRun], written: Option<&WrittenDigits>, digits: i64) -> bool {
        match (residual_at(runs, digits), written) {
            (Residual::Rule(rule), Some(written)) => self.run_meets(rule, written, digits, digits),
            (residual, written) => self.interval_meets(residual, written, digits, false),
        }
    }

    /// Whether a residual has a member at an exponent; only members with a fraction count where that is asked.
    fn interval_meets(
        &self,
        residual: Residual,
        written: Option<&WrittenDigits>,
        exponent: i64,
        fractional: bool,
    ) -> bool {
        let (Residual::Breakpoints { low, high, depth }, Some((_, half_line))) = (residual, &self.half_line) else {
            return !matches!(residual, Residual::Rule(rule) if rule == PeriodicSets::NONE);
        };
        let breakpoints = &half_line.breakpoints[low as usize..high as usize];
        if breakpoints
            .iter()
            .any(|breakpoint| breakpoint.member && !(fractional && breakpoint.at.is_integer()))
        {
            return true;
        }
        let bounds = written.map(|written| written.bounds(exponent));
        half_line.rules[low as usize..=high as usize]
            .iter()
            .enumerate()
            .any(|(index, &rule)| {
                let rule = if fractional { self.fractional(rule) } else { rule };
                let from_start = index == 0;
                if rule == PeriodicSets::NONE || from_start && breakpoints[0].ends_by(depth) {
                    return false;
                }
                let (Some((start, end)), false) = (&bounds, self.periodic_sets.get(rule).generic) else {
                    // Such members are dense, and the interval is not empty.
                    return self.periodic_sets.get(rule).generic;
                };
                let below = index.checked_sub(1).map_or(start, |before| &breakpoints[before].at);
                let above = breakpoints.get(index).map_or(end, |breakpoint| &breakpoint.at);
                from_start && self.periodic_sets.contains(rule, start)
                    || self.periodic_sets.get(rule).meets(Some(below), Some(above))
            })
    }

    /// The members of a rule that are not integers.
    fn fractional(&self, rule: PeriodicSetId) -> PeriodicSetId {
        self.fractions.get(&rule).copied().unwrap_or(PeriodicSets::NONE)
    }

    /// Whether the set has a member with the integer part written so far that is not an integer.
    pub(super) fn takes_fraction(&self, runs: &[ExponentRun], written: Option<&WrittenDigits>) -> bool {
        match (residual_at(runs, 0), written) {
            (Residual::OnlyZeros(at), _) => !at,
            (residual @ Residual::Breakpoints { .. }, _) => self.interval_meets(residual, written, 0, true),
            (Residual::Rule(rule), None) => rule != PeriodicSets::NONE,
            (Residual::Rule(rule), Some(written)) => {
                let (start, end) = written.bounds(0);
                self.periodic_sets
                    .get(self.fractional(rule))
                    .meets(Some(&start), Some(&end))
            }
        }
    }

    /// The divisors that runs refer to, in order.
    fn live_divisors(&self, runs: &[ExponentRun]) -> Vec<&Divisor> {
        let half_line = self.half_line.as_ref().map(|(_, half_line)| &**half_line);
        let mut rules = SmallVec::<[PeriodicSetId; 8]>::new();
        for run in runs {
            rules.extend_from_slice(HalfLine::rules_of(half_line, &run.residual));
        }
        rules.sort_unstable();
        rules.dedup();
        let terms = rules
            .into_iter()
            .flat_map(|rule| self.periodic_sets.get(rule).terms.iter());
        let mut live: Vec<&Divisor> = terms.map(|(divisor, _)| divisor).collect();
        live.sort_unstable();
        live.dedup();
        live
    }

    /// Whether the digits written so far, without exponent, are a member.
    pub(super) fn is_member(&self, runs: &[ExponentRun], written: Option<&WrittenDigits>) -> bool {
        let rule = self.rule_at_end(residual_at(runs, 0));
        match (written, self.periodic_sets.get(rule).exponent_of_ten()) {
            _ if PeriodicSets::is_constant(rule) => rule == PeriodicSets::ALL,
            (None, _) => false,
            (Some(written), Some(power)) => written.has_multiple(power, 0),
            (Some(written), None) => self.periodic_sets.contains(rule, &written.bounds(0).0),
        }
    }

    /// The exponents with which the digits written so far are a member.
    pub(super) fn exponents(&self, runs: &[ExponentRun], written: Option<&WrittenDigits>) -> ExponentSet {
        let (mut exponents, mut low) = (ExponentSet::default(), i64::MIN);
        for run in runs {
            match (self.rule_at_end(run.residual), written) {
                (PeriodicSets::ALL, _) => exponents.push(low, run.last),
                (PeriodicSets::NONE, _) | (_, None) => {}
                (rule, Some(written)) => written.exponents(self.periodic_sets.get(rule), low, run.last, &mut exponents),
            }
            low = run.last.saturating_add(1);
        }
        exponents
    }

    /// The rule that decides whether the written digits themselves are a member: where that is known, all numbers or
    /// none.
    fn rule_at_end(&self, residual: Residual) -> PeriodicSetId {
        match (residual, &self.half_line) {
            (Residual::OnlyZeros(at), _) => PeriodicSets::constant(at),
            (Residual::Rule(rule), _) => rule,
            (Residual::Breakpoints { .. }, None) => PeriodicSets::NONE,
            (Residual::Breakpoints { low, depth, .. }, Some((_, half_line))) => {
                match &half_line.breakpoints[low as usize] {
                    breakpoint if breakpoint.ends_by(depth) => PeriodicSets::constant(breakpoint.member),
                    _ => half_line.rules[low as usize],
                }
            }
        }
    }

    /// Whether the half-line has a member above zero and below `high`; one that is not an integer where that is asked.
    pub(super) fn half_line_meets(&self, high: Option<&Decimal>, fractional: bool) -> bool {
        let Some((_, half_line)) = &self.half_line else {
            return false;
        };
        let zero = Decimal::zero();
        let mut below = &zero;
        for (index, &rule) in half_line.rules.iter().enumerate() {
            let breakpoint = half_line.breakpoints.get(index);
            let breakpoint = breakpoint.filter(|breakpoint| high.is_none_or(|high| breakpoint.at < *high));
            let end = breakpoint.map(|breakpoint| &breakpoint.at).or(high);
            let rule = if fractional { self.fractional(rule) } else { rule };
            if self.periodic_sets.get(rule).meets(Some(below), end)
                || breakpoint.is_some_and(|breakpoint| breakpoint.member && !(fractional && breakpoint.at.is_integer()))
            {
                return true;
            }
            match breakpoint {
                Some(breakpoint) => below = &breakpoint.at,
                None => return false,
            }
        }
        false
    }
}

/// The state behind the point of a member that is an integer, or behind a fraction of so many places that makes the number a member.
pub(super) fn ending_zeros(part: NumeralPart, places: u32) -> NumeralPrefix {
    NumeralPrefix::EndingZeros {
        after_point: part == NumeralPart::Point,
        left: NumberStyle::ENDING_ZEROS.saturating_sub(places),
    }
}
