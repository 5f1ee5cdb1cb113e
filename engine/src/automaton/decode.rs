//! [`DecodeState`]: from the bytes of a JSON string to its characters.

use crate::Escapes;
use smallvec::{SmallVec, smallvec};
use std::hash::Hash;

/// Where in a character a string stands. Escapes and UTF-8 sequences take several bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum DecodeState {
    /// Between characters.
    #[default]
    Between,
    /// After a backslash.
    Escape,
    /// In the digits of `\uXXXX`, after so many of them.
    Hex {
        /// Digits read.
        digits: u8,
        /// Their value.
        value: u16,
        /// The high surrogate before, where this is the second half of a pair.
        high: Option<u16>,
    },
    /// After a high surrogate, which a low one has to follow.
    High(u16),
    /// After a high surrogate and a backslash.
    HighEscape(u16),
    /// In a UTF-8 sequence: the bits so far, and how many bytes are missing.
    Utf8 {
        /// The bits of the bytes read.
        bits: u32,
        /// Bytes to come.
        missing: u8,
        /// The least character that a sequence of this length may spell.
        least: u32,
    },
}

/// Whether a byte is a character of a string by itself, in any style.
pub(crate) fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

/// The characters that some bytes begin with and that stand for themselves, if they are more than one.
pub(in crate::automaton) fn several_plain(bytes: &[u8]) -> Option<&str> {
    let count = bytes.iter().take_while(|byte| is_plain(**byte)).count();
    let characters = std::str::from_utf8(&bytes[..count]).ok();
    characters.filter(|_| count > 1)
}

/// What a byte brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// The string goes on, no character is complete.
    Partial(DecodeState),
    /// A character is complete.
    Character(char),
    /// The closing quote.
    End,
    /// The byte cannot stand here.
    Refused,
}

impl DecodeState {
    /// Reads a byte.
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

    /// The characters that may come out, as inclusive ranges; all where any may.
    pub(crate) fn possible(self, escapes: Escapes) -> SmallVec<[(u32, u32); 4]> {
        const LAST: u32 = 0x10_FFFF;
        match self {
            Self::Escape if escapes != Escapes::Any => {
                let mut ranges = smallvec![(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)];
                ranges.extend(escapes.by_number().iter().copied().filter(|(first, _)| *first > 0x5C));
                ranges
            }
            Self::Hex { digits, value, .. } if escapes != Escapes::Any => {
                let open = 4 * (4 - u32::from(digits));
                let first = u32::from(value) << open;
                let ranges = escapes.by_number().iter();
                let ranges = ranges.map(|&(low, high)| (low.max(first), high.min(first + (1 << open) - 1)));
                ranges.filter(|(first, last)| first <= last).collect()
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
                if escapes == Escapes::Printable {
                    ranges = without(&ranges, escapes.by_number().iter().copied()).into();
                }
                ranges.retain(|(first, last)| first <= last);
                ranges
            }
        }
    }
}

fn is_in(ranges: &[(u32, u32)], code: u32) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

/// Ranges of characters without others; both are sorted.
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

/// A character that was not escaped, where it need not be.
fn as_it_is(decoded: Decoded, escapes: Escapes) -> Decoded {
    match decoded {
        Decoded::Character(character) if escapes.hides(character) => Decoded::Refused,
        decoded => decoded,
    }
}

/// The characters whose surrogate pairs begin with one of these high surrogates.
fn pairs(first: u16, last: u16) -> (u32, u32) {
    let base = |high: u16| 0x1_0000 + ((u32::from(high) - 0xD800) << 10);
    (base(first), base(last) + 0x3FF)
}

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

/// A code point as a character; surrogates and what is past the last are none.
fn character(code: u32) -> Decoded {
    char::from_u32(code).map_or(Decoded::Refused, Decoded::Character)
}

#[cfg(test)]
mod tests;
