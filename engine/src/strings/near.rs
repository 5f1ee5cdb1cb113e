//! Languages that are the same as another for the next few characters.
//!
//! How much of a bound is left makes a new state of every character: `[a-z]{1,255}`, a host name of at most 253, the
//! local part of a mail address, `(\S+ ){0,49}`. As long as a bound is far away it has no say in what a token may be, so
//! that all these states have the same tokens as one without bound, but for the longest tokens, and those of many words.

use super::Languages;
use super::charset::CharRange;
use super::limits::LimitReached;
use super::native::{Native, Side};
use super::node::{ANY, LanguageId, Node, UNBOUNDED};
use super::pattern::SPACES;

/// Expressions inside one another to look into.
const DEPTH: usize = 24;

/// Up to where languages are the same that are near to one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Horizon {
    /// Characters of a text.
    pub(crate) characters: u64,
    /// Stretches of [blanks](is_blank) in it: how many words it can have.
    pub(crate) blanks: u64,
}

impl Horizon {
    /// Up to where this one is or another.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            characters: self.characters.max(other.characters),
            blanks: self.blanks.max(other.blanks),
        }
    }
}

/// Whether a character stands between words, as `\s` has it in patterns.
pub(crate) fn is_blank(character: u32) -> bool {
    let mut blanks = SPACES.iter();
    blanks.any(|(first, last)| (u32::from(*first)..=u32::from(*last)).contains(&character))
}

/// Parts of an expression that are looked at to know what its texts begin and end with.
const MOST_PARTS: usize = 32;

/// An end of a text.
#[derive(Clone, Copy)]
enum Edge {
    First,
    Last,
}

impl Languages {
    /// A language that has all texts of `id`. Up to a horizon it has no others, and no other beginnings of texts, but for
    /// those of [machines](Self::has_machines) in which two hyphens follow one another.
    pub(crate) fn near(&mut self, id: LanguageId, horizon: Horizon) -> Result<LanguageId, LimitReached> {
        self.near_within(id, horizon, DEPTH)
    }

    fn near_within(&mut self, id: LanguageId, horizon: Horizon, depth: usize) -> Result<LanguageId, LimitReached> {
        if let Some(&known) = self.near.get(&(id, horizon)) {
            return Ok(known);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(id);
        };
        let near = self.find_near(id, horizon, depth)?;
        self.near.insert((id, horizon), near);
        // What is near is near itself.
        self.near.insert((near, horizon), near);
        Ok(near)
    }

    fn find_near(&mut self, id: LanguageId, horizon: Horizon, depth: usize) -> Result<LanguageId, LimitReached> {
        match self.arena.node(id).clone() {
            // A text is divided in the same ways, for both have the same texts to begin with.
            Node::Concat(first, rest) => {
                let first = self.near_within(first, horizon, depth)?;
                let rest = self.near_within(rest, horizon, depth)?;
                self.arena.concat(first, rest)
            }
            Node::Or(members) => {
                let members = members.iter().map(|&member| self.near_within(member, horizon, depth));
                let members = members.collect::<Result<Vec<_>, _>>()?;
                self.arena.or(members)
            }
            // A text has no more parts than there is room for, and one more that it has only begun.
            Node::Repeat { inner, min, max } => {
                let parts = match self.least(inner)? {
                    Some(least) => horizon.characters / least.max(1),
                    None => horizon.characters,
                };
                let parts = match self.is_word(inner) {
                    true => parts.min(horizon.blanks),
                    false => parts,
                };
                let inner = self.near_within(inner, horizon, depth)?;
                let max = if max > parts { UNBOUNDED } else { max };
                self.arena.repeat(inner, min, max)
            }
            Node::And(_) => {
                let Some((bounded, min, max)) = self.split_length(id)? else {
                    return Ok(id);
                };
                // Whatever has been read can be ended before the bound, and is long enough with a character.
                let room = self
                    .slack(bounded, depth)?
                    .and_then(|slack| slack.checked_add(horizon.characters));
                if bounded == ANY || min > 1 || room.is_none_or(|room| room > max) {
                    return Ok(id);
                }
                let near = self.near_within(bounded, horizon, depth)?;
                match min {
                    0 => Ok(near),
                    _ => {
                        let some = self.arena.length(1, UNBOUNDED)?;
                        self.arena.and(vec![near, some])
                    }
                }
            }
            Node::Native(Native::Host(host)) if host.is_plain_but_for_hyphens() => {
                let above = self.arena.approximated(id, Side::Above)?;
                self.near_within(above, horizon, depth)
            }
            _ => Ok(id),
        }
    }

