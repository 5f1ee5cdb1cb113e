//! An automaton over the numerals of a set: which bytes can follow, and whether the text may end.
//!
//! # What a beginning can become
//!
//! Sign aside (both half-lines of a set are treated alike), let `s` be the digits written so far without leading zeros,
//! point left out, and `j` how many of them follow the point. More digits `w`, `i` of them, and an exponent `x` give
//!
//! - in the integer part `(s·10^i + w)·10^x`, with the point anywhere in `w`: with exponents allowed, because `x` is any
//!   integer, *all numbers with the leading digits `s`*; without, the numbers of `[s·10^i, (s+1)·10^i)` for `i >= 0`;
//! - in the fraction the same with exponents allowed, and `[s·10^-j, (s+1)·10^-j)` without;
//! - after the exponent's sign and digits `y`: `s·10^-j` times a power with one of the exponents that begin with `y`,
//!   leading zeros included.
//!
//! So with and without exponents the question is, for each exponent `e`, which numbers of `[s·10^e, (s+1)·10^e)` are
//! members; the style says which `e` are open. That is one residual of the set ([`Residual`]) for each exponent, and for
//! all but as many exponents as the breakpoints of the set have magnitudes it is one rule: a handful of runs. A digit
//! refines a residual only where breakpoints share the leading digits. So huge and long bounds cost nothing until their
//! digits are written.
//!
//! # Which beginnings are the same
//!
//! States are interned by what decides their future: the runs, counted from the exponent that no further text means,
//! and residues ([`residue`]) of the digits for the divisors that still occur. A set without divisors needs no residues,
//! and once no breakpoint shares the digits, only the lengths count: a few states in all. With exponents allowed, numbers
//! are not a regular language: how many digits were written matters as soon as there are bounds (`523e-1` is at most 100,
//! where `5234e-1` is not), and where there are divisors so do the position of the point and the zeros at the end
//! (`1500e-2` is an integer, `1.500e2`, too). Then a text visits as many states as it has bytes, and no more than that.
//!
//! Whether a beginning is *viable* asks for one member in an interval of a few rules, and is answered by counting
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

/// Which numerals are written for a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberStyle {
    /// Everything that the grammar of RFC 8259 allows, so that a number has infinitely many numerals.
    Rfc8259,
    /// No exponent. A fraction is begun only where the set has a number with this sign and integer part that is not an
    /// integer, and a minus only where it has a number below zero; `-0` is not written. Once begun, a fraction may be
    /// any, so that prices may end in `.50` or `.00` and a model that has written `2.0` need not go on. A set of
    /// integers so has integer literals only.
    ///
    /// Every decimal has such a numeral (the shortest one), so that nothing is lost of any set.
    Plain,
}
