//! The values that satisfy some assertions and that a style leaves out.
//!
//! Each query is one of satisfiability: is there a value that the assertions admit and that lies beyond the bound? So no value is
//! reported as left out that another keyword excludes anyway.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, AtomKind, Constraint, FormulaId, ItemsId, Keys, Ordered, TextId};
use crate::automaton::step::Automaton;
use crate::schema::NodeId;
use crate::strings::LanguageId;
use crate::style::{KeyOrder, NarrowingKind};

/// The subschemas that apply to a value, and the keys that they declare.
#[derive(Debug, Default)]
pub(crate) struct ValueFacts {
    /// The subschemas that the value satisfies.
    pub(crate) nodes: Vec<NodeId>,
    /// The keys that a subschema declares.
    pub(crate) names: Vec<String>,
    /// The patterns for keys of which a subschema speaks.
    pub(crate) patterns: Vec<String>,
    /// Whether a subschema says something of the values of all other keys.
    pub(crate) speaks_of_others: bool,
    /// Whether a subschema says which other keys there may be.
    pub(crate) speaks_of_other_names: bool,
    /// Number of items of which a subschema says something at least, where nothing is said of the items behind them.
    pub(crate) free_items_from: Option<u64>,
}

impl Automaton {
    /// Returns the ways in which the style leaves out values that satisfy some subschemas, as far as this does not depend on how
    /// numbers are written, and as far as it is found out within the limits.
    pub(crate) fn left_out(&mut self, facts: &ValueFacts) -> Result<Vec<NarrowingKind>, AutomatonError> {
        let mut kinds = Vec::new();
        let assertions = self.assertions_of(&facts.nodes);
        let value = self.search.algebra.combined(&assertions, &[])?;
        if !self.search.has_value(&value)? {
            return Ok(kinds);
        }
        let names = self.names(&facts.names);
        // A style that closes objects leaves out all that have further members.
        let has_others = !self.search.algebra.style.closed || facts.speaks_of_other_names;
        let asked = [
            (
                NarrowingKind::FreeDepth,
                self.nests_freely(&value, facts, &names, has_others)?,
            ),
            (NarrowingKind::LongStrings, self.has_long_strings(&value)?),
            (
                NarrowingKind::LongNames,
                has_others && self.has_long_names(&value, &names)?,
            ),
            (NarrowingKind::LongArrays, self.has_long_arrays(&value)?),
            (
                NarrowingKind::LargeObjects,
                has_others && self.has_large_objects(&value, &names)?,
            ),
            (NarrowingKind::UnusualStrings, value.usual.is_some()),
        ];
        kinds.extend(asked.into_iter().filter(|(_, is_so)| *is_so).map(|(kind, _)| kind));
        Ok(kinds)
    }

    /// Whether the objects that satisfy some subschemas may have an order that is none of their alternatives'.
    pub(crate) fn mixes_orders(&mut self, nodes: &[NodeId]) -> Result<bool, AutomatonError> {
        let all = self.assertions_of(nodes);
        if self.search.algebra.combined(&all, &[])?.objects == FormulaId::FALSE {
            return Ok(false);
        }
        self.search.order_for(&all, &[])?;
        let ordered = Ordered {
            all: all.into(),
            others: [].into(),
            satisfies_other: false,
        };
        Ok(self.search.algebra.orders.mixed.contains(&ordered))
    }

    /// Whether the style narrows the objects that satisfy some subschemas to those with declared keys, or with all of these, or leaves
    /// out values that are no objects.
    pub(crate) fn narrows_objects(&mut self, nodes: &[NodeId]) -> Result<bool, AutomatonError> {
        let assertions = self.assertions_of(nodes);
        let value = self.search.algebra.combined(&assertions, &[])?;
        if self.search.as_meant(value, &assertions)? != value {
            return Ok(true);
        }
        let planned = self.search.order_for(&assertions, &[])?;
        if self.search.algebra.orders.opened(planned) == planned {
            return Ok(false);
        }
        let (_, narrowed) = self.search.begin_object(planned, value.objects, false)?;
        let beyond = self.search.algebra.formulas.not(narrowed);
        self.has_objects(value.objects, beyond)
    }

    /// Whether numbers satisfy some subschemas that a style with bounded numerals cannot write. The automaton's own style has all numbers.
    pub(crate) fn has_unwritable_numbers(&mut self, nodes: &[NodeId]) -> Result<bool, AutomatonError> {
        let assertions = self.assertions_of(nodes);
        let numbers = self.search.algebra.combined(&assertions, &[])?.numbers;
        Ok(self.search.algebra.has_unwritable(numbers)?)
    }

    fn assertions_of(&mut self, nodes: &[NodeId]) -> Vec<AssertionId> {
        let mut assertions: Vec<AssertionId> = nodes.iter().map(|node| self.assertion_of(*node)).collect();
        assertions.sort_unstable();
        assertions.dedup();
        assertions
    }

