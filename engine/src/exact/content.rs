//! The tokens that may come within a string: what its language says of their characters.

use std::ops::Range;
use std::sync::Arc;

use crate::TokenId;
use crate::automaton::{Automaton, Decode, Trouble};
use crate::strings::{LanguageId, Transitions};

use super::chain::{Chain, End};
use super::contents::{Begun, Contents, Words};
use super::loops;
use super::near::inside_of_near;
use super::occurrences::{Class, DEEP, contains, gaps};
use super::rest::{Freedom, Rest};
use super::rest_set::RestSet;
use super::states::{AskFree, DEAD, FREE, States};
use super::token_set::{Base, TokenSet};
use super::tokens::{Combine, OfClasses, Tokens};
use super::trie::{ROOT, Trie, first_child};
use super::word_list;

/// What is made of the texts that a language admits.
trait Visit: AskFree {
    /// What is known of languages.
    fn freedom(&mut self) -> &mut Freedom;
    /// The texts that end where this may follow.
    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, rest: &Rest) -> Result<(), Trouble>;
    /// Texts that all may come, or none.
    fn run(&mut self, places: Range<usize>, may: bool);
}

/// Visits the texts of a trie as far as they may come.
fn visit(automaton: &mut Automaton, trie: &Trie<u32>, rest: Rest, visitor: &mut impl Visit) -> Result<(), Trouble> {
    let states = visitor.freedom().states();
    let mut walk = Walk { trie, visitor, states };
    let state = walk.number(automaton, rest)?;
    walk.visit(automaton, ROOT, state)?;
    let Walk { visitor, states, .. } = walk;
    visitor.freedom().put_back(states);
    Ok(())
}

/// The children of a node that a walk has come to.
struct Siblings<'a> {
    /// The node after them and all below them.
    end: u32,
    /// The state of their parent.
    state: u32,
    /// They with their labels, if they are many.
    siblings: &'a [(u32, u32)],
}

impl<'a> Siblings<'a> {
    fn below(trie: &'a Trie<u32>, node: u32, state: u32) -> Self {
        let (end, siblings) = (trie.end(node), trie.listed(node));
        Self { end, state, siblings }
    }

    /// The first with a label beyond this one.
    fn sibling_after(&self, label: u32) -> u32 {
        let place = self.siblings.partition_point(|(other, _)| *other <= label);
        self.siblings.get(place).map_or(self.end, |(_, sibling)| *sibling)
    }
}

/// A walk over the characters of tokens, beside the states of a language.
struct Walk<'a, V> {
    trie: &'a Trie<u32>,
    visitor: &'a mut V,
    states: States,
}

impl<V: Visit> Walk<'_, V> {
    fn number(&mut self, automaton: &mut Automaton, rest: Rest) -> Result<u32, Trouble> {
        self.states.number(automaton, self.visitor, rest)
    }

    fn after(&mut self, automaton: &mut Automaton, state: u32, label: u32) -> Result<u32, Trouble> {
        self.states.after(automaton, self.visitor, state, label)
    }

    /// Visits the texts that end at a node.
    fn at(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), Trouble> {
        let places = self.trie.at(node);
        match places.is_empty() {
            true => Ok(()),
            false => self.visitor.at(automaton, places, self.states.rest(state)),
        }
    }

    /// Visits what is at a node and below it.
    fn visit(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), Trouble> {
        if matches!(state, DEAD | FREE) {
            self.visitor
                .run(self.trie.run(node, self.trie.end(node)), state == FREE);
            return Ok(());
        }
        self.at(automaton, node, state)?;
        self.below(automaton, node, state)
    }

    /// Visits what is below a node, in the order of the nodes.
    fn below(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), Trouble> {
        let trie = self.trie;
        let end = trie.end(node);
        // Those on the way to the node looked at.
        let mut path: Vec<Siblings> = Vec::new();
        let mut here = Siblings::below(trie, node, state);
        let mut at = first_child(node);
        while at < end {
            while here.end <= at
                && let Some(before) = path.pop()
            {
                here = before;
            }
            let label = trie.label(at);
            let next = self.after(automaton, here.state, label)?;
            if matches!(next, DEAD | FREE) {
                let after = match here.siblings.is_empty() {
                    true => trie.end(at),
                    false => {
                        let (_, last) = self.states.run_after(automaton, self.visitor, here.state, label)?;
                        here.sibling_after(last)
                    }
                };
                self.visitor.run(trie.run(at, after), next == FREE);
                at = after;
                continue;
            }
            self.at(automaton, at, next)?;
            if !trie.is_leaf(at) {
                path.push(here);
                here = Siblings::below(trie, at, next);
            }
            at += 1;
        }
        Ok(())
    }
}

