//! The reference evaluator: says by the letter of the specification whether a value is valid.
//!
//! The oracle of the engine's tests. It recurses, follows every keyword, and is slow.

use std::collections::HashSet;

use num_bigint::BigUint;

use crate::decimal::Decimal;
use crate::json::{Shape, Value, ValueRef};

use crate::schema::keywords::Contains;
use crate::schema::{Body, Keywords, NodeId, SchemaSet, TypeSet};

/// Answers about texts, which an evaluator cannot give itself.
pub(crate) trait Texts {
    /// Whether the ECMA-262 regular expression `pattern` matches somewhere in `text`.
    fn matches(&self, pattern: &str, text: &str) -> bool;

    /// Whether `text` is of the format `format`; asked where the meta-schema has formats asserted.
    fn has_format(&self, format: &str, text: &str) -> bool;
}

/// For each item or member of a value, whether a valid subschema evaluated it.
type Evaluated = Vec<bool>;

pub(crate) struct Evaluator<'s> {
    set: &'s SchemaSet,
    texts: &'s dyn Texts,
    /// Subschemas being applied, with the address of the value.
    active: HashSet<(NodeId, *const u8)>,
    cyclic: bool,
}

/// The result of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub valid: bool,
    /// Whether a subschema rested on itself for the same value, as in `{"$ref": "#"}`. It counts as invalid then; below
    /// `not` and its like that is a choice that the specification does not make.
    pub cyclic: bool,
}

pub(crate) fn evaluate(set: &SchemaSet, texts: &dyn Texts, value: &Value) -> Outcome {
    let mut evaluator = Evaluator {
        set,
        texts,
        active: HashSet::new(),
        cyclic: false,
    };
    let valid = evaluator.apply(set.root(), value.as_ref()).is_some();
    let cyclic = evaluator.cyclic;
    Outcome { valid, cyclic }
}

/// Whether `value` is valid under `set`.
pub(crate) fn is_valid(set: &SchemaSet, texts: &dyn Texts, value: &Value) -> bool {
    evaluate(set, texts, value).valid
}

