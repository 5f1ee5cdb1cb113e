//! Completion of the text of a regular expression, and the fewest characters that it takes.

use super::regex::{EscapeState, RegexState, RegexSyntax};
use super::regex_class::{ClassState, Hex};
use crate::strings::unicode_properties::property_endings;

/// Characters that end any escape or class, the name of a property included.
const LONGEST_END: u64 = 32;
/// Maximal number of groups, of each kind, that are told to be needed.
const MAX_NEEDED: usize = 8;

impl RegexSyntax {
    /// Characters of the shortest text that may follow. Letters may always be added at its end.
    pub(in crate::strings) fn cheapest(&self) -> u64 {
        if let Some(at) = self.settled() {
            return at.closing(0, 0, None);
        }
        match &self.at {
            RegexState::Group => self.new_group(0),
            RegexState::GroupKind => self.new_group(1),
            RegexState::GroupAngle => self.new_group(2),
            RegexState::Name { reference: false, name } => self.group_name(name),
            RegexState::Name { reference: true, name } => self.reference_name(name),
            RegexState::Reference => 1 + self.reference_name(""),
            RegexState::Braces(braces) => braces.cheapest() + self.closing(0, 0, None),
            RegexState::ClassStart => 1 + self.closing(0, 0, None),
            RegexState::Class(before) => before.cheapest() + self.closing(0, 0, None),
            RegexState::Escape(escape, before) => escape.cheapest(*before) + self.closing(0, 0, None),
            RegexState::Term { .. } | RegexState::Quantified | RegexState::Number(_) => self.closing(0, 0, None),
        }
    }

    /// Number of characters within which the expression can be completed after any further text of up to `characters` characters, except
    /// texts that [end a remembered thing](super::regex::ends_what_is_remembered).
    pub(in crate::strings) fn slack(&self, characters: u64) -> u64 {
        // Each character may ask for another, or be part of a name that has to be written once more.
        let names = self.remembered_characters().count() as u64 + 5 * self.missing.len() as u64;
        self.cheapest() + names + 2 * characters + LONGEST_END
    }

    /// Lists of texts that every completion of this state contains, those of one list in order, each with the least number of characters
    /// before it. The first list closes what is open; the others are the groups that references ask for.
    pub(in crate::strings) fn needed(&self) -> Vec<Vec<(u64, String)>> {
        let (mut before, mut end, mut is_group) = (0, None, false);
        match &self.at {
            RegexState::Group => is_group = true,
            RegexState::GroupKind | RegexState::GroupAngle => (before, is_group) = (1, true),
            RegexState::Reference => (before, end) = (2, Some('>')),
            RegexState::Name { reference, name } => {
                (before, end, is_group) = (u64::from(name.is_empty()), Some('>'), !*reference);
            }
            RegexState::Braces(braces) => (before, end) = (braces.cheapest() - 1, Some('}')),
            RegexState::ClassStart => end = Some(']'),
            RegexState::Class(class) => (before, end) = (class.cheapest() - 1, Some(']')),
            RegexState::Escape(escape, None) => before = escape.cheapest(None),
            RegexState::Escape(escape, class) => (before, end) = (escape.cheapest(*class) - 1, Some(']')),
            RegexState::Term { .. } | RegexState::Quantified | RegexState::Number(_) => {}
        }
        let groups = (self.open.len() + usize::from(is_group)).min(MAX_NEEDED);
        let ends = end.into_iter().chain((0..groups).map(|_| ')')).map(String::from);
        let mut closing: Vec<(u64, String)> = ends.map(|end| (0, end)).collect();
        match closing.first_mut() {
            Some((gap, _)) => *gap = before,
            None => closing.push((before, String::new())),
        }
        let first = closing[0].clone();
        let mut needed = vec![closing];
        // A group that has been begun may be one of those that references ask for.
        if is_group {
            return needed;
        }
        let missing = self.missing.iter().take(MAX_NEEDED);
        needed.extend(missing.map(|name| vec![(0, format!("(?<{name}>")), (0, ")".to_owned())]));
        let begun = match &self.at {
            RegexState::Reference => Some(""),
            RegexState::Name { name, .. } => Some(&**name),
            _ => None,
        };
        let mut known = self.names.iter().chain(self.missing.iter());
        if let Some(begun) = begun
            && !known.any(|known| known.starts_with(begun))
        {
            let name = (0, format!("(?<{begun}"));
            needed.push(vec![
                first,
                name,
                (u64::from(begun.is_empty()), ">".to_owned()),
                (0, ")".to_owned()),
            ]);
        }
        let wanted = match self.at {
            RegexState::Number(number) => self.wanted.max(number),
            _ => self.wanted,
        };
        let groups = (wanted.saturating_sub(self.groups) as usize).min(MAX_NEEDED);
        if groups > 0 {
            // One group may be in another.
            let brackets = std::iter::repeat_n("(", groups).chain([")"]);
            needed.push(brackets.map(|bracket| (0, bracket.to_owned())).collect());
        }
        needed
    }

    /// The characters of the names that have to be written once more.
    pub(in crate::strings) fn remembered_characters(&self) -> impl Iterator<Item = char> {
        let begun = match &self.at {
            RegexState::Name { name, .. } => &**name,
            _ => "",
        };
        self.missing.iter().flat_map(str::chars).chain(begun.chars())
    }

