//! Patterns: what they match, what is refused and where.

use crate::strings::{LanguageLimits, Languages, PatternError, PatternSyntax, check_pattern};

fn languages() -> Languages {
    Languages::new(&LanguageLimits::default())
}

#[test]
fn assertions_hold_anywhere() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("^a{1,3}b$", &["ab", "aaab"], &["b", "aaaab", "xab", "ab\n"]),
        (
            "^((?!mode)(?!Mode).)*$",
            &["", "abc", "mod"],
            &["amode", "Mode", "xmodex"],
        ),
        (r"\bfoo\b", &["foo", "a foo b"], &["afoo", "foob", ""]),
        ("(?<=a)b", &["ab", "xxabx"], &["b", "cb"]),
        ("(?<!^a|x)b", &["b", "aab"], &["ab", "xb"]),
        (
            "^[a-z.-]{1,4}(?<![.-])$",
            &["a", "-a", "a.-b"],
            &["", "a-", "a.", "abcde"],
        ),
        (r"^(?:\b\w+\b ?)+$", &["ab", "ab c"], &["ab  c", " ab"]),
        (r"^(?:a|\B-)*(?<=-)$", &["-", "--"], &["a--", "", "-a"]),
        // The last of four lookbehinds would make sixteen kinds of characters: it is a condition on the past.
        (
            "^(?:(?<![a-h])a|(?<![a-di-l])e|(?<![abefijmn])i|(?<![acegikmo])o|p)*$",
            &["", "oap", "oeppa", "oi", "po"],
            &["ea", "ae", "ii", "oo", "eo", "ao"],
        ),
        // Lists of texts, the empty one among them, before an assertion.
        (r"^\w+(?:-|)\b\w+$", &["a-b"], &["ab", "a-", "-b"]),
        (r"^[a-z]+(\.|)(?<!x)[0-9]+$", &["x.5", "a.5", "a5"], &["x5"]),
        ("^(?:(?:a|)(?!b))+$", &["", "a", "aa"], &["ab"]),
        (r"^(?:a|)\B", &["ab"], &["b", "a"]),
        ("^(?:s|es|)(?<!x)$", &["", "s", "es"], &["x", "ss"]),
        ("a|^b$", &["b", "xa"], &["xb", "bx", ""]),
        ("a?^b", &["b", "bx"], &["ab", "xb"]),
        ("(?:^a|b$)+", &["a", "b", "ab"], &["bx", "ca"]),
        ("^(?!.*--)[a-z-]{2,}$", &["ab", "a-b"], &["a--b", "a"]),
        ("(?=.*a)(?=.*b)^.{2,3}$", &["ab", "bca"], &["aa", "abcc"]),
    ];
    let mut languages = languages();
    for (pattern, inside, outside) in cases {
        let language = languages.pattern(pattern).unwrap();
        for (texts, expected) in [(inside, true), (outside, false)] {
            for text in *texts {
                assert_eq!(
                    languages.contains(language, text).unwrap(),
                    expected,
                    "{pattern} on {text:?}"
                );
            }
        }
    }
}

#[test]
fn a_union_with_a_negation_is_not_open_over_the_class_that_is_negated() {
    let mut languages = languages();
    let parts = ["a", "b", "c"].map(|one| languages.pattern(&format!("^[a-c]*{one}[a-c]*$")).unwrap());
    let class = languages.pattern("^[a-c]*$").unwrap();
    let others = languages.not(class).unwrap();
    for (longest, is_empty) in [(2, true), (3, false)] {
        let short = languages.length(0, Some(longest)).unwrap();
        let last = languages.or(&[others, short]).unwrap();
        let all = languages.and(&[&parts[..], &[last]].concat()).unwrap();
        assert_eq!(languages.is_empty(all), Ok(is_empty), "{longest}");
    }
}

/// Whether every text is the beginning of a text in which a pattern finds a match, as far as the structure of its language shows it.
fn is_prefix_universal(pattern: &str) -> bool {
    let mut languages = languages();
    let language = languages.pattern(pattern).unwrap();
    languages.is_prefix_universal(language).unwrap()
}

#[test]
fn word_boundaries_and_lookbehinds_for_one_character_leave_no_condition() {
    assert!(is_prefix_universal(r"\b(?:high|low)\b"));
    assert!(is_prefix_universal(r"\b[0-9a-f]{8}\b-\b[0-9a-f]{12}\b"));
    assert!(is_prefix_universal("(?<![a-z])ab(?<!-)c(?![a-z])"));
    // A condition on more than the last character stays one.
    assert!(!is_prefix_universal("(?<=ab)c"));
}

#[test]
fn leniencies_of_annex_b_are_accepted() {
    let cases = [
        (r"^\-\_\@$", "-_@"),
        ("^{a}]$", "{a}]"),
        (r"^[\w-.]$", "-"),
        (r"^\101$", "A"),
        ("^(?=a)*b$", "b"),
        (r"^a{,2}$", "a{,2}"),
        (r"^\u{62}{2}\ud83d\udc32$", "bb🐲"),
    ];
    let mut languages = languages();
    for (pattern, text) in cases {
        let language = languages.pattern(pattern).unwrap();
        assert!(languages.contains(language, text).unwrap(), "{pattern}");
    }
}

