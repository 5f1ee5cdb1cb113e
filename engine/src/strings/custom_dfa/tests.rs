//! The custom DFAs against definitions and enumeration.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::hostname::Hostname;
use super::idn_hostname::IdnHostname;
use super::idna::{Demand, is_right_to_left, is_u_label, keeps_direction, may_stand};
use super::punycode::{Decoder, encode, encoded_length};
use super::regex::RegexSyntax;
use crate::strings::PatternError;
use crate::strings::pattern::read_strictly;

fn decoded(encoded: &str) -> Option<String> {
    Some(Decoder::after(encoded)?.text()?.iter().collect())
}

/// Samples of RFC 3492, section 7.1, in lower case, and texts at random.
#[test]
fn punycode_is_read_and_written() {
    let samples = [
        ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
        ("pročprostěnemluvíčesky", "proprostnemluvesky-uyb24dma41a"),
        ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
        ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        (
            "tạisaohọkhôngthểchỉnóitiếngviệt",
            "tisaohkhngthchnitingvit-kjcr8268qyxafd2f1b9g",
        ),
        ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
        (
            "安室奈美恵-with-super-monkeys",
            "-with-super-monkeys-pc58ag80a8qai00g7n9n",
        ),
    ];
    for (text, encoded) in samples {
        let characters: Vec<char> = text.chars().collect();
        assert_eq!(encode(&characters).as_deref(), Some(encoded));
        assert_eq!(decoded(encoded).as_deref(), Some(text));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..2_000 {
        let text: String = (0..rng.random_range(1..20))
            .map(|_| match rng.random_range(0..4) {
                0 => rng.random_range('a'..='z'),
                1 => rng.random_range('\u{80}'..='\u{250}'),
                2 => rng.random_range('\u{4E00}'..='\u{9FFF}'),
                _ => rng.random_range('\u{80}'..='\u{10FFFF}'),
            })
            .collect();
        if text.is_ascii() {
            continue;
        }
        let encoded = encode(&text.chars().collect::<Vec<_>>()).unwrap();
        assert_eq!(encoded_length(text.chars()), Some(encoded.len()));
        assert_eq!(decoded(&encoded), Some(text.clone()));
        assert_eq!(idna::punycode::encode_str(&text), Some(encoded));
    }
    // Random digits as another decoder reads them, where the result encodes to the same digits again.
    for _ in 0..20_000 {
        let length = rng.random_range(1..12);
        let text: String = (0..length)
            .map(|_| char::from(b"abcdefghijklmnopqrstuvwxyz0123456789-"[rng.random_range(0..37)]))
            .collect();
        let theirs = idna::punycode::decode_to_string(&text)
            .filter(|decoded| !decoded.is_ascii() && idna::punycode::encode_str(decoded).as_deref() == Some(&*text));
        assert_eq!(decoded(&text), theirs, "{text}");
    }
}

fn after(text: &str) -> Option<Hostname> {
    let mut host = Hostname::Start;
    for c in text.chars() {
        host = host.after(c).unwrap()?;
    }
    Some(host)
}

/// A beginning can be completed, by so many characters, iff some completion is found among all.
#[test]
fn beginnings_of_encoded_labels_are_handed_out_iff_they_can_be_completed() {
    let letters: Vec<char> = ('a'..='z').chain('0'..='9').chain(['-']).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut live = 0;
    for round in 0..24 {
        // A label that is nearly full: at random, or as an encoder writes it.
        let left = round % 4;
        let text = match round % 4 {
            0 => (0..59 - left)
                .map(|_| letters[rng.random_range(0..letters.len())])
                .collect::<String>(),
            _ => {
                let basic = "ab-".repeat(20);
                let label: Vec<char> = basic
                    .chars()
                    .take(rng.random_range(0..40))
                    .chain(
                        ['ü', 'я', '中', 'א', '\u{301}']
                            .into_iter()
                            .cycle()
                            .skip(round)
                            .take(30),
                    )
                    .collect();
                let mut encoded = encode(&label).unwrap();
                encoded.truncate(59 - left);
                encoded.push_str(&"a".repeat(59 - left - encoded.len()));
                encoded
            }
        };
        let brute = |text: &str, more: usize| {
            let mut texts = vec![text.to_owned()];
            for _ in 0..more {
                texts = texts
                    .iter()
                    .flat_map(|text| letters.iter().map(move |c| format!("{text}{c}")))
                    .collect();
            }
            texts
                .iter()
                .any(|text| decoded(text).is_some_and(|label| is_u_label(&label.chars().collect::<Vec<_>>())))
        };
        let expected: Vec<bool> = (0..=59 - text.len()).map(|more| brute(&text, more)).collect();
        let host = Hostname::Encoded(text.clone().into());
        let lengths = host.lengths().unwrap().unwrap();
        let shortest = expected.iter().position(|&holds| holds);
        for (more, &holds) in expected.iter().enumerate() {
            let with_dot = shortest.is_some_and(|shortest| shortest + 2 <= more);
            assert_eq!(
                lengths.meets(more as u64, more as u64),
                holds || with_dot,
                "{text} and {more}"
            );
            assert_eq!(host.reaches(more as u64, more as u64).unwrap(), holds || with_dot);
        }
        let before = Hostname::Encoded(text[..text.len() - 1].into());
        let next = before.after(text.chars().last().unwrap()).unwrap();
        assert_eq!(next.is_some(), shortest.is_some(), "{text}");
        live += usize::from(next.is_some());
    }
    assert!((2..23).contains(&live), "{live}");
}

/// Any beginning can be completed in any number of characters from eight on, where there is room.
#[test]
fn beginnings_with_room_can_be_completed() {
    let mut beginnings: Vec<String> = vec![String::new()];
    for length in 0..7 {
        let longer: Vec<String> = beginnings
            .iter()
            .filter(|text| text.len() == length)
            .flat_map(|text| ["a", "-"].map(|c| format!("{text}{c}")))
            .collect();
        beginnings.extend(longer);
    }
    let demands = [Demand::Any, Demand::Directed, Demand::LeftToRight];
    for beginning in beginnings {
        for end in ["", "a", "-", "--", "a-"] {
            let padded = format!("{beginning}{}{end}", "9".repeat(51 - beginning.len() - end.len()));
            for text in [format!("{beginning}{end}"), padded] {
                for more in [8, 59 - text.len()] {
                    assert!(
                        demands
                            .iter()
                            .all(|&demand| super::hostname::ends_in_letters(&text, more, demand)),
                        "{text} and {more}"
                    );
                }
            }
        }
    }
}

/// Names by definition, for labels that do not decode to anything.
fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        let plain = !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|b| b == b'-' || b.is_ascii_alphanumeric())
            && !label.starts_with('-')
            && !label.ends_with('-');
        let encoded = label.get(..4).filter(|prefix| prefix.eq_ignore_ascii_case("xn--"));
        plain
            && encoded.is_none_or(|_| {
                let lower = label[4..].to_ascii_lowercase();
                let label = idna::punycode::decode_to_string(&lower).unwrap_or_default();
                let same = idna::punycode::encode_str(&label).as_deref() == Some(&*lower);
                same && is_u_label(&label.chars().collect::<Vec<_>>())
            })
    };
    text.split('.').all(is_label)
}