    /// Characters that close groups and make those that references ask for, with so many more groups open, and so many
    /// more that capture, one of which is called `made`.
    fn closing(&self, open: u64, groups: u64, made: Option<&str>) -> u64 {
        let missing = self.missing.iter().filter(|missing| Some(*missing) != made);
        let (mut named, mut count) = (0, 0);
        for name in missing {
            // `(?<name>)`
            named += name.chars().count() as u64 + 5;
            count += 1;
        }
        let there = u64::from(self.groups) + groups + count;
        self.open.len() as u64 + open + named + 2 * u64::from(self.wanted).saturating_sub(there)
    }

    /// Returns the fewest characters that end the expression from behind `(`, `(?` or `(?<`, of which `read` characters follow
    /// the bracket.
    fn new_group(&self, read: usize) -> u64 {
        let mut ways = vec![
            // `?:`, or behind `(?<` the `=` of a lookbehind.
            2u64.saturating_sub(read as u64).max(1) + self.closing(1, 0, None),
        ];
        if read == 0 {
            ways.push(self.closing(1, 1, None));
        }
        ways.push((2 - read as u64) + self.group_name(""));
        ways.into_iter().min().unwrap_or(u64::MAX)
    }

    /// Returns the fewest characters that end the expression from within a group's name.
    fn group_name(&self, name: &str) -> u64 {
        let known = self.missing.iter().filter(|missing| missing.starts_with(name));
        let known = known.map(|missing| rest(missing, name) + 1 + self.closing(1, 1, Some(missing)));
        let taken = name.is_empty() || self.names.contains(name);
        let fresh = 1 + u64::from(taken) + self.closing(1, 1, None);
        known.fold(fresh, u64::min)
    }

    /// Returns the fewest characters that end the expression from within a reference's name.
    fn reference_name(&self, name: &str) -> u64 {
        let known = self.names.iter().chain(self.missing.iter());
        let known = known.filter(|known| known.starts_with(name));
        let known = known.map(|known| rest(known, name) + 1 + self.closing(0, 0, None));
        // One more group, for which `closing` counts no group without a name.
        let length = name.chars().count().max(1) as u64;
        let typed = length - name.chars().count() as u64 + 1;
        known.fold(typed + length + 5 + self.closing(0, 1, None), u64::min)
    }

    /// A way to the end of the expression, if that is easily found.
    pub(in crate::strings) fn completion(&self) -> Option<String> {
        let mut way = String::new();
        let mut at = self.clone();
        for _ in 0..24 {
            if let Some(settled) = at.settled() {
                way.extend(settled.open.iter().map(|_| ')'));
                way.extend(settled.missing.iter().map(|name| format!("(?<{name}>)")));
                let there = settled.groups + settled.missing.len() as u32;
                way.push_str(&"()".repeat(settled.wanted.saturating_sub(there) as usize));
                return Some(way);
            }
            let cost = at.cheapest();
            let mut steps = "]}>:=0FfaD?/u{\\(1".chars().filter_map(|c| Some((c, at.after(c)?)));
            let (c, next) = steps.find(|(_, next)| next.cheapest() < cost)?;
            way.push(c);
            at = next;
        }
        None
    }
}

impl EscapeState {
    /// Characters that end the escape, and the class around it.
    fn cheapest(&self, before: Option<ClassState>) -> u64 {
        let ways = |values: &[(u64, Option<u32>)]| {
            let ends = values.iter().filter_map(|&(cost, value)| match before {
                None => Some(cost),
                Some(before) => Some(cost + before.atom(value)?.cheapest()),
            });
            ends.min()
        };
        let hex = |hex: Hex| match before {
            None => Some(hex.least()),
            Some(before) => hex.cheapest(before),
        };
        let unicode = || {
            hex(Hex::unit())
                .into_iter()
                .chain(hex(Hex::braced()).map(|cost| cost + 1))
                .min()
        };
        let least = match self {
            // The last character that a backslash and one more stand for is `}`.
            Self::Start => {
                let short = ways(&[(1, Some(0x7D))]);
                let byte = hex(Hex::byte()).map(|cost| cost + 1);
                short
                    .into_iter()
                    .chain(byte)
                    .chain(unicode().map(|cost| cost + 1))
                    .min()
            }
            Self::Control => ways(&[(1, Some(26))]),
            Self::Unicode => unicode(),
            Self::Hex(read) => hex(*read),
            Self::Zero => Some(before.map_or(0, ClassState::cheapest)),
            Self::Property => ways(&[(2 + shortest_property(""), None)]),
            Self::PropertyName(name) => ways(&[(1 + shortest_property(name), None)]),
        };
        least.unwrap_or(u64::MAX)
    }
}

fn shortest_property(name: &str) -> u64 {
    property_endings(name)
        .map(|ending| ending.len() as u64)
        .min()
        .unwrap_or(u64::MAX >> 1)
}

/// Characters of `name` behind its beginning `read`.
fn rest(name: &str, read: &str) -> u64 {
    name[read.len()..].chars().count() as u64
}