#[test]
fn errors_say_what_and_where() {
    let mut languages = languages();
    for (pattern, offset) in [("a(b", 1), ("ab)", 2), ("a[b", 1), ("a**", 2), ("a{2,1}", 1)] {
        let error = languages.pattern(pattern).unwrap_err();
        assert!(
            matches!(error, PatternError::Syntax { offset: at, .. } if at == offset),
            "{pattern}: {error}"
        );
    }
    for pattern in [r"(a)\1", r"(?<n>a)\k<n>", r"(?<=a$)b", r"\ud800", r"(?P<n>a)\k<n>"] {
        let error = languages.pattern(pattern).unwrap_err();
        assert!(matches!(error, PatternError::Unsupported { .. }), "{pattern}: {error}");
    }
}

/// Asserts that a pattern matches the text `inside`, and not the text `outside`.
fn assert_tells_apart(languages: &mut Languages, pattern: &str, inside: &str, outside: &str) {
    let language = languages.pattern(pattern).unwrap();
    assert!(languages.contains(language, inside).unwrap(), "{pattern}: {inside:?}");
    assert!(
        !languages.contains(language, outside).unwrap(),
        "{pattern}: {outside:?}"
    );
}

/// Halves of surrogate pairs in a class, as schemas of AWS have them, are of no string, but ranges may begin or end there.
#[test]
fn surrogates_in_classes_are_no_characters() {
    let mut languages = languages();
    for (pattern, inside, outside) in [
        (
            r"^[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDBFF-\uDC00\uDFFF\r\n\t]*$",
            "a\u{d7ff}\u{fffd}\n",
            "🐲",
        ),
        (
            r"^[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\r\n\t]*$",
            "a🐲\u{10ffff}",
            "\0",
        ),
        (r"^[a-\uDFFF]$", "\u{d7ff}", "\u{e000}"),
        (r"^[\uD800-\uFFFF]$", "\u{e000}", "\u{d7ff}"),
        (r"^[^\u{d900}]$", "🐲", ""),
        (r"^[\uD83D\uDC32]$", "🐲", "\u{fffd}"),
        (r"^[\uDC32\uD83D]?$", "", "🐲"),
    ] {
        assert_tells_apart(&mut languages, pattern, inside, outside);
    }
    let error = languages.pattern(r"[\uDFFF-\uD800]").unwrap_err();
    assert!(matches!(error, PatternError::Syntax { offset: 1, .. }), "{error}");
}

#[test]
fn properties_of_characters_are_those_of_ecma_262() {
    let mut languages = languages();
    for (pattern, inside, outside) in [
        (r"^\p{Letter}$", "é", "1"),
        (r"^\P{L}$", "1", "é"),
        (r"^\p{digit}$", "৪", "a"),
        (r"^\p{Script=Greek}$", "α", "a"),
        (r"^\p{sc=Grek}$", "α", "a"),
        (r"^\p{scx=Deva}$", "\u{964}", "a"),
        (r"^\p{gc=Lu}$", "A", "a"),
        (r"^[\p{Zs}a]$", "\u{3000}", "b"),
        (r"^\p{Any}$", "x", ""),
        (r"^\p{Assigned}$", "x", "\u{378}"),
        (r"^\p{White_Space}$", "\u{85}", "x"),
        (r"^\p{Emoji_Presentation}$", "😀", "x"),
    ] {
        assert_tells_apart(&mut languages, pattern, inside, outside);
    }
    for pattern in [r"\p{greek}", r"\p{Block=Thai}", r"\pL", r"\p{}"] {
        assert!(
            matches!(languages.pattern(pattern), Err(PatternError::Syntax { .. })),
            "{pattern}"
        );
    }
}

fn matches(languages: &mut Languages, pattern: &str, text: &str) -> bool {
    let language = languages.pattern(pattern).unwrap();
    languages.contains(language, text).unwrap()
}

