//! [`NumberStyle`]: the numerals in which a number is written.

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

/// The lengths of numerals, which [`NumberStyle::Plain`] and [`NumberStyle::Scientific`] explain.
impl NumberStyle {
    /// Significant digits of a number of usual precision: as many as tell doubles apart.
    pub(crate) const SIGNIFICANT_DIGITS: u32 = 17;

    /// Digits before the point that a number without exponent may have: as many as a double tells apart.
    pub(crate) const INTEGER_DIGITS: i64 = 17;

    /// Digits before the point that all numbers without exponent may have where a bound or a value of the schema has as many: those of
    /// integers of 64 bits.
    pub(crate) const LONGEST_INTEGERS: i64 = 20;

    /// Places behind the point that a number without exponent may have: 17 digits behind three zeros, where writers of doubles begin
    /// to use exponents.
    pub(crate) const PLACES: i64 = 20;

    /// Places behind the point that zeros at the end of a numeral without exponent may fill where no other digit can follow.
    pub(crate) const ENDING_ZEROS: u32 = 2;

    /// Zeros behind the point, before any other digit, of a numeral that may have an exponent instead.
    pub(crate) const BRIEF_ZEROS: u64 = 20;
}
