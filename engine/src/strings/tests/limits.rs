//! Hostile input: answered within the limits or refused, never by a panic.

use crate::strings::{Cardinality, LanguageId, LanguageLimits, Languages, PatternError};

fn languages() -> Languages {
    Languages::new(&LanguageLimits::default())
}

/// Follows `text` through `pattern`, as a document's string would be.
fn follow(pattern: &str, text: &str) -> Option<bool> {
    let mut languages = languages();
    let language = languages.pattern(pattern).unwrap();
    languages.contains(language, text).ok()
}

#[test]
fn nested_repetitions_collapse() {
    assert_eq!(follow("^(a{1,1000}){1,1000}$", &"a".repeat(500)), Some(true));
    assert_eq!(follow("^((((a*)*)*)*)*$", &"a".repeat(500)), Some(true));
    assert_eq!(
        follow("^(((a{1,100}){1,100}){1,100}b?){1,100}$", &"ab".repeat(101)),
        Some(false)
    );
    assert_eq!(follow("^(a?){1,1000000000}$", "aaa"), Some(true));
    assert_eq!(follow("^((a{3,5}){2,7}){1,40}$", "aaaaa"), Some(false));
    assert_eq!(follow("^((a{3,5}){2,7}){1,40}$", &"a".repeat(1400)), Some(true));
    assert_eq!(follow("^((a{3,5}){2,7}){1,40}$", &"a".repeat(1401)), Some(false));
    assert_eq!(
        follow("^(ab{2,300}c){1,50}$", &format!("a{}c", "b".repeat(300)).repeat(50)),
        Some(true)
    );
}

#[test]
fn exponential_automata_are_walked_one_state_at_a_time() {
    let text = format!("{}a{}", "b".repeat(300), "ab".repeat(100));
    assert_eq!(follow("^[ab]*a[ab]{200}$", &text), Some(true));
}

/// Assertions behind one another, repeated or nested, take steps that are counted, and no more stack than they are nested.
#[test]
fn assertions_are_compiled_in_bounded_work() {
    let behind = format!("^(?=[ab]){}x", "(?:a?(?=)|b?(?=))".repeat(40));
    assert_eq!(follow(&behind, "abx"), Some(true));
    let deep = format!("^(?=[ab]){}x", "(?:a?(?=)|b)".repeat(20_000));
    assert!(languages().pattern(&deep).is_ok());
    assert_eq!(follow(r"(?:\b){1000000000000}a", "-a"), Some(true));
    assert_eq!(follow(r"^(?:\b){0,1000000000000}a", "a"), Some(true));
    // What is not compiled in the steps that there are is refused.
    let set: String = (0..30_000)
        .filter_map(|c| char::from_u32(0x3400 + 2 * c))
        .filter(|c| c.is_alphabetic())
        .collect();
    let letters = vec!["a|b"; 20_000].join("|");
    let many: Vec<String> = (0..20_000)
        .map(|word| format!("{}{word}", ["a", "b"][word % 2]))
        .collect();
    let many = many.join("|");
    for hostile in [
        format!("(?:{letters})(?<![{set}])x"),
        format!("(?<![{set}]){}x", "(?<!a)(?<!b)".repeat(20_000)),
        format!("^(?:(?=a)(?:{many})){{50000}}$"),
        format!("^(?:a(?=x)|{letters}(?=)[]){{100000}}$"),
        format!("^(?:(?:{many}|)(?=a)){{0,50000}}$"),
    ] {
        let compiled = languages().pattern(&hostile);
        assert!(matches!(compiled, Ok(_) | Err(PatternError::TooLarge { .. })));
    }
    let words: Vec<String> = (0..100).map(|word| format!("w{word}")).collect();
    let words = format!(r"^(?:\b(?:{})\b ?){{100}}$", words.join("|"));
    assert_eq!(follow(&words, &["w7"; 100].join(" ")), Some(true));
    assert_eq!(follow(&words, &["w7"; 99].join(" ")), Some(false));
}

#[test]
fn nesting_is_bounded() {
    let deep = format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(matches!(languages().pattern(&deep), Err(PatternError::TooLarge { .. })));
    let fine = format!("^{}a{}$", "(".repeat(90), ")*".repeat(90));
    assert_eq!(follow(&fine, "aaa"), Some(true));
    let lookaheads = format!("{}a{}", "(?=".repeat(90), ")".repeat(90));
    assert_eq!(follow(&lookaheads, "aaa"), Some(true));
    let loops = format!("^{}a{}$", "(?:(?!b)".repeat(90), ")*".repeat(90));
    assert_eq!(follow(&loops, "aaa"), Some(true));
    assert_eq!(follow(&loops, "aba"), Some(false));
    let long = "a".repeat(2 << 20);
    assert!(matches!(languages().pattern(&long), Err(PatternError::TooLarge { .. })));
}

#[test]
fn long_chains_do_not_recurse() {
    let optional = format!("^{}$", "a?".repeat(20_000));
    let mut languages = languages();
    let language = languages.pattern(&optional).unwrap();
    assert!(
        languages
            .lengths(language)
            .unwrap()
            .is_some_and(|lengths| lengths.max() == Some(Some(20_000)))
    );
    assert!(languages.derivative(language, 'a').is_ok());
    let word = "ab".repeat(100_000);
    let literal = languages.literal(&word).unwrap();
    assert_eq!(languages.cardinality(literal, 2), Ok(Cardinality::Finite(1)));
    assert!(
        languages
            .lengths(literal)
            .unwrap()
            .is_some_and(|lengths| lengths.min() == Some(200_000))
    );
}

