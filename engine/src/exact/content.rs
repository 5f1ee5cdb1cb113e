//! The tokens that may come within a string: what its language says of their characters.

use std::ops::Range;

use hashbrown::HashMap;

use crate::automaton::{Automaton, Decode, Trouble};
use crate::strings::{CharRange, LanguageId, Machine, Transitions};
use crate::{Escapes, TokenId};

use super::contents::Contents;
use super::runs::{Class, Runs};
use super::token_set::{Base, TokenSet};
use super::tokens::Tokens;
use super::trie::Trie;

/// What may follow in a string.
#[derive(Clone, Debug)]
pub(super) enum Rest {
    Language(LanguageId),
    /// A machine's states, which are as many as texts, are not kept.
    Machine(Machine),
}

impl Rest {
    pub(super) fn new(automaton: &mut Automaton, language: LanguageId) -> Result<Self, Trouble> {
        Ok(match automaton.machine(language)? {
            Some(machine) => Self::Machine(machine),
            None => Self::Language(language),
        })
    }

    /// What may follow a character; none where nothing does.
    pub(super) fn after(&self, automaton: &mut Automaton, character: char) -> Result<Option<Self>, Trouble> {
        Ok(match self {
            Self::Language(language) => automaton.content_after(*language, character)?.map(Self::Language),
            Self::Machine(machine) => machine.after(character)?.map(Self::Machine),
        })
    }

    /// Whether the text may end here.
    pub(super) fn accepts(&self, automaton: &Automaton) -> bool {
        match self {
            Self::Language(language) => automaton.accepts_empty(*language),
            Self::Machine(machine) => machine.accepts(),
        }
    }

    /// Whether a character that was begun can be ended.
    pub(super) fn may_follow(
        &self,
        automaton: &mut Automaton,
        begun: Decode,
        escapes: Escapes,
    ) -> Result<bool, Trouble> {
        match self {
            Self::Language(language) => automaton.may_follow(begun, *language),
            Self::Machine(machine) => Ok(machine.may_begin(&begun.possible(escapes))?),
        }
    }
}

/// What languages leave open, as far as it has been asked.
#[derive(Debug, Default)]
pub(super) struct Freedom {
    /// Characters after any of which some text can still come.
    viable: HashMap<LanguageId, u64>,
    /// Characters up to which every text belongs to the language.
    accepted: HashMap<LanguageId, u64>,
}

impl Freedom {
    /// Whether any text of `length` characters is the beginning of one of `language`.
    pub(super) fn is_viable(
        &mut self,
        automaton: &mut Automaton,
        language: LanguageId,
        length: u64,
    ) -> Result<bool, Trouble> {
        if let Some(&known) = self.viable.get(&language) {
            return Ok(length <= known);
        }
        let viable = match automaton.is_dense(language)? {
            true => u64::MAX,
            false => automaton.only_bounded(language)?.map_or(0, |(_, max)| max),
        };
        self.viable.insert(language, viable);
        Ok(length <= viable)
    }

    /// Whether all texts of up to `length` characters belong to `language`.
    pub(super) fn is_accepted(
        &mut self,
        automaton: &mut Automaton,
        language: LanguageId,
        length: u64,
    ) -> Result<bool, Trouble> {
        if let Some(&known) = self.accepted.get(&language) {
            return Ok(length < known);
        }
        let accepted = match automaton.only_bounded(language)? {
            Some((0, max)) => max.saturating_add(1),
            _ => 0,
        };
        self.accepted.insert(language, accepted);
        Ok(length < accepted)
    }
}

/// What is made of the texts that a language admits.
trait Visit {
    /// Whether all texts below a place may come.
    fn is_free(&mut self, automaton: &mut Automaton, language: LanguageId) -> Result<bool, Trouble>;
    /// The texts that end where this may follow.
    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, rest: &Rest) -> Result<(), Trouble>;
    /// Texts that all may come, or none.
    fn run(&mut self, places: Range<usize>, may: bool);
    /// Visits all texts below a node otherwise, with nodes that are left to look at; false where there is no other way.
    fn below(
        &mut self,
        _automaton: &mut Automaton,
        _node: u32,
        _language: LanguageId,
        _open: &mut Vec<(u32, LanguageId)>,
    ) -> Result<bool, Trouble> {
        Ok(false)
    }
}

