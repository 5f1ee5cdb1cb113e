//! [`Algebra`]: the arena of requirements on values: assertions, constraints, formulas, languages, sets of numbers and orders of keys.

use crate::automaton::Formats;
use crate::automaton::error::{AutomatonError, check_limit, limit_error};
use crate::automaton::formula::{
    Assertion, AssertionId, AssertionTable, AtomKind, Atoms, Constraint, DecisionDiagrams, EnumeratedKeys, FormulaId,
    Formulas, IndependentKeys, KeySets, Keys, Orders, Preferences, ReadValues, Strings, TextId, TextTable,
};
use crate::automaton::memory::{SHARED_BYTES, list_bytes, table_bytes};
use crate::decimal::{Decimal, NumberLimitReached};
use crate::json::Shape;
use crate::numbers::{NumberSetId, NumberSets, NumeralAutomaton, SchemaNumbers};
use crate::schema::SchemaSet;
use crate::schema::{Body, NodeId};
use crate::strings::{LanguageId, Languages, LimitReached, Padding};
use crate::{CompileError, CompileErrorKind, Limits, NumberStyle, Style};
use hashbrown::HashMap;
use std::sync::Arc;

/// The requirements on values: assertions, constraints, formulas, languages and so on, each stored once and referred to by a
/// number.
#[derive(Debug)]
pub(crate) struct Algebra {
    pub(crate) schema: Arc<SchemaSet>,
    pub(crate) formats: Formats,
    pub(crate) style: Style,
    pub(crate) limits: Limits,
    pub(crate) assertions: AssertionTable,
    pub(crate) texts: TextTable,
    pub(crate) key_sets: KeySets,
    /// The values read so far in arrays and objects whose values are compared.
    pub(crate) values: ReadValues,
    pub(crate) orders: Orders,
    pub(crate) atoms: Atoms,
    pub(crate) formulas: Formulas,
    pub(crate) diagrams: DecisionDiagrams,
    pub(crate) languages: Languages,
    pub(crate) preferences: Preferences,
    /// The restriction of all strings and keys to those without some texts, if there is one.
    left_out: Option<LeftOutTexts>,
    pub(crate) number_texts: NumeralAutomaton,
    /// The constraints of the assertions that have been expanded.
    pub(crate) constraints: HashMap<AssertionId, Constraint>,
    /// Subschemas that were joined with an equal one, each with that one, which alone is expanded.
    pub(crate) joined: Vec<(NodeId, NodeId)>,
    pub(crate) key_memo: KeyMemo,
    /// The formulas of arrays and objects within so many levels of free values, as far as they came up.
    pub(super) free_formulas: Vec<(FormulaId, FormulaId)>,
    /// Number of cells in lists that are kept here and in the layers above; part of the estimate of
    /// [memory](Self::memory).
    pub(crate) kept_cells: usize,
}

/// The strings and objects of documents in which no string and no key contains one of some texts.
#[derive(Clone, Copy, Debug)]
struct LeftOutTexts {
    /// The strings without the texts.
    strings: LanguageId,
    /// The strings with one of the texts: no key is one of them.
    keys: LanguageId,
    /// The formula of objects without such a key.
    objects: FormulaId,
}

/// Memo of results about keys.
#[derive(Debug, Default)]
pub(crate) struct KeyMemo {
    /// Whether a text belongs to a language.
    pub(crate) covered: HashMap<(LanguageId, TextId), bool>,
    /// Whether all keys of one language are in another.
    pub(crate) within: HashMap<(LanguageId, LanguageId), bool>,
    /// The keys of a language, if it is a short list or the complement of one; `None` if it is neither.
    pub(crate) enumerated: HashMap<LanguageId, Option<Arc<EnumeratedKeys>>>,
    /// The padding of languages that sort keys into cells.
    pub(crate) padding: HashMap<LanguageId, Padding>,
    /// The first keys of a language, with how many were asked for.
    pub(crate) first_keys: HashMap<LanguageId, (usize, Arc<[TextId]>)>,
    /// A language with some sorted keys added (`true`) or removed (`false`).
    pub(crate) combined: HashMap<(LanguageId, bool, Box<[TextId]>), LanguageId>,
    /// The [`IndependentKeys`] of a formula; `None` if the formula says more than that.
    pub(crate) independent: HashMap<FormulaId, Option<Arc<IndependentKeys>>>,
    /// The formula left of an independent-key object after a required member has come.
    pub(crate) after_required: HashMap<(FormulaId, TextId), FormulaId>,
}

