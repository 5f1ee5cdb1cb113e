//! Random documents of a schema that look like what people write: words, small numbers, short lists.
//!
//! A [`DocumentWriter`] writes a document token by token and chooses usual ones among the tokens that a mask allows; so all its documents are valid.
//! Hints to what is usual come from the position in the document ([`position`]) and from the subschemas that apply there ([`guide`]), which only
//! advise. Once in a while the writer chooses a token that is not usual.

mod draft;
mod guide;
mod layout;
mod position;
mod settings;
#[cfg(test)]
mod tests;
mod texts;
mod tokens;
mod writer;

pub use settings::{OptionalMembers, SampleError, SampleSettings};
pub use writer::DocumentWriter;
