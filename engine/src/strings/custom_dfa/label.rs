//! Labels of internationalised names, read from their beginning: the rules of [`super::idna`] one character at a time.

use unicode_bidi::BidiClass;
use unicode_joining_type::{JoiningType, get_joining_type};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc, is_nfc_quick};

use super::idna::{
    Demand, JOINER, KATAKANA_MIDDLE_DOT, KERAIA, MIDDLE_DOT, NON_JOINER, Tables, is_virama, joins_next, may_stand,
};

/// The state behind a prefix of a label that breaks no rule so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct LabelReading {
    /// Number of characters.
    length: u8,
    /// Whether some character is beyond ASCII.
    wide: bool,
    /// Whether some character is a capital letter of ASCII.
    capital: bool,
    /// Whether the last character is a hyphen.
    hyphen: bool,
    direction: Direction,
    /// Whether a label of this direction may end here.
    ends: bool,
    /// The combining class of the last character.
    combining: u8,
    wait: Wait,
    /// Whether there is a katakana middle dot, but nothing of a script that it goes with.
    lacks_japanese: bool,
    /// The kind of digits read, of the kinds that may not stand together.
    digits: Option<DigitKind>,
}

/// The direction of a label, which its first character decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Direction {
    /// No direction: the label breaks the rule on bidirectional names.
    #[default]
    Broken,
    LeftToRight,
    /// From right to left, with the kinds of numbers, as the rule tells them apart, of which only one may occur.
    RightToLeft {
        european: bool,
        arabic: bool,
    },
}

/// The requirement on the next character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Wait {
    #[default]
    Nothing,
    /// The character is an `l`.
    Ell,
    /// The character is Greek.
    Greek,
    /// The character joins the one before, where transparent ones do not count.
    Joined,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DigitKind {
    Arabic,
    ExtendedArabic,
}

impl LabelReading {
    /// Returns the state after `c`, which stands behind `before`; none if no label begins like that.
    pub(super) fn after(&self, before: &str, c: char) -> Option<Self> {
        let stands = match c {
            'A'..='Z' => !self.wide,
            _ => may_stand(c) && (c.is_ascii() || !self.capital),
        };
        let hyphen = c == '-';
        let first = self.length == 0;
        let misplaced = match self.length {
            0 => hyphen || (!c.is_ascii() && Tables::get().marks.contains(c)),
            3 => hyphen && self.hyphen,
            _ => false,
        };
        if !stands || misplaced {
            return None;
        }
        let wait = self.wait_behind(before, c)?;
        let class = match c {
            '0'..='9' => BidiClass::EN,
            '-' => BidiClass::ES,
            _ if c.is_ascii() => BidiClass::L,
            _ => unicode_bidi::bidi_class(c),
        };
        let direction = self.direction.behind(first, class)?;
        Some(Self {
            length: self.length.saturating_add(1),
            wide: self.wide || !c.is_ascii(),
            capital: self.capital || c.is_ascii_uppercase(),
            hyphen,
            direction,
            ends: direction.ends(class).unwrap_or(self.ends),
            combining: self.combining_behind(before, c)?,
            wait,
            lacks_japanese: self.lacks_japanese_behind(before, c),
            digits: self.digits_behind(c)?,
        })
    }

    fn wait_behind(&self, before: &str, c: char) -> Option<Wait> {
        let last = before.chars().next_back();
        let waits = match self.wait {
            Wait::Nothing => Wait::Nothing,
            Wait::Ell if c == 'l' => Wait::Nothing,
            Wait::Greek if Tables::get().greek.contains(c) => Wait::Nothing,
            Wait::Joined => match get_joining_type(c) {
                JoiningType::Transparent => Wait::Joined,
                JoiningType::RightJoining | JoiningType::DualJoining => Wait::Nothing,
                _ => return None,
            },
            Wait::Ell | Wait::Greek => return None,
        };
        match c {
            MIDDLE_DOT => (last == Some('l')).then_some(Wait::Ell),
            KERAIA => Some(Wait::Greek),
            '\u{5F3}' | '\u{5F4}' => last.is_some_and(|c| Tables::get().hebrew.contains(c)).then_some(waits),
            JOINER => last.is_some_and(is_virama).then_some(waits),
            NON_JOINER if last.is_some_and(is_virama) => Some(waits),
            NON_JOINER => joins_next(before.chars()).then_some(Wait::Joined),
            _ => Some(waits),
        }
    }