/// Visits the texts of a trie as far as they may come.
fn visit(automaton: &mut Automaton, trie: &Trie<u32>, rest: Rest, visitor: &mut dyn Visit) -> Result<(), Trouble> {
    if let Rest::Language(language) = rest
        && visitor.is_free(automaton, language)?
    {
        visitor.run(trie.run(Trie::<u32>::ROOT, trie.end(Trie::<u32>::ROOT)), true);
        return Ok(());
    }
    let mut walk = Walk {
        trie,
        visitor,
        open: Vec::new(),
    };
    walk.visit(automaton, Trie::<u32>::ROOT, rest)?;
    while let Some((node, rest)) = walk.open.pop() {
        match rest {
            Rest::Language(language) if !automaton.is_read_singly(language) => {
                let mut left = Vec::new();
                if walk.visitor.below(automaton, node, language, &mut left)? {
                    for (node, language) in left {
                        walk.visit(automaton, node, Rest::Language(language))?;
                    }
                } else {
                    walk.by_ranges(automaton, node, language)?;
                }
            }
            rest => walk.singly(automaton, node, &rest)?,
        }
    }
    Ok(())
}

/// A walk over the characters of tokens, beside the states of a language.
struct Walk<'a> {
    trie: &'a Trie<u32>,
    visitor: &'a mut dyn Visit,
    /// Nodes whose children have not been looked at, with what may follow there.
    open: Vec<(u32, Rest)>,
}

impl Walk<'_> {
    fn visit(&mut self, automaton: &mut Automaton, node: u32, rest: Rest) -> Result<(), Trouble> {
        let places = self.trie.at(node);
        if !places.is_empty() {
            self.visitor.at(automaton, places, &rest)?;
        }
        if !self.trie.is_leaf(node) {
            self.open.push((node, rest));
        }
        Ok(())
    }

    /// The children of a node, by ranges of characters that lead to one language each. The root has more children than
    /// most languages ranges, so that there those of a range are found at once; elsewhere it is the other way round.
    fn by_ranges(&mut self, automaton: &mut Automaton, node: u32, language: LanguageId) -> Result<(), Trouble> {
        let trie = self.trie;
        let end = trie.end(node);
        let transitions = automaton.content_transitions(language)?;
        let mut ranges = &transitions[..];
        let mut free = None;
        let mut at = Trie::<u32>::first_child(node);
        while at < end {
            let label = trie.label(at);
            ranges = &ranges[ranges.partition_point(|(range, _)| u32::from(range.last()) < label)..];
            let Some(&(range, target)) = ranges.first() else { break };
            let (first, last) = (u32::from(range.first()), u32::from(range.last()));
            if label < first {
                let next = match node {
                    Trie::<u32>::ROOT => trie.root_from(first),
                    _ => trie.end(at),
                };
                self.visitor.run(trie.run(at, next), false);
                at = next;
                continue;
            }
            let is_free = match free {
                Some((known, is_free)) if known == target => is_free,
                _ => self.visitor.is_free(automaton, target)?,
            };
            free = Some((target, is_free));
            if is_free {
                let next = match node {
                    Trie::<u32>::ROOT => trie.root_from(last + 1),
                    _ => trie.end(at),
                };
                self.visitor.run(trie.run(at, next), true);
                at = next;
            } else {
                self.visit(automaton, at, Rest::Language(target))?;
                at = trie.end(at);
            }
        }
        if at < end {
            self.visitor.run(trie.run(at, end), false);
        }
        Ok(())
    }

    /// The children of a node where each character leads elsewhere.
    fn singly(&mut self, automaton: &mut Automaton, node: u32, rest: &Rest) -> Result<(), Trouble> {
        let trie = self.trie;
        for child in trie.children(node) {
            let after = match char::from_u32(trie.label(child)) {
                Some(character) => rest.after(automaton, character)?,
                None => None,
            };
            match after {
                Some(after) => self.visit(automaton, child, after)?,
                None => self.visitor.run(trie.run(child, trie.end(child)), false),
            }
        }
        Ok(())
    }
}

/// The tokens that stay inside of a string, as they are found.
struct Inside<'a> {
    contents: &'a Contents,
    /// Where runs are known.
    tokens: Option<&'a Tokens>,
    escapes: Escapes,
    freedom: &'a mut Freedom,
    /// Whether the tokens that may not come are listed rather than those that may.
    excludes: bool,
    found: Vec<TokenId>,
    /// More that may come, 32 a word.
    words: Vec<u32>,
}

