//! Formats that custom DFAs decide, in combination with what else speaks of strings.

use rand::SeedableRng as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

use super::random::texts;
use crate::strings::language_id::NONE;
use crate::strings::{Cardinality, LanguageId, LanguageLimits, Languages};

fn format(languages: &mut Languages, name: &str) -> LanguageId {
    languages.format(name).unwrap().unwrap()
}

/// A domain of an address is as long as a name of the domain name system may be written.
#[test]
fn domains_of_addresses_have_at_most_253_characters() {
    let label = "a".repeat(63);
    for (last, is_address) in [(61, true), (62, false), (63, false)] {
        let address = format!("a@{label}.{label}.{label}.{}", "b".repeat(last));
        for name in ["email", "idn-email"] {
            let mut languages = Languages::new(&LanguageLimits::default());
            let language = format(&mut languages, name);
            assert_eq!(languages.contains(language, &address), Ok(is_address), "{name} {last}");
        }
    }
}

/// Every combination of a format with its complement, a pattern and bounds judges texts as its parts do.
#[test]
fn formats_combine_with_what_else_there_is() {
    let cases = [
        (
            "hostname",
            r"^[a-z0-9.-]+\.example$",
            &[
                "a.example",
                "xn--4dbc5h.example",
                "xn--a.example",
                "A.example",
                "a_b.example",
                "a.org",
                "-.example",
                "",
                "xn--zca29lwxobi7a",
            ][..],
        ),
        (
            "regex",
            r"^\^?[a-z(]*\)*\$?$",
            &["^a(b)$", "a(", "()", "^ab$", "", "[", "a)", "(((a)))"][..],
        ),
        ("idn-email", r"@[a-zü.]+$", &["ü@ü.de", "a@b", "@b", "x", "é@a.b"][..]),
    ];
    for (name, pattern, texts) in cases {
        let mut languages = Languages::new(&LanguageLimits::default());
        let language = format(&mut languages, name);
        let pattern = languages.pattern(pattern).unwrap();
        let not = languages.not(language).unwrap();
        let not_pattern = languages.not(pattern).unwrap();
        for (min, max) in [(0, None), (3, Some(5)), (0, Some(9)), (9, Some(9))] {
            let length = languages.length(min, max).unwrap();
            for (side, with) in [(true, language), (false, not)] {
                for (other, of_pattern) in [(true, pattern), (false, not_pattern)] {
                    let all = languages.and(&[with, of_pattern, length]).unwrap();
                    let mut some = false;
                    for text in texts {
                        let count = text.chars().count() as u64;
                        let expected = languages.contains(language, text).unwrap() == side
                            && languages.contains(pattern, text).unwrap() == other
                            && count >= min
                            && max.is_none_or(|max| count <= max);
                        let found = languages.contains(all, text);
                        assert_eq!(found, Ok(expected), "{name} {side} {other} {min} {max:?}: {text:?}");
                        some |= expected;
                    }
                    let empty = languages.is_empty(all);
                    assert!(empty.is_ok(), "{name} {side} {other} {min} {max:?}");
                    assert!(!some || empty == Ok(false), "{name}");
                    if !languages.is_empty(all).unwrap() {
                        // Finding one may take more than the limits allow.
                        for word in languages.members(all, 1).unwrap_or_default() {
                            assert!(languages.contains(all, &word).unwrap(), "{name}: {word:?}");
                        }
                    }
                }
            }
        }
    }
}

/// Languages without texts are found to be empty, and languages with texts are not.
#[test]
fn contradictions_with_formats_are_found() {
    let mut languages = Languages::new(&LanguageLimits::default());
    let host = format(&mut languages, "hostname");
    let regex = format(&mut languages, "regex");
    for (language, pattern, min, max, empty) in [
        (host, "_", 0, None, true),
        (host, "^https?://", 0, None, true),
        (host, r"\.\.", 0, None, true),
        (host, "", 254, None, true),
        (host, "", 253, Some(253), false),
        (host, "^xn--", 0, Some(6), true),
        (host, "^[Xx][Nn]--", 7, Some(7), false),
        (regex, r"^\($", 0, None, true),
        (regex, r"^\(", 0, Some(1), true),
        (regex, r"^\(", 0, Some(2), false),
        (regex, r"^\(\(\(\[a", 0, Some(8), true),
        (regex, r"^\(\(\(\[a", 0, Some(9), false),
    ] {
        let pattern_language = languages.pattern(pattern).unwrap();
        let length = languages.length(min, max).unwrap();
        let all = languages.and(&[language, pattern_language, length]).unwrap();
        assert_eq!(languages.is_empty(all), Ok(empty), "{pattern} {min} {max:?}");
    }
    assert_eq!(languages.cardinality(regex, 5), Ok(Cardinality::Infinite));
    assert_eq!(languages.cardinality(host, 1_000), Ok(Cardinality::AtLeast(1_000)));
    let short = languages.length(0, Some(1)).unwrap();
    let short = languages.and(&[host, short]).unwrap();
    assert_eq!(languages.cardinality(short, 1_000), Ok(Cardinality::Finite(62)));
    assert_eq!(languages.members(short, 1_000).unwrap().len(), 62);
}

/// Texts that share what may follow share a state.
#[test]
fn states_are_shared_where_what_was_read_does_not_matter() {
    let mut languages = Languages::new(&LanguageLimits::default());
    let host = format(&mut languages, "hostname");
    let regex = format(&mut languages, "regex");
    let mut after = |language, text: &str| {
        text.chars()
            .fold(language, |at, c| languages.derivative(at, c).unwrap())
    };
    assert_eq!(after(host, "example.org"), after(host, "another.abc"));
    assert_eq!(
        after(regex, "^a+[b-c]d"),
        after(regex, r"x{2}\d(?:y)".trim_end_matches("(?:y)"))
    );
    assert_ne!(after(host, "xn--ab"), after(host, "xn--ac"));
}

