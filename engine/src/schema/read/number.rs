//! `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`.

use crate::decimal::Decimal;
use crate::json::Content;

use super::{KeywordReader, Member, ReadResult};
use crate::schema::dialect::Keyword;
use crate::schema::keywords::Bound;

impl KeywordReader<'_, '_> {
    /// Reads `minimum`, or `exclusiveMinimum` with a number: the tighter one of both counts.
    pub(super) fn read_minimum(&mut self, member: Member<'_>) -> ReadResult {
        let bound = self.bound(member)?;
        let tighter = |known: &Bound| (&bound.value, bound.exclusive) > (&known.value, known.exclusive);
        if self.keywords.minimum.as_ref().is_none_or(tighter) {
            self.keywords.minimum = Some(bound);
        }
        Ok(())
    }

    /// Reads `maximum`, or `exclusiveMaximum` with a number: the tighter one of both counts.
    pub(super) fn read_maximum(&mut self, member: Member<'_>) -> ReadResult {
        let bound = self.bound(member)?;
        let tighter = |known: &Bound| (&known.value, bound.exclusive) > (&bound.value, known.exclusive);
        if self.keywords.maximum.as_ref().is_none_or(tighter) {
            self.keywords.maximum = Some(bound);
        }
        Ok(())
    }

    /// The value of `multipleOf`.
    pub(super) fn divisor(&self, member: Member<'_>) -> ReadResult<Decimal> {
        let divisor = self.number(member)?;
        match divisor > Decimal::zero() {
            true => Ok(divisor),
            false => Err(self.malformed(member, "the value must be above 0")),
        }
    }

    fn bound(&self, member: Member<'_>) -> ReadResult<Bound> {
        let exclusive = matches!(member.keyword, Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum);
        if exclusive && matches!(self.json.content(member.value), Content::Bool(_)) {
            let message = "a boolean has this meaning in draft 4 and OpenAPI 3.0 only: give the bound itself, or name draft 4 in `$schema`";
            return Err(self.malformed(member, message));
        }
        let value = self.number(member)?;
        Ok(Bound { value, exclusive })
    }
}
