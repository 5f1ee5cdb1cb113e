//! [`Family`]: schemas of one kind and a document under each, of any size, whose work has to stay bounded.
//!
//! Every family stands for a construct whose cost once grew faster than the schema or the document. The size `n` is the
//! number of alternatives, conditions, items, names or characters, as the family says.

use serde_json::{Map, Value, json};

/// Schemas of one kind, with a valid document under each.
pub struct Family {
    /// The construct, and the unit of its size.
    pub name: &'static str,
    /// The largest size at which the schema is still one that somebody could write, or that limits on nesting admit.
    pub largest: usize,
    /// The schema of a size.
    pub schema: fn(usize) -> Value,
    /// A valid document under the schema of a size.
    pub document: fn(usize) -> Value,
}

/// All families.
pub const FAMILIES: [Family; 23] = [
    family(
        "late condition",
        4096,
        late_conditions,
        |_| json!({"value": {"p1": "x"}, "kind": "k1"}),
    ),
    family(
        "open alternatives",
        4096,
        open_alternatives,
        |_| json!({"a": {"kind": "k1", "value": {"p1": 1}}}),
    ),
    family(
        "open alternatives, value first",
        4096,
        open_alternatives,
        |_| json!({"a": {"value": {"p1": 1}, "kind": "k1"}}),
    ),
    family(
        "discriminated alternatives",
        4096,
        discriminated,
        |_| json!([{"d0": 1, "k": "v1"}]),
    ),
    family(
        "overlapping alternatives",
        1024,
        overlapping,
        |_| json!([{"p0": 1, "p1": "x"}]),
    ),
    family(
        "unevaluated alternatives",
        256,
        unevaluated,
        |_| json!({"a": {"kind": "k1", "p1_1": "x"}}),
    ),
    family(
        "recursive kinds",
        64,
        recursive_kinds,
        |_| json!({"a": {"b": [{"m0": {"m1": []}}]}}),
    ),
    family(
        "recursive kinds and scalars",
        64,
        recursive_kinds_and_scalars,
        |_| json!({"m0": {"e0": [{"e0": [{"x": "y"}]}]}}),
    ),
    family(
        "contains of objects",
        1024,
        contains_objects,
        |n| json!({"a": (0..n).map(|i| json!({format!("k{i}"): i})).collect::<Value>()}),
    ),
    family(
        "contains of constants",
        1024,
        contains_constants,
        |n| json!({"a": (0..n).collect::<Vec<_>>()}),
    ),
    family(
        "minContains",
        4096,
        |n| json!({"items": {"contains": {"const": 1}, "minContains": n}}),
        |n| json!([vec![1; n]]),
    ),
    family(
        "unique integers",
        4096,
        |_| unique(&json!({"type": "integer"})),
        |n| json!([(0..n).collect::<Vec<_>>()]),
    ),
    family(
        "unique objects",
        4096,
        |_| unique(&json!({"properties": {"a": {"type": "string"}}})),
        |n| {
            json!([(0..n)
                .map(|i| json!({"a": format!("text {i} of many")}))
                .collect::<Value>()])
        },
    ),
    family(
        "unique strings of a few characters",
        4096,
        |_| unique(&json!({"type": "string", "maxLength": 20})),
        |n| json!([(0..n).map(|i| format!("s{i}")).collect::<Vec<_>>()]),
    ),
    family(
        "unique and open patterns, depth",
        64,
        |_| open_pattern(),
        open_pattern_document,
    ),
    family(
        "words in a unique string",
        4096,
        |_| unique(&json!({"type": "string"})),
        |n| json!([[words(n), words(n) + "!"]]),
    ),
    family(
        "words in a key",
        4096,
        |_| json!({"items": {"type": "object"}}),
        |n| json!([{words(n): 1}]),
    ),
    family(
        "words in the names of patternProperties",
        256,
        pattern_words,
        |_| json!([{"the w1 of w2": 7_000}]),
    ),
    family(
        "lookaheads",
        26,
        lookaheads,
        |n| json!({"a": (0..n).map(letter).collect::<String>()}),
    ),
    family(
        "named groups of a regular expression",
        256,
        |_| json!({"items": {"type": "string", "format": "regex"}}),
        |n| json!([(0..n).map(|i| format!("(?<n{i}>a)")).collect::<String>()]),
    ),
    family(
        "optional properties",
        4096,
        |n| json!({"items": strings(n)}),
        |n| json!([members(n)]),
    ),
    family(
        "members of a map",
        4096,
        |_| json!({"items": {"patternProperties": {"^p": {"type": "string"}}, "additionalProperties": {"type": "integer"}}}),
        |n| json!([members(n)]),
    ),
    family(
        "tools",
        1024,
        tools,
        |_| json!([{"name": "tool_1", "arguments": {"arg_1_0": "x"}}]),
    ),
];

