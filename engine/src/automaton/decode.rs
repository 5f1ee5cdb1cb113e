//! [`DecodeState`]: decodes the bytes of a JSON string to characters.

use crate::Escapes;
use smallvec::{SmallVec, smallvec};
use std::hash::Hash;

/// The decoder's state within a string. Escapes and UTF-8 sequences take several bytes, so a state may lie inside a
/// character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum DecodeState {
    /// Between characters.
    #[default]
    Between,
    /// After a backslash that begins an escape.
    Escape,
    /// Inside `\uXXXX`, after `digits` of its hexadecimal digits.
    Hex {
        /// Number of digits read.
        digits: u8,
        /// The value of the digits read.
        value: u16,
        /// The high surrogate read before, if this is the second half of a surrogate pair.
        high: Option<u16>,
    },
    /// After a high surrogate; a low surrogate must follow.
    High(u16),
    /// After a high surrogate and a backslash; `u` must follow.
    HighEscape(u16),
    /// Inside a UTF-8 sequence.
    Utf8 {
        /// The code point's bits from the bytes read so far.
        bits: u32,
        /// Number of bytes still to come.
        missing: u8,
        /// The least code point that a sequence of this length may encode; smaller ones would be overlong.
        least: u32,
    },
}

/// Whether a byte stands for a character of a string by itself in every style: printable ASCII other than `"` and `\`.
pub(crate) fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

/// The longest run of [plain](is_plain) characters at the beginning of some bytes; `None` if it is shorter than two.
pub(in crate::automaton) fn several_plain(bytes: &[u8]) -> Option<&str> {
    let count = bytes.iter().take_while(|byte| is_plain(**byte)).count();
    let characters = std::str::from_utf8(&bytes[..count]).ok();
    characters.filter(|_| count > 1)
}

/// The result of decoding one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// The string continues, and no character is complete yet.
    Partial(DecodeState),
    /// A character is complete.
    Character(char),
    /// The string's closing quote.
    End,
    /// The byte may not come here.
    Refused,
}

impl DecodeState {
    /// Decodes one byte under the escapes that the style allows.
    pub(crate) fn step(self, byte: u8, escapes: Escapes) -> Decoded {
        match self {
            Self::Between => as_it_is(between(byte), escapes),
            Self::Escape => match escape(byte) {
                Decoded::Character('/') if escapes != Escapes::Any => Decoded::Refused,
                decoded => decoded,
            },
            Self::Hex { digits, value, high } => match hex(digits, value, high, byte) {
                decoded if escapes == Escapes::Any => decoded,
                Decoded::Partial(next) if next.possible(escapes).is_empty() => Decoded::Refused,
                Decoded::Character(character) if !is_in(escapes.by_number(), character.into()) => Decoded::Refused,
                decoded => decoded,
            },
            Self::High(high) if byte == b'\\' => Decoded::Partial(Self::HighEscape(high)),
            Self::HighEscape(high) if byte == b'u' => Decoded::Partial(Self::Hex {
                digits: 0,
                value: 0,
                high: Some(high),
            }),
            Self::High(_) | Self::HighEscape(_) => Decoded::Refused,
            Self::Utf8 { bits, missing, least } => as_it_is(continuation(bits, missing, least, byte), escapes),
        }
    }

    /// The code points that the character being read may still become, as sorted inclusive ranges; between characters
    /// and after a bare backslash, all of them.
    pub(crate) fn possible(self, escapes: Escapes) -> SmallVec<[(u32, u32); 4]> {
        const LAST: u32 = 0x10_FFFF;
        match self {
            Self::Escape if escapes != Escapes::Any => {
                let mut ranges = smallvec![(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)];
                ranges.extend(escapes.by_number().iter().copied().filter(|(first, _)| *first > 0x5C));
                ranges
            }
            Self::Hex { .. } if escapes != Escapes::Any => {
                let all = self.possible(Escapes::Any);
                let allowed = |&(first, last): &(u32, u32)| {
                    let ranges = escapes.by_number().iter();
                    ranges.map(move |&(low, high)| (low.max(first), high.min(last)))
                };
                let both = all.iter().flat_map(allowed);
                both.filter(|(first, last)| first <= last).collect()
            }
            Self::Between | Self::Escape => smallvec![(0, LAST)],
            Self::High(high) | Self::HighEscape(high) => smallvec![pairs(high, high)],
            Self::Hex { digits, value, high } => {
                let open = 4 * (4 - u32::from(digits));
                let first = u32::from(value) << open;
                let last = first + (1 << open) - 1;
                match high {
                    Some(high) => {
                        let low = |unit: u32| 0x1_0000 + ((u32::from(high) - 0xD800) << 10) + (unit - 0xDC00);
                        let (first, last) = (first.max(0xDC00), last.min(0xDFFF));
                        if first > last {
                            SmallVec::new()
                        } else {
                            smallvec![(low(first), low(last))]
                        }
                    }
                    None => {
                        let mut ranges = smallvec![(first, last.min(0xD7FF)), (first.max(0xE000), last)];
                        let (first, last) = (first.max(0xD800), last.min(0xDBFF));
                        if first <= last {
                            ranges.push(pairs(first as u16, last as u16));
                        }
                        ranges.retain(|(first, last)| first <= last);
                        ranges
                    }
                }
            }
            Self::Utf8 { bits, missing, least } => {
                let open = 6 * u32::from(missing);
                let first = (bits << open).max(least);
                let last = ((bits << open) + (1 << open) - 1).min(LAST);
                // UTF-8 has no surrogates.
                let mut ranges = smallvec![(first, last.min(0xD7FF)), (first.max(0xE000), last)];
                if matches!(escapes, Escapes::Printable | Escapes::Ascii) {
                    ranges = without(&ranges, escapes.by_number().iter().copied()).into();
                }
                ranges.retain(|(first, last)| first <= last);
                ranges
            }
        }
    }
}

