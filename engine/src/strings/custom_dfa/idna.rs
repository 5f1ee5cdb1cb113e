//! Rules for a label of an internationalised name: RFC 5891 to 5893.

use std::sync::OnceLock;

use unicode_bidi::BidiClass;
use unicode_joining_type::{JoiningType, get_joining_type};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

use crate::strings::charset::CharSet;
use crate::strings::unicode_properties::property;

/// Characters that are allowed whatever their properties (RFC 5892, section 2.6).
const ALLOWED: &str = "\u{DF}\u{3C2}\u{6FD}\u{6FE}\u{F0B}\u{3007}";
/// Characters that need a context (CONTEXTO), and the joiners (CONTEXTJ).
const CONTEXTUAL: [(char, char); 7] = [
    ('\u{B7}', '\u{B7}'),
    ('\u{375}', '\u{375}'),
    ('\u{5F3}', '\u{5F4}'),
    ('\u{660}', '\u{669}'),
    ('\u{6F0}', '\u{6F9}'),
    ('\u{30FB}', '\u{30FB}'),
    ('\u{200C}', '\u{200D}'),
];
/// Characters that are never allowed: exceptions (section 2.6), blocks to be ignored (2.4), old Hangul jamo (2.9).
const DISALLOWED: [(char, char); 11] = [
    ('\u{640}', '\u{640}'),
    ('\u{7FA}', '\u{7FA}'),
    ('\u{302E}', '\u{302F}'),
    ('\u{3031}', '\u{3035}'),
    ('\u{303B}', '\u{303B}'),
    ('\u{20D0}', '\u{20FF}'),
    ('\u{1D100}', '\u{1D1FF}'),
    ('\u{1D200}', '\u{1D24F}'),
    ('\u{1100}', '\u{11FF}'),
    ('\u{A960}', '\u{A97F}'),
    ('\u{D7B0}', '\u{D7FF}'),
];
/// Separators between labels.
pub(in crate::strings) const DOTS: &str = ".\u{3002}\u{FF0E}\u{FF61}";
pub(in crate::strings) const MIDDLE_DOT: char = '\u{B7}';
pub(in crate::strings) const KERAIA: char = '\u{375}';
pub(in crate::strings) const KATAKANA_MIDDLE_DOT: char = '\u{30FB}';
pub(in crate::strings) const NON_JOINER: char = '\u{200C}';
pub(in crate::strings) const JOINER: char = '\u{200D}';
const VIRAMA: u8 = 9;

/// The sets that rules speak of, from the Unicode tables.
#[derive(Debug)]
pub(in crate::strings) struct Tables {
    /// Characters that may stand in a label, in some context at least.
    pub(in crate::strings) allowed: CharSet,
    /// Characters that may stand in a name.
    pub(in crate::strings) letters: CharSet,
    pub(in crate::strings) marks: CharSet,
    pub(in crate::strings) greek: CharSet,
    pub(in crate::strings) hebrew: CharSet,
    /// Hiragana, Katakana and Han.
    pub(in crate::strings) japanese: CharSet,
}

impl Tables {
    /// The tables, worked out when first asked for.
    pub(in crate::strings) fn get() -> &'static Self {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(Self::new)
    }

    fn new() -> Self {
        let union = |names: &[&str]| {
            let sets = names.iter().filter_map(|name| property(name));
            sets.fold(CharSet::default(), |all, set| all.union(&set))
        };
        let letters = union(&["Ll", "Lu", "Lo", "Lm", "Mn", "Mc", "Nd"]);
        let ignorable = union(&["Default_Ignorable_Code_Point", "White_Space", "Noncharacter_Code_Point"]);
        let disallowed = ignorable.union(&CharSet::from_ranges(DISALLOWED));
        let candidates = letters.intersection(&disallowed.complement());
        let stable = candidates
            .ranges()
            .iter()
            .flat_map(|range| range.first()..=range.last());
        let stable = CharSet::from_ranges(stable.filter(|&c| is_stable(c)).map(|c| (c, c)));
        let allowed = stable
            .union(&CharSet::of(ALLOWED))
            .union(&CharSet::from_ranges(CONTEXTUAL))
            .union(&CharSet::of("-"));
        let ascii = CharSet::from_ranges([('0', '9'), ('A', 'Z'), ('a', 'z')]);
        Self {
            letters: allowed.union(&ascii).union(&CharSet::of(DOTS)),
            allowed,
            marks: union(&["M"]),
            greek: union(&["sc=Greek"]),
            hebrew: union(&["sc=Hebrew"]),
            japanese: union(&["sc=Hiragana", "sc=Katakana", "sc=Han"]),
        }
    }
}

/// Whether `c` is left as it is by compatibility normalisation and case folding (RFC 5892, section 2.2).
fn is_stable(c: char) -> bool {
    match c {
        // Cherokee alone folds to its capitals.
        '\u{13A0}'..='\u{13F5}' => return true,
        '\u{13F8}'..='\u{13FD}' | '\u{AB70}'..='\u{ABBF}' => return false,
        // Its capital is `I`, but it does not fold to `i`.
        '\u{131}' => return true,
        _ => {}
    }
    // Folding is lower case of upper case otherwise.
    let folded: String = c.to_uppercase().flat_map(char::to_lowercase).collect();
    let folds_to_itself = folded.chars().eq([c]);
    let mut decomposed = 0;
    decompose_compatible(c, |part| decomposed += 1 + usize::from(part != c));
    if folds_to_itself && decomposed == 1 {
        return true;
    }
    let normal: String = [c].into_iter().nfkc().collect();
    let folded = normal.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folded.nfkc().eq([c])
}

