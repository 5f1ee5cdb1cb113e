//! The keys that may come next in an object, and whether any may (and so a `,`): the keys seen are subtracted from
//! those that the object's residual formula admits.
//!
//! The keys that may come first are computed once per formula. Later in an independent-key object the same keys may
//! come except for those seen, which are subtracted by counting, without a new list or language.

use crate::KeyOrder;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{FormulaId, IndependentKeys, KeySetId, TextId};
use crate::automaton::search::{KeyListId, NextKeys};
use crate::automaton::step::{Automaton, Container, Derived, Frame, StackId};
use hashbrown::HashSet;

/// Number of seen keys up to which each key is looked up among them, one after the other.
const SEEN_LOOKED_THROUGH: usize = 16;

impl Automaton {
    /// Whether another member may come in the innermost object. The steps over a comma, whitespace and a quote ask the same one
    /// after the other.
    pub(crate) fn has_next_key(&mut self, stack: StackId) -> Result<bool, AutomatonError> {
        if let Some((last, known)) = self.object_keys.last_has_next
            && last == stack
        {
            return Ok(known);
        }
        let has_next = self.find_has_next_key(stack)?;
        self.object_keys.last_has_next = Some((stack, has_next));
        Ok(has_next)
    }

    fn find_has_next_key(&mut self, stack: StackId) -> Result<bool, AutomatonError> {
        let Some(frame) = self.frame(stack) else {
            return Ok(false);
        };
        if self.is_object_full(stack, &frame)? {
            return Ok(false);
        }
        // Usually there is room for any other key, and then it does not matter which keys have been seen.
        if self.has_room(&frame)? || self.has_listed_key(&frame)? {
            return Ok(true);
        }
        Ok(self.next_keys(stack)? != NextKeys::None)
    }

