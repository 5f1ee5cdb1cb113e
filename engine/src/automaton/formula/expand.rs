//! Expands an assertion to its meaning for each type of value.
//!
//! Applicators on the same value (`allOf`, `anyOf`, `oneOf`, `not`, `if`, `$ref`) are resolved here type by type.
//! Strings and numbers form Boolean algebras of sets, and arrays and objects are described by formulas over atoms. So a
//! `oneOf` whose branches differ in type costs nothing.

use crate::automaton::Formats;
use crate::automaton::error::limit_error;
use crate::automaton::formula::{
    Algebra, Assertion, AssertionId, AtomKind, Constraint, FormulaId, Keys, Strings, TextId,
};
use crate::json::{Shape, Value, ValueRef};
use crate::limits::Exceeded;
use crate::numbers::NumberSetId;
use crate::schema::{Body, Keywords, NodeId};
use crate::strings::LanguageId;
use crate::{CompileError, CompileErrorKind, KeyOrder};
use hashbrown::HashSet;

/// Number of different subschemas before it, the last ones, that a subschema of `patternProperties` is compared with. Comparing it with
/// all would take quadratic time.
const COMPARED_PATTERNS: usize = 64;

impl Algebra {
    /// The constraint of `assertion`, which is expanded only once.
    ///
    /// # Errors
    ///
    /// [`CompileError`], if a keyword is not supported, or if a reference leads back to its own value.
    pub(crate) fn constraint(&mut self, assertion: AssertionId) -> Result<Constraint, CompileError> {
        if let Some(constraint) = self.constraints.get(&assertion) {
            return Ok(*constraint);
        }
        // Each assertion is expanded after the assertions that it is made of; the path holds those that wait for
        // others.
        let mut path = vec![assertion];
        let mut entered = HashSet::new();
        // The assertions that wait for a part, each of which is a part of the one before it.
        let mut waiting = Vec::new();
        while let Some(&assertion) = path.last() {
            if self.constraints.contains_key(&assertion) {
                path.pop();
            } else if entered.insert(assertion) {
                waiting.push(assertion);
                for part in self.parts(assertion) {
                    if entered.contains(&part) && !self.constraints.contains_key(&part) {
                        return Err(self.circular(&waiting, part));
                    }
                    path.push(part);
                }
            } else {
                let constraint = self.expand(assertion)?;
                debug_assert!(self.is_about(constraint.objects, true) && self.is_about(constraint.arrays, false));
                self.constraints.insert(assertion, constraint);
                waiting.pop();
            }
        }
        self.expand(assertion)
    }

    /// Whether all atoms of a formula are about members of objects, or all about items of arrays.
    fn is_about(&self, formula: FormulaId, objects: bool) -> bool {
        let mut atoms = self.formulas.atoms(formula).iter();
        atoms.all(|atom| self.atoms.kind(*atom).is_of_objects() == objects)
    }

    /// The assertions on the same value that an assertion is made of.
    pub(crate) fn parts(&mut self, assertion: AssertionId) -> Vec<AssertionId> {
        let node = match self.assertions.get(assertion) {
            Assertion::AnyOf(assertions) => return assertions.to_vec(),
            Assertion::Node(node) => *node,
            _ => return Vec::new(),
        };
        let schema = self.schema.clone();
        let Body::Keywords(keywords) = &schema.node(node).body else {
            return Vec::new();
        };
        let mut parts: Vec<NodeId> = keywords.all_of.iter().chain(&keywords.refs).copied().collect();
        parts.extend(keywords.any_of.iter().chain(&keywords.one_of).flatten());
        parts.extend(keywords.not.iter().chain(&keywords.property_names));
        parts.extend(keywords.dependent_schemas.iter().map(|(_, schema)| schema));
        if let Some((condition, then, otherwise)) = keywords.if_then_else {
            parts.extend([Some(condition), then, otherwise].into_iter().flatten());
        }
        parts.into_iter().map(|part| self.assertion_of(part)).collect()
    }

