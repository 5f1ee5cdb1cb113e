//! Enumerable over- and under-approximations of languages that contain custom DFAs.

use hashbrown::HashMap;

use crate::strings::charset::CharSet;
use crate::strings::custom_dfa::CustomDfa;
use crate::strings::custom_dfa::hostname::{Hostname, LABEL, completion};
use crate::strings::custom_dfa::idn_hostname::{IdnHostname, LONE_LETTER, NAME, lone_letters};
use crate::strings::custom_dfa::idna::{DOTS, Demand};
use crate::strings::custom_dfa::regex::RegexSyntax;
use crate::strings::expr::arena::{Arena, NewLanguage};
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, EMPTY, LanguageId, NONE, UNBOUNDED};
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;

/// Boolean operations inside one another to look into.
const DEPTH: usize = 64;

/// Whether an approximation contains a language or is contained in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::strings) enum Side {
    /// The approximation contains the language.
    Above,
    /// The language contains the approximation.
    Below,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Above => Self::Below,
            Self::Below => Self::Above,
        }
    }

    /// Returns the approximation that is always on this side: every text, or none.
    fn trivial(self) -> LanguageId {
        match self {
            Self::Above => ANY,
            Self::Below => NONE,
        }
    }
}

impl Arena {
    /// A language without custom DFAs on one side of `id`.
    pub(in crate::strings) fn approximated(&mut self, id: LanguageId, side: Side) -> NewLanguage {
        self.approximated_within((id, side), DEPTH, &mut HashMap::new())
    }

    /// The approximation, with those of parts that occur in several places.
    fn approximated_within(
        &mut self,
        (id, side): (LanguageId, Side),
        depth: usize,
        known: &mut HashMap<(LanguageId, Side), LanguageId>,
    ) -> NewLanguage {
        if !self.has_custom_dfa(id) {
            return Ok(id);
        }
        if let Some(known) = known.get(&(id, side)) {
            return Ok(*known);
        }
        if depth == 0 {
            return Ok(side.trivial());
        }
        let mut each = |arena: &mut Self, members: &[LanguageId]| -> Result<Vec<_>, LimitReached> {
            let members = members.iter();
            members
                .map(|&member| arena.approximated_within((member, side), depth - 1, known))
                .collect()
        };
        let approximation = match self.node(id).clone() {
            Expr::Or(members) => {
                let members = each(self, &members)?;
                self.or(members)
            }
            Expr::And(members) => {
                let members = each(self, &members)?;
                self.and(members)
            }
            Expr::Not(inner) => {
                let inner = self.approximated_within((inner, side.other()), depth - 1, known)?;
                self.not(inner)
            }
            Expr::CustomDfa(state) if side == Side::Below => match self.ending(&state)? {
                Some((way, more)) => {
                    let way = self.literal(&way)?;
                    self.concat(way, more)
                }
                None => Ok(NONE),
            },
            Expr::CustomDfa(CustomDfa::Hostname(host)) => self.near_host(&host, side),
            Expr::CustomDfa(CustomDfa::RegexSyntax(regex)) => self.above_regex(&regex),
            Expr::CustomDfa(CustomDfa::IdnHostname(idn)) => self.above_idn(&idn),
            _ => Ok(side.trivial()),
        }?;
        known.insert((id, side), approximation);
        Ok(approximation)
    }

    /// Returns one way to end the label or expression that a custom DFA's state is in, and a language each of whose texts may follow it.
    /// There are few such languages, however many states there are.
    pub(in crate::strings) fn ending(
        &mut self,
        state: &CustomDfa,
    ) -> Result<Option<(String, LanguageId)>, LimitReached> {
        Ok(match state {
            CustomDfa::Hostname(host) => match host {
                Hostname::Encoded(encoded) => match completion(encoded, host.room(), Demand::Any) {
                    Some(way) => Some((way, self.more_labels(Side::Below)?)),
                    None => None,
                },
                _ => Some((String::new(), self.near_host(host, Side::Below)?)),
            },
            CustomDfa::IdnHostname(idn) => match idn.completion() {
                Some((way, octets)) => Some((way, self.below_idn(NAME - idn.used() - octets)?)),
                None => None,
            },
            CustomDfa::RegexSyntax(regex) => match regex.completion() {
                Some(way) => Some((way, self.below_regex()?)),
                None => None,
            },
        })
    }

