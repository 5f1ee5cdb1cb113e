//! The prescribed order of an object's keys, where the style keeps the schema's own order.
//!
//! An object remembers how far its declared keys have come. A key that is skipped is decided as absent there and then,
//! so no other part of the automaton needs to know about orders.

use crate::KeyOrder;
use crate::automaton::formula::{Algebra, Assertion, AssertionId, AtomKind, FormulaId, Keys, OrderId, TextId};
use crate::json::Shape;
use crate::schema::Body;
use hashbrown::HashSet;
use std::sync::Arc;

impl Algebra {
    /// The order of the keys in an object that is judged by these assertions; empty if any order is allowed.
    pub(crate) fn order_for(&mut self, assertions: &[AssertionId]) -> OrderId {
        if self.style.key_order == KeyOrder::Any {
            return self.orders.intern(Vec::new());
        }
        if let Some(&known) = self.orders.of.get(assertions) {
            return known;
        }
        let names = self.declared(assertions);
        let order = self.orders.intern(names);
        self.orders.of.insert(assertions.into(), order);
        order
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

    /// The keys that the subschemas of some assertions declare, in their order: `properties` before `required`, and a
    /// subschema's own keys before those of the subschemas that it applies to the same value.
    fn declared(&mut self, assertions: &[AssertionId]) -> Vec<TextId> {
        let schema = self.schema.clone();
        let (mut names, mut listed) = (Vec::new(), HashSet::new());
        let mut visited = HashSet::new();
        let mut left: Vec<AssertionId> = assertions.iter().rev().copied().collect();
        while let Some(assertion) = left.pop() {
            if !visited.insert(assertion) {
                continue;
            }
            let mut list = |name: TextId| {
                if listed.insert(name) {
                    names.push(name);
                }
            };
            match self.assertions.get(assertion) {
                Assertion::Anything | Assertion::Nothing => {}
                Assertion::AnyOf(assertions) => left.extend(assertions.iter().rev()),
                Assertion::Equal(_) | Assertion::Text(_) | Assertion::Array(_) => {}
                Assertion::Object(members) => members.iter().for_each(|(name, _)| list(*name)),
                Assertion::Node(node) => {
                    let Body::Keywords(keywords) = &schema.node(*node).body else {
                        continue;
                    };
                    let properties = keywords.properties.iter().map(|(name, _)| name);
                    for name in properties.chain(&keywords.required) {
                        list(self.texts.intern(name));
                    }
                    let (condition, then, otherwise) = match keywords.if_then_else {
                        Some((condition, then, otherwise)) => (Some(condition), then, otherwise),
                        None => (None, None, None),
                    };
                    let applied = keywords.all_of.iter().chain(&keywords.refs).copied();
                    let applied = applied.chain(keywords.any_of.iter().flatten().copied());
                    let applied = applied.chain(keywords.one_of.iter().flatten().copied());
                    let applied = applied.chain(condition).chain(then).chain(otherwise);
                    let applied = applied.chain(keywords.dependent_schemas.iter().map(|(_, schema)| *schema));
                    let applied: Vec<_> = applied.collect();
                    for node in applied.into_iter().rev() {
                        left.push(self.assertion_of(node));
                    }
                    if let Some(values) = &keywords.values {
                        for value in values {
                            let value = value.as_ref();
                            if let Shape::Object(_) = value.shape() {
                                for (name, _) in value.members() {
                                    list(self.texts.intern(name));
                                }
                            }
                        }
                    }
                }
            }
        }
        names
    }
}
