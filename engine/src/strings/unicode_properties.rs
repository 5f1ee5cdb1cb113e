//! `\p{…}`: General_Category, Script, Script_Extensions and the binary properties of ECMA-262; names of groups.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, HirKind};

use crate::strings::charset::CharSet;

/// Binary properties that ECMA-262 names (table 67, "Binary Unicode property aliases"), short names included.
const BINARY: &str = "AHex ASCII_Hex_Digit Alpha Alphabetic Bidi_C Bidi_Control Bidi_M Bidi_Mirrored CI CWCF CWCM CWKCF CWL \
    CWT CWU Case_Ignorable Cased Changes_When_Casefolded Changes_When_Casemapped Changes_When_Lowercased \
    Changes_When_NFKC_Casefolded Changes_When_Titlecased Changes_When_Uppercased DI Dash \
    Default_Ignorable_Code_Point Dep Deprecated Dia Diacritic EBase EComp EMod EPres Emoji Emoji_Component \
    Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation Ext ExtPict Extended_Pictographic Extender Gr_Base \
    Gr_Ext Grapheme_Base Grapheme_Extend Hex Hex_Digit IDC IDS IDSB IDST IDS_Binary_Operator \
    IDS_Trinary_Operator ID_Continue ID_Start Ideo Ideographic Join_C Join_Control LOE \
    Logical_Order_Exception Lower Lowercase Math NChar Noncharacter_Code_Point Pat_Syn Pat_WS Pattern_Syntax \
    Pattern_White_Space QMark Quotation_Mark RI Radical Regional_Indicator SD STerm Sentence_Terminal \
    Soft_Dotted Term Terminal_Punctuation UIdeo Unified_Ideograph Upper Uppercase VS Variation_Selector \
    White_Space XIDC XIDS XID_Continue XID_Start space";

/// Values of General_Category, short names included.
const CATEGORIES: &str = "C Cased_Letter Cc Cf Close_Punctuation Cn Co Combining_Mark Connector_Punctuation Control Cs \
    Currency_Symbol Dash_Punctuation Decimal_Number Enclosing_Mark Final_Punctuation Format \
    Initial_Punctuation L LC Letter Letter_Number Line_Separator Ll Lm Lo Lowercase_Letter Lt Lu M Mark \
    Math_Symbol Mc Me Mn Modifier_Letter Modifier_Symbol N Nd Nl No Nonspacing_Mark Number Open_Punctuation \
    Other Other_Letter Other_Number Other_Punctuation Other_Symbol P Paragraph_Separator Pc Pd Pe Pf Pi Po \
    Private_Use Ps Punctuation S Sc Separator Sk Sm So Space_Separator Spacing_Mark Surrogate Symbol \
    Titlecase_Letter Unassigned Uppercase_Letter Z Zl Zp Zs cntrl digit punct";

/// Values of Script and Script_Extensions, short names included.
const SCRIPTS: &str = "Adlam Adlm Aghb Ahom Anatolian_Hieroglyphs Arab Arabic Armenian Armi Armn Avestan Avst Bali Balinese \
    Bamu Bamum Bass Bassa_Vah Batak Batk Beng Bengali Bhaiksuki Bhks Bopo Bopomofo Brah Brahmi Brai Braille \
    Bugi Buginese Buhd Buhid Cakm Canadian_Aboriginal Cans Cari Carian Caucasian_Albanian Chakma Cham Cher \
    Cherokee Chorasmian Chrs Common Copt Coptic Cpmn Cprt Cuneiform Cypriot Cypro_Minoan Cyrillic Cyrl \
    Deseret Deva Devanagari Diak Dives_Akuru Dogr Dogra Dsrt Dupl Duployan Egyp Egyptian_Hieroglyphs Elba \
    Elbasan Elym Elymaic Ethi Ethiopic Gara Garay Geor Georgian Glag Glagolitic Gong Gonm Goth Gothic Gran \
    Grantha Greek Grek Gujarati Gujr Gukh Gunjala_Gondi Gurmukhi Guru Gurung_Khema Han Hang Hangul Hani \
    Hanifi_Rohingya Hano Hanunoo Hatr Hatran Hebr Hebrew Hira Hiragana Hluw Hmng Hmnp Hung Imperial_Aramaic \
    Inherited Inscriptional_Pahlavi Inscriptional_Parthian Ital Java Javanese Kaithi Kali Kana Kannada \
    Katakana Kawi Kayah_Li Khar Kharoshthi Khitan_Small_Script Khmer Khmr Khoj Khojki Khudawadi Kirat_Rai \
    Kits Knda Krai Kthi Lana Lao Laoo Latin Latn Lepc Lepcha Limb Limbu Lina Linb Linear_A Linear_B Lisu \
    Lyci Lycian Lydi Lydian Mahajani Mahj Maka Makasar Malayalam Mand Mandaic Mani Manichaean Marc Marchen \
    Masaram_Gondi Medefaidrin Medf Meetei_Mayek Mend Mende_Kikakui Merc Mero Meroitic_Cursive \
    Meroitic_Hieroglyphs Miao Mlym Modi Mong Mongolian Mro Mroo Mtei Mult Multani Myanmar Mymr Nabataean \
    Nag_Mundari Nagm Nand Nandinagari Narb Nbat New_Tai_Lue Newa Nko Nkoo Nshu Nushu Nyiakeng_Puachue_Hmong \
    Ogam Ogham Ol_Chiki Ol_Onal Olck Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian \
    Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Onao Oriya Orkh Orya Osage Osge Osma Osmanya Ougr \
    Pahawh_Hmong Palm Palmyrene Pau_Cin_Hau Pauc Perm Phag Phags_Pa Phli Phlp Phnx Phoenician Plrd Prti \
    Psalter_Pahlavi Qaac Qaai Rejang Rjng Rohg Runic Runr Samaritan Samr Sarb Saur Saurashtra Sgnw Sharada \
    Shavian Shaw Shrd Sidd Siddham SignWriting Sind Sinh Sinhala Sogd Sogdian Sogo Sora Sora_Sompeng Soyo \
    Soyombo Sund Sundanese Sunu Sunuwar Sylo Syloti_Nagri Syrc Syriac Tagalog Tagb Tagbanwa Tai_Le Tai_Tham \
    Tai_Viet Takr Takri Tale Talu Tamil Taml Tang Tangsa Tangut Tavt Telu Telugu Tfng Tglg Thaa Thaana Thai \
    Tibetan Tibt Tifinagh Tirh Tirhuta Tnsa Todhri Todr Toto Tulu_Tigalari Tutg Ugar Ugaritic Vai Vaii Vith \
    Vithkuqi Wancho Wara Warang_Citi Wcho Xpeo Xsux Yezi Yezidi Yi Yiii Zanabazar_Square Zanb Zinh Zyyy";