/// Whether a code point lies in one of some inclusive ranges.
fn is_in(ranges: &[(u32, u32)], code: u32) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

/// Removes the code points in `others` from `ranges`. Both are sorted inclusive ranges.
pub(super) fn without(ranges: &[(u32, u32)], others: impl Iterator<Item = (u32, u32)> + Clone) -> Vec<(u32, u32)> {
    let mut left = Vec::new();
    for &(mut first, last) in ranges {
        for (low, high) in others.clone() {
            if low > last || high < first {
                continue;
            }
            if low > first {
                left.push((first, low - 1));
            }
            first = high + 1;
        }
        if first <= last {
            left.push((first, last));
        }
    }
    left
}

/// Refuses an unescaped character that the style requires to be escaped.
fn as_it_is(decoded: Decoded, escapes: Escapes) -> Decoded {
    match decoded {
        Decoded::Character(character) if escapes.hides(character) => Decoded::Refused,
        decoded => decoded,
    }
}

/// The characters whose surrogate pairs begin with a high surrogate from `first` to `last`, as an inclusive range.
fn pairs(first: u16, last: u16) -> (u32, u32) {
    let base = |high: u16| 0x1_0000 + ((u32::from(high) - 0xD800) << 10);
    (base(first), base(last) + 0x3FF)
}

/// Decodes a byte between two characters.
fn between(byte: u8) -> Decoded {
    let utf8 = |bits: u8, missing: u8, least: u32| {
        Decoded::Partial(DecodeState::Utf8 {
            bits: u32::from(bits),
            missing,
            least,
        })
    };
    match byte {
        b'"' => Decoded::End,
        b'\\' => Decoded::Partial(DecodeState::Escape),
        0x20..=0x7F => Decoded::Character(char::from(byte)),
        0xC2..=0xDF => utf8(byte & 0x1F, 1, 0x80),
        0xE0..=0xEF => utf8(byte & 0x0F, 2, 0x800),
        0xF0..=0xF4 => utf8(byte & 0x07, 3, 0x1_0000),
        _ => Decoded::Refused,
    }
}

/// Decodes the byte after a backslash.
fn escape(byte: u8) -> Decoded {
    Decoded::Character(match byte {
        b'"' | b'\\' | b'/' => char::from(byte),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            return Decoded::Partial(DecodeState::Hex {
                digits: 0,
                value: 0,
                high: None,
            });
        }
        _ => return Decoded::Refused,
    })
}

/// Decodes one hexadecimal digit of `\uXXXX`.
fn hex(digits: u8, value: u16, high: Option<u16>, byte: u8) -> Decoded {
    let Some(digit) = char::from(byte).to_digit(16) else {
        return Decoded::Refused;
    };
    let value = value << 4 | digit as u16;
    if digits < 3 {
        let digits = digits + 1;
        return Decoded::Partial(DecodeState::Hex { digits, value, high });
    }
    match (high, value) {
        (None, 0xD800..=0xDBFF) => Decoded::Partial(DecodeState::High(value)),
        (None, _) => character(u32::from(value)),
        (Some(high), 0xDC00..=0xDFFF) => {
            character(0x1_0000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(value) - 0xDC00))
        }
        (Some(_), _) => Decoded::Refused,
    }
}

fn continuation(bits: u32, missing: u8, least: u32, byte: u8) -> Decoded {
    if byte & 0xC0 != 0x80 {
        return Decoded::Refused;
    }
    let bits = bits << 6 | u32::from(byte & 0x3F);
    match missing {
        1 if bits >= least => character(bits),
        1 => Decoded::Refused,
        _ => {
            let missing = missing - 1;
            Decoded::Partial(DecodeState::Utf8 { bits, missing, least })
        }
    }
}

/// Decodes a code point; surrogates and numbers beyond the last code point are refused.
fn character(code: u32) -> Decoded {
    char::from_u32(code).map_or(Decoded::Refused, Decoded::Character)
}

#[cfg(test)]
mod tests;