/// The tokens that stay inside of a string, as they are found.
struct Inside<'a> {
    contents: &'a Contents,
    freedom: &'a mut Freedom,
    /// Where what is the same in many languages is kept.
    shared: Option<&'a Tokens>,
    /// Whether the tokens that may not come are listed rather than those that may.
    excludes: bool,
    found: Vec<TokenId>,
    /// More that may come, 32 a word.
    words: Option<Words>,
}

impl AskFree for Inside<'_> {
    fn is_free(&mut self, automaton: &mut Automaton, language: LanguageId) -> Result<bool, Trouble> {
        self.freedom.is_viable(automaton, language, self.contents.longest)
    }
}

impl Visit for Inside<'_> {
    fn freedom(&mut self) -> &mut Freedom {
        self.freedom
    }

    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, rest: &Rest) -> Result<(), Trouble> {
        // Those that have begun a character come last.
        let begun = self.contents.begun_from(places.clone());
        self.run(places.start..begun, true);
        let begun = begun..places.end;
        let (Some(tokens), Rest::Language(language)) = (self.shared, rest) else {
            return self.begun(automaton, begun, rest);
        };
        if begun.len() < MANY_BEGUN || automaton.is_read_singly(*language) {
            return self.begun(automaton, begun, rest);
        }
        // They depend on the characters that may come, and on nothing else.
        let class = first_characters(&automaton.content_transitions(*language)?);
        let key = (begun.start, self.excludes, class);
        if let Some(known) = tokens.known_begun(&key) {
            self.found.extend_from_slice(&known);
            return Ok(());
        }
        let from = self.found.len();
        self.begun(automaton, begun, rest)?;
        tokens.keep_begun(key, &self.found[from..]);
        Ok(())
    }

    fn run(&mut self, places: Range<usize>, may: bool) {
        if may != self.excludes {
            self.found.extend_from_slice(&self.contents.tokens[places]);
        }
    }
}

impl Inside<'_> {
    /// Looks at the tokens of a node that end within a character.
    fn begun(&mut self, automaton: &mut Automaton, places: Range<usize>, rest: &Rest) -> Result<(), Trouble> {
        if places.is_empty() {
            return Ok(());
        }
        let only_ascii = match rest {
            Rest::Language(language) if !automaton.is_read_singly(*language) => {
                automaton.content_firsts(*language).are_ascii() || {
                    let transitions = automaton.content_transitions(*language)?;
                    transitions.last().is_none_or(|(range, _)| range.last().is_ascii())
                }
            }
            _ => false,
        };
        // Those that have begun the same stand together.
        let mut known: Option<(&Begun, bool)> = None;
        let end = places.end;
        for place in places {
            let Some(begun) = self.contents.begun(place) else {
                self.run(place..place + 1, true);
                continue;
            };
            if only_ascii && !begun.may_be_ascii() {
                self.run(place..end, false);
                break;
            }
            let may = match known {
                Some((same, may)) if std::ptr::eq(same, begun) => may,
                _ => rest.may_begin(automaton, &begun.possible)?,
            };
            known = Some((begun, may));
            self.run(place..place + 1, may);
        }
        Ok(())
    }
}

/// The characters that texts begin with which go on like that.
fn first_characters(transitions: &Transitions) -> Class {
    let mut class: Vec<(u32, u32)> = Vec::with_capacity(transitions.len());
    for (range, _) in transitions.iter() {
        let (first, last) = (range.first().into(), range.last().into());
        match class.last_mut() {
            Some((_, end)) if *end + 1 == first => *end = last,
            _ => class.push((first, last)),
        }
    }
    class.into()
}

/// What is below the root, or below a space, behind a first character that leads to one state.
#[derive(Debug, Default)]
struct Group {
    state: u32,
    /// The children, those next to one another together.
    ranges: Vec<Range<u32>>,
    /// Texts below them.
    texts: usize,
}

impl Group {
    /// The nodes behind a first character.
    fn children<'a>(&'a self, trie: &'a Trie<u32>) -> impl Iterator<Item = u32> + 'a {
        self.ranges.iter().flat_map(|range| {
            let next = |at: &u32| Some(trie.end(*at)).filter(|at| *at < range.end);
            std::iter::successors(Some(range.start), next)
        })
    }
}

/// Tokens of a node that end within a character from which on they are kept for all schemas.
const MANY_BEGUN: usize = 64;

/// Texts of a group from which on it pays to look at a loop as a whole.
const MANY: usize = 1_000;

