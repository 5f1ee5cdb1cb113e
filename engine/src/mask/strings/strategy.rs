//! The tokens that may come within a string: what its language says of their characters.

use std::ops::Range;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, Decode};
use crate::strings::{LanguageId, Transitions};

use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::contents::{Contents, PartialCodePoint, Words};
use crate::mask::index::posting_lists::Class;
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::tokens::Tokens;
use crate::mask::index::trie::{ROOT, Trie, first_child};
use crate::mask::strings::few_tokens;
use crate::mask::strings::over_approximation::inside_of_near;
use crate::mask::strings::residual::{Freedom, Residual};
use crate::mask::strings::states::{AskFree, DEAD, FREE, States};
use crate::mask::strings::word_list;

/// Tokens of a node that end within a character from which on they are kept for all schemas.
const MANY_BEGUN: usize = 64;

/// What is made of the texts that a language admits.
pub(crate) trait Visit: AskFree {
    /// What is known of languages.
    fn freedom(&mut self) -> &mut Freedom;
    /// The texts that end where this may follow.
    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, rest: &Residual) -> Result<(), AutomatonError>;
    /// Texts that all may come, or none.
    fn run(&mut self, places: Range<usize>, may: bool);
}

/// Visits the texts of a trie as far as they may come.
fn visit(
    automaton: &mut Automaton,
    trie: &Trie<u32>,
    rest: Residual,
    visitor: &mut impl Visit,
) -> Result<(), AutomatonError> {
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
pub(crate) struct Walk<'a, V> {
    pub(crate) trie: &'a Trie<u32>,
    pub(crate) visitor: &'a mut V,
    pub(crate) states: States,
}

impl<V: Visit> Walk<'_, V> {
    pub(crate) fn number(&mut self, automaton: &mut Automaton, rest: Residual) -> Result<u32, AutomatonError> {
        self.states.number(automaton, self.visitor, rest)
    }

    pub(crate) fn after(&mut self, automaton: &mut Automaton, state: u32, label: u32) -> Result<u32, AutomatonError> {
        self.states.after(automaton, self.visitor, state, label)
    }

    /// Visits the texts that end at a node.
    pub(crate) fn at(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), AutomatonError> {
        let places = self.trie.at(node);
        match places.is_empty() {
            true => Ok(()),
            false => self.visitor.at(automaton, places, self.states.rest(state)),
        }
    }

    /// Visits what is at a node and below it.
    pub(crate) fn visit(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), AutomatonError> {
        if matches!(state, DEAD | FREE) {
            self.visitor
                .run(self.trie.run(node, self.trie.end(node)), state == FREE);
            return Ok(());
        }
        self.at(automaton, node, state)?;
        self.below(automaton, node, state)
    }

    /// Visits what is below a node, in the order of the nodes.
    pub(crate) fn below(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), AutomatonError> {
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
pub(crate) struct Inside<'a> {
    pub(crate) contents: &'a Contents,
    freedom: &'a mut Freedom,
    /// Where what is the same in many languages is kept.
    shared: Option<&'a Tokens>,
    /// Whether the tokens that may not come are listed rather than those that may.
    pub(crate) excludes: bool,
    pub(crate) found: Vec<TokenId>,
    /// More that may come, 32 a word.
    pub(crate) words: Option<Words>,
    /// Tokens of [`words`](Self::words) that may not come, and others, as far as they are noted.
    pub(crate) taken_out: Vec<TokenId>,
    /// Whether those that may not come are noted.
    pub(crate) notes_taken_out: bool,
}

impl AskFree for Inside<'_> {
    fn is_free(&mut self, automaton: &mut Automaton, language: LanguageId) -> Result<bool, AutomatonError> {
        self.freedom.is_viable(automaton, language, self.contents.longest)
    }
}

impl Visit for Inside<'_> {
    fn freedom(&mut self) -> &mut Freedom {
        self.freedom
    }

    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, rest: &Residual) -> Result<(), AutomatonError> {
        // Those that have begun a character come last.
        let begun = self.contents.begun_from(places.clone());
        self.run(places.start..begun, true);
        self.at_begun(automaton, begun..places.end, rest)
    }

    fn run(&mut self, places: Range<usize>, may: bool) {
        if may != self.excludes {
            self.found.extend_from_slice(&self.contents.tokens[places]);
        } else if self.notes_taken_out {
            self.taken_out.extend_from_slice(&self.contents.tokens[places]);
        }
    }
}

