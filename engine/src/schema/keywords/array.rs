//! `items` and its companions, `contains`, counts, `uniqueItems`, `unevaluatedItems`.

use crate::json::Content;

use super::super::keyword::Keyword;
use super::super::{Contains, Draft, NodeId};
use super::{Member, Read, Reader};

/// Keywords that say something only beside others.
#[derive(Default)]
pub(super) struct Pending {
    contains: Option<NodeId>,
    min_contains: Option<u64>,
    max_contains: Option<u64>,
    additional_items: Option<NodeId>,
    /// `items` is an array, as up to draft 2019-09 it may be.
    items_is_array: bool,
}

pub(super) fn read(reader: &mut Reader<'_, '_>, member: Member<'_>) -> Read {
    match member.keyword {
        Keyword::PrefixItems => reader.keywords.prefix_items = reader.subschema_array(member)?,
        Keyword::Items => read_items(reader, member)?,
        Keyword::AdditionalItems => reader.array.additional_items = Some(reader.subschema(member)?),
        Keyword::Contains => reader.array.contains = Some(reader.subschema(member)?),
        Keyword::MinContains => reader.array.min_contains = Some(reader.count(member)?),
        Keyword::MaxContains => reader.array.max_contains = Some(reader.count(member)?),
        Keyword::MinItems => reader.keywords.min_items = reader.least(member)?,
        Keyword::MaxItems => reader.keywords.max_items = Some(reader.count(member)?),
        Keyword::UniqueItems => reader.keywords.unique_items = reader.boolean(member)?,
        _ => reader.keywords.unevaluated_items = Some(reader.subschema(member)?),
    }
    Ok(())
}

fn read_items(reader: &mut Reader<'_, '_>, member: Member<'_>) -> Read {
    let is_array = matches!(reader.json.content(member.value), Content::Array(_));
    if !is_array {
        reader.keywords.items = Some(reader.subschema(member)?);
    } else if reader.draft() <= Draft::Draft201909 {
        reader.array.items_is_array = true;
        reader.keywords.prefix_items = reader.subschema_array(member)?;
    } else {
        let message = "an array has this meaning up to draft 2019-09 only: use `prefixItems`, or name an earlier draft in \
                       `$schema`";
        return Err(reader.malformed(member, message));
    }
    Ok(())
}

pub(super) fn finish(reader: &mut Reader<'_, '_>) {
    let evaluates = reader.draft() >= Draft::Draft202012;
    let pending = &reader.array;
    // Beside an `items` that is a schema, or without `items`, `additionalItems` says nothing.
    if pending.items_is_array {
        reader.keywords.items = pending.additional_items;
    }
    reader.keywords.contains = pending.contains.map(|node| Contains {
        node,
        min: pending.min_contains.unwrap_or(1),
        max: pending.max_contains,
        evaluates,
    });
}
