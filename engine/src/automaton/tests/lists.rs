//! Lists whose items have to differ, and lists of which two items have to be equal, compared with all lists of a few numbers.

use super::*;

/// The greatest number in a list. Conditions tell numbers up to 3 apart, and even from odd ones: what admits more than these has numbers beyond.
const GREATEST: u32 = 9;

/// A schema of a number that is not negative.
fn condition(random: &mut ChaCha8Rng) -> String {
    let number = random.random_range(0..4);
    match random.random_range(0..7) {
        0 => format!(r#"{{"minimum": {number}}}"#),
        1 => format!(r#"{{"maximum": {number}}}"#),
        2 => r#"{"multipleOf": 2}"#.to_owned(),
        3 => r#"{"not": {"multipleOf": 2}}"#.to_owned(),
        4 => format!(r#"{{"const": {number}}}"#),
        5 => format!(r#"{{"enum": [{number}, {}]}}"#, number + 1),
        _ => "true".to_owned(),
    }
}

/// A schema of lists of at most `longest` numbers whose items are judged by where they stand, counted and compared.
fn list(random: &mut ChaCha8Rng, longest: usize) -> String {
    let first: Vec<String> = (0..random.random_range(0..3)).map(|_| condition(random)).collect();
    let mut parts = vec![r#"{"items": {"type": "integer", "minimum": 0}}"#.to_owned()];
    for _ in 0..random.random_range(0..4) {
        let least = random.random_range(0..3);
        let most = random.random_range(least..4);
        let counted = condition(random);
        parts.push(format!(
            r#"{{"contains": {counted}, "minContains": {least}, "maxContains": {most}}}"#
        ));
    }
    let found = condition(random);
    parts.push(match random.random_range(0..4) {
        0 => r#"{"uniqueItems": true}"#.to_owned(),
        1 => r#"{"not": {"uniqueItems": true}}"#.to_owned(),
        2 => format!(r#"{{"oneOf": [{{"uniqueItems": true}}, {{"contains": {found}}}]}}"#),
        _ => format!(r#"{{"anyOf": [{{"not": {{"uniqueItems": true}}}}, {{"not": {{"contains": {found}}}}}]}}"#),
    });
    let first = match first[..] {
        [] => String::new(),
        _ => format!(r#""prefixItems": [{}], "#, first.join(", ")),
    };
    format!(
        r#"{{"type": "array", "maxItems": {longest}, {first}"items": {}, "allOf": [{}]}}"#,
        condition(random),
        parts.join(", ")
    )
}

/// All lists of at most `longest` numbers, each as its items.
fn lists(longest: usize) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new()];
    let mut last = lists.clone();
    for _ in 0..longest {
        let longer = |list: &Vec<u32>| {
            (0..=GREATEST)
                .map(|item| [&list[..], &[item]].concat())
                .collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        lists.extend_from_slice(&last);
    }
    lists
}

/// The text of items, each ended by a space, behind a bracket.
fn beginning(items: &[u32]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("{item} ")).collect();
    format!("[{}", items.join(","))
}

#[test]
fn a_list_is_begun_if_and_only_if_it_can_end() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut satisfiable = 0;
    for _ in 0..200 {
        let longest = random.random_range(1..4);
        let schema = list(&mut random, longest);
        let load = || SchemaSet::load(&schema, &SchemaOptions::default()).unwrap();
        let (set, (mut automaton, root)) = (load(), alone(load(), Formats::Annotation, Style::rfc8259()).unwrap());
        let judge = |text: &str| {
            let document = Document::parse(text, &Limits::default()).unwrap();
            is_valid(&set, &Regexes, &Value::new(&document, 0).unwrap())
        };
        let (mut live, mut valid) = (HashSet::new(), HashSet::new());
        let all = lists(longest);
        for items in all.iter().filter(|items| judge(&format!("{}]", beginning(items)))) {
            live.extend((0..=items.len()).map(|length| items[..length].to_vec()));
            valid.insert(items.clone());
        }
        let start = automaton.start(root).unwrap();
        assert_eq!(start.is_some(), !live.is_empty(), "{schema}");
        let Some(start) = start else { continue };
        satisfiable += 1;
        for items in all {
            let text = beginning(&items);
            let mut read = |from: State, text: &[u8]| {
                let mut bytes = text.iter();
                bytes.try_fold(from, |at, byte| automaton.step(at, *byte).unwrap())
            };
            let at = read(start, text.as_bytes());
            assert_eq!(at.is_some(), live.contains(&items), "{text} under {schema}");
            let Some(at) = at else { continue };
            let ended = read(at, b"]");
            assert_eq!(ended.is_some(), valid.contains(&items), "{text}] under {schema}");
            let completion = automaton.completion(at).unwrap();
            let completion = completion.unwrap_or_else(|| panic!("no completion of {text} under {schema}"));
            let whole = format!("{text}{}", String::from_utf8(completion.clone()).unwrap());
            assert!(judge(&whole), "{whole} under {schema}");
            let end = completion
                .iter()
                .try_fold(at, |at, byte| automaton.step(at, *byte).unwrap());
            let is_complete = end.is_some_and(|end| automaton.is_complete(end).unwrap());
            assert!(is_complete, "{whole} under {schema}");
        }
    }
    assert!(satisfiable > 80, "{satisfiable} schemas have lists");
}
