//! Custom DFA of the texts of regular expressions: ECMA-262 by the grammar with the `u` flag, which `pattern` tries first.
//!
//! The state keeps the open groups, the number and names of all groups so far, and the references that
//! still need a group. The language lacks some expressions of ECMA-262: those with more than
//! [`MAX_NESTING`] nested groups, references to groups beyond [`MAX_REFERENCE`], and escapes in names of
//! groups. Bounds of a quantifier past 64 bits are compared as if they were equal.
//!
//! Most facts in a state hardly ever matter to the next token: a name matters where it ends, the first character of a range
//! where the range ends. So each state has a [coarse](RegexSyntax::coarse) state without such facts.
//! Coarse states are few, and only texts that [end such a name, quantifier or range](ends_what_is_remembered) may tell a state from its
//! coarse state.

use crate::strings::charset::{CharSet, LAST, index};
use crate::strings::custom_dfa::names::Names;
use crate::strings::custom_dfa::regex_braces::Braces;
use crate::strings::custom_dfa::regex_class::{ClassState, Hex};
use crate::strings::unicode_properties::{name_parts, name_starts, property_endings};

/// Maximal depth of nested groups.
const MAX_NESTING: usize = 100;
/// The greatest number of a group that a reference may have: three digits, so that the digits read say whether one may follow.
const MAX_REFERENCE: u32 = 999;
/// The text that a coarse state of a regular expression has in place of the beginning of a group's name.
const ANY_NAME: &str = "_";
/// Characters that stand for themselves only behind a backslash.
const SYNTAX: &str = "^$\\.*+?()[]{}|";

/// A state within the text of a regular expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) struct RegexSyntax {
    /// For each open group, whether it may be repeated.
    pub(super) open: Box<[bool]>,
    /// Capturing groups so far, as far as references can tell.
    pub(super) groups: u32,
    /// The number of groups that references ask for, where there are fewer.
    pub(super) wanted: u32,
    /// Names of groups.
    pub(super) names: Names,
    /// Names that references ask for and no group has yet.
    pub(super) missing: Names,
    pub(super) at: RegexState,
    /// Whether nothing is remembered of groups that there are, and of the term before its end.
    is_coarse: bool,
}

/// The position within a term.
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
    /// In an escape; in a class, with the state of the class before the escape.
    Escape(EscapeState, Option<ClassState>),
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
    /// In the braces of a property.
    PropertyName(Box<str>),
}

impl RegexSyntax {
    /// Returns the state before an expression.
    pub(in crate::strings) fn start() -> Self {
        Self {
            open: Box::default(),
            groups: 0,
            wanted: 0,
            names: Names::default(),
            missing: Names::default(),
            at: RegexState::Term { repeatable: false },
            is_coarse: false,
        }
    }

    /// The characters each of which leaves a whole expression whole when it is added at the end.
    pub(in crate::strings) fn fillers() -> CharSet {
        let others = CharSet::of(SYNTAX).union(&CharSet::range('0', '9')).complement();
        others.union(&CharSet::of("^$.|"))
    }

    /// Whether this is a [coarse](Self::coarse) state.
    pub(in crate::strings) fn is_coarse(&self) -> bool {
        self.is_coarse
    }

    /// The coarse state: this state without the facts that matter only to texts that [end a remembered thing](ends_what_is_remembered)
    /// or are longer than `characters`.
    pub(in crate::strings) fn coarse(&self, characters: usize) -> Self {
        let hidden = match self.open.len() + characters <= MAX_NESTING {
            true => self.open.len().saturating_sub(characters),
            false => 0,
        };
        let coarse = Self {
            open: self.open[hidden..].into(),
            is_coarse: true,
            at: self.at.clone(),
            ..Self::start()
        };
        coarse.forgetting()
    }

