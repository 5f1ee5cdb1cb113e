#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Call, RequestSet, ToolRequest, ToolRequestError, judge};
use crate::dataset::Subsample;

fn builtin() -> Vec<ToolRequest> {
    RequestSet::builtin(Subsample::default()).unwrap().requests
}

fn request(id: &str) -> ToolRequest {
    builtin().into_iter().find(|request| request.id == id).unwrap()
}

fn call(name: &str, arguments: Value) -> Call {
    let Value::Object(arguments) = arguments else {
        panic!("{arguments}")
    };
    Call {
        name: name.to_owned(),
        arguments,
        repeated: None,
    }
}

/// Returns the verdict on calls: parsed, right functions, valid arguments, accepted.
fn judged(id: &str, calls: &[Call]) -> [bool; 4] {
    let judgement = judge(&request(id), &Ok(calls.to_vec()));
    assert_eq!(judgement.calls, calls.len());
    let all = [
        judgement.parsed,
        judgement.right_functions,
        judgement.valid_arguments,
        judgement.accepted,
    ];
    assert_eq!(judgement.problem.is_none(), all == [true; 4], "{judgement:?}");
    all
}

/// Returns arguments in which every accepted value occurs; all combinations would be many.
fn variants(arguments: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let longest = arguments.values().map(|values| values.as_array().unwrap().len()).max();
    let variant = |at: usize| {
        let chosen = arguments.iter().filter_map(|(name, values)| {
            let values = values.as_array().unwrap();
            let value = &values[at.min(values.len() - 1)];
            (value != "").then(|| (name.clone(), plain(value)))
        });
        chosen.collect()
    };
    (0..longest.unwrap_or(1)).map(variant).collect()
}

/// Returns an accepted value as a plain value: objects have the first accepted value of each member.
fn plain(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(variants(members).remove(0)),
        Value::Array(items) => items.iter().map(plain).collect(),
        value => value.clone(),
    }
}

#[test]
fn every_accepted_answer_of_the_sample_is_valid_and_right() {
    let requests = builtin();
    assert_eq!(requests.len(), 40);
    let mut names: Vec<String> = Vec::new();
    for request in &requests {
        names.extend(request.functions.iter().map(|function| function.name.clone()));
        let choices: Vec<Vec<Map<String, Value>>> =
            request.expected.iter().map(|call| variants(&call.arguments)).collect();
        for at in 0..choices.iter().map(Vec::len).max().unwrap_or(1) {
            let calls = request.expected.iter().zip(&choices).map(|(expected, variants)| {
                let arguments = variants[at.min(variants.len() - 1)].clone();
                call(&expected.name, arguments.into())
            });
            let judgement = judge(request, &Ok(calls.collect()));
            assert!(
                judgement.valid_arguments && judgement.accepted,
                "{}: {judgement:?}",
                request.id
            );
        }
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 20);
    let declined = requests.iter().filter(|request| request.expected.is_empty());
    assert_eq!(declined.count(), 6);
}

#[test]
fn calls_are_judged_step_by_step() {
    let all = [true; 4];
    let light = |room: &str, on: bool| call("switch_light", json!({"room": room, "on": on}));
    assert_eq!(
        judged("parallel_02", &[light("kitchen", true), light("bedroom", false)]),
        all
    );
    assert_eq!(
        judged("parallel_02", &[light("bedroom", false), light("kitchen", true)]),
        all,
        "in any order"
    );
    assert_eq!(
        judged("parallel_02", &[light("bedroom", true), light("kitchen", true)]),
        [true, true, true, false]
    );
    assert_eq!(
        judged("parallel_02", &[light("kitchen", true), light("kitchen", true)]),
        [true, true, true, false],
        "one call is not two"
    );
    assert_eq!(
        judged("parallel_02", &[light("kitchen", true), light("garage", false)]),
        [true, true, false, false]
    );
    assert_eq!(
        judged("parallel_02", &[light("kitchen", true)]),
        [true, false, false, false]
    );
    assert_eq!(judged("parallel_02", &[]), [false; 4]);
    assert_eq!(judged("none_01", &[]), all);
    let weather = call("get_weather", json!({"city": "Oslo"}));
    assert_eq!(judged("none_01", &[weather]), [true, false, false, false]);
    let unreadable = judge(&request("none_01"), &Err("no end".to_owned()));
    assert!(!unreadable.parsed && !unreadable.accepted);
    let mut repeated = call("roll_dice", json!({"count": 5, "sides": 6}));
    repeated.repeated = Some("count".to_owned());
    assert_eq!(judged("simple_11", &[repeated]), [true, true, false, true]);
}

#[test]
fn values_are_accepted_as_bfcl_does() {
    let weather = |arguments| judged("simple_01", &[call("get_weather", arguments)])[3];
    assert!(weather(json!({"city": "oslo", "days": 3})));
    assert!(weather(json!({"city": "O-s l_o.", "days": 3.0})));
    for wrong in [
        json!({"city": "Oslo"}),
        json!({"city": "Oslo", "days": 4}),
        json!({"city": "Oslo", "days": "3"}),
        json!({"city": "Oslo", "days": 3, "unit": "kelvin"}),
        json!({"city": "Oslo", "days": 3, "country": "Norway"}),
    ] {
        assert!(!weather(wrong.clone()), "{wrong}");
    }
    let basket = |items| judged("simple_13", &[call("add_to_basket", json!({"items": items}))])[3];
    assert!(basket(
        json!([{"name": "Lemons", "quantity": 3}, {"name": "bread", "quantity": 1}])
    ));
    assert!(!basket(
        json!([{"name": "bread", "quantity": 1}, {"name": "lemon", "quantity": 3}])
    ));
    assert!(!basket(json!([{"name": "lemon"}, {"name": "bread", "quantity": 1}])));
    let switch = |on| {
        judged(
            "several_03",
            &[call("switch_light", json!({"room": "office", "on": on}))],
        )[3]
    };
    assert!(switch(json!(false)) && !switch(json!(0)));
}

