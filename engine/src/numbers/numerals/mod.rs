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
