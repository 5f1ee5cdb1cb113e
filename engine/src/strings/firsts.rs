//! [`Firsts`]: which characters may come first in texts of an expression, seen from its parts when it is made.

use super::charset::CharRange;
use super::node::{Arena, LanguageId, LeapMinute, Node};

/// Characters of ASCII that may come first, a bit each, and whether others may. Some of them may lead nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Firsts {
    ascii: u128,
    others: bool,
}

impl Firsts {
    const NONE: Self = Self {
        ascii: 0,
        others: false,
    };
    const ALL: Self = Self {
        ascii: u128::MAX,
        others: true,
    };

    fn of(ranges: impl Iterator<Item = CharRange>) -> Self {
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

    fn of_text(text: &str) -> Self {
        let ascii = text.bytes().fold(0, |all, byte| all | 1 << byte);
        Self { ascii, others: false }
    }

    fn or(self, other: Self) -> Self {
        Self {
            ascii: self.ascii | other.ascii,
            others: self.others || other.others,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            ascii: self.ascii & other.ascii,
            others: self.others && other.others,
        }
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

impl Arena {
    /// What may come first in texts of an expression.
    pub(super) fn firsts(&self, id: LanguageId) -> Firsts {
        self.firsts[id.0 as usize]
    }

    /// The same of an expression that is made, the parts of which have been.
    pub(super) fn firsts_of(&self, node: &Node) -> Firsts {
        match node {
            Node::None | Node::Empty => Firsts::NONE,
            Node::Class(ranges) => Firsts::of(ranges.iter().copied()),
            Node::Branch { edges, .. } => Firsts::of(edges.iter().map(|(range, _)| *range)),
            Node::Concat(first, rest) => {
                let firsts = self.firsts(*first);
                match self.facts(*first).nullable {
                    0 => firsts,
                    _ => firsts.or(self.firsts(*rest)),
                }
            }
            Node::Repeat { inner, .. } => self.firsts(*inner),
            Node::Or(members) => {
                let members = members.iter().map(|member| self.firsts(*member));
                members.fold(Firsts::NONE, Firsts::or)
            }
            Node::And(members) => {
                let members = members.iter().map(|member| self.firsts(*member));
                members.fold(Firsts::ALL, Firsts::and)
            }
            Node::Recall { body, .. } => self.firsts(*body),
            Node::Not(_) | Node::Past(_) | Node::Loop(_) | Node::Native(_) => Firsts::ALL,
            Node::LeapSecond { minute, .. } => Firsts::of_text(match minute {
                LeapMinute::Ahead | LeapMinute::Read(_) => ":",
                LeapMinute::Begun => "012345",
                LeapMinute::Tens(_) => "0123456789",
                LeapMinute::Zone(_) => ".+-Zz",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::{LanguageLimits, Languages};

    /// Whatever leads on in the table of an expression's derivatives, and in those of what it leads to, may come first.
    #[test]
    fn no_first_character_is_missed() -> Result<(), Box<dyn std::error::Error>> {
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
            let firsts = languages.firsts(language);
            for (range, target) in languages.transitions(language)?.iter() {
                for character in [range.first(), range.last()] {
                    assert_eq!(firsts.none_up_to(character.into()), None, "{language:?} {character:?}");
                }
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
        let firsts = Firsts::of([CharRange { first: 48, last: 57 }, CharRange { first: 100, last: 100 }].into_iter());
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
        assert!(firsts.are_ascii() && !Firsts::ALL.are_ascii());
        assert_eq!(Firsts::of([CharRange { first: 0, last: 300 }].into_iter()), Firsts::ALL);
        let wide = Firsts::of([CharRange { first: 127, last: 127 }, CharRange { first: 200, last: 300 }].into_iter());
        assert_eq!(
            (wide.none_up_to(0), wide.none_up_to(127), wide.none_up_to(0x80)),
            (Some(126), None, None)
        );
        let other = Firsts { ascii: 0, others: true };
        assert_eq!(other.none_up_to(5), Some(0x7F));
    }
}
