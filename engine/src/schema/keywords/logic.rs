//! `allOf`, `anyOf`, `oneOf`, `not`, `if`.

use super::super::NodeId;
use super::super::keyword::Keyword;
use super::{Member, Read, Reader};

/// `if` and its branches, which say nothing without it.
#[derive(Default)]
pub(super) struct Pending {
    condition: Option<NodeId>,
    then: Option<NodeId>,
    otherwise: Option<NodeId>,
}

pub(super) fn read(reader: &mut Reader<'_, '_>, member: Member<'_>) -> Read {
    match member.keyword {
        Keyword::AllOf => reader.keywords.all_of = reader.subschema_array(member)?,
        Keyword::AnyOf => reader.keywords.any_of = Some(reader.subschema_array(member)?),
        Keyword::OneOf => reader.keywords.one_of = Some(reader.subschema_array(member)?),
        Keyword::Not => reader.keywords.not = Some(reader.subschema(member)?),
        Keyword::If => reader.logic.condition = Some(reader.subschema(member)?),
        Keyword::Then => reader.logic.then = Some(reader.subschema(member)?),
        _ => reader.logic.otherwise = Some(reader.subschema(member)?),
    }
    Ok(())
}

pub(super) fn finish(reader: &mut Reader<'_, '_>) {
    let pending = &reader.logic;
    reader.keywords.if_then_else = pending
        .condition
        .map(|condition| (condition, pending.then, pending.otherwise));
}
