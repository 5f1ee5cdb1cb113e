//! From a goal to what it means for each type of value.
//!
//! Applicators that look at the same value (`allOf`, `anyOf`, `oneOf`, `not`, `if`, `$ref`) are resolved here, type by
//! type: strings and numbers are Boolean algebras of sets, arrays and objects formulas over atoms. A `oneOf` whose
//! branches differ in type thus costs nothing.

use crate::json::{Shape, Value, ValueRef};
use crate::schema::{Body, Keywords, NodeId, TypeSet};
use crate::strings::{LanguageId, PatternError};
use crate::{CompileError, CompileErrorKind};

use super::atom::{AtomKind, Keys};
use super::formula::FormulaId;
use super::goal::{Constraint, Goal, GoalId};
use super::{Automaton, Formats};

/// Nesting of applicators and references on one value that is followed.
pub(super) const MAX_DEPTH: usize = 256;

impl Automaton {
    /// What `goal` means. Expanded once.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where a keyword cannot be treated, or a reference leads back to its own value.
    pub(super) fn constraint(&mut self, goal: GoalId) -> Result<Constraint, CompileError> {
        let mut path = Vec::new();
        self.expand(goal, &mut path)
    }

    fn expand(&mut self, goal: GoalId, path: &mut Vec<GoalId>) -> Result<Constraint, CompileError> {
        if let Some(constraint) = self.constraints.get(&goal) {
            return Ok(*constraint);
        }
        let constraint = match self.goals.get(goal).clone() {
            Goal::Anything => self.everything(),
            Goal::Nothing => self.nothing(),
            Goal::Equal(value) => self.equal(value.as_ref())?,
            Goal::AnyOf(goals) => {
                let mut any = self.nothing();
                for &goal in &goals {
                    let one = self.expand(goal, path)?;
                    any = self.either(any, one)?;
                }
                any
            }
            Goal::Node(node) => {
                if path.contains(&goal) {
                    let message = "a reference leads back to the value it describes, which therefore has no meaning";
                    return Err(self.error(node, CompileErrorKind::Malformed, "$ref", message));
                }
                if path.len() >= MAX_DEPTH {
                    let message = format!("more than {MAX_DEPTH} applicators and references on one value");
                    return Err(self.error(node, CompileErrorKind::LimitExceeded, "$ref", &message));
                }
                path.push(goal);
                let constraint = self.node(node, path);
                path.pop();
                constraint?
            }
        };
        self.constraints.insert(goal, constraint);
        Ok(constraint)
    }

    /// The goal of being valid under a subschema.
    pub(crate) fn goal_of(&mut self, node: NodeId) -> GoalId {
        let goal = match &self.schema.node(node).body {
            Body::Anything => Goal::Anything,
            Body::Nothing => Goal::Nothing,
            Body::Keywords(_) => Goal::Node(node),
        };
        self.goals.intern(goal)
    }

