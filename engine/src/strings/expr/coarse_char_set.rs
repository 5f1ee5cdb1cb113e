//! [`CoarseCharSet`]: which characters may come first in texts of an expression, and which at all, seen from its parts when
//! it is made.

use crate::strings::charset::{CharRange, LAST};

/// Characters of ASCII that may come, a bit each, and whether others may. Some of them may lead nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoarseCharSet {
    ascii: u128,
    others: bool,
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

    /// Whether all of them are in a class.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::{LanguageLimits, Languages};

    /// Whatever leads on in the table of an expression's derivatives, and in those of what it leads to, may come first, and
    /// is among all that may come before it is read.
    #[test]
    fn no_character_is_missed() -> Result<(), Box<dyn std::error::Error>> {
        let mut languages = Languages::new(&LanguageLimits::default());
        let patterns = [
            r"^a?b*c+$",
            r"^(?:é|[x-z])?[0-9]{0,3}$",
            r"^(?!ab)[a-c]+(?<!c)$",
            r"^\w+\b-?$",
            r"foo$",
            r"^(?=.{3}$)[^a]*$",
        ];
        let mut open = vec![languages.any()];
        for pattern in patterns {
            open.push(languages.pattern(pattern)?);
        }
        for format in ["date-time", "time", "email", "uri", "ipv6"] {
            open.extend(languages.format(format)?);
        }
        let mut at = 0;
        while at < open.len().min(2_000) {
            let language = open[at];
            at += 1;
            let (firsts, used) = (
                languages.coarse_first_characters(language),
                languages.arena.used(language),
            );
            for (range, target) in languages.transitions(language)?.iter() {
                for character in [range.first(), range.last()] {
                    assert_eq!(firsts.none_up_to(character.into()), None, "{language:?} {character:?}");
                    assert_eq!(used.none_up_to(character.into()), None, "{language:?} {character:?}");
                }
                let later = languages.arena.used(*target);
                assert_eq!(used.or(later), used, "{language:?} {target:?}");
                if !open.contains(target) {
                    open.push(*target);
                }
            }
        }
        assert!(at > 500, "{at} states");
        Ok(())
    }

    #[test]
    fn stretches_without_a_first_character_are_found() {
        let firsts = CoarseCharSet::of([CharRange::new(48, 57), CharRange::new(100, 100)].into_iter());
        let last = u32::from(char::MAX);
        let expected = [
            (0, Some(47)),
            (48, None),
            (57, None),
            (58, Some(99)),
            (100, None),
            (101, Some(last)),
        ];
        for (character, up_to) in expected {
            assert_eq!(firsts.none_up_to(character), up_to, "{character}");
        }
        assert_eq!(firsts.none_up_to(0x80), Some(last));
        assert!(firsts.are_ascii() && !CoarseCharSet::ALL.are_ascii());
        assert_eq!(
            CoarseCharSet::of([CharRange::new(0, 300)].into_iter()),
            CoarseCharSet::ALL
        );
        let wide = CoarseCharSet::of([CharRange::new(127, 127), CharRange::new(200, 300)].into_iter());
        assert_eq!(
            (wide.none_up_to(0), wide.none_up_to(127), wide.none_up_to(0x80)),
            (Some(126), None, None)
        );
        let digits = [CharRange::new(48, 57), CharRange::new(0x80, LAST)];
        let one = CoarseCharSet::of([CharRange::new(49, 49)].into_iter());
        assert!(one.are_in(&digits) && one.are_in(&digits[..1]) && !one.are_in(&digits[1..]));
        assert!(CoarseCharSet::NONE.are_in(&[]) && !firsts.are_in(&digits) && !wide.are_in(&digits));
        let other = CoarseCharSet { ascii: 0, others: true };
        assert!(other.are_in(&digits) && !other.are_in(&[CharRange::new(0, 300)]));
        assert_eq!(other.none_up_to(5), Some(0x7F));
    }
}
