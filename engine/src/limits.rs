//! Every limit that keeps untrusted input from costing more than it should.

/// Limits on what loading a schema may cost. A schema over one is refused with an error that names it.
///
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
        }
    }
}