    /// Returns a coarse state without the part of a name, a quantifier or a range that has been read.
    fn forgetting(mut self) -> Self {
        let forget = |class: &mut ClassState| {
            if matches!(class, ClassState::Atom(_) | ClassState::High(_)) {
                *class = ClassState::Atom(Some(0));
            }
        };
        match &mut self.at {
            RegexState::Name { name, .. } if !name.is_empty() => *name = ANY_NAME.into(),
            RegexState::Number(number) => *number = [1, 10, 100][(number.ilog10() as usize).min(2)],
            RegexState::Braces(braces) => match braces {
                Braces::Start => {}
                Braces::Low(low) | Braces::Comma(low) => *low = 0,
                Braces::High(low, high) => (*low, *high) = (0, 0),
            },
            RegexState::Class(class) => forget(class),
            RegexState::Escape(escape, class) => {
                class.iter_mut().for_each(forget);
                if let EscapeState::Hex(hex) = escape
                    && !matches!(class, Some(ClassState::Dash(_) | ClassState::DashHigh { .. }))
                {
                    hex.forget();
                }
            }
            _ => {}
        }
        self
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

    /// Returns the place between terms, where the term before may end here; none in the middle of a term.
    pub(super) fn settled(&self) -> Option<Self> {
        match &self.at {
            RegexState::Term { .. } => Some(self.clone()),
            RegexState::Quantified => Some(self.with(RegexState::Term { repeatable: false })),
            RegexState::Escape(EscapeState::Zero, None) => Some(self.with(RegexState::Term { repeatable: true })),
            &RegexState::Number(number) => {
                let mut next = self.with(RegexState::Term { repeatable: true });
                if number > next.groups && !self.is_coarse {
                    next.wanted = next.wanted.max(number);
                }
                Some(next)
            }
            _ => None,
        }
    }

    /// The state after `c`; none where no expression continues with it.
    pub(in crate::strings) fn after(&self, c: char) -> Option<Self> {
        let next = self.remembering_after(c)?;
        Some(if self.is_coarse { next.forgetting() } else { next })
    }

    fn remembering_after(&self, c: char) -> Option<Self> {
        match &self.at {
            RegexState::Term { repeatable } => self.term(*repeatable, c),
            RegexState::Quantified if c == '?' => Some(self.with(RegexState::Term { repeatable: false })),
            RegexState::Number(number) if c.is_ascii_digit() => {
                let longer = number * 10 + u32::from(c as u8 - b'0');
                (longer <= MAX_REFERENCE).then(|| self.with(RegexState::Number(longer)))
            }
            RegexState::Escape(EscapeState::Zero, _) if c.is_ascii_digit() => None,
            RegexState::Escape(EscapeState::Zero, Some(before)) => self.class(*before, c),
            RegexState::Quantified | RegexState::Number(_) | RegexState::Escape(EscapeState::Zero, None) => {
                self.settled()?.after(c)
            }
            RegexState::Group if c == '?' => Some(self.with(RegexState::GroupKind)),
            RegexState::Group => self.opened(true)?.capturing().after(c),
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

    fn capturing(mut self) -> Self {
        if !self.is_coarse {
            self.groups = (self.groups + 1).min(MAX_REFERENCE);
            if self.wanted <= self.groups {
                self.wanted = 0;
            }
        }
        self
    }

    fn name(&self, reference: bool, name: &str, c: char) -> Option<Self> {
        if c == '>' && !name.is_empty() {
            return if reference {
                Some(self.referring(name))
            } else {
                self.named(name)
            };
        }
        let may_be = if name.is_empty() { name_starts() } else { name_parts() };
        may_be.contains(c).then(|| {
            let name = format!("{name}{c}").into();
            self.with(RegexState::Name { reference, name })
        })
    }

    fn named(&self, name: &str) -> Option<Self> {
        let mut next = self.opened(true)?.capturing();
        if !self.is_coarse {
            if self.names.contains(name) {
                return None;
            }
            next.missing = self.missing.without(name);
            next.names = self.names.with(name);
        }
        Some(next)
    }

    fn referring(&self, name: &str) -> Self {
        let mut next = self.with(RegexState::Term { repeatable: true });
        if !self.is_coarse && !self.names.contains(name) && !self.missing.contains(name) {
            next.missing = self.missing.with(name);
        }
        next
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

    /// Returns the state behind an escape that stands for a character, or for a set of them.
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
            // `before` becomes the state behind the zero.
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

    /// The numbers of characters beyond ASCII from which on they may lead elsewhere, in a coarse or narrow state.
    pub(in crate::strings) fn cuts(&self) -> Vec<u32> {
        let mut cuts = vec![index('\u{80}')];
        match self.at {
            RegexState::GroupAngle | RegexState::Name { .. } => {
                let ranges = name_starts().ranges().iter().chain(name_parts().ranges());
                cuts.extend(ranges.flat_map(|range| [range.first, range.last + 1]));
            }
            RegexState::Class(ClassState::Dash(Some(low))) => {
                // Behind the surrogates comes U+E000.
                cuts.push(index(char::from_u32(low).unwrap_or('\u{E000}')));
            }
            _ => {}
        }
        cuts.retain(|cut| (index('\u{80}')..=LAST).contains(cut));
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    /// Memory beyond that of a node, in cells.
    pub(in crate::strings) fn cells(&self) -> usize {
        // Names are shared with the states before.
        let name = match &self.at {
            RegexState::Name { name, .. } => name.len(),
            _ => self.names.iter().next().map_or(0, str::len),
        };
        self.open.len() / 8 + name / 8 + 8
    }
}

/// Whether a text may end something that coarse states do not remember: the name of a group, a quantifier, a range of characters,
/// or the number of a reference, which may ask for many groups. The partial character at its end, if `reads_more` is set, may be
/// any character.
pub(crate) fn ends_what_is_remembered(text: &[u32], reads_more: bool) -> bool {
    let is = |place: usize, c: char| text.get(place) == Some(&c.into());
    let is_digit = |place: usize| text.get(place).is_some_and(|c| (0x30..0x3A).contains(c));
    (0..text.len()).any(|at| {
        let next = at + 1;
        is(at, '>')
            || is_digit(at) && (at == 0 || is(at - 1, '\\'))
            || is(at, '}') && (at == 0 || is_digit(at - 1))
            || is(at, '-') && (next < text.len() && !is(next, ']') || next == text.len() && reads_more)
    })
}
