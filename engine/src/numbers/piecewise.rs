//! A set of decimals as cuts with a lattice combination between each two, and its normal form.

use super::lattice::{LatticeId, Lattices};
use crate::decimal::{Decimal, LimitReached};

/// Finite stretches of at most this many members are written as single numbers, as an `enum` gives them.
const FEW: u64 = 8;

/// A number at which a set changes its rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cut {
    pub(super) at: Decimal,
    /// Whether the number itself is a member.
    pub(super) member: bool,
}

/// A set of decimals: the cuts ascend, and `pieces[i]` holds on the open interval below `cuts[i]`, the last piece above
/// all cuts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Piecewise {
    pub(super) cuts: Vec<Cut>,
    pub(super) pieces: Vec<LatticeId>,
}

impl Piecewise {
    /// One rule for all numbers.
    pub(super) fn uniform(piece: LatticeId) -> Self {
        Self {
            cuts: Vec::new(),
            pieces: vec![piece],
        }
    }

    /// One rule below a cut, another above.
    pub(super) fn split(below: LatticeId, cut: Cut, above: LatticeId) -> Self {
        Self {
            cuts: vec![cut],
            pieces: vec![below, above],
        }
    }

    pub(super) fn contains(&self, lattices: &Lattices, value: &Decimal) -> bool {
        match self.cuts.binary_search_by(|cut| cut.at.cmp(value)) {
            Ok(found) => self.cuts[found].member,
            Err(piece) => lattices.contains(self.pieces[piece], value),
        }
    }

    /// Ends of the open interval of `pieces[index]`; `None` where there is none.
    pub(super) fn ends(&self, index: usize) -> (Option<&Decimal>, Option<&Decimal>) {
        let low = index.checked_sub(1).map(|before| &self.cuts[before].at);
        (low, self.cuts.get(index).map(|cut| &cut.at))
    }

    /// The same set in a form that depends little on how it came about: a rule is kept as long as it holds, from low
    /// to high, so that a cut is where the rule first fails.
    pub(super) fn normalised(self, lattices: &mut Lattices) -> Result<Self, LimitReached> {
        let set = self.with_few_as_cuts(lattices);
        let mut result = Self::uniform(set.pieces[0]);
        let mut rule = set.pieces[0];
        let Piecewise { cuts, pieces } = set;
        let mut cuts = cuts.into_iter().peekable();
        for &piece in &pieces[1..] {
            let Some(mut cut) = cuts.next() else { break };
            let difference = lattices.xor(rule, piece)?;
            let next = cuts.peek().map(|next| &next.at);
            let holds_on = difference == Lattices::NONE || !lattices.get(difference).meets(Some(&cut.at), next);
            if cut.member == lattices.contains(rule, &cut.at) {
                if holds_on {
                    continue;
                }
                // The rule holds at the cut: the cut moves to where it first fails.
                if let Some(first) = lattices.get(difference).nth_above(&cut.at, 1) {
                    cut = Cut {
                        member: lattices.contains(piece, &first),
                        at: first,
                    };
                    if next.is_some_and(|next| lattices.get(difference).count(Some(&cut.at), Some(next), 0) == Some(0))
                    {
                        // The rule failed only there: an exclusion or addition of one number.
                        result.push(cut, rule);
                        continue;
                    }
                }
            }
            if !holds_on {
                rule = piece;
            }
            result.push(cut, rule);
        }
        Ok(result)
    }

    fn push(&mut self, cut: Cut, above: LatticeId) {
        self.cuts.push(cut);
        self.pieces.push(above);
    }

    /// Finite stretches of few members, as single members.
    fn with_few_as_cuts(self, lattices: &Lattices) -> Self {
        let mut result = Self {
            cuts: Vec::with_capacity(self.cuts.len()),
            pieces: Vec::with_capacity(self.pieces.len()),
        };
        for (index, &piece) in self.pieces.iter().enumerate() {
            match few_members(lattices, piece, self.ends(index)) {
                Some(few) => {
                    result.pieces.push(Lattices::NONE);
                    for at in few {
                        result.push(Cut { at, member: true }, Lattices::NONE);
                    }
                }
                None => result.pieces.push(piece),
            }
            result.cuts.extend(self.cuts.get(index).cloned());
        }
        result
    }
}

/// The members between the ends, where they are at most [`FEW`].
fn few_members(
    lattices: &Lattices,
    piece: LatticeId,
    ends: (Option<&Decimal>, Option<&Decimal>),
) -> Option<Vec<Decimal>> {
    let (Some(low), Some(high), false) = (ends.0, ends.1, Lattices::is_constant(piece)) else {
        return None;
    };
    let lattice = lattices.get(piece);
    let count = lattice
        .count(Some(low), Some(high), FEW)
        .filter(|&count| count <= FEW)?;
    (1..=count).map(|rank| lattice.nth_above(low, rank)).collect()
}