    /// Returns all characters that fit into a name.
    fn above_idn(&mut self, idn: &IdnHostname) -> NewLanguage {
        let ascii = CharSet::range('\0', '\u{7F}').intersection(&CharSet::of(DOTS).complement());
        let inner = CharSet::from_ranges([('-', '-'), ('0', '9'), ('A', 'Z'), ('a', 'z')]);
        let possible = self.class(&ascii.complement().union(&inner))?;
        self.repeat(possible, 0, (NAME - idn.used()) as u64)
    }

    /// Returns labels that may follow a label of an internationalised host name, of so many octets: labels of letters, and one of them may be
    /// of a letter beyond ASCII.
    pub(in crate::strings) fn below_idn(&mut self, octets: usize) -> NewLanguage {
        let dot = self.literal(".")?;
        let letters = self.class(&CharSet::from_ranges([('A', 'Z'), ('a', 'z')]))?;
        let label = self.repeat(letters, 1, LABEL.into())?;
        let label = self.concat(dot, label)?;
        let labels = self.repeat(label, 0, UNBOUNDED)?;
        let length = self.length(0, octets as u64)?;
        let ascii = self.and(vec![labels, length])?;
        let Some(octets) = octets.checked_sub(LONE_LETTER) else {
            return Ok(ascii);
        };
        let letter = self.class(lone_letters())?;
        let more = self.concat(letter, labels)?;
        let more = self.concat(dot, more)?;
        let more = self.concat(labels, more)?;
        let length = self.length(0, octets as u64)?;
        let wide = self.and(vec![more, length])?;
        self.or(vec![ascii, wide])
    }

    /// Returns the texts that begin with a character by which the expression goes on and have what it needs, and the empty text, where
    /// it needs nothing.
    fn above_regex(&mut self, regex: &RegexSyntax) -> NewLanguage {
        let ascii = ('\0'..='\u{7F}').filter(|&c| regex.after(c).is_some()).map(|c| (c, c));
        let first = CharSet::from_ranges(ascii).union(&CharSet::range('\u{80}', char::MAX));
        let first = self.class(&first)?;
        let more = self.concat(first, ANY)?;
        let mut members = vec![self.or(vec![EMPTY, more])?];
        for texts in regex.needed() {
            let mut rest = ANY;
            for (before, text) in texts.iter().rev() {
                let text = self.literal(text)?;
                let text = self.concat(text, rest)?;
                let before = self.length(*before, UNBOUNDED)?;
                rest = self.concat(before, text)?;
            }
            members.push(rest);
        }
        self.and(members)
    }

    /// Returns characters that leave a whole expression whole.
    fn below_regex(&mut self) -> NewLanguage {
        let first = RegexSyntax::fillers();
        // A digit could belong to what is before.
        let others = first.union(&CharSet::range('0', '9'));
        let (first, others) = (self.class(&first)?, self.class(&others)?);
        let more = self.repeat(others, 0, UNBOUNDED)?;
        let more = self.concat(first, more)?;
        self.or(vec![EMPTY, more])
    }

    /// The over-approximation of host names that ignores encodings, or the under-approximation of those with a letter or digit as the fourth
    /// character of each label; the latter for states that are in no encoded label.
    fn near_host(&mut self, host: &Hostname, side: Side) -> NewLanguage {
        let rest = match (host, side) {
            (Hostname::Start, _) => self.label(side)?,
            (&Hostname::Plain { length, hyphen, .. }, Side::Below) if length < 4 => {
                self.label_without_prefix(u64::from(length), hyphen)?
            }
            (Hostname::Plain { hyphen, .. }, _) => self.rest_of_label(host.room() as u64, *hyphen)?,
            (Hostname::Encoded(encoded), _) => self.rest_of_label(host.room() as u64, encoded.ends_with('-'))?,
        };
        let more = self.more_labels(side)?;
        self.concat(rest, more)
    }