    /// The error for an assertion that is a part of itself: each of `waiting` is a part of the one before it, and `part`, which is one of
    /// them, is a part of the last.
    fn circular(&self, waiting: &[AssertionId], part: AssertionId) -> CompileError {
        let (mut referring, mut target) = (None, part);
        for &assertion in waiting.iter().rev() {
            if let (Assertion::Node(node), Assertion::Node(target)) =
                (self.assertions.get(assertion), self.assertions.get(target))
                && let Body::Keywords(keywords) = &self.schema.node(*node).body
            {
                if keywords.refs.contains(target) {
                    referring = referring.or(Some(*node));
                } else if keywords.property_names == Some(*target) {
                    // A name is a value of its own, so that the schema has a meaning.
                    let message = "the schema of names leads back to the value that has them, which is not supported: write it without \
                                   the reference";
                    return self.error(*node, CompileErrorKind::Unsupported, "propertyNames", message);
                }
            }
            if assertion == part {
                break;
            }
            target = assertion;
        }
        let message = "a reference leads back to the value it describes, which therefore has no meaning";
        match referring {
            Some(node) => {
                let place = self.schema.node(node).location;
                let is_there = |name: &&str| self.schema.member(place, name).is_some();
                let found = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter().find(is_there);
                self.error(node, CompileErrorKind::Malformed, found.unwrap_or("$ref"), message)
            }
            None => CompileError::new(CompileErrorKind::Malformed, message),
        }
    }

    /// The constraint of an assertion whose parts have been expanded already.
    fn expand(&mut self, assertion: AssertionId) -> Result<Constraint, CompileError> {
        if let Some(constraint) = self.constraints.get(&assertion) {
            return Ok(*constraint);
        }
        match self.assertions.get(assertion).clone() {
            Assertion::Anything => Ok(self.everything()),
            Assertion::Nothing => Ok(self.nothing()),
            Assertion::Free(level) => Ok(self.free_value(level)),
            Assertion::Equal(value) => Ok(self.equal(value.as_ref())),
            Assertion::Text(text) => self.equal_string(text),
            Assertion::Array(items) | Assertion::WrittenArray(items) => Ok(self.equal_items(&items)),
            Assertion::Object(members) | Assertion::WrittenObject(members) => Ok(self.equal_members(&members)),
            Assertion::AnyOf(assertions) => {
                let parts: Result<Vec<_>, _> = assertions.iter().map(|assertion| self.constraint(*assertion)).collect();
                self.any(&parts?)
            }
            Assertion::Node(node) => self
                .node(node)
                .map_err(|error| match (error.pointer(), error.keyword()) {
                    // An error about a limit of strings, numbers or formulas carries no location yet.
                    (None, None) => {
                        let place = self.schema.node(node).location;
                        self.schema.error_at(place, error.kind(), error.message().to_owned())
                    }
                    _ => error,
                }),
        }
    }

    /// The constraint of a subschema, from all of its keywords.
    pub(super) fn node(&mut self, node: NodeId) -> Result<Constraint, CompileError> {
        self.check_memory(self.memory())?;
        let schema = self.schema.clone();
        let Body::Keywords(keywords) = &schema.node(node).body else {
            let assertion = self.assertion_of(node);
            return Ok(if assertion == AssertionId::ANYTHING {
                self.everything()
            } else {
                self.nothing()
            });
        };
        let mut all = self.everything();
        if let Some(types) = keywords.types {
            all = self.types(all, types);
        }
        if let Some(values) = &keywords.values {
            if self.style.key_order == KeyOrder::Schema {
                self.note_written(node);
            }
            let mut values = self.values(node, values)?;
            if !schema.writes_zero_fractions(schema.node(node).location) {
                values.numbers = values.numbers.as_integer_literals();
            }
            all = self.both(all, values)?;
        }
        all.numbers = self.numbers(node, keywords, all)?;
        let strings = self.strings(node, keywords, all)?;
        all = all.with_strings(strings);
        all.arrays = self.arrays(keywords, all);
        all.objects = self.objects(node, keywords, all)?;
        let parts = keywords.all_of.iter().chain(&keywords.refs);
        let parts: Vec<AssertionId> = parts.map(|part| self.assertion_of(*part)).collect();
        if !parts.is_empty() {
            let parts = self.combined(&parts, &[])?;
            all = self.both(all, parts)?;
        }
        if let Some(branches) = &keywords.any_of {
            let parts: Result<Vec<_>, _> = branches.iter().map(|branch| self.part(*branch)).collect();
            let any = self.any(&parts?)?;
            all = self.both(all, any)?;
        }
        if let Some(branches) = &keywords.one_of {
            let one = self.exactly_one(branches)?;
            all = self.both(all, one)?;
        }
        if let Some(not) = keywords.not {
            let not = self.part(not)?;
            let not = self.complement(not)?;
            all = self.both(all, not)?;
        }
        if let Some((condition, then, otherwise)) = keywords.if_then_else {
            let branch = self.conditional(condition, then, otherwise)?;
            all = self.both(all, branch)?;
        }
        if let Some(rest) = keywords.unevaluated_items {
            let rest = self.unevaluated_items(node, rest)?;
            all.arrays = self.formulas.and([all.arrays, rest]);
        }
        if let Some(rest) = keywords.unevaluated_properties {
            all.objects = self.with_unevaluated_properties(all.objects, node, rest)?;
        }
        Ok(all)
    }