    fn names(&mut self, names: &[String]) -> Vec<TextId> {
        let algebra = &mut self.search.algebra;
        let mut names: Vec<TextId> = names.iter().map(|name| algebra.texts.intern(name)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether some object satisfies both formulas.
    fn has_objects(&mut self, one: FormulaId, other: FormulaId) -> Result<bool, AutomatonError> {
        let both = self.search.algebra.formulas.and([one, other]);
        self.search.object_can_end(both, &[])
    }

    /// Whether some array satisfies a formula and has so many items.
    fn has_array_of(&mut self, arrays: FormulaId, items: u64) -> Result<bool, AutomatonError> {
        let algebra = &mut self.search.algebra;
        let long = algebra.atom(AtomKind::LengthAtLeast(items));
        let both = algebra.formulas.and([arrays, long]);
        self.search.array_can_end(both, ItemsId::EMPTY)
    }

    /// Whether some object satisfies a formula and has a key in a language.
    fn has_key_in(&mut self, objects: FormulaId, keys: LanguageId) -> Result<bool, AutomatonError> {
        if self.languages_mut().is_empty(keys)? {
            return Ok(false);
        }
        let algebra = &mut self.search.algebra;
        let none = algebra.members(Keys::Language(keys), AssertionId::NOTHING);
        let some = algebra.formulas.not(none);
        self.has_objects(objects, some)
    }

    fn nests_freely(
        &mut self,
        value: &Constraint,
        facts: &ValueFacts,
        names: &[TextId],
        has_others: bool,
    ) -> Result<bool, AutomatonError> {
        if self.bounds().free_depth.is_none() {
            return Ok(false);
        }
        if value.arrays == FormulaId::TRUE || has_others && value.objects == FormulaId::TRUE {
            return Ok(true);
        }
        if let Some(from) = facts.free_items_from
            && value.arrays != FormulaId::FALSE
            && self.has_array_of(value.arrays, from.saturating_add(1))?
        {
            return Ok(true);
        }
        if facts.speaks_of_others || value.objects == FormulaId::FALSE || !has_others {
            return Ok(false);
        }
        let mut taken = Vec::new();
        for pattern in &facts.patterns {
            taken.extend(self.languages_mut().pattern(pattern));
        }
        let taken = self.languages_mut().or(&taken)?;
        let others = self.languages_mut().not(taken)?;
        let others = self.search.algebra.without_keys(others, names)?;
        self.has_key_in(value.objects, others)
    }

    fn has_long_strings(&mut self, value: &Constraint) -> Result<bool, AutomatonError> {
        let Some(bound) = self.bounds().string_characters else {
            return Ok(false);
        };
        let written = value.all_strings().written();
        Ok(written != self.languages().none() && self.is_endless(written) && self.has_longer_than(written, bound)?)
    }

    fn has_longer_than(&mut self, language: LanguageId, characters: u32) -> Result<bool, AutomatonError> {
        let long = self.languages_mut().length(u64::from(characters) + 1, None)?;
        let long = self.languages_mut().and(&[language, long])?;
        // A language that has no longest text has one that is longer, unless telling takes more than the limits allow.
        Ok(!self.languages_mut().is_empty(long).unwrap_or(false))
    }

    fn has_long_names(&mut self, value: &Constraint, names: &[TextId]) -> Result<bool, AutomatonError> {
        let Some(bound) = self
            .bounds()
            .effective_name_characters()
            .filter(|_| value.objects != FormulaId::FALSE)
        else {
            return Ok(false);
        };
        let long = self.languages_mut().length(u64::from(bound) + 1, None)?;
        let long = self.search.algebra.without_keys(long, names)?;
        self.has_key_in(value.objects, long)
    }

    fn has_long_arrays(&mut self, value: &Constraint) -> Result<bool, AutomatonError> {
        match self.bounds().array_items {
            Some(bound) if !self.search.algebra.has_most_items(value.arrays) => {
                self.has_array_of(value.arrays, u64::from(bound) + 1)
            }
            _ => Ok(false),
        }
    }

    fn has_large_objects(&mut self, value: &Constraint, names: &[TextId]) -> Result<bool, AutomatonError> {
        match self.bounds().object_members {
            Some(bound) if !self.search.algebra.has_most_members(value.objects) => {
                // Keys that the schema lists count only where they come in any order.
                let listed = match self.search.algebra.style.key_order {
                    KeyOrder::Schema => names.len() as u64,
                    KeyOrder::Any => 0,
                };
                let members = u64::from(bound) + listed + 1;
                let large = self.search.algebra.atom(AtomKind::CountAtLeast(members));
                self.has_objects(value.objects, large)
            }
            _ => Ok(false),
        }
    }
}
