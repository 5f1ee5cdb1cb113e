//! The tokens that may come within a string: what its language says of their characters.

use std::ops::Range;

use crate::automaton::{Automaton, Decode, Trouble};
use crate::strings::LanguageId;
use crate::{Escapes, TokenId};

use super::chain::Chain;
use super::contents::Contents;
use super::rest::{Freedom, Rest};
use super::runs::Runs;
use super::token_set::{Base, TokenSet};
use super::tokens::Tokens;
use super::trie::{ROOT, Trie, first_child};

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
        visitor.run(trie.run(ROOT, trie.end(ROOT)), true);
        return Ok(());
    }
    let mut walk = Walk {
        trie,
        visitor,
        open: Vec::new(),
    };
    walk.visit(automaton, ROOT, rest)?;
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
        let mut at = first_child(node);
        while at < end {
            let label = trie.label(at);
            ranges = &ranges[ranges.partition_point(|(range, _)| u32::from(range.last()) < label)..];
            let Some(&(range, target)) = ranges.first() else { break };
            let (first, last) = (u32::from(range.first()), u32::from(range.last()));
            if label < first {
                let next = match node {
                    ROOT => trie.root_from(first),
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
                    ROOT => trie.root_from(last + 1),
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
            let Some(begun) = self.contents.begun(place) else {
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
        if node == ROOT {
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

/// The tokens of a vocabulary after which a text of `language` can still be completed.
pub(super) fn inside(
    automaton: &mut Automaton,
    freedom: &mut Freedom,
    tokens: &Tokens,
    language: LanguageId,
) -> Result<TokenSet, Trouble> {
    let contents = &tokens.inside;
    if freedom.is_viable(automaton, language, contents.longest)? {
        return Ok(TokenSet::over(Base::Any));
    }
    if let Some((_, max)) = automaton.only_bounded(language)?
        && max < tokens.sets.up_to.len() as u64
    {
        return Ok(TokenSet::over(Base::UpTo(max as usize)));
    }
    let rest = Rest::new(automaton, language)?;
    let mut visitor = Inside {
        contents,
        tokens: Some(tokens),
        words: Vec::new(),
        escapes: tokens.escapes,
        excludes: matches!(rest, Rest::Language(_)) && leaves_most(automaton, freedom, contents, language)?,
        freedom,
        found: Vec::new(),
    };
    visit(automaton, &contents.inside, rest, &mut visitor)?;
    Ok(match visitor.excludes {
        true => TokenSet::all_but(visitor.found, &tokens.sets),
        false => TokenSet::joined(visitor.found, visitor.words, tokens.len),
    })
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
