//! Lists whose items have to differ, and lists of which two items have to be equal, compared with all lists of a few numbers and all lists of
//! short lists of them.

use super::*;
use std::collections::HashMap;

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

/// All lists of at most `longest` of some items.
fn lists<T: Clone>(items: &[T], longest: usize) -> Vec<Vec<T>> {
    let mut lists = vec![Vec::new()];
    let mut last = lists.clone();
    for _ in 0..longest {
        let longer = |list: &Vec<T>| {
            let items = items.iter().cloned();
            items.map(|item| [&list[..], &[item]].concat()).collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        lists.extend_from_slice(&last);
    }
    lists
}

/// The text of a list, given the texts of its items, in pieces that end between values.
fn pieces(items: &[Vec<String>]) -> Vec<String> {
    let mut pieces = vec!["[".to_owned()];
    for (place, item) in items.iter().enumerate() {
        pieces.extend((place > 0).then(|| ",".to_owned()));
        pieces.extend_from_slice(item);
    }
    pieces.push("] ".to_owned());
    pieces
}

/// The text of each number, which ends before a space.
fn texts(numbers: impl IntoIterator<Item = u32>) -> Vec<Vec<String>> {
    numbers.into_iter().map(|number| vec![format!("{number} ")]).collect()
}

/// Compares what the automaton of a schema accepts with the judgement of all lists of at most `longest` items, whose texts are given in pieces: a
/// beginning is accepted if and only if a valid list begins so, and its completion makes a valid list of it. Returns whether a list is valid.
fn compare(schema: &str, items: &[Vec<String>], longest: usize) -> bool {
    let documents: Vec<Vec<String>> = lists(items, longest).iter().map(|list| pieces(list)).collect();
    let (set, mut automaton, start) = loaded(schema, Style::rfc8259());
    let judge = |text: &str| judge(&set, text);
    let beginnings = |pieces: &[String]| {
        (1..=pieces.len())
            .map(|length| pieces[..length].concat())
            .collect::<Vec<_>>()
    };
    let (mut live, mut valid) = (HashSet::new(), HashSet::new());
    for document in documents.iter().filter(|document| judge(&document.concat())) {
        live.extend(beginnings(document));
        valid.insert(document.concat());
    }
    assert_eq!(start.is_some(), !live.is_empty(), "{schema}");
    let mut states = HashMap::from([(String::new(), start)]);
    for document in &documents {
        let mut before = String::new();
        for text in beginnings(document) {
            if !states.contains_key(&text) {
                let mut bytes = text[before.len()..].bytes();
                let at = bytes.try_fold(states[&before], |at, byte| {
                    at.map(|at| automaton.step(at, byte).unwrap()).filter(Option::is_some)
                });
                let at = at.flatten();
                assert_eq!(at.is_some(), live.contains(&text), "{text} under {schema}");
                if let Some(at) = at {
                    let completion = automaton.completion(at).unwrap();
                    let completion = completion.unwrap_or_else(|| panic!("no completion of {text} under {schema}"));
                    let whole = format!("{text}{}", String::from_utf8(completion.clone()).unwrap());
                    assert!(judge(&whole), "{whole} under {schema}");
                    let mut rest = completion.iter();
                    let end = rest.try_fold(at, |at, byte| automaton.step(at, *byte).unwrap());
                    let is_complete = end.is_some_and(|end| automaton.is_complete(end).unwrap());
                    assert!(is_complete, "{whole} under {schema}");
                    assert_eq!(
                        automaton.is_complete(at).unwrap(),
                        valid.contains(&text),
                        "{text} under {schema}"
                    );
                }
                states.insert(text.clone(), at);
            }
            before = text;
        }
    }
    start.is_some()
}

#[test]
fn a_list_is_begun_if_and_only_if_it_can_end() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let numbers = texts(0..=GREATEST);
    let mut satisfiable = 0;
    for _ in 0..200 {
        let longest = random.random_range(1..4);
        let schema = list(&mut random, longest);
        satisfiable += usize::from(compare(&schema, &numbers, longest));
    }
    assert!(satisfiable > 80, "{satisfiable} schemas have lists");
}

#[test]
fn a_completion_may_have_more_items_than_a_list_whose_items_may_be_equal() {
    // Two items that are odd and at most 2 meet both counts, but they would be equal.
    let schema = r#"{"type": "array", "maxItems": 3, "items": {"type": "integer", "minimum": 0}, "uniqueItems": true, "allOf": [
        {"contains": {"not": {"multipleOf": 2}}, "minContains": 2, "maxContains": 2}, {"contains": {"maximum": 2}, "minContains": 2}]}"#;
    assert!(compare(schema, &texts(0..=GREATEST), 3));
}

#[test]
fn eight_assertions_that_leave_two_values_together_keep_one_for_the_last_item() {
    // The last item is a multiple of 2 * 3 * 5 * 7 * 11 * 13 * 17, of which there are two.
    let parts = [2, 3, 5, 7, 11, 13, 17]
        .map(|number| format!(r#"{{"prefixItems": [true, true, {{"multipleOf": {number}}}]}}"#));
    let schema = format!(
        r#"{{"type": "array", "uniqueItems": true, "minItems": 3, "maxItems": 3, "items": {{"type": "integer", "minimum": 1, "maximum": 1021020}},
        "allOf": [{}]}}"#,
        parts.join(", ")
    );
    assert!(compare(&schema, &texts([1, 2, 510510, 1021020]), 3));
}

