//! The automaton over the numerals of a set of numbers: from the bytes of a numeral so far, the bytes that may follow, and whether the
//! numeral may end.
//!
//! # Numbers that a prefix can become
//!
//! Sign aside (both half-lines of a set are treated alike), let `s` be the digits written so far without leading zeros and
//! point, and `j` the number of them behind the point. More digits `w`, `i` of them, and an exponent `x` give
//!
//! - in the integer part `(s·10^i + w)·10^x`, with the point anywhere in `w`: with exponents allowed, because `x` is any
//!   integer, *all numbers with the leading digits `s`*; without, the numbers of `[s·10^i, (s+1)·10^i)` for `i >= 0`;
//! - in the fraction the same with exponents allowed, and `[s·10^-j, (s+1)·10^-j)` without;
//! - after the exponent's sign and digits `y`: `s·10^-j` times a power with one of the exponents that begin with `y`,
//!   leading zeros included.
//!
//! So with and without exponents the future of a prefix is, for each exponent `e`, the set of members in `[s·10^e, (s+1)·10^e)`;
//! the style tells which `e` are open. That is one residual of the set ([`Residual`]) for each exponent. Apart from
//! exponents at which the set has breakpoints it is one rule, so all exponents together are a handful of runs. A digit
//! refines a residual only where breakpoints share the leading digits. So huge and long bounds cost nothing until their
//! digits are written.
//!
//! # States
//!
//! States are interned by the facts that decide their future: the runs, relative to the exponent that the numeral has if no text follows, and
//! residues ([`residue`]) of the digits for the divisors that still occur. A set without divisors needs no residues, and once no
//! breakpoint shares the digits, only the lengths count: a few states in all. With exponents allowed, numbers are not a regular
//! language: how many digits were written matters as soon as there are bounds (`523e-1` is at most 100, where `5234e-1` is not),
//! and where there are divisors so do the position of the point and the zeros at the end (`1500e-2` is an integer, `1.500e2`,
//! too). Then a text visits as many states as it has bytes, and no more than that.
//!
//! The plain style bounds numerals. A number that is too large or too fine for that is no member of any set (see
//! [`writable`](super::writable)), so that most sets have one rule in a fraction, the multiples of the last place's power of ten.
//! There only the number of digits counts ([`NumeralPrefix::Free`](prefix::NumeralPrefix)).
//!
//! Whether a prefix is *viable*, that is, whether an interval of a few rules has a member, is decided by counting
//! multiples, with the digits of any one text that leads to the state.
//!
//! [`Residual`]: super::half_line::Residual

mod automaton;
mod digits;
mod exponent;
mod leading_zeros;
mod prefix;
mod residue;
mod step;

pub(crate) use automaton::{NextDigits, NumberState, NumeralAutomaton};
pub(crate) use prefix::Precision;

/// The numerals in which a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberStyle {
    /// Everything that the grammar of RFC 8259 allows, so that a number has infinitely many numerals.
    Rfc8259,
    /// No exponent, and a bounded length, so that a model that repeats itself cannot fill a document with digits:
    ///
    /// - at most 17 digits before the point; 20 where the schema's own bounds, `const` or `enum` have as many, and more where
    ///   a `multipleOf` needs them;
    /// - at most 20 places behind the point, more where a `multipleOf` needs them, and with them at most 17 significant
    ///   digits. Only numbers that have to differ from others, or that `contains` and the like tell apart, may use all places.
    /// - Zeros at the end count as digits. Where no other digit can follow, a fraction ends with the second place, or with the
    ///   last place of the schema's own number: a price may end in `.50` or `.00`.
    ///
    /// Numbers of any length that the schema itself names (`const`, `enum`, `minimum`, `maximum`) can be written, and so can a
    /// million around each bound, so that whatever the schema tells apart has a number, and items that have to differ have
    /// enough. All other longer numbers are left out, as if they did not exist: 1e21, 1e-30 and the thirtieth digit of π.
    ///
    /// A fraction of zeros, as in `2.0`, may be written of any integer that the schema allows, but not of those that it asks
    /// for by `"type": "integer"`, or by a `const` or `enum` of integers without points. A minus is written only where there are
    /// numbers below zero, and `-0` is not.
    Plain,
    /// Numerals of a bounded length, with exponents, so that numbers may have any size: `1e21`, `1.5e-7`, `6.02E+23`. They
    /// have at most 17 significant digits, up to 20 zeros behind the point before these, and exponents up to that of a
    /// double, with at most one zero at the beginning. A number for which that is not enough, because of bounds or a
    /// `multipleOf`, has more.
    ///
    /// Integers that a schema asks for by `"type": "integer"` are integer literals, as in the plain style.
    Scientific,
}
