//! The argument that names schemas that others refer to.

use std::path::PathBuf;

use clap::Args;

use crate::documents::DocumentLibrary;
use crate::error::CommandError;

/// Schemas that others may refer to.
#[derive(Debug, Default, Args)]
pub struct DocumentArguments {
    /// Schemas that others refer to: a JSON file, or a directory with JSON files; may be repeated. References find one by its
    /// `$id`, or by its file's name (in a directory, its path) from the schema's base URI. Nothing is fetched
    #[arg(long = "documents", value_name = "DIR|FILE")]
    documents: Vec<PathBuf>,
}

impl DocumentArguments {
    /// Reads the documents.
    ///
    /// # Errors
    ///
    /// [`CommandError`], where a document cannot be read.
    pub fn read(&self) -> Result<DocumentLibrary, CommandError> {
        DocumentLibrary::read(&self.documents)
    }
}
