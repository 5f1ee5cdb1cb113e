//! [`NumeralPrefix`]: the prefix of a numeral, reduced to the facts that decide its continuations; the key of a state.

use num_bigint::BigUint;

use super::exponent::{ExponentSet, Magnitudes, Remainder};
use super::residue::WrittenDigits;
use crate::numbers::half_line::ExponentRun;

/// The grammar of the numerals that begin with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NumeralGrammar {
    /// The numerals of [`NumberStyle::Rfc8259`](crate::NumberStyle::Rfc8259), or if `brief` the numerals of
    /// [`NumberStyle::Scientific`](crate::NumberStyle::Scientific).
    Any { brief: bool },
    /// The numerals of [`NumberStyle::Plain`](crate::NumberStyle::Plain).
    Plain(PlainForm),
    /// Numerals without fraction and exponent, `-0` among them, of a set of integers.
    IntegerLiteral,
}

impl NumeralGrammar {
    /// The lowest exponent that more text can still give to the digits written so far.
    pub(super) fn lowest_exponent(self) -> i64 {
        match self {
            Self::Plain(_) | Self::IntegerLiteral => 0,
            Self::Any { .. } => i64::MIN,
        }
    }

    /// Whether numerals may have an exponent.
    pub(super) fn has_exponents(self) -> bool {
        matches!(self, Self::Any { .. })
    }

    /// Whether a zero may have a minus.
    pub(super) fn has_signed_zero(self) -> bool {
        matches!(self, Self::Any { brief: false } | Self::IntegerLiteral)
    }

    /// Whether numerals have exponents, and end with the last digit of a usual number where they may.
    pub(super) fn is_brief(self) -> bool {
        self == Self::Any { brief: true }
    }

    /// Whether numerals have no exponent, and a bounded fraction.
    pub(super) fn is_plain(self) -> bool {
        matches!(self, Self::Plain(_))
    }
}

/// The form of the plain numerals of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PlainForm {
    /// Whether any integer of the set may have a fraction of zeros.
    pub(super) zero_fractions: bool,
    /// Whether a fraction ends with the last significant digit of a usual number where it may.
    pub(super) precision: Precision,
}

/// The number of digits that a fraction may have where the set has numbers with any digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Precision {
    /// Fraction of so many digits that the numeral has seventeen significant ones.
    Usual,
    /// Fraction of all digits up to the last place, for numbers that have to be told from others.
    Full,
}

/// Number of the digits of a numeral, as far as that matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct DigitCount {
    /// Digits from the first that is not zero.
    pub(super) significant: u32,
    /// Digits behind the point.
    pub(super) places: u32,
}

impl DigitCount {
    /// The count with one more digit, other than a leading zero.
    pub(super) fn after(self, part: NumeralPart) -> Self {
        Self {
            significant: self.significant + 1,
            places: self.places + u32::from(part == NumeralPart::Fraction),
        }
    }
}

/// The part of the grammar in which a numeral's beginning ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NumeralPart {
    /// In the integer part.
    Integer,
    /// After the point.
    Point,
    /// In the fraction.
    Fraction,
}

/// A numeral of which only zeros were written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LeadingZeros {
    pub(super) grammar: NumeralGrammar,
    pub(super) part: NumeralPart,
    pub(super) half_line: u32,
    /// Number of zeros behind the point, as far as it matters.
    pub(super) scale: u64,
    /// Whether the text may be one of zero.
    pub(super) ends: bool,
}

/// A numeral before its exponent of which a digit other than zero was written. Beginnings that agree here can go on in
/// the same ways.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SignificantDigits {
    pub(super) grammar: NumeralGrammar,
    pub(super) part: NumeralPart,
    /// Index of the half-line whose breakpoints the runs refer to; `None` where they refer to none.
    pub(super) half_line: Option<u32>,
    /// The runs by exponent relative to the digits written: at `e` are the numbers `(written digits)(more digits) × 10^e`, with
    /// the point where it is in the written digits. Without exponents `e` is how many digits of the integer part follow.
    pub(super) runs: Vec<ExponentRun>,
    /// The residues that decide about divisibility.
    pub(super) residues: Vec<BigUint>,
    /// The digits of plain and of brief numerals so far: the significant ones where the set has numbers with any digits, the
    /// places behind the point in the fraction.
    pub(super) count: DigitCount,
}

/// The key by which a state of the automaton is interned.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum NumeralPrefix {
    /// Of a set in which membership depends on how numbers are written, no more than a sign and an integer part: the
    /// states of the text as one without fraction and exponent, and as one with. `DEAD` where there is none.
    Either { literal: u32, other: u32 },
    /// Nothing written; the half-lines above and below zero.
    Start {
        above: u32,
        below: u32,
        grammar: NumeralGrammar,
    },
    /// A minus.
    Minus { below: u32, grammar: NumeralGrammar },
    /// Zeros only.
    Zeros(LeadingZeros),
    /// Digits, not only zeros.
    Digits(SignificantDigits),
    /// The point of a plain numeral, or digits behind it, and any digits behind them, up to so many.
    Free { after_point: bool, left: u32 },
    /// The point of a plain numeral of an integer of the set, or a fraction that makes it a number of the set, and up to so
    /// many zeros behind.
    EndingZeros { after_point: bool, left: u32 },
    /// The letter of the exponent.
    Exponent(ExponentSet),
    /// The sign of the exponent.
    ExponentSign(Magnitudes),
    /// Zeros at the beginning of the exponent.
    ExponentZeros(Magnitudes),
    /// Digits of the exponent, not only zeros.
    ExponentDigits(Remainder),
}

/// The result of one more byte: the prefix that decides the future, and the digits of one of the texts that lead there where
/// these matter. `None` where no member begins so.
pub(super) type Successor = Option<(NumeralPrefix, Option<WrittenDigits>)>;