    /// The constraint that a value equals one of the values of an `enum`.
    fn values(&mut self, node: NodeId, values: &[Value]) -> Result<Constraint, CompileError> {
        let mut any = self.nothing();
        let (mut numbers, mut strings) = (Vec::new(), Vec::new());
        let (mut arrays, mut objects) = (Vec::new(), Vec::new());
        for value in values {
            match value.as_ref().shape() {
                Shape::Null => any.null = true,
                Shape::Bool(true) => any.yes = true,
                Shape::Bool(false) => any.no = true,
                Shape::Number(number) => numbers.push(number.clone()),
                Shape::String(text) => strings.push(text),
                Shape::Array(_) => {
                    for value in self.as_written(node, value.as_ref()) {
                        arrays.push(self.expand(value)?.arrays);
                    }
                }
                Shape::Object(_) => {
                    for value in self.as_written(node, value.as_ref()) {
                        objects.push(self.expand(value)?.objects);
                    }
                }
            }
        }
        let (allowed, limit) = (self.limits.listed_containers, "listed_containers");
        if arrays.len().max(objects.len()) > allowed {
            let what = "objects or arrays in one `enum`";
            return Err(limit_error(Exceeded { limit, what, allowed }));
        }
        any.arrays = self.formulas.or(arrays);
        any.objects = self.formulas.or(objects);
        any.numbers = self.number_texts.sets_mut().one_of(numbers).map_err(limit_error)?;
        any.strings = self.languages.one_of(&strings).map_err(limit_error)?;
        Ok(any)
    }

    /// The constraint that a value equals `null`, `true`, `false` or a number.
    fn equal(&mut self, value: ValueRef<'_>) -> Constraint {
        let mut equal = self.nothing();
        match value.shape() {
            Shape::Null => equal.null = true,
            Shape::Bool(true) => equal.yes = true,
            Shape::Bool(false) => equal.no = true,
            Shape::Number(number) => {
                let equals = self.number_texts.sets_mut().exactly(number.clone());
                equal.numbers = equals.as_integer_literals();
            }
            Shape::String(_) | Shape::Array(_) | Shape::Object(_) => {}
        }
        equal
    }

    /// The constraint that a value is a string.
    fn equal_string(&mut self, text: TextId) -> Result<Constraint, CompileError> {
        let text = self.texts.written(text);
        let strings = self.languages.literal(&text).map_err(limit_error)?;
        Ok(Constraint {
            strings,
            ..self.nothing()
        })
    }

    /// The constraint that a value is the array of some items.
    fn equal_items(&mut self, items: &[AssertionId]) -> Constraint {
        let length = items.len() as u64;
        let mut parts = self.between(AtomKind::LengthAtLeast, length, Some(length));
        for (index, &item) in (0..).zip(items) {
            parts.push(self.items(index, Some(index + 1), item));
        }
        Constraint {
            arrays: self.formulas.and(parts),
            ..self.nothing()
        }
    }