/// Whether `c` may stand in a label, in some context at least.
pub(in crate::strings) fn may_stand(c: char) -> bool {
    match c {
        '-' | '0'..='9' | 'a'..='z' => true,
        _ if c.is_ascii() => false,
        _ => Tables::get().allowed.contains(c),
    }
}

/// Whether `label` is a U-label, but for its length once encoded.
pub(in crate::strings) fn is_u_label(label: &[char]) -> bool {
    let (Some(&first), Some(&last)) = (label.first(), label.last()) else {
        return false;
    };
    let reserved = label.get(2..4) == Some(&['-', '-']);
    first != '-'
        && last != '-'
        && !reserved
        && label.iter().any(|c| !c.is_ascii())
        && !Tables::get().marks.contains(first)
        && (0..label.len()).all(|place| may_stand(label[place]) && in_context(label, place))
        && !mixes_digits(label)
        && label.iter().copied().nfc().eq(label.iter().copied())
        && (!is_right_to_left(label) || keeps_direction(label))
}

/// The rule on the character at `place`, if its kind has one (RFC 5892, appendix A).
fn in_context(label: &[char], place: usize) -> bool {
    let tables = Tables::get();
    let before = place.checked_sub(1).map(|place| label[place]);
    let after = label.get(place + 1).copied();
    match label[place] {
        MIDDLE_DOT => before == Some('l') && after == Some('l'),
        KERAIA => after.is_some_and(|c| tables.greek.contains(c)),
        '\u{5F3}' | '\u{5F4}' => before.is_some_and(|c| tables.hebrew.contains(c)),
        KATAKANA_MIDDLE_DOT => label.iter().any(|&c| tables.japanese.contains(c)),
        JOINER => before.is_some_and(is_virama),
        NON_JOINER => before.is_some_and(is_virama) || joins(&label[..place], &label[place + 1..]),
        _ => true,
    }
}

pub(in crate::strings) fn is_virama(c: char) -> bool {
    canonical_combining_class(c) == VIRAMA
}

/// Whether letters that join stand before and after a non-joiner.
fn joins(before: &[char], after: &[char]) -> bool {
    let right = after.iter().map(|&c| get_joining_type(c)).find(is_solid);
    joins_next(before.iter().copied()) && matches!(right, Some(JoiningType::RightJoining | JoiningType::DualJoining))
}

/// Whether the last letter of `text` joins the next.
pub(in crate::strings) fn joins_next(text: impl DoubleEndedIterator<Item = char>) -> bool {
    let left = text.rev().map(get_joining_type).find(is_solid);
    matches!(left, Some(JoiningType::LeftJoining | JoiningType::DualJoining))
}

fn is_solid(joining: &JoiningType) -> bool {
    *joining != JoiningType::Transparent
}

/// Whether Arabic-Indic and extended Arabic-Indic digits stand together.
fn mixes_digits(label: &[char]) -> bool {
    let has = |digits: std::ops::RangeInclusive<char>| label.iter().any(|c| digits.contains(c));
    has('\u{660}'..='\u{669}') && has('\u{6F0}'..='\u{6F9}')
}

/// Whether `label` has a character that is written from right to left.
pub(in crate::strings) fn is_right_to_left(label: &[char]) -> bool {
    use BidiClass::{AL, AN, R};
    label
        .iter()
        .any(|&c| matches!(unicode_bidi::bidi_class(c), R | AL | AN))
}

/// The rule on bidirectional names (RFC 5893, section 2).
pub(in crate::strings) fn keeps_direction(label: &[char]) -> bool {
    use BidiClass::{AL, AN, BN, CS, EN, ES, ET, L, NSM, ON, R};
    let class = |c: &char| unicode_bidi::bidi_class(*c);
    let Some(first) = label.first().map(class) else {
        return false;
    };
    let last = label.iter().rev().map(class).find(|&class| class != NSM);
    let has = |wanted: BidiClass| label.iter().any(|c| class(c) == wanted);
    match first {
        R | AL => {
            label
                .iter()
                .all(|c| matches!(class(c), R | AL | AN | EN | ES | CS | ET | ON | BN | NSM))
                && matches!(last, Some(R | AL | EN | AN))
                && !(has(EN) && has(AN))
        }
        L => {
            label
                .iter()
                .all(|c| matches!(class(c), L | EN | ES | CS | ET | ON | BN | NSM))
                && matches!(last, Some(L | EN))
        }
        _ => false,
    }
}

/// The requirement that the other labels of a name put on a label, besides being one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) enum Demand {
    /// No requirement.
    Any,
    /// The label keeps the rule on bidirectional names, because another label is written from right to left.
    Directed,
    /// The label has nothing that is written from right to left, because another label breaks that rule.
    LeftToRight,
}

impl Demand {
    /// Whether `label` meets the requirement.
    pub(in crate::strings) fn holds(self, label: &[char]) -> bool {
        match self {
            Self::Any => true,
            Self::Directed => keeps_direction(label),
            Self::LeftToRight => !is_right_to_left(label),
        }
    }

    /// Returns the requirement on the labels behind `label`, which meets this one.
    pub(in crate::strings) fn behind(self, label: &[char]) -> Self {
        match self {
            Self::Any if is_right_to_left(label) => Self::Directed,
            Self::Any if !keeps_direction(label) => Self::LeftToRight,
            _ => self,
        }
    }
}
