//! The arena of hash-consed expressions, each with facts that are computed when it is made.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::strings::charset::CharRange;
use crate::strings::expr::expression::{Expr, Facts, LeapMinute};
use crate::strings::language_id::{CHARACTER, LanguageId, NONE, UNBOUNDED};
use crate::strings::limits::LimitReached;
use crate::strings::shared_layer::{LayeredMap, LayeredVec};

/// A new language, or the bound that it would exceed.
pub(in crate::strings) type NewLanguage = Result<LanguageId, LimitReached>;

/// Expressions by id, each once.
#[derive(Debug)]
pub(in crate::strings) struct Arena {
    nodes: LayeredVec<Expr>,
    facts: LayeredVec<Facts>,
    /// Numbers of the expressions that are shared, and of the others.
    shared_index: Arc<HashTable<u32>>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The definition of each loop once it is known, and the facts it was announced with.
    pub(in crate::strings) loops: LayeredVec<(LanguageId, Facts)>,
    /// The language behind each hour, or hour and minute, of a time of day with a leap second, as far as it has been made.
    pub(in crate::strings) leap_seconds: LayeredMap<(u8, LeapMinute), LanguageId>,
    /// The languages of all texts of at most so many octets in UTF-8.
    pub(in crate::strings) octets: LayeredMap<LanguageId, u16>,
    cells: usize,
    allowed_cells: usize,
    /// The cells in use where each trial that has not ended began.
    trials: Vec<usize>,
}

impl Arena {
    pub(in crate::strings) fn new(allowed_cells: usize) -> Self {
        let mut arena = Self {
            nodes: LayeredVec::new(),
            facts: LayeredVec::new(),
            shared_index: Arc::new(HashTable::new()),
            index: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            loops: LayeredVec::new(),
            leap_seconds: LayeredMap::new(),
            octets: LayeredMap::new(),
            cells: 0,
            allowed_cells,
            trials: Vec::new(),
        };
        for node in [
            Expr::None,
            Expr::Empty,
            Expr::Class(Box::new([CharRange::ALL])),
            Expr::Repeat {
                inner: CHARACTER,
                min: 0,
                max: UNBOUNDED,
            },
        ] {
            arena.insert(node);
        }
        arena
    }

    /// Moves all expressions of the arena to the shared layer.
    pub(in crate::strings) fn share(self) -> Self {
        let nodes = self.nodes.share();
        let mut index = HashTable::with_capacity(nodes.len());
        let hash = |id: u32| self.hasher.hash_one(&nodes[id as usize]);
        for id in 0..nodes.len() as u32 {
            index.insert_unique(hash(id), id, |&other| hash(other));
        }
        Self {
            nodes,
            facts: self.facts.share(),
            shared_index: Arc::new(index),
            index: HashTable::new(),
            loops: self.loops.share(),
            leap_seconds: self.leap_seconds.share(),
            octets: self.octets.share(),
            ..self
        }
    }

    /// An arena that begins with the shared expressions of this one and has so many cells for others, with room for `room` expressions from
    /// the beginning.
    pub(in crate::strings) fn over(&self, allowed_cells: usize, room: usize) -> Self {
        Self {
            nodes: self.nodes.over(room),
            facts: self.facts.over(room),
            shared_index: self.shared_index.clone(),
            index: HashTable::with_capacity(room),
            hasher: self.hasher.clone(),
            loops: self.loops.over(0),
            leap_seconds: self.leap_seconds.over(),
            octets: self.octets.over(),
            cells: 0,
            allowed_cells,
            trials: Vec::new(),
        }
    }

    /// Bytes of the room for expressions that are not there yet.
    pub(in crate::strings) fn room_bytes(&self) -> usize {
        let free = self.index.capacity() - self.index.len();
        self.nodes.room_bytes() + self.facts.room_bytes() + free * 8 / 7 * (size_of::<u32>() + 1)
    }

    /// Begins a trial.
    pub(in crate::strings) fn begin(&mut self) {
        self.trials.push(self.cells);
        self.nodes.begin();
        self.facts.begin();
        self.loops.begin();
        self.leap_seconds.begin();
        self.octets.begin();
    }

    /// Ends the trial that began last. A trial fails if more than a quarter of the cells is in use; within another trial, if more than half
    /// of them is. Returns whether it fails: the expressions made since it began are dropped then.
    pub(in crate::strings) fn end(&mut self) -> bool {
        let cells = self.trials.pop().unwrap_or_default();
        let share = if self.trials.is_empty() { 4 } else { 2 };
        let fails = self.cells > self.allowed_cells / share;
        if fails {
            self.cells = cells;
            for id in self.nodes.last_trial() {
                let hash = self.hasher.hash_one(&self.nodes[id]);
                if let Ok(entry) = self.index.find_entry(hash, |other| *other as usize == id) {
                    entry.remove();
                }
            }
        }
        self.nodes.end(fails);
        self.facts.end(fails);
        self.loops.end(fails);
        self.leap_seconds.end(fails);
        self.octets.end(fails);
        fails
    }