#[test]
fn host_names_are_names_of_labels() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let parts = [
        "a",
        "-",
        ".",
        "9",
        "Z",
        "xn--",
        "XN--",
        "x",
        "n",
        "_",
        "zca",
        "4dbc5h",
        "ll-0ea",
        "9n2bp8q",
        "é",
        "abcdefghijklmnopqrstuvwxyz",
    ];
    let mut valid = 0;
    for _ in 0..20_000 {
        let text: String = (0..rng.random_range(1..7))
            .map(|_| parts[rng.random_range(0..parts.len())])
            .collect();
        let judged = after(&text).is_some_and(|host| host.accepts());
        assert_eq!(judged, is_host(&text), "{text}");
        valid += usize::from(judged);
    }
    assert!(valid > 2_000, "{valid}");
}

/// Characters of each kind that RFC 5892 tells apart, as its algorithm derives them.
#[test]
fn characters_are_allowed_as_the_rfc_derives() {
    let allowed = "az09-ßςıàñøžǰΐ가中々ーァжאبक़\u{300}\u{483}\u{94D}\u{13A0}\u{1D00}\u{1C81}\u{200C}·";
    let disallowed = "A_ É×÷ªºＡﬁᾳ☃€♥ᄀİŉẞΩ\u{345}\u{378}\u{AD}\u{200B}\u{958}\u{AB70}\u{20D0}\u{1D165}\u{1F1E6}";
    for c in allowed.chars().filter(|c| !"क़\u{1C81}".contains(*c)) {
        assert!(may_stand(c), "{c:?}");
    }
    for c in disallowed.chars() {
        assert!(!may_stand(c), "{c:?}");
    }
}

