//! Boolean operations on constraints: intersection, union, exactly one of several, and complement.

use crate::automaton::error::{AutomatonError, limit_error};
use crate::automaton::formula::{Algebra, AssertionId, Constraint, FormulaId, Strings};
use crate::numbers::NumberSetId;
use crate::schema::{NodeId, TypeSet};
use crate::{CompileError, numbers, strings};

/// Size up to which sets and languages are listed member by member, so that `oneOf` counts how many of them contain
/// each member.
const ENUMERATED_MEMBERS: usize = 1 << 12;

impl Algebra {
    /// The constraint that every value satisfies.
    pub(crate) fn everything(&mut self) -> Constraint {
        Constraint {
            null: true,
            yes: true,
            no: true,
            numbers: self.number_texts.sets_mut().all(),
            strings: self.languages.any(),
            usual: None,
            arrays: FormulaId::TRUE,
            objects: FormulaId::TRUE,
        }
    }

    /// The constraint that no value satisfies.
    pub(super) fn nothing(&mut self) -> Constraint {
        Constraint {
            null: false,
            yes: false,
            no: false,
            numbers: self.number_texts.sets_mut().none(),
            strings: self.languages.none(),
            usual: None,
            arrays: FormulaId::FALSE,
            objects: FormulaId::FALSE,
        }
    }

    /// The constraint that a value has one of some types; `all` is the constraint that every value satisfies.
    pub(super) fn types(&mut self, all: Constraint, types: TypeSet) -> Constraint {
        let boolean = types.contains(TypeSet::BOOLEAN);
        Constraint {
            null: types.contains(TypeSet::NULL),
            yes: boolean,
            no: boolean,
            numbers: match types {
                _ if types.contains(TypeSet::NUMBER) => all.numbers,
                _ if types.contains(TypeSet::INTEGER) => self.number_texts.sets_mut().integers(),
                _ if types.contains(TypeSet::INTEGER_LITERAL) => self.number_texts.sets_mut().integer_literals(),
                _ => self.number_texts.sets_mut().none(),
            },
            strings: match types.contains(TypeSet::STRING) {
                true => all.strings,
                false => self.languages.none(),
            },
            usual: all.usual.filter(|_| types.contains(TypeSet::STRING)),
            arrays: FormulaId::constant(types.contains(TypeSet::ARRAY)),
            objects: FormulaId::constant(types.contains(TypeSet::OBJECT)),
        }
    }

    /// The constraint that a value satisfies both constraints.
    pub(crate) fn both(&mut self, a: Constraint, b: Constraint) -> Result<Constraint, CompileError> {
        let strings = [a.all_strings(), b.all_strings()];
        let strings = self.all_texts(&strings).map_err(limit_error)?;
        Ok(Constraint {
            null: a.null && b.null,
            yes: a.yes && b.yes,
            no: a.no && b.no,
            numbers: self
                .number_texts
                .sets_mut()
                .and(a.numbers, b.numbers)
                .map_err(limit_error)?,
            strings: strings.valid,
            usual: strings.usual,
            arrays: self.formulas.and([a.arrays, b.arrays]),
            objects: self.formulas.and([a.objects, b.objects]),
        })
    }

    /// The union: at least one of `parts` is satisfied.
    pub(crate) fn any(&mut self, parts: &[Constraint]) -> Result<Constraint, CompileError> {
        let sets = self.number_texts.sets_mut();
        let numbers = in_pairs(parts.iter().map(|part| part.numbers).collect(), |a, b| sets.or(a, b));
        let numbers = numbers.map_err(limit_error)?.unwrap_or(sets.none());
        let strings: Vec<Strings> = parts.iter().map(Constraint::all_strings).collect();
        let strings = self.any_texts(&strings).map_err(limit_error)?;
        Ok(Constraint {
            null: parts.iter().any(|part| part.null),
            yes: parts.iter().any(|part| part.yes),
            no: parts.iter().any(|part| part.no),
            numbers,
            strings: strings.valid,
            usual: strings.usual,
            arrays: self.formulas.or(parts.iter().map(|part| part.arrays)),
            objects: self.formulas.or(parts.iter().map(|part| part.objects)),
        })
    }