/// A schema of lists of at most two numbers up to 2, of which there are often few.
fn short_list(random: &mut ChaCha8Rng) -> String {
    let first: Vec<String> = (0..2)
        .map(|_| format!(r#"{{"maximum": {}}}"#, random.random_range(0..3)))
        .collect();
    let shortest = random.random_range(0..3);
    let compared = match random.random_range(0..4) {
        0 => r#""not": {"uniqueItems": true}"#,
        1 => r#""contains": {"const": 1}"#,
        _ => r#""uniqueItems": true"#,
    };
    let all = r#"[{"items": {"type": "integer", "minimum": 0}}]"#;
    format!(
        r#"{{"type": "array", "minItems": {shortest}, "maxItems": 2, "prefixItems": [{}], {compared}, "allOf": {all}}}"#,
        first.join(", ")
    )
}

#[test]
fn a_list_of_lists_is_begun_if_and_only_if_it_can_end() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let items: Vec<Vec<String>> = lists(&texts(0..3), 2).iter().map(|list| pieces(list)).collect();
    let mut satisfiable = 0;
    for _ in 0..120 {
        let longest = random.random_range(1..4);
        let shortest = random.random_range(0..=longest);
        let compared = match random.random_range(0..4) {
            0 => r#""not": {"uniqueItems": true}"#.to_owned(),
            1 => format!(
                r#""oneOf": [{{"uniqueItems": true}}, {{"contains": {}}}]"#,
                short_list(&mut random)
            ),
            _ => r#""uniqueItems": true"#.to_owned(),
        };
        let items_of = format!(r#""items": {}"#, short_list(&mut random));
        let judged = match random.random_bool(0.5) {
            true => items_of,
            false => format!(r#""prefixItems": [{}], {items_of}"#, short_list(&mut random)),
        };
        let schema =
            format!(r#"{{"type": "array", "minItems": {shortest}, "maxItems": {longest}, {judged}, {compared}}}"#);
        satisfiable += usize::from(compare(&schema, &items, longest));
    }
    assert!(satisfiable > 60, "{satisfiable} schemas have lists");
}

/// A schema of lists of at most three values, some of which are judged by the definition `c`, and so by the lists that it is a part of.
fn recursive_list(random: &mut ChaCha8Rng) -> String {
    let part = |random: &mut ChaCha8Rng| {
        let parts = [
            r#"{"const": 0}"#,
            r#"{"maxItems": 1}"#,
            r##"{"not": {"$ref": "#/$defs/c"}}"##,
            r##"{"$ref": "#/$defs/c"}"##,
            r##"{"$ref": "#/$defs/c"}"##,
        ];
        *parts.choose(random).unwrap()
    };
    let longest = random.random_range(1..4);
    let shortest = random.random_range(0..=longest);
    let mut keywords = vec![format!(
        r#""type": "array", "maxItems": {longest}, "minItems": {shortest}"#
    )];
    keywords.push(format!(r#""items": {}"#, part(random)));
    if random.random_bool(0.3) {
        keywords.push(format!(r#""prefixItems": [{}]"#, part(random)));
    }
    if random.random_bool(0.4) {
        keywords.push(format!(r#""contains": {}"#, part(random)));
    }
    if random.random_bool(0.9) {
        keywords.push(r#""uniqueItems": true"#.to_owned());
    }
    format!("{{{}}}", keywords.join(", "))
}

#[test]
fn lists_of_lists_of_their_own_kind_are_begun_if_and_only_if_they_can_end() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut documents = vec!["0".to_owned(), "1".to_owned()];
    for _ in 0..2 {
        let longer = lists(&documents[..documents.len().min(7)], 2);
        documents.extend(longer.iter().map(|list| format!("[{}]", list.join(","))));
    }
    let (mut valid, mut satisfiable) = (0, 0);
    for _ in 0..60 {
        let numbers = ["[0]", "[0, 1]", "[2]"].choose(&mut random).unwrap();
        let how = ["anyOf", "oneOf"].choose(&mut random).unwrap();
        let (list, root) = (recursive_list(&mut random), recursive_list(&mut random));
        let schema =
            format!(r#"{{"allOf": [{root}], "$defs": {{"c": {{"{how}": [{{"enum": {numbers}}}, {list}]}}}}}}"#);
        let (set, automaton, start) = loaded(&schema, Style::rfc8259());
        let Some(start) = start else {
            assert!(!documents.iter().any(|document| judge(&set, document)), "{schema}");
            continue;
        };
        satisfiable += 1;
        let mut subject = Subject { set, automaton, start };
        for document in &documents {
            let is_valid = subject.judge(document);
            valid += usize::from(is_valid);
            assert_eq!(subject.accepts(document), is_valid, "{schema}\n{document}");
        }
        for _ in 0..4 {
            let (mut at, mut text) = (subject.start, Vec::new());
            for _ in 0..20 {
                subject.completed(&schema, &text, at);
                let mut allowed = subject.allowed(at);
                allowed.retain(|(byte, _)| b"01[],".contains(byte));
                let Some((byte, next)) = allowed.choose(&mut random).copied() else {
                    break;
                };
                text.push(byte);
                at = next;
            }
        }
    }
    assert!(
        satisfiable > 30 && valid > 100,
        "{satisfiable} schemas, {valid} documents"
    );
}
