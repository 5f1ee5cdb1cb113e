//! [`ContentMask`]: the tokens that may follow inside of a string and stay there.

use std::sync::Arc;

use hashbrown::HashMap;

use super::contents::{CharacterTrie, Contents, MAX_COUNTED, set, unset};
use crate::automaton::{Automaton, Trouble};
use crate::strings::LanguageId;

/// The tokens that may follow inside of a string and stay there.
#[derive(Clone, Debug)]
pub(super) enum ContentMask {
    /// Those that add at most so many characters; none where there is no bound that a token could reach.
    UpTo(Option<usize>),
    /// These.
    Words(Arc<[u32]>),
}

impl ContentMask {
    /// The tokens after which a text of `language` can still be completed.
    pub(super) fn new(automaton: &mut Automaton, language: LanguageId, contents: &Contents) -> Result<Self, Trouble> {
        if automaton.is_dense(language)? {
            return Ok(Self::UpTo(None));
        }
        match automaton.only_bounded(language)? {
            Some(max) if max >= contents.longest as u64 => return Ok(Self::UpTo(None)),
            Some(max) if max <= MAX_COUNTED as u64 => return Ok(Self::UpTo(Some(max as usize))),
            _ => {}
        }
        let mut walk = Walk {
            automaton,
            contents,
            words: Vec::new(),
            subtract: false,
            open: Vec::new(),
            free: HashMap::new(),
        };
        walk.subtract = walk.leaves_most(language)?;
        walk.words = match walk.subtract {
            true => contents.any.to_vec(),
            false => vec![0; contents.any.len()],
        };
        walk.run(language)?;
        Ok(Self::Words(walk.words.into()))
    }

    /// The set, 32 tokens a word.
    pub(super) fn words<'a>(&'a self, contents: &'a Contents) -> &'a [u32] {
        match self {
            Self::UpTo(None) => &contents.any,
            Self::UpTo(Some(count)) => &contents.up_to[*count],
            Self::Words(words) => words,
        }
    }
}

/// A walk over the characters of tokens, beside the states of a language.
struct Walk<'a> {
    automaton: &'a mut Automaton,
    contents: &'a Contents,
    words: Vec<u32>,
    /// Whether all tokens are in the set to begin with and those that may not follow are taken out, rather than those
    /// that may put in.
    subtract: bool,
    /// Nodes whose children have not been looked at, with what may follow there.
    open: Vec<(u32, LanguageId)>,
    /// Languages that any token may follow in, and others.
    free: HashMap<LanguageId, bool>,
}

impl Walk<'_> {
    /// Whether more tokens begin with a character after which anything may follow than with one that nothing follows.
    fn leaves_most(&mut self, language: LanguageId) -> Result<bool, Trouble> {
        let trie = &self.contents.trie;
        let root = CharacterTrie::ROOT;
        let (mut free, mut possible) = (0, 0);
        for (range, target) in self.automaton.content_transitions(language)?.iter() {
            let from = trie.sibling_from(root, CharacterTrie::first_child(root), range.first().into());
            let to = trie.sibling_from(root, from, u32::from(range.last()) + 1);
            let tokens = trie.run(from, to).len();
            possible += tokens;
            free += if self.is_free(*target)? { tokens } else { 0 };
        }
        let all = trie.run(CharacterTrie::first_child(root), trie.end(root)).len();
        Ok(free > all - possible)
    }

    /// Whether every token may follow.
    fn is_free(&mut self, language: LanguageId) -> Result<bool, Trouble> {
        if let Some(&known) = self.free.get(&language) {
            return Ok(known);
        }
        let free = self.automaton.is_dense(language)? || {
            let max = self.automaton.only_bounded(language)?;
            max.is_some_and(|max| max >= self.contents.longest as u64)
        };
        self.free.insert(language, free);
        Ok(free)
    }

    fn run(&mut self, language: LanguageId) -> Result<(), Trouble> {
        self.visit(CharacterTrie::ROOT, language)?;
        while let Some((node, language)) = self.open.pop() {
            self.children(node, language)?;
        }
        Ok(())
    }

    /// A node whose tokens may follow if what they have begun can be ended.
    fn visit(&mut self, node: u32, language: LanguageId) -> Result<(), Trouble> {
        let contents = self.contents;
        for (token, begun) in contents.trie.at(node) {
            let may = match begun {
                None => true,
                Some(begun) => self.automaton.may_follow(begun, language)?,
            };
            match (may, self.subtract) {
                (true, false) => set(&mut self.words, token),
                (false, true) => unset(&mut self.words, token),
                _ => {}
            }
        }
        if contents.trie.end(node) > CharacterTrie::first_child(node) {
            self.open.push((node, language));
        }
        Ok(())
    }

    fn children(&mut self, node: u32, language: LanguageId) -> Result<(), Trouble> {
        let trie = &self.contents.trie;
        let mut at = CharacterTrie::first_child(node);
        for &(range, target) in self.automaton.content_transitions(language)?.iter() {
            let from = trie.sibling_from(node, at, range.first().into());
            self.forbid(at, from);
            let to = trie.sibling_from(node, from, u32::from(range.last()) + 1);
            if from < to && self.is_free(target)? {
                self.allow(from, to);
            } else {
                let mut child = from;
                while child < to {
                    self.visit(child, target)?;
                    child = trie.end(child);
                }
            }
            at = to;
        }
        self.forbid(at, trie.end(node));
        Ok(())
    }

    fn allow(&mut self, from: u32, to: u32) {
        if !self.subtract {
            for &token in self.contents.trie.run(from, to) {
                set(&mut self.words, token);
            }
        }
    }

    fn forbid(&mut self, from: u32, to: u32) {
        if self.subtract {
            for &token in self.contents.trie.run(from, to) {
                unset(&mut self.words, token);
            }
        }
    }
}