fn expression(text: &str) -> Option<RegexSyntax> {
    text.chars().try_fold(RegexSyntax::start(), |at, c| at.after(c))
}

const PIECES: [&str; 62] = [
    "a",
    "b",
    "(",
    "(",
    ")",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{1",
    "{2,3}",
    ",",
    "1",
    "2",
    "0",
    "*",
    "+",
    "?",
    "|",
    "^",
    "$",
    ".",
    "/",
    "-",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?<!",
    "(?<n>",
    "(?<m",
    ">",
    "(?<",
    "\\",
    "\\1",
    "\\2",
    "\\0",
    "\\k<n>",
    "\\k<m",
    "\\k",
    "\\d",
    "\\b",
    "\\B",
    "\\cA",
    "\\c",
    "\\x41",
    "\\x4",
    "\\u0041",
    "\\uD83D",
    "\\uDE00",
    "\\u{1F600}",
    "\\u{",
    "\\u",
    "\\p{L}",
    "\\p{sc=Greek}",
    "\\P{Any",
    "\\p{",
    "é",
    "[^",
    "\\-",
    ":",
];

/// A text is in the language if the parser of patterns reads it, and if it is, the parser finds no error in it but what
/// it does not support.
#[test]
fn expressions_are_what_the_parser_reads() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut valid = 0;
    for round in 0..60_000 {
        let pieces = 1 + round % 7;
        let text: String = (0..pieces).map(|_| PIECES[rng.random_range(0..PIECES.len())]).collect();
        let judged = expression(&text).is_some_and(|at| at.accepts());
        match read_strictly(&text) {
            Ok(()) => assert!(judged, "{text}"),
            Err(PatternError::Unsupported { .. }) => {}
            Err(error) => assert!(!judged, "{text}: {error}"),
        }
        valid += usize::from(judged);
    }
    assert!(valid > 2_500, "{valid}");
}

#[test]
fn expressions_follow_ecma_262() {
    let valid = [
        "",
        "\\1()",
        "(\\1)",
        "\\k<a>(?<a>)",
        "(?<a>x)\\k<a>",
        "[\\uD83D\\uDE00-\\u{1F601}]",
        "[\\uD800-\\uDFFF]",
        "[a-\\uD83D\\uDE00]",
        "[--/]",
        "[a-b-c]",
        "[\\w-]",
        "[]",
        "[^]",
        "\\u{0000041}",
        "\\uD83D",
        "(?<$ñ>)",
        "a{0}",
        "a{2,2}?",
        "[\\b]",
        "\\/",
        "(?<!a)(?<=b)(?=c)(?!d)",
        "\\p{Script_Extensions=Latin}",
        "\\p{Lu}",
        "\\p{CWKCF}",
        "x{99999999999999999999}",
    ];
    let invalid = [
        "\\1",
        "()\\2",
        "\\k<a>",
        "\\k",
        "(?<a>)(?<a>)",
        "(?<1>)",
        "(?<>)",
        "[b-a]",
        "[\\w-a]",
        "[a-\\w]",
        "\\a",
        "a{2,1}",
        "{",
        "}",
        "]",
        "a**",
        "^*",
        "(?=a)*",
        "(?<=a)?",
        "\\p{letter}",
        "\\p{Lu",
        "\\p{sc=Foo}",
        "\\u{110000}",
        "\\c1",
        "\\x4",
        "\\01",
        "[\\1]",
        "(?i)a",
        "(?P<n>a)",
        "(?#x)",
        "[\\u{1F601}-\\uD83D\\uDE00]",
        "[\\uD83D\\uDE01-\\uD83D\\uDE00]",
        "\\-",
        "a|*",
        "(?",
        "[z-\\x6F]",
    ];
    for text in valid {
        assert!(expression(text).is_some_and(|at| at.accepts()), "{text}");
    }
    for text in invalid {
        assert!(!expression(text).is_some_and(|at| at.accepts()), "{text}");
    }
    let deep = format!("{}{}", "(".repeat(100), ")".repeat(100));
    assert!(expression(&deep).is_some_and(|at| at.accepts()));
    assert!(expression(&"(".repeat(101)).is_none());
}

