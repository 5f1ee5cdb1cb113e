//! Escapes and classes of patterns of Python's module `re`.

use std::sync::OnceLock;

use crate::strings::charset::CharSet;
use crate::strings::pattern::ast::{AstForm, AstId};
use crate::strings::pattern::error::PatternError;
use crate::strings::pattern::python::Item;
use crate::strings::pattern::reader::PatternParser;
use crate::strings::unicode_properties::{property, word};

/// `\s` beyond ASCII, of which Python counts four separators in.
const SPACES: [(char, char); 10] = [
    ('\t', '\r'),
    ('\u{1c}', ' '),
    ('\u{85}', '\u{85}'),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];

/// Letters that Python takes for one where case is ignored, and simple case folding for three.
const LETTERS_I: &str = "Ii\u{130}\u{131}";

/// The meaning of an escape: one character, or a set of them.
enum Escaped {
    Character(char),
    Category(CharSet),
}

/// `\w`: letters, numbers and `_`.
fn unicode_word() -> &'static CharSet {
    static WORD: OnceLock<CharSet> = OnceLock::new();
    WORD.get_or_init(|| {
        let [letters, numbers] = ["L", "N"].map(|category| property(category).unwrap_or_default());
        letters.union(&numbers).union(&CharSet::of("_"))
    })
}

impl PatternParser<'_> {
    /// `\w`, by the flags that hold here.
    pub(super) fn python_word(&self) -> CharSet {
        match self.flags.ascii {
            true => word(),
            false => unicode_word().clone(),
        }
    }

    /// The set of characters that `c` behind a `\` names.
    fn category(&self, c: char) -> Option<CharSet> {
        let set = match (c.to_ascii_lowercase(), self.flags.ascii) {
            ('d', true) => CharSet::range('0', '9'),
            ('d', false) => property("Nd").unwrap_or_default(),
            ('s', true) => CharSet::from_ranges([('\t', '\r'), (' ', ' ')]),
            ('s', false) => CharSet::from_ranges(SPACES),
            ('w', _) => self.python_word(),
            _ => return None,
        };
        Some(if c.is_ascii_uppercase() { set.complement() } else { set })
    }

    /// Characters, by the flags that hold here.
    pub(super) fn python_cased(&mut self, set: CharSet) -> CharSet {
        if !self.flags.ignore_case {
            return set;
        }
        if self.flags.ascii {
            let letters = set.within('A', 'z').filter(char::is_ascii_alphabetic);
            let other_case = CharSet::from_ranges(letters.map(|c| char::from(c as u8 ^ 0x20)).map(|c| (c, c)));
            return set.union(&other_case);
        }
        let folded = self.flagged(set);
        let letters = CharSet::of(LETTERS_I);
        match folded.intersection(&letters).is_empty() {
            true => folded,
            false => folded.union(&letters),
        }
    }

    /// The escape outside of classes that starts here.
    pub(super) fn python_escape(&mut self) -> Result<(AstId, Item), PatternError> {
        let assertion = match self.rest().chars().nth(1) {
            Some('A') => self.ast.add(AstForm::Start),
            Some('Z' | 'z') => self.ast.add(AstForm::End),
            Some('b') => self.python_boundary(false),
            Some('B') => self.python_boundary(true),
            _ => {
                let set = match self.python_character(false)? {
                    Escaped::Character(c) => self.python_cased(CharSet::range(c, c)),
                    Escaped::Category(set) => set,
                };
                return Ok((self.ast.add(AstForm::Class(set)), Item::Repeatable));
            }
        };
        self.at += 2;
        Ok((assertion, Item::Assertion))
    }

    /// The character or category whose escape starts here.
    fn python_character(&mut self, in_class: bool) -> Result<Escaped, PatternError> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.peek() else {
            return self.syntax(start, "a character behind `\\`");
        };
        self.at += c.len_utf8();
        if let Some(set) = self.category(c) {
            return Ok(Escaped::Category(set));
        }
        let character = match c {
            'a' => '\u{7}',
            'b' if in_class => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => self.python_code(start, 2)?,
            'u' => self.python_code(start, 4)?,
            'U' => self.python_code(start, 8)?,
            'N' => {
                return Err(PatternError::Unsupported {
                    offset: start,
                    what: "a character by its name",
                });
            }
            '0'..='9' => self.python_digits(start, in_class)?,
            _ if c.is_ascii_alphabetic() => return self.syntax(start, "an escape of Python's `re`"),
            _ => c,
        };
        Ok(Escaped::Character(character))
    }

    /// The character of so many hexadecimal digits.
    fn python_code(&mut self, start: usize, digits: usize) -> Result<char, PatternError> {
        let text = self.rest().get(..digits).unwrap_or_default();
        let code = u32::from_str_radix(text, 16).ok();
        let code = code.filter(|code| text.bytes().all(|byte| byte.is_ascii_hexdigit()) && *code <= 0x10_FFFF);
        let Some(code) = code else {
            return self.syntax(
                start,
                "`\\x`, `\\u` or `\\U` and two, four or eight hexadecimal digits of a character",
            );
        };
        self.at += digits;
        // Strings of scalar values have no half of a pair, so nothing would ever match.
        char::from_u32(code).ok_or(PatternError::Unsupported {
            offset: start,
            what: "a surrogate",
        })
    }

    /// An octal escape, from its first digit on; other digits refer to a group.
    fn python_digits(&mut self, start: usize, in_class: bool) -> Result<char, PatternError> {
        let digits = &self.source[start + 1..];
        let octal = digits
            .bytes()
            .take(3)
            .take_while(|byte| (b'0'..=b'7').contains(byte))
            .count();
        if octal < 3 && !digits.starts_with('0') && !(in_class && octal > 0) {
            return match in_class {
                true => self.syntax(start, "an octal escape"),
                false => Err(PatternError::Unsupported {
                    offset: start,
                    what: "a back-reference",
                }),
            };
        }
        self.at = start + 1 + octal;
        let code = u32::from_str_radix(&digits[..octal], 8)
            .ok()
            .filter(|code| *code <= 0o377);
        code.and_then(char::from_u32)
            .map_or_else(|| self.syntax(start, "an octal escape up to `\\377`"), Ok)
    }

    /// The class in brackets that starts here.
    pub(super) fn python_class(&mut self) -> Result<CharSet, PatternError> {
        let start = self.at;
        self.at += 1;
        let is_negated = self.eat("^");
        let (mut ranges, mut categories) = (Vec::new(), CharSet::default());
        let first = self.at;
        while self.at == first || !self.eat("]") {
            let from = self.at;
            let low = self.class_item(start)?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            let high = match is_range {
                true => {
                    self.at += 1;
                    Some(self.class_item(start)?)
                }
                false => None,
            };
            match (low, high) {
                (Escaped::Character(low), None) => ranges.push((low, low)),
                (Escaped::Category(set), None) => categories = categories.union(&set),
                (Escaped::Character(low), Some(Escaped::Character(high))) if low <= high => ranges.push((low, high)),
                (_, Some(_)) => return self.syntax(from, "a range between two characters that does not run backwards"),
            }
        }
        // Categories are what they are in either case.
        let set = self.python_cased(CharSet::from_ranges(ranges)).union(&categories);
        Ok(if is_negated { set.complement() } else { set })
    }

    fn class_item(&mut self, start: usize) -> Result<Escaped, PatternError> {
        match self.peek() {
            None => self.syntax(start, "a `]` that closes this class"),
            Some('\\') => self.python_character(true),
            Some(c) => {
                self.at += c.len_utf8();
                Ok(Escaped::Character(c))
            }
        }
    }
}