impl Visit for Inside<'_> {
    fn is_free(&mut self, automaton: &mut Automaton, language: LanguageId) -> Result<bool, Trouble> {
        self.freedom.is_viable(automaton, language, self.contents.longest)
    }

    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, rest: &Rest) -> Result<(), Trouble> {
        let only_ascii = match rest {
            Rest::Language(language) if !automaton.is_read_singly(*language) => {
                let transitions = automaton.content_transitions(*language)?;
                transitions.last().is_none_or(|(range, _)| range.last().is_ascii())
            }
            _ => false,
        };
        // Those that have begun the same stand together.
        let mut known: Option<(Decode, bool)> = None;
        let end = places.end;
        for place in places {
            let Some(begun) = self.contents.begun.get(&place) else {
                self.run(place..place + 1, true);
                continue;
            };
            if only_ascii && !begun.may_be_ascii() {
                self.run(place..end, false);
                break;
            }
            let may = match known {
                Some((same, may)) if same == begun.decode => may,
                _ => rest.may_follow(automaton, begun.decode, self.escapes)?,
            };
            known = Some((begun.decode, may));
            self.run(place..place + 1, may);
        }
        Ok(())
    }

    fn run(&mut self, places: Range<usize>, may: bool) {
        if may != self.excludes {
            self.found.extend_from_slice(&self.contents.tokens[places]);
        }
    }

    fn below(
        &mut self,
        automaton: &mut Automaton,
        node: u32,
        language: LanguageId,
        open: &mut Vec<(u32, LanguageId)>,
    ) -> Result<bool, Trouble> {
        let trie = &self.contents.inside;
        let Some(tokens) = self.tokens.filter(|_| !self.excludes) else {
            return Ok(false);
        };
        if trie.run(node, trie.end(node)).len() < FEW {
            return Ok(false);
        }
        if node == Trie::<u32>::ROOT {
            let transitions = automaton.content_transitions(language)?;
            let begin = transitions.iter().map(|(range, _)| {
                let (first, last) = (u32::from(range.first()), u32::from(range.last()));
                trie.run(trie.root_from(first), trie.root_from(last + 1)).len()
            });
            if begin.sum::<usize>() < MANY {
                return Ok(false);
            }
        }
        let Some(chain) = Chain::new(automaton, language, self.contents.longest as usize)? else {
            return Ok(false);
        };
        self.follow(automaton, &chain, &tokens.runs(node, &chain.class), open)?;
        Ok(true)
    }
}

impl Inside<'_> {
    /// Visits what begins with characters of a class.
    fn follow(
        &mut self,
        automaton: &mut Automaton,
        chain: &Chain,
        runs: &Runs,
        open: &mut Vec<(u32, LanguageId)>,
    ) -> Result<(), Trouble> {
        for (length, step) in runs.lengths.iter().enumerate() {
            let Some(language) = chain.after(length) else { break };
            if length > 0 && !chain.is_endless() {
                self.found.extend_from_slice(&step.tokens);
            }
            for &(range, target) in automaton.content_transitions(language)?.iter() {
                let (first, last) = (u32::from(range.first()), u32::from(range.last()));
                let from = step.exits.partition_point(|(label, _)| *label < first);
                let exits = step.exits[from..].iter().take_while(|(label, _)| *label <= last);
                open.extend(exits.map(|(_, node)| (*node, target)));
            }
        }
        if chain.is_endless() {
            self.words.resize(runs.all.len(), 0);
            for (word, all) in self.words.iter_mut().zip(&runs.all) {
                *word |= all;
            }
        }
        for begun in &runs.begun {
            let mut known: Option<(LanguageId, bool)> = None;
            for &(length, token) in &begun.tokens {
                let Some(language) = chain.after(length as usize) else {
                    break;
                };
                let may = match known {
                    Some((same, may)) if same == language => may,
                    _ => automaton.may_follow(begun.decode, language)?,
                };
                known = Some((language, may));
                if may {
                    self.found.push(token);
                }
            }
        }
        Ok(())
    }
}

/// Texts below a node from which on it pays to look for runs.
const FEW: usize = 1_000;
/// Texts that a language can begin with from which on it does.
const MANY: usize = 5_000;

/// What may follow each number of characters of a class, whichever they are.
struct Chain {
    class: Class,
    /// From no character on. After the last it stays the same, or nothing follows.
    after: Vec<LanguageId>,
    is_endless: bool,
}

impl Chain {
    /// The chain of the class of characters that most lead the same way; none where they do not for long.
    fn new(automaton: &mut Automaton, language: LanguageId, longest: usize) -> Result<Option<Self>, Trouble> {
        let transitions = automaton.content_transitions(language)?;
        let Some(most) = most_common(&transitions, 0) else {
            return Ok(None);
        };
        let ranges = transitions.iter().filter(|(_, target)| *target == most);
        let mut class: Vec<(u32, u32)> = Vec::new();
        for (range, _) in ranges {
            class.push((range.first().into(), range.last().into()));
        }
        let mut after = vec![language];
        let mut next = Some(most);
        while let Some(language) = next {
            if after.last() == Some(&language) {
                break;
            }
            if after.len() > longest {
                next = None;
                break;
            }
            after.push(language);
            next = match Self::same_after(automaton, language, &class)? {
                Same::Yes(next) => Some(next),
                Same::Nothing => None,
                Same::No => return Ok(None),
            };
        }
        Ok(Some(Self {
            class: class.into(),
            after,
            is_endless: next.is_some(),
        }))
    }

