//! The order of keys planned for an object that meets an expectation, and the types that a value is meant to have.

use crate::KeyOrder;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Alternative, AssertionId, Constraint, FormulaId, MeantTypes, OrderId, Ordered};
use crate::automaton::search::{ExpectationId, Search};

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

    /// The order that is planned for the keys of an object that satisfies all of these assertions.
    pub(crate) fn order_for(&mut self, assertions: &[AssertionId]) -> Result<OrderId, AutomatonError> {
        self.order_of(Ordered {
            all: assertions.into(),
            others: [].into(),
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
            order = self.narrowed_order(order, &mut alternatives, closing)?;
        }
        if style.all_required {
            let having_all = |this: &mut Self, one: &Alternative| Ok(this.algebra.having_all(one));
            order = self.narrowed_order(order, &mut alternatives, having_all)?;
        }
        self.algebra.orders.of.insert(asked, order);
        Ok(order)
    }

    /// Returns an order in which each alternative carries the additional demand that `more` gives for it, where that is possible. Objects that
    /// cannot meet the whole demand fall back to `order`.
    fn narrowed_order(
        &mut self,
        order: OrderId,
        alternatives: &mut [Alternative],
        more: impl Fn(&mut Self, &Alternative) -> Result<FormulaId, AutomatonError>,
    ) -> Result<OrderId, AutomatonError> {
        let mut narrows = false;
        for alternative in &mut *alternatives {
            let more = more(self, alternative)?;
            let demand = self.if_possible(alternative.demand, more)?;
            narrows |= demand != alternative.demand;
            alternative.demand = demand;
        }
        if !narrows {
            return Ok(order);
        }
        let narrowed = self.algebra.order_among(alternatives.to_vec(), true);
        self.algebra.orders.opened.insert(narrowed, order);
        Ok(narrowed)
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
