//! Recognises discriminated alternatives: objects that exclude each other, as their keys show. A required key may have values of its own in
//! each alternative, or an alternative may require a key that another one refuses.

use crate::automaton::formula::{Algebra, Assertion, AssertionId, AtomKind, FormulaId, Keys, TextId};
use crate::json::Value;
use crate::schema::{Body, SchemaSet};
use crate::strings::LanguageId;
use hashbrown::HashSet;

/// Number of alternatives, those within alternatives counted one by one, up to which each is compared with each.
const COMPARED_ALTERNATIVES: usize = 256;

/// Number of values that may be listed for a key where they are compared with those of another alternative.
const COMPARED_VALUES: usize = 32;

/// Number of keys that each alternative may require, or list values for, where alternatives are compared.
const COMPARED_KEYS: usize = 512;

/// Number of languages of keys that each alternative may refuse where alternatives are compared.
const COMPARED_LANGUAGES: usize = 4;

/// The keys that every object satisfying a formula has, or lacks, as far as the parts of the formula's outermost conjunction show it.
#[derive(Default)]
struct AskedKeys<'a> {
    required: Vec<TextId>,
    refused: Vec<TextId>,
    /// The languages of keys that are refused.
    languages: Vec<LanguageId>,
    /// The values that are listed for keys.
    listed: Vec<(TextId, &'a [Value])>,
}

impl AskedKeys<'_> {
    /// Whether so little is asked that alternatives can be compared with each other.
    fn are_few(&self) -> bool {
        self.required.len().max(self.listed.len()) <= COMPARED_KEYS && self.languages.len() <= COMPARED_LANGUAGES
    }
}

impl Algebra {
    /// The formula that exactly one of `objects` holds, which are conditions on an object. Whatever visibly excludes all others need not be
    /// held against them: it is an alternative to the rest, and a search does not have to make all others fail.
    pub(super) fn one_object(&mut self, objects: Vec<FormulaId>) -> FormulaId {
        if self.exclude_each_other(&objects) {
            return self.formulas.or(objects);
        }
        let alternatives = |object: &FormulaId| self.formulas.disjuncts(object).len();
        let alternatives: usize = objects.iter().map(alternatives).sum();
        if alternatives > COMPARED_ALTERNATIVES {
            return self.formulas.one(objects);
        }
        let of_one = |object: &FormulaId| {
            let alternatives = self.formulas.disjuncts(object).iter();
            alternatives.map(|one| self.asked_keys(*one)).collect()
        };
        let asked: Vec<Vec<AskedKeys<'_>>> = objects.iter().map(of_one).collect();
        if asked.iter().flatten().any(|asked| !asked.are_few()) {
            return self.formulas.one(objects);
        }
        let exclude = |one: &[AskedKeys<'_>], other: &[AskedKeys<'_>]| {
            let mut ones = one.iter();
            ones.all(|one| other.iter().all(|other| self.exclude(one, other)))
        };
        let mut excludes_all = vec![true; objects.len()];
        for (at, one) in asked.iter().enumerate() {
            for (place, other) in asked.iter().enumerate().skip(at + 1) {
                if (excludes_all[at] || excludes_all[place]) && !exclude(one, other) {
                    (excludes_all[at], excludes_all[place]) = (false, false);
                }
            }
        }
        let (apart, rest): (Vec<_>, Vec<_>) = objects.into_iter().zip(excludes_all).partition(|(_, is)| *is);
        let mut either: Vec<FormulaId> = apart.into_iter().map(|(object, _)| object).collect();
        let rest = rest.into_iter().map(|(object, _)| object).collect();
        either.push(self.formulas.one(rest));
        self.formulas.or(either)
    }

