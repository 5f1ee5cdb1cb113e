//! Unbounded over-approximations: languages without a bound on length that agree with a given one up to a horizon of characters.
//!
//! Each count of characters left before a bound is another state: `[a-z]{1,255}`, a host name of at most 253, the
//! local part of a mail address, `(\S+ ){0,49}`. While the bound is beyond the length of a token, it does not influence masks,
//! so all these states share the mask of one state without bound, except for the longest tokens and those of many words.

use hashbrown::HashMap;

use crate::strings::analysis::answers::Horizon;
use crate::strings::analysis::beside_custom_dfa::HOST_END;
use crate::strings::analysis::custom_dfa_bounds::Side;
use crate::strings::charset::CharRange;
use crate::strings::custom_dfa::CustomDfa;
use crate::strings::custom_dfa::regex::RegexSyntax;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, LanguageId, UNBOUNDED};
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;
use crate::strings::unicode_properties::SPACES;

/// Maximal depth of nested expressions that is looked into.
const DEPTH: usize = 24;

/// Whether a character stands between words, as `\s` has it in patterns.
pub(crate) fn is_blank(character: u32) -> bool {
    let mut blanks = SPACES.iter();
    blanks.any(|(first, last)| (u32::from(*first)..=u32::from(*last)).contains(&character))
}

/// Number of characters within which every viable prefix of an intersection must be completable.
const ENDING_CHARACTERS: u64 = 8;
/// Maximal number of states visited to decide that.
const SLACK_STATES: usize = 64;

/// Octets that a character takes at most.
const OCTETS_PER_CHARACTER: u64 = 4;

/// Maximal number of parts of an expression examined for the first and last characters of its texts.
const EDGE_PARTS: usize = 32;

/// An end of a text.
#[derive(Clone, Copy)]
enum Edge {
    First,
    Last,
}

impl Languages {
    /// A language that has all texts of `id`. Up to a horizon it has no others, and no other beginnings of texts, but for
    /// those of host names in which two hyphens follow one another, and of regular expressions that have
    /// [an end of something](crate::strings::ends_what_is_remembered) or are shorter than a least length.
    pub(crate) fn over_approximation(&mut self, id: LanguageId, horizon: Horizon) -> Result<LanguageId, LimitReached> {
        self.over_approximation_within(id, horizon, DEPTH)
    }

    fn over_approximation_within(
        &mut self,
        id: LanguageId,
        horizon: Horizon,
        depth: usize,
    ) -> Result<LanguageId, LimitReached> {
        if let Some(&known) = self.over_approximations.get(&(id, horizon)) {
            return Ok(known);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(id);
        };
        let near = self.find_over_approximation(id, horizon, depth)?;
        self.over_approximations.insert((id, horizon), near);
        // An over-approximation is its own.
        self.over_approximations.insert((near, horizon), near);
        Ok(near)
    }

