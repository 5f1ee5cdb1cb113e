//! [`Suffixes`]: the token suffixes behind a closing quote that are allowed at a state.
//!
//! A vocabulary has some fifty such suffixes, so one set of them tells which tokens may close a string, whatever string it was.
//! Most states share their set: suffixes behind a container depend on the containers around it, those behind a member of an object
//! on little but the remaining names, those behind a name on the shape of its value.

use std::sync::{Arc, Mutex};

use smallvec::SmallVec;

use crate::automaton::{
    Automaton, AutomatonError, CommonShape, KeyClass, Layout, NextMembers, PartialKey, State, ValueShape,
};
use crate::mask::cache::bounded::{BoundedCache, lock};
use crate::mask::cache::shapes::{Shapes, SharedShapes};
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::token_suffixes::TokenSuffixes;
use crate::mask::index::trie::ROOT;

/// Maximal number of enclosing containers followed to find the suffixes allowed where all of them end.
const MAX_CLOSED: usize = 8;

/// Memory for the cache of each kind.
const BYTES: usize = 2 << 20;

/// The caches of suffixes for one schema.
#[derive(Debug)]
pub(crate) struct SuffixCache {
    viable: BoundedCache<State, SuffixSet>,
    by_class: BoundedCache<KeyClass, SuffixSet>,
    /// The suffixes behind any name in an object that takes any value for it.
    behind_any: Option<SuffixSet>,
    by_shape: Shapes<ValueSuffixes>,
}

impl Default for SuffixCache {
    fn default() -> Self {
        Self {
            viable: BoundedCache::new(BYTES),
            by_class: BoundedCache::new(BYTES),
            behind_any: None,
            by_shape: Shapes::new(BYTES),
        }
    }
}

impl SuffixCache {
    /// Returns the bytes that the caches take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.viable.bytes() + self.by_class.bytes() + self.by_shape.bytes()
    }
}

/// A state after a member of an object with independent keys: the members that may follow, where the object stands in the
/// layout, and the suffixes that may come where it ends.
type AfterMember = (NextMembers, Layout, Option<SuffixSet>);

/// The caches of suffixes for all schemas of a vocabulary.
#[derive(Debug)]
pub(crate) struct SharedSuffixes {
    by_shape: SharedShapes<ValueSuffixes>,
    /// The suffixes after a member of an object with independent keys, but for the names of other members.
    after_member: Mutex<BoundedCache<AfterMember, SuffixSet>>,
    /// The suffixes that may come where another member follows, as far as they end before its name, or within a name where any may come.
    before_member: Mutex<BoundedCache<(NextMembers, Layout), SuffixSet>>,
}

impl Default for SharedSuffixes {
    fn default() -> Self {
        Self {
            by_shape: SharedShapes::default(),
            after_member: Mutex::new(BoundedCache::new(BYTES)),
            before_member: Mutex::new(BoundedCache::new(BYTES)),
        }
    }
}

impl SharedSuffixes {
    /// Bytes that are taken, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.by_shape.bytes() + lock(&self.after_member).bytes() + lock(&self.before_member).bytes()
    }
}

/// The suffixes that may come behind a name, before and with a value of a shape.
#[derive(Debug)]
pub(crate) struct ValueSuffixes {
    /// Whether each suffix may come as far as it ends within the value.
    open: SuffixSet,
    /// The suffixes that end the value, each with the suffix behind the value.
    whole: Box<[(u32, u32)]>,
    /// The suffixes that end within the value, with those that have nothing behind it.
    last: SuffixSet,
}

/// Finds out which suffixes may come.
pub(crate) struct Suffixes<'a> {
    pub(crate) automaton: &'a mut Automaton,
    pub(crate) cache: &'a mut SuffixCache,
    pub(crate) index: &'a TokenSuffixes,
    pub(crate) shared: &'a SharedSuffixes,
}

