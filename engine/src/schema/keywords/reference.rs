//! `$ref`, `$dynamicRef`, `$recursiveRef`, and the keywords that references need: `$id`, `$schema`, anchors, `$defs`.

use crate::json::Content;
use crate::{CompileError, CompileErrorKind};

use super::super::documents::Location;
use super::super::index::ReferenceError;
use super::super::keyword::Keyword;
use super::super::scan::Anchor;
use super::super::uri;
use super::{Member, Read, Reader};

pub(super) fn read(reader: &mut Reader<'_, '_>, member: Member<'_>) -> Read {
    match member.keyword {
        Keyword::Ref => {
            let reference = reader.string(member)?;
            let (target, _) = resolve(reader, member, &reference)?;
            push_target(reader, target)
        }
        Keyword::DynamicRef => {
            let reference = reader.string(member)?;
            let (target, anchor) = resolve(reader, member, &reference)?;
            let is_dynamic = anchor.is_some_and(|anchor| anchor.dynamic);
            let outermost = if is_dynamic {
                outermost_anchor(reader, member, &reference)?
            } else {
                None
            };
            push_target(reader, outermost.unwrap_or(target))
        }
        Keyword::RecursiveRef => {
            if reader.string(member)? != "#" {
                return Err(reader.malformed(member, "the value must be \"#\"; use `$ref` for anything else"));
            }
            let id = reader.location.resource;
            let resource = reader.loader.index.resource(id);
            let target = resource.location(id);
            let outermost = resource
                .recursive_anchor
                .then(|| reader.loader.scopes.lookup(reader.scope, None))
                .flatten();
            push_target(reader, outermost.unwrap_or(target))
        }
        Keyword::RecursiveAnchor => reader.boolean(member).map(|_| ()),
        Keyword::Definitions => match reader.json.content(member.value) {
            Content::Object(_) => Ok(()),
            _ => Err(reader.wrong_type(member, "an object of schemas")),
        },
        // Their work was done when the document was scanned.
        _ => reader.string(member).map(|_| ()),
    }
}

/// Where the outermost resource that has the dynamic anchor in `reference` has it.
fn outermost_anchor(reader: &Reader<'_, '_>, member: Member<'_>, reference: &str) -> Read<Option<Location>> {
    let name = uri::percent_decode(uri::split_fragment(reference).1);
    let Some(found) = reader.loader.scopes.lookup(reader.scope, Some(&name)) else {
        return Ok(None);
    };
    let resource = reader.loader.index.resource(found.resource);
    if resource.anchors.get(&*name).is_some_and(|anchor| anchor.ambiguous) {
        let message = format!(
            "two places of the resource `{}` have the anchor `{name}`: rename one",
            resource.uri
        );
        return Err(reader.malformed(member, message));
    }
    Ok(Some(found))
}

fn push_target(reader: &mut Reader<'_, '_>, target: Location) -> Read {
    let node = reader.loader.node(target, reader.scope)?;
    reader.keywords.refs.push(node);
    Ok(())
}

fn resolve(reader: &mut Reader<'_, '_>, member: Member<'_>, reference: &str) -> Read<(Location, Option<Anchor>)> {
    let resolved = reader.loader.index.resolve(reader.location.resource, reference);
    resolved.map_err(|error| describe(reader, member, reference, error))
}

fn describe(reader: &Reader<'_, '_>, member: Member<'_>, reference: &str, error: ReferenceError) -> CompileError {
    let (kind, reason) = match error {
        ReferenceError::Document(error) => return error,
        ReferenceError::Malformed(reason) => (CompileErrorKind::Malformed, reason),
        ReferenceError::NotRegistered(reason) => (CompileErrorKind::Unsupported, reason),
    };
    reader.error(member, kind, format!("`{reference}` cannot be resolved: {reason}"))
}
