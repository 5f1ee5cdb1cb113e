//! `minLength`, `maxLength`, `pattern`, `format`.

use super::super::dialect::Vocabularies;
use super::super::keyword::Keyword;
use super::{Member, Read, Reader};

pub(super) fn read(reader: &mut Reader<'_, '_>, member: Member<'_>) -> Read {
    match member.keyword {
        Keyword::MinLength => reader.keywords.min_length = reader.least(member)?,
        Keyword::MaxLength => reader.keywords.max_length = Some(reader.count(member)?),
        Keyword::Pattern => reader.keywords.pattern = Some(reader.string(member)?),
        _ => {
            reader.keywords.format = Some(reader.string(member)?);
            let vocabularies = reader.dialect.vocabularies;
            reader.keywords.format_asserted = vocabularies.contains(Vocabularies::FORMAT_ASSERTION);
        }
    }
    Ok(())
}
