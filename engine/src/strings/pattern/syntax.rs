//! [`PatternSyntax`]: which dialects of regular expressions are read.

/// Which regular expressions `pattern` and `patternProperties` may have.
///
/// JSON Schema names those of ECMA-262. Whatever is one is read as ECMA-262 reads it under either syntax, with the
/// leniencies of its Annex B that schemas in the wild rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatternSyntax {
    /// Patterns of ECMA-262, and syntax that is an error there and means one thing in the dialects of Go, Python, Rust and
    /// PCRE that have it:
    ///
    /// - the flags `i`, `m` and `s`, set or taken back from a place to the end of the group around it (`(?i)`, `(?-i)`) or
    ///   for a group (`(?i:…)`);
    /// - `(?P<name>…)` for a named group;
    /// - `\A` and `\z` for the beginning and the end of the text;
    /// - `\Q…\E` around text that stands for itself.
    ///
    /// The flags have the meaning of ECMA-262's with the flag `u`: case by simple case folding, and line ends that are
    /// `\n`, `\r`, U+2028 and U+2029. The other dialects agree as far as letters of ASCII and `\n` are concerned. All else in
    /// such a pattern, as `$`, `\d` and `\w`, means what it means in ECMA-262.
    #[default]
    Common,
    /// Patterns of ECMA-262 alone, in the edition that draft 2020-12 names: all else is refused.
    Ecma,
}
