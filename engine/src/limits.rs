//! Every limit that keeps untrusted input from costing more than it should.

/// Limits on what a schema may cost, and the documents under it. A schema over one is refused with an error that names
/// it; where that shows in the middle of a document only, the mask is refused.
///
/// The first eight bound what loading costs, the others what is worked out of the schema, then and while masks are made.
/// The defaults admit every schema of the public collections with a wide margin (the largest has 2.9 MB) and keep
/// an adversarial one to a few gigabytes and seconds at the very worst. Services that take schemas from strangers
/// may well go lower.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one JSON text, a schema or a document of the registry. Default 64 MiB; above 4 GiB it has no
    /// effect, because places in a text are kept in 32 bits.
    pub text_bytes: usize,
    /// Nesting of objects and arrays in one text. Default 1,000: nothing here recurses on the native stack, but
    /// schemas nested that deep are mistakes or attacks, and what comes later pays per level.
    pub depth: usize,
    /// Values and names in one text. Default 16 million: each takes 16 bytes.
    pub values: usize,
    /// Digits in one number. Default 10,000: arithmetic on numbers takes time quadratic in them.
    pub number_digits: usize,
    /// Bytes of all URIs that identifiers and references resolve to, together. Default 256 MiB: a long base repeats in
    /// each URI relative to it, so a short text can spell gigabytes.
    pub uri_bytes: usize,
    /// Documents that references pull in, the schema itself and meta-schemas included. Default 10,000.
    pub documents: usize,
    /// Subschemas after references are resolved. Default 2 million. A schema with dynamic references has one for each
    /// place and each dynamic scope that matters there.
    pub subschemas: usize,
    /// Distinct dynamic scopes times the names bound in them. Default 100,000; only `$dynamicRef` and
    /// `$recursiveRef` make any.
    pub dynamic_bindings: usize,
    /// Memory of one compiled schema in bytes, as far as it is counted: formulas, languages, places in documents. Default
    /// 2 GiB. It grows with the documents read and is not given back, so that a service that keeps compiled schemas for
    /// long compiles one anew that came to this limit.
    pub memory_bytes: usize,
    /// Cells of the languages of strings and names of one schema, up to 12 bytes each. Default 16 million.
    pub language_cells: usize,
    /// States of a language that are looked at to find out whether it has a text, which lengths, how many. Default
    /// 20,000.
    pub language_states: usize,
    /// Bytes of one pattern. Default 1 MiB.
    pub pattern_bytes: usize,
    /// Groups and lookarounds inside one another in one pattern. Default 100: reading patterns nests natively.
    pub pattern_depth: usize,
    /// Copies of subexpressions that repetitions of assertions in one pattern are unrolled to. Default 500,000.
    pub pattern_steps: usize,
    /// Bounds and single numbers of one set of numbers, such as an `enum` of them. Default 262,144.
    pub number_values: usize,
    /// Terms of one combination of `multipleOf`: independent ones that are negated double them. Default 1,024.
    pub number_terms: usize,
    /// Digits of the least common multiple of the `multipleOf` that meet. Default 4,096.
    pub number_multiple_digits: usize,
    /// Questions whether some value is valid that may be open at once, each in aid of the one before: the nesting of
    /// values. Default 100,000.
    pub open_questions: usize,
    /// States of one object or array that are looked at to find out whether it can be completed, or which values it can
    /// have. Default 50,000.
    pub search_states: usize,
    /// Classes of names that the subschemas of one object tell apart. Default 4,096.
    pub name_classes: usize,
    /// Subschemas that one value is read for at once. Default 16,384.
    pub assertions: usize,
    /// Combinations of subschemas that a value may satisfy. Default 16,384.
    pub verdicts: usize,
    /// Objects, and arrays, among the values of one `enum`. Default 4,096.
    pub listed_containers: usize,
    /// Items of one array that have to differ and whose values are few. Default 4,096.
    pub differing_items: usize,
}

/// A limit of [`Limits`] that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {allowed} {what} (the limit `{limit}`)")]
pub(crate) struct Exceeded {
    /// The field of [`Limits`].
    pub(crate) limit: &'static str,
    /// What there are too many of.
    pub(crate) what: &'static str,
    /// How many are allowed.
    pub(crate) allowed: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            text_bytes: 64 << 20,
            depth: 1_000,
            values: 16_000_000,
            number_digits: 10_000,
            uri_bytes: 256 << 20,
            documents: 10_000,
            subschemas: 2_000_000,
            dynamic_bindings: 100_000,
            memory_bytes: 2 << 30,
            language_cells: 16_000_000,
            language_states: 20_000,
            pattern_bytes: 1 << 20,
            pattern_depth: 100,
            pattern_steps: 500_000,
            number_values: 1 << 18,
            number_terms: 1024,
            number_multiple_digits: 4096,
            open_questions: 100_000,
            search_states: 50_000,
            name_classes: 4096,
            assertions: 1 << 14,
            verdicts: 1 << 14,
            listed_containers: 4096,
            differing_items: 4096,
        }
    }
}
