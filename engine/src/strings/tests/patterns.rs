//! Patterns: what they match, what is refused and where.

use crate::strings::{LanguageLimits, Languages, PatternError};

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
    for (pattern, offset) in [
        ("a(b", 1),
        ("ab)", 2),
        ("a[b", 1),
        ("a**", 2),
        (r"\Z", 0),
        ("(?i)a", 0),
        ("a{2,1}", 1),
    ] {
        let error = languages.pattern(pattern).unwrap_err();
        assert!(
            matches!(error, PatternError::Syntax { offset: at, .. } if at == offset),
            "{pattern}: {error}"
        );
    }
    for pattern in [r"(a)\1", r"(?<n>a)\k<n>", r"(?<=a$)b", r"\ud800", "(?i:a)"] {
        let error = languages.pattern(pattern).unwrap_err();
        assert!(matches!(error, PatternError::Unsupported { .. }), "{pattern}: {error}");
    }
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
        let language = languages.pattern(pattern).unwrap();
        assert!(languages.contains(language, inside).unwrap(), "{pattern}");
        assert!(!languages.contains(language, outside).unwrap(), "{pattern}");
    }
    for pattern in [r"\p{greek}", r"\p{Block=Thai}", r"\pL", r"\p{}"] {
        assert!(
            matches!(languages.pattern(pattern), Err(PatternError::Syntax { .. })),
            "{pattern}"
        );
    }
}