/// First characters up to which what follows is looked at behind each.
const MANY_FIRST: usize = 64;

/// Characters of a class up to which it is no loop to speak of.
const FEW: u32 = 8;

impl Walk<'_, Inside<'_>> {
    /// Visits what is below the root or a space, as [`visit`](Self::visit) does, but for most of what a loop takes.
    fn spread(&mut self, automaton: &mut Automaton, tokens: &Tokens, node: u32, state: u32) -> Result<(), Trouble> {
        let trie = self.trie;
        self.at(automaton, node, state)?;
        let mut groups: Vec<Group> = Vec::new();
        let mut spaced = None;
        let space = tokens.occurrences.space().filter(|_| node == ROOT);
        let mut at = first_child(node);
        // Nodes may have more children than languages ranges: those of a range are visited at once.
        while at < trie.end(node) {
            let (next, last) = self.states.run_after(automaton, self.visitor, state, trie.label(at))?;
            let from = at;
            at = trie.child_from(node, last + 1);
            if matches!(next, DEAD | FREE) {
                self.visitor.run(trie.run(from, at), next == FREE);
                continue;
            }
            let mut ranges = [from..at, 0..0];
            if let Some(space) = space.filter(|space| (from..at).contains(space)) {
                spaced = Some((space, next));
                ranges = [from..space, trie.end(space)..at];
            }
            let group = match groups.iter().rposition(|group| group.state == next) {
                Some(place) => &mut groups[place],
                None => {
                    groups.push(Group {
                        state: next,
                        ..Group::default()
                    });
                    let last = groups.len() - 1;
                    &mut groups[last]
                }
            };
            for range in ranges.into_iter().filter(|range| !range.is_empty()) {
                group.texts += trie.run(range.start, range.end).len();
                group.ranges.push(range);
            }
        }
        for group in &groups {
            if group.texts >= MANY && self.follow(automaton, tokens, (node, state), group)? {
                continue;
            }
            for child in group.children(trie) {
                self.branch(automaton, tokens, child, group.state)?;
            }
        }
        match spaced {
            Some((child, next)) => self.spread(automaton, tokens, child, next),
            None => Ok(()),
        }
    }

    /// Visits what is at a node and below it. Where that is much it is kept: the same may follow a character in many
    /// languages, as those of the names of an object after each member.
    fn branch(&mut self, automaton: &mut Automaton, tokens: &Tokens, node: u32, state: u32) -> Result<(), Trouble> {
        let texts = self.trie.run(node, self.trie.end(node)).len();
        let fingerprint = match *self.states.rest(state) {
            Rest::Language(language) if texts >= MANY => automaton.fingerprint(language),
            _ => None,
        };
        let key = fingerprint.map(|fingerprint| (node, self.visitor.excludes, fingerprint));
        if let Some(known) = key.and_then(|key| tokens.known_branch(key)) {
            self.visitor.found.extend_from_slice(&known);
            return Ok(());
        }
        let before = self.visitor.found.len();
        self.at(automaton, node, state)?;
        self.below(automaton, node, state)?;
        if let Some(key) = key {
            tokens.keep_branch(key, &self.visitor.found[before..]);
        }
        Ok(())
    }

