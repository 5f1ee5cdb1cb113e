//! True coverage (definition 5.3 of the JSONSchemaBench paper): does a framework permit exactly what a schema permits?
//!
//! No finite number of documents proves that, but one disproves it. So a schema counts as truly covered until a valid document that is blocked, or an
//! invalid one that is let through, is found among many: those of the datasets, documents that are sampled from the schema, and mutations of both
//! ([`documents`]). A document that is found is made as small as possible ([`shrink`]), and the number of defects that no document has shown is
//! estimated from those that few have ([`unseen`]).

pub mod documents;
pub mod mutate;
pub mod record;
pub mod report;
pub mod rows;
pub mod shrink;
pub mod subject;
#[cfg(test)]
mod tests;
pub mod unseen;
