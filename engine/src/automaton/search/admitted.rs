//! TODO

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::assertion::Literal;
use crate::automaton::formula::assertion::{Assertion, AssertionId, Constraint, split};
use crate::automaton::formula::boolean::FormulaId;
use crate::automaton::formula::decision_diagram::DiagramId;
use crate::automaton::search::cardinality::finite::FiniteSplit;
use crate::automaton::search::expectation::{Expectation, ExpectationId, Verdicts};
use crate::automaton::search::search::Search;
use crate::json::Shape;
use crate::numbers::NumberSetId;
use crate::strings::LanguageId;
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::sync::Arc;

impl Search {
    /// Whether there is no end of values that are read for this, so that some differ from any others. A no may also say that
    /// this did not show.
    pub(crate) fn value_is_infinite(&mut self, expected: ExpectationId) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.expectations.infinite.get(&expected) {
            return Ok(known);
        }
        let is_infinite = self.find_infinite_value(expected)?;
        self.expectations.infinite.insert(expected, is_infinite);
        Ok(is_infinite)
    }

    fn find_infinite_value(&mut self, expected: ExpectationId) -> Result<bool, AutomatonError> {
        let what = self.expected(expected);
        for vector in self.vectors(&what.assertions)? {
            if self
                .algebra
                .diagrams
                .admits(what.diagram, |assertion| vector[assertion as usize])
            {
                let (all, none) = split(&what.assertions, &vector);
                if self.is_infinite(&all, &none)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What the surroundings ask of a value.
    pub(crate) fn constraint_of(&mut self, expected: ExpectationId) -> Result<Constraint, AutomatonError> {
        let what = self.expected(expected);
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
        Ok(Constraint {
            null,
            yes,
            no,
            numbers: self.numbers_expected(&what)?,
            strings: self.strings_expected(&what)?,
            arrays: self
                .algebra
                .diagrams
                .formula(what.diagram, &arrays, &mut self.algebra.formulas),
            objects: self
                .algebra
                .diagrams
                .formula(what.diagram, &objects, &mut self.algebra.formulas),
        })
    }

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

    pub(crate) fn expected(&self, id: ExpectationId) -> Arc<Expectation> {
        self.expectations.all[id.0 as usize].clone()
    }

    /// The verdict of each assertion for a value on which constraints decide at once.
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

    /// The verdict that each assertion must have, where only one will do.
    pub(crate) fn forced(&self, expected: &Expectation) -> SmallVec<[Option<bool>; 4]> {
        let assertions = 0..expected.assertions.len() as u32;
        assertions
            .map(|assertion| self.algebra.diagrams.forced(expected.diagram, assertion))
            .collect()
    }

    /// The verdicts of a value's assertions that are certain of all strings: those that only one will do of, or that are the
    /// same for all of them.
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

    /// The strings that a value's surroundings can live with.
    pub(crate) fn strings_of(&mut self, expected: ExpectationId) -> Result<LanguageId, AutomatonError> {
        if let Some(&known) = self.expectations.strings.get(&expected) {
            return Ok(known);
        }
        let what = self.expected(expected);
        let strings = self.strings_expected(&what)?;
        self.expectations.strings.insert(expected, strings);
        Ok(strings)
    }

    /// The assertion that a value must satisfy, where that is all.
    fn only_assertion(&self, what: &Expectation) -> Option<AssertionId> {
        match what.assertions[..] {
            [assertion] => self.algebra.diagrams.asks_for_one(what.diagram).then_some(assertion),
            _ => None,
        }
    }

    /// The strings whose verdicts will do.
    fn strings_expected(&mut self, what: &Expectation) -> Result<LanguageId, AutomatonError> {
        if let Some(assertion) = self.only_assertion(what) {
            return Ok(self.algebra.constraint(assertion)?.strings);
        }
        let sorted = self.sort_few(&what.assertions)?;
        let mut done: HashMap<DiagramId, LanguageId> = HashMap::new();
        for case in self.algebra.diagrams.cases(what.diagram) {
            let language = match self.algebra.diagrams.split(case) {
                None if case == DiagramId::ALWAYS => self.algebra.languages.any(),
                None => self.algebra.languages.none(),
                Some((assertion, _, invalid)) if is_few(&sorted, assertion) => done[&invalid],
                Some((assertion, valid, invalid)) => {
                    let language = self.algebra.constraint(what.assertions[assertion as usize])?.strings;
                    let others = self.algebra.languages.not(language)?;
                    let yes = self.algebra.languages.and(&[language, done[&valid]])?;
                    let no = self.algebra.languages.and(&[others, done[&invalid]])?;
                    self.algebra.languages.or(&[yes, no])?
                }
            };
            done.insert(case, language);
        }
        let language = done[&what.diagram];
        let Some(sorted) = sorted else {
            return Ok(language);
        };
        let (mut all, mut admitted) = (Vec::new(), Vec::new());
        for (value, verdicts) in &sorted.known {
            if let Assertion::Equal(value) = self.algebra.assertions.get(*value)
                && let Shape::String(text) = value.as_ref().shape()
            {
                all.push(text);
                if self
                    .algebra
                    .diagrams
                    .admits(what.diagram, |assertion| verdicts[assertion as usize])
                {
                    admitted.push(text);
                }
            }
        }
        let (all, admitted) = (
            self.algebra.languages.one_of(&all)?,
            self.algebra.languages.one_of(&admitted)?,
        );
        let others = self.algebra.languages.not(all)?;
        let others = self.algebra.languages.and(&[language, others])?;
        Ok(self.algebra.languages.or(&[admitted, others])?)
    }

    /// The numbers whose verdicts will do.
    pub(crate) fn numbers_expected(&mut self, what: &Expectation) -> Result<NumberSetId, AutomatonError> {
        if let Some(assertion) = self.only_assertion(what) {
            return Ok(self.algebra.constraint(assertion)?.numbers);
        }
        let sorted = self.sort_few(&what.assertions)?;
        let mut done: HashMap<DiagramId, NumberSetId> = HashMap::new();
        for case in self.algebra.diagrams.cases(what.diagram) {
            let set = match self.algebra.diagrams.split(case) {
                None if case == DiagramId::ALWAYS => self.algebra.number_texts.sets().all(),
                None => self.algebra.number_texts.sets().none(),
                Some((assertion, _, invalid)) if is_few(&sorted, assertion) => done[&invalid],
                Some((assertion, valid, invalid)) => {
                    let set = self.algebra.constraint(what.assertions[assertion as usize])?.numbers;
                    let sets = self.algebra.number_texts.sets_mut();
                    let others = sets.not(set);
                    let yes = sets.and(set, done[&valid])?;
                    let no = sets.and(others, done[&invalid])?;
                    sets.or(yes, no)?
                }
            };
            done.insert(case, set);
        }
        let set = done[&what.diagram];
        let Some(sorted) = sorted else {
            return Ok(set);
        };
        let (mut all, mut admitted) = (Vec::new(), Vec::new());
        for (value, verdicts) in &sorted.known {
            if let Assertion::Equal(value) = self.algebra.assertions.get(*value)
                && let Shape::Number(number) = value.as_ref().shape()
            {
                all.push(number.clone());
                if self
                    .algebra
                    .diagrams
                    .admits(what.diagram, |assertion| verdicts[assertion as usize])
                {
                    admitted.push(number.clone());
                }
            }
        }
        let sets = self.algebra.number_texts.sets_mut();
        let (all, admitted) = (sets.one_of(all)?, sets.one_of(admitted)?);
        let others = sets.not(all);
        let others = sets.and(set, others)?;
        Ok(sets.or(admitted, others)?)
    }
}

/// Whether an assertion is one of few values.
fn is_few(sorted: &Option<FiniteSplit>, assertion: u32) -> bool {
    let few = sorted.as_ref().map(|sorted| &sorted.few);
    few.is_some_and(|few| few.binary_search(&(assertion as usize)).is_ok())
}
