//! Escapes and bracketed classes.

use crate::strings::charset::CharSet;
use crate::strings::pattern::ast::AstForm;
use crate::strings::pattern::error::PatternError;
use crate::strings::pattern::reader::PatternParser;
use crate::strings::unicode_properties::SPACES;

/// The meaning of a `\` with the characters that belong to it.
pub(super) enum ParsedEscape {
    Character(char),
    /// Half of a surrogate pair, without the other half. No string has it, but a range of a class may begin or end there.
    Surrogate(u32),
    Class(CharSet),
    Boundary {
        negated: bool,
    },
    /// An assertion that the text begins or ends.
    Text(AstForm),
}

impl ParsedEscape {
    fn code_point(&self) -> Option<u32> {
        match *self {
            Self::Character(c) => Some(u32::from(c)),
            Self::Surrogate(unit) => Some(unit),
            Self::Class(_) | Self::Boundary { .. } | Self::Text(_) => None,
        }
    }
}

impl PatternParser<'_> {
    fn shorthand(&mut self, c: char) -> Option<CharSet> {
        let set = match c.to_ascii_lowercase() {
            'd' => CharSet::range('0', '9'),
            'w' => self.word(),
            's' => CharSet::from_ranges(SPACES),
            _ => return None,
        };
        Some(if c.is_ascii_uppercase() { set.complement() } else { set })
    }

    /// The escape that starts here, in a class or outside of one.
    pub(super) fn escape(&mut self, in_class: bool) -> Result<ParsedEscape, PatternError> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.peek() else {
            return self.syntax(start, "a character behind `\\`");
        };
        self.at += c.len_utf8();
        if let Some(set) = self.shorthand(c) {
            return Ok(ParsedEscape::Class(set));
        }
        let character = match c {
            'b' if in_class => '\u{8}',
            'b' | 'B' if !in_class => return Ok(ParsedEscape::Boundary { negated: c == 'B' }),
            'p' | 'P' => return self.property(start, c == 'P').map(ParsedEscape::Class),
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'c' => self.control(start)?,
            'x' => match self.hexadecimal(2).and_then(char::from_u32) {
                Some(c) => c,
                None => return self.syntax(start, "two hexadecimal digits behind `\\x`"),
            },
            'u' => match self.unicode_escape(start)? {
                Ok(c) => c,
                Err(half) => return Ok(ParsedEscape::Surrogate(half)),
            },
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => '\0',
            '0'..='9' => self.decimal(start, in_class)?,
            'k' if !in_class => return self.named_reference(start),
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => c,
            '-' if in_class => c,
            _ if !self.strict() && !c.is_alphanumeric() => c,
            _ => return self.foreign_escape(start, c, in_class),
        };
        Ok(ParsedEscape::Character(character))
    }

    fn control(&mut self, start: usize) -> Result<char, PatternError> {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() => {
                self.at += 1;
                Ok(char::from(c as u8 % 32))
            }
            _ => self.syntax(start, "a letter behind `\\c`"),
        }
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let text = self.rest().get(..digits)?;
        if !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        self.at += digits;
        u32::from_str_radix(text, 16).ok()
    }

    /// The character of an escape behind `\u`, or the half of a surrogate pair that has no other half.
    fn unicode_escape(&mut self, start: usize) -> Result<Result<char, u32>, PatternError> {
        if self.eat("{") {
            let digits = self.rest().bytes().take_while(u8::is_ascii_hexdigit).count();
            let value = self.rest()[..digits].trim_start_matches('0');
            let value = u32::from_str_radix(if value.is_empty() { "0" } else { value }, 16);
            self.at += digits;
            let value = value.ok().filter(|&value| digits > 0 && value <= u32::from(char::MAX));
            let Some(value) = value.filter(|_| self.eat("}")) else {
                return self.syntax(start, "`\\u{…}` with a code point");
            };
            return Ok(char::from_u32(value).ok_or(value));
        }
        let Some(unit) = self.hexadecimal(4) else {
            return self.syntax(start, "four hexadecimal digits behind `\\u`");
        };
        if let Some(c) = char::from_u32(unit) {
            return Ok(Ok(c));
        }
        let behind = self.at;
        if (0xD800..0xDC00).contains(&unit)
            && self.eat("\\u")
            && let Some(low) = self.hexadecimal(4).filter(|low| (0xDC00..0xE000).contains(low))
            && let Some(c) = char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        {
            return Ok(Ok(c));
        }
        self.at = behind;
        Ok(Err(unit))
    }

    /// `\1` to `\9…`: a reference, or in Annex B an octal escape.
    fn decimal(&mut self, start: usize, in_class: bool) -> Result<char, PatternError> {
        let digits = self.source[start + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let text = &self.source[start + 1..start + 1 + digits];
        let refers = !text.starts_with('0') && text.parse::<usize>().is_ok_and(|number| number <= self.groups);
        if !in_class && refers {
            return Err(PatternError::Unsupported {
                offset: start,
                what: "a backreference",
            });
        }
        let octal = text
            .bytes()
            .take(if text.starts_with(['0', '1', '2', '3']) { 3 } else { 2 });
        let octal = octal.take_while(|b| (b'0'..=b'7').contains(b)).count();
        if self.strict() || octal == 0 {
            return self.syntax(start, "a reference to a group that there is");
        }
        self.at = start + 1 + octal;
        let value = u32::from_str_radix(&text[..octal], 8).ok();
        value
            .and_then(char::from_u32)
            .map_or_else(|| self.syntax(start, "an octal escape"), Ok)
    }

    fn named_reference(&mut self, start: usize) -> Result<ParsedEscape, PatternError> {
        if self.eat("<") && self.has_names && self.group_name().is_ok() {
            return Err(PatternError::Unsupported {
                offset: start,
                what: "a backreference",
            });
        }
        self.syntax(start, "`\\k<name>` with the name of a group")
    }

    fn property(&mut self, start: usize, negated: bool) -> Result<CharSet, PatternError> {
        let rest = self.rest();
        let Some(end) = rest.find('}').filter(|_| rest.starts_with('{')) else {
            return self.syntax(start, "`{…}` behind `\\p`");
        };
        let name = &rest[1..end];
        let Some(set) = crate::strings::unicode_properties::property(name) else {
            return match crate::strings::unicode_properties::is_property(name) {
                true => Err(PatternError::Unsupported {
                    offset: start,
                    what: "a property without a table",
                }),
                false => self.syntax(start, "a Unicode property of ECMA-262"),
            };
        };
        self.at += end + 1;
        Ok(if negated { set.complement() } else { set })
    }

    /// A class in brackets.
    pub(super) fn bracketed(&mut self) -> Result<CharSet, PatternError> {
        let start = self.at;
        self.at += 1;
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        let mut sets = Vec::new();
        while !self.eat("]") {
            let from = self.at;
            let first = self.class_atom(start)?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            if !is_range {
                keep(first, &mut ranges, &mut sets);
                continue;
            }
            self.at += 1;
            let last = self.class_atom(start)?;
            match (first.code_point(), last.code_point()) {
                (Some(first), Some(last)) if first <= last => ranges.extend(characters_between(first, last)),
                (Some(_), Some(_)) => {
                    return self.syntax(from, "a range that does not run backwards");
                }
                _ if self.strict() => return self.syntax(from, "a range between two characters"),
                _ => {
                    ranges.push(('-', '-'));
                    keep(first, &mut ranges, &mut sets);
                    keep(last, &mut ranges, &mut sets);
                }
            }
        }
        let set = sets
            .iter()
            .fold(CharSet::from_ranges(ranges), |all, set| all.union(set));
        // A negated class leaves out its characters in either case.
        let set = self.flagged(set);
        Ok(if negated { set.complement() } else { set })
    }

    fn class_atom(&mut self, start: usize) -> Result<ParsedEscape, PatternError> {
        match self.peek() {
            None => self.syntax(start, "a `]` that closes this class"),
            Some('\\') => self.escape(true),
            Some(c) => {
                self.at += c.len_utf8();
                Ok(ParsedEscape::Character(c))
            }
        }
    }
}

/// The first and the last of the characters from one code point to another; `None` if there are only surrogates.
fn characters_between(first: u32, last: u32) -> Option<(char, char)> {
    let first = char::from_u32(first).unwrap_or('\u{e000}');
    let last = char::from_u32(last).unwrap_or('\u{d7ff}');
    (first <= last).then_some((first, last))
}

fn keep(atom: ParsedEscape, ranges: &mut Vec<(char, char)>, sets: &mut Vec<CharSet>) {
    match atom {
        ParsedEscape::Character(c) => ranges.push((c, c)),
        ParsedEscape::Class(set) => sets.push(set),
        ParsedEscape::Surrogate(_) | ParsedEscape::Boundary { .. } | ParsedEscape::Text(_) => {}
    }
}
