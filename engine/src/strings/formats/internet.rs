//! Addresses and identifiers: RFC 3986, 3987, 4122, 6570, 6901.

use crate::strings::formats::grammar::{FormatLanguage, Grammar};

const HEX: &str = "[0-9A-Fa-f]";
const IPV4: &str = r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)";
/// `ucschar` of RFC 3987.
const UCSCHAR: &str = r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD}\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD}\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD}\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}";
/// `iprivate` of RFC 3987.
const IPRIVATE: &str = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}";

/// `IPv6address` of RFC 3986. Zone identifiers are not part of it.
fn ipv6_rule() -> String {
    ipv6_with(7, IPV4)
}

/// Addresses of 128 bits with at most so many groups of 16 bits beside `::`, of which an address of the rule `ipv4` may be the last two.
pub(super) fn ipv6_with(groups: usize, ipv4: &str) -> String {
    let group = format!("{HEX}{{1,4}}");
    let last = format!("(?:{group}:{group}|{ipv4})");
    let mut forms = vec![format!("(?:{group}:){{6}}{last}")];
    // `before` groups at most, then `::`, then `after` groups, which end in 32 bits where there are two or more.
    for after in 0..=groups {
        let before = groups - after;
        let head = match before {
            0 => String::new(),
            1 => format!("(?:{group})?"),
            _ => format!("(?:(?:{group}:){{0,{}}}{group})?", before - 1),
        };
        let tail = match after {
            0 => String::new(),
            1 => group.clone(),
            _ => format!("(?:{group}:){{{}}}{last}", after - 2),
        };
        forms.push(format!("{head}::{tail}"));
    }
    format!("(?:{})", forms.join("|"))
}

pub(super) fn ipv4(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(IPV4)
}

pub(super) fn ipv6(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(&ipv6_rule())
}

pub(super) fn uuid(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(&format!("{HEX}{{8}}(?:-{HEX}{{4}}){{3}}-{HEX}{{12}}"))
}

/// The rules of RFC 3986, or with `more` characters in names, and `private` ones in queries, of RFC 3987.
struct Identifier {
    authority: String,
    /// One character of a path's segment.
    part: String,
    /// One character of the first segment of a relative path: no colon.
    part_without_colon: String,
    query: String,
    fragment: String,
}

impl Identifier {
    fn new(more: &str, private: &str) -> Self {
        let encoded = format!("%{HEX}{HEX}");
        let unreserved = format!("A-Za-z0-9._~{more}");
        let delimiters = "!$&'()*+,;=";
        let user = format!("(?:[{unreserved}{delimiters}:\\-]|{encoded})*");
        let name = format!("(?:[{unreserved}{delimiters}\\-]|{encoded})*");
        // A future address has no internationalised form.
        let future = format!(r"[vV]{HEX}+\.[A-Za-z0-9._~{delimiters}:\-]+");
        let host = format!(r"(?:\[(?:{}|{future})\]|{name})", ipv6_rule());
        let part = format!("(?:[{unreserved}{delimiters}:@\\-]|{encoded})");
        Self {
            authority: format!(r"//(?:{user}@)?{host}(?::\d*)?"),
            part_without_colon: format!("(?:[{unreserved}{delimiters}@\\-]|{encoded})"),
            query: format!(r"(?:\?(?:[{unreserved}{delimiters}{private}:@/?\-]|{encoded})*)?"),
            fragment: format!("(?:#(?:{part}|[/?])*)?"),
            part,
        }
    }

    /// Returns the pattern of the part behind a scheme, or of a reference without a scheme if its first segment is `first`.
    fn hierarchy(&self, first: &str) -> String {
        let Self {
            authority,
            part,
            query,
            fragment,
            ..
        } = self;
        let absolute = format!("/(?:{part}+(?:/{part}*)*)?");
        format!("(?:{authority}(?:/{part}*)*|{absolute}|{first}+(?:/{part}*)*|){query}{fragment}")
    }

    fn with_scheme(&self) -> String {
        format!("[A-Za-z][A-Za-z0-9+.\\-]*:{}", self.hierarchy(&self.part))
    }

    fn reference(&self) -> String {
        format!("{}|{}", self.with_scheme(), self.hierarchy(&self.part_without_colon))
    }
}

pub(super) fn uri(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(&Identifier::new("", "").with_scheme())
}

pub(super) fn uri_reference(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(&Identifier::new("", "").reference())
}

pub(super) fn iri(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(&Identifier::new(UCSCHAR, IPRIVATE).with_scheme())
}

pub(super) fn iri_reference(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(&Identifier::new(UCSCHAR, IPRIVATE).reference())
}

/// RFC 6570 with its erratum 6937, which lets an apostrophe stand for itself.
pub(super) fn uri_template(grammar: &mut Grammar) -> FormatLanguage {
    let encoded = format!("%{HEX}{HEX}");
    let literal = format!(r"(?:[!#$&-;=?-\[\]_a-z~{UCSCHAR}{IPRIVATE}]|{encoded})");
    let letter = format!("(?:[A-Za-z0-9_]|{encoded})");
    let variable = format!(r"{letter}(?:\.?{letter})*(?::[1-9]\d{{0,3}}|\*)?");
    let expression = format!(r"\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\}}");
    grammar.whole(&format!("(?:{literal}|{expression})*"))
}

const POINTER: &str = "(?:/(?:[^~/]|~[01])*)*";

pub(super) fn json_pointer(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(POINTER)
}

/// Relative JSON Pointers of draft-handrews-relative-json-pointer-01, without the later index manipulation.
pub(super) fn relative_json_pointer(grammar: &mut Grammar) -> FormatLanguage {
    grammar.whole(&format!(r"(?:0|[1-9]\d*)(?:#|{POINTER})"))
}
