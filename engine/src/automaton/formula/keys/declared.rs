//! The keys that subschemas declare for an object, in the order in which they are written.
//!
//! Keywords of a subschema that are about the same object (`properties`, `allOf`, `$ref`, `anyOf` and so on) declare their
//! keys one after the other, as they stand in the schema's text. The branches of `anyOf`, `oneOf` and `if` are
//! [alternatives](Alternative) of each other, each with an order of its own; they are told apart only as far as this makes
//! a difference.

use super::orders::{Alternative, first_listed, merged};
use crate::CompileError;
use crate::automaton::formula::{Algebra, Assertion, AssertionId, FormulaId, TextId};
use crate::json::Shape;
use crate::schema::{Body, Keywords, NodeId, TypeSet};
use hashbrown::HashSet;
use std::sync::Arc;

/// Number of alternatives that an object has at most; where there would be more, they are taken for one.
const MAX_ALTERNATIVES: usize = 1 << 10;

/// Number of alternatives that are told apart where alternatives of several keywords combine.
const MAX_COMBINED: usize = 64;

/// Number of keys in the alternatives of all assertions together. References can repeat the same keys in every subschema;
/// keys beyond this number are taken for undeclared.
const MAX_LISTED: usize = 1 << 20;

/// One or several keywords of a subschema that declare keys of an object.
enum Part {
    /// The keyword `properties`, which declares its keys.
    Own,
    /// The keywords `const` and `enum`, which declare the keys of the objects in them.
    Values,
    /// Subschemas that all apply to the object, as those of `allOf` and `$ref`: it has the keys of each.
    All(Vec<NodeId>),
    /// Subschemas of which one at least applies to the object, as those of `anyOf`: each is an alternative.
    Either(Vec<NodeId>),
    /// Subschemas that each may or may not apply to the object, as those of `dependentSchemas`.
    Some(Vec<NodeId>),
    /// The subschemas of `if`, `then` and `else`, in this order: the object has the keys of `if` and of one of the others.
    If(NodeId, Option<NodeId>, Option<NodeId>),
}

impl Algebra {
    /// The alternatives of an object that satisfies an assertion, with the keys that each declares.
    pub(super) fn alternatives(&mut self, assertion: AssertionId) -> Result<Arc<[Alternative]>, CompileError> {
        // Each assertion is looked at after those that it is made of; the path holds those that wait for others.
        let (mut path, mut entered) = (vec![assertion], HashSet::new());
        while let Some(&next) = path.last() {
            if self.orders.alternatives.contains_key(&next) {
                path.pop();
            } else if entered.insert(next) {
                let parts = self.parts(next);
                path.extend(parts.into_iter().filter(|part| !entered.contains(part)));
            } else {
                let alternatives = self.find_alternatives(next)?;
                self.orders.listed += alternatives.iter().map(|one| one.names.len() + 1).sum::<usize>();
                self.kept_cells += alternatives.iter().map(|one| one.names.len() + 4).sum::<usize>();
                self.orders.alternatives.insert(next, alternatives);
                if self.style.closed {
                    let meant = self.find_meant(next)?;
                    self.orders.meant.insert(next, meant);
                }
                path.pop();
            }
        }
        Ok(self.known_alternatives(assertion))
    }

    /// The alternatives of an assertion, as computed before.
    fn known_alternatives(&self, assertion: AssertionId) -> Arc<[Alternative]> {
        let known = self.orders.alternatives.get(&assertion);
        known.cloned().unwrap_or_else(|| Arc::from([Alternative::nothing()]))
    }