    /// What follows each character of a class, if that is the same.
    fn same_after(automaton: &mut Automaton, language: LanguageId, class: &[(u32, u32)]) -> Result<Same, Trouble> {
        let transitions = automaton.content_transitions(language)?;
        let mut same = None;
        let mut covered = 0;
        for &(range, target) in transitions.iter() {
            let (low, high) = (u32::from(range.first()), u32::from(range.last()));
            let from = class.partition_point(|(_, last)| *last < low);
            let shared = class[from..].iter().take_while(|(first, _)| *first <= high);
            let shared: u32 = shared
                .map(|(first, last)| (*last).min(high) - (*first).max(low) + 1)
                .sum();
            covered += shared;
            if shared > 0 && *same.get_or_insert(target) != target {
                return Ok(Same::No);
            }
        }
        let whole: u32 = class.iter().map(|(first, last)| last - first + 1).sum();
        Ok(match same {
            None => Same::Nothing,
            Some(target) if covered == whole => Same::Yes(target),
            Some(_) => Same::No,
        })
    }

    /// What follows so many characters; none where no more of the class come.
    fn after(&self, length: usize) -> Option<LanguageId> {
        match self.after.get(length) {
            Some(language) => Some(*language),
            None if self.is_endless => self.after.last().copied(),
            None => None,
        }
    }

    fn is_endless(&self) -> bool {
        self.is_endless
    }
}

/// What follows the characters of a class.
enum Same {
    Yes(LanguageId),
    Nothing,
    No,
}

/// What a vocabulary and a style say about contents.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) escapes: Escapes,
    pub(super) tokens: &'a Tokens,
    /// Number of tokens of the vocabulary.
    pub(super) len: usize,
}

/// The tokens of a vocabulary after which a text of `language` can still be completed.
pub(super) fn inside(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    contents: &Contents,
    language: LanguageId,
    context: Context<'_>,
) -> Result<TokenSet, Trouble> {
    if freedom.is_viable(automaton, language, contents.longest)? {
        return Ok(TokenSet::over(Base::Any));
    }
    if let Some((_, max)) = automaton.only_bounded(language)?
        && max < context.tokens.sets.up_to.len() as u64
    {
        return Ok(TokenSet::over(Base::UpTo(max as usize)));
    }
    let rest = Rest::new(automaton, language)?;
    let mut visitor = Inside {
        contents,
        tokens: Some(context.tokens),
        words: Vec::new(),
        escapes: context.escapes,
        excludes: matches!(rest, Rest::Language(_)) && leaves_most(automaton, freedom, contents, language)?,
        freedom,
        found: Vec::new(),
    };
    visit(automaton, &contents.inside, rest, &mut visitor)?;
    Ok(match visitor.excludes {
        true => TokenSet::all_but(visitor.found, &context.tokens.sets),
        false => TokenSet::joined(visitor.found, visitor.words, context.len),
    })
}

/// A language in which almost any character leads back to it, and that almost any character of `language` leads to.
pub(super) fn mostly_like(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    language: LanguageId,
    longest: u64,
) -> Result<Option<LanguageId>, Trouble> {
    if automaton.is_read_singly(language) || freedom.is_viable(automaton, language, longest)? {
        return Ok(None);
    }
    let like = most_common(&automaton.content_transitions(language)?, HALF);
    let Some(like) = like.filter(|like| *like != language) else {
        return Ok(None);
    };
    let back = most_common(&automaton.content_transitions(like)?, HALF);
    Ok((back == Some(like)).then_some(like))
}

/// Half of all characters.
const HALF: u32 = 0x11_0000 / 2;

/// Where most characters lead, if it is more than so many of them.
fn most_common(transitions: &Transitions, least: u32) -> Option<LanguageId> {
    let mut counts: HashMap<LanguageId, u32> = HashMap::new();
    for (range, target) in transitions.iter() {
        *counts.entry(*target).or_default() += u32::from(range.last()) - u32::from(range.first()) + 1;
    }
    let most = counts.into_iter().max_by_key(|(target, count)| (*count, *target));
    most.filter(|(_, count)| *count > least).map(|(target, _)| target)
}

