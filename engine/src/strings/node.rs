//! The arena: expressions stored once, with what is known of each when it is made.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::characters::Characters;
use super::charset::CharRange;
use super::layers::{Row, Table};
use super::limits::LimitReached;
use super::native::Native;

/// A regular language of Unicode texts, in the [`super::Languages`] that made it. Equal ids are equal languages; equal
/// languages may have different ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LanguageId(pub(super) u32);

/// No text at all.
pub(super) const NONE: LanguageId = LanguageId(0);
/// The empty text only.
pub(super) const EMPTY: LanguageId = LanguageId(1);
/// Every text of one character.
pub(super) const CHARACTER: LanguageId = LanguageId(2);
/// Every text.
pub(super) const ANY: LanguageId = LanguageId(3);

/// "As often as you like" as the upper bound of a repetition.
pub(super) const UNBOUNDED: u64 = u64::MAX;

/// Conditions on the past that one pattern may have: the nullability of an expression is a table over their truth, and
/// 2^6 rows fit a word.
pub(super) const MAX_PASTS: usize = 6;

/// Rows of the truth table in which condition `i` holds.
pub(super) const PAST_ROWS: [u64; MAX_PASTS] = [
    0xAAAA_AAAA_AAAA_AAAA,
    0xCCCC_CCCC_CCCC_CCCC,
    0xF0F0_F0F0_F0F0_F0F0,
    0xFF00_FF00_FF00_FF00,
    0xFFFF_0000_FFFF_0000,
    0xFFFF_FFFF_0000_0000,
];

/// An expression. Constructors in `build` keep a normal form; nothing else may make one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    None,
    Empty,
    /// One character out of a set that is not empty.
    Class(Box<[CharRange]>),
    /// A state of an automaton without cycles: how word lists are stored.
    Branch {
        accepts: bool,
        edges: Box<[(CharRange, LanguageId)]>,
    },
    /// The first is neither a concatenation nor open.
    Concat(LanguageId, LanguageId),
    Repeat {
        inner: LanguageId,
        min: u64,
        max: u64,
    },
    Or(Box<[LanguageId]>),
    And(Box<[LanguageId]>),
    Not(LanguageId),
    /// Every text if condition `i` on the text before this place holds, else none.
    Past(u8),
    /// `body`, where condition `i` holds iff the `i`-th language of what has been read of it accepts.
    Recall {
        body: LanguageId,
        past: Box<[LanguageId]>,
    },
    /// A name for an expression that contains it, behind at least one character.
    Loop(u32),
    /// The rest of a leap second's time of day, defined where it is first needed.
    LeapSecond {
        hour: u8,
        minute: LeapMinute,
    },
    /// A state of a machine that is no expression.
    Native(Native),
}

/// How far the minute of a leap second's time of day has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LeapMinute {
    /// The colon before it comes next.
    Ahead,
    /// Its first digit comes next.
    Begun,
    /// It begins with this digit.
    Tens(u8),
    /// The colon behind it comes next.
    Read(u8),
    /// The fraction of the second, or the offset, comes next.
    Zone(u8),
}

/// What is known of an expression when it is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Whether the empty text belongs to it: bit `b` for the truth values `b` of the conditions on the past.
    pub(super) nullable: u64,
    /// Conditions on the past that it mentions.
    pub(super) pasts: u8,
    /// Made of characters, concatenation, repetition and union only: such an expression, unless it is [`NONE`], has
    /// a text, and its lengths follow from its structure.
    pub(super) simple: bool,
    /// Its lengths follow from its structure: as `simple`, with bounds on the length of parts besides.
    pub(super) structural: bool,
    /// A Boolean combination of others with a [`Node::Native`]: its states are as many as texts, so that derivatives
    /// are taken by one character at a time.
    pub(super) native: bool,
    /// It has so many texts and no more, as its structure shows.
    pub(super) finite: bool,
}

