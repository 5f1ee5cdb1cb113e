//! Patterns of Rust and Python: Rust's against the crate `regex`, Python's as CPython 3.13 answers.

use rand::seq::IndexedRandom as _;
use rand::{Rng, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::random::texts;
use crate::strings::{LanguageLimits, Languages, PatternError, PatternSyntax};

fn languages(syntax: PatternSyntax) -> Languages {
    let mut languages = Languages::new(&LanguageLimits::default());
    languages.read_patterns_by(syntax);
    languages
}

/// One character of each kind that the patterns tell apart: a letter in either case, a letter that folds to one of ASCII, digits of
/// ASCII and others, a letter beyond ASCII, a mark, a space beyond ASCII, line ends, and a sign.
const ALPHABET: [char; 12] = [
    'k', 'K', '\u{212a}', '1', '٣', 'é', '\u{301}', '\u{a0}', '\n', '\r', '\u{2028}', '-',
];

/// A random pattern in what the dialects share.
fn pattern(rng: &mut impl Rng, atoms: &[&str], flags: &[&str], depth: usize) -> String {
    let parts = rng.random_range(1..=3);
    let mut all = String::new();
    for _ in 0..parts {
        let part = match depth == 0 || rng.random_bool(0.5) {
            true => (*atoms.choose(rng).unwrap()).to_owned(),
            false => {
                let inner = pattern(rng, atoms, flags, depth - 1);
                let other = pattern(rng, atoms, flags, depth - 1);
                format!("(?{}:{inner}|{other})", flags.choose(rng).unwrap())
            }
        };
        let is_assertion = [
            "^",
            "$",
            r"\b",
            r"\B",
            r"\A",
            r"\z",
            r"\b{start}",
            r"\b{end}",
            r"\b{start-half}",
        ]
        .contains(&part.as_str());
        all.push_str(&part);
        if !is_assertion {
            all.push_str(["", "", "", "*", "+?", "?", "{2}", "{1,2}"].choose(rng).unwrap());
        }
    }
    all
}

#[test]
fn patterns_of_rust_match_as_the_crate_does() {
    let atoms = [
        "k",
        "K",
        r"\d",
        r"\D",
        r"\w",
        r"\W",
        r"\s",
        r"\S",
        ".",
        "[^k]",
        "é",
        r"[\w--k]",
        "[[:alpha:]]",
        r"\p{Greek}",
        "^",
        "$",
        r"\b",
        r"\B",
        r"\A",
        r"\z",
        r"\b{start}",
        r"\b{end}",
        r"\b{start-half}",
        r"(?-u:\b)",
        r"(?-u:\w)",
    ];
    let flags = ["", "i", "s", "m", "mR", "i-u", "x", "-i", "U"];
    let all = texts(&ALPHABET, 3);
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    let mut compared = 0;
    for _ in 0..300 {
        let source = pattern(&mut rng, &atoms, &flags, 2);
        let Ok(theirs) = regex::Regex::new(&source) else {
            continue;
        };
        let mut languages = languages(PatternSyntax::Rust);
        let language = match languages.pattern(&source) {
            Ok(language) => language,
            Err(PatternError::TooLarge { .. }) => continue,
            Err(error) => panic!("{source}: {error}"),
        };
        compared += 1;
        for text in &all {
            let found = languages.contains(language, text).unwrap();
            assert_eq!(found, theirs.is_match(text), "{source:?} on {text:?}");
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn anchored_patterns_match_whole_texts() {
    for (syntax, cases) in [
        (
            PatternSyntax::Rust,
            &[
                ("a|b", "b", true),
                ("a|b", "ab", false),
                ("(?x) a # one", "a", true),
                ("(?x) a # one", "a\n", false),
                ("a#", "a#", true),
                ("(?m)^a$", "a\nb", false),
                (r"\d+", "٣", true),
                (r"\Bé", "é", false),
                (r"-\Bé?", "-", true),
            ] as &[(&str, &str, bool)],
        ),
        (
            PatternSyntax::Python,
            &[
                ("a|b", "b", true),
                ("a|b", "ab", false),
                ("(?i)(?s)A.", "a\n", true),
                ("(?x) a # one", "a", true),
                ("(?x) a # one", "a\n", false),
                ("a$", "a\n", false),
                ("a$\n", "a\n", true),
                (r"\d+", "٣", true),
            ],
        ),
    ] {
        for (pattern, text, expected) in cases {
            let mut languages = languages(syntax);
            let language = languages.pattern(&syntax.anchored(pattern)).unwrap();
            assert_eq!(
                languages.contains(language, text).unwrap(),
                *expected,
                "{pattern:?} on {text:?}"
            );
        }
    }
}

#[test]
fn patterns_of_python_match_as_its_module_does() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        (r"^\w+$", &["é٣_x", "½", "a\n"], &["\u{301}", "a b", "a\nb"]),
        (r"^\W\Z", &["\u{301}", "-"], &["-\n", "x"]),
        (r"^[\d\s]+\Z", &["1 ٣\u{1c}\u{85}\u{3000}"], &["\u{feff}", "²"]),
        (r"(?a)^\w\d\s\Z", &["k1 "], &["é1 ", "k٣ ", "k1\u{a0}"]),
        (r"(?a:\w)\wé\Z", &["xéé"], &["ééé"]),
        (r"(?i)^k\Z", &["K", "\u{212a}"], &["x"]),
        (r"(?ai)^k\Z", &["K"], &["\u{212a}"]),
        (r"(?i)^[h-j]\Z", &["I", "\u{130}", "\u{131}"], &["k"]),
        (r"(?i)^[\w\u03b9]\Z", &["\u{345}", "ι"], &["\u{301}"]),
        (r"(?i)^\w\Z", &["ι"], &["\u{345}"]),
        (r"(?i)a(?-i:b)\Z", &["Ab"], &["AB"]),
        (r"^.\Z", &["\r", "\u{2028}"], &["\n"]),
        (r"(?s)^.\Z", &["\n"], &[""]),
        (r"a$", &["a", "a\n"], &["a\n\n", "a\r"]),
        (r"(?m)^a$", &["a\nb", "b\na"], &["a\rb", "ab"]),
        (r"\Aa\Z", &["a"], &["a\n", "b\na"]),
        (r"\bé\b", &["é", "-é-"], &["aé", "éb"]),
        (r"k\Bé", &["ké"], &["k-é"]),
        (r"^a{,2}\Z", &["", "aa"], &["aaa", "a{,2}"]),
        (r"^a{,}\Z", &["", "aaa"], &["b"]),
        (r"^a{}{x{1\Z", &["a{}{x{1"], &["a"]),
        (r"^[]a]+\Z", &["]a"], &["b"]),
        (r"^[^]a]\Z", &["b"], &["]"]),
        (r"^[[a&&b]\Z", &["[", "&"], &["c"]),
        (r"^[a-]\Z", &["-"], &["b"]),
        (r"^[\b\x41\101\-]+\Z", &["\u{8}AA-"], &["b"]),
        (r"^\0\07\101\Z", &["\0\u{7}A"], &["01"]),
        (r"^\a\u00e9\U0001f432\Z", &["\u{7}é🐲"], &["a"]),
        (r"^(?P<one>a)(?#text (of)b\Z", &["ab"], &["a"]),
        (
            r"(?x) ^ a [ ] \  \# + # end
          \Z",
            &["a  ##"],
            &["a"],
        ),
        (r"(?x: a b ) c\Z", &["ab c"], &["abc"]),
        (r"^(?=a)*b|(?<=ab|c)d\Z", &["b", "abd", "cd"], &["ad"]),
        (r"(?<!a)b\Z", &["b", "cb"], &["ab"]),
        (r"^\/\é\Z", &["/é"], &["\\"]),
    ];
    for (pattern, inside, outside) in cases {
        let mut languages = languages(PatternSyntax::Python);
        let language = languages
            .pattern(pattern)
            .unwrap_or_else(|error| panic!("{pattern}: {error}"));
        for (texts, expected) in [(inside, true), (outside, false)] {
            for text in *texts {
                assert_eq!(
                    languages.contains(language, text).unwrap(),
                    expected,
                    "{pattern:?} on {text:?}"
                );
            }
        }
    }
}

#[test]
fn what_a_dialect_lacks_is_refused_where_it_stands() {
    for (syntax, pattern, offset) in [
        (PatternSyntax::Rust, "a(?=b)", 1),
        (PatternSyntax::Rust, "a[", 1),
        (PatternSyntax::Rust, r"(a)\1", 3),
        (PatternSyntax::Rust, r"(?-u:\xff)", 5),
        (PatternSyntax::Python, "a**", 2),
        (PatternSyntax::Python, "^*", 1),
        (PatternSyntax::Python, "|+", 1),
        (PatternSyntax::Python, "(*a)", 1),
        (PatternSyntax::Python, "a(?i)b", 1),
        (PatternSyntax::Python, "(?au:b)", 0),
        (PatternSyntax::Python, "(?L)b", 0),
        (PatternSyntax::Python, "(?i-)b", 0),
        (PatternSyntax::Python, "(?<n>b)", 0),
        (PatternSyntax::Python, "(?P<n>b)(?P<n>c)", 8),
        (PatternSyntax::Python, r"a\z\y", 3),
        (PatternSyntax::Python, "[b-a]", 1),
        (PatternSyntax::Python, r"[\w-z]", 1),
        (PatternSyntax::Python, "[]", 0),
        (PatternSyntax::Python, "a{3,2}", 1),
        (PatternSyntax::Python, r"\p{L}", 0),
        (PatternSyntax::Python, r"\x4", 0),
        (PatternSyntax::Python, "(", 0),
        (PatternSyntax::Python, ")", 0),
    ] {
        let error = languages(syntax).pattern(pattern).unwrap_err();
        let found = match &error {
            PatternError::Syntax { offset, .. } | PatternError::Dialect { offset, .. } => *offset,
            _ => panic!("{pattern}: {error}"),
        };
        assert_eq!(found, offset, "{pattern}: {error}");
    }
    for pattern in [
        "a*+",
        "(?>a)",
        r"(a)\1",
        "(a)(?P=n)",
        "(a)?(?(1)b)",
        r"\N{DASH}",
        r"\ud800",
    ] {
        let error = languages(PatternSyntax::Python).pattern(pattern).unwrap_err();
        assert!(matches!(error, PatternError::Unsupported { .. }), "{pattern}: {error}");
    }
}

#[test]
fn patterns_are_bounded_in_every_dialect() {
    for syntax in [PatternSyntax::Common, PatternSyntax::Rust, PatternSyntax::Python] {
        for pattern in [r"\w".repeat(10_001), "(".repeat(1_000) + &")".repeat(1_000)] {
            let error = languages(syntax).pattern(&pattern).unwrap_err();
            assert!(matches!(error, PatternError::TooLarge { .. }), "{error}");
        }
    }
}

/// An anchored pattern keeps flags for the whole pattern at its beginning, also behind comments, and closes a quote that reaches to its end.
#[test]
fn beginnings_and_ends_of_anchored_patterns() {
    let cases = [
        (PatternSyntax::Python, "(?#c)(?i)a", "A", "Ab"),
        (PatternSyntax::Python, "(?x) (?i)a # c", "A", "Ab"),
        (PatternSyntax::Python, "(?x)# (?s)\n (?i)a", "A", "Ab"),
        (PatternSyntax::Common, r"\Qa.b", "a.b", "axb"),
        (PatternSyntax::Common, r"^\Q(*", "(*", "(*)"),
        (PatternSyntax::Common, r"\Qa|b\E|c", "a|b", "a"),
    ];
    for (syntax, pattern, whole, other) in cases {
        let mut languages = languages(syntax);
        let language = languages.pattern(&syntax.anchored(pattern)).unwrap();
        assert_eq!(languages.contains(language, whole), Ok(true), "{pattern}");
        assert_eq!(languages.contains(language, other), Ok(false), "{pattern}");
    }
    let contradiction = languages(PatternSyntax::Python).pattern("(?i-i:a)");
    assert!(matches!(contradiction, Err(PatternError::Syntax { .. })));
    // Lookbehinds with one language are one condition.
    let same = format!(
        "^(?:{}[ab])*$",
        (1..=9).map(|digit| format!("(?<=ab){digit}|")).collect::<String>()
    );
    let mut languages = languages(PatternSyntax::Ecma);
    let language = languages.pattern(&same).unwrap();
    assert_eq!(languages.contains(language, "ab7a"), Ok(true));
    assert_eq!(languages.contains(language, "ba7a"), Ok(false));
}
