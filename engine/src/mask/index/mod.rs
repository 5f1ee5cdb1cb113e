//! The index of a vocabulary: its tokens, sorted by what they do to a document. Nothing here changes once it is made.

pub(crate) mod base_sets;
pub(crate) mod characters_below;
pub(crate) mod contents;
pub(crate) mod far_tokens;
mod phases;
pub(crate) mod posting_lists;
mod spelling;
pub(crate) mod suffix_set;
pub(crate) mod token_suffixes;
pub(crate) mod tokens;
pub(crate) mod trie;