/// Expressions by id, each once.
#[derive(Debug)]
pub(super) struct Arena {
    nodes: Row<Node>,
    facts: Row<Facts>,
    pub(super) firsts: Row<Characters>,
    pub(super) used: Row<Characters>,
    /// How many words there are in each that is a short list; 0 of others.
    pub(super) words: Row<u8>,
    /// Numbers of the expressions that are shared, and of the others.
    shared_index: Arc<HashTable<u32>>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// For each loop: its definition once it is known, and the facts it was announced with.
    loops: Row<(LanguageId, Facts)>,
    /// What follows each hour, or hour and minute, of a time of day with a leap second, as far as it has been made.
    pub(super) leap_seconds: Table<(u8, LeapMinute), LanguageId>,
    /// The languages of all texts of at most so many octets in UTF-8.
    pub(super) octets: Table<LanguageId, u16>,
    cells: usize,
    allowed_cells: usize,
}

impl Arena {
    pub(super) fn new(allowed_cells: usize) -> Self {
        let mut arena = Self {
            nodes: Row::new(),
            facts: Row::new(),
            firsts: Row::new(),
            used: Row::new(),
            words: Row::new(),
            shared_index: Arc::new(HashTable::new()),
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            loops: Row::new(),
            leap_seconds: Table::new(),
            octets: Table::new(),
            cells: 0,
            allowed_cells,
        };
        let everything = CharRange {
            first: 0,
            last: super::charset::LAST,
        };
        for node in [
            Node::None,
            Node::Empty,
            Node::Class(Box::new([everything])),
            Node::Repeat {
                inner: CHARACTER,
                min: 0,
                max: UNBOUNDED,
            },
        ] {
            arena.insert(node);
        }
        arena
    }

    /// The same, all of it shared.
    pub(super) fn share(self) -> Self {
        let nodes = self.nodes.share();
        let mut index = HashTable::with_capacity(nodes.len());
        let hash = |id: u32| self.hasher.hash_one(&nodes[id as usize]);
        for id in 0..nodes.len() as u32 {
            index.insert_unique(hash(id), id, |&other| hash(other));
        }
        Self {
            nodes,
            facts: self.facts.share(),
            firsts: self.firsts.share(),
            used: self.used.share(),
            words: self.words.share(),
            shared_index: Arc::new(index),
            index: HashTable::new(),
            loops: self.loops.share(),
            leap_seconds: self.leap_seconds.share(),
            octets: self.octets.share(),
            ..self
        }
    }

    /// The expressions that are shared, and so many cells for others.
    pub(super) fn over(&self, allowed_cells: usize) -> Self {
        Self {
            nodes: self.nodes.over(),
            facts: self.facts.over(),
            firsts: self.firsts.over(),
            used: self.used.over(),
            words: self.words.over(),
            shared_index: self.shared_index.clone(),
            index: HashTable::new(),
            hasher: self.hasher.clone(),
            loops: self.loops.over(),
            leap_seconds: self.leap_seconds.over(),
            octets: self.octets.over(),
            cells: 0,
            allowed_cells,
        }
    }