    /// The constraint that a value does not satisfy a constraint.
    pub(super) fn complement(&mut self, a: Constraint) -> Result<Constraint, CompileError> {
        Ok(Constraint {
            null: !a.null,
            yes: !a.yes,
            no: !a.no,
            numbers: self.number_texts.sets_mut().not(a.numbers),
            strings: self.languages.not(a.strings).map_err(limit_error)?,
            usual: None,
            arrays: self.formulas.not(a.arrays),
            objects: self.formulas.not(a.objects),
        })
    }

    /// The constraint of `oneOf`: a value is valid under exactly one of the branches.
    pub(super) fn exactly_one(&mut self, branches: &[NodeId]) -> Result<Constraint, CompileError> {
        let mut parts = Vec::with_capacity(branches.len());
        for &branch in branches {
            parts.push(self.part(branch)?);
        }
        let one = |word: fn(&Constraint) -> bool| parts.iter().filter(|part| word(part)).count() == 1;
        let (mut numbers, mut strings) = (Vec::new(), Vec::new());
        for part in &parts {
            if part.numbers != self.number_texts.sets().none() {
                numbers.push(part.numbers);
            }
            if part.strings != self.languages.none() {
                strings.push(part.all_strings());
            }
        }
        let strings = self.one_language(&strings)?;
        let objects = parts.iter().map(|part| part.objects);
        let objects: Vec<FormulaId> = objects.filter(|part| *part != FormulaId::FALSE).collect();
        Ok(Constraint {
            null: one(|part| part.null),
            yes: one(|part| part.yes),
            no: one(|part| part.no),
            numbers: self.one_set(&numbers)?,
            strings: strings.valid,
            usual: strings.usual,
            arrays: self.formulas.one(parts.iter().map(|part| part.arrays).collect()),
            objects: self.one_object(objects),
        })
    }

    /// The numbers that are in exactly one of these sets.
    fn one_set(&mut self, sets: &[NumberSetId]) -> Result<NumberSetId, CompileError> {
        let mut work = || {
            let numbers = self.number_texts.sets_mut();
            let (mut few, mut others) = (Vec::new(), Vec::new());
            for &set in sets {
                match numbers.cardinality(set, ENUMERATED_MEMBERS as u64)? {
                    numbers::NumberCount::Exactly(_) if !set.depends_on_spelling() => {
                        few.extend(numbers.members(set, ENUMERATED_MEMBERS)?)
                    }
                    _ => others.push(set),
                }
            }
            let (once, more) = counted(few);
            let mut one = numbers.one_of(once)?;
            if !sets.iter().any(|set| set.may_have_zero_fractions()) {
                one = one.as_integer_literals();
            }
            let more = numbers.one_of(more)?;
            let any = numbers.or(one, more)?;
            // The numbers that are in exactly one of some sets, and those that are in any of them.
            let pairs = [(one, any)].into_iter().chain(others.into_iter().map(|set| (set, set)));
            let found = in_pairs(pairs.collect(), |(one, any), (other, any_other)| {
                let (not_any, not_any_other) = (numbers.not(any), numbers.not(any_other));
                let only_one = numbers.and(one, not_any_other)?;
                let only_other = numbers.and(other, not_any)?;
                Ok((numbers.or(only_one, only_other)?, numbers.or(any, any_other)?))
            })?;
            Ok(found.map_or(one, |(one, _)| one))
        };
        work().map_err(|error: crate::decimal::NumberLimitReached| limit_error(error))
    }

