//! The order of keys planned for an object that meets an expectation, and the types that a value is meant to have.

use crate::KeyOrder;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Alternative, AssertionId, Constraint, FormulaId, MeantTypes, OrderId, Ordered};
use crate::automaton::search::{ExpectationId, Search};

/// Number of open assertions whose verdicts a style keeps possible.
const MAX_OPEN: usize = 64;

impl Search {
    /// The order that is planned for the keys of an object with an expectation, before the object begins.
    pub(crate) fn planned_order(&mut self, expected: ExpectationId) -> Result<OrderId, AutomatonError> {
        if let Some(&known) = self.object_memo.orders.get(&expected) {
            return Ok(known);
        }
        let asked = self.asked_of_objects(expected);
        let order = self.order_of(asked)?;
        self.object_memo.orders.insert(expected, order);
        Ok(order)
    }

    /// The order that is planned for the keys of an object that satisfies `all` and none of `none`, as that of a value whose verdicts of the latter
    /// are open.
    pub(crate) fn order_for(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<OrderId, AutomatonError> {
        let others = none.iter().copied().filter(|one| !self.algebra.is_value(*one));
        let others = others.collect();
        self.order_of(Ordered {
            all: all.into(),
            others,
            satisfies_other: false,
        })
    }

    /// The order that is planned for the keys of an object with these assertions; it has no keys if any order is allowed.
    fn order_of(&mut self, asked: Ordered) -> Result<OrderId, AutomatonError> {
        let style = self.algebra.style;
        if style.key_order == KeyOrder::Any && !style.closed && !style.all_required {
            return Ok(self.algebra.orders.intern(Vec::new()));
        }
        if let Some(&known) = self.algebra.orders.of.get(&asked) {
            return Ok(known);
        }
        let mut alternatives = self.algebra.alternatives_of(&asked)?;
        if self.algebra.is_order_mixed(&alternatives) {
            self.algebra.orders.mixed.insert(asked.clone());
        }
        let mut order = self.algebra.order_among(alternatives.clone(), false);
        if style.closed {
            let closing = |this: &mut Self, one: &Alternative| this.algebra.closing(one);
            order = self.narrowed_order(&asked, order, &mut alternatives, closing)?;
        }
        if style.all_required {
            let having_all = |this: &mut Self, one: &Alternative| Ok(this.algebra.having_all(one));
            order = self.narrowed_order(&asked, order, &mut alternatives, having_all)?;
        }
        self.algebra.orders.of.insert(asked, order);
        Ok(order)
    }

    /// Returns an order in which each alternative carries the additional demand that `more` gives for it, where that is possible. Objects that
    /// cannot meet the whole demand fall back to `order`; so do those that have a verdict of an open assertion that no other object would have.
    fn narrowed_order(
        &mut self,
        asked: &Ordered,
        order: OrderId,
        alternatives: &mut Vec<Alternative>,
        more: impl Fn(&mut Self, &Alternative) -> Result<FormulaId, AutomatonError>,
    ) -> Result<OrderId, AutomatonError> {
        let whole = alternatives.clone();
        let mut narrows = false;
        for alternative in alternatives.iter_mut() {
            let more = more(self, alternative)?;
            let demand = self.if_possible(alternative.demand, more)?;
            narrows |= demand != alternative.demand;
            alternative.demand = demand;
        }
        if !narrows {
            return Ok(order);
        }
        for verdict in self.values_by_verdict(asked)? {
            let mut can_have = |these: &[Alternative]| {
                let any = self.algebra.formulas.or(these.iter().map(|one| one.demand));
                let both = self.algebra.formulas.and([verdict.objects, any]);
                self.object_can_end(both, &[])
            };
            if !can_have(alternatives)? && can_have(&whole)? {
                for one in &whole {
                    let demand = self.algebra.formulas.and([one.demand, verdict.objects]);
                    alternatives.push(Alternative { demand, ..one.clone() });
                }
            }
        }
        let narrowed = self.algebra.order_among(alternatives.clone(), true);
        self.algebra.orders.opened.insert(narrowed, order);
        Ok(narrowed)
    }

    /// The values with each verdict of each assertion that is open, on which what is around the value may depend: an array may still need an
    /// item for `contains`. A value that has to satisfy one of the open assertions is not needed without one of them.
    fn values_by_verdict(&mut self, asked: &Ordered) -> Result<Vec<Constraint>, AutomatonError> {
        let mut found = Vec::new();
        for &assertion in asked.others.iter().take(MAX_OPEN) {
            let with = [&asked.all[..], &[assertion]].concat();
            found.push(self.algebra.combined(&with, &[])?);
            if !asked.satisfies_other {
                found.push(self.algebra.combined(&asked.all, &[assertion])?);
            }
        }
        Ok(found)
    }

    /// The conjunction of two conditions on an object if some object meets both, and the first alone otherwise.
    fn if_possible(&mut self, demand: FormulaId, more: FormulaId) -> Result<FormulaId, AutomatonError> {
        let both = self.algebra.formulas.and([demand, more]);
        Ok(if self.object_can_end(both, &[])? { both } else { demand })
    }

    /// The assertions by which an expectation tells the keys of objects and their order.
    fn asked_of_objects(&self, expected: ExpectationId) -> Ordered {
        let what = self.expected(expected);
        let forced = self.forced(&what);
        let (mut all, mut others) = (Vec::new(), Vec::new());
        for (assertion, verdict) in what.assertions.iter().zip(&forced) {
            match verdict {
                Some(true) => all.push(*assertion),
                Some(false) => {}
                None => others.push(*assertion),
            }
        }
        let without_others = |assertion: u32| forced[assertion as usize] == Some(true);
        Ordered {
            all: all.into(),
            others: others.into(),
            satisfies_other: !self.algebra.diagrams.admits(what.diagram, without_others),
        }
    }

    /// The types that a value with an expectation is meant to have, where the style closes objects.
    pub(crate) fn types_meant(&mut self, expected: ExpectationId) -> Result<MeantTypes, AutomatonError> {
        if let Some(&known) = self.object_memo.types_meant.get(&expected) {
            return Ok(known);
        }
        let asked = self.asked_of_objects(expected);
        let mut meant = self.types_meant_by_all(&asked.all)?;
        if asked.satisfies_other {
            for &assertion in &asked.others {
                self.algebra.meant_types(assertion)?;
            }
            meant = meant.and(self.algebra.meant_by_any(&asked.others)?);
        }
        if meant != MeantTypes::ALL {
            let constraint = self.constraint_of(expected)?;
            let as_meant = self.algebra.of_meant_types(constraint, meant);
            if !self.has_value(&as_meant)? {
                meant = MeantTypes::ALL;
            }
            for verdict in self.values_by_verdict(&asked)? {
                let as_meant = self.algebra.of_meant_types(verdict, meant);
                if !self.has_value(&as_meant)? && self.has_value(&verdict)? {
                    meant = MeantTypes::ALL;
                }
            }
        }
        self.object_memo.types_meant.insert(expected, meant);
        Ok(meant)
    }

    fn types_meant_by_all(&mut self, assertions: &[AssertionId]) -> Result<MeantTypes, AutomatonError> {
        let mut meant = MeantTypes::ALL;
        for &assertion in assertions {
            meant = meant.and(self.algebra.meant_types(assertion)?);
        }
        Ok(meant)
    }

    /// The constraint of values that satisfy some assertions, as those are meant where the style closes objects.
    pub(crate) fn as_meant(
        &mut self,
        constraint: Constraint,
        assertions: &[AssertionId],
    ) -> Result<Constraint, AutomatonError> {
        if !self.algebra.style.closed {
            return Ok(constraint);
        }
        let meant = self.types_meant_by_all(assertions)?;
        let as_meant = self.algebra.of_meant_types(constraint, meant);
        Ok(if self.has_value(&as_meant)? {
            as_meant
        } else {
            constraint
        })
    }

    /// The order that an object begins with, given the order planned for it and the condition on it; and that condition as
    /// far as the style narrows it. The style narrows an object as far as some object is left then, or infinitely many if the
    /// object has to differ from others.
    pub(crate) fn begin_object(
        &mut self,
        planned: OrderId,
        demand: FormulaId,
        must_differ: bool,
    ) -> Result<(OrderId, FormulaId), AutomatonError> {
        let mut planned = planned;
        loop {
            let opened = self.algebra.orders.opened(planned);
            let (order, narrowed) = self.algebra.begin_order(planned, demand);
            let is_possible = opened == planned
                || match must_differ {
                    true => self.is_infinite_object(narrowed, &[])?,
                    false => self.object_can_end(narrowed, &[])?,
                };
            if is_possible {
                return Ok((order, narrowed));
            }
            planned = opened;
        }
    }
}