impl Algebra {
    pub(crate) fn new(mut languages: Languages, schema: Arc<SchemaSet>, formats: Formats, style: Style) -> Self {
        languages.read_patterns_by(schema.patterns());
        let limits = schema.limits().clone();
        let numbers = match style.numbers {
            NumberStyle::Rfc8259 => NumberSets::within(&limits),
            NumberStyle::Plain => NumberSets::writable(&limits, &schema_numbers(&schema)),
            NumberStyle::Scientific => NumberSets::writable_with_exponents(&limits, &schema_numbers(&schema)),
        };
        let number_texts = NumeralAutomaton::new(style.numbers, numbers);
        Self {
            schema,
            formats,
            style,
            limits,
            assertions: AssertionTable::default(),
            texts: TextTable::default(),
            key_sets: KeySets::default(),
            values: ReadValues::default(),
            orders: Orders::default(),
            atoms: Atoms::default(),
            formulas: Formulas::default(),
            diagrams: DecisionDiagrams::default(),
            languages,
            preferences: Preferences::default(),
            left_out: None,
            number_texts,
            constraints: HashMap::new(),
            joined: Vec::new(),
            key_memo: KeyMemo::default(),
            free_formulas: Vec::new(),
            kept_cells: 0,
        }
    }

    /// Restricts all documents to those in which no string and no key contains one of some texts: strings as if each subschema said so
    /// by `not` and `pattern`, and keys by `propertyNames`. Values that a schema leaves unconstrained are still [free](Self::free_value).
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::LimitExceeded`].
    pub(crate) fn leave_out(&mut self, texts: &[&str]) -> Result<(), CompileError> {
        let mut leave_out = || {
            let literals = texts.iter().map(|text| self.languages.literal(text));
            let literals = literals.collect::<Result<Vec<_>, _>>()?;
            let one = self.languages.or(&literals)?;
            let any = self.languages.any();
            let behind = self.languages.concat(one, any)?;
            let keys = self.languages.concat(any, behind)?;
            Ok((self.languages.not(keys)?, keys))
        };
        let (strings, keys) = leave_out().map_err(|error: LimitReached| limit_error(error))?;
        let objects = self.members(Keys::Language(keys), AssertionId::NOTHING);
        self.left_out = Some(LeftOutTexts { strings, keys, objects });
        Ok(())
    }

    /// Whether some texts are [left out](Self::leave_out) of all strings and keys.
    pub(crate) fn leaves_out_texts(&self) -> bool {
        self.left_out.is_some()
    }

    /// The strings that keys are not because of texts that are left out.
    pub(crate) fn left_out_keys(&self) -> Option<LanguageId> {
        self.left_out.map(|left_out| left_out.keys)
    }

    /// Some strings but for those with texts that are left out.
    pub(crate) fn written_strings(&mut self, strings: Strings) -> Result<Strings, LimitReached> {
        match self.left_out {
            Some(left_out) => self.all_texts(&[strings, Strings::alike(left_out.strings)]),
            None => Ok(strings),
        }
    }

    /// The formula of some arrays or objects but for those objects that have keys with texts that are left out.
    pub(crate) fn written_container(&mut self, formula: FormulaId, array: bool) -> FormulaId {
        match self.left_out {
            Some(left_out) if !array => self.formulas.and([formula, left_out.objects]),
            _ => formula,
        }
    }

    /// The constraint but for strings and objects with texts that are left out.
    pub(crate) fn written(&mut self, constraint: Constraint) -> Result<Constraint, LimitReached> {
        let strings = self.written_strings(constraint.all_strings())?;
        let objects = self.written_container(constraint.objects, false);
        Ok(Constraint { objects, ..constraint }.with_strings(strings))
    }

    /// An estimate of the memory that all tables take, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.formulas.size()
            + 8 * self.kept_cells
            + 24 * (self.languages.cells() + self.languages.kept())
            + self.texts.memory()
            + self.key_sets.memory()
            + self.values.memory()
            + 64 * self.key_memo.after_required.len()
            + self.assertions.memory()
            + self.number_texts.memory()
    }

    /// An estimate of the memory that grows with the schema and is not part of [`memory`](Self::memory).
    pub(crate) fn proportional_memory(&self) -> usize {
        let keys = &self.key_memo;
        let independent = keys.independent.values().flatten().map(|keys| {
            let lists = list_bytes(&keys.required) + list_bytes(&keys.refused);
            SHARED_BYTES + size_of_val(&**keys) + lists + list_bytes(&keys.assertions) + list_bytes(&keys.languages)
        });
        let enumerated = keys.enumerated.values().flatten();
        let enumerated = enumerated.map(|keys| SHARED_BYTES + size_of_val(&**keys) + size_of_val(&*keys.names));
        let first_keys = keys
            .first_keys
            .values()
            .map(|(_, names)| SHARED_BYTES + size_of_val(&**names));
        let combined = keys.combined.keys().map(|(_, _, names)| size_of_val(&**names));
        self.schema.memory()
            + self.languages.room_bytes()
            + table_bytes(&self.constraints)
            + list_bytes(&self.joined)
            + table_bytes(&keys.padding)
            + self.atoms.memory()
            + self.diagrams.memory()
            + self.orders.memory()
            + table_bytes(&keys.covered)
            + table_bytes(&keys.within)
            + table_bytes(&keys.enumerated)
            + table_bytes(&keys.first_keys)
            + table_bytes(&keys.combined)
            + table_bytes(&keys.independent)
            + independent.sum::<usize>()
            + enumerated.sum::<usize>()
            + first_keys.sum::<usize>()
            + combined.sum::<usize>()
    }

    /// Checks an amount of memory against the limit for one compiled schema.
    ///
    /// # Errors
    ///
    /// [`AutomatonError::Limit`], if it exceeds [`Limits::memory_bytes`].
    pub(crate) fn check_memory(&self, bytes: usize) -> Result<(), AutomatonError> {
        let limit = ("memory_bytes", self.limits.memory_bytes);
        check_limit(bytes, limit, "bytes for one compiled schema")
    }

    /// The assertion that a value is valid under a subschema.
    pub(crate) fn assertion_of(&mut self, node: NodeId) -> AssertionId {
        let assertion = match &self.schema.node(node).body {
            Body::Anything => Assertion::Anything,
            Body::Nothing => Assertion::Nothing,
            Body::Keywords(_) => Assertion::Node(node),
        };
        self.assertions.intern(assertion)
    }

    /// The constraint of a subschema that applies to the same value.
    pub(super) fn part(&mut self, node: NodeId) -> Result<Constraint, CompileError> {
        let assertion = self.assertion_of(node);
        self.constraint(assertion)
    }

    /// A compile error at a keyword of a subschema.
    pub(super) fn error(&self, node: NodeId, kind: CompileErrorKind, keyword: &str, message: &str) -> CompileError {
        let place = self.schema.node(node).location;
        self.schema
            .error_at(place, kind, message.to_owned())
            .on_keyword(keyword)
    }

    /// Whether a set has numbers that a style with bounded numerals cannot write. The algebra's own style has to have all numbers.
    pub(crate) fn has_unwritable(&mut self, numbers: NumberSetId) -> Result<bool, NumberLimitReached> {
        if self.number_texts.sets().is_empty(numbers) {
            return Ok(false);
        }
        let named = schema_numbers(&self.schema);
        self.number_texts.sets_mut().has_unwritable(numbers, &named)
    }

    /// The formula of an atom of this kind.
    pub(crate) fn atom(&mut self, kind: AtomKind) -> FormulaId {
        let atom = self.atoms.intern(kind);
        self.formulas.atom(atom, kind.at_end())
    }

    /// Whether a formula has atoms about verdicts of the member or item being read.
    pub(crate) fn speaks_of_verdicts(&self, formula: FormulaId) -> bool {
        let mut atoms = self.formulas.atoms(formula).iter();
        atoms.any(|atom| matches!(self.atoms.kind(*atom), AtomKind::Verdict(_)))
    }

    /// The formula "there will be a member with this key".
    pub(crate) fn has(&mut self, name: &str) -> FormulaId {
        let name = self.texts.intern(name);
        self.atom(AtomKind::Has(name))
    }

    /// The parts of "at least `min` and at most `max`", expressed by atoms that say "at least".
    pub(crate) fn between(&mut self, kind: impl Fn(u64) -> AtomKind, min: u64, max: Option<u64>) -> Vec<FormulaId> {
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

    /// The formula "every item from index `from` on, and before `to`, satisfies `assertion`", simplified for trivial
    /// assertions.
    pub(crate) fn items(&mut self, from: u64, to: Option<u64>, assertion: AssertionId) -> FormulaId {
        match (assertion, to) {
            (AssertionId::ANYTHING, _) => FormulaId::TRUE,
            (AssertionId::NOTHING, None) => {
                let longer = self.atom(AtomKind::LengthAtLeast(from + 1));
                self.formulas.not(longer)
            }
            _ => self.atom(AtomKind::Items { from, to, assertion }),
        }
    }

    /// The formula "every member whose key is among `keys` satisfies `assertion`", simplified for trivial assertions.
    pub(crate) fn members(&mut self, keys: Keys, assertion: AssertionId) -> FormulaId {
        match (assertion, keys) {
            (AssertionId::ANYTHING, _) => FormulaId::TRUE,
            (AssertionId::NOTHING, Keys::Name(name)) => {
                let has = self.atom(AtomKind::Has(name));
                self.formulas.not(has)
            }
            _ => self.atom(AtomKind::Members(keys, assertion)),
        }
    }

    /// The number that an assertion requires its value to equal; `None` for other assertions.
    pub(crate) fn number_of(&self, assertion: AssertionId) -> Option<Decimal> {
        match self.assertions.get(assertion) {
            Assertion::Equal(value) => match value.as_ref().shape() {
                Shape::Number(number) => Some(number.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an assertion requires its value to equal a given value.
    pub(crate) fn is_value(&self, assertion: AssertionId) -> bool {
        use Assertion::{Array, Equal, Object, Text};
        matches!(
            self.assertions.get(assertion),
            Equal(_) | Text(_) | Array(_) | Object(_)
        )
    }

    /// Whether a key continues after `read` bytes with a character in one of the inclusive `ranges`.
    pub(crate) fn has_extension_with(&self, name: TextId, read: usize, ranges: &[(u32, u32)]) -> bool {
        let next = self.texts.get(name)[read..].chars().next().map(u32::from);
        next.is_some_and(|next| ranges.iter().any(|(first, last)| (*first..=*last).contains(&next)))
    }

    /// The keys among `names` that begin with a text. `names` must be sorted by their characters.
    pub(crate) fn beginning_with<'a>(&self, names: &'a [TextId], text: TextId) -> &'a [TextId] {
        if text == TextId::EMPTY {
            return names;
        }
        let from = names.partition_point(|name| self.texts.compare(*name, text).is_lt());
        let count = names[from..].partition_point(|name| self.texts.begins_with(*name, text));
        &names[from..from + count]
    }

    /// Sorts keys by their characters and removes duplicates.
    pub(crate) fn sort_keys(&self, names: &mut Vec<TextId>) {
        names.sort_unstable_by(|one, other| self.texts.compare(*one, *other));
        names.dedup();
    }

    /// The assertion that a value satisfies at least one of `assertions`.
    pub(super) fn any_assertion(&mut self, mut assertions: Vec<AssertionId>) -> AssertionId {
        assertions.sort_unstable();
        assertions.dedup();
        assertions.retain(|assertion| *assertion != AssertionId::NOTHING);
        match assertions[..] {
            [] => AssertionId::NOTHING,
            [one] => one,
            _ if assertions.contains(&AssertionId::ANYTHING) => AssertionId::ANYTHING,
            _ => self.assertions.intern(Assertion::AnyOf(assertions.into())),
        }
    }
}

/// The bounds, multiples and values of a schema, but for those of a usual size.
fn schema_numbers(schema: &SchemaSet) -> SchemaNumbers {
    let mut numbers = SchemaNumbers::default();
    for (_, subschema) in schema.nodes() {
        let Body::Keywords(keywords) = &subschema.body else {
            continue;
        };
        let bounds = [&keywords.minimum, &keywords.maximum].into_iter().flatten();
        let bounds = bounds.map(|bound| &bound.value);
        numbers
            .bounds
            .extend(bounds.filter(|bound| SchemaNumbers::is_unusual(bound)).cloned());
        let values = keywords.values.iter().flatten().flat_map(|value| value.numbers());
        numbers
            .values
            .extend(values.filter(|value| SchemaNumbers::is_unusual(value)).cloned());
        numbers.multiples.extend(keywords.multiple_of.clone());
    }
    numbers
}