    fn find_alternatives(&mut self, assertion: AssertionId) -> Result<Arc<[Alternative]>, CompileError> {
        let node = match self.assertions.get(assertion).clone() {
            Assertion::Node(node) => node,
            Assertion::AnyOf(assertions) => return Ok(self.either(&assertions)?.into()),
            Assertion::Object(members) | Assertion::WrittenObject(members) => {
                let names = match self.orders.written.get(&assertion) {
                    Some(names) => names.to_vec(),
                    None => members.iter().map(|(name, _)| *name).collect(),
                };
                let alternative = Alternative {
                    names,
                    ..Alternative::nothing()
                };
                return Ok([alternative].into());
            }
            _ => return Ok([Alternative::nothing()].into()),
        };
        let schema = self.schema.clone();
        let Body::Keywords(keywords) = &schema.node(node).body else {
            return Ok([Alternative::nothing()].into());
        };
        let parts = self.parts_as_written(node, keywords);
        if let [Part::All(nodes)] = &parts[..]
            && let [target] = nodes[..]
            && keywords.required.is_empty()
            && !keywords.speak_of_objects()
            && !keywords.speak_of_other_keys()
        {
            let target = self.assertion_of(target);
            return Ok(self.known_alternatives(target));
        }
        let mut all = vec![Alternative {
            required: self.names_required(keywords),
            speaks_of_others: keywords.speak_of_other_keys(),
            is_of_objects: keywords.speak_of_objects(),
            ..Alternative::nothing()
        }];
        for part in parts {
            match part {
                Part::Own => {
                    let mut own = Alternative::nothing();
                    for (name, node) in &keywords.properties {
                        let name = self.texts.intern(name);
                        own.names.push(name);
                        if self.style.all_required && self.can_have_all_members(*node) {
                            own.wanted.push(name);
                        }
                    }
                    all = self.combined_alternatives(all, vec![own]);
                }
                Part::Values => {
                    let mut either = Vec::new();
                    for value in keywords.values.iter().flatten() {
                        if !matches!(value.as_ref().shape(), Shape::Object(_)) {
                            continue;
                        }
                        for value in self.as_written(node, value.as_ref()) {
                            let demand = self.constraint(value)?.objects;
                            let written = self.find_alternatives(value)?;
                            either.extend(written.iter().map(|one| Alternative { demand, ..one.clone() }));
                        }
                    }
                    all = self.combined_alternatives(all, either);
                }
                Part::All(nodes) => {
                    let mut lists = vec![all];
                    for node in nodes {
                        let part = self.assertion_of(node);
                        lists.push(self.known_alternatives(part).to_vec());
                    }
                    all = self.all_combined(lists);
                }
                Part::Some(nodes) => {
                    for node in nodes {
                        let part = self.assertion_of(node);
                        let part = Alternative {
                            wanted: Vec::new(),
                            ..Alternative::taken_for_one(&self.known_alternatives(part))
                        };
                        all = self.combined_alternatives(all, vec![part]);
                    }
                }
                Part::Either(nodes) => {
                    let branches: Vec<AssertionId> = nodes.into_iter().map(|node| self.assertion_of(node)).collect();
                    let either = self.either(&branches)?;
                    all = self.combined_alternatives(all, either);
                }
                Part::If(condition, then, otherwise) => {
                    let condition = self.assertion_of(condition);
                    let holds = self.constraint(condition)?.objects;
                    let fails = self.formulas.not(holds);
                    // The subschema of `if` only asks, so that its keys are those of both branches.
                    let asked = self.known_alternatives(condition);
                    let asked = Alternative {
                        speaks_of_others: false,
                        wanted: Vec::new(),
                        ..Alternative::taken_for_one(&asked)
                    };
                    all = self.combined_alternatives(all, vec![asked]);
                    let mut either = Vec::new();
                    for (when, branch) in [(holds, then), (fails, otherwise)] {
                        let branch = branch.map_or(AssertionId::ANYTHING, |branch| self.assertion_of(branch));
                        self.add_branch(when, branch, &mut either)?;
                    }
                    all = self.combined_alternatives(all, either);
                }
            }
        }
        Ok(all.into())
    }

