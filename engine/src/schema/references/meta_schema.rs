//! Dialects by `$schema`: the drafts' own meta-schemas by name, others by their `$vocabulary`.

use crate::json::{Content, Document};
use crate::{CompileError, CompileErrorKind};

use super::documents::SchemaLocation;
use super::resources::ResourceIndex;
use super::uri;
use crate::schema::dialect::{Dialect, Draft, Vocabularies, is_older_draft};

impl<'o> ResourceIndex<'o> {
    /// The dialect whose meta-schema is `named`, as the keyword `$schema` or `jsonSchemaDialect` at `location` names it.
    pub(super) fn dialect_named(
        &mut self,
        location: SchemaLocation,
        named: &str,
        keyword: &str,
    ) -> Result<Dialect, CompileError> {
        let uri = uri::split_fragment(named).0;
        if let Some(draft) = Draft::from_meta_schema(named).or_else(|| Draft::from_meta_schema(uri)) {
            return Ok(self.with_options(Dialect::of_draft(draft)));
        }
        if let Some(dialect) = self.dialects.get(uri) {
            return Ok(*dialect);
        }
        let dialect = self.read_meta_schema(uri).map_err(|message| {
            let error = self
                .documents
                .error_at(location, CompileErrorKind::Unsupported, message);
            error.on_keyword(keyword)
        })?;
        let dialect = self.with_options(dialect);
        self.dialects.insert(uri.to_owned(), dialect);
        Ok(dialect)
    }

    /// The text that the caller registered under `uri`, with or without the empty fragment that meta-schemas of older
    /// drafts end with.
    pub(super) fn registered(&self, uri: &str) -> Option<&'o str> {
        let documents = &self.options.documents;
        let text = documents.get(uri).or_else(|| documents.get(&*format!("{uri}#")));
        text.map(String::as_str)
    }

    /// The dialect that the registered meta-schema `uri` describes: by its `$vocabulary`, or that of its own meta-schema.
    fn read_meta_schema(&self, uri: &str) -> Result<Dialect, String> {
        let mut uri = uri.to_owned();
        let mut visited = Vec::new();
        loop {
            if is_older_draft(&uri) {
                return Err(format!(
                    "`{uri}` is older than draft 4: migrate the schema to a later draft"
                ));
            }
            if visited.contains(&uri) {
                return Err(format!(
                    "the meta-schema `{uri}` names no supported draft: give it a `$vocabulary`"
                ));
            }
            let text = self.registered(&uri).ok_or_else(|| {
                format!(
                    "the meta-schema `{uri}` is not known: name a draft from 4 to 2020-12, or register the \
                     meta-schema's text under that URI"
                )
            })?;
            let parsed = Document::parse(text, &self.options.limits);
            let json = parsed.map_err(|error| format!("the meta-schema `{uri}` is not JSON: {error}"))?;
            if let Some(vocabulary) = json.member(0, "$vocabulary") {
                let listed: Vec<(&str, bool)> = json
                    .members(vocabulary)
                    .map(|(name, required)| (name, json.content(required) == Content::Bool(true)))
                    .collect();
                if let Some(dialect) = dialect_of_vocabularies(&listed)? {
                    return Ok(dialect);
                }
            }
            let next = json.member(0, "$schema").and_then(|schema| json.string(schema));
            let next = next.ok_or_else(|| format!("the meta-schema `{uri}` has no `$schema`: add one"))?;
            if let Some(draft) = Draft::from_meta_schema(next) {
                return Ok(Dialect::of_draft(draft));
            }
            let next = uri::split_fragment(next).0.to_owned();
            visited.push(std::mem::replace(&mut uri, next));
        }
    }
}

/// The dialect that a `$vocabulary` declares; `None` if it lists none of a supported draft.
fn dialect_of_vocabularies(listed: &[(&str, bool)]) -> Result<Option<Dialect>, String> {
    let mut dialect: Option<Dialect> = None;
    for &(uri, required) in listed {
        match Vocabularies::from_uri(uri, required) {
            Some((draft, vocabulary)) => {
                let known = dialect.get_or_insert(Dialect {
                    vocabularies: Vocabularies::CORE,
                    ..Dialect::of_draft(draft)
                });
                known.draft = known.draft.max(draft);
                known.vocabularies = known.vocabularies.union(vocabulary);
            }
            None if required => {
                return Err(format!(
                    "the meta-schema requires the vocabulary `{uri}`, which is not supported"
                ));
            }
            None => {}
        }
    }
    Ok(dialect)
}
