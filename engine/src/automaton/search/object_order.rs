//! The order of the keys in an object that meets an expectation, and the types that a value is meant to have.

use crate::KeyOrder;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Alternative, AssertionId, Constraint, FormulaId, MeantTypes, OrderId, Ordered};
use crate::automaton::search::{ExpectationId, Search};

impl Search {
    /// The order of the keys in an object with an expectation, and what it adds to the condition on the object.
    pub(crate) fn planned_order(&mut self, expected: ExpectationId) -> Result<OrderId, AutomatonError> {
        if let Some(&known) = self.object_memo.orders.get(&expected) {
            return Ok(known);
        }
        let asked = self.asked_of_objects(expected);
        let order = self.order_of(asked)?;
        self.object_memo.orders.insert(expected, order);
        Ok(order)
    }

    /// The order of the keys in an object that satisfies all of these assertions.
    pub(crate) fn order_for(&mut self, assertions: &[AssertionId]) -> Result<OrderId, AutomatonError> {
        self.order_of(Ordered {
            all: assertions.into(),
            others: [].into(),
            satisfies_other: false,
        })
    }

    /// The order of the keys in an object with these assertions; empty if any order is allowed.
    fn order_of(&mut self, asked: Ordered) -> Result<OrderId, AutomatonError> {
        let style = self.algebra.style;
        if style.key_order == KeyOrder::Any && !style.closed && !style.all_required {
            return Ok(self.algebra.orders.intern(Vec::new()));
        }
        if let Some(&known) = self.algebra.orders.of.get(&asked) {
            return Ok(known);
        }
        let mut alternatives = self.algebra.alternatives_of(&asked)?;
        if !style.closed && !style.all_required {
            let order = self.algebra.order_among(alternatives, false);
            self.algebra.orders.of.insert(asked, order);
            return Ok(order);
        }
        let opened = self.algebra.order_among(alternatives.clone(), false);
        let mut narrows = false;
        for alternative in &mut alternatives {
            let demand = self.demand_in_style(alternative)?;
            narrows |= demand != alternative.demand;
            alternative.demand = demand;
        }
        let mut order = opened;
        if narrows {
            order = self.algebra.order_among(alternatives, true);
            self.algebra.orders.opened.insert(order, opened);
        }
        self.algebra.orders.of.insert(asked, order);
        Ok(order)
    }

    /// The condition of an alternative with as much of what the style asks for as some object has.
    fn demand_in_style(&mut self, alternative: &Alternative) -> Result<FormulaId, AutomatonError> {
        let style = self.algebra.style;
        let mut demand = alternative.demand;
        if style.closed {
            let closing = self.algebra.closing(alternative)?;
            demand = self.if_possible(demand, closing)?;
        }
        if style.all_required {
            let having_all = self.algebra.having_all(alternative);
            demand = self.if_possible(demand, having_all)?;
        }
        Ok(demand)
    }

    /// The conjunction of two conditions on an object if some object meets both, and the first alone otherwise.
    fn if_possible(&mut self, demand: FormulaId, more: FormulaId) -> Result<FormulaId, AutomatonError> {
        let both = self.algebra.formulas.and([demand, more]);
        Ok(if self.object_can_end(both, &[])? { both } else { demand })
    }

    /// The assertions by which an expectation tells the keys of objects and their order.
    fn asked_of_objects(&mut self, expected: ExpectationId) -> Ordered {
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
        let none: Vec<FormulaId> = forced
            .iter()
            .map(|verdict| FormulaId::constant(*verdict == Some(true)))
            .collect();
        let without_others = self
            .algebra
            .diagrams
            .formula(what.diagram, &none, &mut self.algebra.formulas);
        Ordered {
            all: all.into(),
            others: others.into(),
            satisfies_other: without_others == FormulaId::FALSE,
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

    /// The order in which an object begins that has a planned one, and the condition on the object in that order. The style
    /// narrows the object if some object is left then, or infinitely many if it has to differ from others.
    pub(crate) fn begin_object(
        &mut self,
        planned: OrderId,
        demand: FormulaId,
        must_differ: bool,
    ) -> Result<(OrderId, FormulaId), AutomatonError> {
        let opened = self.algebra.orders.opened(planned);
        if opened != planned {
            let (order, narrowed) = self.algebra.begin_order(planned, demand);
            let may_be_narrowed = match must_differ {
                true => self.is_infinite_object(narrowed, &[])?,
                false => self.object_can_end(narrowed, &[])?,
            };
            if may_be_narrowed {
                return Ok((order, narrowed));
            }
        }
        Ok(self.algebra.begin_order(opened, demand))
    }
}