impl Evaluator<'_> {
    /// Returns the items or members of `value` that `node` evaluates, if `value` is valid under it.
    fn apply(&mut self, node: NodeId, value: ValueRef<'_>) -> Option<Evaluated> {
        let set = self.set;
        let nothing = || vec![false; len(value)];
        match &set.node(node).body {
            Body::Anything => Some(nothing()),
            Body::Nothing => None,
            Body::Keywords(keywords) => {
                let key = (node, value.address());
                // A subschema that is valid only if it is valid has no finite reason to be.
                if !self.active.insert(key) {
                    self.cyclic = true;
                    return None;
                }
                let mut evaluated = nothing();
                let valid = self.apply_keywords(keywords, value, &mut evaluated);
                self.active.remove(&key);
                valid.then_some(evaluated)
            }
        }
    }

    fn holds(&mut self, node: NodeId, value: ValueRef<'_>) -> bool {
        self.apply(node, value).is_some()
    }

    fn apply_keywords(&mut self, keywords: &Keywords, value: ValueRef<'_>, evaluated: &mut Evaluated) -> bool {
        let assertions = match value.shape() {
            Shape::Number(number) => number_holds(keywords, number),
            Shape::String(text) => self.string_holds(keywords, text),
            Shape::Array(_) => self.apply_to_array(keywords, value, evaluated),
            Shape::Object(_) => self.apply_to_object(keywords, value, evaluated),
            Shape::Null | Shape::Bool(_) => true,
        };
        assertions
            && keywords.types.is_none_or(|types| has_type(types, value))
            && keywords
                .values
                .as_ref()
                .is_none_or(|values| values.iter().any(|one| one.as_ref() == value))
            && self.apply_logic(keywords, value, evaluated)
            && self.apply_unevaluated(keywords, value, evaluated)
    }

    fn apply_logic(&mut self, keywords: &Keywords, value: ValueRef<'_>, evaluated: &mut Evaluated) -> bool {
        for &node in keywords.all_of.iter().chain(&keywords.refs) {
            if !self.merge(node, value, evaluated) {
                return false;
            }
        }
        if let Some(branches) = &keywords.any_of {
            // Every branch that holds evaluates.
            let held = branches
                .iter()
                .filter(|&&node| self.merge(node, value, evaluated))
                .count();
            if held == 0 {
                return false;
            }
        }
        if let Some(branches) = &keywords.one_of {
            let held = branches
                .iter()
                .filter(|&&node| self.merge(node, value, evaluated))
                .count();
            if held != 1 {
                return false;
            }
        }
        if keywords.not.is_some_and(|node| self.holds(node, value)) {
            return false;
        }
        if let Some((condition, then, otherwise)) = keywords.if_then_else {
            let branch = if self.merge(condition, value, evaluated) {
                then
            } else {
                otherwise
            };
            return branch.is_none_or(|node| self.merge(node, value, evaluated));
        }
        true
    }

    /// Applies `node`; if it holds, the items or members that it evaluates count.
    fn merge(&mut self, node: NodeId, value: ValueRef<'_>, evaluated: &mut Evaluated) -> bool {
        let Some(found) = self.apply(node, value) else {
            return false;
        };
        for (all, one) in evaluated.iter_mut().zip(found) {
            *all |= one;
        }
        true
    }

    fn apply_unevaluated(&mut self, keywords: &Keywords, value: ValueRef<'_>, evaluated: &mut Evaluated) -> bool {
        let (node, children): (_, Vec<ValueRef<'_>>) = match value.shape() {
            Shape::Array(_) => (keywords.unevaluated_items, value.items().collect()),
            Shape::Object(_) => {
                let values = value.members().map(|(_, value)| value);
                (keywords.unevaluated_properties, values.collect())
            }
            _ => return true,
        };
        let Some(node) = node else { return true };
        children.into_iter().zip(evaluated).all(|(child, done)| {
            let before = std::mem::replace(done, true);
            before || self.holds(node, child)
        })
    }

    fn string_holds(&self, keywords: &Keywords, text: &str) -> bool {
        let length = text.chars().count() as u64;
        within(length, keywords.min_length, keywords.max_length)
            && keywords
                .pattern
                .as_ref()
                .is_none_or(|pattern| self.texts.matches(pattern, text))
            && keywords
                .format
                .as_ref()
                .is_none_or(|format| !keywords.format_asserted || self.texts.has_format(format, text))
    }

    fn apply_to_array(&mut self, keywords: &Keywords, value: ValueRef<'_>, evaluated: &mut Evaluated) -> bool {
        let count = evaluated.len() as u64;
        if !within(count, keywords.min_items, keywords.max_items) {
            return false;
        }
        if keywords.unique_items && value.items().collect::<HashSet<_>>().len() < evaluated.len() {
            return false;
        }
        for (position, item) in value.items().enumerate() {
            let node = keywords.prefix_items.get(position).copied().or(keywords.items);
            if let Some(node) = node {
                evaluated[position] = true;
                if !self.holds(node, item) {
                    return false;
                }
            }
        }
        keywords
            .contains
            .is_none_or(|contains| self.apply_contains(contains, value, evaluated))
    }

    fn apply_contains(&mut self, contains: Contains, value: ValueRef<'_>, evaluated: &mut Evaluated) -> bool {
        let mut found = 0;
        for (item, done) in value.items().zip(evaluated) {
            if self.holds(contains.node, item) {
                found += 1;
                *done |= contains.evaluates;
            }
        }
        found >= contains.min && contains.max.is_none_or(|max| found <= max)
    }

    fn apply_to_object(&mut self, keywords: &Keywords, value: ValueRef<'_>, evaluated: &mut Evaluated) -> bool {
        let names: HashSet<&str> = value.members().map(|(name, _)| name).collect();
        let has_all = |required: &[String]| required.iter().all(|name| names.contains(name.as_str()));
        let mut dependent = keywords.dependent_required.iter();
        if !within(names.len() as u64, keywords.min_properties, keywords.max_properties)
            || !has_all(&keywords.required)
            || !dependent.all(|(name, required)| !names.contains(name.as_str()) || has_all(required))
        {
            return false;
        }
        for (name, node) in &keywords.dependent_schemas {
            if names.contains(name.as_str()) && !self.merge(*node, value, evaluated) {
                return false;
            }
        }
        let members: Vec<_> = value.members().collect();
        members.into_iter().zip(evaluated).all(|((name, member), done)| {
            let nodes = self.nodes_for(keywords, name);
            *done |= !nodes.is_empty();
            let name_holds = keywords.property_names.is_none_or(|node| {
                let name = Value::string(name);
                self.holds(node, name.as_ref())
            });
            name_holds && nodes.into_iter().all(|node| self.holds(node, member))
        })
    }

    /// The subschemas that `properties` and its companions apply to the value of the member `name`.
    fn nodes_for(&self, keywords: &Keywords, name: &str) -> Vec<NodeId> {
        let declared = keywords.properties.iter().filter(|(known, _)| known == name);
        let patterns = keywords.pattern_properties.iter();
        let matching = patterns.filter(|(pattern, _)| self.texts.matches(pattern, name));
        let mut nodes: Vec<NodeId> = declared.chain(matching).map(|&(_, node)| node).collect();
        if nodes.is_empty() {
            nodes.extend(keywords.additional_properties);
        }
        nodes
    }
}

