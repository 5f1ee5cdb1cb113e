//! Assertions with finitely many values.
//!
//! The verdicts of many such assertions are found value by value instead of assertion by assertion: each of the values
//! satisfies only few of them, and all other values satisfy none. So the work grows with the number of values, not with
//! the number of combinations.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, Constraint, FormulaId};
use crate::automaton::search::search::Search;
use crate::json::{Shape, Value};
use crate::{numbers, strings};
use std::sync::Arc;

/// Number of values up to which an assertion counts as having few.
const MAX_VALUES: usize = 1 << 16;

/// Number of assertions with few values from which on it pays to split them off.
const ASSERTIONS_WORTH_SPLIT: usize = 4;

/// Number of pairs of a value and another assertion, each of which is a query, up to which it pays to split.
const MAX_COMPARED: usize = 1 << 20;

/// Number of values of an assertion up to which each is compared with those of another.
const FEW_VALUES: usize = 64;

/// Assertions, split into those with few values and the others.
pub(crate) struct FiniteSplit {
    /// Each value that satisfies one of the assertions with few values, with the indices of all assertions that it satisfies,
    /// sorted.
    pub(crate) known: Vec<(AssertionId, Vec<u32>)>,
    /// The indices of the assertions with few values.
    pub(crate) few: Vec<usize>,
    /// The indices of the other assertions.
    pub(crate) others: Vec<usize>,
}

impl Search {
    /// All values that satisfy an assertion, as sorted assertions of equality; `None` if there are many or if this does
    /// not show easily.
    pub(in crate::automaton::search) fn finite_values(
        &mut self,
        assertion: AssertionId,
    ) -> Result<Option<Arc<[AssertionId]>>, AutomatonError> {
        if let Some(known) = self.value_memo.finite.get(&assertion) {
            return Ok(known.clone());
        }
        let few = match self.algebra.assertions.get(assertion) {
            _ if self.algebra.is_value(assertion) => {
                // A value with a text that is left out is none.
                let is_left = !self.algebra.leaves_out_texts() || self.satisfiable(&[assertion], &[])?;
                Some(Arc::from(&[assertion][..usize::from(is_left)]))
            }
            _ => self.finite_scalars(assertion)?,
        };
        self.value_memo.finite.insert(assertion, few.clone());
        Ok(few)
    }

    /// Lists the values of an assertion if they are few, so that they are known from then on.
    pub(in crate::automaton::search) fn find_few_values(
        &mut self,
        assertion: AssertionId,
    ) -> Result<(), AutomatonError> {
        if self.value_memo.finite.contains_key(&assertion) {
            return Ok(());
        }
        let what = self.algebra.constraint(assertion)?;
        let what = self.algebra.written(what)?;
        if what.arrays != FormulaId::FALSE || what.objects != FormulaId::FALSE {
            return Ok(());
        }
        let most = FEW_VALUES as u64;
        let numbers = self.algebra.number_texts.sets_mut().cardinality(what.numbers, most)?;
        let strings = self.algebra.languages.cardinality(what.strings, most)?;
        if let (numbers::NumberCount::Exactly(_), strings::Cardinality::Finite(_)) = (numbers, strings) {
            self.finite_values(assertion)?;
        }
        Ok(())
    }

    /// Whether a value that satisfies all assertions of `all` satisfies another one, where this shows from the few values
    /// of one of them, as far as these are known.
    pub(in crate::automaton::search) fn implied_by_values(
        &self,
        all: impl Iterator<Item = AssertionId>,
        assertion: AssertionId,
    ) -> Option<bool> {
        let few = |assertion| self.value_memo.finite.get(&assertion)?.as_ref();
        let allowed = few(assertion)?;
        all.filter_map(few).find_map(|values| {
            let mut verdicts = values.iter().map(|value| allowed.binary_search(value).is_ok());
            let first = verdicts.next()?;
            (values.len() <= FEW_VALUES && verdicts.all(|verdict| verdict == first)).then_some(first)
        })
    }