    /// The texts that are in exactly one of these languages.
    fn one_language(&mut self, parts: &[Strings]) -> Result<Strings, CompileError> {
        let mut work = || {
            let (mut few, mut others) = (Vec::new(), Vec::new());
            for language in parts.iter().map(|part| part.valid) {
                // Texts that take too many states to list are told apart by their language.
                let listed = match self.languages.cardinality(language, ENUMERATED_MEMBERS as u64)? {
                    strings::Cardinality::Finite(_) => self.languages.members(language, ENUMERATED_MEMBERS).ok(),
                    _ => None,
                };
                match listed {
                    Some(texts) => few.extend(texts),
                    None => others.push(language),
                }
            }
            let (once, more) = counted(few);
            let mut one = self
                .languages
                .one_of(&once.iter().map(String::as_str).collect::<Vec<_>>())?;
            let more = self
                .languages
                .one_of(&more.iter().map(String::as_str).collect::<Vec<_>>())?;
            let mut any = self.languages.or(&[one, more])?;
            for language in others {
                let (outside, new) = (self.languages.not(language)?, self.languages.not(any)?);
                let first = self.languages.and(&[language, new])?;
                let still = self.languages.and(&[one, outside])?;
                one = self.languages.or(&[first, still])?;
                any = self.languages.or(&[any, language])?;
            }
            self.some_texts_of(one, parts)
        };
        work().map_err(|error: crate::strings::LimitReached| limit_error(error))
    }

    /// The constraint of `if`, `then` and `else`.
    pub(super) fn conditional(
        &mut self,
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    ) -> Result<Constraint, CompileError> {
        let holds = self.part(condition)?;
        let fails = self.complement(holds)?;
        let then = match then {
            Some(then) => self.part(then)?,
            None => self.everything(),
        };
        let otherwise = match otherwise {
            Some(otherwise) => self.part(otherwise)?,
            None => self.everything(),
        };
        let yes = self.both(holds, then)?;
        let no = self.both(fails, otherwise)?;
        self.any(&[yes, no])
    }

    /// The constraint that a value satisfies all assertions of `all` and none of `none`, without [texts that are left out](Self::leave_out).
    pub(crate) fn combined(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<Constraint, AutomatonError> {
        let mut both = self.everything();
        // The numbers that the style can write, from which complements may have others.
        let mut numbers = vec![both.numbers];
        let (mut strings, mut arrays, mut objects) = (Vec::new(), Vec::new(), Vec::new());
        let wanted = all.iter().map(|assertion| (*assertion, true));
        for (assertion, wanted) in wanted.chain(none.iter().map(|assertion| (*assertion, false))) {
            let mut part = self.constraint(assertion)?;
            if !wanted {
                part = self.complement(part)?;
            }
            both.null &= part.null;
            both.yes &= part.yes;
            both.no &= part.no;
            numbers.push(part.numbers);
            strings.push(part.all_strings());
            arrays.push(part.arrays);
            objects.push(part.objects);
        }
        let sets = self.number_texts.sets_mut();
        both.numbers = in_pairs(numbers, |a, b| sets.and(a, b))?.unwrap_or(both.numbers);
        let strings = self.all_texts(&strings)?;
        both = both.with_strings(strings);
        both.arrays = self.formulas.and(arrays);
        both.objects = self.formulas.and(objects);
        Ok(self.written(both)?)
    }
}

/// Combines neighbours until one is left, `None` where there is none. Every set on the way stays in its arena: combined one after the other,
/// `n` sets would take n² members, in pairs they take n log n.
fn in_pairs<T: Copy, E>(mut items: Vec<T>, mut combine: impl FnMut(T, T) -> Result<T, E>) -> Result<Option<T>, E> {
    while items.len() > 1 {
        let pairs = items.chunks(2).map(|pair| match *pair {
            [one, other] => combine(one, other),
            _ => Ok(pair[0]),
        });
        items = pairs.collect::<Result<_, E>>()?;
    }
    Ok(items.pop())
}

/// The values that occur once, and the values that occur more than once.
fn counted<T: Ord>(mut values: Vec<T>) -> (Vec<T>, Vec<T>) {
    values.sort_unstable();
    let (mut once, mut more) = (Vec::new(), Vec::new());
    let mut values = values.into_iter().peekable();
    while let Some(value) = values.next() {
        match values.next_if_eq(&value) {
            None => once.push(value),
            Some(_) => {
                while values.next_if_eq(&value).is_some() {}
                more.push(value);
            }
        }
    }
    (once, more)
}
