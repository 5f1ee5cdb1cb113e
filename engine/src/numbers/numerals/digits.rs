//! A number text before its exponent, once a digit other than zero was written.

use std::sync::Arc;

use hashbrown::HashMap;
use num_bigint::BigUint;
use smallvec::SmallVec;

use super::NumeralGrammar;
use super::exponent::ExponentSet;
use super::residue::{self, WrittenDigits};
use crate::decimal::Decimal;
use crate::numbers::divisor::Divisor;
use crate::numbers::half_line::{ENDLESS, ExponentRun, HalfLine, Residual};
use crate::numbers::periodic::{PeriodicSetId, PeriodicSets};

/// Where in the grammar a text of digits stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NumeralPart {
    /// In the integer part.
    Integer,
    /// After the point.
    Point,
    /// In the fraction.
    Fraction,
}

/// What decides the future of such a text; texts that agree here have the same future.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SignificantDigits {
    pub(super) grammar: NumeralGrammar,
    pub(super) part: NumeralPart,
    /// Index of the half_line that paths refer to; `None` without paths.
    pub(super) half_line: Option<u32>,
    /// By exponent relative to what was written: at `e` are the numbers `(written digits)(more digits) × 10^e`, with
    /// the point where it is in the written digits. Without exponents `e` is how many digits of the integer part
    /// follow.
    pub(super) runs: Vec<ExponentRun>,
    /// What matters of divisibility.
    pub(super) residues: Vec<BigUint>,
}

/// What the functions here need to know besides the state.
pub(super) struct NumeralContext<'a> {
    pub(super) grammar: NumeralGrammar,
    pub(super) periodic_sets: &'a mut PeriodicSets,
    pub(super) half_line: Option<(u32, Arc<HalfLine>)>,
    /// The members that are not integers, of each rule of a set.
    pub(super) fractions: &'a HashMap<PeriodicSetId, PeriodicSetId>,
}

/// Exponents of runs that are still possible.
pub(super) fn lowest(grammar: NumeralGrammar) -> i64 {
    match grammar {
        NumeralGrammar::Plain | NumeralGrammar::Literal => 0,
        NumeralGrammar::Any => i64::MIN,
    }
}

