//! Formats in their usual spelling: narrower than their grammars, for writing documents and not for judging them.

use crate::strings::formats::grammar::{FormatError, FormatLanguage, Grammar};
use crate::strings::language_id::LanguageId;
use crate::strings::languages::Languages;
use crate::style::StringStyle;

use super::time::full_date;

/// The texts of a format that are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Usual {
    /// The texts that are preferred.
    pub(crate) texts: LanguageId,
    /// The preferred texts without which the preference would leave too little: a constraint that excludes all of these wants
    /// the texts that are not preferred.
    pub(crate) typical: LanguageId,
}

/// A time of day without leap seconds, with a fraction of a second down to nanoseconds.
const TIME: &str = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?";

/// The offset from UTC, in capitals.
const OFFSET: &str = r"(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)";

/// An identifier with a host: a name or an address between the slashes and a port or path.
const WITH_HOST: &str =
    r"[A-Za-z][A-Za-z0-9+.\-]*://(?:[^/?#@]*@)?(?:\[[^/?#@\]]+\]|[^/?#@:\[\]]+)(?::\d+)?(?:[/?#].*)?";

/// A mailbox without quotation marks, at a name of at least two labels.
const WITH_DOMAIN: &str = r#"[^@"]+@[^@.\[\]]+(?:\.[^@.\[\]]+)+"#;

impl Languages {
    /// The texts of the format `name` that a style prefers; `None` where it prefers none to others.
    /// With `local_times` dates and times may lack the offset from UTC.
    pub(crate) fn usual_format(
        &mut self,
        name: &str,
        style: StringStyle,
        local_times: bool,
    ) -> Result<Option<Usual>, FormatError> {
        let wanted = match name {
            "date-time" | "time" | "uuid" => style.usual_formats,
            "uri" | "iri" => style.hosts,
            "email" | "idn-email" => style.domains,
            _ => false,
        };
        let Some(format) = self.format_with(name, local_times)?.filter(|_| wanted) else {
            return Ok(None);
        };
        let grammar = &mut Grammar {
            arena: &mut self.arena,
            limits: &self.limits,
        };
        let time = format!("{TIME}{OFFSET}{}", if local_times { "?" } else { "" });
        let (texts, typical) = match name {
            "date-time" => both(grammar.whole(&format!("(?:{})T{time}", full_date()))),
            "time" => both(grammar.whole(&time)),
            "uuid" => {
                let texts = grammar.whole("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")?;
                // Those of digits alone are in capitals as well.
                (Ok(texts), within(grammar, texts, ".*[a-f].*"))
            }
            "uri" | "iri" => both(within(grammar, format, WITH_HOST)),
            _ => both(within(grammar, format, WITH_DOMAIN)),
        };
        let (texts, typical) = (texts?, typical?);
        Ok(Some(Usual { texts, typical }))
    }
}

fn both(texts: FormatLanguage) -> (FormatLanguage, FormatLanguage) {
    (texts.clone(), texts)
}

/// The texts of a format that `rule` matches whole.
fn within(grammar: &mut Grammar, format: LanguageId, rule: &str) -> FormatLanguage {
    let texts = grammar.whole(rule)?;
    Ok(grammar.arena.and(vec![format, texts])?)
}
