//! [`Keywords`]: the keywords of a subschema, in one form for all drafts.

use crate::decimal::Decimal;
use crate::json::Value;

use super::dialect::Draft;

/// Index of a subschema in a `SchemaSet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub u32);

/// The assertions and applicators of a subschema: a value is valid if it satisfies all of them.
///
/// The meaning is that of draft 2020-12; keywords of older drafts with another meaning are translated to it. Absent keywords are
/// `None`, `false` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Keywords {
    pub types: Option<TypeSet>,
    /// The values that `const` and `enum` allow, each once: where both are given, the values that both allow. May be empty.
    pub values: Option<Vec<Value>>,

    pub minimum: Option<Bound>,
    pub maximum: Option<Bound>,
    /// The divisor, above 0.
    pub multiple_of: Option<Decimal>,

    /// The least length in Unicode code points. Here and elsewhere, counts past 2^64 are kept as `u64::MAX`.
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    /// An ECMA-262 regular expression as written; not checked yet.
    pub pattern: Option<String>,
    pub format: Option<String>,
    /// Whether the meta-schema asks for `format` to be asserted, with the vocabulary that does so.
    pub format_asserted: bool,

    pub prefix_items: Vec<NodeId>,
    /// The schema of the items that `prefix_items` does not reach.
    pub items: Option<NodeId>,
    pub contains: Option<Contains>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub unique_items: bool,
    pub unevaluated_items: Option<NodeId>,

    pub properties: Vec<(String, NodeId)>,
    /// Schemas by the regular expression, in the form of `pattern`, of the names that they are for.
    pub pattern_properties: Vec<(String, NodeId)>,
    pub additional_properties: Option<NodeId>,
    pub property_names: Option<NodeId>,
    /// The names, each once.
    pub required: Vec<String>,
    pub min_properties: Option<u64>,
    pub max_properties: Option<u64>,
    pub dependent_required: Vec<(String, Vec<String>)>,
    pub dependent_schemas: Vec<(String, NodeId)>,
    pub unevaluated_properties: Option<NodeId>,

    pub all_of: Vec<NodeId>,
    /// The branches of which one at least must hold. May be empty: then nothing is valid.
    pub any_of: Option<Vec<NodeId>>,
    /// The branches of which exactly one must hold. May be empty: then nothing is valid.
    pub one_of: Option<Vec<NodeId>>,
    pub not: Option<NodeId>,
    /// `if` with `then` and `else`. Without either it asserts nothing, but the members and items that it evaluates count for
    /// `unevaluated*`.
    pub if_then_else: Option<(NodeId, Option<NodeId>, Option<NodeId>)>,
    /// Targets of `$ref`, `$dynamicRef` and `$recursiveRef`. May form cycles, also unguarded ones (`{"$ref": "#"}`).
    pub refs: Vec<NodeId>,
}

impl Keywords {
    /// Whether there is nothing but one reference.
    pub fn is_reference(&self) -> bool {
        let only = |refs: &Vec<NodeId>| Self {
            refs: refs.clone(),
            ..Self::default()
        };
        self.refs.len() == 1 && *self == only(&self.refs)
    }

    /// Number of the keywords that declare the keys of an object. Where there are several, the order in which they are written is that of the
    /// keys in styles that keep to the schema's (`Algebra::parts_as_written` in `automaton/formula/keys/declared.rs`).
    pub fn declaring(&self) -> usize {
        let are_there = [
            !self.properties.is_empty(),
            self.values.is_some(),
            !self.all_of.is_empty(),
            !self.refs.is_empty(),
            self.any_of.is_some(),
            self.one_of.is_some(),
            self.if_then_else.is_some(),
            !self.dependent_schemas.is_empty(),
        ];
        are_there.into_iter().filter(|is_there| *is_there).count()
    }

    /// Puts other subschemas in the place of those for members and items (`of_part`), and of those for the same value and for the keys of
    /// members (`of_value`).
    pub fn replace_subschemas(&mut self, of_part: impl Fn(NodeId) -> NodeId, of_value: impl Fn(NodeId) -> NodeId) {
        let named = self.properties.iter_mut().chain(&mut self.pattern_properties);
        let parts = named.map(|(_, part)| part).chain(&mut self.prefix_items);
        let parts = parts.chain(&mut self.items).chain(&mut self.unevaluated_items);
        let parts = parts
            .chain(&mut self.additional_properties)
            .chain(&mut self.unevaluated_properties);
        let contained = self.contains.iter_mut().map(|contains| &mut contains.node);
        parts.chain(contained).for_each(|part| *part = of_part(*part));
        let branches = self.any_of.iter_mut().chain(&mut self.one_of).flatten();
        let same = self.all_of.iter_mut().chain(branches).chain(&mut self.refs);
        let same = same.chain(&mut self.not).chain(&mut self.property_names);
        let same = same.chain(self.dependent_schemas.iter_mut().map(|(_, schema)| schema));
        same.for_each(|one| *one = of_value(*one));
        if let Some((condition, then, otherwise)) = &mut self.if_then_else {
            let branches = then.iter_mut().chain(otherwise);
            branches.chain([condition]).for_each(|one| *one = of_value(*one));
        }
    }

    /// Bytes of memory that the keywords take.
    pub fn memory(&self) -> usize {
        let named = [&self.properties, &self.pattern_properties, &self.dependent_schemas];
        let named = named.into_iter().map(|named| {
            let names = named.iter().map(|(name, _)| name.capacity());
            names.sum::<usize>() + named.capacity() * size_of::<(String, NodeId)>()
        });
        let listed = [
            Some(&self.prefix_items),
            Some(&self.all_of),
            self.any_of.as_ref(),
            self.one_of.as_ref(),
        ];
        let listed = listed.into_iter().flatten().chain([&self.refs]);
        let listed = listed.map(|nodes| nodes.capacity() * size_of::<NodeId>());
        let values = self
            .values
            .iter()
            .flatten()
            .map(|value| size_of::<Value>() + value.memory());
        let required = self.required.iter().map(|name| size_of::<String>() + name.capacity());
        size_of::<Self>() + named.chain(listed).chain(values).chain(required).sum::<usize>()
    }
}

/// An end of a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bound {
    pub value: Decimal,
    pub exclusive: bool,
}

/// `contains` with `minContains` and `maxContains`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Contains {
    pub node: NodeId,
    pub min: u64,
    pub max: Option<u64>,
    /// Whether the items that are valid under `node` count as evaluated for `unevaluatedItems`: from draft 2020-12 on.
    pub evaluates: bool,
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TypeSet(u8);

impl TypeSet {
    pub const NULL: Self = Self(1);
    pub const BOOLEAN: Self = Self(2);
    /// Numbers with an integral value, `1.0` among them.
    pub const INTEGER: Self = Self(4);
    /// Every number, integers included.
    pub const NUMBER: Self = Self(8);
    pub const STRING: Self = Self(16);
    pub const ARRAY: Self = Self(32);
    pub const OBJECT: Self = Self(64);
    /// Draft 4's integers: numbers that are written without fraction and exponent.
    pub const INTEGER_LITERAL: Self = Self(128);

    /// The type that a schema of a draft calls `name`.
    pub fn from_name(name: &str, draft: Draft) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" if draft == Draft::Draft4 => Self::INTEGER_LITERAL,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is listed.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
