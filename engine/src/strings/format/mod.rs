//! Formats as languages.
use super::limits::LimitReached;
use super::node::{Arena, LanguageId};
#[derive(Clone, Debug)]
pub(crate) struct Format {
    pub(crate) language: LanguageId,
    pub(crate) unchecked: Option<&'static str>,
}
#[derive(Clone, Debug)]
pub(crate) enum FormatError {
    Unsupported,
}
impl Arena {
    pub(super) fn leap_second(&mut self, _hour: u8, _minute: Option<u8>) -> Result<LanguageId, LimitReached> {
        Ok(super::node::NONE)
    }
}
