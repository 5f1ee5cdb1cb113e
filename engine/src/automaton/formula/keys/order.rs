//! The prescribed order of an object's keys, where the style keeps the schema's own order.
//!
//! An object remembers how far its declared keys have come. A key that is skipped is decided as absent there and then,
//! so no other part of the automaton needs to know about orders.
//!
//! [Alternatives](super::declared) whose orders can be merged have one order. Others are [rivals](Rival): the object
//! remembers for each of their orders the position reached and the residual formula of the members to come, and a key may come
//! if it may come next in one of them. An order is dropped when no alternative is left that has it, and as soon as those
//! that are left can be merged, the object has one order again. So each value that an alternative admits has a text in
//! that alternative's order.

use super::orders::{Alternative, Ordered, first_listed, merged};
use crate::KeyOrder;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, AssertionId, AtomKind, FormulaId, Keys, MemberKey, OrderId, Rival, TextId};
use hashbrown::{HashMap, HashSet};
use std::sync::Arc;

/// Number of orders of which a document may keep any. An object remembers its progress in each. The unions of public schemas have
/// at most a few orders that disagree.
const MAX_RIVALS: usize = 64;

/// Number of atoms, counted once for each alternative that they are repeated for, up to which a condition is repeated for each
/// alternative of an order. Repeated, it can become simpler for each; larger, it would grow with the square of the schema.
const MAX_DISTRIBUTED_ATOMS: usize = 1 << 14;

impl Algebra {
    /// The alternatives of an object with these assertions.
    pub(crate) fn alternatives_of(&mut self, asked: &Ordered) -> Result<Vec<Alternative>, AutomatonError> {
        let mut alternatives = vec![Alternative::nothing()];
        for &assertion in &asked.all {
            let more = self.alternatives(assertion)?.to_vec();
            alternatives = self.combined_alternatives(alternatives, more);
        }
        if !asked.others.is_empty() {
            for &assertion in &asked.others {
                self.alternatives(assertion)?;
            }
            let mut either = self.either(&asked.others)?;
            if !asked.satisfies_other && !either.is_empty() {
                either = vec![Alternative::taken_for_one(&either)];
            }
            alternatives = self.combined_alternatives(alternatives, either);
        }
        Ok(alternatives)
    }

    /// Whether alternatives disagree so much that the order of the keys in an object may be that of none of them.
    pub(crate) fn is_order_mixed(&self, alternatives: &[Alternative]) -> bool {
        self.style.key_order == KeyOrder::Schema
            && (alternatives.iter().any(|one| one.is_mixed)
                || alternatives.len() > MAX_RIVALS && groups_by_order(alternatives.to_vec()).1)
    }

    /// The order of the keys in an object for which one of some alternatives holds. `narrows` says that the alternatives ask
    /// for more than the object has to satisfy.
    pub(crate) fn order_among(&mut self, alternatives: Vec<Alternative>, narrows: bool) -> OrderId {
        let groups = match self.style.key_order {
            KeyOrder::Any => vec![(Vec::new(), alternatives)],
            KeyOrder::Schema => groups_by_order(alternatives).0,
        };
        let mut rivals = Vec::with_capacity(groups.len());
        for (mut names, alternatives) in groups {
            if self.style.key_order == KeyOrder::Schema {
                // Keys that are required and not declared have no place of their own.
                let required = alternatives.iter().map(|one| &one.required[..]);
                names = first_listed(std::iter::once(&names[..]).chain(required));
            }
            let demand = self.formulas.or(alternatives.iter().map(|one| one.demand));
            rivals.push((names, demand));
        }
        if let [(names, demand)] = &mut rivals[..] {
            let names = std::mem::take(names);
            return match narrows {
                true => self.orders.intern_narrowing(names, *demand),
                false => self.orders.intern(names),
            };
        }
        let rivals = rivals.into_iter().map(|(names, demand)| Rival {
            demand,
            order: self.orders.intern(names),
            passed: 0,
        });
        let rivals = rivals.collect();
        match narrows {
            true => self.orders.add_rivals(rivals),
            false => self.orders.intern_rivals(rivals),
        }
    }

    /// The condition that an object which no subschema opens to further keys has only those that are declared.
    pub(crate) fn closing(&mut self, alternative: &Alternative) -> Result<FormulaId, AutomatonError> {
        if alternative.speaks_of_others || !alternative.is_of_objects {
            return Ok(FormulaId::TRUE);
        }
        let mut names = first_listed([&alternative.names[..], &alternative.required]);
        names.sort_unstable();
        let all = self.languages.any();
        let others = self.without_keys(all, &names)?;
        let texts: Vec<Arc<str>> = names.iter().map(|name| self.texts.shared(*name)).collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        self.note_enumerated_keys(others, &texts);
        Ok(self.members(Keys::Language(others), AssertionId::NOTHING))
    }

