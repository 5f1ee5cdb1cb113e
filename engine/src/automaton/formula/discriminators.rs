//! Recognises discriminated alternatives: objects that a required key with values of its own in each alternative makes exclusive.

use crate::automaton::formula::{Algebra, Assertion, AssertionId, AtomKind, FormulaId, Keys, TextId};
use crate::json::Value;
use crate::schema::Body;
use hashbrown::HashSet;

impl Algebra {
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
                    listed = listed.or_else(|| self.values_in_schema(assertion));
                }
                _ => {}
            }
        }
        listed.filter(|_| is_required)
    }

    /// The values of the `const` or `enum` of a subschema that an assertion stands for.
    fn values_in_schema(&self, assertion: AssertionId) -> Option<&[Value]> {
        let Assertion::Node(node) = self.assertions.get(assertion) else {
            return None;
        };
        match &self.schema.node(*node).body {
            Body::Keywords(keywords) => keywords.values.as_deref(),
            Body::Anything | Body::Nothing => None,
        }
    }
}
