//! The verdicts on a member's value after which the object around it can be completed, as a decision diagram.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, DiagramId, FormulaId, MemberKey, TextId};
use crate::automaton::search::Search;

impl Search {
    /// The assertions that the value of the next member is judged by, and the diagram of the verdicts after which the
    /// object can be completed. The first of `formulas` is the demand on the object; the keys `used` cannot come again.
    pub(crate) fn decide_member(
        &mut self,
        formulas: &[FormulaId],
        name: MemberKey<'_>,
        used: &[TextId],
    ) -> Result<(Vec<AssertionId>, DiagramId), AutomatonError> {
        let assertions = self.algebra.assertions_of_member(formulas, name)?;
        let demand = formulas[0];
        if let Some(alternatives) = self.algebra.independent_alternatives(demand) {
            let mut ways = Vec::with_capacity(alternatives.len());
            for alternative in alternatives {
                ways.extend(self.member_of_independent(alternative, &assertions, name, used)?);
            }
            let diagram = match &ways[..] {
                [] => DiagramId::NEVER,
                [way] => self.algebra.diagrams.all_of(way),
                _ => self.any_of_ways(&ways)?,
            };
            return Ok((assertions, diagram));
        }
        let key = match name {
            MemberKey::Known(name) if self.has_no_scarce_names(demand)? => {
                Some((demand, name, assertions.clone().into_boxed_slice()))
            }
            _ => None,
        };
        if let Some(&known) = key.as_ref().and_then(|key| self.object_memo.decided.get(key)) {
            return Ok((assertions, known));
        }
        let read = self.algebra.read_by_member(demand, name)?;
        let verdicts = self.open_verdicts(assertions.len())?;
        let verdict = |assertion| match assertions.binary_search(&assertion) {
            Ok(place) => verdicts[place],
            Err(_) => FormulaId::FALSE,
        };
        let after = self.algebra.after_read_as(demand, &read, &verdict);
        let diagram = self.verdicts_to_object_end(after, &assertions, used)?;
        if let Some(key) = key.filter(|_| self.fixpoint.is_idle()) {
            self.object_memo.decided.insert(key, diagram);
        }
        Ok((assertions, diagram))
    }

    /// The indices of those of the assertions that the value of a member of an independent-key object has to satisfy; `None`
    /// if the member cannot come.
    fn member_of_independent(
        &mut self,
        formula: FormulaId,
        assertions: &[AssertionId],
        name: MemberKey<'_>,
        used: &[TextId],
    ) -> Result<Option<Vec<u32>>, AutomatonError> {
        let Some(plain) = self.algebra.independent_keys(formula) else {
            return Ok(None);
        };
        // The other members depend on this one only by their number.
        let needed = self.algebra.assertions_of_member(&[formula], name)?;
        let (can_come, others) = match name {
            MemberKey::Known(name) => {
                let others = used.iter().copied().filter(|one| *one != name).collect();
                (self.key_may_come(&plain, name)?, others)
            }
            MemberKey::In(_) => (plain.has_room_for_more(), used.to_vec()),
        };
        let can_come = can_come && self.object_can_end(formula, &others)?;
        if !can_come || !self.satisfiable(&needed, &[])? {
            return Ok(None);
        }
        let place = |assertion: &AssertionId| assertions.binary_search(assertion).ok();
        Ok(Some(
            needed.iter().filter_map(place).map(|place| place as u32).collect(),
        ))
    }
}
