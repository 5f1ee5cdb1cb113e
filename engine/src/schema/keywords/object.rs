//! `properties` and its companions, `required`, counts, dependencies, `unevaluatedProperties`.

use std::sync::Arc;

use crate::json::Content;

use super::super::keyword::Keyword;
use super::{Member, Read, Reader};

pub(super) fn read(reader: &mut Reader<'_, '_>, member: Member<'_>) -> Read {
    match member.keyword {
        Keyword::Properties => reader.keywords.properties = reader.subschema_map(member)?,
        Keyword::PatternProperties => reader.keywords.pattern_properties = reader.subschema_map(member)?,
        Keyword::AdditionalProperties => reader.keywords.additional_properties = Some(reader.subschema(member)?),
        Keyword::PropertyNames => reader.keywords.property_names = Some(reader.subschema(member)?),
        Keyword::Required => reader.keywords.required = reader.names_at(member, member.value)?,
        Keyword::MinProperties => reader.keywords.min_properties = reader.least(member)?,
        Keyword::MaxProperties => reader.keywords.max_properties = Some(reader.count(member)?),
        Keyword::Dependencies => read_dependencies(reader, member)?,
        Keyword::DependentRequired => read_dependent_required(reader, member)?,
        Keyword::DependentSchemas => {
            let dependent = reader.subschema_map(member)?;
            reader.keywords.dependent_schemas.extend(dependent);
        }
        _ => reader.keywords.unevaluated_properties = Some(reader.subschema(member)?),
    }
    Ok(())
}

fn read_dependent_required(reader: &mut Reader<'_, '_>, member: Member<'_>) -> Read {
    let json = Arc::clone(&reader.json);
    if !json.is_object(member.value) {
        return Err(reader.wrong_type(member, "an object of arrays of strings"));
    }
    for (name, value) in json.members(member.value) {
        let names = reader.names_at(member, value)?;
        reader.keywords.dependent_required.push((name.to_owned(), names));
    }
    Ok(())
}

fn read_dependencies(reader: &mut Reader<'_, '_>, member: Member<'_>) -> Read {
    let json = Arc::clone(&reader.json);
    if !json.is_object(member.value) {
        return Err(reader.wrong_type(member, "an object of schemas and arrays of strings"));
    }
    for (name, value) in json.members(member.value) {
        let name = name.to_owned();
        if let Content::Array(_) = json.content(value) {
            let names = reader.names_at(member, value)?;
            reader.keywords.dependent_required.push((name, names));
        } else {
            let node = reader.subschema_at(member, value)?;
            reader.keywords.dependent_schemas.push((name, node));
        }
    }
    Ok(())
}