/// A beginning of a text is admitted iff it can be made a text of the format and a match of the pattern at once.
#[test]
fn formats_beside_patterns_go_on_iff_both_can_be_completed() {
    let cases = [
        (
            "regex",
            r"(a)?<:>[-]{1,}|/\k^$é",
            &[
                "^/.+/$",
                r"^\S*$",
                r"\$$",
                r"^(?!.*\(\?)",
                r"^[^()]*$",
                r"^[\x20-\x7e]*$",
                "^[^a]*$",
                r"1|\)$",
                r"^\^.*\$$",
            ][..],
        ),
        (
            "hostname",
            "xan--.1",
            &[
                r"\.(com|org)$",
                "^[a-z0-9.-]+$",
                "^(?!ax$)",
                "^[^a]+$",
                r"^a\.x\.n-",
                r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$",
            ],
        ),
        (
            "idn-hostname",
            "xaé--.1אק。",
            &[
                r"\.(com|org)$",
                "^[a-z0-9.-]+$",
                "^(?!ax$)",
                "^[^é]+$",
                r"^a\.",
                r"[^\x00-\x7F]",
                "^[^b-z]*é$",
            ],
        ),
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for (name, alphabet, patterns) in cases {
        let alphabet: Vec<char> = alphabet.chars().collect();
        let ends = texts(&alphabet, 2);
        let (mut admitted, mut refused) = (0, 0);
        for (pattern, longest) in patterns.iter().flat_map(|pattern| [(pattern, 100), (pattern, 12)]) {
            // A pattern and a bound that is near are too much beside an internationalised name.
            if name == "idn-hostname" && longest < 100 {
                continue;
            }
            let mut languages = Languages::new(&LanguageLimits::default());
            let of_format = format(&mut languages, name);
            let of_pattern = languages.pattern(pattern).unwrap();
            let length = languages.length(0, Some(longest)).unwrap();
            let members = [of_format, of_pattern, length];
            let bounds = if longest < 100 { 3 } else { 2 };
            let start = languages.and(&members[..bounds]).unwrap();
            for _ in 0..40 {
                let (mut state, mut text) = (start, String::new());
                for _ in 0..12 {
                    let c = *alphabet.choose(&mut rng).unwrap();
                    let next = languages.derivative(state, c).unwrap();
                    let is_of_all = |languages: &mut Languages, text: &str| {
                        let mut all = members[..bounds].iter();
                        all.all(|language| languages.contains(*language, text).unwrap())
                    };
                    if next == NONE {
                        refused += 1;
                        for end in &ends {
                            let whole = std::format!("{text}{c}{end}");
                            assert!(!is_of_all(&mut languages, &whole), "{pattern}: {whole}");
                        }
                        continue;
                    }
                    text.push(c);
                    state = next;
                    admitted += 1;
                    let end = languages.members(state, 1).unwrap();
                    let whole = std::format!("{text}{}", end[0]);
                    assert!(is_of_all(&mut languages, &whole), "{pattern}: {whole}");
                }
            }
        }
        assert!(admitted > 500 && refused > 500, "{name}: {admitted} {refused}");
    }
}

/// A group that a reference asks for may be nested in another group, and a pattern may let its name be begun once and never again.
#[test]
fn groups_that_references_ask_for_are_written_as_the_pattern_lets_them() {
    let mut languages = Languages::new(&LanguageLimits::default());
    let regex = format(&mut languages, "regex");
    let nested = languages.pattern(r"^\\(?:d|2\(\(\)\)x*)$").unwrap();
    let both = languages.and(&[regex, nested]).unwrap();
    assert!(languages.contains(both, r"\2(())xx").unwrap());
    // A name with `é` can be begun once, behind `‹`, and never be written again.
    let once = languages.pattern("^[ -~]*(?:‹é)?[ -~]*$").unwrap();
    let mut state = languages.and(&[regex, once]).unwrap();
    for c in r"a\k".chars() {
        state = languages.derivative(state, c).unwrap();
    }
    let horizon = crate::strings::Horizon {
        characters: 10,
        blanks: 2,
        octets: 20,
    };
    assert_eq!(languages.over_approximation(state, horizon).unwrap(), state);
}

/// RFC 5321, section 4.1.3: `::` stands for two groups or more, and numbers may begin with zeros.
#[test]
fn address_literals_are_those_of_mailboxes() {
    let mut languages = Languages::new(&LanguageLimits::default());
    let email = format(&mut languages, "email");
    for (address, is_address) in [
        ("127.0.0.001", true),
        ("127.0.0.0001", false),
        ("256.0.0.1", false),
        ("IPv6:::1", true),
        ("IPv6:1:2:3:4:5:6::", true),
        ("IPv6:1:2:3:4:5:6:7::", false),
        ("IPv6:1:2:3:4::1.2.3.4", true),
        ("IPv6:1:2:3:4:5::1.2.3.4", false),
        ("IPv6:1:2:3:4:5:6:1.2.3.4", true),
        ("IPv6:1:2:3:4:5:6:7:8", true),
    ] {
        let mailbox = format!("a@[{address}]");
        assert_eq!(languages.contains(email, &mailbox), Ok(is_address), "{address}");
    }
}
