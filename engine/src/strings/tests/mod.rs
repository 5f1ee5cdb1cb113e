//! Tests from the contract: a brute-force oracle, laws, the Test Suite's strings, the corpus.

mod smoke;
mod suite;
