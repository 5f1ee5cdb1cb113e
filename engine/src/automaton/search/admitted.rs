//! The values that an [`Expectation`] admits, as sets by type: a string language, a set of numbers, and a constraint.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::algebra::Algebra;
use crate::automaton::formula::{AssertionId, Constraint, DiagramId, FormulaId, Literal, Strings};
use crate::automaton::search::{Expectation, ExpectationId, FiniteSplit, Search, Verdicts};
use crate::decimal::Decimal;
use crate::numbers::NumberSetId;
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The operations on sets of values of one type: number sets or string languages.
struct Sets<T> {
    all: T,
    none: T,
    /// The set that a constraint has for the type.
    of: fn(&Constraint) -> T,
    /// The values of the second set that are in the first, and those of the third that are not.
    choose: fn(&mut Algebra, T, T, T) -> Result<T, AutomatonError>,
    /// The set of the values of the type among some assertions of equality.
    listed: fn(&mut Algebra, &[AssertionId]) -> Result<T, AutomatonError>,
}

impl Search {
    /// The constraint that an expectation imposes on a value.
    pub(crate) fn constraint_of(&mut self, expected: ExpectationId) -> Result<Constraint, AutomatonError> {
        let what = self.expected(expected);
        if what.diagram == DiagramId::ALWAYS {
            let all = self.algebra.everything();
            return Ok(self.algebra.written(all)?);
        }
        let mut parts = Vec::with_capacity(what.assertions.len());
        for &assertion in &what.assertions {
            parts.push(self.algebra.constraint(assertion)?);
        }
        let admits = |word: Literal| {
            let verdict = |assertion: u32| word.verdict(&parts[assertion as usize]);
            self.algebra.diagrams.admits(what.diagram, verdict)
        };
        let (null, yes, no) = (admits(Literal::Null), admits(Literal::True), admits(Literal::False));
        let arrays: Vec<FormulaId> = parts.iter().map(|part| part.arrays).collect();
        let objects: Vec<FormulaId> = parts.iter().map(|part| part.objects).collect();
        let strings = self.strings_of(expected)?;
        let numbers = self.numbers_expected(&what)?;
        let algebra = &mut self.algebra;
        let mut formula = |parts: &[FormulaId]| algebra.diagrams.formula(what.diagram, parts, &mut algebra.formulas);
        let (arrays, objects) = (formula(&arrays), formula(&objects));
        Ok(Constraint {
            null,
            yes,
            no,
            numbers,
            strings: strings.valid,
            usual: strings.usual,
            arrays,
            objects: self.algebra.written_container(objects, false),
        })
    }

    /// The id of an expectation, which is added if it is new; `None` if no value meets it.
    pub(crate) fn expect_possible(
        &mut self,
        assertions: Vec<AssertionId>,
        diagram: DiagramId,
    ) -> Result<Option<ExpectationId>, AutomatonError> {
        if diagram == DiagramId::NEVER {
            return Ok(None);
        }
        let expected = self.expect(assertions, diagram);
        if let Some(&known) = self.expectations.possible.get(&expected) {
            return Ok(known.then_some(expected));
        }
        let value = self.constraint_of(expected)?;
        let possible = self.has_value(&value)?;
        if possible || self.fixpoint.is_idle() {
            self.expectations.possible.insert(expected, possible);
        }
        Ok(possible.then_some(expected))
    }

    /// The id of an expectation, which is added if it is new.
    pub(crate) fn expect(&mut self, assertions: Vec<AssertionId>, diagram: DiagramId) -> ExpectationId {
        let assertions = assertions.into();
        let expected = Arc::new(Expectation { assertions, diagram });
        if let Some(&id) = self.expectations.ids.get(&expected) {
            return id;
        }
        let id = ExpectationId(self.expectations.all.len() as u32);
        self.expectations.all.push(expected.clone());
        self.expectations.ids.insert(expected, id);
        id
    }

    /// The expectation with this id.
    pub(crate) fn expected(&self, id: ExpectationId) -> Arc<Expectation> {
        self.expectations.all[id.0 as usize].clone()
    }

    /// The verdict of each assertion for a value on which `verdict` decides by the constraint alone.
    pub(crate) fn verdicts(
        &mut self,
        expected: ExpectationId,
        verdict: &mut dyn FnMut(&Constraint) -> bool,
    ) -> Result<Verdicts, AutomatonError> {
        let what = self.expected(expected);
        let mut verdicts = Verdicts::with_capacity(what.assertions.len());
        for &assertion in &what.assertions {
            verdicts.push(verdict(&self.algebra.constraint(assertion)?));
        }
        Ok(verdicts)
    }

    /// Returns for each assertion the only verdict that is admitted; `None` if both are.
    pub(crate) fn forced(&self, expected: &Expectation) -> SmallVec<[Option<bool>; 4]> {
        let assertions = 0..expected.assertions.len() as u32;
        assertions
            .map(|assertion| self.algebra.diagrams.forced(expected.diagram, assertion))
            .collect()
    }

    /// Returns for each assertion the verdict that all strings have or that alone is admitted; `None` if the verdict depends on
    /// the string.
    pub(crate) fn certain_of_strings(
        &mut self,
        what: &Expectation,
    ) -> Result<SmallVec<[Option<bool>; 4]>, AutomatonError> {
        let mut certain = self.forced(what);
        for (verdict, &assertion) in certain.iter_mut().zip(&what.assertions) {
            if verdict.is_none() {
                let strings = self.algebra.constraint(assertion)?.strings;
                *verdict = match strings {
                    _ if strings == self.algebra.languages.any() => Some(true),
                    _ if strings == self.algebra.languages.none() => Some(false),
                    _ => None,
                };
            }
        }
        Ok(certain)
    }