/// All that may stand in the braces of `\p{…}`, sorted.
fn expressions() -> &'static [String] {
    static EXPRESSIONS: OnceLock<Vec<String>> = OnceLock::new();
    EXPRESSIONS.get_or_init(|| {
        let lone = ["Any", "ASCII", "Assigned"].into_iter();
        let lone = lone
            .chain(BINARY.split(' '))
            .chain(CATEGORIES.split(' '))
            .map(str::to_owned);
        let of =
            |name: &'static str, values: &'static str| values.split(' ').map(move |value| format!("{name}={value}"));
        let mut all: Vec<String> = lone
            .chain(
                ["General_Category", "gc"]
                    .into_iter()
                    .flat_map(|name| of(name, CATEGORIES)),
            )
            .chain(
                ["Script", "sc", "Script_Extensions", "scx"]
                    .into_iter()
                    .flat_map(|name| of(name, SCRIPTS)),
            )
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    })
}

/// Returns the endings of the expressions that begin with `beginning` and may stand in the braces of `\p{…}`.
pub(in crate::strings) fn property_endings(beginning: &str) -> impl Iterator<Item = &'static str> {
    let all = expressions();
    let place = all.partition_point(|expression| &**expression < beginning);
    let beginning = beginning.to_owned();
    all[place..]
        .iter()
        .map_while(move |expression| expression.strip_prefix(&*beginning))
}

/// Whether `\p{expression}` names a property of ECMA-262.
pub(in crate::strings) fn is_property(expression: &str) -> bool {
    expressions()
        .binary_search_by(|known| (**known).cmp(expression))
        .is_ok()
}

/// The characters with the property that `\p{expression}` asks for; none if ECMA-262 has no such property, or if there
/// is no table of it, which holds for `Changes_When_NFKC_Casefolded` alone.
pub(in crate::strings) fn property(expression: &str) -> Option<CharSet> {
    if !is_property(expression) {
        return None;
    }
    if let Some((name, value)) = expression.split_once('=') {
        let name = match name {
            "General_Category" | "gc" => return category(value),
            "Script" | "sc" => "sc",
            _ => "scx",
        };
        return table(&format!("{name}={value}"));
    }
    match expression {
        "Any" => Some(CharSet::all()),
        "ASCII" => Some(CharSet::range('\0', '\u{7f}')),
        "Assigned" => table("gc=Unassigned").map(|set| set.complement()),
        _ if BINARY.split(' ').any(|name| name == expression) => table(expression),
        _ => category(expression),
    }
}

fn category(name: &str) -> Option<CharSet> {
    match name {
        // Texts of scalar values have none.
        "Cs" | "Surrogate" => Some(CharSet::default()),
        _ => table(&format!("gc={name}")),
    }
}

/// Characters of the name of a group.
pub(in crate::strings) fn name_parts() -> &'static CharSet {
    static PARTS: OnceLock<CharSet> = OnceLock::new();
    PARTS.get_or_init(|| {
        let parts = table("ID_Continue").unwrap_or_default();
        parts.union(&CharSet::of("$\u{200C}\u{200D}"))
    })
}

/// Characters that the name of a group may begin with.
pub(in crate::strings) fn name_starts() -> &'static CharSet {
    static STARTS: OnceLock<CharSet> = OnceLock::new();
    STARTS.get_or_init(|| table("ID_Start").unwrap_or_default().union(&CharSet::of("$_")))
}

fn table(query: &str) -> Option<CharSet> {
    class_of(&format!(r"\p{{{query}}}"))
}

/// The characters that a pattern of one class stands for in Rust's dialect.
pub(in crate::strings) fn class_of(pattern: &str) -> Option<CharSet> {
    let class = regex_syntax::parse(pattern).ok()?;
    match class.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(CharSet::from_ranges(
            class.ranges().iter().map(|range| (range.start(), range.end())),
        )),
        // A class of one character is a literal there.
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok().map(CharSet::of),
        _ => None,
    }
}

/// `\w`: case is never ignored, so that the Unicode flag adds no letter.
pub(in crate::strings) fn word() -> CharSet {
    CharSet::from_ranges([('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')])
}

/// `\s`: white space and line terminators of ECMA-262, as inclusive ranges.
pub(in crate::strings) const SPACES: [(char, char); 10] = [
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];
