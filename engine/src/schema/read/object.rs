//! `dependencies` and `dependentRequired`.

use std::sync::Arc;

use crate::json::Content;

use super::{KeywordReader, Member, ReadResult};
use crate::schema::dialect::Keyword;

impl KeywordReader<'_, '_> {
    /// Reads `dependencies`, of which each may be a schema or an array of names, or `dependentRequired`, which has
    /// arrays of names only. `expected` says so in words.
    pub(super) fn read_dependencies(&mut self, member: Member<'_>, expected: &str) -> ReadResult {
        let json = Arc::clone(&self.json);
        if !json.is_object(member.value) {
            return Err(self.wrong_type(member, expected));
        }
        for (name, value) in json.members(member.value) {
            let name = name.to_owned();
            let is_array = matches!(json.content(value), Content::Array(_));
            if is_array || member.keyword == Keyword::DependentRequired {
                let names = self.names_at(member, value)?;
                self.keywords.dependent_required.push((name, names));
            } else {
                let node = self.subschema_at(member, value)?;
                self.keywords.dependent_schemas.push((name, node));
            }
        }
        Ok(())
    }
}