/// A flag within a pattern means what it means outside of one, where ECMA-262 and another engine have it. That engine
/// differs from ECMA-262 on properties and negated escapes alone: see the next test.
#[test]
fn flags_mean_what_they_mean_outside_of_the_pattern() {
    let patterns = [
        "^alt\\+c$",
        "^[^k]$",
        "^[b-dX]\\w$",
        "^\\W$",
        "^.$",
        "^a.b$",
        "^b$",
        "a$|^c",
        "\\bs",
        "k\\B",
        "^[^\\p{Ll}]$",
        "ǆ|σ",
        "^\\d\\s$",
        "(?=^b)(?!.c)b",
        "^(?:^a$|b)",
    ];
    let pieces = [
        "a", "B", "c", "K", "k", "\u{212a}", "S", "\u{17f}", "ß", "ẞ", "ǅ", "ς", "Σ", "I", "ı", "İ", "\n", "\r",
        "\u{2028}", " ", "1", "_", "ALT+C",
    ];
    let mut texts: Vec<String> = vec![String::new()];
    texts.extend(pieces.iter().map(|piece| (*piece).to_owned()));
    for first in pieces {
        texts.extend(pieces.iter().map(|second| format!("{first}{second}")));
    }
    for middle in ["\n", "\u{2029}", "x"] {
        texts.push(format!("a{middle}b"));
        texts.push(format!("A{middle}C"));
    }
    let mut languages = languages();
    for flags in ["i", "s", "m", "im", "ims"] {
        for pattern in patterns {
            let other = regress::Regex::with_flags(pattern, format!("u{flags}").as_str()).unwrap();
            for text in &texts {
                let expected = other.find(text).is_some();
                for spelled in [
                    format!("(?{flags}){pattern}"),
                    format!("(?{flags}:{pattern})"),
                    format!("(?:(?{flags}){pattern})"),
                ] {
                    assert_eq!(
                        matches(&mut languages, &spelled, text),
                        expected,
                        "{spelled} on {text:?}"
                    );
                }
            }
        }
    }
}

/// A property or a negated escape is a set as any other: it matches what shares its case folding with one in it. `\w` has the
/// letters that fold to those of ASCII, and `\W` does not.
#[test]
fn negated_escapes_ignore_case_as_ecma_262_has_it() {
    let mut languages = languages();
    for (pattern, text, expected) in [
        (r"(?i)^\P{Lu}$", "B", true),
        (r"(?i)^\p{Lu}$", "b", true),
        (r"(?i)^[^\P{Lu}]$", "B", false),
        (r"(?i)^[\W]$", "K", false),
        (r"(?i)^\W$", "\u{212a}", false),
        (r"(?i)^\w$", "\u{17f}", true),
        (r"^\w$", "\u{17f}", false),
    ] {
        assert_eq!(
            matches(&mut languages, pattern, text),
            expected,
            "{pattern} on {text:?}"
        );
    }
}

#[test]
fn syntax_that_other_dialects_share_is_read() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("^a(?i)b|c$", &["aB", "ab", "C", "xC"], &["Ab"]),
        ("^(a(?i)b)c$", &["aBc"], &["abC", "Abc"]),
        ("(?i)^a(?-i)b$", &["Ab", "ab"], &["aB"]),
        ("(?i-s)^a(?s:.)b$", &["A\nB"], &["Axxb"]),
        ("^(?i:é)$", &["É"], &["e"]),
        (r"\Aab\z", &["ab"], &["xab", "ab\n"]),
        (r"(?m)\Aa\z", &["a"], &["a\nb", "b\na"]),
        ("^(?P<year>[0-9]{4})$", &["2026"], &["26"]),
        (r"^\Qa.b+\E+$", &["a.b+", "a.b++"], &["axb+", "a.b+a.b+"]),
        (r"^\Q(*", &["(*"], &["("]),
        (r"(?i)^\Qa\E$", &["A"], &["b"]),
        (r"^(?i)(\d+|auto)$", &["12", "AUTO"], &["1a"]),
    ];
    let mut languages = languages();
    for (pattern, inside, outside) in cases {
        for text in *inside {
            assert!(matches(&mut languages, pattern, text), "{pattern} on {text:?}");
        }
        for text in *outside {
            assert!(!matches(&mut languages, pattern, text), "{pattern} on {text:?}");
        }
        let strict = check_pattern(pattern, PatternSyntax::Ecma, &LanguageLimits::default());
        assert!(
            matches!(strict, Err(PatternError::Foreign { .. })),
            "{pattern}: {strict:?}"
        );
    }
}

#[test]
fn syntax_of_other_dialects_is_refused_with_a_remedy() {
    let mut languages = languages();
    for (pattern, what, at) in [
        (r"a\Z", r"`\Z`", 1),
        ("(?x)a b", "`(?x`", 0),
        ("(?>a)", "atomic", 0),
        ("a++", "possessive", 1),
        ("b{2}+", "possessive", 1),
        ("(?P<n>a)(?P=n)", "`(?P=name)`", 8),
        (r"[\h]", r"`\h`", 1),
        ("(?#c)", "comment", 0),
    ] {
        match languages.pattern(pattern) {
            Err(PatternError::Foreign {
                offset, what: found, ..
            }) => {
                assert!(found.contains(what) && offset == at, "{pattern}: {found} at {offset}");
            }
            other => panic!("{pattern}: {other:?}"),
        }
    }
    for pattern in ["(?i", "(?i)*", "(?-)a", r"\y", "(?P<1>a)"] {
        let error = languages.pattern(pattern).unwrap_err();
        assert!(matches!(error, PatternError::Syntax { .. }), "{pattern}: {error}");
    }
}
