//! The magnitudes of a set's members on one side of zero, arranged by leading digits.

use crate::decimal::Decimal;
use crate::numbers::lattice::{LatticeId, Lattices};
use crate::numbers::piecewise::Piecewise;

/// No last exponent.
pub(super) const ENDLESS: i64 = i64::MAX;

/// A positive number at which the set changes its rule.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct HalfCut {
    pub(super) at: Decimal,
    /// The significant digits.
    pub(super) digits: Vec<u8>,
    pub(super) member: bool,
}

/// The positive numbers whose value, or whose negative for the other half, is a member; and whether zero is one.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Half {
    pub(super) zero: bool,
    pub(super) cuts: Vec<HalfCut>,
    /// `pieces[i]` holds below `cuts[i]`, the last piece above all cuts.
    pub(super) pieces: Vec<LatticeId>,
    /// What the members `0.d… × 10^n`, `d` nonzero, are, by `n`.
    pub(super) root: Vec<Run>,
}

/// The same rule for a stretch of exponents: those above the run before, up to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) last: i64,
    pub(super) piece: Piece,
}

impl Run {
    /// Whether it is the last and has members at some exponent, whatever more digits there are.
    pub(super) fn is_endless(&self) -> bool {
        self.last == ENDLESS && matches!(self.piece, Piece::Pure(rule) if rule != Lattices::NONE)
    }

    /// Whether all are members, or none.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.piece, Piece::Pure(rule) if Lattices::is_constant(rule))
    }
}

/// Which numbers with some leading digits, at one exponent, are members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Piece {
    /// One rule for all of them.
    Pure(LatticeId),
    /// The leading digits followed by zeros only are a member as said here, all others are not as said here.
    Spot(bool),
    /// The cuts from `low` to before `high` start with the leading digits, of which there are `depth`; digits past the
    /// end of a cut are zeros.
    Path { low: u32, high: u32, depth: u32 },
}

impl Half {
    pub(super) fn of(set: &Piecewise, lattices: &Lattices, negative: bool) -> Self {
        let zero = set.contains(lattices, &Decimal::zero());
        let half_cut = |cut: &crate::numbers::piecewise::Cut| HalfCut {
            at: cut.at.abs(),
            digits: cut.at.digit_values(),
            member: cut.member,
        };
        let (cuts, pieces): (Vec<_>, Vec<_>) = if negative {
            let end = set.cuts.partition_point(|cut| cut.at.is_negative());
            (
                set.cuts[..end].iter().rev().map(half_cut).collect(),
                set.pieces[..=end].iter().rev().copied().collect(),
            )
        } else {
            let start = set.cuts.partition_point(|cut| cut.at.is_negative() || cut.at.is_zero());
            (
                set.cuts[start..].iter().map(half_cut).collect(),
                set.pieces[start..].to_vec(),
            )
        };
        let root = root_runs(&cuts, &pieces);
        Self {
            zero,
            cuts,
            pieces,
            root,
        }
    }

    /// Whether all magnitudes but zero are members, or none.
    pub(super) fn is_constant(&self) -> bool {
        self.cuts.is_empty() && Lattices::is_constant(self.pieces[0])
    }

    /// Whether all magnitudes are members.
    pub(super) fn is_all(&self) -> bool {
        self.zero && self.cuts.is_empty() && self.pieces[0] == Lattices::ALL
    }

    /// What remains of a piece after one more digit.
    pub(super) fn slice(half: Option<&Self>, lattices: &Lattices, piece: Piece, digit: u8) -> Piece {
        match (piece, half) {
            (Piece::Pure(_), _) | (Piece::Path { .. }, None) => piece,
            (Piece::Spot(at), _) => {
                if digit == 0 {
                    piece
                } else {
                    Piece::Pure(Lattices::constant(!at))
                }
            }
            (Piece::Path { low, high, depth }, Some(half)) => {
                // The cuts of a path are in the order of their digits from here on.
                let cuts = &half.cuts[low as usize..high as usize];
                let digit_of = |cut: &HalfCut| cut.digits.get(depth as usize).copied().unwrap_or(0);
                let first = low + cuts.partition_point(|cut| digit_of(cut) < digit) as u32;
                let end = low + cuts.partition_point(|cut| digit_of(cut) <= digit) as u32;
                if first == end {
                    Piece::Pure(half.pieces[first as usize])
                } else {
                    half.path(lattices, first, end, depth + 1)
                }
            }
        }
    }

    /// The path of the given cuts, or something simpler that means the same.
    fn path(&self, lattices: &Lattices, low: u32, high: u32, depth: u32) -> Piece {
        let cut = &self.cuts[low as usize];
        if high - low > 1 || !cut.ends_by(depth) {
            return Piece::Path { low, high, depth };
        }
        let above = self.pieces[high as usize];
        if cut.member == lattices.contains(above, &cut.at) {
            Piece::Pure(above)
        } else if Lattices::is_constant(above) {
            Piece::Spot(cut.member)
        } else {
            // All of its digits are used up: how many zeros follow makes no difference.
            Piece::Path {
                low,
                high,
                depth: cut.digits.len() as u32,
            }
        }
    }

    /// Every rule that the piece refers to.
    pub(super) fn rules<'a>(half: Option<&'a Self>, piece: &'a Piece) -> &'a [LatticeId] {
        match (piece, half) {
            (Piece::Pure(rule), _) => std::slice::from_ref(rule),
            (Piece::Path { low, high, .. }, Some(half)) => &half.pieces[*low as usize..=*high as usize],
            _ => &[],
        }
    }
}

impl HalfCut {
    /// Whether only zeros come after so many digits.
    pub(super) fn ends_by(&self, depth: u32) -> bool {
        self.digits.len() <= depth as usize
    }
}

fn root_runs(cuts: &[HalfCut], pieces: &[LatticeId]) -> Vec<Run> {
    let (mut runs, mut low) = (Vec::new(), 0);
    for group in cuts.chunk_by(|one, other| one.at.magnitude() == other.at.magnitude()) {
        let (last, high) = (group[0].at.magnitude(), low + group.len() as u32);
        if runs.last().is_none_or(|run: &Run| run.last < last - 1) {
            runs.push(Run {
                last: last - 1,
                piece: Piece::Pure(pieces[low as usize]),
            });
        }
        runs.push(Run {
            last,
            piece: Piece::Path { low, high, depth: 0 },
        });
        low = high;
    }
    runs.push(Run {
        last: ENDLESS,
        piece: Piece::Pure(pieces[low as usize]),
    });
    runs
}
