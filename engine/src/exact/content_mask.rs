//! [`ContentMask`]: the tokens that may follow inside of a string and stay there.

use std::sync::Arc;

use hashbrown::HashMap;
use toktrie::{Recognizer, SimpleVob, TokTrie};

use super::contents::{CharacterTrie, Contents, MAX_COUNTED, set, unset};
use crate::Escapes;
use crate::automaton::{Automaton, Decode, Decoded, StateId, Trouble};
use crate::strings::{LanguageId, Machine};

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
        if let Some(machine) = automaton.machine(language)? {
            return Self::of_machine(machine, contents);
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

    /// The tokens of a trie after which a text of `language` can still be completed, where a character has been begun.
    pub(super) fn within(
        automaton: &mut Automaton,
        begun: Decode,
        language: LanguageId,
        tokens: &TokTrie,
        contents: &Contents,
    ) -> Result<Self, Trouble> {
        let allowed = walk_text(automaton, contents.escapes, (begun, language), None, tokens)?;
        Ok(Self::Words(allowed.as_slice()[..contents.any.len()].into()))
    }

    /// The tokens that a machine goes on with. Its states on the way, a text each, are not kept.
    fn of_machine(machine: Machine, contents: &Contents) -> Result<Self, Trouble> {
        let trie = &contents.trie;
        let mut words = vec![0; contents.any.len()];
        let mut open = vec![(CharacterTrie::ROOT, machine)];
        while let Some((node, machine)) = open.pop() {
            for (token, begun) in trie.at(node) {
                let may = match begun {
                    None => true,
                    Some(begun) => machine.may_begin(&begun.possible(contents.escapes))?,
                };
                if may {
                    set(&mut words, token);
                }
            }
            let mut child = CharacterTrie::first_child(node);
            while child < trie.end(node) {
                let character = char::from_u32(trie.character(child));
                if let Some(character) = character
                    && let Some(after) = machine.after(character)?
                {
                    open.push((child, after));
                }
                child = trie.end(child);
            }
        }
        Ok(Self::Words(words.into()))
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

/// The tokens of a trie that may come inside of a string, from what has been read of a character and what may follow;
/// with a closing quote only if there is a place after it.
pub(super) fn walk_text(
    automaton: &mut Automaton,
    escapes: Escapes,
    (begun, language): (Decode, LanguageId),
    after: Option<StateId>,
    tokens: &TokTrie,
) -> Result<SimpleVob, Trouble> {
    let rest = match automaton.machine(language)? {
        Some(machine) => Rest::Machine(machine),
        None => Rest::Language(language),
    };
    let mut walk = TextWalk {
        automaton,
        escapes,
        after,
        places: vec![Place::Inside(begun, rest)],
        trouble: None,
    };
    let mut allowed = tokens.alloc_token_set();
    tokens.add_bias(&mut walk, &mut allowed, &[]);
    match walk.trouble {
        Some(trouble) => Err(trouble),
        None => Ok(allowed),
    }
}

/// What may follow in a string.
#[derive(Clone)]
enum Rest {
    Language(LanguageId),
    /// A machine's states on the way are not kept.
    Machine(Machine),
}

enum Place {
    Inside(Decode, Rest),
    After(StateId),
}

/// A walk over the bytes of tokens from inside of a string. Places inside are not kept.
struct TextWalk<'a> {
    automaton: &'a mut Automaton,
    escapes: Escapes,
    /// The place after the closing quote.
    after: Option<StateId>,
    places: Vec<Place>,
    trouble: Option<Trouble>,
}

impl TextWalk<'_> {
    fn step(&mut self, byte: u8) -> Result<Option<Place>, Trouble> {
        let (begun, rest) = match self.places.last() {
            None => return Ok(None),
            Some(Place::After(at)) => return Ok(self.automaton.step(*at, byte)?.map(Place::After)),
            Some(Place::Inside(begun, rest)) => (begun, rest),
        };
        match begun.step(byte, self.escapes) {
            Decoded::Refused => Ok(None),
            Decoded::End => {
                let accepts = match rest {
                    Rest::Language(language) => self.automaton.accepts_empty(*language),
                    Rest::Machine(machine) => machine.accepts(),
                };
                Ok(self.after.filter(|_| accepts).map(Place::After))
            }
            Decoded::Partial(begun) => {
                let may = match rest {
                    Rest::Language(language) => self.automaton.may_follow(begun, *language)?,
                    Rest::Machine(machine) => machine.may_begin(&begun.possible(self.escapes))?,
                };
                Ok(may.then(|| Place::Inside(begun, rest.clone())))
            }
            Decoded::Character(character) => {
                let after = match rest {
                    Rest::Language(language) => {
                        let after = self.automaton.content_after(*language, character.into())?;
                        after.map(Rest::Language)
                    }
                    Rest::Machine(machine) => machine.after(character)?.map(Rest::Machine),
                };
                Ok(after.map(|after| Place::Inside(Decode::Between, after)))
            }
        }
    }
}

impl Recognizer for TextWalk<'_> {
    fn pop_bytes(&mut self, num: usize) {
        self.places.truncate(self.places.len() - num);
    }

    fn collapse(&mut self) {
        let top = self.places.len().saturating_sub(1);
        self.places.drain(..top);
    }

    fn trie_finished(&mut self) {
        self.places.truncate(1);
    }

    fn try_push_byte(&mut self, byte: u8) -> bool {
        if self.trouble.is_some() {
            return false;
        }
        match self.step(byte) {
            Ok(Some(next)) => {
                self.places.push(next);
                true
            }
            Ok(None) => false,
            Err(trouble) => {
                self.trouble = Some(trouble);
                false
            }
        }
    }
}
