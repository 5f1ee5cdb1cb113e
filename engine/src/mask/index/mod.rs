//! The immutable index of a vocabulary: its tokens in tries and posting lists, sorted by their effect on a document.

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