    fn node(&mut self, node: NodeId, path: &mut Vec<GoalId>) -> Result<Constraint, CompileError> {
        let schema = self.schema.clone();
        let Body::Keywords(keywords) = &schema.node(node).body else {
            let goal = self.goal_of(node);
            return Ok(if goal == GoalId::ANYTHING {
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
            let values = self.values(values)?;
            all = self.both(all, values)?;
        }
        all.numbers = self.numbers(node, keywords, all)?;
        all.strings = self.strings(node, keywords, all)?;
        all.arrays = self.arrays(keywords, all);
        all.objects = self.objects(node, keywords, all, path)?;
        for &part in keywords.all_of.iter().chain(&keywords.refs) {
            let part = self.part(part, path)?;
            all = self.both(all, part)?;
        }
        if let Some(branches) = &keywords.any_of {
            let mut any = self.nothing();
            for &branch in branches {
                let branch = self.part(branch, path)?;
                any = self.either(any, branch)?;
            }
            all = self.both(all, any)?;
        }
        if let Some(branches) = &keywords.one_of {
            let one = self.exactly_one(branches, path)?;
            all = self.both(all, one)?;
        }
        if let Some(not) = keywords.not {
            let not = self.part(not, path)?;
            let not = self.complement(not)?;
            all = self.both(all, not)?;
        }
        if let Some((condition, then, otherwise)) = keywords.if_then_else {
            let branch = self.conditional(condition, then, otherwise, path)?;
            all = self.both(all, branch)?;
        }
        if let Some(rest) = keywords.unevaluated_items {
            let rest = self.unevaluated_items(node, rest, path)?;
            all.arrays = self.formulas.and([all.arrays, rest]);
        }
        if let Some(rest) = keywords.unevaluated_properties {
            let rest = self.unevaluated_properties(node, rest, path)?;
            all.objects = self.formulas.and([all.objects, rest]);
        }
        Ok(all)
    }

    pub(super) fn part(&mut self, node: NodeId, path: &mut Vec<GoalId>) -> Result<Constraint, CompileError> {
        let goal = self.goal_of(node);
        self.expand(goal, path)
    }

    pub(super) fn error(&self, node: NodeId, kind: CompileErrorKind, keyword: &str, message: &str) -> CompileError {
        let place = self.schema.node(node).place;
        self.schema
            .error_at(place, kind, message.to_owned())
            .on_keyword(keyword)
    }

    pub(super) fn everything(&mut self) -> Constraint {
        Constraint {
            null: true,
            yes: true,
            no: true,
            numbers: self.number_texts.sets_mut().all(),
            strings: self.languages.any(),
            arrays: FormulaId::TRUE,
            objects: FormulaId::TRUE,
        }
    }

    fn nothing(&mut self) -> Constraint {
        Constraint {
            null: false,
            yes: false,
            no: false,
            numbers: self.number_texts.sets_mut().none(),
            strings: self.languages.none(),
            arrays: FormulaId::FALSE,
            objects: FormulaId::FALSE,
        }
    }

    fn types(&mut self, all: Constraint, types: TypeSet) -> Constraint {
        let boolean = types.contains(TypeSet::BOOLEAN);
        Constraint {
            null: types.contains(TypeSet::NULL),
            yes: boolean,
            no: boolean,
            numbers: match (types.contains(TypeSet::NUMBER), types.contains(TypeSet::INTEGER)) {
                (true, _) => all.numbers,
                (false, true) => self.number_texts.sets_mut().integers(),
                (false, false) => self.number_texts.sets_mut().none(),
            },
            strings: match types.contains(TypeSet::STRING) {
                true => all.strings,
                false => self.languages.none(),
            },
            arrays: FormulaId::constant(types.contains(TypeSet::ARRAY)),
            objects: FormulaId::constant(types.contains(TypeSet::OBJECT)),
        }
    }

    /// Any of the values of an `enum`.
    fn values(&mut self, values: &[Value]) -> Result<Constraint, CompileError> {
        let mut any = self.nothing();
        let (mut numbers, mut strings) = (Vec::new(), Vec::new());
        for value in values {
            match value.as_ref().shape() {
                Shape::Null => any.null = true,
                Shape::Bool(true) => any.yes = true,
                Shape::Bool(false) => any.no = true,
                Shape::Number(number) => numbers.push(number.clone()),
                Shape::String(text) => strings.push(text),
                Shape::Array(_) => {
                    let equal = self.equal(value.as_ref())?;
                    any.arrays = self.formulas.or([any.arrays, equal.arrays]);
                }
                Shape::Object(_) => {
                    let equal = self.equal(value.as_ref())?;
                    any.objects = self.formulas.or([any.objects, equal.objects]);
                }
            }
        }
        any.numbers = self.number_texts.sets_mut().one_of(numbers).map_err(super::limit)?;
        any.strings = self.languages.one_of(&strings).map_err(super::limit)?;
        Ok(any)
    }

    /// Equality with one value.
    fn equal(&mut self, value: ValueRef<'_>) -> Result<Constraint, CompileError> {
        let mut equal = self.nothing();
        match value.shape() {
            Shape::Null => equal.null = true,
            Shape::Bool(true) => equal.yes = true,
            Shape::Bool(false) => equal.no = true,
            Shape::Number(number) => equal.numbers = self.number_texts.sets_mut().exactly(number.clone()),
            Shape::String(text) => equal.strings = self.languages.literal(text).map_err(super::limit)?,
            Shape::Array(length) => {
                let mut parts = self.between(AtomKind::LengthAtLeast, length as u64, Some(length as u64));
                for (index, item) in value.items().enumerate() {
                    let goal = self.goals.intern(Goal::Equal(item.to_value()));
                    let index = index as u64;
                    parts.push(self.items(index, Some(index + 1), goal));
                }
                equal.arrays = self.formulas.and(parts);
            }
            Shape::Object(count) => {
                let mut parts = self.between(AtomKind::CountAtLeast, 0, Some(count as u64));
                for (name, value) in value.members() {
                    let goal = self.goals.intern(Goal::Equal(value.to_value()));
                    parts.push(self.has(name));
                    let name = Keys::Name(self.texts.intern(name));
                    parts.push(self.members(name, goal));
                }
                equal.objects = self.formulas.and(parts);
            }
        }
        Ok(equal)
    }

    pub(super) fn atom(&mut self, kind: AtomKind) -> FormulaId {
        let atom = self.atoms.intern(kind);
        self.formulas.atom(atom)
    }

    fn has(&mut self, name: &str) -> FormulaId {
        let name = self.texts.intern(name);
        self.atom(AtomKind::Has(name))
    }

    /// "At least `min` and at most `max`", in terms of atoms that say "at least".
    fn between(&mut self, kind: impl Fn(u64) -> AtomKind, min: u64, max: Option<u64>) -> Vec<FormulaId> {
        let mut parts = Vec::new();
        if min > 0 {
            parts.push(self.atom(kind(min)));
        }
        if let Some(over) = max.and_then(|max| max.checked_add(1)) {
            let over = self.atom(kind(over));
            parts.push(self.formulas.not(over));
        }
        parts
    }

    pub(super) fn items(&mut self, from: u64, to: Option<u64>, goal: GoalId) -> FormulaId {
        match (goal, to) {
            (GoalId::ANYTHING, _) => FormulaId::TRUE,
            (GoalId::NOTHING, None) => {
                let longer = self.atom(AtomKind::LengthAtLeast(from + 1));
                self.formulas.not(longer)
            }
            _ => self.atom(AtomKind::Items { from, to, goal }),
        }
    }

    pub(super) fn members(&mut self, keys: Keys, goal: GoalId) -> FormulaId {
        match (goal, keys) {
            (GoalId::ANYTHING, _) => FormulaId::TRUE,
            (GoalId::NOTHING, Keys::Name(name)) => {
                let has = self.atom(AtomKind::Has(name));
                self.formulas.not(has)
            }
            _ => self.atom(AtomKind::Members(keys, goal)),
        }
    }

    fn numbers(
        &mut self,
        node: NodeId,
        keywords: &Keywords,
        all: Constraint,
    ) -> Result<crate::numbers::NumberSetId, CompileError> {
        let mut numbers = all.numbers;
        let mut bounds = Vec::new();
        if let Some(bound) = &keywords.minimum {
            bounds.push(match bound.exclusive {
                true => self.number_texts.sets_mut().above(bound.value.clone()),
                false => self.number_texts.sets_mut().at_least(bound.value.clone()),
            });
        }
        if let Some(bound) = &keywords.maximum {
            bounds.push(match bound.exclusive {
                true => self.number_texts.sets_mut().below(bound.value.clone()),
                false => self.number_texts.sets_mut().at_most(bound.value.clone()),
            });
        }
        if let Some(step) = &keywords.multiple_of {
            let multiples = self.number_texts.sets_mut().multiple_of(step);
            bounds.push(multiples.map_err(|error| {
                self.error(node, CompileErrorKind::LimitExceeded, "multipleOf", &error.to_string())
            })?);
        }
        for bound in bounds {
            numbers = self.number_texts.sets_mut().and(numbers, bound).map_err(super::limit)?;
        }
        Ok(numbers)
    }

    fn strings(&mut self, node: NodeId, keywords: &Keywords, all: Constraint) -> Result<LanguageId, CompileError> {
        let mut parts = vec![all.strings];
        if keywords.min_length.is_some() || keywords.max_length.is_some() {
            let length = self
                .languages
                .length(keywords.min_length.unwrap_or(0), keywords.max_length);
            parts.push(length.map_err(super::limit)?);
        }
        if let Some(pattern) = &keywords.pattern {
            parts.push(self.pattern(node, "pattern", pattern)?);
        }
        let asserted = keywords.format_asserted || self.formats == Formats::Asserted;
        if let Some(format) = keywords.format.as_deref().filter(|_| asserted) {
            parts.extend(self.format(node, format)?);
        }
        self.languages.and(&parts).map_err(super::limit)
    }

    /// The language of a format; none of one that no draft defines, which is an annotation.
    fn format(&mut self, node: NodeId, name: &str) -> Result<Option<LanguageId>, CompileError> {
        let language = self.languages.format(name);
        language.map_err(|error| self.error(node, CompileErrorKind::LimitExceeded, "format", &error.to_string()))
    }

    pub(super) fn pattern(&mut self, node: NodeId, keyword: &str, pattern: &str) -> Result<LanguageId, CompileError> {
        let language = self.languages.pattern(pattern);
        language.map_err(|error| {
            let kind = match error {
                PatternError::Syntax { .. } => CompileErrorKind::Malformed,
                PatternError::Unsupported { .. } => CompileErrorKind::Unsupported,
                _ => CompileErrorKind::LimitExceeded,
            };
            self.error(node, kind, keyword, &error.to_string())
        })
    }

    fn arrays(&mut self, keywords: &Keywords, all: Constraint) -> FormulaId {
        let mut parts = vec![all.arrays];
        for (index, &node) in (0..).zip(&keywords.prefix_items) {
            let goal = self.goal_of(node);
            parts.push(self.items(index, Some(index + 1), goal));
        }
        if let Some(node) = keywords.items {
            let goal = self.goal_of(node);
            parts.push(self.items(keywords.prefix_items.len() as u64, None, goal));
        }
        if let Some(contains) = keywords.contains {
            let goal = self.goal_of(contains.node);
            parts.extend(self.between(|count| AtomKind::Contains(goal, count), contains.min, contains.max));
        }
        let min = keywords.min_items.unwrap_or(0);
        parts.extend(self.between(AtomKind::LengthAtLeast, min, keywords.max_items));
        if keywords.unique_items {
            parts.push(self.atom(AtomKind::Unique));
        }
        self.formulas.and(parts)
    }

    fn objects(
        &mut self,
        node: NodeId,
        keywords: &Keywords,
        all: Constraint,
        path: &mut Vec<GoalId>,
    ) -> Result<FormulaId, CompileError> {
        let mut parts = vec![all.objects];
        for (name, value) in &keywords.properties {
            let goal = self.goal_of(*value);
            let name = Keys::Name(self.texts.intern(name));
            parts.push(self.members(name, goal));
        }
        let names: Vec<&str> = keywords.properties.iter().map(|(name, _)| name.as_str()).collect();
        let mut declared = vec![self.languages.one_of(&names).map_err(super::limit)?];
        for (pattern, value) in &keywords.pattern_properties {
            let language = self.pattern(node, "patternProperties", pattern)?;
            declared.push(language);
            let goal = self.goal_of(*value);
            parts.push(self.members(Keys::Language(language), goal));
        }
        if let Some(additional) = keywords.additional_properties {
            let goal = self.goal_of(additional);
            let declared = self.languages.or(&declared).map_err(super::limit)?;
            let others = self.languages.not(declared).map_err(super::limit)?;
            parts.push(self.members(Keys::Language(others), goal));
        }
        if let Some(names) = keywords.property_names {
            let names = self.part(names, path)?.strings;
            let others = self.languages.not(names).map_err(super::limit)?;
            parts.push(self.members(Keys::Language(others), GoalId::NOTHING));
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
            let schema = self.part(*schema, path)?.objects;
            parts.push(self.implied(name, schema));
        }
        Ok(self.formulas.and(parts))
    }

    /// "If there is a member `name`, then `consequence`."
    fn implied(&mut self, name: &str, consequence: FormulaId) -> FormulaId {
        let has = self.has(name);
        let without = self.formulas.not(has);
        self.formulas.or([without, consequence])
    }

    pub(super) fn both(&mut self, a: Constraint, b: Constraint) -> Result<Constraint, CompileError> {
        Ok(Constraint {
            null: a.null && b.null,
            yes: a.yes && b.yes,
            no: a.no && b.no,
            numbers: self
                .number_texts
                .sets_mut()
                .and(a.numbers, b.numbers)
                .map_err(super::limit)?,
            strings: self.languages.and(&[a.strings, b.strings]).map_err(super::limit)?,
            arrays: self.formulas.and([a.arrays, b.arrays]),
            objects: self.formulas.and([a.objects, b.objects]),
        })
    }

    fn either(&mut self, a: Constraint, b: Constraint) -> Result<Constraint, CompileError> {
        Ok(Constraint {
            null: a.null || b.null,
            yes: a.yes || b.yes,
            no: a.no || b.no,
            numbers: self
                .number_texts
                .sets_mut()
                .or(a.numbers, b.numbers)
                .map_err(super::limit)?,
            strings: self.languages.or(&[a.strings, b.strings]).map_err(super::limit)?,
            arrays: self.formulas.or([a.arrays, b.arrays]),
            objects: self.formulas.or([a.objects, b.objects]),
        })
    }

    pub(super) fn complement(&mut self, a: Constraint) -> Result<Constraint, CompileError> {
        Ok(Constraint {
            null: !a.null,
            yes: !a.yes,
            no: !a.no,
            numbers: self.number_texts.sets_mut().not(a.numbers),
            strings: self.languages.not(a.strings).map_err(super::limit)?,
            arrays: self.formulas.not(a.arrays),
            objects: self.formulas.not(a.objects),
        })
    }

    fn exactly_one(&mut self, branches: &[NodeId], path: &mut Vec<GoalId>) -> Result<Constraint, CompileError> {
        let (mut none, mut one) = (self.everything(), self.nothing());
        for &branch in branches {
            let branch = self.part(branch, path)?;
            let not = self.complement(branch)?;
            let first = self.both(none, branch)?;
            let still = self.both(one, not)?;
            one = self.either(first, still)?;
            none = self.both(none, not)?;
        }
        Ok(one)
    }

    fn conditional(
        &mut self,
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
        path: &mut Vec<GoalId>,
    ) -> Result<Constraint, CompileError> {
        let holds = self.part(condition, path)?;
        let fails = self.complement(holds)?;
        let then = match then {
            Some(then) => self.part(then, path)?,
            None => self.everything(),
        };
        let otherwise = match otherwise {
            Some(otherwise) => self.part(otherwise, path)?,
            None => self.everything(),
        };
        let yes = self.both(holds, then)?;
        let no = self.both(fails, otherwise)?;
        self.either(yes, no)
    }
}