const fn family(
    name: &'static str,
    largest: usize,
    schema: fn(usize) -> Value,
    document: fn(usize) -> Value,
) -> Family {
    Family {
        name,
        largest,
        schema,
        document,
    }
}

fn each(n: usize, make: impl FnMut(usize) -> Value) -> Value {
    (0..n).map(make).collect()
}

fn properties(n: usize, mut make: impl FnMut(usize) -> (String, Value)) -> Map<String, Value> {
    (0..n).map(&mut make).collect()
}

fn letter(i: usize) -> char {
    char::from(b'a' + (i % 26) as u8)
}

fn words(n: usize) -> String {
    let words: Vec<String> = (0..n).map(|i| format!("w{i}")).collect();
    words.join(" ")
}

fn members(n: usize) -> Value {
    properties(n, |i| (format!("p{i}"), json!("x"))).into()
}

fn strings(n: usize) -> Value {
    json!({"type": "object", "properties": properties(n, |i| (format!("p{i}"), json!({"type": "string"})))})
}

/// An object of which `n` conditions on one member decide the value that an earlier member must have.
fn late_conditions(n: usize) -> Value {
    let conditions = each(n, |i| {
        let value = json!({"type": "object", "properties": {format!("p{i}"): {"type": "string"}}, "required": [format!("p{i}")]});
        json!({
            "if": {"properties": {"kind": {"const": format!("k{i}")}}, "required": ["kind"]},
            "then": {"properties": {"value": value}},
        })
    });
    json!({"type": "object", "allOf": conditions})
}

/// `oneOf` of `n` objects told apart by a member that is not required, each with another object for the same member.
fn open_alternatives(n: usize) -> Value {
    let alternatives = each(n, |i| {
        let value = json!({"type": "object", "properties": {format!("p{i}"): {"type": "integer"}}});
        json!({"type": "object", "properties": {"kind": {"const": format!("k{i}")}, "value": value}})
    });
    json!({"type": "object", "additionalProperties": {"oneOf": alternatives}})
}

/// `anyOf` of `n` objects told apart by a constant, with a member that may come before it.
fn discriminated(n: usize) -> Value {
    let alternatives = each(n, |i| {
        let members = json!({"k": {"const": format!("v{i}")}, format!("d{}", i % 7): {"type": "integer"}});
        json!({"type": "object", "properties": members, "required": ["k"]})
    });
    json!({"items": {"anyOf": alternatives}})
}

/// `oneOf` of `n` objects, each of which shares a member with the next.
fn overlapping(n: usize) -> Value {
    let alternatives = each(n, |i| {
        let (this, next) = (format!("p{i}"), format!("p{}", i + 1));
        let members = json!({this.clone(): {"type": "integer"}, next: {"type": "string"}});
        json!({"type": "object", "properties": members, "required": [this]})
    });
    json!({"items": {"oneOf": alternatives}})
}

/// `oneOf` of `n` objects told apart by a required constant, each with eight names of its own, closed from outside.
fn unevaluated(n: usize) -> Value {
    let alternatives = each(n, |i| {
        let mut members = properties(8, |name| (format!("p{i}_{name}"), json!({"type": "string"})));
        members.insert("kind".to_owned(), json!({"const": format!("k{i}")}));
        json!({"type": "object", "properties": members, "required": ["kind"]})
    });
    let closed = json!({"type": "object", "allOf": [{"oneOf": alternatives}], "unevaluatedProperties": false});
    json!({"type": "object", "additionalProperties": closed})
}

fn reference(name: &str, i: usize) -> Value {
    json!({"$ref": format!("#/definitions/{name}{i}")})
}

