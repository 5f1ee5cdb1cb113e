//! Tests from the contract: a brute-force oracle, laws, the Test Suite's strings, the corpus.

mod characters;
mod corpus;
mod dialects;
mod figures;
mod fingerprints;
mod formats;
mod lengths;
mod limits;
mod matcher;
mod oracle;
mod over_approximation;
mod patterns;
mod random;
mod suite;
