//! [`Expr`]: the forms of expressions.

use smallvec::SmallVec;

use crate::strings::charset::CharRange;
use crate::strings::custom_dfa::CustomDfa;
use crate::strings::expr::coarse_char_set::CoarseCharSet;
use crate::strings::language_id::LanguageId;

/// Conditions on the past that one pattern may have: the nullability of an expression is a table over their truth, and
/// 2^6 rows fit a word.
pub(in crate::strings) const MAX_PASTS: usize = 6;

/// Rows of the truth table in which condition `i` holds.
pub(in crate::strings) const PAST_ROWS: [u64; MAX_PASTS] = [
    0xAAAA_AAAA_AAAA_AAAA,
    0xCCCC_CCCC_CCCC_CCCC,
    0xF0F0_F0F0_F0F0_F0F0,
    0xFF00_FF00_FF00_FF00,
    0xFFFF_0000_FFFF_0000,
    0xFFFF_FFFF_0000_0000,
];

/// An expression. Constructors in `constructors` and `boolean` keep a normal form; nothing else may make one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) enum Expr {
    None,
    Empty,
    /// One character out of a set that is not empty.
    Class(Box<[CharRange]>),
    /// A state of an automaton without cycles: how word lists are stored.
    Branch {
        accepts: bool,
        edges: SmallVec<[(CharRange, LanguageId); 1]>,
    },
    /// The first language is neither a concatenation nor open.
    Concat(LanguageId, LanguageId),
    Repeat {
        inner: LanguageId,
        min: u64,
        max: u64,
    },
    Or(Box<[LanguageId]>),
    And(Box<[LanguageId]>),
    Not(LanguageId),
    /// Every text if condition `i` on the text before this place holds, else none.
    Past(u8),
    /// `body`, in which condition `i` holds iff the text read so far belongs to the `i`-th language; `past` has their residuals.
    Recall {
        body: LanguageId,
        past: Box<[LanguageId]>,
    },
    /// A name for an expression that contains it, behind at least one character.
    Loop(u32),
    /// The rest of a leap second's time of day, defined where it is first needed.
    LeapSecond {
        hour: u8,
        minute: LeapMinute,
    },
    /// A state of a custom DFA.
    CustomDfa(CustomDfa),
}

/// The place in the minute of a leap second's time of day up to which a text has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) enum LeapMinute {
    /// The colon before the minute comes next.
    Ahead,
    /// The first digit of the minute comes next.
    Begun,
    /// The minute begins with this digit.
    Tens(u8),
    /// The colon behind the minute, of which this is the number, comes next.
    Read(u8),
    /// The fraction of the second, or the offset, comes next.
    Zone(u8),
}

/// Facts about an expression, which are worked out when it is made.
#[derive(Clone, Copy, Debug)]
pub(in crate::strings) struct Facts {
    /// Whether the empty text belongs to the expression: bit `b` for the truth values `b` of the conditions on the past.
    pub(in crate::strings) nullable: u64,
    /// The conditions on the past that the expression mentions, a bit each.
    pub(in crate::strings) pasts: u8,
    /// Whether the expression is made of characters, concatenation, repetition and union only: such an expression, unless it is
    /// `NONE`, has a text, and its lengths follow from its structure.
    pub(in crate::strings) simple: bool,
    /// Whether lengths follow from the structure: it is `simple`, but for bounds on the length of parts.
    pub(in crate::strings) structural: bool,
    /// Whether the expression is a Boolean combination with an [`Expr::CustomDfa`]: its states are as many as texts, so that
    /// derivatives are taken by one character at a time.
    pub(in crate::strings) custom_dfa: bool,
    /// Whether the structure shows that it has finitely many texts.
    pub(in crate::strings) finite: bool,
    /// The characters with which its texts may begin.
    pub(in crate::strings) firsts: CoarseCharSet,
    /// The characters that may occur in its texts.
    pub(in crate::strings) used: CoarseCharSet,
    /// Characters of which each of its texts has one at least; none where no such characters show.
    pub(in crate::strings) needed: Option<CoarseCharSet>,
    /// The number of words of a short list; 0 of other expressions.
    pub(in crate::strings) words: u8,
}

impl Facts {
    /// Facts about an expression of which nothing shows but whether the empty text belongs to it, and which conditions on
    /// the past it mentions.
    pub(in crate::strings) fn opaque(nullable: u64, pasts: u8) -> Self {
        Self {
            nullable,
            pasts,
            simple: false,
            structural: false,
            custom_dfa: false,
            finite: false,
            firsts: CoarseCharSet::ALL,
            used: CoarseCharSet::ALL,
            needed: None,
            words: 0,
        }
    }
}

impl Expr {
    /// Whether `holds` is true of all expressions of which this one is made; the definition of a loop is none of them.
    pub(in crate::strings) fn all_parts(&self, mut holds: impl FnMut(LanguageId) -> bool) -> bool {
        match self {
            Self::None | Self::Empty | Self::Class(_) | Self::Past(_) | Self::Loop(_) => true,
            Self::LeapSecond { .. } | Self::CustomDfa(_) => true,
            Self::Branch { edges, .. } => edges.iter().all(|(_, target)| holds(*target)),
            Self::Concat(first, rest) => holds(*first) && holds(*rest),
            Self::Repeat { inner, .. } | Self::Not(inner) => holds(*inner),
            Self::Or(members) | Self::And(members) => members.iter().all(|member| holds(*member)),
            Self::Recall { body, past } => holds(*body) && past.iter().all(|language| holds(*language)),
        }
    }

    /// Memory of the expression beyond a fixed amount, in cells.
    pub(in crate::strings) fn cells(&self) -> usize {
        match self {
            Expr::Class(ranges) => ranges.len(),
            Expr::Branch { edges, .. } => edges.len(),
            Expr::Or(members) | Expr::And(members) => members.len(),
            Expr::Recall { past, .. } => past.len(),
            Expr::CustomDfa(state) => state.cells(),
            _ => 0,
        }
    }
}