#[test]
fn wide_alternations_are_walked() {
    let words: Vec<String> = (0..10_000).map(|i| format!("{:x}", i * 7919)).collect();
    let pattern = format!("^(?:{})$", words.join("|"));
    assert_eq!(follow(&pattern, &words[9_999]), Some(true));
    let overlapping: Vec<String> = (0..10_000u32)
        .map(|i| format!("[\\u{{{:x}}}-\\u{{FFFFF}}]{i}", 0x1000 + i))
        .collect();
    let mut languages = languages();
    let language = languages.pattern(&format!("^(?:{})$", overlapping.join("|"))).unwrap();
    assert!(languages.transitions(language).is_err());
    // The others stay usable.
    let other = languages.literal("x").unwrap_or(languages.empty_text());
    assert!(!languages.accepts_empty(languages.none()) && other != languages.none());
}

#[test]
fn unanswerable_questions_are_refused() {
    let mut languages = languages();
    let a = languages.pattern("^[ab]*a[ab]{300}c$").unwrap();
    let b = languages.pattern("^[ab]*b[ab]{300}$").unwrap();
    let both = languages.and(&[a, b]).unwrap();
    assert!(languages.is_empty(both).is_err());
}

/// Unions of intersections of unions of the same lists are as many parts as there are ways to a list: a word is held against
/// some of them, and the rest is left to a search.
#[test]
fn words_are_held_against_a_bounded_number_of_parts() {
    let mut languages = languages();
    let lists = (0..30).map(|list| {
        let words: Vec<String> = (0..50).map(|word| format!("{}", 1_000 + list * 7 + word)).collect();
        languages.one_of(&words.iter().map(String::as_str).collect::<Vec<_>>())
    });
    let mut level: Vec<LanguageId> = lists.collect::<Result<_, _>>().unwrap();
    for depth in 0..10 {
        let others = (0..level.len()).map(|left_out| {
            let members = [&level[..left_out], &level[left_out + 1..]].concat();
            match depth % 2 {
                0 => languages.or(&members),
                _ => languages.and(&members),
            }
        });
        level = others.collect::<Result<_, _>>().unwrap();
    }
    let few = languages.one_of(&["1100", "x"]).unwrap();
    let both = languages.and(&[few, level[0]]).unwrap();
    assert!(languages.contains(both, "1100").unwrap() && !languages.contains(both, "x").unwrap());
}

/// The texts of all combinations of words are endless, since other characters do not matter; those of a bounded length are not.
#[test]
fn padding_is_known_of_words_and_their_combinations() {
    let mut languages = languages();
    let mut padding = |pattern: &str| {
        let language = languages.pattern(pattern).unwrap();
        languages.padding(language)
    };
    for (patterns, is_some) in [
        (&["alpha", "b.ta", "[0-9]+"][..], true),
        (&["alpha", "^beta", "^[a-c]x"], true),
        (&["alpha", "beta$", "[0-9]x$"], true),
        (&["^alpha", "beta$"], false),
        (&["^alpha$"], false),
        (&["alpha", "^.{0,9}$"], false),
    ] {
        let all = patterns
            .iter()
            .map(|pattern| padding(pattern))
            .reduce(crate::strings::Padding::of_both);
        assert_eq!(all.unwrap().is_some(), is_some, "{patterns:?}");
    }
}

/// The shortest texts of an intersection of many words are listed without visiting all orders of the words.
#[test]
fn texts_of_intersections_are_listed_state_by_state() {
    let mut languages = languages();
    let words = ["ab", "bc", "cd", "de", "ef", "fg"].map(|word| languages.pattern(word).unwrap());
    let all = languages.and(&words).unwrap();
    let texts = languages.members(all, 3).unwrap();
    assert_eq!((texts.len(), &*texts[0]), (3, "abcdefg"));
}

/// A text of a language whose shortest texts are longer than any that could be written is a limit, not a sum that overflows.
#[test]
fn texts_of_immense_length_are_not_listed() {
    let mut languages = languages();
    for count in [u64::MAX - 1, u64::MAX] {
        let immense = languages.pattern(&format!("a{{{count}}}")).unwrap();
        assert!(languages.members(immense, 1).is_err());
    }
}

/// The texts listed of a class of some 650 ranges are its first letters, although only a few characters of each state are looked at.
#[test]
fn texts_of_a_class_of_many_ranges_are_its_first_letters() {
    let mut languages = languages();
    let letters = languages.pattern(r"^\p{L}{1,4}$").unwrap();
    let texts = languages.members(letters, 200).unwrap();
    let single: Vec<char> = texts.iter().filter_map(|text| text.chars().next()).collect();
    assert_eq!(single.len(), 200);
    assert!(single.iter().all(|letter| letter.is_alphabetic()) && single.is_sorted());
    assert!(texts.iter().all(|text| text.chars().count() == 1));
}

/// Parts that may be left out, behind any text.
#[test]
fn long_chains_behind_any_text_do_not_recurse() {
    for chain in [
        "a?b?".repeat(30_000),
        "x*y*".repeat(30_000),
        format!("a?{}", "a".repeat(100_000)),
    ] {
        let work = move || {
            let mut languages = languages();
            for pattern in [format!("{chain}c"), format!("{chain}$")] {
                let language = languages.pattern(&pattern).unwrap();
                assert_eq!(languages.is_empty(language), Ok(false));
            }
        };
        let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap();
        thread.join().unwrap();
    }
}