impl Suffixes<'_> {
    /// Whether each suffix may come at a state.
    pub(crate) fn viable(&mut self, at: State) -> Result<SuffixSet, AutomatonError> {
        // The suffixes that may come where a container ends follow from those that may come around it.
        let mut chain = SmallVec::<[State; MAX_CLOSED]>::new();
        let (mut viable, mut next) = (None, Some(at));
        let mut is_cut = false;
        while let Some(at) = next {
            if let Some(known) = self.cache.viable.get(&at) {
                viable = Some(known);
                break;
            }
            if chain.len() == MAX_CLOSED {
                is_cut = true;
                break;
            }
            chain.push(at);
            next = self.automaton.closed(at)?;
        }
        while let Some(at) = chain.pop() {
            // The suffixes allowed around the outermost container of a cut chain are unknown, so its own are computed without them.
            let members = match std::mem::take(&mut is_cut) {
                true => None,
                false => self.automaton.next_members(at)?,
            };
            let found = match members {
                Some(members) => self.after_member(at, members, viable)?,
                None => self.find(at, viable.as_ref())?,
            };
            self.cache.viable.keep(at, found.clone(), found.bytes());
            viable = Some(found);
        }
        Ok(viable.unwrap_or_default())
    }

    /// Whether one suffix may come at a state.
    pub(crate) fn is_viable(&mut self, at: State, suffix: u32) -> Result<bool, AutomatonError> {
        match self.cache.viable.get(&at) {
            Some(known) => Ok(known[suffix as usize]),
            None => self.goes_on(at, &self.index.texts[suffix as usize]),
        }
    }

    /// Whether each suffix may come after a member of an object with independent keys: but for names that are spelled out
    /// that depends on little.
    fn after_member(
        &mut self,
        at: State,
        members: NextMembers,
        around: Option<SuffixSet>,
    ) -> Result<SuffixSet, AutomatonError> {
        let key = (members, self.automaton.layout(at, true), around);
        let known = lock(&self.shared.after_member).get(&key);
        let mut viable = match known {
            Some(known) => known,
            None => {
                let viable = self.walk(at, true, key.2.as_ref())?;
                lock(&self.shared.after_member).keep(key, viable.clone(), 2 * viable.bytes());
                viable
            }
        };
        // Behind so many brackets it depends on all containers around.
        for &suffix in &self.index.far_brackets {
            viable.put(suffix as usize, self.goes_on(at, &self.index.texts[suffix as usize])?);
        }
        match members {
            NextMembers::None => {}
            NextMembers::OfAnyName => {
                for (suffix, text) in &self.index.names {
                    viable.put(*suffix as usize, self.goes_on(at, text)?);
                }
            }
            NextMembers::Some => self.begin_names(at, &mut viable)?,
        }
        Ok(viable)
    }

    /// Notes which of the suffixes that begin another name may come, behind the opening quote.
    fn begin_names(&mut self, at: State, viable: &mut SuffixSet) -> Result<(), AutomatonError> {
        let TokenSuffixes { trie, next_names, .. } = &self.index;
        let mut open = SmallVec::<[_; 4]>::new();
        for (node, text) in next_names.iter().filter(|(node, _)| !trie.is_leaf(*node)) {
            for suffix in trie.run(*node, trie.end(*node)).skip(trie.at(*node).len()) {
                viable.put(suffix, false);
            }
            if let Some(name) = self.automaton.read_bytes(at, text)? {
                open.push((*node, name));
            }
        }
        while let Some((node, at)) = open.pop() {
            for child in trie.children(node) {
                let byte = trie.label(child);
                if !self.automaton.begins_no_key(at, byte)?
                    && let Some(next) = self.automaton.step(at, byte)?
                {
                    viable.put_all(trie.at(child));
                    open.push((child, next));
                }
            }
        }
        Ok(())
    }

    /// Computes the suffixes allowed at a state, without the cache. `around` is the set of suffixes allowed behind the container.
    fn find(&mut self, at: State, around: Option<&SuffixSet>) -> Result<SuffixSet, AutomatonError> {
        match self.behind_name(at)? {
            Some(viable) => Ok(viable),
            None => self.walk(at, false, around),
        }
    }

    /// Computes the suffixes allowed at a state byte by byte. Before a name, where any name may come, all suffixes are allowed that
    /// do not end the name. `around` is the set of suffixes allowed behind the container.
    fn walk(
        &mut self,
        at: State,
        is_before_any_name: bool,
        around: Option<&SuffixSet>,
    ) -> Result<SuffixSet, AutomatonError> {
        let (suffixes, start) = (self.index, at);
        let trie = &suffixes.trie;
        let mut viable = SuffixSet::none(suffixes.texts.len());
        viable.put_all(trie.at(ROOT));
        let mut open = SmallVec::<[_; 8]>::new();
        open.push((ROOT, at, true));
        while let Some((node, at, is_blank)) = open.pop() {
            for child in trie.children(node) {
                let label = trie.label(child);
                let Some(next) = self.automaton.step(at, label)? else {
                    continue;
                };
                let is_end = is_blank && matches!(label, b'}' | b']');
                if let Some(around) = around.filter(|_| is_end) {
                    for suffix in trie.run(child, trie.end(child)) {
                        let may = match suffixes.behind_brackets[suffix] {
                            Some(behind) => around[behind as usize],
                            None => self.goes_on(start, &suffixes.texts[suffix])?,
                        };
                        viable.put(suffix, may);
                    }
                    continue;
                }
                viable.put_all(trie.at(child));
                if is_before_any_name
                    && suffixes
                        .next_names
                        .binary_search_by_key(&child, |(node, _)| *node)
                        .is_ok()
                {
                    for suffix in trie.run(child, trie.end(child)).skip(trie.at(child).len()) {
                        viable.put(suffix, suffixes.begun_names[suffix]);
                    }
                    continue;
                }
                open.push((child, next, is_blank && label.is_ascii_whitespace()));
            }
        }
        Ok(viable)
    }

    /// Whether each suffix may come behind a name that an object lists.
    pub(crate) fn behind_listed(&mut self, at: State) -> Result<SuffixSet, AutomatonError> {
        match self.behind_name(at)? {
            Some(viable) => Ok(viable),
            None => self.viable(at),
        }
    }

    /// Whether each suffix may come behind a name; none where more counts than the shape of its value.
    fn behind_name(&mut self, at: State) -> Result<Option<SuffixSet>, AutomatonError> {
        // Mostly what is behind a name is seen without the states that it leads to.
        let shape = self.automaton.shape_behind(at)?;
        if let Some(shape) = shape
            && let Ok(suffixes) = self.known_by_shape(shape)
            && let Some(viable) = self.with_shape(at, &suffixes)?
        {
            return Ok(Some(viable));
        }
        let Some(value) = self.automaton.value_of_key(at)? else {
            return Ok(None);
        };
        let Some(shape) = self.automaton.value_shape(value)? else {
            return Ok(None);
        };
        let suffixes = self.by_shape(at, value, shape)?;
        if let Some(viable) = self.with_shape(at, &suffixes)? {
            return Ok(Some(viable));
        }
        let mut viable = suffixes.open.clone();
        if !suffixes.whole.is_empty()
            && let Some(after) = self.automaton.after_shape(value)?
        {
            let behind = self.viable(after)?;
            for &(suffix, end) in &suffixes.whole {
                viable.put(suffix as usize, behind[end as usize]);
            }
            if let Some(others) = self.automaton.others_behind(at)? {
                let place = (others, self.automaton.layout_after_member(at));
                lock(&self.shared.before_member).keep(place, behind.clone(), behind.bytes());
            }
        }
        for (suffix, text) in &self.index.odd {
            viable.put(*suffix as usize, self.goes_on(at, text)?);
        }
        Ok(Some(viable))
    }

    /// Whether each suffix may come behind a name, before and with a value of a shape, as far as that and the members that may
    /// follow say it; none where they do not.
    fn with_shape(&mut self, at: State, suffixes: &ValueSuffixes) -> Result<Option<SuffixSet>, AutomatonError> {
        if !self.index.odd.is_empty() {
            return Ok(None);
        }
        if suffixes.whole.is_empty() {
            return Ok(Some(suffixes.open.clone()));
        }
        if !self.index.end_in_comma {
            return Ok(None);
        }
        let others = match self.automaton.others_behind(at)? {
            None => return Ok(None),
            Some(NextMembers::None) => return Ok(Some(suffixes.last.clone())),
            Some(NextMembers::Some) if !self.index.end_before_name => return Ok(None),
            Some(others) => others,
        };
        let place = (others, self.automaton.layout_after_member(at));
        let behind = lock(&self.shared.before_member).get(&place);
        Ok(behind.map(|behind| {
            let mut viable = suffixes.last.clone();
            for &(suffix, _) in suffixes.whole.iter().filter(|(_, end)| behind[*end as usize]) {
                viable.put(suffix as usize, true);
            }
            viable
        }))
    }

    /// The suffixes that may come behind a name and before a value of a shape.
    pub(crate) fn by_shape(
        &mut self,
        at: State,
        value: State,
        shape: ValueShape,
    ) -> Result<Arc<ValueSuffixes>, AutomatonError> {
        let common = match self.known_by_shape(shape) {
            Ok(known) => return Ok(known),
            Err(common) => common,
        };
        let mut open = self.walk(at, false, None)?;
        let mut whole = Vec::new();
        for one in &self.index.values {
            open.put(one.suffix as usize, false);
            if self.goes_on(value, &one.value)? {
                whole.push((one.suffix, one.behind));
            }
        }
        let mut last = open.clone();
        for &(suffix, behind) in &whole {
            last.put(suffix as usize, self.index.nothing[behind as usize]);
        }
        let whole = whole.into();
        let suffixes = Arc::new(ValueSuffixes { open, whole, last });
        let bytes = 2 * suffixes.open.bytes() + 8 * suffixes.whole.len();
        let shared = &self.shared.by_shape;
        self.cache.by_shape.keep(shared, (shape, common), &suffixes, bytes);
        Ok(suffixes)
    }

    /// Returns the cached suffixes behind a name and before a value of a shape; otherwise the shape as other schemas know it, if
    /// it is common.
    fn known_by_shape(&mut self, shape: ValueShape) -> Result<Arc<ValueSuffixes>, Option<CommonShape>> {
        self.cache.by_shape.get(self.automaton, &self.shared.by_shape, shape)
    }

    /// Whether some bytes may come at a state.
    fn goes_on(&mut self, at: State, text: &[u8]) -> Result<bool, AutomatonError> {
        let mut at = at;
        for &byte in text {
            match self.automaton.step(at, byte)? {
                Some(next) => at = next,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether each suffix may come after the closing quote of a name that is not listed and ends with `text`, if that is
    /// alike for all such names.
    pub(crate) fn behind_any(
        &mut self,
        at: State,
        begun: &PartialKey,
        text: &str,
    ) -> Result<SuffixSet, AutomatonError> {
        if !self.index.end_in_comma || !self.automaton.is_wide_open(begun)? {
            return self.behind_class(at, begun, text);
        }
        // Any value may come, and any other name behind it: that is the same in all such objects.
        if let Some(known) = &self.cache.behind_any {
            return Ok(known.clone());
        }
        let viable = self.behind_class(at, begun, text)?;
        self.cache.behind_any = Some(viable.clone());
        Ok(viable)
    }

    /// Whether each suffix may come after the closing quote of a name that ends with `text`, as far as it does not reach
    /// into other names of the object.
    pub(crate) fn behind_class(
        &mut self,
        at: State,
        begun: &PartialKey,
        text: &str,
    ) -> Result<SuffixSet, AutomatonError> {
        let after = self.automaton.after_longer_key(at, text);
        let Some(class) = self.automaton.class_of(begun, (after, text))? else {
            return self.viable(after);
        };
        if let Some(known) = self.cache.by_class.get(&class) {
            return Ok(known);
        }
        let viable = self.find(after, None)?;
        self.cache.by_class.keep(class, viable.clone(), viable.bytes());
        Ok(viable)
    }

    /// Whether a suffix may come after all texts of a kind if it may after one of them: it does not go on into another text,
    /// which must not be the same, nor end a container that is compared with others.
    pub(crate) fn is_alike(&self, at: State, suffix: u32) -> bool {
        let suffixes = &self.index;
        !(suffixes.reaches_text[suffix as usize] || suffixes.closes[suffix as usize] && self.automaton.is_compared(at))
    }
}