/// The shortest end of each place is as short as it says, and where nothing follows the parser finds no end.
#[test]
fn expressions_end_as_soon_as_they_say() {
    let letters: Vec<char> = "ab()[]{}<>?=:-,019F\\ukxDnmL|\u{10FFFF}".chars().collect();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for round in 0..3_000 {
        let text: String = (0..1 + round % 5)
            .map(|_| PIECES[rng.random_range(0..PIECES.len())])
            .collect();
        let Some(at) = expression(&text) else {
            let read = text.chars().scan(RegexSyntax::start(), |at, c| {
                *at = at.after(c)?;
                Some(c.len_utf8())
            });
            let read: usize = read.sum();
            let dead: String = text
                .chars()
                .scan(0, |bytes, c| {
                    let known = *bytes <= read;
                    *bytes += c.len_utf8();
                    known.then_some(c)
                })
                .collect();
            for end in [
                "", ")", "]", "}", ">)", "a", "0", "0}", "))", "])", "-]", "\\uDE00]", "()", "A]", "FFFF}]",
            ] {
                assert!(read_strictly(&format!("{dead}{end}")).is_err(), "{dead} and {end}");
            }
            continue;
        };
        let cost = at.cheapest();
        let mut places = std::collections::HashSet::from([at.clone()]);
        for length in 0..=cost.min(4) {
            let ends = places.iter().any(|at| at.accepts());
            assert_eq!(ends, length == cost, "{text} ends in {length}, not {cost}");
            if length < cost.min(4) {
                places = places
                    .iter()
                    .flat_map(|at| letters.iter().filter_map(|&c| at.after(c)))
                    .filter(|at| at.cheapest() <= 4 - length)
                    .collect();
            }
        }
        if let Some(way) = at.completion() {
            assert_eq!(way.chars().count() as u64, cost, "{text} and {way}");
            assert!(
                expression(&format!("{text}{way}")).is_some_and(|at| at.accepts()),
                "{text} and {way}"
            );
        }
    }
}

/// A text of up to sixteen characters that ends nothing that coarse states do not remember goes on from one as from the state
/// itself, and what goes on from the state goes on from the coarse one.
#[test]
fn coarse_states_differ_only_where_something_ends_that_is_not_remembered() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let text = |rng: &mut ChaCha8Rng, most: usize| -> String {
        let pieces = rng.random_range(0..=most);
        (0..pieces).map(|_| PIECES[rng.random_range(0..PIECES.len())]).collect()
    };
    let (mut compared, mut different) = (0, 0);
    for _ in 0..60_000 {
        let Some(exact) = expression(&text(&mut rng, 8)) else {
            continue;
        };
        let coarse = exact.coarse(16);
        let next: String = text(&mut rng, 4).chars().take(16).collect();
        let live = |from: &RegexSyntax| next.chars().try_fold(from.clone(), |at, c| at.after(c)).is_some();
        let characters: Vec<u32> = next.chars().map(u32::from).collect();
        match super::regex::ends_what_is_remembered(&characters, false) {
            false => assert_eq!(live(&exact), live(&coarse), "{exact:?} and {next}"),
            true => assert!(live(&coarse) || !live(&exact), "{exact:?} and {next}"),
        }
        compared += usize::from(live(&exact));
        different += usize::from(live(&exact) != live(&coarse));
        // The rows of a coarse state have all its characters.
        let rows = super::CustomDfa::RegexSyntax(coarse.clone()).rows().unwrap();
        for c in next.chars().chain(['é', '中', '\u{10FFFF}']) {
            let row = rows.iter().find(|(range, _)| range.contains(c));
            let after = coarse.after(c).map(super::CustomDfa::RegexSyntax);
            assert_eq!(row.map(|(_, next)| next), after.as_ref(), "{coarse:?} and {c}");
        }
    }
    assert!(compared > 5_000 && different > 10, "{compared} and {different}");
}

