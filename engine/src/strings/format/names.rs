//! Names of hosts and mailboxes: RFC 1123, 5321, 5890 to 5893, 6531.

use super::internet::{ipv4_rule, ipv6_rule};
use super::{Grammar, Made};
use crate::strings::native::Native;
use crate::strings::node::{LanguageId, Node};

/// A label of letters, digits and inner hyphens, 63 characters at most.
const LABEL: &str = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?";
/// As it is with characters beyond ASCII, which RFC 6531 leaves to the rules of domain names.
const WIDE_LABEL: &str =
    "[A-Za-z0-9\\u{80}-\\u{10FFFF}](?:[A-Za-z0-9\\-\\u{80}-\\u{10FFFF}]{0,61}[A-Za-z0-9\\u{80}-\\u{10FFFF}])?";

pub(super) fn hostname(grammar: &mut Grammar) -> Made {
    let names = grammar.arena.intern(Node::Native(Native::host()))?;
    grammar.bounded(names, 1, 253)
}

/// Regular expressions of ECMA-262, with the `u` flag.
pub(super) fn regex(grammar: &mut Grammar) -> Made {
    Ok(grammar.arena.intern(Node::Native(Native::regex()))?)
}

/// Texts of a language of so many octets at most.
type Within = fn(&mut Grammar, LanguageId, u16) -> Made;

/// `Mailbox` of RFC 5321: a dotted or quoted local part of at most 64 octets, a domain of at most 255 or an address
/// in brackets. The one registered tag of such an address is `IPv6`.
fn mailbox(grammar: &mut Grammar, letter: &str, quoted: &str, label: &str, within: Within) -> Made {
    let atom = format!("[{letter}]+");
    let quoted = format!(r#""(?:[{quoted}]|\\[ -~])*""#);
    let local = grammar.whole(&format!(r"{atom}(?:\.{atom})*|{quoted}"))?;
    let local = within(grammar, local, 64)?;
    let domain = grammar.whole(&format!(r"{label}(?:\.{label})*"))?;
    let domain = within(grammar, domain, 255)?;
    let address = grammar.whole(&format!(r"\[(?:{}|[Ii][Pp][Vv]6:{})\]", ipv4_rule(), ipv6_rule()))?;
    let at = grammar.arena.literal("@")?;
    let host = grammar.arena.or(vec![domain, address])?;
    let host = grammar.arena.concat(at, host)?;
    Ok(grammar.arena.concat(local, host)?)
}

const ATOM: &str = r"A-Za-z0-9!#$%&'*+/=?\^_`{|}~\-";
const QUOTED: &str = r" !#-\[\]-~";

pub(super) fn email(grammar: &mut Grammar) -> Made {
    let within: Within = |grammar, language, most| grammar.bounded(language, 1, u64::from(most));
    mailbox(grammar, ATOM, QUOTED, LABEL, within)
}

/// As `email` with characters beyond ASCII in atoms, quoted strings and labels (RFC 6531, section 3.3). The rule is taken
/// as the Test Suite does: any such character may stand in a label, and lengths are those of UTF-8.
pub(super) fn idn_email(grammar: &mut Grammar) -> Made {
    let beyond = r"\u{80}-\u{10FFFF}";
    mailbox(
        grammar,
        &format!("{ATOM}{beyond}"),
        &format!("{QUOTED}{beyond}"),
        WIDE_LABEL,
        Grammar::within_octets,
    )
}

/// Characters that RFC 5892 derives as allowed, as far as tables say, with those that are in some contexts.
const ALLOWED: &str = r"\-\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}\u{B7}\u{375}\u{5F3}\u{5F4}\u{6FD}\u{6FE}\u{F0B}\u{3007}\u{30FB}\u{200C}\u{200D}";

/// Characters of the combining class "virama", which may come before a joiner.
const VIRAMAS: &str = r"\u{94D}\u{9CD}\u{A4D}\u{ACD}\u{B4D}\u{BCD}\u{C4D}\u{CCD}\u{D3B}\u{D3C}\u{D4D}\u{DCA}\u{E3A}\u{EBA}\u{F84}\u{1039}\u{103A}\u{1714}\u{1715}\u{1734}\u{17D2}\u{1A60}\u{1B44}\u{1BAA}\u{1BAB}\u{1BF2}\u{1BF3}\u{2D7F}\u{A806}\u{A82C}\u{A8C4}\u{A953}\u{A9C0}\u{AAF6}\u{ABED}\u{10A3F}\u{11046}\u{11070}\u{1107F}\u{110B9}\u{11133}\u{11134}\u{111C0}\u{11235}\u{112EA}\u{1134D}\u{11442}\u{114C2}\u{115BF}\u{1163F}\u{116B6}\u{1172B}\u{11839}\u{1193D}\u{1193E}\u{119E0}\u{11A34}\u{11A47}\u{11A99}\u{11C3F}\u{11D44}\u{11D45}\u{11D97}\u{11F41}\u{11F42}";

/// Scripts whose letters join, so that a non-joiner between two of them can mean something.
const JOINING: &str = r"\p{sc=Arabic}\p{sc=Syriac}\p{sc=Nko}\p{sc=Mongolian}\p{sc=Mandaic}\p{sc=Adlam}";

/// What no name may contain: exceptions of RFC 5892, and characters outside of the context that they need (appendix A).
/// `B` stands for the beginning of a label, `E` for its end, `D` for the dots, `V` and `J` for the two sets above.
const FORBIDDEN: &[&str] = &[
    r"[\u{640}\u{7FA}\u{302E}\u{302F}\u{3031}-\u{3035}\u{303B}]",
    r"<B>[\-\p{M}]",
    r"-<E>",
    r"<B>(?![Xx][Nn])[^<D>][^<D>]--",
    r"(?<!l)\u{B7}|\u{B7}(?!l)",
    r"\u{375}(?!\p{sc=Greek})",
    r"(?<!\p{sc=Hebrew})[\u{5F3}\u{5F4}]",
    r"<B>[^<D>\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Han}]*\u{30FB}[^<D>\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Han}]*<E>",
    r"[\u{660}-\u{669}][^<D>]*[\u{6F0}-\u{6F9}]|[\u{6F0}-\u{6F9}][^<D>]*[\u{660}-\u{669}]",
    r"(?<![<V>])\u{200D}|(?<![<V><J>])\u{200C}|(?<![<V>])\u{200C}(?![<J>])",
];

pub(super) fn idn_hostname(grammar: &mut Grammar) -> Made {
    let dots = r".\u{3002}\u{FF0E}\u{FF61}";
    let label = format!("(?:[{ALLOWED}]{{1,63}}|{LABEL})");
    let mut parts = vec![grammar.whole(&format!("{label}(?:[{dots}]{label})*"))?];
    let parts_of_rules = [
        ("<B>", format!("(?:^|[{dots}])")),
        ("<E>", format!("(?:$|[{dots}])")),
        ("<D>", dots.to_owned()),
        ("<V>", VIRAMAS.to_owned()),
        ("<J>", JOINING.to_owned()),
    ];
    for rule in FORBIDDEN {
        let rule = parts_of_rules
            .iter()
            .fold((*rule).to_owned(), |rule, (name, part)| rule.replace(name, part));
        let found = grammar.search(&rule)?;
        parts.push(grammar.arena.not(found)?);
    }
    let names = grammar.arena.and(parts)?;
    grammar.bounded(names, 1, 253)
}