    /// The constraint that a value is the object of some members.
    fn equal_members(&mut self, members: &[(TextId, AssertionId)]) -> Constraint {
        let mut parts = self.between(AtomKind::CountAtLeast, 0, Some(members.len() as u64));
        for &(name, value) in members {
            parts.push(self.atom(AtomKind::Has(name)));
            parts.push(self.members(Keys::Name(name), value));
        }
        Constraint {
            objects: self.formulas.and(parts),
            ..self.nothing()
        }
    }

    /// The numbers that a subschema's keywords on numbers admit.
    pub(crate) fn numbers(
        &mut self,
        node: NodeId,
        keywords: &Keywords,
        all: Constraint,
    ) -> Result<NumberSetId, CompileError> {
        let mut numbers = all.numbers;
        let mut bounds = Vec::new();
        if let Some(bound) = &keywords.minimum {
            let value = bound.value.clone();
            bounds.push(self.number_texts.sets_mut().bounded_below(value, bound.exclusive));
        }
        if let Some(bound) = &keywords.maximum {
            let value = bound.value.clone();
            bounds.push(self.number_texts.sets_mut().bounded_above(value, bound.exclusive));
        }
        if let Some(step) = &keywords.multiple_of {
            let multiples = self.number_texts.sets_mut().multiple_of(step);
            bounds.push(multiples.map_err(|error| {
                self.error(node, CompileErrorKind::LimitExceeded, "multipleOf", &error.to_string())
            })?);
        }
        for bound in bounds {
            numbers = self.number_texts.sets_mut().and(numbers, bound).map_err(limit_error)?;
        }
        Ok(numbers)
    }

    /// The strings that a subschema's keywords on strings admit.
    fn strings(&mut self, node: NodeId, keywords: &Keywords, all: Constraint) -> Result<Strings, CompileError> {
        let mut parts = vec![all.all_strings()];
        if keywords.min_length.is_some() || keywords.max_length.is_some() {
            let length = self
                .languages
                .length(keywords.min_length.unwrap_or(0), keywords.max_length);
            parts.push(Strings::alike(length.map_err(limit_error)?));
        }
        if let Some(pattern) = &keywords.pattern {
            let found = self.pattern(node, "pattern", pattern)?;
            parts.push(self.preferred_of_pattern(found, pattern)?);
        }
        let asserted = keywords.format_asserted || self.formats != Formats::Annotation;
        if let Some(format) = keywords.format.as_deref().filter(|_| asserted)
            && let Some(language) = self.format(node, format)?
        {
            parts.push(self.preferred_of_format(language, format)?);
        }
        self.all_texts(&parts).map_err(limit_error)
    }

    /// The language of a format; `None` for a format that no draft defines, which is only an annotation.
    fn format(&mut self, node: NodeId, name: &str) -> Result<Option<LanguageId>, CompileError> {
        let language = self.languages.format_with(name, self.formats == Formats::LocalTimes);
        language.map_err(|error| self.error(node, CompileErrorKind::LimitExceeded, "format", &error.to_string()))
    }

    /// The language of a regular expression, with errors reported at `keyword`.
    pub(super) fn pattern(&mut self, node: NodeId, keyword: &str, pattern: &str) -> Result<LanguageId, CompileError> {
        let language = self.languages.pattern(pattern);
        language.map_err(|error| self.error(node, error.kind(), keyword, &error.about(pattern)))
    }

    /// The formula that a subschema's keywords impose on arrays.
    pub(crate) fn arrays(&mut self, keywords: &Keywords, all: Constraint) -> FormulaId {
        let mut parts = vec![all.arrays];
        for (index, &node) in (0..).zip(&keywords.prefix_items) {
            let assertion = self.assertion_of(node);
            parts.push(self.items(index, Some(index + 1), assertion));
        }
        if let Some(node) = keywords.items {
            let assertion = self.assertion_of(node);
            parts.push(self.items(keywords.prefix_items.len() as u64, None, assertion));
        }
        if let Some(contains) = keywords.contains {
            let assertion = self.assertion_of(contains.node);
            parts.extend(self.between(|count| AtomKind::Contains(assertion, count), contains.min, contains.max));
        }
        let min = keywords.min_items.unwrap_or(0);
        parts.extend(self.between(AtomKind::LengthAtLeast, min, keywords.max_items));
        if keywords.unique_items {
            parts.push(self.atom(AtomKind::Unique));
        }
        self.formulas.and(parts)
    }