impl NumeralContext<'_> {
    /// The runs after one more digit. In the integer part the digit moves what is there up by one exponent.
    pub(super) fn slice(&self, runs: &[ExponentRun], digit: u8, part: NumeralPart) -> Vec<ExponentRun> {
        let half_line = self.half_line.as_ref().map(|(_, half_line)| &**half_line);
        let down = i64::from(part == NumeralPart::Integer);
        let moved = runs.iter().map(|run| ExponentRun {
            last: if run.last == ENDLESS { ENDLESS } else { run.last - down },
            residual: HalfLine::slice(half_line, self.periodic_sets, run.residual, digit),
        });
        moved.filter(|run| run.last >= lowest(self.grammar)).collect()
    }

    /// The canonical state, with the written digits as far as they matter; `None` where no completion is a member.
    pub(super) fn state(
        &mut self,
        part: NumeralPart,
        mut runs: Vec<ExponentRun>,
        written: Option<WrittenDigits>,
    ) -> Option<(SignificantDigits, Option<WrittenDigits>)> {
        let mut low = lowest(self.grammar);
        for run in &mut runs {
            run.residual = self.settle(part, run.residual, written.as_ref(), low, run.last);
            low = run.last.saturating_add(1);
        }
        runs.dedup_by(|run, before| {
            let is_same = before.residual == run.residual && !matches!(run.residual, Residual::Path { .. });
            if is_same {
                before.last = run.last;
            }
            is_same
        });
        if runs
            .iter()
            .all(|run| run.residual == Residual::Pure(PeriodicSets::NONE))
        {
            return None;
        }
        let (written, residues) = match (written, self.live_generators(&runs)) {
            (Some(written), live) if !live.is_empty() => {
                let residues = match (self.grammar, part) {
                    (NumeralGrammar::Any, _) => residue::any_exponent(&written, &live),
                    (_, NumeralPart::Integer) => residue::integer_part(&written, &live),
                    (_, NumeralPart::Point | NumeralPart::Fraction) => residue::fraction(&written, &live),
                };
                (Some(written), residues)
            }
            _ => (None, Vec::new()),
        };
        let has_path = runs.iter().any(|run| matches!(run.residual, Residual::Path { .. }));
        let half_line = self.half_line.as_ref().filter(|_| has_path).map(|(index, _)| *index);
        Some((
            SignificantDigits {
                grammar: self.grammar,
                part,
                half_line,
                runs,
                residues,
            },
            written,
        ))
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
            (Residual::Pure(rule), _) if PeriodicSets::is_constant(rule) => return residual,
            (Residual::Spot(_), _) | (Residual::Pure(_), None) => return residual,
            (Residual::Pure(rule), Some(written))
                if self.grammar != NumeralGrammar::Any && part != NumeralPart::Integer =>
            {
                match self.within(rule, written) {
                    Residual::Pure(rule) => (Residual::Pure(rule), self.run_meets(rule, written, 0, 0)),
                    settled => return settled,
                }
            }
            (Residual::Pure(rule), Some(written)) => (residual, self.run_meets(rule, written, low, last)),
            (Residual::Path { low: from, high, .. }, _) => {
                let residual = match written {
                    Some(written)
                        if self.grammar != NumeralGrammar::Any && part != NumeralPart::Integer && high - from == 1 =>
                    {
                        self.end_of_path(residual, written)
                    }
                    _ => residual,
                };
                (residual, self.path_meets(residual, written, last, false))
            }
        };
        if meets {
            residual
        } else {
            Residual::Pure(PeriodicSets::NONE)
        }
    }

    /// In a fraction without exponent, a rule as it looks between the written number and the next one of its length:
    /// steps without multiples there say nothing, and those of which the written number is a multiple on a grid that is
    /// no finer than its digits hold for it alone.
    fn within(&mut self, rule: PeriodicSetId, written: &WrittenDigits) -> Residual {
        let (start, end) = written.bounds(0);
        let rule = self
            .periodic_sets
            .retain(rule, |step| step.divides(&start) || step.multiple_between(&start, &end));
        let periodic = Arc::clone(self.periodic_sets.get(rule));
        if periodic.terms.iter().any(|(step, _)| !written.is_settled(step)) {
            return Residual::Pure(rule);
        }
        match periodic.value(|_| true) {
            at if at == periodic.generic => Residual::Pure(PeriodicSets::constant(at)),
            at => Residual::Spot(at),
        }
    }

    /// The same for a path all of whose digits were written, where the rule above its breakpoint says nothing any more.
    fn end_of_path(&mut self, residual: Residual, written: &WrittenDigits) -> Residual {
        let (Residual::Path { low, high, depth }, Some((_, half_line))) = (residual, &self.half_line) else {
            return residual;
        };
        let (breakpoint, above) = (&half_line.breakpoints[low as usize], half_line.rules[high as usize]);
        if !breakpoint.ends_by(depth) {
            return residual;
        }
        let (start, end) = written.bounds(0);
        let above = self
            .periodic_sets
            .retain(above, |step| step.multiple_between(&start, &end));
        match PeriodicSets::is_constant(above) {
            true if self.periodic_sets.get(above).generic == breakpoint.member => Residual::Pure(above),
            true => Residual::Spot(breakpoint.member),
            false => residual,
        }
    }

    /// Whether a rule that is not constant has a member at some exponent from `low` to `high`.
    fn run_meets(&self, rule: PeriodicSetId, written: &WrittenDigits, low: i64, high: i64) -> bool {
        let periodic = self.periodic_sets.get(rule);
        if high == ENDLESS || periodic.generic || periodic.is_none() {
            return !periodic.is_none();
        }
        if let Some(power) = periodic.power_of_ten() {
            return written.has_multiple(power, high);
        }
        // From wide stretches, which surely have members, down to those below every multiple: few in between.
        let least = periodic.base.value();
        let mut exponent = high;
        loop {
            let (start, end) = written.bounds(exponent);
            if self.periodic_sets.contains(rule, &start) || periodic.meets(Some(&start), Some(&end)) {
                return true;
            }
            if end <= least || exponent <= low {
                return false;
            }
            exponent -= 1;
        }
    }

    /// Whether a path has a member at its exponent; only members with a fraction count where that is asked.
    fn path_meets(&self, residual: Residual, written: Option<&WrittenDigits>, exponent: i64, fractional: bool) -> bool {
        let (Residual::Path { low, high, depth }, Some((_, half_line))) = (residual, &self.half_line) else {
            return !matches!(residual, Residual::Pure(rule) if rule == PeriodicSets::NONE);
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
                    // Such members are dense, and the stretch is not empty.
                    return self.periodic_sets.get(rule).generic;
                };
                let below = index.checked_sub(1).map_or(start, |before| &breakpoints[before].at);
                let above = breakpoints.get(index).map_or(end, |breakpoint| &breakpoint.at);
                from_start && self.periodic_sets.contains(rule, start)
                    || self.periodic_sets.get(rule).meets(Some(below), Some(above))
            })
    }

    fn fractional(&self, rule: PeriodicSetId) -> PeriodicSetId {
        self.fractions.get(&rule).copied().unwrap_or(PeriodicSets::NONE)
    }

    /// Whether the set has a member with the integer part written so far that is not an integer.
    pub(super) fn takes_fraction(&self, runs: &[ExponentRun], written: Option<&WrittenDigits>) -> bool {
        match (residual_at(runs, 0), written) {
            (Residual::Spot(at), _) => !at,
            (residual @ Residual::Path { .. }, _) => self.path_meets(residual, written, 0, true),
            (Residual::Pure(rule), None) => rule != PeriodicSets::NONE,
            (Residual::Pure(rule), Some(written)) => {
                let (start, end) = written.bounds(0);
                self.periodic_sets
                    .get(self.fractional(rule))
                    .meets(Some(&start), Some(&end))
            }
        }
    }

    /// The steps that runs refer to, in order.
    fn live_generators(&self, runs: &[ExponentRun]) -> Vec<&Divisor> {
        let half_line = self.half_line.as_ref().map(|(_, half_line)| &**half_line);
        let mut rules = SmallVec::<[PeriodicSetId; 8]>::new();
        for run in runs {
            rules.extend_from_slice(HalfLine::rules(half_line, &run.residual));
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
        match self.rule_at_end(residual_at(runs, 0)) {
            Ok(member) => member,
            Err(rule) => written.is_some_and(|written| match self.periodic_sets.get(rule).power_of_ten() {
                Some(power) => written.has_multiple(power, 0),
                None => self.periodic_sets.contains(rule, &written.bounds(0).0),
            }),
        }
    }

    /// The exponents with which the digits written so far are a member.
    pub(super) fn exponents(&self, runs: &[ExponentRun], written: Option<&WrittenDigits>) -> ExponentSet {
        let (mut exponents, mut low) = (ExponentSet::default(), i64::MIN);
        for run in runs {
            match (self.rule_at_end(run.residual), written) {
                (Ok(true), _) => exponents.push(low, run.last),
                (Ok(false), _) | (Err(_), None) => {}
                (Err(rule), Some(written)) => {
                    written.exponents(self.periodic_sets.get(rule), low, run.last, &mut exponents)
                }
            }
            low = run.last.saturating_add(1);
        }
        exponents
    }

    /// What decides on the written digits themselves in a residual: known membership, or a rule.
    fn rule_at_end(&self, residual: Residual) -> Result<bool, PeriodicSetId> {
        let rule = match (residual, &self.half_line) {
            (Residual::Spot(at), _) => return Ok(at),
            (Residual::Pure(rule), _) => rule,
            (Residual::Path { .. }, None) => PeriodicSets::NONE,
            (Residual::Path { low, depth, .. }, Some((_, half_line))) => match &half_line.breakpoints[low as usize] {
                breakpoint if breakpoint.ends_by(depth) => return Ok(breakpoint.member),
                _ => half_line.rules[low as usize],
            },
        };
        if PeriodicSets::is_constant(rule) {
            Ok(rule == PeriodicSets::ALL)
        } else {
            Err(rule)
        }
    }

    /// Whether the half_line has a member above zero and below `high`; one that is not an integer where that is asked.
    pub(super) fn half_meets(&self, high: Option<&Decimal>, fractional: bool) -> bool {
        let Some((_, half_line)) = &self.half_line else {
            return false;
        };
        let zero = Decimal::zero();
        let mut below = &zero;
        for (index, &rule) in half_line.rules.iter().enumerate() {
            if high.is_some_and(|high| below >= high) {
                return false;
            }
            let breakpoint = half_line.breakpoints.get(index);
            let inside = breakpoint.filter(|breakpoint| high.is_none_or(|high| breakpoint.at < *high));
            let end = inside.map(|breakpoint| &breakpoint.at).or(high);
            let rule = if fractional { self.fractional(rule) } else { rule };
            if self.periodic_sets.get(rule).meets(Some(below), end)
                || inside.is_some_and(|breakpoint| breakpoint.member && !(fractional && breakpoint.at.is_integer()))
            {
                return true;
            }
            below = inside.map_or(below, |breakpoint| &breakpoint.at);
            if inside.is_none() {
                return false;
            }
        }
        false
    }
}

/// The residual at an exponent.
pub(super) fn residual_at(runs: &[ExponentRun], exponent: i64) -> Residual {
    let index = runs.partition_point(|run| run.last < exponent);
    runs.get(index)
        .map_or(Residual::Pure(PeriodicSets::NONE), |run| run.residual)
}
