//! `items`, which may be an array of schemas up to draft 2019-09.

use crate::json::Content;

use super::{KeywordReader, Member, ReadResult};
use crate::schema::dialect::Draft;

impl KeywordReader<'_, '_> {
    pub(super) fn read_items(&mut self, member: Member<'_>) -> ReadResult {
        let is_array = matches!(self.json.content(member.value), Content::Array(_));
        if !is_array {
            self.keywords.items = Some(self.subschema(member)?);
        } else if self.draft() <= Draft::Draft201909 {
            self.companions.items_is_array = true;
            self.keywords.prefix_items = self.subschema_array(member)?;
        } else {
            let message = "an array has this meaning up to draft 2019-09 only: use `prefixItems`, or name an earlier \
                           draft in `$schema`";
            return Err(self.malformed(member, message));
        }
        Ok(())
    }
}
