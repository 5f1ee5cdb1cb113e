//! Tests of styles: every value has a text in each style, and no text of another style is accepted.

use super::*;

/// A value whose numbers and strings are written without escapes and exponents.
#[derive(Clone, Debug)]
enum Tree {
    Scalar(&'static str),
    Array(Vec<Tree>),
    Object(Vec<(&'static str, Tree)>),
}

fn tree(random: &mut ChaCha8Rng, depth: u32) -> Tree {
    match random.random_range(0..if depth == 0 { 3 } else { 6 }) {
        0 => Tree::Scalar(["null", "true", "false"].choose(random).unwrap()),
        1 => Tree::Scalar(["0", "1", "-1", "10", "1.5", "5", "2", "-2.5"].choose(random).unwrap()),
        2 => Tree::Scalar([r#""""#, r#""a""#, r#""ab""#, r#""ab1""#].choose(random).unwrap()),
        3 | 4 => {
            let mut names = vec![r#""a""#, r#""ab""#, r#""b""#, r#""c""#];
            names.retain(|_| random.random_bool(0.5));
            let members = names.into_iter().map(|name| (name, tree(random, depth - 1)));
            Tree::Object(members.collect())
        }
        _ => Tree::Array(
            (0..random.random_range(0..4))
                .map(|_| tree(random, depth - 1))
                .collect(),
        ),
    }
}

/// Every text of a value, with its members in every order.
fn texts(tree: &Tree) -> Vec<String> {
    let each = |parts: Vec<Vec<String>>| {
        parts
            .into_iter()
            .fold(vec![Vec::new()], |lists: Vec<Vec<String>>, part| {
                let longer = |list: &Vec<String>| {
                    let list = list.clone();
                    part.iter()
                        .map(move |text| [&list[..], std::slice::from_ref(text)].concat())
                        .collect::<Vec<_>>()
                };
                lists.iter().flat_map(longer).collect()
            })
    };
    match tree {
        Tree::Scalar(text) => vec![(*text).to_owned()],
        Tree::Array(items) => {
            let lists = each(items.iter().map(texts).collect());
            lists.iter().map(|items| format!("[{}]", items.join(","))).collect()
        }
        Tree::Object(members) => {
            let member =
                |(name, value): &(&str, Tree)| texts(value).iter().map(|value| format!("{name}:{value}")).collect();
            let lists = each(members.iter().map(member).collect());
            let orders = lists.into_iter().flat_map(permutations);
            orders.map(|members| format!("{{{}}}", members.join(","))).collect()
        }
    }
}

fn permutations(list: Vec<String>) -> Vec<Vec<String>> {
    if list.len() < 2 {
        return vec![list];
    }
    let with_first = |first: usize| {
        let mut rest = list.clone();
        let first = rest.remove(first);
        permutations(rest)
            .into_iter()
            .map(move |rest| [&[first.clone()][..], &rest].concat())
    };
    (0..list.len()).flat_map(with_first).collect()
}

#[test]
fn every_valid_value_has_a_text_in_the_schemas_order() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let trees: Vec<Vec<String>> = (0..600)
        .map(|_| texts(&tree(&mut random, 2)))
        .filter(|texts| texts.len() < 200)
        .collect();
    for schema in SCHEMAS.into_iter().chain(DEPENDENT).chain(super::order::CONTESTED) {
        let mut subject = styled(schema, Style::generation());
        for texts in &trees {
            let valid = subject.judge(&texts[0]);
            let accepted: Vec<&String> = texts.iter().filter(|text| subject.accepts(text)).collect();
            assert_eq!(!accepted.is_empty(), valid, "{schema}\n{}", texts[0]);
            for text in accepted {
                let value: serde_json::Value = serde_json::from_str(text).unwrap();
                let indented = serde_json::to_string_pretty(&value).unwrap();
                let deeper = indented.replace("  ", "    ");
                let tabs = indented.replace("  ", "\t");
                let spaced = text.replace(':', ": ").replace(',', ", ");
                for text in [indented, deeper, tabs, spaced] {
                    assert!(subject.accepts(&text), "{schema}\n{text}");
                }
            }
        }
    }
}

#[test]
fn walks_in_every_style_come_to_an_end() {
    for whitespace in [Whitespace::Compact, Whitespace::Bounded { indent: 2 }] {
        let style = Style {
            whitespace,
            ..Style::generation()
        };
        let schemas = [&SCHEMAS[..], &super::order::CONTESTED].concat();
        let ended = walk(style, &schemas, 120, &mut |text| {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            let compact = serde_json::to_string(&value).unwrap();
            if whitespace == Whitespace::Compact {
                assert_eq!(text.len(), compact.len(), "{text}");
            }
        });
        assert!(
            ended >= schemas.len() - 4,
            "walks came to an end under {ended} schemas only"
        );
    }
}

#[test]
fn a_style_refuses_what_is_in_another() {
    let schema = r#"{"properties": {"b": {"type": "integer"}, "a": {"items": {}}}, "required": ["z"]}"#;
    let accepts = |text: &str| styled(schema, Style::generation()).accepts(text);
    for text in [
        r#"{"b": 1, "a": [1.5, "é/"], "z": {}, "y": null, "c": -0.50}"#,
        "{\n\t\"z\":\t1\n}".replace(":\t", ": ").as_str(),
        "{\n        \"z\": [\n]}".replace("        ", "    ").as_str(),
        r#"{"z":"\n\u001f"}"#,
    ] {
        assert!(accepts(text), "{text}");
    }
    for text in [
        r#"{"a":[],"b":1,"z":1}"#,
        r#"{"z":1,"b":1}"#,
        r#"{"y":1,"z":1}"#,
        r#"{"b":1.0,"z":1}"#,
        r#"{"z":1e2}"#,
        r#"{"z":"\u0041"}"#,
        r#"{"z":"\/"}"#,
        r#"{"\u007a":1}"#,
        r#"{"z":  1}"#,
        r#"{ "z":1}"#,
        r#"{"z" :1}"#,
        "{\n     \"z\":1}",
        "{\n\n\"z\":1}",
        "{\"z\":1\n,\"y\":1}",
        "{\"z\":1}\n",
        " {\"z\":1}",
    ] {
        assert!(!accepts(text), "{text}");
    }
}

/// Numbers that a style cannot write are no values, whatever is excluded.
#[test]
fn exclusions_leave_no_numbers_that_the_style_cannot_write() {
    let schema =
        r#"{"type": "array", "minItems": 2, "uniqueItems": true, "not": {"contains": {"not": {"type": "null"}}}}"#;
    for style in [Style::rfc8259(), Style::generation()] {
        let set = SchemaSet::load(schema, &SchemaOptions::default()).unwrap();
        let (mut automaton, root) = alone(set, Formats::Annotation, style).unwrap();
        assert!(automaton.start(root).unwrap().is_none());
    }
}

/// From every state of random walks, the completion found ends the document, and the document is valid.
#[test]
fn completions_end_documents() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let closed = Style {
        closed: true,
        ..Style::generation()
    };
    for style in [Style::rfc8259(), Style::generation(), closed] {
        for schema in SCHEMAS.into_iter().chain(DEPENDENT).chain(super::order::CONTESTED) {
            let mut subject = styled(schema, style);
            for _ in 0..20 {
                let (mut at, mut text) = (subject.start, Vec::new());
                for _ in 0..40 {
                    subject.completed(schema, &text, at);
                    let allowed = subject.allowed(at);
                    let Some((byte, next)) = allowed.choose(&mut random).copied() else {
                        break;
                    };
                    text.push(byte);
                    at = next;
                }
            }
        }
    }
}

/// An end is found even where a search would have to look at many states.
#[test]
fn completions_are_found_where_they_are_far_or_many() {
    let names = (0..300).map(|number| format!(r#""p{number}": {{"type": "integer"}}"#));
    let names = names.collect::<Vec<_>>().join(",");
    let many = format!(r#"{{"properties": {{{names}}}, "minProperties": 150, "additionalProperties": false}}"#);
    let either = r#"{"properties": {"a": {}, "b": {}, "c": {}, "d": {}}, "additionalProperties": false,
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}"#;
    // The order of the keys of `m` depends on the branch that holds; an item that comes again has the order of the items.
    let open = r#"{"type": "object", "properties": {"m": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}, "required": ["m"],
        "anyOf": [{"properties": {"m": {"properties": {"z": {"type": "integer"}}, "required": ["z"]}}},
            {"required": ["q"], "properties": {"q": {"type": "string", "minLength": 50}}}]}"#;
    let behind = format!(r#"{{"properties": {{"x": {{"type": "string"}}, "y": {open}}}, "required": ["x", "y"]}}"#);
    let again = r#"{"type": "array", "not": {"uniqueItems": true}, "items": {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "integer"}},
        "required": ["b", "a"], "additionalProperties": false}}"#;
    // Each member is a list that may contain the object that it is a member of.
    let members = (0..130).map(|number| {
        format!(r##""p{number}": {{"type": "array", "anyOf": [{{"contains": {{"$ref": "#"}}}}, {{"contains": {{"const": {number}}}}}]}}"##)
    });
    let members = members.collect::<Vec<_>>().join(",");
    let required = (0..130)
        .map(|number| format!(r#""p{number}""#))
        .collect::<Vec<_>>()
        .join(",");
    let each_may_be_the_whole =
        format!(r#"{{"type": "object", "required": [{required}], "properties": {{{members}}}}}"#);
    // An item that violates `items` is too long as the first one, and short as the second.
    let violations_of_two_lengths = r#"{"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": [true, {"maxItems": 3}],
        "not": {"items": {"maxItems": 40000, "not": {"contains": {"const": "a"}}}}}"#;
    let cases = [
        (open, ""),
        (open, "{"),
        (&behind, r#"{"x":""#),
        (again, r#"[{"b":1,"a":2}"#),
        (r#"{"uniqueItems": true, "contains": {"const": "x"}}"#, "["),
        (r#"{"uniqueItems": true, "contains": {"type": "integer"}}"#, r#"["a""#),
        (r#"{"uniqueItems": true, "minItems": 300}"#, "["),
        (&each_may_be_the_whole, ""),
        (violations_of_two_lengths, ""),
        (
            r##"{"anyOf": [{"type": "array", "items": {"$ref": "#"}, "minItems": 2, "maxItems": 2},
                {"type": "array", "prefixItems": [{"not": {"$ref": "#"}}], "uniqueItems": true, "minItems": 1, "maxItems": 1}]}"##,
            "",
        ),
        (r#"{"minItems": 2000}"#, "["),
        (r#"{"multipleOf": 86400}"#, "1"),
        (r#"{"multipleOf": 1000003, "type": "integer"}"#, "1"),
        (r#"{"multipleOf": 1000003, "minimum": 1}"#, ""),
        (r#"{"const": 1234567890123456789012345678901234567890}"#, ""),
        (r#"{"enum": [-0.1234567890123456789012345678901234567890]}"#, ""),
        (r#"{"type": "string", "minLength": 20000}"#, "\""),
        (&many, "{"),
        (&many, r#"{"p7":1,"#),
        (either, r#"{"a":1,"c":2,"#),
        (either, r#"{"a":1,"#),
        (
            r#"{"required": ["a", "b", "c"], "properties": {"b": {"type": "boolean"}}}"#,
            r#"{"b":true,"#,
        ),
    ];
    // With exponents every digit can be followed by others that make a multiple.
    let exponents = [
        (r#"{"multipleOf": 99999.99}"#, "3.1"),
        (r#"{"multipleOf": 7777777}"#, "5."),
        (r#"{"multipleOf": 0.7777777}"#, "0.00"),
        (r#"{"multipleOf": 12345678901234567890}"#, "-7.1"),
        (r#"{"multipleOf": 1000.003, "minimum": 5000}"#, "4.0"),
    ];
    let exponents = exponents.into_iter().map(|case| (Style::rfc8259(), case));
    let cases = [Style::rfc8259(), Style::generation()]
        .into_iter()
        .flat_map(|style| cases.map(|case| (style, case)));
    for (style, (schema, prefix)) in cases.chain(exponents) {
        let mut subject = styled(schema, style);
        let at = subject
            .automaton
            .read_bytes(subject.start, prefix.as_bytes())
            .unwrap()
            .unwrap();
        subject.completed(schema, prefix.as_bytes(), at);
    }
}

/// A list that violates `q` contains such a list or object. The list is refused as a whole while its own text is looked for: place by place, that
/// came to a limit.
#[test]
fn completions_of_values_that_contain_one_another_are_found() {
    let schema = r##"{"not": {"$ref": "#/$defs/q"}, "$defs": {"q": {"items": {"$ref": "#/$defs/q"}, "additionalProperties": {"type": "boolean"}}}}"##;
    let style = Style {
        closed: true,
        all_required: true,
        ..Style::generation()
    };
    let mut subject = styled(schema, style);
    subject.completed(schema, b"", subject.start);
}
