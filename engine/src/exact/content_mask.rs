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
            edges: HashMap::new(),
        };
        walk.subtract = !walk.automaton.is_read_singly(language) && walk.leaves_most(language)?;
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
    /// The edges of the languages met.
    edges: HashMap<LanguageId, Arc<[Edge]>>,
}

/// Characters that lead from a language to another. Others that are in none of its edges lead nowhere.
#[derive(Clone, Copy)]
struct Edge {
    first: u32,
    last: u32,
    target: LanguageId,
    /// Whether any token may follow there.
    free: bool,
}

impl Walk<'_> {
    /// Whether more tokens begin with a character after which anything may follow than with one that nothing follows.
    fn leaves_most(&mut self, language: LanguageId) -> Result<bool, Trouble> {
        let edges = self.edges(language)?;
        let trie = &self.contents.trie;
        let (mut free, mut possible) = (0, 0);
        for edge in edges.iter() {
            let tokens = trie
                .run(trie.root_from(edge.first), trie.root_from(edge.last + 1))
                .len();
            possible += tokens;
            free += if edge.free { tokens } else { 0 };
        }
        let all = trie.run(trie.root_from(0), trie.end(CharacterTrie::ROOT)).len();
        Ok(free > all - possible)
    }

    fn edges(&mut self, language: LanguageId) -> Result<Arc<[Edge]>, Trouble> {
        if let Some(known) = self.edges.get(&language) {
            return Ok(known.clone());
        }
        let mut edges = Vec::new();
        let mut free = (language, false);
        for &(range, target) in self.automaton.content_transitions(language)?.iter() {
            if free.0 != target {
                free = (target, self.is_free(target)?);
            }
            edges.push(Edge {
                first: range.first().into(),
                last: range.last().into(),
                target,
                free: free.1,
            });
        }
        let edges: Arc<[Edge]> = edges.into();
        self.edges.insert(language, edges.clone());
        Ok(edges)
    }

    /// Whether every token may follow.
    fn is_free(&mut self, language: LanguageId) -> Result<bool, Trouble> {
        if self.automaton.is_dense(language)? {
            return Ok(true);
        }
        let max = self.automaton.only_bounded(language)?;
        Ok(max.is_some_and(|max| max >= self.contents.longest as u64))
    }

    fn run(&mut self, language: LanguageId) -> Result<(), Trouble> {
        self.visit(CharacterTrie::ROOT, language)?;
        while let Some((node, language)) = self.open.pop() {
            if self.automaton.is_read_singly(language) {
                self.singly(node, language)?;
                continue;
            }
            let edges = self.edges(language)?;
            match node {
                CharacterTrie::ROOT => self.root(&edges)?,
                _ => self.children(node, &edges)?,
            }
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

    /// The root has more children than most languages edges: those of an edge are found at once.
    fn root(&mut self, edges: &[Edge]) -> Result<(), Trouble> {
        let trie = &self.contents.trie;
        let mut at = trie.root_from(0);
        for edge in edges {
            let (from, to) = (trie.root_from(edge.first), trie.root_from(edge.last + 1));
            self.forbid(at, from);
            if edge.free {
                self.allow(from, to);
            } else {
                let mut child = from;
                while child < to {
                    self.visit(child, edge.target)?;
                    child = trie.end(child);
                }
            }
            at = to;
        }
        self.forbid(at, trie.end(CharacterTrie::ROOT));
        Ok(())
    }

    /// Other nodes have few children: their edges are looked up.
    fn children(&mut self, node: u32, mut edges: &[Edge]) -> Result<(), Trouble> {
        let trie = &self.contents.trie;
        let mut child = CharacterTrie::first_child(node);
        while child < trie.end(node) {
            let (character, next) = (trie.character(child), trie.end(child));
            edges = &edges[edges.partition_point(|edge| edge.last < character)..];
            match edges.first() {
                Some(edge) if edge.first > character => self.forbid(child, next),
                None => self.forbid(child, next),
                Some(edge) if edge.free => self.allow(child, next),
                Some(edge) => self.visit(child, edge.target)?,
            }
            child = next;
        }
        Ok(())
    }

    /// The children of a node where each character leads to a language of its own.
    fn singly(&mut self, node: u32, language: LanguageId) -> Result<(), Trouble> {
        let trie = &self.contents.trie;
        let mut child = match node {
            CharacterTrie::ROOT => trie.root_from(0),
            _ => CharacterTrie::first_child(node),
        };
        while child < trie.end(node) {
            let next = trie.end(child);
            match self.automaton.content_after(language, trie.character(child))? {
                Some(target) => self.visit(child, target)?,
                None => self.forbid(child, next),
            }
            child = next;
        }
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
