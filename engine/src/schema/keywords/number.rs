//! `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`.

use crate::decimal::Decimal;

use super::super::keyword::Keyword;
use super::super::{Bound, Draft};
use super::{Member, Read, Reader};

/// Draft 4's boolean `exclusiveMinimum` and `exclusiveMaximum`, which say how `minimum` and `maximum` are meant.
#[derive(Default)]
pub(super) struct Pending {
    exclusive_minimum: bool,
    exclusive_maximum: bool,
}

pub(super) fn read(reader: &mut Reader<'_, '_>, member: Member<'_>) -> Read {
    match member.keyword {
        Keyword::ExclusiveMinimum if reader.draft() == Draft::Draft4 => {
            reader.number.exclusive_minimum = reader.boolean(member)?;
        }
        Keyword::ExclusiveMaximum if reader.draft() == Draft::Draft4 => {
            reader.number.exclusive_maximum = reader.boolean(member)?;
        }
        Keyword::Minimum | Keyword::ExclusiveMinimum => {
            let bound = read_bound(reader, member, member.keyword == Keyword::ExclusiveMinimum)?;
            let tighter = |known: &Bound| (&bound.value, bound.exclusive) > (&known.value, known.exclusive);
            if reader.keywords.minimum.as_ref().is_none_or(tighter) {
                reader.keywords.minimum = Some(bound);
            }
        }
        Keyword::Maximum | Keyword::ExclusiveMaximum => {
            let bound = read_bound(reader, member, member.keyword == Keyword::ExclusiveMaximum)?;
            let tighter = |known: &Bound| (&known.value, bound.exclusive) > (&bound.value, known.exclusive);
            if reader.keywords.maximum.as_ref().is_none_or(tighter) {
                reader.keywords.maximum = Some(bound);
            }
        }
        _ => {
            let divisor = reader.number(member)?;
            if divisor <= Decimal::zero() {
                return Err(reader.malformed(member, "the value must be above 0"));
            }
            reader.keywords.multiple_of = Some(divisor);
        }
    }
    Ok(())
}

fn read_bound(reader: &Reader<'_, '_>, member: Member<'_>, exclusive: bool) -> Read<Bound> {
    reader
        .number(member)
        .map_err(|error| {
            let is_boolean = matches!(reader.json.content(member.value), crate::json::Content::Bool(_));
            if exclusive && is_boolean {
                let message =
                    "a boolean has this meaning in draft 4 only: give the bound itself, or name draft 4 in `$schema`";
                return reader.malformed(member, message);
            }
            error
        })
        .map(|value| Bound { value, exclusive })
}

/// Folds draft 4's booleans into the bounds. Without a bound beside them they say nothing.
pub(super) fn finish(reader: &mut Reader<'_, '_>) {
    if let Some(minimum) = &mut reader.keywords.minimum {
        minimum.exclusive |= reader.number.exclusive_minimum;
    }
    if let Some(maximum) = &mut reader.keywords.maximum {
        maximum.exclusive |= reader.number.exclusive_maximum;
    }
}