/// Makes the tokens of one language out of those of another, by what they do not have in common.
pub(super) fn differ(
    automaton: &mut Automaton,
    contents: &Contents,
    languages: (LanguageId, LanguageId),
    escapes: Escapes,
    words: &mut [u32],
) -> Result<(), Trouble> {
    let trie = &contents.inside;
    let mut put = |place: usize, may: bool| {
        let token = contents.tokens[place] as usize;
        words[token / 32] &= !(1 << (token % 32));
        words[token / 32] |= u32::from(may) << (token % 32);
    };
    let mut open = vec![(Trie::<u32>::ROOT, Some(languages.0), Some(languages.1))];
    while let Some((node, one, other)) = open.pop() {
        let Some(language) = one else {
            for place in trie.run(node, trie.end(node)) {
                put(place, false);
            }
            continue;
        };
        for place in trie.at(node) {
            let may = match contents.begun.get(&place) {
                None => true,
                Some(begun) => Rest::Language(language).may_follow(automaton, begun.decode, escapes)?,
            };
            put(place, may);
        }
        let ones = automaton.content_transitions(language)?;
        let others = match other {
            Some(other) => automaton.content_transitions(other)?,
            None => [].into(),
        };
        let (mut ones, mut others) = (&ones[..], &others[..]);
        for child in trie.children(node) {
            let label = trie.label(child);
            let (one, other) = (target(&mut ones, label), target(&mut others, label));
            if one != other {
                open.push((child, one, other));
            }
        }
    }
    Ok(())
}

/// Where a character leads; those asked for come in order.
fn target(transitions: &mut &[(CharRange, LanguageId)], label: u32) -> Option<LanguageId> {
    while let Some((range, target)) = transitions.first() {
        if u32::from(range.last()) < label {
            *transitions = &transitions[1..];
        } else {
            return (u32::from(range.first()) <= label).then_some(*target);
        }
    }
    None
}

/// As [`inside`], of few tokens: those that `contents` has from an opening quote on.
pub(super) fn inside_few(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    contents: &Contents,
    language: LanguageId,
    escapes: Escapes,
    found: &mut Vec<TokenId>,
) -> Result<(), Trouble> {
    let mut visitor = Inside {
        contents,
        tokens: None,
        words: Vec::new(),
        escapes,
        excludes: false,
        freedom,
        found: std::mem::take(found),
    };
    let rest = Rest::new(automaton, language)?;
    visit(automaton, &contents.inside, rest, &mut visitor)?;
    *found = visitor.found;
    Ok(())
}

/// Whether more tokens begin with a character after which anything may follow than with one that nothing follows.
fn leaves_most(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    contents: &Contents,
    language: LanguageId,
) -> Result<bool, Trouble> {
    if automaton.is_read_singly(language) {
        return Ok(false);
    }
    let trie = &contents.inside;
    let (mut free, mut possible) = (0, 0);
    for &(range, target) in automaton.content_transitions(language)?.iter() {
        let (first, last) = (u32::from(range.first()), u32::from(range.last()));
        let tokens = trie.run(trie.root_from(first), trie.root_from(last + 1)).len();
        possible += tokens;
        if freedom.is_viable(automaton, target, contents.longest)? {
            free += tokens;
        }
    }
    Ok(free > contents.tokens.len() - possible)
}

/// The tokens with a closing quote where the text may end, as they are found.
struct Closings<'a> {
    contents: &'a Contents,
    freedom: &'a mut Freedom,
    /// Whether each rest may come behind the quote.
    alive: &'a [bool],
    found: &'a mut Vec<TokenId>,
}

impl Visit for Closings<'_> {
    fn is_free(&mut self, automaton: &mut Automaton, language: LanguageId) -> Result<bool, Trouble> {
        self.freedom.is_accepted(automaton, language, self.contents.longest)
    }

    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, rest: &Rest) -> Result<(), Trouble> {
        let may = rest.accepts(automaton);
        self.run(places, may);
        Ok(())
    }

    fn run(&mut self, places: Range<usize>, may: bool) {
        if may {
            let closings = self.contents.closings[places].iter();
            let alive = closings.filter(|closing| self.alive[closing.rest as usize]);
            self.found.extend(alive.map(|closing| closing.token));
        }
    }
}

/// The tokens that close a string of `language`, with a rest that is alive.
pub(super) fn closings(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    contents: &Contents,
    rest: Rest,
    alive: &[bool],
    found: &mut Vec<TokenId>,
) -> Result<(), Trouble> {
    let mut visitor = Closings {
        contents,
        freedom,
        alive,
        found,
    };
    visit(automaton, &contents.closing, rest, &mut visitor)
}