    /// Any number of labels behind one.
    pub(in crate::strings) fn more_labels(&mut self, side: Side) -> NewLanguage {
        let dot = self.literal(".")?;
        let label = self.label(side)?;
        let more = self.concat(dot, label)?;
        self.repeat(more, 0, UNBOUNDED)
    }

    fn label(&mut self, side: Side) -> NewLanguage {
        let first = self.letter_or_digit()?;
        let rest = match side {
            Side::Above => self.rest_of_label(62, false)?,
            Side::Below => self.label_without_prefix(1, false)?,
        };
        self.concat(first, rest)
    }

    /// The rest of a label that has `length` characters, from 1 to 3, and no hyphen in the fourth place.
    fn label_without_prefix(&mut self, length: u64, hyphen: bool) -> NewLanguage {
        let short = self.rest_of_label(3 - length, hyphen)?;
        let inner = self.inner()?;
        let inner = self.repeat(inner, 3 - length, 3 - length)?;
        let fourth = self.letter_or_digit()?;
        let rest = self.rest_of_label(59, false)?;
        let long = self.concat(fourth, rest)?;
        let long = self.concat(inner, long)?;
        self.or(vec![short, long])
    }

    /// Returns up to `room` characters of a label, the last of which is no hyphen; at least one after a hyphen.
    fn rest_of_label(&mut self, room: u64, hyphen: bool) -> NewLanguage {
        let rest = match room {
            0 => NONE,
            _ => {
                let inner = self.inner()?;
                let inner = self.repeat(inner, 0, room - 1)?;
                let last = self.letter_or_digit()?;
                self.concat(inner, last)?
            }
        };
        if hyphen { Ok(rest) } else { self.or(vec![EMPTY, rest]) }
    }

    fn letter_or_digit(&mut self) -> NewLanguage {
        self.class(&CharSet::from_ranges([('0', '9'), ('A', 'Z'), ('a', 'z')]))
    }

    fn inner(&mut self) -> NewLanguage {
        self.class(&CharSet::from_ranges([('-', '-'), ('0', '9'), ('A', 'Z'), ('a', 'z')]))
    }
}

impl Languages {
    /// Characters outside of which no text of `id` begins.
    pub(in crate::strings) fn first_characters(&mut self, id: LanguageId) -> Result<CharSet, LimitReached> {
        self.first_characters_within(id, DEPTH, &mut HashMap::new())
    }

    /// The characters, with those of parts that occur in several places.
    fn first_characters_within(
        &mut self,
        id: LanguageId,
        depth: usize,
        known: &mut HashMap<LanguageId, CharSet>,
    ) -> Result<CharSet, LimitReached> {
        if let Some(known) = known.get(&id) {
            return Ok(known.clone());
        }
        let (mut set, members, all) = match self.arena.node(id) {
            Expr::CustomDfa(state) => return Ok(state.first_characters()),
            Expr::And(members) if self.arena.has_custom_dfa(id) => (CharSet::all(), members.to_vec(), true),
            Expr::Or(members) if self.arena.has_custom_dfa(id) => (CharSet::default(), members.to_vec(), false),
            _ if self.arena.has_custom_dfa(id) => return Ok(CharSet::all()),
            _ => {
                let rows = self.derivatives.of(&mut self.arena, id)?;
                return Ok(CharSet::from_char_ranges(rows.iter().map(|(range, _)| *range)));
            }
        };
        if depth == 0 {
            return Ok(CharSet::all());
        }
        for member in members {
            let one = self.first_characters_within(member, depth - 1, known)?;
            set = if all { set.intersection(&one) } else { set.union(&one) };
        }
        known.insert(id, set.clone());
        Ok(set)
    }
}