    /// Whether each text of a language has a blank at one end and another character at the other, so that as many after each
    /// other have as many stretches of blanks.
    fn is_word(&self, id: LanguageId) -> bool {
        let has = |edge, blank| self.has_edge(id, edge, blank, &mut { MOST_PARTS });
        !self.arena.nullable(id)
            && (has(Edge::First, false) && has(Edge::Last, true) || has(Edge::First, true) && has(Edge::Last, false))
    }

    /// Whether each text that is not empty begins or ends with a blank, or with another character; false where that does not
    /// show in so many parts of its expression.
    fn has_edge(&self, id: LanguageId, edge: Edge, blank: bool, left: &mut usize) -> bool {
        let Some(others) = left.checked_sub(1) else {
            return false;
        };
        *left = others;
        let mut has = |id: LanguageId| self.has_edge(id, edge, blank, left);
        let is_of = |range: &CharRange| {
            let (low, high) = (range.first(), range.last());
            match blank {
                true => SPACES.iter().any(|(first, last)| *first <= low && high <= *last),
                false => SPACES.iter().all(|(first, last)| high < *first || *last < low),
            }
        };
        match self.arena.node(id) {
            Node::None | Node::Empty => true,
            Node::Class(ranges) => ranges.iter().all(is_of),
            Node::Concat(first, rest) => {
                let (at, other) = match edge {
                    Edge::First => (*first, *rest),
                    Edge::Last => (*rest, *first),
                };
                has(at) && (!self.arena.nullable(at) || has(other))
            }
            Node::Repeat { inner, .. } => has(*inner),
            Node::Or(members) => members.iter().all(|member| has(*member)),
            Node::And(members) => members.iter().any(|member| has(*member)),
            _ => false,
        }
    }

    /// Characters with which every beginning of a text of `id` can be made one; none where no such number shows.
    fn slack(&mut self, id: LanguageId, depth: usize) -> Result<Option<u64>, LimitReached> {
        if let Some(&known) = self.slacks.get(&id) {
            return Ok(known);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(None);
        };
        let slack = self.find_slack(id, depth)?;
        self.slacks.insert(id, slack);
        Ok(slack)
    }

    fn find_slack(&mut self, id: LanguageId, depth: usize) -> Result<Option<u64>, LimitReached> {
        Ok(match self.arena.node(id).clone() {
            Node::None | Node::Empty => Some(0),
            Node::Class(_) => Some(1),
            Node::Concat(first, rest) => {
                let (before, after) = (self.slack(first, depth)?, self.slack(rest, depth)?);
                let whole = before.zip(self.least(rest)?);
                let whole = whole.and_then(|(before, least)| before.checked_add(least));
                whole.zip(after).map(|(whole, after)| whole.max(after))
            }
            Node::Or(members) => {
                let mut most = Some(0);
                for member in members {
                    let slack = self.slack(member, depth)?;
                    most = most.zip(slack).map(|(one, other)| one.max(other));
                }
                most
            }
            Node::Repeat { inner, min, .. } => {
                let slack = self.slack(inner, depth)?.zip(self.least(inner)?);
                slack.and_then(|(slack, least)| least.checked_mul(min.saturating_sub(1))?.checked_add(slack))
            }
            Node::Native(Native::Host(_)) => Some(Native::HOST_SLACK),
            // No text is longer than the longest.
            _ if self.arena.is_structural(id) => self.lengths(id)?.and_then(|lengths| lengths.max().flatten()),
            _ => None,
        })
    }