    /// The formula that a subschema's keywords impose on objects.
    pub(crate) fn objects(
        &mut self,
        node: NodeId,
        keywords: &Keywords,
        all: Constraint,
    ) -> Result<FormulaId, CompileError> {
        let mut parts = vec![all.objects];
        for (name, value) in &keywords.properties {
            let assertion = self.assertion_of(*value);
            let name = Keys::Name(self.texts.intern(name));
            parts.push(self.members(name, assertion));
        }
        let mut declared = Vec::with_capacity(keywords.pattern_properties.len() + 1);
        // Patterns with equal subschemas are joined to one language. Apart, they would give names a state for each set of patterns that
        // match.
        let mut alike: Vec<(NodeId, Vec<LanguageId>)> = Vec::new();
        for (pattern, value) in &keywords.pattern_properties {
            let language = self.pattern(node, "patternProperties", pattern)?;
            declared.push(language);
            let mut last = alike.iter_mut().rev().take(COMPARED_PATTERNS);
            match last.find(|(other, _)| self.are_alike(*other, *value)) {
                Some((first, languages)) => {
                    languages.push(language);
                    self.joined.push((*value, *first));
                }
                None => alike.push((*value, vec![language])),
            }
        }
        for (value, languages) in alike {
            let language = self.languages.or(&languages).map_err(limit_error)?;
            let assertion = self.assertion_of(value);
            parts.push(self.members(Keys::Language(language), assertion));
        }
        let additional = keywords
            .additional_properties
            .map(|additional| self.assertion_of(additional));
        if let Some(assertion) = additional.filter(|assertion| *assertion != AssertionId::ANYTHING) {
            let names: Vec<&str> = keywords.properties.iter().map(|(name, _)| name.as_str()).collect();
            declared.push(self.languages.one_of(&names).map_err(limit_error)?);
            let declared = self.languages.or(&declared).map_err(limit_error)?;
            let others = self.languages.not(declared).map_err(limit_error)?;
            if keywords.pattern_properties.is_empty() {
                self.note_enumerated_keys(others, &names);
            }
            parts.push(self.members(Keys::Language(others), assertion));
        }
        if let Some(names) = keywords.property_names {
            let names = self.part(names)?.strings;
            let others = self.languages.not(names).map_err(limit_error)?;
            parts.push(self.members(Keys::Language(others), AssertionId::NOTHING));
        }
        for name in &keywords.required {
            parts.push(self.has(name));
        }
        let min = keywords.min_properties.unwrap_or(0);
        parts.extend(self.between(AtomKind::CountAtLeast, min, keywords.max_properties));
        for (name, others) in &keywords.dependent_required {
            let others: Vec<FormulaId> = others.iter().map(|other| self.has(other)).collect();
            let others = self.formulas.and(others);
            parts.push(self.implied(name, others));
        }
        for (name, schema) in &keywords.dependent_schemas {
            let schema = self.part(*schema)?.objects;
            parts.push(self.implied(name, schema));
        }
        Ok(self.formulas.and(parts))
    }

    /// Whether two subschemas are the same. Before equal subschemas are merged, those within them differ, except for targets of references.
    fn are_alike(&self, one: NodeId, other: NodeId) -> bool {
        let schema = &self.schema;
        one == other
            || schema.node(one).body == schema.node(other).body
                && schema.is_told_by_keywords(one)
                && schema.is_told_by_keywords(other)
    }

    /// The formula "if there is a member `name`, then `consequence`".
    fn implied(&mut self, name: &str, consequence: FormulaId) -> FormulaId {
        let has = self.has(name);
        let without = self.formulas.not(has);
        self.formulas.or([without, consequence])
    }
}