    /// The condition that an object has all members that are declared, as far as they may be asked for.
    pub(crate) fn having_all(&mut self, alternative: &Alternative) -> FormulaId {
        let names = alternative.wanted.iter();
        let parts: Vec<FormulaId> = names.map(|name| self.atom(AtomKind::Has(*name))).collect();
        self.formulas.and(parts)
    }

    /// The order that an object begins with, given the order planned for it and the condition on it; and that condition
    /// with the one that the order adds.
    pub(crate) fn begin_order(&mut self, planned: OrderId, demand: FormulaId) -> (OrderId, FormulaId) {
        let rivals = self.orders.rivals(planned).clone();
        if rivals.is_empty() {
            let narrowing = self.orders.narrowing(planned);
            if narrowing == FormulaId::TRUE {
                return (planned, demand);
            }
            let names = self.orders.orders[planned.0 as usize].to_vec();
            let demand = self.narrowed_by_any(demand, narrowing);
            return (self.orders.intern(names), demand);
        }
        let mut begun = Vec::with_capacity(rivals.len());
        for rival in rivals.iter() {
            let demand = self.narrowed_by_any(demand, rival.demand);
            if demand != FormulaId::FALSE {
                begun.push(Rival { demand, ..*rival });
            }
        }
        let (order, _, demand) = self.settled(begun, &[]);
        (order, demand)
    }

    /// The conjunction of a formula with a disjunction, as a disjunction unless that would be too large.
    fn narrowed_by_any(&mut self, formula: FormulaId, by: FormulaId) -> FormulaId {
        let parts = self.formulas.disjuncts(&by).to_vec();
        if parts.len() * self.formulas.atoms(formula).len() > MAX_DISTRIBUTED_ATOMS {
            return self.narrowed(formula, by);
        }
        let parts: Vec<FormulaId> = parts.into_iter().map(|part| self.narrowed(formula, part)).collect();
        self.formulas.or(parts)
    }

    /// The conjunction of two formulas, without those parts of the first that the second visibly implies.
    pub(crate) fn narrowed(&mut self, formula: FormulaId, by: FormulaId) -> FormulaId {
        let own: HashSet<FormulaId> = self.formulas.conjuncts(&by).iter().copied().collect();
        let alternatives = self.formulas.disjuncts(&by);
        let is_implied = |part: &FormulaId| {
            let ways = self.formulas.disjuncts(part);
            // Usually the second formula is one of the alternatives that the first leaves.
            let implies = |way: &FormulaId| self.formulas.conjuncts(way).iter().all(|one| own.contains(one));
            let is_among_ways = |one: &FormulaId| ways.binary_search(one).is_ok();
            alternatives.iter().all(is_among_ways) || ways.iter().any(implies)
        };
        let parts = self.formulas.conjuncts(&formula).iter().copied();
        let mut parts: Vec<FormulaId> = match formula {
            FormulaId::FALSE => return FormulaId::FALSE,
            _ => parts.filter(|part| !is_implied(part)).collect(),
        };
        parts.push(by);
        self.formulas.and(parts)
    }

    /// Returns the order of an object that keeps one of some rival orders, the number of its keys that have been read or skipped,
    /// and the condition on the members to come; `seen` are the keys that have been read.
    pub(crate) fn settled(&mut self, rivals: Vec<Rival>, seen: &[TextId]) -> (OrderId, u32, FormulaId) {
        match rivals[..] {
            [] => return (self.orders.intern(Vec::new()), 0, FormulaId::FALSE),
            [one] => return (one.order, one.passed, one.demand),
            _ => {}
        }
        let demand = self.formulas.or(rivals.iter().map(|rival| rival.demand));
        let lists = rivals.iter().map(|rival| {
            let names = &self.orders.orders[rival.order.0 as usize];
            names.split_at(rival.passed as usize)
        });
        let Some(ahead) = merged(lists.clone().map(|(_, ahead)| ahead)) else {
            return (self.orders.intern_rivals(rivals), 0, demand);
        };
        // A key that one order skips may be one that another does not declare, and that may come after all others.
        let mut counts: HashMap<TextId, usize> = HashMap::new();
        lists.for_each(|(done, _)| done.iter().for_each(|name| *counts.entry(*name).or_default() += 1));
        let is_done = |(name, count): &(TextId, usize)| *count == rivals.len() || seen.contains(name);
        let mut names: Vec<TextId> = counts.into_iter().filter(is_done).map(|(name, _)| name).collect();
        names.sort_unstable();
        let passed = names.len() as u32;
        names.extend(ahead);
        (self.orders.intern(names), passed, demand)
    }