/// `n` kinds of objects: every member of one is of its kind or a list of these, and certain members of the others as well.
fn recursive_kinds(n: usize) -> Value {
    let mut definitions = Map::new();
    for i in 0..n {
        let kind = reference("kind", i);
        let list = json!({"type": "array", "items": kind.clone()});
        definitions.insert(
            format!("any{i}"),
            json!({"additionalProperties": {"anyOf": [kind, list]}}),
        );
        let members = properties(n, |other| (format!("m{other}"), reference("any", other)));
        let kind = json!({"type": "object", "allOf": [reference("any", i)], "properties": members});
        definitions.insert(format!("kind{i}"), kind);
    }
    let list = json!({"type": "array", "items": reference("kind", 0)});
    let a = json!({"allOf": [reference("any", 0)], "properties": {"b": list}});
    json!({"definitions": definitions, "type": "object", "properties": {"a": a}})
}

/// `n` recursive kinds of objects with scalars beside them, each with a list of its own, and members of every kind.
fn recursive_kinds_and_scalars(n: usize) -> Value {
    let mut definitions = Map::new();
    let base = properties(n, |i| (format!("m{i}"), reference("any", i)));
    definitions.insert("base".to_owned(), json!({"properties": base.clone()}));
    for i in 0..n {
        let kinds = json!({"type": "array", "items": reference("kind", i)});
        let any = json!({"properties": {format!("e{i}"): kinds}, "patternProperties": {"": reference("list", i)}});
        definitions.insert(format!("any{i}"), any);
        let kind = json!({"type": "object", "allOf": [{"$ref": "#/definitions/base"}, reference("any", i)]});
        definitions.insert(format!("kind{i}"), kind);
        let one = reference("one", i);
        let list = json!({"oneOf": [one.clone(), {"type": "array", "items": one}]});
        definitions.insert(format!("list{i}"), list);
        let one = json!({"oneOf": [reference("kind", i), {"type": "string"}, {"type": "number"}]});
        definitions.insert(format!("one{i}"), one);
    }
    json!({"definitions": definitions, "type": "object", "properties": base})
}

fn contains_objects(n: usize) -> Value {
    let all = each(
        n,
        |i| json!({"contains": {"properties": {format!("k{i}"): {"type": "integer"}}, "required": [format!("k{i}")]}}),
    );
    json!({"properties": {"a": {"type": "array", "allOf": all}}})
}

fn contains_constants(n: usize) -> Value {
    json!({"properties": {"a": {"type": "array", "allOf": each(n, |i| json!({"contains": {"const": i}}))}}})
}

/// A list of lists whose items of a kind have to differ.
fn unique(items: &Value) -> Value {
    json!({"type": "array", "items": {"uniqueItems": true, "items": items}})
}

/// Lists inside one another whose items have to differ, where one alternative of the items has a pattern for a string.
fn open_pattern() -> Value {
    let text = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let members = json!({
        "m": {"type": "string"},
        "s": {"type": "string", "pattern": "^[a-z][a-z. -]*$"},
        "p": {"$ref": "#/definitions/list"},
    });
    let nested = json!({"type": "object", "properties": members, "required": ["m"]});
    let list = json!({"type": "array", "uniqueItems": true, "items": {"anyOf": [text, nested]}});
    json!({"definitions": {"list": list}, "$ref": "#/definitions/list"})
}

fn open_pattern_document(n: usize) -> Value {
    let innermost = json!([{"m": "x", "s": "variable.parameter.man"}]);
    (1..n).fold(innermost, |inner, _| json!([{"m": "x", "p": inner}]))
}

/// Names told apart by `n` words that they contain, no other names allowed.
fn pattern_words(n: usize) -> Value {
    let patterns = properties(n, |i| (format!("w{i}"), json!({"minimum": i})));
    json!({"items": {"patternProperties": patterns, "additionalProperties": false}})
}

fn lookaheads(n: usize) -> Value {
    let lookaheads: String = (0..n).map(|i| format!("(?=.*{})", letter(i))).collect();
    json!({"properties": {"a": {"type": "string", "pattern": format!("^{lookaheads}")}}})
}

/// A list of calls of `n` tools, told apart by their names.
pub fn tools(n: usize) -> Value {
    let calls = each(n, |i| {
        let arguments = json!({
            "type": "object",
            "properties": properties(3, |argument| (format!("arg_{i}_{argument}"), json!({"type": "string"}))),
            "required": [format!("arg_{i}_0")],
            "additionalProperties": false,
        });
        json!({
            "type": "object",
            "properties": {"name": {"const": format!("tool_{i}")}, "arguments": arguments},
            "required": ["name", "arguments"],
            "additionalProperties": false,
        })
    });
    json!({"type": "array", "items": {"anyOf": calls}})
}
