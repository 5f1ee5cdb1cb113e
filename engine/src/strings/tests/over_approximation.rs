//! Over-approximations, held against the languages text by text.

use crate::strings::language_id::NONE;
use crate::strings::{Horizon, LanguageId, LanguageLimits, Languages, is_blank};

const HORIZON: Horizon = Horizon {
    characters: 10,
    blanks: 2,
    octets: 20,
};

/// All texts of up to so many characters of an alphabet, after each other.
fn compare(languages: &mut Languages, one: LanguageId, other: LanguageId, alphabet: &str, longest: usize) -> usize {
    let mut level = vec![(String::new(), one, other)];
    let mut compared = 0;
    for _ in 0..longest {
        let mut next = Vec::new();
        for (text, one, other) in level {
            for c in alphabet.chars() {
                let text = format!("{text}{c}");
                let words = text
                    .split(|c| !is_blank(u32::from(c)))
                    .filter(|blanks| !blanks.is_empty());
                let is_within = words.count() as u64 <= HORIZON.blanks && text.len() as u64 <= HORIZON.octets;
                if text.contains("--") || !is_within {
                    continue;
                }
                let after = [one, other].map(|language| languages.derivative(language, c).unwrap());
                compared += 1;
                assert_eq!(after[0] == NONE, after[1] == NONE, "{text}");
                let ends = after.map(|language| languages.accepts_empty(language));
                assert_eq!(ends[0], ends[1], "{text}");
                if after[0] != NONE && !next.iter().any(|(_, one, other)| [*one, *other] == after) {
                    next.push((text, after[0], after[1]));
                }
            }
        }
        level = next;
    }
    compared
}

#[test]
fn over_approximations_are_the_same_up_to_the_horizon() {
    let mut languages = Languages::new(&LanguageLimits::default());
    let patterns = [
        ("^[a-c-]{1,255}$", 200, "ab-.1"),
        ("^([ab]{2}[.1]){3,40}a?$", 100, "ab.1"),
        ("^([ab]+ +){0,18}b$", 90, "ab "),
        ("^(a{0,30}b|.{17}1{2,20})*$", 60, "ab1"),
        ("^a(b{20}|-)*$", 50, "ab-"),
        (r"^([^ ]+ +){0,11}[^ ]+$", 70, "ab "),
        (r"^(?:\S+\s+){0,9}\S+$", 60, "a1 \u{a0}"),
        (r"^\S+(\s(a|b1?){1,3}){2,7}\s?$", 60, "ab1 "),
        (r"^( ?a+ ?){0,9}$", 60, "ab "),
        ("^(ab{1,5}1){0,7}(ba)?$", 200, "ab1"),
        // Several at once.
        (
            r"^(?!.*1b)(?=.{1,150}$)(([ab1]{1,40}\.){1,99}(?!1*$)[a1]+\.?)$",
            140,
            "ab1.",
        ),
        ("^(?=.*a)(?=.*1)(?!.*b{3})[ab1]{1,60}$", 58, "ab1"),
        ("^(?=.*a{14}$)[ab]{0,60}$", 50, "ab"),
        ("^(?=.*a{6}$)[ab]{0,60}$", 70, "ab"),
        ("^(?=(a{1,30}b)*$)(?!.*a{12})", 70, "ab"),
    ];
    let formats = ["hostname", "email", "uri", "uri-reference", "idn-email"];
    let formats = formats.map(|format| (languages.format(format).unwrap().unwrap(), 120, "ax-.@/1"));
    let patterns = patterns.map(|(pattern, bound, alphabet)| (languages.pattern(pattern).unwrap(), bound, alphabet));
    let mut open: Vec<(LanguageId, u64, &str)> = Vec::new();
    for (unbounded, bound, alphabet) in patterns.into_iter().chain(formats) {
        for least in 0..3 {
            let length = languages.length(least, Some(bound)).unwrap();
            open.push((languages.and(&[unbounded, length]).unwrap(), bound, alphabet));
        }
    }
    // Bounds on the octets.
    let idn_email = languages.format("idn-email").unwrap().unwrap();
    open.push((idn_email, 20, "é漢.a"));
    open.push((idn_email, 16, "\u{10000}.\"a"));
    let (mut compared, mut changed, mut continued) = (0, 0, 0);
    for (mut language, bound, alphabet) in open {
        // Residuals of texts in over-approximations of the first languages.
        let mut above: Vec<LanguageId> = Vec::new();
        // On the way to the bound, and where the horizon before it is reached.
        let mut last = None;
        for step in 0..bound as usize {
            let near = languages.over_approximation(language, HORIZON).unwrap();
            assert_eq!(languages.over_approximation(near, HORIZON).unwrap(), near);
            let differs = near != language;
            changed += usize::from(differs);
            let before = match differs {
                true => last.replace((language, near)),
                false => last.take(),
            };
            if let Some((language, near)) = before.filter(|_| !differs || step % 31 == 1) {
                compared += compare(&mut languages, language, near, alphabet, HORIZON.characters as usize);
            }
            if step < 4 {
                above.push(near);
            }
            let mut next = alphabet
                .chars()
                .cycle()
                .skip(step * 7 % 5)
                .take(alphabet.chars().count());
            let after = next.find_map(|c| {
                let after = languages.derivative(language, c).unwrap();
                (after != NONE).then_some((c, after))
            });
            let Some((c, after)) = after else { break };
            language = after;
            for above in &mut above {
                *above = languages.derivative(*above, c).unwrap();
                assert!(*above != NONE && languages.accepts_empty(*above) >= languages.accepts_empty(after));
                continued += 1;
            }
        }
        if let Some((language, near)) = last {
            compared += compare(&mut languages, language, near, alphabet, HORIZON.characters as usize);
        }
    }
    assert!(changed > 1_000 && compared > 50_000, "{changed} {compared}");
    assert!(continued > 5_000, "{continued}");
}

/// A text that must have a character may have room for none of the shortest texts that have one.
#[test]
fn a_least_length_counts_against_the_longest() {
    for longest in [8, 9, 1_000] {
        let mut languages = Languages::new(&LanguageLimits::default());
        let parts = ["^(?:abcdefghi|y)*$", "^(?:abcdefghi|x)*$"].map(|pattern| languages.pattern(pattern).unwrap());
        let length = languages.length(1, Some(longest)).unwrap();
        let all = languages.and(&[parts[0], parts[1], length]).unwrap();
        assert_eq!(languages.is_empty(all), Ok(longest < 9), "{longest}");
    }
}