    pub(super) fn node(&self, id: LanguageId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn facts(&self, id: LanguageId) -> Facts {
        self.facts[id.0 as usize]
    }

    /// Whether the empty text belongs to `id`, whatever the past was. Only closed expressions can be asked.
    pub(super) fn nullable(&self, id: LanguageId) -> bool {
        self.facts(id).nullable == u64::MAX
    }

    pub(super) fn is_closed(&self, id: LanguageId) -> bool {
        self.facts(id).pasts == 0
    }

    pub(super) fn is_simple(&self, id: LanguageId) -> bool {
        self.facts(id).simple
    }

    pub(super) fn is_structural(&self, id: LanguageId) -> bool {
        self.facts(id).structural
    }

    pub(super) fn is_native(&self, id: LanguageId) -> bool {
        self.facts(id).native
    }

    pub(super) fn is_finite(&self, id: LanguageId) -> bool {
        self.facts(id).finite
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Counts cells against the limit.
    pub(super) fn spend(&mut self, cells: usize) -> Result<(), LimitReached> {
        self.cells = self.cells.saturating_add(cells);
        if self.cells > self.allowed_cells {
            return Err(LimitReached {
                what: "cells of expressions and transitions",
                allowed: self.allowed_cells,
            });
        }
        Ok(())
    }

    pub(super) fn cells(&self) -> usize {
        self.cells
    }

    /// The id of `node`, which is in normal form.
    pub(super) fn intern(&mut self, node: Node) -> Result<LanguageId, LimitReached> {
        let hash = self.hasher.hash_one(&node);
        let is_node = |id: &u32| self.nodes[*id as usize] == node;
        let shared = match self.may_be_shared(&node) {
            true => self.shared_index.find(hash, is_node),
            false => None,
        };
        if let Some(&id) = shared.or_else(|| self.index.find(hash, is_node)) {
            return Ok(LanguageId(id));
        }
        self.spend(8 + cells_of(&node))?;
        Ok(self.insert_hashed(node, hash))
    }

    /// Whether the parts of an expression are shared, as those of one that is must be.
    fn may_be_shared(&self, node: &Node) -> bool {
        let is_shared = |id: &LanguageId| (id.0 as usize) < self.nodes.shared();
        match node {
            _ if self.nodes.shared() == 0 => false,
            Node::None | Node::Empty | Node::Class(_) | Node::Past(_) | Node::LeapSecond { .. } | Node::Native(_) => {
                true
            }
            Node::Branch { edges, .. } => edges.iter().all(|(_, target)| is_shared(target)),
            Node::Concat(first, rest) => is_shared(first) && is_shared(rest),
            Node::Repeat { inner, .. } | Node::Not(inner) => is_shared(inner),
            Node::Or(members) | Node::And(members) => members.iter().all(is_shared),
            Node::Recall { body, past } => is_shared(body) && past.iter().all(is_shared),
            Node::Loop(number) => (*number as usize) < self.loops.shared(),
        }
    }

    fn insert(&mut self, node: Node) -> LanguageId {
        let hash = self.hasher.hash_one(&node);
        self.insert_hashed(node, hash)
    }

    fn insert_hashed(&mut self, node: Node, hash: u64) -> LanguageId {
        // Cells bound the number of nodes far below 2^32.
        let id = self.nodes.len() as u32;
        self.facts.push(self.facts_of(&node));
        self.firsts.push(self.firsts_of(&node));
        self.used.push(self.used_of(&node));
        self.words.push(self.words_of(&node));
        self.nodes.push(node);
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        self.index
            .insert_unique(hash, id, |&other| hasher.hash_one(&nodes[other as usize]));
        LanguageId(id)
    }

    /// A new loop that accepts the empty text as `nullable` says and may mention `pasts`.
    pub(super) fn announce_loop(&mut self, nullable: u64, pasts: u8) -> Result<LanguageId, LimitReached> {
        let number = self.loops.len() as u32;
        self.loops.push((
            NONE,
            Facts {
                nullable,
                pasts,
                simple: false,
                structural: false,
                native: false,
                finite: false,
            },
        ));
        self.intern(Node::Loop(number))
    }

    pub(super) fn define_loop(&mut self, id: LanguageId, definition: LanguageId) {
        if let Node::Loop(number) = self.nodes[id.0 as usize] {
            // A loop that is shared was defined before.
            if let Some((known, _)) = self.loops.own_mut(number as usize) {
                *known = definition;
            }
        }
    }

    pub(super) fn loop_definition(&self, number: u32) -> LanguageId {
        self.loops[number as usize].0
    }

    /// The conditions on the past that hold, as bits, in a state of their languages.
    pub(super) fn past_bits(&self, past: &[LanguageId]) -> u8 {
        let bits = past
            .iter()
            .enumerate()
            .filter(|&(_, &language)| self.nullable(language));
        bits.fold(0, |bits, (i, _)| bits | 1 << i)
    }

    /// The members of an intersection as one language and a bound on its lengths, if that is what they are.
    pub(super) fn bounded(&self, members: &[LanguageId]) -> Option<(LanguageId, u64, u64)> {
        let &[a, b] = members else { return None };
        let bound = |inner, length| self.as_length(length).map(|(min, max)| (inner, min, max));
        bound(a, b).or_else(|| bound(b, a))
    }

    fn facts_of(&self, node: &Node) -> Facts {
        let truth = |holds: bool| if holds { u64::MAX } else { 0 };
        let closed = |nullable, simple| Facts {
            nullable: truth(nullable),
            pasts: 0,
            simple,
            structural: simple,
            native: false,
            finite: false,
        };
        match node {
            Node::LeapSecond { .. } => closed(false, true),
            Node::None | Node::Empty | Node::Class(_) => Facts {
                finite: true,
                ..closed(matches!(node, Node::Empty), true)
            },
            Node::Native(state) => Facts {
                native: true,
                ..closed(state.accepts(), true)
            },
            Node::Branch { accepts, edges } => Facts {
                finite: edges.iter().all(|&(_, target)| self.is_finite(target)),
                ..closed(*accepts, edges.iter().all(|&(_, target)| self.is_simple(target)))
            },
            Node::Concat(first, rest) => Facts {
                native: false,
                ..self.combine([*first, *rest], true, |a, b| a & b)
            },
            Node::Repeat { inner, min, max } => {
                let inner = self.facts(*inner);
                Facts {
                    nullable: if *min == 0 { u64::MAX } else { inner.nullable },
                    native: false,
                    finite: inner.finite && *max != UNBOUNDED,
                    ..inner
                }
            }
            Node::Or(members) => self.combine(members.iter().copied(), true, |a, b| a | b),
            Node::And(members) => Facts {
                structural: self
                    .bounded(members)
                    .is_some_and(|(inner, ..)| self.is_structural(inner)),
                finite: members.iter().any(|member| self.is_finite(*member)),
                ..self.combine(members.iter().copied(), false, |a, b| a & b)
            },
            Node::Not(inner) => {
                let inner = self.facts(*inner);
                Facts {
                    nullable: !inner.nullable,
                    simple: false,
                    structural: false,
                    finite: false,
                    ..inner
                }
            }
            Node::Past(i) => Facts {
                nullable: PAST_ROWS[usize::from(*i)],
                pasts: 1 << i,
                simple: false,
                structural: false,
                native: false,
                finite: false,
            },
            Node::Recall { body, past } => {
                let row = self.facts(*body).nullable >> self.past_bits(past) & 1;
                closed(row == 1, false)
            }
            Node::Loop(number) => self.loops[*number as usize].1,
        }
    }

    fn combine(
        &self,
        members: impl IntoIterator<Item = LanguageId>,
        simple: bool,
        join: impl Fn(u64, u64) -> u64,
    ) -> Facts {
        let mut members = members.into_iter().map(|member| self.facts(member));
        let first = members.next().unwrap_or(Facts {
            nullable: 0,
            pasts: 0,
            simple,
            structural: simple,
            native: false,
            finite: false,
        });
        members.fold(
            Facts {
                simple: simple && first.simple,
                ..first
            },
            |all, one| Facts {
                nullable: join(all.nullable, one.nullable),
                pasts: all.pasts | one.pasts,
                simple: all.simple && one.simple,
                structural: all.structural && one.structural,
                native: all.native || one.native,
                finite: all.finite && one.finite,
            },
        )
    }
}

fn cells_of(node: &Node) -> usize {
    match node {
        Node::Class(ranges) => ranges.len(),
        Node::Branch { edges, .. } => edges.len(),
        Node::Or(members) | Node::And(members) => members.len(),
        Node::Recall { past, .. } => past.len(),
        Node::Native(state) => state.cells(),
        _ => 0,
    }
}