    /// The strings that meet an expectation.
    pub(crate) fn strings_of(&mut self, expected: ExpectationId) -> Result<Strings, AutomatonError> {
        if let Some(&known) = self.expectations.strings.get(&expected) {
            return Ok(known);
        }
        let what = self.expected(expected);
        let strings = self.strings_expected(&what)?;
        self.expectations.strings.insert(expected, strings);
        Ok(strings)
    }

    /// The assertion that a value must satisfy, if nothing else is expected.
    fn only_assertion(&self, what: &Expectation) -> Option<AssertionId> {
        match what.assertions[..] {
            [assertion] => {
                let asked = self.algebra.diagrams.split(what.diagram);
                (asked == Some((0, DiagramId::ALWAYS, DiagramId::NEVER))).then_some(assertion)
            }
            _ => None,
        }
    }

    /// The strings whose verdicts an expectation admits.
    fn strings_expected(&mut self, what: &Expectation) -> Result<Strings, AutomatonError> {
        let (all, none) = (self.algebra.languages.any(), self.algebra.languages.none());
        let strings = Sets {
            all: Strings::alike(all),
            none: Strings::alike(none),
            of: Constraint::all_strings,
            choose: |algebra, strings, yes, no| {
                let others = Strings::alike(algebra.languages.not(strings.valid)?);
                let yes = algebra.all_texts(&[strings, yes])?;
                let no = algebra.all_texts(&[others, no])?;
                Ok(algebra.any_texts(&[yes, no])?)
            },
            listed: |algebra, values| {
                let texts = values.iter().filter_map(|value| algebra.text_of(*value));
                let texts: Vec<String> = texts.map(|text| algebra.texts.get(text).to_owned()).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                Ok(Strings::alike(algebra.languages.one_of(&texts)?))
            },
        };
        let strings = self.admitted(what, strings)?;
        Ok(self.algebra.written_strings(strings)?)
    }

    /// The numbers whose verdicts an expectation admits.
    pub(crate) fn numbers_expected(&mut self, what: &Expectation) -> Result<NumberSetId, AutomatonError> {
        let sets = self.algebra.number_texts.sets();
        let numbers = Sets {
            all: sets.all(),
            none: sets.none(),
            of: |constraint| constraint.numbers,
            choose: |algebra, set, yes, no| {
                let sets = algebra.number_texts.sets_mut();
                let others = sets.not(set);
                let yes = sets.and(set, yes)?;
                let no = sets.and(others, no)?;
                Ok(sets.or(yes, no)?)
            },
            listed: |algebra, values| {
                let numbers: Vec<Decimal> = values.iter().filter_map(|value| algebra.number_of(*value)).collect();
                Ok(algebra.number_texts.sets_mut().one_of(numbers)?.as_integer_literals())
            },
        };
        self.admitted(what, numbers)
    }

    /// The values of one type whose verdicts an expectation admits.
    fn admitted<T: Copy + PartialEq>(&mut self, what: &Expectation, sets: Sets<T>) -> Result<T, AutomatonError> {
        // Many assertions may be on a value whose verdicts make no difference, such as `contains` beside room for more items.
        if what.diagram == DiagramId::ALWAYS {
            return Ok(sets.all);
        }
        if let Some(assertion) = self.only_assertion(what) {
            return Ok((sets.of)(&self.algebra.constraint(assertion)?));
        }
        let finite = self.split_finite(&what.assertions)?;
        let mut done: HashMap<DiagramId, T> = HashMap::new();
        for case in self.algebra.diagrams.cases(what.diagram) {
            let set = match self.algebra.diagrams.split(case) {
                None if case == DiagramId::ALWAYS => sets.all,
                None => sets.none,
                Some((assertion, _, invalid)) if is_finite(&finite, assertion) => done[&invalid],
                Some((assertion, valid, invalid)) => {
                    let set = (sets.of)(&self.algebra.constraint(what.assertions[assertion as usize])?);
                    (sets.choose)(&mut self.algebra, set, done[&valid], done[&invalid])?
                }
            };
            done.insert(case, set);
        }
        let others = done[&what.diagram];
        let Some(finite) = finite else {
            return Ok(others);
        };
        let all: Vec<AssertionId> = finite.known.iter().map(|(value, _)| *value).collect();
        let satisfied = finite.known.iter().map(|(_, satisfied)| &satisfied[..]);
        let mut is_admitted = self.algebra.diagrams.admits_each(what.diagram, satisfied).into_iter();
        let mut admitted = all.clone();
        admitted.retain(|_| is_admitted.next() == Some(true));
        let admitted = (sets.listed)(&mut self.algebra, &admitted)?;
        if others == sets.none {
            return Ok(admitted);
        }
        let all = (sets.listed)(&mut self.algebra, &all)?;
        (sets.choose)(&mut self.algebra, all, admitted, others)
    }
}

/// Whether the assertion at this index is one of those with finitely many values.
fn is_finite(split: &Option<FiniteSplit>, assertion: u32) -> bool {
    let finite = split.as_ref().map(|split| &split.few);
    finite.is_some_and(|finite| finite.binary_search(&(assertion as usize)).is_ok())
}