fn len(value: ValueRef<'_>) -> usize {
    match value.shape() {
        Shape::Array(len) | Shape::Object(len) => len,
        _ => 0,
    }
}

fn within(count: u64, min: Option<u64>, max: Option<u64>) -> bool {
    min.is_none_or(|min| count >= min) && max.is_none_or(|max| count <= max)
}

fn has_type(types: TypeSet, value: ValueRef<'_>) -> bool {
    let own = match value.shape() {
        Shape::Null => TypeSet::NULL,
        Shape::Bool(_) => TypeSet::BOOLEAN,
        Shape::Number(number) if number.is_integer() && types.contains(TypeSet::INTEGER) => TypeSet::INTEGER,
        // A value has no spelling; the judges of masks know that of a text.
        Shape::Number(number) if number.is_integer() && types.contains(TypeSet::INTEGER_LITERAL) => {
            TypeSet::INTEGER_LITERAL
        }
        Shape::Number(_) => TypeSet::NUMBER,
        Shape::String(_) => TypeSet::STRING,
        Shape::Array(_) => TypeSet::ARRAY,
        Shape::Object(_) => TypeSet::OBJECT,
    };
    types.contains(own)
}

fn number_holds(keywords: &Keywords, number: &Decimal) -> bool {
    let above = keywords
        .minimum
        .as_ref()
        .is_none_or(|bound| *number > bound.value || (!bound.exclusive && *number == bound.value));
    let below = keywords
        .maximum
        .as_ref()
        .is_none_or(|bound| *number < bound.value || (!bound.exclusive && *number == bound.value));
    above
        && below
        && keywords
            .multiple_of
            .as_ref()
            .is_none_or(|divisor| is_multiple(number, divisor))
}

/// Whether `number` is an integral multiple of `divisor`.
fn is_multiple(number: &Decimal, divisor: &Decimal) -> bool {
    if number.is_zero() {
        return true;
    }
    let coefficient = |decimal: &Decimal| decimal.significand().clone();
    // Without trailing zeros a coefficient is no multiple of 10.
    let Ok(shift) = u64::try_from(number.exponent() - divisor.exponent()) else {
        return false;
    };
    let modulus = coefficient(divisor);
    let power = BigUint::from(10u8).modpow(&BigUint::from(shift), &modulus);
    coefficient(number) * power % modulus == BigUint::ZERO
}
