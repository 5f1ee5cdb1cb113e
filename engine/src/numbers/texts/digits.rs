//! A number text before its exponent, once a digit other than zero was written.

use std::sync::Arc;

use hashbrown::HashMap;
use num_bigint::BigUint;
use smallvec::SmallVec;

use super::Spelling;
use super::exponent::ExponentSet;
use super::half::{ENDLESS, Half, Piece, Run};
use super::residue::{self, Track};
use crate::decimal::Decimal;
use crate::numbers::generator::Generator;
use crate::numbers::lattice::{LatticeId, Lattices};

/// Where in the grammar a text of digits stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// In the integer part.
    Integer,
    /// After the point.
    Point,
    /// In the fraction.
    Fraction,
}

/// What decides the future of such a text; texts that agree here have the same future.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Digits {
    pub(super) spelling: Spelling,
    pub(super) phase: Phase,
    /// Index of the half that paths refer to; `None` without paths.
    pub(super) half: Option<u32>,
    /// By exponent relative to what was written: at `e` are the numbers `(written digits)(more digits) × 10^e`, with
    /// the point where it is in the written digits. Without exponents `e` is how many digits of the integer part
    /// follow.
    pub(super) runs: Vec<Run>,
    /// What matters of divisibility.
    pub(super) residues: Vec<BigUint>,
}

/// What the functions here need to know besides the state.
pub(super) struct Context<'a> {
    pub(super) spelling: Spelling,
    pub(super) lattices: &'a mut Lattices,
    pub(super) half: Option<(u32, Arc<Half>)>,
    /// The members that are not integers, of each rule of a set.
    pub(super) fractions: &'a HashMap<LatticeId, LatticeId>,
}

/// Exponents of runs that are still possible.
pub(super) fn lowest(spelling: Spelling) -> i64 {
    match spelling {
        Spelling::Plain | Spelling::Literal => 0,
        Spelling::Any => i64::MIN,
    }
}

