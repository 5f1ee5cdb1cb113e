//! Regular expressions: ECMA-262 by the grammar with the `u` flag, which is what `pattern` reads first.
//!
//! The state keeps the groups that are open, the number and names of those that there are, and the references that
//! still need a group. Outside of the language, though ECMA-262 has them, are expressions with more than
//! [`MAX_NESTING`] groups inside one another or more than [`MAX_GROUPS`] groups that capture, and escapes in names of
//! groups. Bounds of a quantifier past 64 bits are compared as if they were equal.

use crate::strings::charset::{CharSet, index};
use crate::strings::custom_dfa::regex_class::{ClassState, Hex};
use crate::strings::unicode_properties::name_parts;
use crate::strings::unicode_properties::{is_name_part, is_name_start, property_endings};
use std::sync::Arc;

/// Groups inside one another.
const MAX_NESTING: usize = 100;
/// Groups that capture.
const MAX_GROUPS: u32 = 1_000;
/// Groups from which on a name that is like no other counts.
const FULL_GROUPS: usize = MAX_GROUPS as usize - 200;
/// What stands for the beginning of a name with which no other name begins.
const NEW_NAME: &str = "\0";
/// Characters that stand for themselves only behind a backslash.
pub(in crate::strings) const SYNTAX: &str = "^$\\.*+?()[]{}|";

/// A place in a regular expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) struct RegexSyntax {
    /// For each open group, whether it may be repeated.
    pub(super) open: Box<[bool]>,
    /// Capturing groups so far.
    pub(super) groups: u32,
    /// The number of groups that references ask for, where there are fewer.
    pub(super) wanted: u32,
    /// Names of groups, sorted.
    pub(super) names: Arc<[Box<str>]>,
    /// Names that references ask for and no group has yet, sorted.
    pub(super) missing: Arc<[Box<str>]>,
    pub(super) at: RegexState,
}