/// Letters of several scripts, and what rules speak of.
const WIDE: [char; 30] = [
    'a', 'l', '-', '7', 'ü', 'ß', '·', 'я', 'ж', 'α', 'ω', '\u{375}', 'א', 'ב', '׳', 'ا', 'ب', '٣', '۳', 'क',
    '\u{94D}', '\u{200C}', '\u{200D}', 'あ', 'ア', '・', '中', '文', '\u{301}', '가',
];

fn wide_text(rng: &mut ChaCha8Rng, most: usize) -> Vec<char> {
    let length = rng.random_range(1..=most);
    let script = rng.random_range(0..5);
    let mut letter = |_| match (script, rng.random_range(0..8)) {
        (_, 0) => WIDE[rng.random_range(0..WIDE.len())],
        (0, _) => rng.random_range('\u{4E00}'..='\u{9FFF}'),
        (1, _) => rng.random_range('\u{430}'..='\u{44F}'),
        (2, _) => rng.random_range('\u{5D0}'..='\u{5EA}'),
        (3, _) => WIDE[rng.random_range(0..WIDE.len())],
        _ => rng.random_range('a'..='z'),
    };
    (0..length).map(&mut letter).collect()
}

/// Names by definition.
fn is_internationalised(text: &str) -> bool {
    let mut octets = 0;
    let mut labels = Vec::new();
    for label in text.split(['.', '。', '．', '｡']) {
        let characters: Vec<char> = label.chars().collect();
        let lower = label.to_ascii_lowercase();
        let (decoded, length) = if let Some(encoded) = lower.strip_prefix("xn--") {
            let decoded = idna::punycode::decode(encoded).unwrap_or_default();
            if idna::punycode::encode(&decoded).as_deref() != Some(encoded) || !is_u_label(&decoded) {
                return false;
            }
            (decoded, label.len())
        } else if label.is_ascii() {
            if !is_host(label) || characters.get(2..4) == Some(&['-', '-']) {
                return false;
            }
            (characters, label.len())
        } else {
            let length = idna::punycode::encode(&characters).map(|encoded| encoded.len() + 4);
            let Some(length) = length.filter(|_| is_u_label(&characters)) else {
                return false;
            };
            (characters, length)
        };
        if length > 63 {
            return false;
        }
        octets += length + 1;
        labels.push(decoded);
    }
    let directed =
        !labels.iter().any(|label| is_right_to_left(label)) || labels.iter().all(|label| keeps_direction(label));
    octets <= 254 && directed
}

#[test]
fn internationalised_names_are_names_of_labels() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut valid = 0;
    for round in 0..4_000 {
        let most = if round % 5 == 0 { 30 } else { 5 };
        let mut text = String::new();
        for label in 0..rng.random_range(1..4) {
            if label > 0 {
                text.push(['.', '。'][rng.random_range(0..2)]);
            }
            let label = wide_text(&mut rng, most);
            match rng.random_range(0..4) {
                0 => text.push_str(&format!("xn--{}", encode(&label).unwrap())),
                1 => text.push_str(["example", "a-b", "1st", "ab--c", "X"][rng.random_range(0..5)]),
                _ => text.extend(label),
            }
        }
        let mut at = Some(IdnHostname::start());
        for c in text.chars() {
            let Some(before) = at.take() else { break };
            at = before.after(c).unwrap();
            // A place that is handed out has an end; the one that is found ends a name.
            if let Some(next) = &at
                && let Some((way, _)) = next.completion()
            {
                let end = way.chars().try_fold(next.clone(), |at, c| at.after(c).unwrap());
                assert!(end.is_some_and(|end| end.accepts()), "{text} and {way}");
            }
        }
        let judged = at.is_some_and(|at| at.accepts());
        assert_eq!(judged, is_internationalised(&text), "{text}");
        valid += usize::from(judged);
    }
    assert!(valid > 1_000, "{valid}");
}

