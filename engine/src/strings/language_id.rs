//! [`LanguageId`]: the handle of a language, and the languages that are always there.

/// A regular language of Unicode texts, in the [`Languages`](super::Languages) that made it. Equal ids are equal languages; equal
/// languages may have different ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LanguageId(pub(in crate::strings) u32);

/// No text at all.
pub(in crate::strings) const NONE: LanguageId = LanguageId(0);
/// The empty text only.
pub(in crate::strings) const EMPTY: LanguageId = LanguageId(1);
/// Every text of one character.
pub(in crate::strings) const CHARACTER: LanguageId = LanguageId(2);
/// Every text.
pub(in crate::strings) const ANY: LanguageId = LanguageId(3);

/// "As often as you like" as the upper bound of a repetition.
pub(in crate::strings) const UNBOUNDED: u64 = u64::MAX;