    pub(in crate::strings) fn node(&self, id: LanguageId) -> &Expr {
        &self.nodes[id.0 as usize]
    }

    pub(in crate::strings) fn facts(&self, id: LanguageId) -> &Facts {
        &self.facts[id.0 as usize]
    }

    /// Whether the empty text belongs to `id`, whatever the past was. Only closed expressions can be asked.
    pub(in crate::strings) fn nullable(&self, id: LanguageId) -> bool {
        self.facts(id).nullable == u64::MAX
    }

    pub(in crate::strings) fn is_closed(&self, id: LanguageId) -> bool {
        self.facts(id).pasts == 0
    }

    pub(in crate::strings) fn is_simple(&self, id: LanguageId) -> bool {
        self.facts(id).simple
    }

    pub(in crate::strings) fn is_structural(&self, id: LanguageId) -> bool {
        self.facts(id).structural
    }

    pub(in crate::strings) fn has_custom_dfa(&self, id: LanguageId) -> bool {
        self.facts(id).custom_dfa
    }

    pub(in crate::strings) fn is_finite(&self, id: LanguageId) -> bool {
        self.facts(id).finite
    }

    pub(in crate::strings) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Counts cells against the limit.
    pub(in crate::strings) fn spend(&mut self, cells: usize) -> Result<(), LimitReached> {
        self.cells = self.cells.saturating_add(cells);
        if self.cells > self.allowed_cells {
            return Err(LimitReached {
                what: "cells of expressions and transitions",
                allowed: self.allowed_cells,
            });
        }
        Ok(())
    }

    pub(in crate::strings) fn cells(&self) -> usize {
        self.cells
    }

    /// The id of `node`, which is in normal form.
    pub(in crate::strings) fn intern(&mut self, node: Expr) -> Result<LanguageId, LimitReached> {
        let hash = self.hasher.hash_one(&node);
        let is_node = |id: &u32| self.nodes[*id as usize] == node;
        let shared = match self.may_be_shared(&node) {
            true => self.shared_index.find(hash, is_node),
            false => None,
        };
        if let Some(&id) = shared.or_else(|| self.index.find(hash, is_node)) {
            return Ok(LanguageId(id));
        }
        self.spend(8 + node.cells())?;
        Ok(self.insert_hashed(node, hash))
    }

    /// Whether the parts of an expression are shared, as those of one that is must be.
    fn may_be_shared(&self, node: &Expr) -> bool {
        let shared = self.nodes.shared();
        let is_known_loop = |number: u32| (number as usize) < self.loops.shared();
        shared > 0
            && node.all_parts(|id| (id.0 as usize) < shared)
            && !matches!(node, Expr::Loop(number) if !is_known_loop(*number))
    }

    fn insert(&mut self, node: Expr) -> LanguageId {
        let hash = self.hasher.hash_one(&node);
        self.insert_hashed(node, hash)
    }

    fn insert_hashed(&mut self, node: Expr, hash: u64) -> LanguageId {
        // Cells bound the number of nodes far below 2^32.
        let id = self.nodes.len() as u32;
        self.facts.push(self.facts_of(&node));
        self.nodes.push(node);
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        self.index
            .insert_unique(hash, id, |&other| hasher.hash_one(&nodes[other as usize]));
        LanguageId(id)
    }

    /// A new loop that accepts the empty text as `nullable` says and may mention `pasts`.
    pub(in crate::strings) fn announce_loop(&mut self, nullable: u64, pasts: u8) -> Result<LanguageId, LimitReached> {
        let number = self.loops.len() as u32;
        self.loops.push((NONE, Facts::opaque(nullable, pasts)));
        self.intern(Expr::Loop(number))
    }

    pub(in crate::strings) fn define_loop(&mut self, id: LanguageId, definition: LanguageId) {
        if let Expr::Loop(number) = self.nodes[id.0 as usize] {
            // A loop that is shared was defined before.
            if let Some((known, _)) = self.loops.own_mut(number as usize) {
                *known = definition;
            }
        }
    }

    pub(in crate::strings) fn loop_definition(&self, number: u32) -> LanguageId {
        self.loops[number as usize].0
    }

    /// The conditions on the past that hold, as bits, in a state of their languages.
    pub(in crate::strings) fn past_bits(&self, past: &[LanguageId]) -> u8 {
        let bits = past
            .iter()
            .enumerate()
            .filter(|&(_, &language)| self.nullable(language));
        bits.fold(0, |bits, (i, _)| bits | 1 << i)
    }

    /// The members of an intersection as one language and a bound on its lengths, if they are of this form.
    pub(in crate::strings) fn bounded(&self, members: &[LanguageId]) -> Option<(LanguageId, u64, u64)> {
        let &[a, b] = members else { return None };
        let bound = |inner, length| self.as_length(length).map(|(min, max)| (inner, min, max));
        bound(a, b).or_else(|| bound(b, a))
    }
}
