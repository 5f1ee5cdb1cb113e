//! The formats of JSON Schema as languages, from the grammars of the RFCs that the drafts name.

pub(super) mod grammar;
mod internet;
mod names;
mod time;
pub(super) mod usual;

use crate::strings::formats::grammar::{FormatError, FormatLanguage, Grammar};
use crate::strings::language_id::LanguageId;
use crate::strings::languages::Languages;

/// A name, and how its language is made.
type Definition = (&'static str, fn(&mut Grammar) -> FormatLanguage);

/// The formats that the drafts define.
const FORMATS: &[Definition] = &[
    ("date-time", time::date_time),
    ("date", time::date),
    ("time", time::time),
    ("duration", time::duration),
    ("email", names::email),
    ("idn-email", names::idn_email),
    ("hostname", names::hostname),
    ("idn-hostname", names::idn_hostname),
    ("ipv4", internet::ipv4),
    ("ipv6", internet::ipv6),
    ("uri", internet::uri),
    ("uri-reference", internet::uri_reference),
    ("iri", internet::iri),
    ("iri-reference", internet::iri_reference),
    ("uuid", internet::uuid),
    ("regex", names::regex),
    ("uri-template", internet::uri_template),
    ("json-pointer", internet::json_pointer),
    ("relative-json-pointer", internet::relative_json_pointer),
];

/// Formats whose texts may lack the offset from UTC, by the names of the formats that they stand for and names of their own.
const LOCAL_FORMATS: &[(&str, Definition)] = &[
    ("date-time", ("date-time or local", time::date_time_or_local)),
    ("time", ("time or local", time::time_or_local)),
];

impl Languages {
    /// The texts of the format `name`, or `None` if no draft defines it.
    #[cfg(test)]
    pub(crate) fn format(&mut self, name: &str) -> Result<Option<LanguageId>, FormatError> {
        self.format_with(name, false)
    }

    /// The texts of the format `name`, or `None` if no draft defines it. With `local_times` dates and times may lack the offset from
    /// UTC.
    pub(crate) fn format_with(&mut self, name: &str, local_times: bool) -> Result<Option<LanguageId>, FormatError> {
        let local = LOCAL_FORMATS.iter().find(|(format, _)| local_times && *format == name);
        let usual = || FORMATS.iter().find(|format| format.0 == name);
        let Some(&(name, make)) = local.map(|(_, definition)| definition).or_else(usual) else {
            return Ok(None);
        };
        if let Some(&known) = self.formats.get(name) {
            return Ok(Some(known));
        }
        let language = make(&mut Grammar {
            arena: &mut self.arena,
            limits: &self.limits,
        })?;
        self.formats.insert(name, language);
        Ok(Some(language))
    }
}
