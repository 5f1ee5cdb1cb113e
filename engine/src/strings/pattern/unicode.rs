//! `\p{…}`: General_Category, Script, Script_Extensions and the binary properties of ECMA-262.

use regex_syntax::hir::{Class, HirKind};

use crate::strings::charset::CharSet;

/// Binary properties that ECMA-262 names (table 67, "Binary Unicode property aliases"), short names included.
const BINARY: &[&str] = &[
    "ASCII_Hex_Digit",
    "AHex",
    "Alphabetic",
    "Alpha",
    "Bidi_Control",
    "Bidi_C",
    "Bidi_Mirrored",
    "Bidi_M",
    "Case_Ignorable",
    "CI",
    "Cased",
    "Changes_When_Casefolded",
    "CWCF",
    "Changes_When_Casemapped",
    "CWCM",
    "Changes_When_Lowercased",
    "CWL",
    "Changes_When_Titlecased",
    "CWT",
    "Changes_When_Uppercased",
    "CWU",
    "Dash",
    "Default_Ignorable_Code_Point",
    "DI",
    "Deprecated",
    "Dep",
    "Diacritic",
    "Dia",
    "Emoji",
    "Emoji_Component",
    "EComp",
    "Emoji_Modifier",
    "EMod",
    "Emoji_Modifier_Base",
    "EBase",
    "Emoji_Presentation",
    "EPres",
    "Extended_Pictographic",
    "ExtPict",
    "Extender",
    "Ext",
    "Grapheme_Base",
    "Gr_Base",
    "Grapheme_Extend",
    "Gr_Ext",
    "Hex_Digit",
    "Hex",
    "IDS_Binary_Operator",
    "IDSB",
    "IDS_Trinary_Operator",
    "IDST",
    "ID_Continue",
    "IDC",
    "ID_Start",
    "IDS",
    "Ideographic",
    "Ideo",
    "Join_Control",
    "Join_C",
    "Logical_Order_Exception",
    "LOE",
    "Lowercase",
    "Lower",
    "Math",
    "Noncharacter_Code_Point",
    "NChar",
    "Pattern_Syntax",
    "Pat_Syn",
    "Pattern_White_Space",
    "Pat_WS",
    "Quotation_Mark",
    "QMark",
    "Radical",
    "Regional_Indicator",
    "RI",
    "Sentence_Terminal",
    "STerm",
    "Soft_Dotted",
    "SD",
    "Terminal_Punctuation",
    "Term",
    "Unified_Ideograph",
    "UIdeo",
    "Uppercase",
    "Upper",
    "Variation_Selector",
    "VS",
    "White_Space",
    "space",
    "XID_Continue",
    "XIDC",
    "XID_Start",
    "XIDS",
];

/// The characters with the property that `\p{expression}` asks for. `Changes_When_NFKC_Casefolded` is the one property
/// of ECMA-262 for which there is no table. Names of categories and scripts are matched loosely (UAX44-LM3): `letter` is
/// accepted where ECMA-262 wants `Letter`.
pub(super) fn property(expression: &str) -> Option<CharSet> {
    let is_name = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if let Some((name, value)) = expression.split_once('=') {
        if !is_name(value) {
            return None;
        }
        return match name {
            "General_Category" | "gc" => table(&format!("gc={value}")),
            "Script" | "sc" => table(&format!("sc={value}")),
            "Script_Extensions" | "scx" => table(&format!("scx={value}")),
            _ => None,
        };
    }
    match expression {
        "Any" => Some(CharSet::all()),
        "ASCII" => Some(CharSet::range('\0', '\u{7f}')),
        "Assigned" => table("gc=Unassigned").map(|set| set.complement()),
        _ if BINARY.contains(&expression) => table(expression),
        _ if is_name(expression) => table(&format!("gc={expression}")),
        _ => None,
    }
}

fn table(query: &str) -> Option<CharSet> {
    let class = regex_syntax::parse(&format!(r"\p{{{query}}}")).ok()?;
    match class.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(CharSet::from_ranges(
            class.ranges().iter().map(|range| (range.start(), range.end())),
        )),
        // A class of one character is a literal there.
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok().map(CharSet::of),
        _ => None,
    }
}
