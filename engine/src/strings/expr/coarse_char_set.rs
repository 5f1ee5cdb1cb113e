//! [`CoarseCharSet`]: a superset of the characters that can come first, or at all, in the texts of an expression: one bit for each
//! ASCII character, and one for all others.

use crate::strings::charset::{CharRange, LAST};

/// Characters of ASCII that may come, a bit each, and whether others may. Some of them may lead nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoarseCharSet {
    pub(in crate::strings) ascii: u128,
    pub(in crate::strings) others: bool,
}

impl CoarseCharSet {
    pub(in crate::strings) const NONE: Self = Self {
        ascii: 0,
        others: false,
    };
    pub(in crate::strings) const ALL: Self = Self {
        ascii: u128::MAX,
        others: true,
    };

    pub(in crate::strings) fn of(ranges: impl Iterator<Item = CharRange>) -> Self {
        let mut firsts = Self::NONE;
        for range in ranges {
            if range.first < 0x80 {
                let last = range.last.min(0x7F);
                firsts.ascii |= (u128::MAX >> (127 - (last - range.first))) << range.first;
            }
            firsts.others |= range.last >= 0x80;
        }
        firsts
    }

    pub(in crate::strings) fn of_text(text: &str) -> Self {
        let ascii = text.bytes().fold(0, |all, byte| all | 1 << byte);
        Self { ascii, others: false }
    }

    pub(in crate::strings) fn or(self, other: Self) -> Self {
        Self {
            ascii: self.ascii | other.ascii,
            others: self.others || other.others,
        }
    }

    pub(in crate::strings) fn and(self, other: Self) -> Self {
        Self {
            ascii: self.ascii & other.ascii,
            others: self.others && other.others,
        }
    }

    /// Number of characters, of which those beyond ASCII count as many.
    pub(in crate::strings) fn count(self) -> u32 {
        self.ascii.count_ones() + if self.others { 128 } else { 0 }
    }

    /// Whether all characters of the set are in a class.
    pub(in crate::strings) fn are_in(self, class: &[CharRange]) -> bool {
        let has_others = class
            .last()
            .is_some_and(|range| range.first <= 0x80 && range.last == LAST);
        self.ascii & !Self::of(class.iter().copied()).ascii == 0 && (has_others || !self.others)
    }

    /// The characters of ASCII that are not among them, as bits.
    pub(in crate::strings) fn ascii_besides(self) -> u128 {
        !self.ascii
    }

    /// Whether only characters of ASCII may.
    pub(crate) fn are_ascii(self) -> bool {
        !self.others
    }

    /// The last character up to which none may from one on; none if that one may.
    pub(crate) fn none_up_to(self, character: u32) -> Option<u32> {
        if character >= 0x80 {
            return (!self.others).then_some(u32::from(char::MAX));
        }
        match (self.ascii >> character).trailing_zeros() {
            0 => None,
            count if character + count < 0x80 => Some(character + count - 1),
            _ if self.others => Some(0x7F),
            _ => Some(u32::from(char::MAX)),
        }
    }
}
