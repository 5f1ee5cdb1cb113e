//! Measurements of time and size. Run with `--release -- --ignored --nocapture figures`.

use std::collections::HashSet;
use std::time::Instant;

use crate::strings::{LanguageId, LanguageLimits, Languages};

/// Breadth-first over up to `states` states, the first of each kind of character first.
fn explore(languages: &mut Languages, start: LanguageId, states: usize) -> usize {
    let mut seen = HashSet::from([start]);
    let mut queue = std::collections::VecDeque::from([start]);
    let mut visited = 0;
    while let Some(state) = queue.pop_front() {
        visited += 1;
        if visited == states {
            break;
        }
        for &(_, target) in languages.transitions(state).unwrap().iter() {
            if seen.insert(target) {
                queue.push_back(target);
            }
        }
    }
    visited
}

fn figure(name: &str, build: impl Fn(&mut Languages) -> LanguageId) {
    let mut best = (f64::MAX, f64::MAX, 0, 0);
    for _ in 0..5 {
        let mut languages = Languages::new(&LanguageLimits::default());
        let start = Instant::now();
        let language = build(&mut languages);
        let built = start.elapsed().as_secs_f64() * 1e6;
        let empty = languages.is_empty(language).unwrap();
        assert!(!empty);
        let visited = explore(&mut languages, language, 100);
        let all = start.elapsed().as_secs_f64() * 1e6;
        if all < best.1 {
            best = (built, all, visited, languages.cells());
        }
    }
    let (built, all, visited, cells) = best;
    let each = (all - built) / visited as f64;
    println!("{name}: build {built:.1} µs, {visited} states {each:.2} µs each, {cells} cells");
}

#[test]
#[ignore = "measures"]
fn figures() {
    figure("^[a-z]{1,63}$ & maxLength 50", |l| {
        let p = l.pattern("^[a-z]{1,63}$").unwrap();
        let m = l.length(0, Some(50)).unwrap();
        l.and(&[p, m]).unwrap()
    });
    for pattern in [
        "^[a-z]{1,63}$",
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        "^(\\d{3}-)?\\d{4}$",
        "^x-",
        "[^\\s]+@[^\\s]+",
        r"^(?!.*--)[a-z-]{2,}$",
        r"^((?!mode)(?!Mode).)*$",
        r"\bfoo\b",
        r"^(?!.*://)(?=.{1,255}$)((.{1,63}\.){1,127}(?![0-9]*$)[a-z0-9-]+\.?)$",
        r"\p{L}+",
    ] {
        figure(pattern, |l| l.pattern(pattern).unwrap());
        figure(&format!("{pattern} & maxLength 32767"), |l| {
            let p = l.pattern(pattern).unwrap();
            let m = l.length(0, Some(32_767)).unwrap();
            l.and(&[p, m]).unwrap()
        });
        figure(&format!("not {pattern} & length 3 to 300"), |l| {
            let p = l.pattern(pattern).unwrap();
            let p = l.not(p).unwrap();
            let m = l.length(3, Some(300)).unwrap();
            l.and(&[p, m]).unwrap()
        });
    }
    for format in [
        "date-time",
        "date",
        "time",
        "email",
        "uri",
        "uri-reference",
        "iri",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
        "idn-email",
    ] {
        figure(format, |l| l.format(format).unwrap().unwrap());
        figure(&format!("{format} & length 3 to 300"), |l| {
            let p = l.format(format).unwrap().unwrap();
            let m = l.length(3, Some(300)).unwrap();
            l.and(&[p, m]).unwrap()
        });
    }
    let words: Vec<String> = (0..5383u64)
        .map(|i| format!("name-{:x}-{}", i * 2_654_435_761 % 100_003, i))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    figure("enum of 5,383", |l| l.one_of(&words).unwrap());
    figure("not enum of 5,383 & maxLength 30", |l| {
        let p = l.one_of(&words).unwrap();
        let p = l.not(p).unwrap();
        let m = l.length(0, Some(30)).unwrap();
        l.and(&[p, m]).unwrap()
    });
    figure("enum of 5,383 & pattern & maxLength", |l| {
        let p = l.one_of(&words).unwrap();
        let q = l.pattern("^name-[0-9a-f]+-[0-9]*7$").unwrap();
        let m = l.length(0, Some(13)).unwrap();
        l.and(&[p, q, m]).unwrap()
    });
    figure("uri & pattern & maxLength 2048", |l| {
        let p = l.format("uri").unwrap().unwrap();
        let q = l.pattern("^https?://").unwrap();
        let m = l.length(0, Some(2048)).unwrap();
        l.and(&[p, q, m]).unwrap()
    });
    for (format, texts) in [
        (
            "hostname",
            &[
                "www.example-host.org",
                "a.xn--ihqwcrb4cv8a8dqg056pqjye.b",
                "xn--proprostnemluvesky-uyb24dma41a.example",
            ][..],
        ),
        (
            "idn-hostname",
            &[
                "www.example-host.org",
                "почемужеонинеговорятпорусски.рф",
                "他们为什么不说中文.example.中国",
                "שלום.קום",
            ][..],
        ),
        (
            "regex",
            &[r"^(?<year>\d{4})-(?:0[1-9]|1[0-2])[^a-z\u0041-\u{1F600}]+(\k<year>|\p{Script=Greek})*?$"][..],
        ),
    ] {
        walk(format, texts);
    }
}

/// Measures steps from one character of `texts` to the next, each for the first time, and to every character of ASCII as a next
/// one.
fn walk(format: &str, texts: &[&str]) {
    let mut languages = Languages::new(&LanguageLimits::default());
    let start = Instant::now();
    let language = languages.format(format).unwrap().unwrap();
    let length = languages.length(1, Some(200)).unwrap();
    let bounded = languages.and(&[language, length]).unwrap();
    assert!(!languages.is_empty(bounded).unwrap());
    let built = start.elapsed().as_secs_f64() * 1e6;
    for text in texts {
        for (name, from) in [("", language), (" & length 1 to 200", bounded)] {
            let start = Instant::now();
            let (mut at, mut steps) = (from, 0);
            for c in text.chars() {
                for other in '\0'..='\u{7F}' {
                    languages.derivative(at, other).unwrap();
                    steps += 1;
                }
                at = languages.derivative(at, c).unwrap();
                steps += 1;
            }
            let each = start.elapsed().as_secs_f64() * 1e6 / f64::from(steps);
            println!("{format}{name}: build {built:.1} µs, {each:.2} µs per step around {text:?}");
        }
    }
}