    /// The keys that a formula requires or refuses, with the values it lists for keys, as far as its outermost conjunction shows it.
    fn asked_keys(&self, formula: FormulaId) -> AskedKeys<'_> {
        let mut asked = AskedKeys::default();
        for part in self.formulas.conjuncts(&formula) {
            let literal = self.formulas.literal(*part);
            match literal.map(|(atom, holds)| (self.atoms.kind(atom), holds)) {
                Some((AtomKind::Has(name), true)) => asked.required.push(name),
                Some((AtomKind::Has(name), false)) => asked.refused.push(name),
                Some((AtomKind::Members(Keys::Name(name), AssertionId::NOTHING), true)) => asked.refused.push(name),
                Some((AtomKind::Members(Keys::Language(keys), AssertionId::NOTHING), true)) => {
                    asked.languages.push(keys);
                }
                Some((AtomKind::Members(Keys::Name(name), assertion), true)) => {
                    let values = self.values_in_schema(&self.schema, assertion);
                    let few = values.filter(|values| values.len() <= COMPARED_VALUES);
                    asked.listed.extend(few.map(|values| (name, values)));
                }
                _ => {}
            }
        }
        asked.required.sort_unstable();
        asked.refused.sort_unstable();
        asked.listed.sort_by_key(|(name, _)| *name);
        asked
    }

    /// Whether no object satisfies both of two formulas, as far as the keys show it that they ask for.
    fn exclude(&self, one: &AskedKeys<'_>, other: &AskedKeys<'_>) -> bool {
        let refuses = |asked: &AskedKeys<'_>, name: TextId| {
            let mut languages = asked.languages.iter();
            asked.refused.binary_search(&name).is_ok()
                || languages.any(|keys| match self.key_memo.enumerated.get(keys) {
                    Some(Some(keys)) => keys.has(name),
                    _ => false,
                })
        };
        let requires = |asked: &AskedKeys<'_>, name: TextId| asked.required.binary_search(&name).is_ok();
        one.required.iter().any(|name| refuses(other, *name))
            || other.required.iter().any(|name| refuses(one, *name))
            || one.listed.iter().any(|(name, values)| {
                let place = other.listed.binary_search_by_key(name, |(name, _)| *name);
                let is_required = requires(one, *name) || requires(other, *name);
                place.is_ok_and(|place| {
                    let others = other.listed[place].1;
                    is_required && !values.iter().any(|value| others.contains(value))
                })
            })
    }

    /// Whether no object satisfies two of these formulas, which shows from one key: each formula requires it and lists its
    /// values, of which no other formula lists any. `false` may also mean that this was not found out.
    pub(super) fn exclude_each_other(&self, formulas: &[FormulaId]) -> bool {
        let Some(first) = formulas.first() else { return true };
        let conjuncts = self.formulas.conjuncts(first).iter();
        let required = conjuncts.filter_map(|part| match self.formulas.literal(*part) {
            Some((atom, true)) => match self.atoms.kind(atom) {
                AtomKind::Has(name) => Some(name),
                _ => None,
            },
            _ => None,
        });
        let mut discriminators = required.filter(|name| self.listed_values(*first, *name).is_some());
        discriminators.any(|name| {
            let mut seen: HashSet<&Value> = HashSet::new();
            formulas.iter().all(|formula| {
                let values = self.listed_values(*formula, name);
                values.is_some_and(|values| values.iter().all(|value| seen.insert(value)))
            })
        })
    }

    /// The values that a formula lists for a key that it requires, one of which the member has; `None` if it does not.
    fn listed_values(&self, formula: FormulaId, name: TextId) -> Option<&[Value]> {
        let (mut is_required, mut listed) = (false, None);
        for part in self.formulas.conjuncts(&formula) {
            match self
                .formulas
                .literal(*part)
                .map(|(atom, holds)| (self.atoms.kind(atom), holds))
            {
                Some((AtomKind::Has(one), true)) => is_required |= one == name,
                Some((AtomKind::Members(Keys::Name(one), assertion), true)) if one == name => {
                    listed = listed.or_else(|| self.values_in_schema(&self.schema, assertion));
                }
                _ => {}
            }
        }
        listed.filter(|_| is_required)
    }

    /// The values of the `const` or `enum` of a subschema, one of this algebra's `schema`, that an assertion stands for.
    pub(crate) fn values_in_schema<'a>(&self, schema: &'a SchemaSet, assertion: AssertionId) -> Option<&'a [Value]> {
        let Assertion::Node(node) = self.assertions.get(assertion) else {
            return None;
        };
        match &schema.node(*node).body {
            Body::Keywords(keywords) => keywords.values.as_deref(),
            Body::Anything | Body::Nothing => None,
        }
    }
}
