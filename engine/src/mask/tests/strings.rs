//! Masks within strings: of loops, of bounds, and of expressions that have to differ.

use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{TOKENS, agree, compiler, vocabulary};
use crate::mask::ExactOptions;
use crate::{Compiler as _, Formats, Limits};

/// Cells that one text of a format beside other constraints takes at most, and those that are made on the way.
const CELLS: usize = 60_000;

/// Strings of which nearly any character may come first, but each leads elsewhere.
#[test]
fn expressions_that_have_to_differ_are_not_listed_by_character() {
    let vocabulary = vocabulary(&TOKENS);
    let options = ExactOptions {
        formats: Formats::Asserted,
        ..ExactOptions::judging()
    };
    let schema = r#"{"uniqueItems": true, "items": {"type": "string", "format": "regex"}}"#;
    let mut masker = compiler(vocabulary.clone(), options).compile(schema).unwrap();
    let text = r#"["(?<ab>a)","(?<a"#;
    for place in 0..text.len() {
        agree(masker.as_mut(), &vocabulary, &text[..place]);
        masker.advance(text.as_bytes()[place].into()).unwrap();
    }
    agree(masker.as_mut(), &vocabulary, text);
}

/// With so many tokens, those of a loop are looked up by their characters: in a mask of each loop every token counts.
#[test]
fn loops_take_the_tokens_that_may_come() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut texts = std::collections::BTreeSet::new();
    while texts.len() < 8_000 {
        // Most are of few different characters, as words are; some are longer than loops are followed.
        let kind: &[char] = [
            &['a', 'b', 'c'][..],
            &['a', 'B', '1', '_'],
            &['é', '日', 'a'],
            &['a', 'b', '-', '.', ' ', '\n', '\u{2028}', '\u{a0}', '日'],
            &[
                '(', ')', '[', ']', '?', '<', '>', 'a', 'b', '日', '*', '-', '{', '1', ',',
            ],
        ]
        .choose(&mut rng)
        .unwrap();
        let length = if rng.random_bool(0.1) { 14..24 } else { 1..9 };
        let space = ["", "", " "].choose(&mut rng).unwrap();
        let body: String = (0..rng.random_range(length))
            .map(|_| *kind.choose(&mut rng).unwrap())
            .collect();
        let end = ["", "", "", "", "\\", "\\u00", "\""].choose(&mut rng).unwrap();
        // And some begin with one of many.
        let first = match rng.random_bool(0.2) {
            true => rng.random_range('一'..='丿').to_string(),
            false => String::new(),
        };
        let mut text = format!("{space}{first}{}{end}", body.replace('\n', "\\n")).into_bytes();
        if rng.random_bool(0.1) {
            text.extend(
                [&b"\xC3"[..], b"\xE2\x80", b"\xE6", b"\xF0\x9F"]
                    .choose(&mut rng)
                    .unwrap()
                    .iter(),
            );
        }
        if text.len() > 1 {
            texts.insert(text);
        }
    }
    let texts: Vec<Vec<u8>> = texts.into_iter().collect();
    let vocabulary = vocabulary(&texts);
    let options = ExactOptions {
        formats: Formats::Asserted,
        ..ExactOptions::judging()
    };
    let compiler = compiler(vocabulary.clone(), options);
    let patterns = [
        r"^\S+$",
        r"^[a-z]+$",
        r"^[a-z]{3,9}$",
        r"^[a-z]{0,30}!$",
        r"^(?:\S+\s+){0,4}\S+$",
        r"^.b.*$",
        r"^[^1].[bc]{2}$",
        r"^[a-z_](\.?[a-zA-Z0-9_]+)*$",
        r"^[^.-]+[.-][^.-]+$",
        r"^.+$",
        r"(^.+\..+)|(^[a-zA-Z0-9_-]+)",
        r"^[é日]+a$",
        r"^[^日]*$",
        r"^ ?[a-c]+( [a-c]+)*$",
        r"^([a-c]+|[a-c]{2}[1_]+)$",
        // All that is not at an end can go on with any character but a few, and so on.
        r"^.*?[ab]b\.c$",
        r"^.*a([^.]+\.)?c[1_]$",
        r"^([^日]*\n)?[^-]*1$",
        r"^[^\u2000-\u203f]*a(\u2028b)?c$",
        r"^[^\u00a0]*-[^]*$",
        // A character leads to the same place whatever came before it, but behind some of them.
        r"^([a-c ]|-[ab1]|é日|_)*$",
        r"^([a-c. ]|-日)*$",
        r"^([a-c_ ]|[.é]é|-[日é]|日日)*$",
        r"^([^b]|b[^ca])*b?$",
        r"^([a-c]([^b]|b[^ca]|bc日)*|[^a-c][^]*)$",
        r"^[^ ]([^ab]|a[^B]|b(?=[^日])(?!1))*$",
        r"^ ?.([^日a]|日+[^日ca]|a(?!1))*c$",
    ];
    let mut strings: Vec<String> = patterns
        .iter()
        .map(|pattern| format!(r#""pattern": {pattern:?}"#))
        .collect();
    strings.extend(
        [
            r#""oneOf": [{"pattern": "ab"}, {"pattern": "B1"}, {"pattern": "c-?a"}]"#,
            r#""oneOf": [{"pattern": "a日"}, {"pattern": "^[^é]*1"}]"#,
            r#""not": {"pattern": "b[ac]|日é"}"#,
            r#""format": "regex""#,
            r#""allOf": [{"pattern": "^.*?ab?[_c.]$"}, {"pattern": "^([a-cB_.-]|1[a-c])*$"}]"#,
        ]
        .map(str::to_owned),
    );
    let formats = [
        r#""format": "regex", "pattern": "^[^ ]*$""#,
        r#""format": "regex", "pattern": "[ab]$""#,
        r#""format": "hostname", "pattern": "[.-][ab]+$""#,
        r#""minLength": 11, "anyOf": [{"format": "regex", "maxLength": 10}, {"format": "hostname"}]"#,
    ];
    let bounds = [
        "",
        r#", "maxLength": 300"#,
        r#", "maxLength": 11"#,
        r#", "minLength": 4"#,
    ];
    let strings = strings.into_iter().map(|string| (string, &bounds[..]));
    // Fewer bounds, because the tokens are looked at one by one for long.
    let formats = formats.map(|string| (string.to_owned(), &bounds[..2]));
    for (string, bounds) in strings.chain(formats) {
        for bound in bounds {
            let schema = format!(r#"{{"type": "string", {string}{bound}}}"#);
            for before in [
                "\"", "\"a", "\"aa ", "\"日.a", "\"cab", "\"c日", "\"[", "\"(a[^b", "\"[a-",
            ] {
                let mut masker = compiler.compile(&schema).unwrap();
                if !before.bytes().all(|byte| masker.advance(byte.into()).is_ok()) {
                    continue;
                }
                agree(masker.as_mut(), &vocabulary, &format!("{schema} {before}"));
            }
        }
    }
}

/// Bounds on characters, from far away up to where they end a text, with tokens that reach them from further away than
/// others.
#[test]
fn bounds_count_as_soon_as_a_token_can_reach_them() {
    let long = ["a", "-", "a-", "a.", ".", " ", "é"].into_iter().flat_map(|text| {
        let repeated = [15, 16, 17, 24, 32, 33, 40, 64, 65, 90].into_iter();
        repeated.map(move |count| text.repeat(count))
    });
    let short = [
        "--", "---", "a--b", "xn--", ".xn--", "xn--a.", "n--ab.c", "-a", ".com", "example", "@a", "a@", "a@b.", "://",
        "%41", "%4", "[::", "1.1.", "aa\\u00", "ab", "ba1", "b c ", "a\"", "é-",
    ];
    // Of several words, and with what closes the string behind many characters.
    let words = [
        " a",
        "a ",
        "a b",
        "a b c",
        "a b c ",
        " a\u{a0}b  c d",
        "a b c a b c a b",
        "a b\"",
        "c\",\"",
    ];
    let closing = ["a", "-", " ", "é"].into_iter().flat_map(|text| {
        let repeated = [16, 17, 40, 66].into_iter();
        repeated.map(move |count| format!("{}\"", text.repeat(count)))
    });
    let short = short.into_iter().chain(words).map(str::to_owned);
    let texts: Vec<String> = long.chain(short).chain(closing).collect();
    // The second vocabulary has no token much longer than the horizon of over-approximations, so these decide all tokens more often.
    let shorter: Vec<String> = texts.iter().filter(|text| text.len() <= 18).cloned().collect();
    let compilers = [texts, shorter].map(|texts| {
        let options = ExactOptions {
            formats: Formats::Asserted,
            ..ExactOptions::judging()
        };
        let vocabulary = vocabulary(&texts);
        (compiler(vocabulary.clone(), options), vocabulary)
    });
    let label = "a".repeat(62);
    let cases = [
        (r#""format": "hostname""#, format!("{label}b.xn--x.aab-")),
        (r#""format": "hostname", "maxLength": 60"#, "aa-a.".repeat(12)),
        (r#""format": "hostname", "maxLength": 90"#, format!("x{label}.a.xn-a")),
        (r#""format": "email""#, format!("{label}.a@{label}.{label}")),
        (
            r#""format": "email", "maxLength": 70, "minLength": 3"#,
            format!("a.b@{label}"),
        ),
        (r#""format": "idn-email""#, format!("é{label}@{label}é.a")),
        (r#""format": "uri", "maxLength": 60"#, format!("https://a.1.1{label}")),
        (
            r#""format": "uri-reference", "maxLength": 70"#,
            format!("//[::1]/%41{label}"),
        ),
        (r#""pattern": "^[a-c-]{1,80}$""#, "a-".repeat(40)),
        (r#""pattern": "^(ab|ba1){2,30}$""#, "abba1".repeat(15)),
        (
            r#""pattern": "^(?:\\S+\\s+){0,20}\\S+$", "maxLength": 50"#,
            "b c a".repeat(10),
        ),
        (
            r#""pattern": "^(?:\\S+\\s+){2,30}\\S+$", "maxLength": 130, "minLength": 100"#,
            "b c aaé".repeat(20),
        ),
        (r#""pattern": "^(?:\\S+\\s+){0,5}\\S+$""#, "b c a ".repeat(3)),
        (
            r#""pattern": "^(?:\\S+\\s+){3,9}\\S+$", "maxLength": 30"#,
            "b aa ".repeat(6),
        ),
        (
            r#""pattern": "^(\\s(a|b1?){1,3}){2,6}$", "minLength": 6"#,
            " ab1 bb".repeat(3),
        ),
        (r#""pattern": "^( ?a+ ?){0,7}$", "maxLength": 40"#, "a a a  a".repeat(4)),
        (
            r#""pattern": "^[^a]*(-{3,40}a){2,}$", "maxLength": 90, "minLength": 2"#,
            format!("b{}a{}", "-".repeat(30), "-".repeat(50)),
        ),
    ];
    let mut reached = 0;
    for (keywords, text) in cases {
        let schema = format!(r#"{{"type": "string", {keywords}}}"#);
        for (compiler, vocabulary) in &compilers {
            let mut masker = compiler.compile(&schema).unwrap();
            for (place, byte) in format!("\"{text}").bytes().enumerate() {
                if masker.advance(byte.into()).is_err() {
                    break;
                }
                reached += 1;
                let before = String::from_utf8_lossy(&text.as_bytes()[..place]);
                agree(masker.as_mut(), vocabulary, &format!("{schema} {before}"));
            }
        }
    }
    assert!(reached > 1_500, "{reached}");
}

/// Texts of formats that are read by custom DFAs, beside other constraints: each token leads to a state of its own, and a schema must not keep
/// them. With room for one text at a time masks are the same as with more, however many texts come.
#[test]
fn states_of_formats_are_not_kept_with_each_text() {
    let hosts = [
        "xn--e1afmkfd.com",
        "xn--bcher-kva.ab-c.com",
        "a.xn--zckzah.xn--9n2bp8q.com",
        "ab.xn--p1ai.com",
    ];
    let names = ["пример.com", "bücher.ab-c.com", "a.テスト.中文.com", "ab.рф.com"];
    let expressions = [
        "(?<ab>a)\\\\k<ab>",
        "[a-c]{2,3}|(?<n>b)",
        "\\\\d+(?:a(b))",
        "(?<x>[^é])?",
    ];
    let cases = [
        (r#""format": "hostname", "pattern": "[.]com$""#, hosts),
        (
            r#""format": "hostname", "pattern": "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]{2,9}$""#,
            hosts,
        ),
        (
            r#""anyOf": [{"format": "hostname", "maxLength": 90}, {"format": "ipv6"}], "not": {"pattern": "^xn--a"}"#,
            hosts,
        ),
        (r#""format": "idn-hostname", "maxLength": 90"#, names),
        (
            r#""format": "idn-hostname", "not": {"pattern": "^[\\x00-\\x7f]*$"}"#,
            names,
        ),
        (
            r#""format": "regex", "pattern": "^[ -~é]*$", "maxLength": 60"#,
            expressions,
        ),
    ];
    let vocabulary = vocabulary(&TOKENS);
    for (keywords, texts) in cases {
        let schema = format!(r#"{{"type": "string", {keywords}}}"#);
        let [mut wide, mut narrow] = [16_000_000, CELLS].map(|cells| {
            let limits = Limits {
                language_cells: cells,
                ..Limits::default()
            };
            let options = ExactOptions {
                formats: Formats::Asserted,
                ..ExactOptions::judging().limits(limits)
            };
            compiler(vocabulary.clone(), options).compile(&schema).unwrap()
        });
        for text in texts {
            let text = format!("\"{text}\"");
            for (place, byte) in text.bytes().enumerate() {
                let mask = narrow
                    .mask()
                    .unwrap_or_else(|error| panic!("{schema} {text} {place}: {error}"));
                assert_eq!(mask, wide.mask().unwrap(), "{schema} {text} {place}");
                wide.advance(byte.into()).unwrap();
                narrow.advance(byte.into()).unwrap();
            }
            wide.rollback(text.len()).unwrap();
            narrow.rollback(text.len()).unwrap();
        }
    }
}

/// A text with the characters beyond ASCII escaped.
pub(super) fn in_ascii(text: &str) -> String {
    let units = |character: char| {
        let mut units = [0; 2];
        let units = character.encode_utf16(&mut units).iter();
        units.map(|unit| format!("\\u{unit:04x}")).collect::<String>()
    };
    let written = |character: char| match character.is_ascii() {
        true => character.to_string(),
        false => units(character),
    };
    text.chars().map(written).collect()
}