    /// Whether a key that an independent-key object lists may come next; `false` also if this does not show at once.
    fn has_listed_key(&mut self, frame: &Frame) -> Result<bool, AutomatonError> {
        let (Derived(Some(plain)), Container::Object { order, passed, .. }) = (&frame.plain, &frame.kind) else {
            return Ok(false);
        };
        // A key that is required in the order is one that may come.
        if plain.awaited > 0 {
            return Ok(true);
        }
        if *passed > 0 || self.search.algebra.key_sets.len(frame.kind.used()) > SEEN_LOOKED_THROUGH {
            let names = self.search.algebra.ordered(*order, *passed);
            return self.some_key_may_come(&plain.asked, &names);
        }
        for name in plain.asked.names() {
            if !self.has_seen(&frame.kind, name) && self.search.key_may_come(&plain.asked, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an independent-key object may have a member with one of these keys.
    pub(crate) fn some_key_may_come(
        &mut self,
        asked: &IndependentKeys,
        names: &[TextId],
    ) -> Result<bool, AutomatonError> {
        for &name in names {
            if self.search.key_may_come(asked, name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The keys that may come next in the innermost object.
    pub(crate) fn next_keys(&mut self, stack: StackId) -> Result<NextKeys, AutomatonError> {
        if let Some(&known) = self.object_keys.next.get(&stack) {
            return Ok(known);
        }
        let names = self.find_next_keys(stack)?;
        self.object_keys.next.insert(stack, names);
        Ok(names)
    }

    fn find_next_keys(&mut self, stack: StackId) -> Result<NextKeys, AutomatonError> {
        let Some(frame) = self.frame(stack) else {
            return Ok(NextKeys::None);
        };
        let Container::Object {
            used,
            order,
            passed,
            values,
            ..
        } = &frame.kind
        else {
            return Ok(NextKeys::None);
        };
        if self.is_object_full(stack, &frame)? {
            return Ok(NextKeys::None);
        }
        let is_free = values.is_none() && self.search.algebra.style.key_order == KeyOrder::Any;
        if (is_free || frame.plain.0.is_some()) && self.has_room(&frame)? {
            return Ok(NextKeys::Any);
        }
        if frame.plain.0.is_some()
            && let Some(names) = self.keys_but_used(stack, &frame)?
        {
            return Ok(names);
        }
        let place = (frame.formulas[0], *used, *order, *passed);
        if let Some(&known) = self.search.object_memo.next_keys.get(&place) {
            return Ok(known);
        }
        let exhausted = self.exhausted_keys(&frame.kind);
        let listed = self.key_classes(stack)?;
        let listed = listed.as_deref().map_or(&[][..], |classes| &classes.listed);
        let rivals = self.search.algebra.orders.rivals(*order).clone();
        if !rivals.is_empty() {
            let names = self.search.next_keys_of_rivals(&rivals, &exhausted, listed)?;
            self.search.object_memo.next_keys.insert(place, names);
            return Ok(names);
        }
        let ordered = self.search.algebra.ordered(*order, *passed);
        let have_come = ordered.is_empty() && *passed == 0;
        let names = self
            .search
            .next_keys_after(frame.formulas[0], &ordered, (exhausted, have_come), listed)?;
        self.search.object_memo.next_keys.insert(place, names);
        Ok(names)
    }

    /// The keys that may come next in an independent-key object, as those that may come first except for those seen.
    /// `None` if the former are neither a list of keys nor a language in which seen keys can be counted.
    fn keys_but_used(&mut self, stack: StackId, frame: &Frame) -> Result<Option<NextKeys>, AutomatonError> {
        let language = match self.first_keys(stack, frame, frame.kind.passed())? {
            NextKeys::Language(language) => language,
            NextKeys::Listed(list_id) => {
                if self.search.key_list(list_id).excludes {
                    return Ok(None);
                }
                debug_assert!(self.lists_all(list_id, frame.kind.used()), "a name came that may not");
                return Ok(Some(match self.count_remaining_in(list_id, TextId::EMPTY, stack) {
                    0 => NextKeys::None,
                    _ => NextKeys::Of(list_id),
                }));
            }
            NextKeys::None => return Ok(Some(NextKeys::None)),
            _ => return Ok(None),
        };
        let used = frame.kind.used();
        let seen = self.search.algebra.key_sets.len(used) as u64;
        if self.languages().is_non_enumerable(language) || !self.search.has_all(language, used)? {
            return Ok(None);
        }
        Ok(Some(match self.search.has_more(language, seen)? {
            true => NextKeys::In(language),
            false => NextKeys::None,
        }))
    }

    /// Whether all keys seen are on a list.
    fn lists_all(&self, list: KeyListId, seen: KeySetId) -> bool {
        let seen = self
            .search
            .algebra
            .key_sets
            .names(seen, TextId::EMPTY, &self.search.algebra.texts);
        seen.into_iter().all(|name| self.search.is_listed(list, name))
    }

    /// The keys that may come next in an independent-key object, after so many of the prescribed order, if no key
    /// outside of that order has been seen.
    pub(crate) fn first_keys(
        &mut self,
        stack: StackId,
        frame: &Frame,
        passed: u32,
    ) -> Result<NextKeys, AutomatonError> {
        let (Derived(Some(plain)), &Container::Object { order, .. }) = (&frame.plain, &frame.kind) else {
            return Ok(NextKeys::None);
        };
        let place = (frame.formulas[0], order, passed);
        if let Some(&known) = self.search.object_memo.first_keys.get(&place) {
            return Ok(known);
        }
        let listed = self.key_classes(stack)?;
        let listed = listed.as_deref().map_or(&[][..], |classes| &classes.listed);
        let ahead = self.search.algebra.ordered(order, passed);
        let names = match ahead.iter().position(|name| plain.asked.requires(*name)) {
            Some(last) => {
                let mut viable = Vec::new();
                for &name in &ahead[..=last] {
                    if self.search.key_may_come(&plain.asked, name)? {
                        viable.push(name);
                    }
                }
                self.search.listed(viable, false, listed)?
            }
            None => {
                let in_any_order = self.keys_in_any_order(frame.formulas[0], listed)?;
                let orders = self.search.algebra.orders.orders[order.0 as usize].clone();
                let done = &orders[..passed as usize];
                match in_any_order {
                    NextKeys::None => NextKeys::None,
                    all @ NextKeys::Listed(_) if done.is_empty() => all,
                    NextKeys::Listed(all) if !self.search.key_list(all).excludes => {
                        let done: HashSet<TextId> = done.iter().copied().collect();
                        let all = &self.search.key_list(all).names;
                        let left = all.iter().copied().filter(|name| !done.contains(name)).collect();
                        self.search.listed(left, false, listed)?
                    }
                    _ => {
                        let done = (done.to_vec(), false);
                        self.search.next_keys_after(frame.formulas[0], &ahead, done, listed)?
                    }
                }
            }
        };
        self.search.object_memo.first_keys.insert(place, names);
        Ok(names)
    }

    /// The keys that an independent-key object can have, whatever their order, before any has been seen.
    fn keys_in_any_order(&mut self, formula: FormulaId, listed: &[TextId]) -> Result<NextKeys, AutomatonError> {
        let place = (formula, self.search.algebra.orders.intern(Vec::new()), 0);
        if let Some(&known) = self.search.object_memo.first_keys.get(&place) {
            return Ok(known);
        }
        let names = self.search.next_keys_after(formula, &[], (Vec::new(), false), listed)?;
        self.search.object_memo.first_keys.insert(place, names);
        Ok(names)
    }
}
