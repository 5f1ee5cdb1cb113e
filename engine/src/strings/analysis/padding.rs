//! [`Padding`]: characters that may stand before or behind a text, whatever the text is, without effect on whether a language has it.

use hashbrown::HashSet;

use crate::strings::language_id::LanguageId;
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;

/// The characters that are tried: hardly any pattern speaks of all of them.
const TRIED: [char; 64] = [
    '\u{1}', '\u{e000}', 'é', '一', ' ', '!', '"', '#', '%', '&', '\'', '(', '*', '+', ',', '-', '.', '/', ':', ';',
    '<', '=', '@', '[', '^', '_', '`', '{', '~', '0', '1', '2', '5', '7', '9', 'A', 'B', 'C', 'E', 'J', 'K', 'Q', 'S',
    'X', 'Z', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'n', 'o', 'q', 't', 'u', 'w', 'x', 'z',
];
/// States of a language beyond which nothing is said of what may stand behind its texts.
const MAX_STATES: usize = 64;

/// The padding of a language, as far as it has been looked for: the characters that do not matter before a text, and those that do not matter
/// behind it, as bits in the order of [`TRIED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Padding {
    before: u64,
    behind: u64,
}

impl Padding {
    /// The padding of the language of all texts.
    pub(crate) const ALL: Self = Self {
        before: u64::MAX,
        behind: u64::MAX,
    };
    const NONE: Self = Self { before: 0, behind: 0 };

    /// The padding of two languages, and of all that are made of them by union, intersection and complement.
    pub(crate) fn of_both(self, other: Self) -> Self {
        Self {
            before: self.before & other.before,
            behind: self.behind & other.behind,
        }
    }

    /// Whether there is a character that does not matter, so that a language is empty or infinite.
    pub(crate) fn is_some(self) -> bool {
        self != Self::NONE
    }
}

impl Languages {
    /// Returns the padding of a language, or a part of it; none where looking for it meets a limit.
    pub(crate) fn padding(&mut self, language: LanguageId) -> Padding {
        if self.is_non_enumerable(language) {
            return Padding::NONE;
        }
        self.find_padding(language).unwrap_or(Padding::NONE)
    }

    fn find_padding(&mut self, language: LanguageId) -> Result<Padding, LimitReached> {
        let mut padding = Padding {
            before: 0,
            behind: u64::MAX,
        };
        let mut states = vec![language];
        let mut seen: HashSet<LanguageId> = HashSet::from([language]);
        let mut at = 0;
        while let Some(&state) = states.get(at) {
            let accepts = self.accepts_empty(state);
            for (place, c) in TRIED.into_iter().enumerate() {
                let after = self.derivative(state, c)?;
                padding.before |= u64::from(at == 0 && after == language) << place;
                padding.behind &= !(u64::from(self.accepts_empty(after) != accepts) << place);
            }
            at += 1;
            if padding.behind == 0 {
                break;
            }
            for (_, target) in self.transitions(state)?.iter() {
                if seen.insert(*target) {
                    states.push(*target);
                }
            }
            if states.len() > MAX_STATES {
                padding.behind = 0;
                break;
            }
        }
        Ok(padding)
    }
}