    /// Visits what is below a node and in a group, if that loops on characters of a class or goes on with few; false if it
    /// is better looked at one by one.
    fn follow(
        &mut self,
        automaton: &mut Automaton,
        tokens: &Tokens,
        (node, state): (u32, u32),
        group: &Group,
    ) -> Result<bool, Trouble> {
        let (trie, occurrences) = (self.trie, &tokens.occurrences);
        let Rest::Language(language) = *self.states.rest(group.state) else {
            return Ok(false);
        };
        let is_read_singly = matches!(*self.states.rest(state), Rest::Language(from) if automaton.is_read_singly(from));
        if is_read_singly || automaton.is_read_singly(language) {
            return Ok(false);
        }
        let chain = Chain::new(automaton, language, DEEP)?.filter(|chain| chain.characters() > FEW);
        // Where there is no loop but few ways on from many characters, what goes on is found by these as well.
        let chain = match chain {
            Some(chain) => chain,
            None if group.children(trie).nth(MANY_FIRST).is_some() => Chain::single(language),
            None => return Ok(false),
        };
        let excludes = self.visitor.excludes;
        // The tokens that a chain with an end has room for.
        let before = 1 + usize::from(node != ROOT);
        let up_to = match chain.end() {
            End::Same => None,
            End::Nothing if excludes => return Ok(false),
            End::Nothing | End::More => tokens.sets.up_to.get(before + chain.len() - 1),
        };
        let class = occurrences.handy(&chain.class, trie);
        let leaving = match excludes {
            true => gaps(&class),
            false => chain.leaving(automaton, &class)?,
        };
        let is_loop = !chain.class.is_empty();
        let leave = leaving.iter().map(|&(first, last)| match is_loop {
            true => occurrences.nodes(first, last).len(),
            false => occurrences.seconds(node, (first, last)).len(),
        });
        if 2 * leave.sum::<usize>() > group.texts {
            return Ok(false);
        }
        let mut links = Vec::with_capacity(chain.len());
        for language in chain.languages() {
            links.push(self.number(automaton, Rest::Language(language))?);
        }
        let link = |length: usize| match chain.end() {
            End::Same => links.get(length).or(links.last()).copied(),
            End::Nothing | End::More => links.get(length).copied(),
        };
        let mut is_ascii = [false; 0x80];
        for (character, is) in (0..).zip(&mut is_ascii) {
            *is = contains(&class, character);
        }
        let is_of_class = |label: u32| match is_ascii.get(label as usize) {
            Some(is) => *is,
            None => contains(&class, label),
        };
        let deep: &[u32] = match chain.end() {
            End::More => occurrences.deep(),
            End::Same | End::Nothing => &[],
        };
        let deep = deep.iter().filter(|node| is_of_class(trie.label(**node)));
        let leaves = leaving.iter().filter(|_| is_loop);
        let exits = leaves.flat_map(|(first, last)| occurrences.nodes(*first, *last));
        let leaves = leaving.iter().filter(|_| !is_loop);
        let seconds = leaves.flat_map(|range| occurrences.seconds(node, *range));
        let seconds = seconds.map(|(_, node)| node);
        for &exit in exits.chain(seconds).chain(deep) {
            let parent = occurrences.parent(exit);
            let length = self.length(automaton, tokens, (node, state), group, parent, is_of_class)?;
            let next = match length.and_then(link) {
                None => continue,
                Some(FREE) => FREE,
                Some(from) => self.after(automaton, from, trie.label(exit))?,
            };
            self.visit(automaton, exit, next)?;
        }
        let sure = match excludes {
            true => None,
            false => Some(self.of_class(automaton, tokens, (node, state), group, class.clone())?),
        };
        // Those that may go on with a character of the class come with it, but behind the last that is looked at.
        let begun = match (chain.end(), &sure) {
            (End::Same, Some(sure)) => &sure.begun_beyond[..],
            (End::Nothing, Some(_)) => occurrences.begun(&leaving),
            _ => occurrences.begun(&[(0, u32::from(char::MAX))]),
        };
        for &begun in begun {
            let length = self.length(automaton, tokens, (node, state), group, begun, is_of_class)?;
            match length.and_then(link) {
                None => {}
                Some(FREE) => self.visitor.run(trie.at(begun), true),
                Some(from) => self.at(automaton, begun, from)?,
            }
        }
        if let Some(sure) = &sure {
            let sure = match up_to {
                Some(up_to) => tokens.combined(Combine::And, &sure.words, up_to),
                None => sure.words.clone(),
            };
            let words = &mut self.visitor.words;
            *words = Some(match words.take() {
                Some(others) => tokens.combined(Combine::Or, &others, &sure),
                None => sure,
            });
        }
        Ok(true)
    }

    /// The tokens below a node and in a group that have no characters but those of a class behind the first.
    fn of_class(
        &mut self,
        automaton: &mut Automaton,
        tokens: &Tokens,
        (node, state): (u32, u32),
        group: &Group,
        class: Class,
    ) -> Result<Arc<OfClasses>, Trouble> {
        let mut first = Vec::new();
        if let Rest::Language(language) = *self.states.rest(state) {
            for &(range, target) in automaton.content_transitions(language)?.iter() {
                if self.number(automaton, Rest::Language(target))? == group.state {
                    first.push((range.first().into(), range.last().into()));
                }
            }
        }
        Ok(tokens.of_classes((node, first.into(), class), |class| {
            let (mut words, begun_beyond) = tokens.occurrences.within(class, node, &tokens.inside);
            let children: Vec<u32> = group.children(self.trie).collect();
            tokens
                .occurrences
                .keep_below(node, &children, &tokens.inside, &mut words);
            OfClasses {
                words: words.into(),
                begun_beyond,
            }
        }))
    }