/// Where in a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum RegexState {
    /// Between terms; whether the last may be repeated.
    Term { repeatable: bool },
    /// Behind a quantifier.
    Quantified,
    /// Behind `(`.
    Group,
    /// Behind `(?`.
    GroupKind,
    /// Behind `(?<`.
    GroupAngle,
    /// In the name of a group or, behind `\k<`, of a reference.
    Name { reference: bool, name: Box<str> },
    /// Behind `\k`.
    Reference,
    /// In a reference by number.
    Number(u32),
    /// In a quantifier in braces.
    Braces(Braces),
    /// Behind `[`.
    ClassStart,
    /// In a class.
    Class(ClassState),
    /// In an escape; in a class, behind what.
    Escape(EscapeState, Option<ClassState>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Braces {
    Start,
    Low(u64),
    Comma(u64),
    High(u64, u64),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum EscapeState {
    /// Behind the backslash.
    Start,
    /// Behind `\c`.
    Control,
    /// Behind `\x`, or `\u` and a first digit or brace.
    Hex(Hex),
    /// Behind `\u`.
    Unicode,
    /// Behind `\0`, where no digit may follow.
    Zero,
    /// Behind `\p`.
    Property,
    /// In its braces.
    PropertyName(Box<str>),
}

impl RegexSyntax {
    /// Before an expression.
    pub(in crate::strings) fn start() -> Self {
        Self {
            open: Box::default(),
            groups: 0,
            wanted: 0,
            names: Arc::default(),
            missing: Arc::default(),
            at: RegexState::Term { repeatable: false },
        }
    }

    pub(in crate::strings) fn accepts(&self) -> bool {
        self.settled().is_some_and(|at| {
            matches!(at.at, RegexState::Term { .. })
                && at.open.is_empty()
                && at.missing.is_empty()
                && at.wanted <= at.groups
        })
    }

    fn with(&self, at: RegexState) -> Self {
        Self { at, ..self.clone() }
    }

    /// Where the term before ends here, the place between terms; none in the middle of one.
    pub(super) fn settled(&self) -> Option<Self> {
        match &self.at {
            RegexState::Term { .. } => Some(self.clone()),
            RegexState::Quantified => Some(self.with(RegexState::Term { repeatable: false })),
            RegexState::Escape(EscapeState::Zero, None) => Some(self.with(RegexState::Term { repeatable: true })),
            &RegexState::Number(number) => {
                let mut next = self.with(RegexState::Term { repeatable: true });
                if number > next.groups {
                    next.wanted = next.wanted.max(number);
                }
                Some(next)
            }
            _ => None,
        }
    }

    /// Whether there may be one more group that captures.
    pub(super) fn has_room(&self) -> bool {
        self.groups as usize + self.missing.len() < MAX_GROUPS as usize
    }

    /// The place after `c`; none where no expression goes on like that.
    pub(in crate::strings) fn after(&self, c: char) -> Option<Self> {
        match &self.at {
            RegexState::Term { repeatable } => self.term(*repeatable, c),
            RegexState::Quantified if c == '?' => Some(self.with(RegexState::Term { repeatable: false })),
            RegexState::Number(number) if c.is_ascii_digit() => {
                let longer = number * 10 + u32::from(c as u8 - b'0');
                (longer <= MAX_GROUPS).then(|| self.with(RegexState::Number(longer)))
            }
            RegexState::Escape(EscapeState::Zero, _) if c.is_ascii_digit() => None,
            RegexState::Escape(EscapeState::Zero, Some(before)) => self.class(*before, c),
            RegexState::Quantified | RegexState::Number(_) | RegexState::Escape(EscapeState::Zero, None) => {
                self.settled()?.after(c)
            }
            RegexState::Group if c == '?' => Some(self.with(RegexState::GroupKind)),
            RegexState::Group => self.opened(true)?.capturing()?.after(c),
            RegexState::GroupKind => match c {
                ':' => self.opened(true),
                '=' | '!' => self.opened(false),
                '<' => Some(self.with(RegexState::GroupAngle)),
                _ => None,
            },
            RegexState::GroupAngle if matches!(c, '=' | '!') => self.opened(false),
            RegexState::GroupAngle => self.name(false, "", c),
            RegexState::Reference => (c == '<').then(|| {
                let name = Box::default();
                self.with(RegexState::Name { reference: true, name })
            }),
            RegexState::Name { reference, name } => self.name(*reference, name, c),
            RegexState::Braces(braces) => braces.after(c).map(|braces| match braces {
                Some(braces) => self.with(RegexState::Braces(braces)),
                None => self.with(RegexState::Quantified),
            }),
            RegexState::ClassStart if c == '^' => Some(self.with(RegexState::Class(ClassState::Nothing))),
            RegexState::ClassStart => self.class(ClassState::Nothing, c),
            RegexState::Class(before) => self.class(*before, c),
            RegexState::Escape(escape, before) => self.escape(escape, *before, c),
        }
    }

    fn term(&self, repeatable: bool, c: char) -> Option<Self> {
        let next = match c {
            '^' | '$' | '|' => RegexState::Term { repeatable: false },
            '\\' => RegexState::Escape(EscapeState::Start, None),
            '(' if self.open.len() < MAX_NESTING => RegexState::Group,
            ')' => {
                let (&repeatable, open) = self.open.split_last()?;
                let mut next = self.with(RegexState::Term { repeatable });
                next.open = open.into();
                return Some(next);
            }
            '[' => RegexState::ClassStart,
            '*' | '+' | '?' if repeatable => RegexState::Quantified,
            '{' if repeatable => RegexState::Braces(Braces::Start),
            '*' | '+' | '?' | '(' | '{' | '}' | ']' => return None,
            _ => RegexState::Term { repeatable: true },
        };
        Some(self.with(next))
    }

    fn opened(&self, repeatable: bool) -> Option<Self> {
        let mut next = self.with(RegexState::Term { repeatable: false });
        next.open = self.open.iter().copied().chain([repeatable]).collect();
        Some(next)
    }

    fn capturing(mut self) -> Option<Self> {
        if !self.has_room() {
            return None;
        }
        self.groups += 1;
        if self.wanted <= self.groups {
            self.wanted = 0;
        }
        Some(self)
    }

    fn name(&self, reference: bool, name: &str, c: char) -> Option<Self> {
        if c == '>' && !name.is_empty() {
            return if reference {
                self.referring(name)
            } else {
                self.named(name)
            };
        }
        if !(if name.is_empty() {
            is_name_start(c)
        } else {
            is_name_part(c)
        }) {
            return None;
        }
        let name = match name {
            NEW_NAME => NEW_NAME.into(),
            _ => format!("{name}{c}").into_boxed_str(),
        };
        let continued = |known: &[Box<str>]| known.iter().any(|known| known.starts_with(&*name));
        let lives = self.has_room() || continued(&self.missing) || reference && continued(&self.names);
        if !lives {
            return None;
        }
        Some(self.with(RegexState::Name { reference, name }))
    }

    /// The place with [`NEW_NAME`] for the beginning of a name with which no name in the expression begins: all these
    /// names go on in the same ways, as long as no name is used twice in what follows.
    pub(in crate::strings) fn with_new_name(self) -> Self {
        let RegexState::Name { reference, name } = &self.at else {
            return self;
        };
        let begins = |names: &[Box<str>]| names.iter().any(|known| known.starts_with(&**name));
        if name.is_empty() || self.is_full() || begins(&self.names) || begins(&self.missing) {
            return self;
        }
        let (reference, name) = (*reference, NEW_NAME.into());
        self.with(RegexState::Name { reference, name })
    }

    fn is_full(&self) -> bool {
        self.groups as usize + self.missing.len() >= FULL_GROUPS
    }

    /// The first and the last of the characters that lead, like `c`, all to the beginning of a new name or nowhere; none
    /// where that is not so, or not known.
    pub(in crate::strings) fn alike(&self, c: char) -> Option<(char, char)> {
        let RegexState::Name { name, .. } = &self.at else {
            return None;
        };
        let mut known = self.names.iter().chain(&*self.missing);
        if name.is_empty() || self.is_full() || c.is_ascii() || !known.all(|name| name.is_ascii()) {
            return None;
        }
        let ranges = name_parts().ranges();
        let place = ranges.partition_point(|range| range.last() < c);
        let after = |c: char| char::from_u32(u32::from(c) + 1).unwrap_or('\u{E000}');
        let before = |c: char| char::from_u32(u32::from(c) - 1).unwrap_or('\u{D7FF}');
        let low = place
            .checked_sub(1)
            .map_or('\u{80}', |place| after(ranges[place].last()));
        let (first, last) = match ranges.get(place) {
            Some(range) if range.first() <= c => (range.first(), range.last()),
            Some(range) => (low, before(range.first())),
            None => (low, char::MAX),
        };
        Some((first.max('\u{80}'), last))
    }

    fn named(&self, name: &str) -> Option<Self> {
        let place = self.names.binary_search_by(|known| (**known).cmp(name)).err()?;
        let mut next = self.opened(true)?;
        next.missing = self
            .missing
            .iter()
            .filter(|missing| &***missing != name)
            .cloned()
            .collect();
        let mut next = next.capturing()?;
        next.names = inserted(&self.names, place, name);
        Some(next)
    }

    fn referring(&self, name: &str) -> Option<Self> {
        let mut next = self.with(RegexState::Term { repeatable: true });
        if self.names.binary_search_by(|known| (**known).cmp(name)).is_err()
            && let Err(place) = self.missing.binary_search_by(|known| (**known).cmp(name))
        {
            if !self.has_room() {
                return None;
            }
            next.missing = inserted(&self.missing, place, name);
        }
        Some(next)
    }

    fn class(&self, before: ClassState, c: char) -> Option<Self> {
        match c {
            ']' => before
                .closes()
                .then(|| self.with(RegexState::Term { repeatable: true })),
            '\\' => before
                .escapes()
                .then(|| self.with(RegexState::Escape(EscapeState::Start, Some(before)))),
            '-' => before.dash().map(|before| self.with(RegexState::Class(before))),
            _ => before
                .atom(Some(u32::from(c)))
                .map(|before| self.with(RegexState::Class(before))),
        }
    }

    /// Behind an escape that stands for a character, or for a set of them.
    fn escaped(&self, before: Option<ClassState>, value: Option<u32>) -> Option<Self> {
        match before {
            None => Some(self.with(RegexState::Term { repeatable: true })),
            Some(before) => Some(self.with(RegexState::Class(before.atom(value)?))),
        }
    }

    fn escape(&self, escape: &EscapeState, before: Option<ClassState>, c: char) -> Option<Self> {
        match escape {
            EscapeState::Start => self.escape_start(before, c),
            EscapeState::Control => match c.is_ascii_alphabetic() {
                true => self.escaped(before, Some(u32::from(c) % 32)),
                false => None,
            },
            EscapeState::Unicode => {
                let hex = match c {
                    '{' => Hex::braced(),
                    _ => Hex::unit().after(c)?,
                };
                self.in_hex(hex, before)
            }
            EscapeState::Hex(hex) if c == '}' => self.escaped(before, Some(hex.closed()?)),
            EscapeState::Hex(hex) => {
                let hex = hex.after(c)?;
                let Some(value) = hex.complete() else {
                    return self.in_hex(hex, before);
                };
                match before {
                    Some(before) if hex.is_unit() => Some(self.with(RegexState::Class(before.unit(value)?))),
                    before => self.escaped(before, Some(value)),
                }
            }
            EscapeState::Zero => None,
            EscapeState::Property => {
                (c == '{').then(|| self.with(RegexState::Escape(EscapeState::PropertyName(Box::default()), before)))
            }
            EscapeState::PropertyName(name) if c == '}' => match property_endings(name).any(str::is_empty) {
                true => self.escaped(before, None),
                false => None,
            },
            EscapeState::PropertyName(name) => {
                let name = format!("{name}{c}").into_boxed_str();
                let lives = property_endings(&name).next().is_some();
                lives.then(|| self.with(RegexState::Escape(EscapeState::PropertyName(name), before)))
            }
        }
    }

    fn in_hex(&self, hex: Hex, before: Option<ClassState>) -> Option<Self> {
        let lives = before.is_none_or(|before| hex.cheapest(before).is_some());
        lives.then(|| self.with(RegexState::Escape(EscapeState::Hex(hex), before)))
    }

    fn escape_start(&self, before: Option<ClassState>, c: char) -> Option<Self> {
        let value = match c {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => None,
            'b' if before.is_some() => Some(8),
            '-' if before.is_some() => Some(u32::from(c)),
            'b' | 'B' if before.is_none() => return Some(self.with(RegexState::Term { repeatable: false })),
            't' => Some(9),
            'n' => Some(10),
            'v' => Some(11),
            'f' => Some(12),
            'r' => Some(13),
            '/' => Some(u32::from(c)),
            _ if SYNTAX.contains(c) => Some(u32::from(c)),
            '1'..='9' if before.is_none() => return Some(self.with(RegexState::Number(u32::from(c as u8 - b'0')))),
            'k' if before.is_none() => return Some(self.with(RegexState::Reference)),
            // What is before is what will be behind the zero.
            '0' => {
                let before = match before {
                    Some(before) => Some(before.atom(Some(0))?),
                    None => None,
                };
                return Some(self.with(RegexState::Escape(EscapeState::Zero, before)));
            }
            'x' => return self.in_hex(Hex::byte(), before),
            'u' => return Some(self.with(RegexState::Escape(EscapeState::Unicode, before))),
            'c' => {
                let lives = before.is_none_or(|before| before.atom(Some(26)).is_some());
                return lives.then(|| self.with(RegexState::Escape(EscapeState::Control, before)));
            }
            'p' | 'P' => {
                let lives = before.is_none_or(|before| before.atom(None).is_some());
                return lives.then(|| self.with(RegexState::Escape(EscapeState::Property, before)));
            }
            _ => return None,
        };
        self.escaped(before, value)
    }

    /// Characters outside of which there is no next state.
    pub(in crate::strings) fn first_characters(&self) -> CharSet {
        match &self.at {
            RegexState::Term { .. }
            | RegexState::Quantified
            | RegexState::Number(_)
            | RegexState::Group
            | RegexState::ClassStart
            | RegexState::Class(_) => CharSet::all(),
            RegexState::Escape(EscapeState::Zero, _) => CharSet::all(),
            RegexState::GroupAngle | RegexState::Name { .. } => name_parts().union(&CharSet::of("=!>")),
            RegexState::GroupKind | RegexState::Reference | RegexState::Braces(_) | RegexState::Escape(..) => {
                CharSet::range('\0', '\u{7F}')
            }
        }
    }

    /// Whether all characters from U+0080 on lead to one state.
    pub(in crate::strings) fn is_narrow(&self) -> bool {
        !matches!(
            self.at,
            RegexState::ClassStart
                | RegexState::Class(_)
                | RegexState::GroupAngle
                | RegexState::Name { .. }
                | RegexState::Escape(EscapeState::Zero, Some(_))
        )
    }

    /// Whether this is a place in a class from which each character leads where it leads from any other, but for a hyphen,
    /// a backslash and, at the beginning, others of ASCII.
    pub(in crate::strings) fn is_in_class(&self) -> bool {
        matches!(
            self.at,
            RegexState::ClassStart | RegexState::Class(ClassState::Nothing | ClassState::Atom(_) | ClassState::High(_))
        )
    }

    /// Memory beyond that of a node, in cells.
    pub(in crate::strings) fn cells(&self) -> usize {
        let names = self.names.iter().chain(&*self.missing).map(|name| name.len() / 8 + 2);
        self.open.len() / 8 + names.sum::<usize>() + 4
    }
}

fn inserted(names: &[Box<str>], place: usize, name: &str) -> Arc<[Box<str>]> {
    let mut names = names.to_vec();
    names.insert(place, name.into());
    names.into()
}

impl Braces {
    /// What is behind `c`; inside, none behind the closing brace.
    fn after(&self, c: char) -> Option<Option<Self>> {
        let digit = c.to_digit(10).map(u64::from);
        let longer = |number: u64, digit: u64| number.saturating_mul(10).saturating_add(digit).min(u64::MAX - 1);
        Some(Some(match (self, digit, c) {
            (Self::Start, Some(digit), _) => Self::Low(digit),
            (Self::Low(low), Some(digit), _) => Self::Low(longer(*low, digit)),
            (Self::Comma(low), Some(digit), _) => Self::High(*low, digit),
            (Self::High(low, high), Some(digit), _) => Self::High(*low, longer(*high, digit)),
            (Self::Low(low), _, ',') => Self::Comma(*low),
            (Self::Low(_) | Self::Comma(_), _, '}') => return Some(None),
            (Self::High(low, high), _, '}') if low <= high => return Some(None),
            _ => return None,
        }))
    }
}

/// The number of the first character of the row that all characters beyond ASCII share.
pub(in crate::strings) fn beyond_ascii() -> u32 {
    index('\u{80}')
}
