//! The voices that requests are written in: the sentences of each.

mod analyst;
mod developer;
mod formal;
mod manager;
mod mobile;
mod non_native;
mod thinking_aloud;

use crate::ifstruct::generate::phrase::Range;

pub(in crate::ifstruct::generate) use formal::FORMAL;
pub(super) use thinking_aloud::THINKING_ALOUD;

/// The voices that rewrite a request as prose.
pub(in crate::ifstruct::generate) const REWRITERS: [&Voice; 6] = [
    &developer::TERSE_DEVELOPER,
    &manager::CHATTY_MANAGER,
    &non_native::NON_NATIVE,
    &analyst::METICULOUS_ANALYST,
    &mobile::MOBILE_TYPIST,
    &THINKING_ALOUD,
];

/// Marks around the names of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ifstruct::generate) enum Quote {
    /// `` `name` ``
    Backticks,
    /// `"name"`
    Double,
    /// No marks, where the name is recognisable as one.
    Bare,
}

/// The sentences of a voice. Places to fill: `{count}`, `{noun}` (one or many, as the count wants it), `{one}`, `{a_one}` and
/// `{A_one}` (behind its article), `{context}`, `{format}`, `{language}` (of the fence), `{key}` (of the wrapper), `{N}` (a
/// field's name), `{T}` (its type), `{aT}` (with article), `{about}` and `{About}` (the field's meaning), `{clauses}`, `{names}`,
/// `{types}`, `{inner}` (the name of one item of a list).
///
/// In every sentence a field's type comes behind its name, but in those built from `typed_first`.
pub(in crate::ifstruct::generate) struct Voice {
    /// Name of the voice, as in a sample's `voice`; empty for the formal one, which rewrites nothing.
    pub name: &'static str,
    /// Whether sentences begin with small letters and end as they may.
    pub casual: bool,
    pub quotes: &'static [Quote],
    pub ranges: &'static [Range],
    /// `(one, many)` for each type.
    pub strings: &'static [(&'static str, &'static str)],
    pub integers: &'static [(&'static str, &'static str)],
    pub numbers: &'static [(&'static str, &'static str)],
    pub booleans: &'static [(&'static str, &'static str)],
    /// Words before the values of an enumeration, which are joined by "or".
    pub choices: &'static [&'static str],
    /// Whether values may be written as `a|b|c` or `a/b/c`.
    pub compact_choices: &'static [&'static str],
    /// Words behind a type that lets null in.
    pub nulls: &'static [&'static str],
    /// Words behind a type, for a field that may be left out.
    pub optional: &'static [&'static str],
    /// Sentences behind the one that defines a field which may be left out.
    pub optional_sentences: &'static [&'static str],
    pub all_required: &'static [&'static str],
    pub openings: &'static [&'static str],
    /// Sentences that begin the description of an item.
    pub lists: &'static [&'static str],
    /// Sentences that continue the description of an item.
    pub more: &'static [&'static str],
    /// Clauses for one field in the description of an item, with the field's meaning here and without it in `bare_clauses`.
    pub clauses: &'static [&'static str],
    pub bare_clauses: &'static [&'static str],
    /// Sentences for one field, with the field's meaning here and without it in `bare_sentences`.
    pub sentences: &'static [&'static str],
    pub bare_sentences: &'static [&'static str],
    /// Several fields of the same type.
    pub groups: &'static [&'static str],
    /// One field, its type first; behind `lists` and `more`. Empty where the voice does not speak so.
    pub typed_first: &'static [&'static str],
    /// Sentences for a list of objects: `{T}` is the number and name of its items.
    pub nested_lists: &'static [&'static str],
    pub nested_objects: &'static [&'static str],
    pub nested_more: &'static [&'static str],
    pub formats: &'static [&'static str],
    pub wrapped: &'static [&'static str],
    pub unwrapped: &'static [&'static str],
    pub fenced: &'static [&'static str],
    pub fenced_named: &'static [&'static str],
    pub unfenced: &'static [&'static str],
    pub only_data: &'static [&'static str],
    /// No fence and nothing but the data.
    pub raw_only: &'static [&'static str],
    pub no_extras: &'static [&'static str],
    /// The last words; an empty one for none.
    pub closings: &'static [&'static str],
}