    /// The combining class of `c`; none if it is not as normalisation would have it behind `before`.
    fn combining_behind(&self, before: &str, c: char) -> Option<u8> {
        if c.is_ascii() {
            return Some(0);
        }
        let class = canonical_combining_class(c);
        let ordered = class == 0 || self.combining <= class;
        let apart = ordered && is_nfc_quick([c].into_iter()) == IsNormalized::Yes;
        (apart || is_nfc(&format!("{before}{c}"))).then_some(class)
    }

    fn lacks_japanese_behind(&self, before: &str, c: char) -> bool {
        let japanese = |c| Tables::get().japanese.contains(c);
        match c {
            KATAKANA_MIDDLE_DOT => !before.chars().any(japanese),
            _ => self.lacks_japanese && !japanese(c),
        }
    }

    fn digits_behind(&self, c: char) -> Option<Option<DigitKind>> {
        let digits = match c {
            '\u{660}'..='\u{669}' => DigitKind::Arabic,
            '\u{6F0}'..='\u{6F9}' => DigitKind::ExtendedArabic,
            _ => return Some(self.digits),
        };
        self.digits
            .is_none_or(|others| others == digits)
            .then_some(Some(digits))
    }

    /// Whether the label is complete, but for its length once encoded.
    pub(super) fn is_label(&self, demand: Demand) -> bool {
        let right_to_left = matches!(self.direction, Direction::RightToLeft { .. });
        let whole = self.length > 0 && !self.hyphen && self.wait == Wait::Nothing && !self.lacks_japanese;
        whole
            && match demand {
                Demand::Any => self.ends || !right_to_left,
                Demand::Directed => self.ends,
                Demand::LeftToRight => !right_to_left,
            }
    }

    /// Whether a label that begins like this may meet the demand.
    pub(super) fn may_serve(&self, demand: Demand) -> bool {
        match self.direction {
            _ if self.length == 0 => true,
            Direction::Broken => demand != Demand::Directed,
            Direction::LeftToRight => true,
            Direction::RightToLeft { .. } => demand != Demand::LeftToRight,
        }
    }

    /// Whether there is a character beyond ASCII.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }
}

impl Direction {
    /// The direction of a label with a character of `class` more; none if no label has such characters.
    fn behind(self, first: bool, class: BidiClass) -> Option<Self> {
        use BidiClass::{AL, AN, EN, L, R};
        match (self, class) {
            (_, R | AL) if first => Some(Self::RightToLeft {
                european: false,
                arabic: false,
            }),
            (_, L) if first => Some(Self::LeftToRight),
            (Self::Broken | Self::LeftToRight, R | AL | AN) | (Self::RightToLeft { .. }, L) => None,
            (Self::RightToLeft { arabic, .. }, EN) => (!arabic).then_some(Self::RightToLeft { european: true, arabic }),
            (Self::RightToLeft { european, .. }, AN) => {
                (!european).then_some(Self::RightToLeft { european, arabic: true })
            }
            _ => Some(self),
        }
    }

    /// Whether a label of this direction may end in a character of `class`; none if those before it count.
    fn ends(self, class: BidiClass) -> Option<bool> {
        use BidiClass::{AL, AN, EN, L, NSM, R};
        match self {
            _ if class == NSM => None,
            Self::Broken => Some(false),
            Self::LeftToRight => Some(matches!(class, L | EN)),
            Self::RightToLeft { .. } => Some(matches!(class, R | AL | EN | AN)),
        }
    }
}