/// Near the end of a label, a range of characters goes on iff one of them does.
#[test]
fn ranges_go_on_iff_a_character_does() {
    let fillers = [
        "ü",
        "παρά",
        "中",
        "世界一",
        "אב",
        "abc",
        "ab-",
        "a・",
        "ي\u{200C}",
        "한국",
        "я文",
    ];
    let ranges = [
        ('\0', '\u{7F}'),
        ('\u{80}', '\u{BF}'),
        ('\u{C0}', '\u{7FF}'),
        ('\u{3000}', '\u{30FF}'),
        ('\u{4E00}', '\u{4EFF}'),
        ('\u{9000}', '\u{FFFF}'),
        ('\u{1F000}', '\u{203FF}'),
    ];
    let (mut some, mut none) = (0, 0);
    for filler in fillers {
        let mut places = vec![IdnHostname::start()];
        for c in filler.chars().cycle().take(70) {
            let last = places.last().unwrap();
            places.extend(last.after(c).unwrap());
        }
        for at in &places[places.len().saturating_sub(4)..] {
            for (first, last) in ranges {
                let expected = (first..=last).any(|c| at.after(c).unwrap().is_some());
                assert_eq!(
                    at.may_begin(first, last).unwrap(),
                    expected,
                    "{at:?}: {first:?} to {last:?}"
                );
                some += usize::from(expected);
                none += usize::from(!expected);
            }
        }
    }
    assert!(some > 50 && none > 50, "{some} and {none}");
}

/// Near the end of a name or not, what is said of the numbers of characters that may follow is what some texts show.
#[test]
fn internationalised_names_reach_the_lengths_that_they_say() {
    let beginnings = [
        "",
        "ab-",
        "é",
        "l·",
        "a・",
        "ي\u{200C}",
        "אב-",
        "א.",
        "xn--",
        "xn--e1afmk",
        "xn--zzzzz",
    ];
    let labels = format!("{}.", "a".repeat(59)).repeat(4);
    let endings: Vec<char> = "la0α.بァ".chars().collect();
    let (mut yes, mut no, mut open) = (0, 0, 0);
    for (used, beginning) in [0, 230, 240]
        .into_iter()
        .flat_map(|used| beginnings.map(|beginning| (used, beginning)))
    {
        let text = format!("{}{beginning}", &labels[..used]);
        let read = |at: Option<IdnHostname>, c| at.and_then(|at: IdnHostname| at.after(c).unwrap());
        let Some(at) = text.chars().fold(Some(IdnHostname::start()), read) else {
            continue;
        };
        // States behind so many characters, as far as some are tried.
        let mut layers = vec![vec![at.clone()]];
        for _ in 0..3 {
            let last = layers.last().unwrap().iter();
            layers.push(
                last.flat_map(|at| endings.iter().filter_map(|&c| at.after(c).unwrap()))
                    .collect(),
            );
        }
        let shown: Vec<bool> = layers
            .iter()
            .map(|layer| layer.iter().any(IdnHostname::accepts))
            .collect();
        for (min, max) in [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2), (0, 3), (3, 3)] {
            let shown = shown[min as usize..=max as usize].contains(&true);
            let reaches = at.reaches(min, max).unwrap();
            // Encoded labels end in characters that are not tried here.
            if !beginning.starts_with("xn--") || shown {
                assert!(reaches.is_none_or(|reaches| reaches == shown), "{text}: {min} to {max}");
            }
            let count = match reaches {
                Some(true) => &mut yes,
                Some(false) => &mut no,
                None => &mut open,
            };
            *count += 1;
        }
        assert_eq!(at.reaches(0, 300).unwrap(), Some(true));
        assert_eq!(at.reaches(254, 300).unwrap(), Some(false));
    }
    assert!(yes > 60 && no > 20 && open < 60, "{yes} {no} {open}");
}
