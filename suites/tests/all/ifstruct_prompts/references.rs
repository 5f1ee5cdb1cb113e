//! Every sample can be satisfied, and what breaks a rule is told from what does not.

use std::collections::BTreeMap;

use jsonschema::Validator;
use maskwright_suites::ifstruct::{Count, Level, OutputFormat, Sample, Scorer, Split, reference};
use serde_json::{Value, json};

use super::mutations::mutations;
use super::samples;

/// The sample's schema with what its format implies: no further keys.
fn validator(sample: &Sample) -> Validator {
    fn close(schema: &mut Value) {
        let Some(members) = schema.as_object_mut() else { return };
        if let Some(Value::Object(properties)) = members.get_mut("properties") {
            properties.values_mut().for_each(close);
            members.insert("additionalProperties".to_owned(), json!(false));
        }
        if let Some(items) = members.get_mut("items") {
            close(items);
        }
    }
    let mut schema = Value::Object(sample.json_schema.clone());
    close(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn every_sample_can_be_satisfied() {
    for split in [Split::Train, Split::Test] {
        for sample in samples(split, 21, 400) {
            let validator = validator(&sample);
            let plain = reference::plain_reply(&sample).unwrap();
            assert!(plain.is_ascii() || !sample.prompt.is_ascii(), "{plain}");
            for seed in 0..3 {
                let items = reference::items(&sample, seed).unwrap();
                match sample.top_level_count.unwrap() {
                    Count::Exactly(exact) => assert_eq!(items.len() as u64, exact),
                    Count::Between(low, high) => assert!((low..=high).contains(&(items.len() as u64))),
                }
                let value = Value::Array(items);
                let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{errors:?}: {value} under {:?}", sample.json_schema);
                let reply = reference::reply(&sample, seed).unwrap();
                assert_eq!(reply, reference::reply(&sample, seed).unwrap());
                for (level, reply) in [Level::Public, Level::Strict]
                    .into_iter()
                    .flat_map(|level| [(level, &reply), (level, &plain)])
                {
                    let score = Scorer::new(&sample, level).unwrap().score(reply);
                    assert!(score.passed, "{level:?}: {:?}\n{reply}", score.failures);
                }
                assert_eq!(plain.starts_with("```"), sample.require_code_block);
                assert!(!sample.require_code_block || reply.starts_with("```"));
                assert!(!sample.forbid_code_block || !reply.starts_with("```"));
                if sample.output_format == OutputFormat::Json {
                    let body = reply
                        .trim_start_matches("```json")
                        .trim_start_matches("```")
                        .trim_end_matches("```");
                    let read: Value = serde_json::from_str(body).unwrap();
                    let list = match &sample.top_level_key {
                        Some(key) => &read[key],
                        None => &read,
                    };
                    assert_eq!(*list, value);
                }
            }
        }
    }
}

#[test]
fn mutations_break_what_they_say() {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for split in [Split::Train, Split::Test] {
        for sample in samples(split, 22, 100) {
            let validator = validator(&sample);
            let replies: Vec<String> = (0..2).map(|seed| reference::reply(&sample, seed).unwrap()).collect();
            let scorer = Scorer::new(&sample, Level::Public).unwrap();
            for mutation in mutations(&sample, 1) {
                let score = scorer.score(&mutation.reply);
                let mut found = score
                    .failures
                    .iter()
                    .map(|failure| serde_json::to_value(failure.kind).unwrap());
                assert!(
                    found.any(|kind| kind == mutation.violates),
                    "{}: {:?}\n{}",
                    mutation.name,
                    score.failures,
                    mutation.reply
                );
                *kinds.entry(mutation.violates).or_default() += 1;
                assert!(!replies.contains(&mutation.reply), "{} changes nothing", mutation.name);
                if let Some(items) = mutation.items {
                    assert!(
                        !validator.is_valid(&Value::Array(items.clone())),
                        "{}: {items:?}",
                        mutation.name
                    );
                }
            }
        }
    }
    let all = [
        "array_length",
        "commentary",
        "extra_field",
        "forbidden_code_block",
        "item_count",
        "missing_code_block",
        "missing_field",
        "missing_wrapper",
        "no_data",
        "not_in_enum",
        "out_of_bounds",
        "syntax",
        "trailing_content",
        "unclosed_code_block",
        "unexpected_wrapper",
        "wrong_fence_language",
        "wrong_format",
        "wrong_type",
        "wrong_wrapper_key",
    ];
    assert_eq!(kinds.keys().copied().collect::<Vec<&str>>(), all);
}