impl Context<'_> {
    /// The runs after one more digit. In the integer part the digit moves what is there up by one exponent.
    pub(super) fn slice(&self, runs: &[Run], digit: u8, phase: Phase) -> Vec<Run> {
        let half = self.half.as_ref().map(|(_, half)| &**half);
        let down = i64::from(phase == Phase::Integer);
        let moved = runs.iter().map(|run| Run {
            last: if run.last == ENDLESS { ENDLESS } else { run.last - down },
            piece: Half::slice(half, self.lattices, run.piece, digit),
        });
        moved.filter(|run| run.last >= lowest(self.spelling)).collect()
    }

    /// The canonical state, with the written digits as far as they matter; `None` where no completion is a member.
    pub(super) fn state(
        &mut self,
        phase: Phase,
        mut runs: Vec<Run>,
        track: Option<Track>,
    ) -> Option<(Digits, Option<Track>)> {
        let mut low = lowest(self.spelling);
        for run in &mut runs {
            run.piece = self.settle(phase, run.piece, track.as_ref(), low, run.last);
            low = run.last.saturating_add(1);
        }
        runs.dedup_by(|run, before| {
            let is_same = before.piece == run.piece && !matches!(run.piece, Piece::Path { .. });
            if is_same {
                before.last = run.last;
            }
            is_same
        });
        if runs.iter().all(|run| run.piece == Piece::Pure(Lattices::NONE)) {
            return None;
        }
        let (track, residues) = match (track, self.live_generators(&runs)) {
            (Some(track), live) if !live.is_empty() => {
                let residues = match (self.spelling, phase) {
                    (Spelling::Any, _) => residue::any_exponent(&track, &live),
                    (_, Phase::Integer) => residue::integer_part(&track, &live),
                    (_, Phase::Point | Phase::Fraction) => residue::fraction(&track, &live),
                };
                (Some(track), residues)
            }
            _ => (None, Vec::new()),
        };
        let has_path = runs.iter().any(|run| matches!(run.piece, Piece::Path { .. }));
        let half = self.half.as_ref().filter(|_| has_path).map(|(index, _)| *index);
        Some((
            Digits {
                spelling: self.spelling,
                phase,
                half,
                runs,
                residues,
            },
            track,
        ))
    }

    /// A piece that means the same for the exponents from `low` to `last`: the empty rule where it has no member.
    fn settle(&mut self, phase: Phase, piece: Piece, track: Option<&Track>, low: i64, last: i64) -> Piece {
        let (piece, meets) = match (piece, track) {
            (Piece::Pure(rule), _) if Lattices::is_constant(rule) => return piece,
            (Piece::Spot(_), _) | (Piece::Pure(_), None) => return piece,
            (Piece::Pure(rule), Some(track)) if self.spelling != Spelling::Any && phase != Phase::Integer => {
                match self.within(rule, track) {
                    Piece::Pure(rule) => (Piece::Pure(rule), self.run_meets(rule, track, 0, 0)),
                    settled => return settled,
                }
            }
            (Piece::Pure(rule), Some(track)) => (piece, self.run_meets(rule, track, low, last)),
            (Piece::Path { low: from, high, .. }, _) => {
                let piece = match track {
                    Some(track) if self.spelling != Spelling::Any && phase != Phase::Integer && high - from == 1 => {
                        self.end_of_path(piece, track)
                    }
                    _ => piece,
                };
                (piece, self.path_meets(piece, track, last, false))
            }
        };
        if meets { piece } else { Piece::Pure(Lattices::NONE) }
    }

    /// In a fraction without exponent, a rule as it looks between the written number and the next one of its length:
    /// steps without multiples there say nothing, and those of which the written number is a multiple on a grid that is
    /// no finer than its digits hold for it alone.
    fn within(&mut self, rule: LatticeId, track: &Track) -> Piece {
        let (start, end) = track.bounds(0);
        let rule = self
            .lattices
            .retain(rule, |step| step.divides(&start) || step.multiple_between(&start, &end));
        let lattice = Arc::clone(self.lattices.get(rule));
        if lattice.terms.iter().any(|(step, _)| !track.is_settled(step)) {
            return Piece::Pure(rule);
        }
        match lattice.value(|_| true) {
            at if at == lattice.generic => Piece::Pure(Lattices::constant(at)),
            at => Piece::Spot(at),
        }
    }

    /// The same for a path all of whose digits were written, where the rule above its cut says nothing any more.
    fn end_of_path(&mut self, piece: Piece, track: &Track) -> Piece {
        let (Piece::Path { low, high, depth }, Some((_, half))) = (piece, &self.half) else {
            return piece;
        };
        let (cut, above) = (&half.cuts[low as usize], half.pieces[high as usize]);
        if !cut.ends_by(depth) {
            return piece;
        }
        let (start, end) = track.bounds(0);
        let above = self.lattices.retain(above, |step| step.multiple_between(&start, &end));
        match Lattices::is_constant(above) {
            true if self.lattices.get(above).generic == cut.member => Piece::Pure(above),
            true => Piece::Spot(cut.member),
            false => piece,
        }
    }

    /// Whether a rule that is not constant has a member at some exponent from `low` to `high`.
    fn run_meets(&self, rule: LatticeId, track: &Track, low: i64, high: i64) -> bool {
        let lattice = self.lattices.get(rule);
        if high == ENDLESS || lattice.generic || lattice.is_none() {
            return !lattice.is_none();
        }
        if let Some(power) = lattice.power_of_ten() {
            return track.has_multiple(power, high);
        }
        // From wide stretches, which surely have members, down to those below every multiple: few in between.
        let least = lattice.base.value();
        let mut exponent = high;
        loop {
            let (start, end) = track.bounds(exponent);
            if self.lattices.contains(rule, &start) || lattice.meets(Some(&start), Some(&end)) {
                return true;
            }
            if end <= least || exponent <= low {
                return false;
            }
            exponent -= 1;
        }
    }

    /// Whether a path has a member at its exponent; only members with a fraction count where that is asked.
    fn path_meets(&self, piece: Piece, track: Option<&Track>, exponent: i64, fractional: bool) -> bool {
        let (Piece::Path { low, high, depth }, Some((_, half))) = (piece, &self.half) else {
            return !matches!(piece, Piece::Pure(rule) if rule == Lattices::NONE);
        };
        let cuts = &half.cuts[low as usize..high as usize];
        if cuts
            .iter()
            .any(|cut| cut.member && !(fractional && cut.at.is_integer()))
        {
            return true;
        }
        let bounds = track.map(|track| track.bounds(exponent));
        half.pieces[low as usize..=high as usize]
            .iter()
            .enumerate()
            .any(|(index, &rule)| {
                let rule = if fractional { self.fractional(rule) } else { rule };
                let from_start = index == 0;
                if rule == Lattices::NONE || from_start && cuts[0].ends_by(depth) {
                    return false;
                }
                let (Some((start, end)), false) = (&bounds, self.lattices.get(rule).generic) else {
                    // Such members are dense, and the stretch is not empty.
                    return self.lattices.get(rule).generic;
                };
                let below = index.checked_sub(1).map_or(start, |before| &cuts[before].at);
                let above = cuts.get(index).map_or(end, |cut| &cut.at);
                from_start && self.lattices.contains(rule, start)
                    || self.lattices.get(rule).meets(Some(below), Some(above))
            })
    }

    fn fractional(&self, rule: LatticeId) -> LatticeId {
        self.fractions.get(&rule).copied().unwrap_or(Lattices::NONE)
    }

    /// Whether the set has a member with the integer part written so far that is not an integer.
    pub(super) fn takes_fraction(&self, runs: &[Run], track: Option<&Track>) -> bool {
        match (piece_at(runs, 0), track) {
            (Piece::Spot(at), _) => !at,
            (piece @ Piece::Path { .. }, _) => self.path_meets(piece, track, 0, true),
            (Piece::Pure(rule), None) => rule != Lattices::NONE,
            (Piece::Pure(rule), Some(track)) => {
                let (start, end) = track.bounds(0);
                self.lattices.get(self.fractional(rule)).meets(Some(&start), Some(&end))
            }
        }
    }

    /// The steps that runs refer to, in order.
    fn live_generators(&self, runs: &[Run]) -> Vec<&Generator> {
        let half = self.half.as_ref().map(|(_, half)| &**half);
        let mut rules = SmallVec::<[LatticeId; 8]>::new();
        for run in runs {
            rules.extend_from_slice(Half::rules(half, &run.piece));
        }
        rules.sort_unstable();
        rules.dedup();
        let terms = rules.into_iter().flat_map(|rule| self.lattices.get(rule).terms.iter());
        let mut live: Vec<&Generator> = terms.map(|(generator, _)| generator).collect();
        live.sort_unstable();
        live.dedup();
        live
    }

    /// Whether the digits written so far, without exponent, are a member.
    pub(super) fn is_member(&self, runs: &[Run], track: Option<&Track>) -> bool {
        match self.rule_at_end(piece_at(runs, 0)) {
            Ok(member) => member,
            Err(rule) => track.is_some_and(|track| match self.lattices.get(rule).power_of_ten() {
                Some(power) => track.has_multiple(power, 0),
                None => self.lattices.contains(rule, &track.bounds(0).0),
            }),
        }
    }

    /// The exponents with which the digits written so far are a member.
    pub(super) fn exponents(&self, runs: &[Run], track: Option<&Track>) -> ExponentSet {
        let (mut exponents, mut low) = (ExponentSet::default(), i64::MIN);
        for run in runs {
            match (self.rule_at_end(run.piece), track) {
                (Ok(true), _) => exponents.push(low, run.last),
                (Ok(false), _) | (Err(_), None) => {}
                (Err(rule), Some(track)) => track.exponents(self.lattices.get(rule), low, run.last, &mut exponents),
            }
            low = run.last.saturating_add(1);
        }
        exponents
    }

    /// What decides on the written digits themselves in a piece: known membership, or a rule.
    fn rule_at_end(&self, piece: Piece) -> Result<bool, LatticeId> {
        let rule = match (piece, &self.half) {
            (Piece::Spot(at), _) => return Ok(at),
            (Piece::Pure(rule), _) => rule,
            (Piece::Path { .. }, None) => Lattices::NONE,
            (Piece::Path { low, depth, .. }, Some((_, half))) => match &half.cuts[low as usize] {
                cut if cut.ends_by(depth) => return Ok(cut.member),
                _ => half.pieces[low as usize],
            },
        };
        if Lattices::is_constant(rule) {
            Ok(rule == Lattices::ALL)
        } else {
            Err(rule)
        }
    }

    /// Whether the half has a member above zero and below `high`; one that is not an integer where that is asked.
    pub(super) fn half_meets(&self, high: Option<&Decimal>, fractional: bool) -> bool {
        let Some((_, half)) = &self.half else { return false };
        let zero = Decimal::zero();
        let mut below = &zero;
        for (index, &rule) in half.pieces.iter().enumerate() {
            if high.is_some_and(|high| below >= high) {
                return false;
            }
            let cut = half.cuts.get(index);
            let inside = cut.filter(|cut| high.is_none_or(|high| cut.at < *high));
            let end = inside.map(|cut| &cut.at).or(high);
            let rule = if fractional { self.fractional(rule) } else { rule };
            if self.lattices.get(rule).meets(Some(below), end)
                || inside.is_some_and(|cut| cut.member && !(fractional && cut.at.is_integer()))
            {
                return true;
            }
            below = inside.map_or(below, |cut| &cut.at);
            if inside.is_none() {
                return false;
            }
        }
        false
    }
}

/// The piece at an exponent.
pub(super) fn piece_at(runs: &[Run], exponent: i64) -> Piece {
    let index = runs.partition_point(|run| run.last < exponent);
    runs.get(index).map_or(Piece::Pure(Lattices::NONE), |run| run.piece)
}