    fn finite_scalars(&mut self, assertion: AssertionId) -> Result<Option<Arc<[AssertionId]>>, AutomatonError> {
        let what = self.algebra.constraint(assertion)?;
        let what = self.algebra.written(what)?;
        if what.arrays != FormulaId::FALSE || what.objects != FormulaId::FALSE {
            return Ok(None);
        }
        let most = MAX_VALUES as u64;
        if what.numbers.depends_on_spelling() {
            return Ok(None);
        }
        if let Some(values) = self.listed_scalars(assertion, what) {
            return Ok(Some(values.into()));
        }
        let numbers::NumberCount::Exactly(_) = self.algebra.number_texts.sets_mut().cardinality(what.numbers, most)?
        else {
            return Ok(None);
        };
        let strings::Cardinality::Finite(_) = self.algebra.languages.cardinality(what.strings, most)? else {
            return Ok(None);
        };
        // Values that take too many states to list are told apart by their constraint.
        let Ok(mut values) = self.scalars_of(what, MAX_VALUES) else {
            return Ok(None);
        };
        values.sort_unstable();
        Ok(Some(values.into()))
    }

    /// The sorted values, among those that the `const` or `enum` of an assertion lists, that satisfy its constraint, which has no arrays
    /// and objects; `None` if there is no such list, or if this does not show easily.
    fn listed_scalars(&mut self, assertion: AssertionId, what: Constraint) -> Option<Vec<AssertionId>> {
        let schema = self.algebra.schema.clone();
        let listed = self.algebra.values_in_schema(&schema, assertion)?;
        let mut values = Vec::with_capacity(listed.len());
        for value in listed {
            let is_of = match value.as_ref().shape() {
                Shape::Null => what.null,
                Shape::Bool(true) => what.yes,
                Shape::Bool(false) => what.no,
                Shape::Number(number) => {
                    let sets = self.algebra.number_texts.sets();
                    sets.contains(what.numbers, number, true) || sets.contains(what.numbers, number, false)
                }
                Shape::String(text) => self.algebra.languages.has_word(what.strings, text)?,
                Shape::Array(_) | Shape::Object(_) => false,
            };
            if is_of {
                values.push(self.algebra.equal_to(value.as_ref()));
            }
        }
        values.sort_unstable();
        values.dedup();
        Some(values)
    }

    /// The scalars that satisfy a constraint, of numbers and of strings at most `most` each, as assertions of being equal to
    /// them.
    pub(super) fn scalars_of(&mut self, value: Constraint, most: usize) -> Result<Vec<AssertionId>, AutomatonError> {
        let mut scalars = Vec::new();
        scalars.extend(value.null.then(Value::null));
        scalars.extend(value.yes.then(|| Value::boolean(true)));
        scalars.extend(value.no.then(|| Value::boolean(false)));
        let numbers = self.algebra.number_texts.sets_mut().members(value.numbers, most)?;
        scalars.extend(numbers.into_iter().map(Value::number));
        let strings = self.algebra.languages.members(value.strings, most)?;
        scalars.extend(strings.iter().map(|text| Value::string(text)));
        let scalars = scalars.iter().map(|scalar| self.algebra.equal_to(scalar.as_ref()));
        Ok(scalars.collect())
    }

    /// Splits `assertions` into those with few values and the others; `None` if there are not enough of the former.
    pub(crate) fn split_finite(&mut self, assertions: &[AssertionId]) -> Result<Option<FiniteSplit>, AutomatonError> {
        if assertions.len() < ASSERTIONS_WORTH_SPLIT {
            return Ok(None);
        }
        let (mut few, mut others) = (Vec::new(), Vec::new());
        let mut pairs: Vec<(AssertionId, usize)> = Vec::new();
        for (place, &assertion) in assertions.iter().enumerate() {
            match self.finite_values(assertion)? {
                Some(values) => {
                    few.push(place);
                    pairs.extend(values.iter().map(|value| (*value, place)));
                    if pairs.len() > MAX_VALUES {
                        return Ok(None);
                    }
                }
                // The split requires verdicts to depend on the value alone, not on its spelling.
                None if self.algebra.constraint(assertion)?.numbers.depends_on_spelling() => return Ok(None),
                None => others.push(place),
            }
        }
        if few.len() < ASSERTIONS_WORTH_SPLIT || pairs.len().saturating_mul(others.len()) > MAX_COMPARED {
            return Ok(None);
        }
        pairs.sort_unstable();
        let mut known = Vec::new();
        for same in pairs.chunk_by(|a, b| a.0 == b.0) {
            let value = same[0].0;
            let mut satisfied: Vec<u32> = same.iter().map(|(_, place)| *place as u32).collect();
            for &place in &others {
                if self.satisfiable(&[value, assertions[place]], &[])? {
                    satisfied.push(place as u32);
                }
            }
            satisfied.sort_unstable();
            known.push((value, satisfied));
        }
        Ok(Some(FiniteSplit { known, few, others }))
    }
}