    /// How many characters of a class lead to a node behind a first one of a group, if nothing else does.
    fn length(
        &mut self,
        automaton: &mut Automaton,
        tokens: &Tokens,
        (node, state): (u32, u32),
        group: &Group,
        mut at: u32,
        is_of_class: impl Fn(u32) -> bool,
    ) -> Result<Option<usize>, Trouble> {
        let occurrences = &tokens.occurrences;
        let mut length = 0;
        while at != ROOT {
            let parent = occurrences.parent(at);
            let label = self.trie.label(at);
            if parent == node {
                let is_first = Some(at) != occurrences.space() && self.after(automaton, state, label)? == group.state;
                return Ok(is_first.then_some(length));
            }
            if !is_of_class(label) {
                break;
            }
            length += 1;
            at = parent;
        }
        Ok(None)
    }
}

/// The tokens of a vocabulary after which a text of `language` can still be completed.
pub(super) fn inside(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    tokens: &Tokens,
    language: LanguageId,
) -> Result<TokenSet, Trouble> {
    let contents = &tokens.inside;
    let mut words = Vec::new();
    if word_list::inside(automaton, contents, language, &mut words).is_some() {
        return Ok(TokenSet::of(&words, tokens.len));
    }
    if freedom.is_viable(automaton, language, contents.longest)? {
        return Ok(TokenSet::over(Base::Any));
    }
    if let Some((_, max)) = automaton.only_bounded(language)?
        && max < tokens.sets.up_to.len() as u64
    {
        return Ok(TokenSet::over(Base::UpTo(max as usize)));
    }
    let fingerprint = automaton.fingerprint(language);
    if let Some(known) = fingerprint.and_then(|fingerprint| tokens.known_inside(Decode::Between, fingerprint)) {
        return Ok(known);
    }
    if let Some(set) = inside_of_near(automaton, freedom, tokens, language)? {
        if let Some(fingerprint) = fingerprint {
            tokens.keep_inside(Decode::Between, fingerprint, &set);
        }
        return Ok(set);
    }
    let rest = Rest::new(automaton, language)?;
    let mut visitor = Inside {
        contents,
        words: None,
        excludes: matches!(rest, Rest::Language(_)) && leaves_most(automaton, freedom, contents, language)?,
        freedom,
        shared: Some(tokens),
        found: Vec::new(),
    };
    let states = visitor.freedom.states();
    let mut walk = Walk {
        trie: &contents.inside,
        visitor: &mut visitor,
        states,
    };
    let state = walk.number(automaton, rest)?;
    walk.spread(automaton, tokens, ROOT, state)?;
    let states = walk.states;
    visitor.freedom.put_back(states);
    let set = match visitor.excludes {
        true => TokenSet::all_but(visitor.found, &tokens.sets),
        false => TokenSet::joined(visitor.found, visitor.words, tokens.len),
    };
    if let Some(fingerprint) = fingerprint {
        tokens.keep_inside(Decode::Between, fingerprint, &set);
    }
    Ok(set)
}

/// As [`inside`], of few tokens: those that `contents` has from an opening quote on.
pub(super) fn inside_few(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    contents: &Contents,
    language: LanguageId,
    found: &mut Vec<TokenId>,
) -> Result<(), Trouble> {
    if word_list::inside(automaton, contents, language, found).is_some()
        || !freedom.is_viable(automaton, language, contents.longest)?
            && loops::inside(automaton, contents, language, found)?.is_some()
    {
        return Ok(());
    }
    let mut visitor = Inside {
        contents,
        words: None,
        excludes: false,
        shared: None,
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
        let tokens = trie
            .run(trie.child_from(ROOT, first), trie.child_from(ROOT, last + 1))
            .len();
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
    alive: &'a RestSet,
    found: &'a mut Vec<TokenId>,
}

impl AskFree for Closings<'_> {
    fn is_free(&mut self, automaton: &mut Automaton, language: LanguageId) -> Result<bool, Trouble> {
        self.freedom.is_accepted(automaton, language, self.contents.longest)
    }
}

impl Visit for Closings<'_> {
    fn freedom(&mut self) -> &mut Freedom {
        self.freedom
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
    language: LanguageId,
    alive: &RestSet,
    found: &mut Vec<TokenId>,
) -> Result<(), Trouble> {
    if word_list::closings(automaton, contents, language, alive, found).is_some()
        || !freedom.is_accepted(automaton, language, contents.longest)?
            && loops::closings(automaton, contents, language, alive, found)?.is_some()
    {
        return Ok(());
    }
    let rest = Rest::new(automaton, language)?;
    let mut visitor = Closings {
        contents,
        freedom,
        alive,
        found,
    };
    visit(automaton, &contents.closing, rest, &mut visitor)
}