    /// The parts of a subschema that declare keys, in the order in which they are written.
    fn parts_as_written(&self, node: NodeId, keywords: &Keywords) -> Vec<Part> {
        let mut parts = Vec::new();
        if !keywords.properties.is_empty() {
            parts.push((Part::Own, &["properties"][..]));
        }
        if keywords.values.is_some() {
            parts.push((Part::Values, &["const", "enum"]));
        }
        if !keywords.all_of.is_empty() {
            parts.push((Part::All(keywords.all_of.clone()), &["allOf"]));
        }
        if !keywords.refs.is_empty() {
            let words = &["$ref", "$dynamicRef", "$recursiveRef"];
            parts.push((Part::All(keywords.refs.clone()), words));
        }
        if let Some(branches) = &keywords.any_of {
            parts.push((Part::Either(branches.clone()), &["anyOf"]));
        }
        if let Some(branches) = &keywords.one_of {
            parts.push((Part::Either(branches.clone()), &["oneOf"]));
        }
        if let Some((condition, then, otherwise)) = keywords.if_then_else
            && (then.is_some() || otherwise.is_some())
        {
            parts.push((Part::If(condition, then, otherwise), &["if"]));
        }
        if !keywords.dependent_schemas.is_empty() {
            let dependent = keywords.dependent_schemas.iter().map(|(_, schema)| *schema);
            parts.push((Part::Some(dependent.collect()), &["dependentSchemas", "dependencies"]));
        }
        if parts.len() > 1 {
            let (json, index) = self.schema.json(self.schema.node(node).location);
            let place = |words: &[&str]| json.members(index).position(|(name, _)| words.contains(&name));
            parts.sort_by_cached_key(|(_, words)| place(words).unwrap_or(usize::MAX));
        }
        parts.into_iter().map(|(part, _)| part).collect()
    }

    /// The keys that a subschema requires, or names as dependent on others.
    fn names_required(&mut self, keywords: &Keywords) -> Vec<TextId> {
        let dependent = keywords.dependent_required.iter();
        let dependent = dependent.flat_map(|(name, others)| std::iter::once(name).chain(others));
        let dependent = dependent.chain(keywords.dependent_schemas.iter().map(|(name, _)| name));
        let names = keywords.required.iter().chain(dependent);
        names.map(|name| self.texts.intern(name)).collect()
    }

    /// The alternatives of an object that satisfies at least one of these assertions, whose own alternatives have been computed before.
    pub(super) fn either(&mut self, branches: &[AssertionId]) -> Result<Vec<Alternative>, CompileError> {
        let mut either = Vec::new();
        for &branch in branches {
            self.add_branch(FormulaId::TRUE, branch, &mut either)?;
        }
        Ok(either)
    }

    /// Adds the alternatives of an object that satisfies an assertion and this formula.
    fn add_branch(
        &mut self,
        when: FormulaId,
        branch: AssertionId,
        either: &mut Vec<Alternative>,
    ) -> Result<(), CompileError> {
        let objects = self.constraint(branch)?.objects;
        let objects = self.formulas.and([when, objects]);
        if objects == FormulaId::FALSE {
            return Ok(());
        }
        let own = self.known_alternatives(branch);
        for one in own.iter() {
            let demand = self.narrowed(objects, one.demand);
            either.push(Alternative { demand, ..one.clone() });
        }
        Ok(())
    }

    /// The alternatives of an object that satisfies one of each of some lists, of which the first is written first. Neighbours are
    /// combined pair by pair, so that keys are copied a logarithmic number of times.
    fn all_combined(&mut self, mut lists: Vec<Vec<Alternative>>) -> Vec<Alternative> {
        while lists.len() > 1 {
            let mut left = lists.into_iter();
            lists = Vec::new();
            while let Some(one) = left.next() {
                lists.push(match left.next() {
                    Some(other) => self.combined_alternatives(one, other),
                    None => one,
                });
            }
        }
        lists.pop().unwrap_or_else(|| vec![Alternative::nothing()])
    }

