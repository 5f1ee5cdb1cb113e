//! `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`.

use crate::CompileErrorKind;
use crate::decimal::Decimal;
use crate::json::Content;

use super::{KeywordReader, Member, ReadResult};
use crate::schema::dialect::Keyword;
use crate::schema::keywords::Bound;

/// Digits before the decimal point of a `multipleOf`: its multiples are written out in styles without exponents.
const MAX_MULTIPLE_DIGITS: i64 = 4_096;

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
        if divisor <= Decimal::zero() {
            return Err(self.malformed(member, "the value must be above 0"));
        }
        if divisor.magnitude() > MAX_MULTIPLE_DIGITS {
            let message = format!("a multiple of so large a number has more than {MAX_MULTIPLE_DIGITS} digits");
            return Err(self.error(member, CompileErrorKind::LimitExceeded, message));
        }
        Ok(divisor)
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