impl Inside<'_> {
    /// Looks at the tokens of a node that end within a character.
    pub(crate) fn at_begun(
        &mut self,
        automaton: &mut Automaton,
        begun: Range<usize>,
        rest: &Residual,
    ) -> Result<(), AutomatonError> {
        let (Some(tokens), Residual::Language(language)) = (self.shared, rest) else {
            return self.begun(automaton, begun, rest);
        };
        if begun.len() < MANY_BEGUN || self.notes_taken_out || automaton.is_read_singly(*language) {
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

    /// The same, one by one.
    fn begun(
        &mut self,
        automaton: &mut Automaton,
        places: Range<usize>,
        rest: &Residual,
    ) -> Result<(), AutomatonError> {
        if places.is_empty() {
            return Ok(());
        }
        let only_ascii = match rest {
            Residual::Language(language) if !automaton.is_read_singly(*language) => {
                automaton.content_firsts(*language).are_ascii() || {
                    let transitions = automaton.content_transitions(*language)?;
                    transitions.last().is_none_or(|(range, _)| range.last().is_ascii())
                }
            }
            _ => false,
        };
        // Those that have begun the same stand together.
        let mut known: Option<(&PartialCodePoint, bool)> = None;
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

/// The tokens of a vocabulary after which a text of `language` can still be completed.
pub(crate) fn inside(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    tokens: &Tokens,
    language: LanguageId,
) -> Result<TokenSet, AutomatonError> {
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
    let rest = Residual::new(automaton, language)?;
    let mut visitor = Inside {
        contents,
        words: None,
        taken_out: Vec::new(),
        notes_taken_out: false,
        excludes: matches!(rest, Residual::Language(_)) && leaves_most(automaton, freedom, contents, language)?,
        freedom,
        shared: Some(tokens),
        found: Vec::new(),
    };
    let states = visitor.freedom.insides();
    let mut walk = Walk {
        trie: &contents.inside,
        visitor: &mut visitor,
        states,
    };
    let state = walk.number(automaton, rest)?;
    walk.spread(automaton, tokens, ROOT, state)?;
    let states = walk.states;
    visitor.freedom.put_back_insides(states);
    let set = match visitor.excludes {
        true => TokenSet::all_but(visitor.found, &tokens.sets),
        false => TokenSet::joined(visitor.found, visitor.words, &visitor.taken_out, tokens.len),
    };
    if let Some(fingerprint) = fingerprint {
        tokens.keep_inside(Decode::Between, fingerprint, &set);
    }
    Ok(set)
}

/// As [`inside`], of few tokens: those that `contents` has from an opening quote on.
pub(crate) fn inside_few(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    contents: &Contents,
    language: LanguageId,
    found: &mut Vec<TokenId>,
) -> Result<(), AutomatonError> {
    if word_list::inside(automaton, contents, language, found).is_some()
        || !freedom.is_viable(automaton, language, contents.longest)?
            && few_tokens::inside(automaton, freedom, contents, language, found)?.is_some()
    {
        return Ok(());
    }
    let mut visitor = Inside {
        contents,
        words: None,
        taken_out: Vec::new(),
        notes_taken_out: false,
        excludes: false,
        shared: None,
        freedom,
        found: std::mem::take(found),
    };
    let rest = Residual::new(automaton, language)?;
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
) -> Result<bool, AutomatonError> {
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
    alive: &'a SuffixSet,
    found: &'a mut Vec<TokenId>,
}

impl AskFree for Closings<'_> {
    fn is_free(&mut self, automaton: &mut Automaton, language: LanguageId) -> Result<bool, AutomatonError> {
        self.freedom.is_accepted(automaton, language, self.contents.longest)
    }
}

impl Visit for Closings<'_> {
    fn freedom(&mut self) -> &mut Freedom {
        self.freedom
    }

    fn at(&mut self, automaton: &mut Automaton, places: Range<usize>, rest: &Residual) -> Result<(), AutomatonError> {
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
pub(crate) fn closings(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    contents: &Contents,
    language: LanguageId,
    alive: &SuffixSet,
    found: &mut Vec<TokenId>,
) -> Result<(), AutomatonError> {
    if word_list::closings(automaton, contents, language, alive, found).is_some()
        || !freedom.is_accepted(automaton, language, contents.longest)?
            && few_tokens::closings(automaton, freedom, contents, language, alive, found)?.is_some()
    {
        return Ok(());
    }
    let rest = Residual::new(automaton, language)?;
    let mut visitor = Closings {
        contents,
        freedom,
        alive,
        found,
    };
    visit(automaton, &contents.closing, rest, &mut visitor)
}