    /// Characters of a shortest text, where they are easily counted.
    pub(super) fn least(&mut self, id: LanguageId) -> Result<Option<u64>, LimitReached> {
        Ok(match self.arena.is_structural(id) {
            true => self.lengths(id)?.and_then(|lengths| lengths.min()),
            false => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::LanguageLimits;
    use crate::strings::node::NONE;

    const HORIZON: Horizon = Horizon {
        characters: 16,
        blanks: 2,
    };

    /// All texts of up to so many characters of an alphabet, after each other.
    fn compare(languages: &mut Languages, one: LanguageId, other: LanguageId, alphabet: &str, longest: usize) -> usize {
        let mut level = vec![(String::new(), one, other)];
        let mut compared = 0;
        for _ in 0..longest {
            let mut next = Vec::new();
            for (text, one, other) in level {
                for c in alphabet.chars() {
                    let text = format!("{text}{c}");
                    let words = text
                        .split(|c| !is_blank(u32::from(c)))
                        .filter(|blanks| !blanks.is_empty());
                    if text.contains("--") || words.count() as u64 > HORIZON.blanks {
                        continue;
                    }
                    let after = [one, other].map(|language| languages.derivative(language, c).unwrap());
                    compared += 1;
                    assert_eq!(after[0] == NONE, after[1] == NONE, "{text}");
                    let ends = after.map(|language| languages.accepts_empty(language));
                    assert_eq!(ends[0], ends[1], "{text}");
                    if after[0] != NONE && !next.iter().any(|(_, one, other)| [*one, *other] == after) {
                        next.push((text, after[0], after[1]));
                    }
                }
            }
            level = next;
        }
        compared
    }

    #[test]
    fn near_languages_are_the_same_up_to_the_horizon() {
        let mut languages = Languages::new(&LanguageLimits::default());
        let patterns = [
            ("^[a-c-]{1,255}$", 200, "ab-.1"),
            ("^([ab]{2}[.1]){3,40}a?$", 100, "ab.1"),
            ("^([ab]+ +){0,18}b$", 90, "ab "),
            ("^(a{0,30}b|.{17}1{2,20})*$", 60, "ab1"),
            ("^a(b{20}|-)*$", 50, "ab-"),
            (r"^([^ ]+ +){0,11}[^ ]+$", 70, "ab "),
            (r"^(?:\S+\s+){0,9}\S+$", 60, "a1 \u{a0}"),
            (r"^\S+(\s(a|b1?){1,3}){2,7}\s?$", 60, "ab1 "),
            (r"^( ?a+ ?){0,9}$", 60, "ab "),
            ("^(ab{1,5}1){0,7}(ba)?$", 200, "ab1"),
        ];
        let formats = ["hostname", "email", "uri", "uri-reference", "idn-email"];
        let mut open: Vec<(LanguageId, u64, &str)> = Vec::new();
        for (pattern, bound, alphabet) in patterns {
            open.push((languages.pattern(pattern).unwrap(), bound, alphabet));
        }
        for format in formats {
            open.push((languages.format(format).unwrap().unwrap(), 120, "ax-.@/1"));
        }
        let (mut compared, mut changed, mut continued) = (0, 0, 0);
        for (unbounded, bound, alphabet) in open {
            for least in 0..3 {
                let length = languages.length(least, Some(bound)).unwrap();
                let mut language = languages.and(&[unbounded, length]).unwrap();
                // What texts go on with in languages that the first ones are near to.
                let mut above: Vec<LanguageId> = Vec::new();
                // On the way to the bound and past the horizon before it.
                for step in 0..bound as usize {
                    let near = languages.near(language, HORIZON).unwrap();
                    assert_eq!(languages.near(near, HORIZON).unwrap(), near);
                    if near != language {
                        changed += 1;
                        if step % 31 == 0 || bound as usize - step < 8 {
                            compared += compare(&mut languages, language, near, alphabet, HORIZON.characters as usize);
                        }
                    }
                    if step < 4 {
                        above.push(near);
                    }
                    let mut next = alphabet.chars().cycle().skip(step * 7 % 5).take(alphabet.len());
                    let after = next.find_map(|c| {
                        let after = languages.derivative(language, c).unwrap();
                        (after != NONE).then_some((c, after))
                    });
                    let Some((c, after)) = after else { break };
                    language = after;
                    for above in &mut above {
                        *above = languages.derivative(*above, c).unwrap();
                        assert!(*above != NONE && languages.accepts_empty(*above) >= languages.accepts_empty(after));
                        continued += 1;
                    }
                }
            }
        }
        assert!(changed > 1_000 && compared > 50_000, "{changed} {compared}");
        assert!(continued > 5_000, "{continued}");
    }
}