    fn find_over_approximation(
        &mut self,
        id: LanguageId,
        horizon: Horizon,
        depth: usize,
    ) -> Result<LanguageId, LimitReached> {
        match self.arena.node(id).clone() {
            // A text is divided in the same ways, for both have the same texts to begin with.
            Expr::Concat(first, rest) => {
                let first = self.over_approximation_within(first, horizon, depth)?;
                let rest = self.over_approximation_within(rest, horizon, depth)?;
                self.arena.concat(first, rest)
            }
            Expr::Or(members) => {
                let members = members
                    .iter()
                    .map(|&member| self.over_approximation_within(member, horizon, depth));
                let members = members.collect::<Result<Vec<_>, _>>()?;
                self.arena.or(members)
            }
            // A text has no more parts than there is room for, and one more that it has only begun.
            Expr::Repeat { inner, min, max } => {
                let parts = match self.shortest_length(inner)? {
                    Some(least) => horizon.characters / least.max(1),
                    None => horizon.characters,
                };
                let parts = match self.is_word(inner) {
                    true => parts.min(horizon.blanks),
                    false => parts,
                };
                let inner = self.over_approximation_within(inner, horizon, depth)?;
                let max = if max > parts { UNBOUNDED } else { max };
                self.arena.repeat(inner, min, max)
            }
            Expr::And(_) => {
                if let Some((state, others)) = self.split_custom_dfa(id)?
                    && let CustomDfa::RegexSyntax(regex) = &state
                {
                    // Letters may always be added, so that a least length excludes no beginning.
                    let (beside, min, max) = self.split_length(others)?.unwrap_or((others, 0, UNBOUNDED));
                    if beside != ANY && self.completes_within(&state, (min, max), beside)? {
                        let coarse = self.over_approximation_of_regex(regex, horizon)?;
                        return self.arena.and(vec![coarse, beside]);
                    }
                }
                if let Some((bounded, most)) = self.split_octets(id)? {
                    let room = self.slack(bounded, depth)?.map(|slack| {
                        let octets = slack.saturating_mul(OCTETS_PER_CHARACTER);
                        octets.saturating_add(horizon.octets)
                    });
                    return match room {
                        Some(room) if room <= most => self.over_approximation_within(bounded, horizon, depth),
                        _ => Ok(id),
                    };
                }
                let Some((bounded, min, max)) = self.split_length(id)? else {
                    return Ok(id);
                };
                if let Expr::CustomDfa(CustomDfa::RegexSyntax(regex)) = self.arena.node(bounded)
                    && regex.slack(horizon.characters).saturating_add(horizon.characters) <= max
                {
                    // Letters may always be added, so that a least length excludes no beginning.
                    return self.over_approximation_within(bounded, horizon, depth);
                }
                if bounded == ANY || min > 1 {
                    return Ok(id);
                }
                // Where nothing has been read, a character has to come first.
                let max = if max == UNBOUNDED { max } else { max.saturating_sub(min) };
                let near = match self.arena.node(bounded) {
                    Expr::And(_) => match self.split_custom_dfa(bounded)? {
                        Some((host, beside)) => self.over_approximation_of_host(host, beside, max, horizon, depth)?,
                        None => self.over_approximation_of_all(bounded, max, horizon, depth)?,
                    },
                    // Whatever has been read can be ended before the bound, and is long enough with a character.
                    _ => match self.slack(bounded, depth)? {
                        Some(slack) if slack.saturating_add(horizon.characters) <= max => {
                            Some(self.over_approximation_within(bounded, horizon, depth)?)
                        }
                        _ => None,
                    },
                };
                let Some(near) = near else {
                    return Ok(id);
                };
                match min {
                    0 => Ok(near),
                    _ => {
                        let some = self.arena.length(1, UNBOUNDED)?;
                        self.arena.and(vec![near, some])
                    }
                }
            }
            Expr::CustomDfa(CustomDfa::Hostname(host)) if host.is_plain_but_for_hyphens() => {
                let above = self.arena.approximated(id, Side::Above)?;
                self.over_approximation_within(above, horizon, depth)
            }
            Expr::CustomDfa(CustomDfa::RegexSyntax(regex)) if !regex.is_coarse() => {
                self.over_approximation_of_regex(&regex, horizon)
            }
            _ => Ok(id),
        }
    }

    /// The over-approximation of host names beside another language, up to so many characters; none where it is not shown that
    /// every prefix can be completed in both at once.
    fn over_approximation_of_host(
        &mut self,
        host: CustomDfa,
        beside: LanguageId,
        max: u64,
        horizon: Horizon,
        depth: usize,
    ) -> Result<Option<LanguageId>, LimitReached> {
        let most = horizon.characters.saturating_add(CustomDfa::HOST_SLACK + HOST_END);
        if !matches!(host, CustomDfa::Hostname(_)) || most > max || !self.completes(&host, beside)? {
            return Ok(None);
        }
        let host = self.arena.intern(Expr::CustomDfa(host))?;
        let host = self.over_approximation_within(host, horizon, depth)?;
        self.arena.and(vec![host, beside]).map(Some)
    }

    fn over_approximation_of_regex(
        &mut self,
        regex: &RegexSyntax,
        horizon: Horizon,
    ) -> Result<LanguageId, LimitReached> {
        let coarse = regex.coarse(horizon.characters.min(64) as usize);
        self.arena.intern(Expr::CustomDfa(CustomDfa::RegexSyntax(coarse)))
    }

    /// The over-approximation of an intersection by those of its members, up to so many characters; none where it is not shown that
    /// every prefix can be completed in all members at once.
    fn over_approximation_of_all(
        &mut self,
        id: LanguageId,
        max: u64,
        horizon: Horizon,
        depth: usize,
    ) -> Result<Option<LanguageId>, LimitReached> {
        let Expr::And(members) = self.arena.node(id).clone() else {
            return Ok(None);
        };
        if self.arena.has_custom_dfa(id) || horizon.characters.saturating_add(ENDING_CHARACTERS) > max {
            return Ok(None);
        }
        // Ends of texts are within the horizon as well.
        let further = Horizon {
            characters: horizon.characters + ENDING_CHARACTERS,
            blanks: horizon.blanks + ENDING_CHARACTERS,
            octets: horizon.octets + ENDING_CHARACTERS * OCTETS_PER_CHARACTER,
        };
        let near = members
            .iter()
            .map(|&member| self.over_approximation_within(member, further, depth));
        let near = near.collect::<Result<Vec<_>, _>>()?;
        let near = self.arena.and(near)?;
        let slack = self.slack(near, depth)?;
        Ok(slack.filter(|slack| *slack <= ENDING_CHARACTERS).map(|_| near))
    }

