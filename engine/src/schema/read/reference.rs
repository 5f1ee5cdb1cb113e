//! `$ref`, `$dynamicRef`, `$recursiveRef`.

use crate::CompileErrorKind;

use super::{KeywordReader, Member, ReadResult};
use crate::schema::references::ReferenceError;
use crate::schema::references::resources::{Anchor, LocatedSchema};
use crate::schema::references::uri;

impl KeywordReader<'_, '_> {
    pub(super) fn read_ref(&mut self, member: Member<'_>) -> ReadResult {
        let reference = self.string(member)?;
        let (target, _) = self.resolve(member, &reference)?;
        self.push_target(target)
    }

    pub(super) fn read_dynamic_ref(&mut self, member: Member<'_>) -> ReadResult {
        let reference = self.string(member)?;
        let (target, anchor) = self.resolve(member, &reference)?;
        let outermost = match anchor {
            Some(anchor) if anchor.dynamic => self.outermost_anchor(member, &reference)?,
            _ => None,
        };
        self.push_target(outermost.unwrap_or(target))
    }

    pub(super) fn read_recursive_ref(&mut self, member: Member<'_>) -> ReadResult {
        if self.string(member)? != "#" {
            return Err(self.malformed(member, "the value must be \"#\"; use `$ref` for anything else"));
        }
        let resource = self.work.index.resource(self.schema.resource);
        let outermost = match resource.recursive_anchor {
            true => self.work.scopes.lookup(self.scope, None),
            false => None,
        };
        self.push_target(outermost.unwrap_or(resource.root))
    }

    /// The schema with the dynamic anchor in `reference` in the outermost resource that has one of this name.
    fn outermost_anchor(&self, member: Member<'_>, reference: &str) -> ReadResult<Option<LocatedSchema>> {
        let name = uri::percent_decode(uri::split_fragment(reference).1);
        let Some(found) = self.work.scopes.lookup(self.scope, Some(&name)) else {
            return Ok(None);
        };
        let resource = self.work.index.resource(found.resource);
        if resource.anchors.get(&*name).is_some_and(|anchor| anchor.ambiguous) {
            let uri = &resource.uri;
            let message = format!("two places of the resource `{uri}` have the anchor `{name}`: rename one");
            return Err(self.malformed(member, message));
        }
        Ok(Some(found))
    }

    fn push_target(&mut self, target: LocatedSchema) -> ReadResult {
        let node = self.work.node(target, self.scope)?;
        self.keywords.refs.push(node);
        Ok(())
    }

    fn resolve(&mut self, member: Member<'_>, reference: &str) -> ReadResult<(LocatedSchema, Option<Anchor>)> {
        let (kind, reason) = match self.work.index.resolve(self.schema.resource, reference) {
            Ok(found) => return Ok(found),
            Err(ReferenceError::Document(error)) => return Err(error),
            Err(ReferenceError::Malformed(reason)) => (CompileErrorKind::Malformed, reason),
            Err(ReferenceError::NotRegistered(reason)) => (CompileErrorKind::Unsupported, reason),
        };
        Err(self.error(member, kind, format!("`{reference}` cannot be resolved: {reason}")))
    }
}
