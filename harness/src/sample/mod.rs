//! Random documents of a schema that look like what people write: words, small numbers, short lists.
//!
//! A [`DocumentWriter`] goes through a document token by token and takes, of the tokens that a mask allows, those that are
//! usual; so whatever it writes is valid. What is usual here it learns beside the mask: from the position in the document
//! ([`position`]) and from the subschemas that are written there ([`guide`]), which only advise. Once in a while it takes what
//! is not usual.

mod draft;
mod guide;
mod position;
mod settings;
#[cfg(test)]
mod tests;
mod texts;
mod tokens;
mod writer;

pub use settings::{OptionalMembers, SampleError, SampleSettings};
pub use writer::DocumentWriter;
