//! Names of hosts and mailboxes: RFC 1123, 5321, 5890 to 5893, 6531.

use super::internet::ipv6_with;
use crate::strings::custom_dfa::CustomDfa;
use crate::strings::expr::expression::Expr;
use crate::strings::formats::grammar::{FormatLanguage, Grammar};
use crate::strings::language_id::LanguageId;

/// A label of letters, digits and inner hyphens, 63 characters at most.
const LABEL: &str = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?";
/// With characters beyond ASCII, which RFC 6531 leaves to the rules of domain names. The longest label depends on its encoding;
/// the grammar of mailboxes has no bound.
const WIDE_LABEL: &str =
    "[A-Za-z0-9\\u{80}-\\u{10FFFF}](?:[A-Za-z0-9\\-\\u{80}-\\u{10FFFF}]*[A-Za-z0-9\\u{80}-\\u{10FFFF}])?";

pub(super) fn hostname(grammar: &mut Grammar) -> FormatLanguage {
    let names = grammar.arena.intern(Expr::CustomDfa(CustomDfa::host()))?;
    grammar.bounded(names, 1, 253)
}

/// Regular expressions of ECMA-262, with the `u` flag.
pub(super) fn regex(grammar: &mut Grammar) -> FormatLanguage {
    Ok(grammar.arena.intern(Expr::CustomDfa(CustomDfa::regex()))?)
}

/// Texts of a language of so many octets at most.
type Within = fn(&mut Grammar, LanguageId, u16) -> FormatLanguage;

/// `Mailbox` of RFC 5321: a dotted or quoted local part of at most 64 octets, a domain or an address in brackets. The 255 octets that
/// a domain may have are 253 characters, since the lengths of its labels and the root count (RFC 1035, section 3.1), as in
/// host names. The one registered tag of an address is `IPv6`.
fn mailbox(grammar: &mut Grammar, letter: &str, quoted: &str, label: &str, within: Within) -> FormatLanguage {
    let atom = format!("[{letter}]+");
    let quoted = format!(r#""(?:[{quoted}]|\\[ -~])*""#);
    let local = grammar.whole(&format!(r"{atom}(?:\.{atom})*|{quoted}"))?;
    let local = within(grammar, local, 64)?;
    let domain = grammar.whole(&format!(r"{label}(?:\.{label})*"))?;
    let domain = within(grammar, domain, 253)?;
    // `::` stands for two groups or more there, and numbers may begin with zeros.
    let ipv4 = format!(r"(?:{SNUM}\.){{3}}{SNUM}");
    let ipv6 = ipv6_with(6, &ipv4);
    let address = grammar.whole(&format!(r"\[(?:{ipv4}|[Ii][Pp][Vv]6:{ipv6})\]"))?;
    let at = grammar.arena.literal("@")?;
    let host = grammar.arena.or(vec![domain, address])?;
    let host = grammar.arena.concat(at, host)?;
    Ok(grammar.arena.concat(local, host)?)
}

/// `Snum` of RFC 5321.
const SNUM: &str = r"(?:25[0-5]|2[0-4]\d|1\d\d|0?\d\d|0{0,2}\d)";
const ATOM: &str = r"A-Za-z0-9!#$%&'*+/=?\^_`{|}~\-";
const QUOTED: &str = r" !#-\[\]-~";

pub(super) fn email(grammar: &mut Grammar) -> FormatLanguage {
    let within: Within = |grammar, language, most| grammar.bounded(language, 1, u64::from(most));
    mailbox(grammar, ATOM, QUOTED, LABEL, within)
}

/// Mailboxes as in `email`, with characters beyond ASCII in atoms, quoted strings and labels (RFC 6531, section 3.3). The rule is
/// taken as the Test Suite does: any such character may stand in a label, and lengths are those of UTF-8.
pub(super) fn idn_email(grammar: &mut Grammar) -> FormatLanguage {
    let beyond = r"\u{80}-\u{10FFFF}";
    mailbox(
        grammar,
        &format!("{ATOM}{beyond}"),
        &format!("{QUOTED}{beyond}"),
        WIDE_LABEL,
        |grammar, language, most| grammar.within_octets(language, most),
    )
}

/// A host name, or an internationalised one: JSON Schema has both.
pub(super) fn idn_hostname(grammar: &mut Grammar) -> FormatLanguage {
    let plain = hostname(grammar)?;
    let wide = grammar.arena.intern(Expr::CustomDfa(CustomDfa::idn()))?;
    Ok(grammar.arena.or(vec![plain, wide])?)
}
