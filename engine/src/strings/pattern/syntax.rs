//! [`PatternSyntax`]: the dialects of regular expressions in which patterns may be written.

/// The dialect of the regular expressions in `pattern`, `patternProperties` and replies by an expression.
///
/// JSON Schema asks for the dialect of ECMA-262. Under [`Common`](Self::Common) and [`Ecma`](Self::Ecma), every valid expression of
/// ECMA-262 has the meaning that it has there, with the leniencies of Annex B that schemas in the wild rely on. [`Rust`](Self::Rust)
/// and [`Python`](Self::Python) are for expressions that were written for another engine, such as those of Pydantic's models.
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
    /// such a pattern, as `$`, `\d` and `\w`, has the meaning of ECMA-262.
    #[default]
    Common,
    /// Patterns of ECMA-262 alone, in the edition that draft 2020-12 names: all else is refused.
    Ecma,
    /// Patterns of the Rust crate `regex`, read by its own parser: `\d`, `\w`, `\s` and `\b` are Unicode's, `$` is the end of the text,
    /// `.` leaves out `\n` alone, and there are no lookarounds.
    Rust,
    /// Patterns of Python's module `re` for `str`, as of Python 3.14: `\d`, `\w`, `\s` and `\b` are Unicode's, `$` holds before a `\n` at
    /// the end of the text too, `.` leaves out `\n` alone, and `(?x)` and comments are read. Back-references, conditions, atomic groups,
    /// possessive quantifiers and `\N{…}` are not supported; lookbehinds may be of any length.
    Python,
}

impl PatternSyntax {
    /// The dialect of a name as options have it: `common`, `ecma`, `rust` or `python`. None for any other name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "common" => Some(Self::Common),
            "ecma" => Some(Self::Ecma),
            "rust" => Some(Self::Rust),
            "python" => Some(Self::Python),
            _ => None,
        }
    }

    fn reads(self, pattern: &str) -> bool {
        super::check(pattern, self, &crate::strings::LanguageLimits::default()).is_ok()
    }

    /// A pattern that is found in the texts that `pattern` matches whole. `pattern` can be read.
    pub(crate) fn anchored(self, pattern: &str) -> String {
        match self {
            // What `\Q` quotes may reach to the end of the pattern.
            Self::Common if pattern.contains("\\Q") && !self.reads(&format!("(?:{pattern})")) => {
                format!("^(?:{pattern}\\E)$")
            }
            Self::Common | Self::Ecma => format!("^(?:{pattern})$"),
            // A comment may reach to the end of the pattern; elsewhere the line end would be part of it.
            Self::Rust => match super::rust::ends_in_comment(pattern) {
                true => format!("\\A(?:{pattern}\n)\\z"),
                false => format!("\\A(?:{pattern})\\z"),
            },
            Self::Python => super::python::anchored(pattern),
        }
    }
}