    /// The alternatives of an object that satisfies one of `all` and one of `more`, which are written behind them.
    pub(super) fn combined_alternatives(
        &mut self,
        mut all: Vec<Alternative>,
        mut more: Vec<Alternative>,
    ) -> Vec<Alternative> {
        let makes_no_difference = |more: &[Alternative]| {
            let first = &more[0];
            more.iter()
                .all(|one| one.names.is_empty() && one.speaks_of_others == first.speaks_of_others)
        };
        if more.is_empty() {
            return all;
        }
        if more.len() > 1 && (more.len() > MAX_ALTERNATIVES || makes_no_difference(&more)) {
            more = vec![Alternative::taken_for_one(&more)];
        }
        if all.len() > 1 && more.len() > 1 {
            for list in [&mut more, &mut all] {
                let is_merged = !self.style.closed && !self.style.all_required;
                let can_merge = is_merged && merged(list.iter().map(|one| &one.names[..])).is_some();
                if can_merge {
                    *list = vec![Alternative::taken_for_one(list)];
                }
            }
        }
        if all.len() > 1 && more.len() > 1 && all.len() * more.len() > MAX_COMBINED {
            tracing::trace!("alternatives of several keywords are too many to keep an order each");
            more = vec![Alternative::taken_for_one(&more)];
        }
        let cells = |list: &[Alternative]| list.iter().map(|one| one.names.len() + 1).sum::<usize>();
        let cost = cells(&all) * more.len() + cells(&more) * all.len();
        if self.orders.listed + cost > MAX_LISTED {
            all.iter_mut().for_each(|one| one.is_mixed = true);
            return all;
        }
        let mut combined = Vec::with_capacity(all.len() * more.len());
        for one in &all {
            for other in &more {
                let demand = self.formulas.and([one.demand, other.demand]);
                if demand != FormulaId::FALSE {
                    combined.push(Alternative {
                        demand,
                        names: first_listed([&one.names[..], &other.names]),
                        required: first_listed([&one.required[..], &other.required]),
                        wanted: first_listed([&one.wanted[..], &other.wanted]),
                        speaks_of_others: one.speaks_of_others || other.speaks_of_others,
                        is_of_objects: one.is_of_objects || other.is_of_objects,
                        is_mixed: one.is_mixed || other.is_mixed,
                    });
                }
            }
        }
        match combined.is_empty() {
            true => vec![Alternative::taken_for_one(&all)],
            false => combined,
        }
    }
}

impl Alternative {
    /// The only alternative of an assertion that declares no keys.
    pub(super) fn nothing() -> Self {
        Self {
            demand: FormulaId::TRUE,
            names: Vec::new(),
            required: Vec::new(),
            wanted: Vec::new(),
            speaks_of_others: false,
            is_of_objects: false,
            is_mixed: false,
        }
    }

    /// Returns one alternative in the place of several, which declares the keys of all of them, in an order that agrees with all
    /// of theirs if there is one.
    pub(super) fn taken_for_one(alternatives: &[Self]) -> Self {
        let names = || alternatives.iter().map(|one| &one.names[..]);
        let is_wanted_by_all = |name: &TextId| alternatives.iter().all(|one| one.wanted.contains(name));
        let wanted = alternatives.first().map(|one| one.wanted.iter().copied());
        let order = merged(names());
        Self {
            demand: FormulaId::TRUE,
            is_mixed: order.is_none() || alternatives.iter().any(|one| one.is_mixed),
            names: order.unwrap_or_else(|| first_listed(names())),
            required: first_listed(alternatives.iter().map(|one| &one.required[..])),
            wanted: wanted.into_iter().flatten().filter(is_wanted_by_all).collect(),
            speaks_of_others: alternatives.iter().any(|one| one.speaks_of_others),
            is_of_objects: alternatives.iter().any(|one| one.is_of_objects),
        }
    }
}

impl Keywords {
    /// Whether a keyword beside `properties` says which keys there may be.
    pub(crate) fn speak_of_other_keys(&self) -> bool {
        self.additional_properties.is_some()
            || self.unevaluated_properties.is_some()
            || self.property_names.is_some()
            || !self.pattern_properties.is_empty()
    }

    /// Whether a keyword is about objects.
    fn speak_of_objects(&self) -> bool {
        self.types.is_some_and(|types| types.contains(TypeSet::OBJECT))
            || !self.properties.is_empty()
            || !self.required.is_empty()
            || self.min_properties.is_some()
            || self.max_properties.is_some()
            || !self.dependent_required.is_empty()
            || !self.dependent_schemas.is_empty()
    }
}