/// A call that fits two right calls is matched with the one that no other call fits.
#[test]
fn right_calls_are_matched_as_a_whole() {
    let directory = tempfile::tempdir().unwrap();
    let function = json!({"name": "f", "description": "", "parameters": {"type": "dict", "properties": {"a": {"type": "integer"}}}});
    let question = json!({"id": "1", "question": [[{"role": "user", "content": "?"}]], "function": [function]});
    let truth = json!({"id": "1", "ground_truth": [{"f": {"a": [1, 2]}}, {"f": {"a": [1]}}, {"f": {"a": [2, 3]}}]});
    let path = files(directory.path(), &question.to_string(), Some(&truth.to_string()));
    let set = RequestSet::read(&path, Subsample::default()).unwrap();
    let of = |values: [i32; 3]| {
        let calls = values.map(|value| call("f", json!({"a": value})));
        judge(&set.requests[0], &Ok(calls.to_vec())).accepted
    };
    assert!(of([1, 2, 3]) && of([1, 1, 2]) && of([1, 2, 2]) && of([3, 2, 1]));
    assert!(!of([2, 2, 2]) && !of([1, 1, 1]) && !of([2, 3, 3]));
}

fn files(directory: &Path, questions: &str, answers: Option<&str>) -> std::path::PathBuf {
    let path = directory.join("calls.json");
    fs::write(&path, questions).unwrap();
    if let Some(answers) = answers {
        fs::create_dir_all(directory.join("possible_answer")).unwrap();
        fs::write(directory.join("possible_answer/calls.json"), answers).unwrap();
    }
    path
}

#[test]
fn types_of_bfcl_become_those_of_json_schema() {
    let directory = tempfile::tempdir().unwrap();
    let parameters = json!({"type": "dict", "properties": {
        "a": {"type": "float"}, "b": {"type": "any"}, "c": {"type": "tuple", "items": {"type": "dict", "properties": {"d": {"type": "list"}}}},
        "e": {"type": "HashMap"}, "f": {"enum": [1]}, "g": {"type": "date"}}, "required": ["a"]});
    let function = json!({"name": "f", "description": "", "parameters": parameters});
    let question = json!({"id": "1", "question": [[{"role": "user", "content": "?"}]], "function": [function]});
    let path = directory.path().join("irrelevance.json");
    fs::write(&path, question.to_string()).unwrap();
    let set = RequestSet::read(&path, Subsample::default()).unwrap();
    assert_eq!((&set.name[..], set.requests[0].expected.len()), ("irrelevance", 0));
    assert_eq!(
        set.requests[0].functions[0].parameters,
        json!({"type": "object", "properties": {
            "a": {"type": "number"}, "b": {"type": "string"},
            "c": {"type": "array", "items": {"type": "object", "properties": {"d": {"type": "array"}}, "additionalProperties": false}},
            "e": {"type": "object"}, "f": {"enum": [1]}, "g": {"type": "string"}}, "required": ["a"], "additionalProperties": false})
    );
}

#[test]
fn what_is_no_request_is_refused_with_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let function = json!([{"name": "f", "description": "", "parameters": {"type": "dict", "properties": {}}}]);
    let message = json!([[{"role": "user", "content": "?"}]]);
    let question =
        |function: &Value, question: &Value| json!({"id": "1", "question": question, "function": function}).to_string();
    let good = question(&function, &message);
    let truth = r#"{"id": "1", "ground_truth": [{"f": {}}]}"#;
    let read = |questions: &str, answers: Option<&str>| {
        let path = files(directory.path(), questions, answers);
        RequestSet::read(&path, Subsample::default())
    };
    assert!(matches!(read(&good, None), Err(ToolRequestError::NoAnswers { .. })));
    assert_eq!(read(&good, Some(truth)).unwrap().requests.len(), 1);
    assert!(matches!(read("\n", Some(truth)), Err(ToolRequestError::Empty { .. })));
    let twice = json!([function[0], function[0]]);
    let no_schema = json!([{"name": "f", "parameters": {"type": "dict", "required": 3}}]);
    let turns = json!([message[0], message[0]]);
    let twice_answered = format!("{truth}\n{truth}");
    for (questions, answers, at, words) in [
        (format!("{good}\n[1]"), truth, 2, "JSON object"),
        (format!("{good}\n{{"), truth, 2, "line 1"),
        (format!("{good}\n\n{good}"), truth, 3, "earlier line has the id 1"),
        (good.clone(), twice_answered.as_str(), 2, "earlier line has the id 1"),
        (question(&json!(3), &message), truth, 1, "`function`"),
        (question(&twice, &message), truth, 1, "two functions"),
        (question(&no_schema, &message), truth, 1, "function f"),
        (question(&json!(["g"]), &message), truth, 1, "no function is called g"),
        (question(&function, &turns), truth, 1, "several turns"),
        (good.clone(), r#"{"id": "2", "ground_truth": []}"#, 1, "the id 1"),
        (
            good.clone(),
            r#"{"id": "1", "ground_truth": [{"g": {}}]}"#,
            1,
            "calls g",
        ),
        (
            good.clone(),
            r#"{"id": "1", "ground_truth": [{"f": {"a": 3}}]}"#,
            1,
            "`ground_truth`",
        ),
    ] {
        let error = read(&questions, Some(answers)).unwrap_err();
        let ToolRequestError::Line { line, problem, .. } = &error else {
            panic!("{questions}: {error}")
        };
        assert!(*line == at && problem.contains(words), "{questions}: {error}");
    }
}
