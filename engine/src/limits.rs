//! [`Limits`]: bounds on memory and time for untrusted input.

/// Limits on the cost of a schema, and of the documents under it.
///
/// A schema over a limit is refused with an error that names the limit; where that shows in the middle of a document only,
/// the mask is refused. The defaults admit every schema of the public collections with a wide margin (the largest has
/// 2.9 MB) and keep an adversarial one to a few gigabytes and seconds. Services that take schemas from strangers may go
/// lower: start from [`Limits::default`] and assign fields.
///
/// ```
/// use maskwright::{ExactOptions, Limits};
///
/// let mut limits = Limits::default();
/// limits.memory_bytes = 256 << 20;
/// let options = ExactOptions::default().limits(limits);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one JSON text: a schema, or a document that references lead to. Default 64 MiB, twenty times the largest
    /// public schema. Above 4 GiB it has no effect, because offsets in a text are kept in 32 bits.
    pub text_bytes: usize,
    /// Objects and arrays inside one another in one text. Default 1,000: nothing recurses on the native stack, but schemas
    /// nested that deep are mistakes or attacks, and later stages pay for each level.
    pub depth: usize,
    /// Values and names in one text. Default 16 million: each takes 16 bytes, so that they take 256 MB at most.
    pub values: usize,
    /// Characters of one number of a schema. Default 10,000: arithmetic on numbers takes time quadratic in their length.
    pub number_digits: usize,
    /// Bytes of all URIs that identifiers and references resolve to, together. Default 256 MiB: a long base URI repeats in
    /// each URI relative to it, so that a short text can spell gigabytes.
    pub uri_bytes: usize,
    /// Documents that references pull in, the schema itself and meta-schemas included. Default 10,000: each is looked
    /// through for identifiers.
    pub documents: usize,
    /// Subschemas after references are resolved. Default 2 million, which bounds the memory that resolved references take.
    /// A schema with dynamic references has one for each place and each dynamic scope that matters there.
    pub subschemas: usize,
    /// Distinct dynamic scopes times the names bound in them. Default 100,000: only `$dynamicRef` and `$recursiveRef` make
    /// any, and nested ones can multiply.
    pub dynamic_bindings: usize,
    /// Memory of one compiled schema in bytes, as far as it is counted: formulas, languages, states. Default 2 GiB, so that
    /// several fit an ordinary server. The memory grows with the documents that are read and is not given back: a service that
    /// keeps compiled schemas for long compiles one anew before it [comes to this limit](crate::Masker::used_of_limits).
    pub memory_bytes: usize,
    /// Cells of the languages of strings and names of one schema, up to 12 bytes each. Default 16 million, which is 192 MB.
    pub language_cells: usize,
    /// States of one language that are visited to find out whether it has a text, which lengths, and how many. Default
    /// 20,000: the search is repeated for the languages that each value and name meets.
    pub language_states: usize,
    /// Bytes of one pattern. Default 1 MiB: each byte makes states, which repetitions multiply.
    pub pattern_bytes: usize,
    /// Groups and lookarounds inside one another in one pattern. Default 100: patterns are compiled by native recursion.
    pub pattern_depth: usize,
    /// Copies of subexpressions that repetitions of assertions in one pattern are unrolled to. Default 500,000: nested
    /// repetitions multiply.
    pub pattern_steps: usize,
    /// Bounds and single numbers of one set of numbers, such as an `enum` of them. Default 262,144: sets are intersected in
    /// time linear in them.
    pub number_values: usize,
    /// Terms of one Boolean combination of `multipleOf` keywords. Default 1,024: each negated one that is independent of the others
    /// doubles the number of terms.
    pub number_terms: usize,
    /// Digits that the least common multiple of the `multipleOf` values on one number may have more than the smallest of them. Default
    /// 4,096: the multiple grows by the digits of each value.
    pub number_multiple_digits: usize,
    /// Values inside one another in the search for a valid one, each undecided until the one inside it is decided. Default 100,000:
    /// there is one for each level of nesting that the schema demands.
    pub open_questions: usize,
    /// States of one object or array that are visited to find out whether it can be completed, or which values it can
    /// have; and conditions under which branches evaluate members or items, beside `unevaluatedProperties` or
    /// `unevaluatedItems`. Default 50,000: members that exclude each other, and branches within branches, can make
    /// exponentially many. The search for what one value may satisfy may take up 8 times as many goals, which are less
    /// work than a state.
    pub search_states: usize,
    /// Classes of names that the subschemas of one object tell apart. Default 4,096: independent patterns double them.
    pub name_classes: usize,
    /// Subschemas, and earlier items of `uniqueItems`, that one value is compared with while it is read. Default 16,384: each is
    /// followed for every byte.
    pub assertions: usize,
    /// Combinations of subschemas that a value may satisfy. Default 16,384: independent subschemas double them.
    pub verdicts: usize,
    /// Objects, and arrays, among the values of one `enum`. Default 4,096: they are compared with each other.
    pub listed_containers: usize,
    /// Items of one array that have to differ and whose values are few. Default 4,096: matching them to values takes
    /// time that grows faster than their number.
    pub differing_items: usize,
}

/// A limit of [`Limits`] that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {allowed} {what} (the limit `{limit}`)")]
pub(crate) struct Exceeded {
    /// The field of [`Limits`].
    pub(crate) limit: &'static str,
    /// The kind of thing of which there are too many.
    pub(crate) what: &'static str,
    /// The largest number allowed.
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