    /// The [`slack`](Self::slack) of a language, by looking at all that may be left of a text; none where that is too
    /// much.
    fn measured_slack(&mut self, id: LanguageId) -> Result<Option<u64>, LimitReached> {
        let mut states = vec![id];
        let mut numbers: HashMap<LanguageId, usize> = HashMap::new();
        numbers.insert(id, 0);
        // From where each state is reached.
        let mut before: Vec<Vec<usize>> = vec![Vec::new()];
        let mut at = 0;
        while at < states.len() {
            for &(_, target) in self.rows(states[at])?.iter() {
                let number = *numbers.entry(target).or_insert(states.len());
                if number == states.len() {
                    if number == SLACK_STATES {
                        // From most of them there are as many.
                        for state in states {
                            self.slacks.insert(state, None);
                        }
                        return Ok(None);
                    }
                    states.push(target);
                    before.push(Vec::new());
                }
                before[number].push(at);
            }
            at += 1;
        }
        // The remainder of a text has no longer ends than the text.
        let mut slack = 0;
        let mut is_seen: Vec<bool> = states.iter().map(|state| self.arena.nullable(*state)).collect();
        let mut ends: Vec<usize> = (0..states.len()).filter(|state| is_seen[*state]).collect();
        loop {
            let sources = ends.iter().flat_map(|end| before[*end].iter().copied());
            let mut next = Vec::new();
            for source in sources {
                if !std::mem::replace(&mut is_seen[source], true) {
                    next.push(source);
                }
            }
            if next.is_empty() {
                break;
            }
            slack += 1;
            ends = next;
        }
        for (state, lives) in states.into_iter().zip(is_seen) {
            self.note_emptiness(state, !lives);
            self.slacks.insert(state, Some(slack));
        }
        Ok(Some(slack))
    }

    /// Splits a bound on the number of octets off an intersection: the language that it bounds, and the largest number.
    fn split_octets(&mut self, id: LanguageId) -> Result<Option<(LanguageId, u64)>, LimitReached> {
        let Expr::And(members) = self.arena.node(id) else {
            return Ok(None);
        };
        let most = |member: &LanguageId| Some((*member, *self.arena.octets.get(member)?));
        let Some((bound, most)) = members.iter().find_map(most) else {
            return Ok(None);
        };
        let rest = members.iter().copied().filter(|member| *member != bound).collect();
        Ok(Some((self.arena.and(rest)?, most.into())))
    }

    /// Whether each text of a language has a blank at one end and another character at the other, so that as many after each
    /// other have as many stretches of blanks.
    fn is_word(&self, id: LanguageId) -> bool {
        let has = |edge, blank| self.has_edge(id, edge, blank, &mut { EDGE_PARTS });
        !self.arena.nullable(id)
            && (has(Edge::First, false) && has(Edge::Last, true) || has(Edge::First, true) && has(Edge::Last, false))
    }

    /// Whether each text that is not empty has a blank, or another character, at one end; false where that is not
    /// shown within so many parts of the expression.
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
            Expr::None | Expr::Empty => true,
            Expr::Class(ranges) => ranges.iter().all(is_of),
            Expr::Concat(first, rest) => {
                let (at, other) = match edge {
                    Edge::First => (*first, *rest),
                    Edge::Last => (*rest, *first),
                };
                has(at) && (!self.arena.nullable(at) || has(other))
            }
            Expr::Repeat { inner, .. } => has(*inner),
            Expr::Or(members) => members.iter().all(|member| has(*member)),
            Expr::And(members) => members.iter().any(|member| has(*member)),
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
            Expr::None | Expr::Empty => Some(0),
            Expr::Class(_) => Some(1),
            Expr::Concat(first, rest) => {
                let (before, after) = (self.slack(first, depth)?, self.slack(rest, depth)?);
                let whole = before.zip(self.shortest_length(rest)?);
                let whole = whole.and_then(|(before, least)| before.checked_add(least));
                whole.zip(after).map(|(whole, after)| whole.max(after))
            }
            Expr::Or(members) => {
                let mut most = Some(0);
                for member in members {
                    let slack = self.slack(member, depth)?;
                    most = most.zip(slack).map(|(one, other)| one.max(other));
                }
                most
            }
            Expr::Repeat { inner, min, .. } => {
                let slack = self.slack(inner, depth)?.zip(self.shortest_length(inner)?);
                slack.and_then(|(slack, least)| least.checked_mul(min.saturating_sub(1))?.checked_add(slack))
            }
            Expr::CustomDfa(CustomDfa::Hostname(_)) => Some(CustomDfa::HOST_SLACK),
            // No text is longer than the longest.
            _ if self.arena.is_structural(id) => self.lengths(id)?.and_then(|lengths| lengths.max().flatten()),
            Expr::And(_) if !self.arena.has_custom_dfa(id) => self.measured_slack(id)?,
            _ => None,
        })
    }

    /// The number of characters of a shortest text, where the structure shows it.
    pub(in crate::strings) fn shortest_length(&mut self, id: LanguageId) -> Result<Option<u64>, LimitReached> {
        Ok(self.plain_lengths(id)?.and_then(|lengths| lengths.min()))
    }
}