    /// The orders that a document may still keep if a member with this key comes.
    pub(crate) fn rivals_at_key(&mut self, rivals: &[Rival], name: TextId) -> Vec<Rival> {
        let mut left = Vec::with_capacity(rivals.len());
        for rival in rivals {
            let done = &self.orders.orders[rival.order.0 as usize][..rival.passed as usize];
            if done.contains(&name) {
                continue;
            }
            let (over, passed) = self.passed_over(rival.order, rival.passed, name);
            let mut parts = vec![self.without_all(rival.demand, &over)];
            for name in over {
                let has = self.atom(AtomKind::Has(name));
                parts.push(self.formulas.not(has));
            }
            let demand = self.formulas.and(parts);
            if demand != FormulaId::FALSE {
                left.push(Rival {
                    demand,
                    passed,
                    ..*rival
                });
            }
        }
        left
    }

    /// The orders that a document may still keep after a member whose value has these verdicts.
    pub(crate) fn rivals_after_member(
        &mut self,
        rivals: &[Rival],
        name: TextId,
        verdict: &dyn Fn(AssertionId) -> bool,
    ) -> Result<Vec<Rival>, AutomatonError> {
        let mut left = Vec::with_capacity(rivals.len());
        for rival in rivals {
            let demand = self.after_member(rival.demand, MemberKey::Known(name), verdict)?;
            if demand != FormulaId::FALSE {
                left.push(Rival { demand, ..*rival });
            }
        }
        Ok(left)
    }

    /// The keys of an order without the first `passed`.
    pub(crate) fn ordered(&self, order: OrderId, passed: u32) -> Arc<[TextId]> {
        let names = &self.orders.orders[order.0 as usize];
        match passed {
            0 => names.clone(),
            _ => names[passed as usize..].into(),
        }
    }

    /// The keys that are skipped if `name` comes next, and the number of keys of the order that are read or skipped
    /// then.
    pub(crate) fn passed_over(&self, order: OrderId, passed: u32, name: TextId) -> (Vec<TextId>, u32) {
        let rest = &self.orders.orders[order.0 as usize][passed as usize..];
        let place = rest.iter().position(|one| *one == name);
        let over = rest[..place.unwrap_or(rest.len())].to_vec();
        let read = over.len() + usize::from(place.is_some());
        (over, passed + read as u32)
    }

    /// The residual of `formula` if no members with these keys come.
    pub(crate) fn without_all(&mut self, formula: FormulaId, names: &[TextId]) -> FormulaId {
        if names.is_empty() {
            return formula;
        }
        let names: HashSet<TextId> = names.iter().copied().collect();
        let atoms = &self.atoms;
        self.formulas.substitute(formula, &mut |atom| match atoms.kind(atom) {
            AtomKind::Has(name) if names.contains(&name) => Some(FormulaId::FALSE),
            AtomKind::Members(Keys::Name(name), _) if names.contains(&name) => Some(FormulaId::TRUE),
            _ => None,
        })
    }
}

/// Alternatives whose orders can be merged, with the merged order.
type Group = (Vec<TextId>, Vec<Alternative>);

/// Groups alternatives so that the orders within a group can be merged; returns as well whether there would be too many groups. In that case
/// the last group has alternatives whose orders cannot be merged, and each key stands where it is listed first.
fn groups_by_order(alternatives: Vec<Alternative>) -> (Vec<Group>, bool) {
    if let Some(names) = merged(alternatives.iter().map(|one| &one.names[..])) {
        return (vec![(names, alternatives)], false);
    }
    let (mut groups, mut are_too_many): (Vec<Group>, bool) = (Vec::new(), false);
    for alternative in alternatives {
        let with = |group: &[Alternative]| merged(group.iter().chain([&alternative]).map(|one| &one.names[..]));
        let joined = groups
            .iter()
            .enumerate()
            .find_map(|(place, (_, group))| Some((place, with(group)?)));
        match joined {
            Some((place, names)) => {
                groups[place].0 = names;
                groups[place].1.push(alternative);
            }
            None if groups.len() == MAX_RIVALS => {
                tracing::trace!("too many orders of keys disagree: some keys come where they are listed first");
                are_too_many = true;
                let (names, group) = &mut groups[MAX_RIVALS - 1];
                *names = first_listed([&names[..], &alternative.names]);
                group.push(alternative);
            }
            None => groups.push((alternative.names.clone(), vec![alternative])),
        }
    }
    (groups, are_too_many)
}
