//! The embedded sample is whole, valid, satisfiable, and shows every kind of schema it is meant to show.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use maskwright_suites::dataset::{BUILTIN, Catalog, Dataset, Subsample};
use maskwright_suites::strict_json;
use maskwright_suites::validate::Validator;
use serde_json::Value;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/builtin")
}

fn stems(directory: &Path) -> BTreeSet<String> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    files
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn sample() -> Dataset {
    Catalog::builtin()
        .select(&[BUILTIN], Subsample::default())
        .unwrap()
        .remove(0)
}

#[test]
fn every_file_is_listed_once_and_has_instances() {
    let dataset = sample();
    let listed: Vec<String> = dataset.instances.iter().map(|instance| instance.id.clone()).collect();
    assert!(listed.is_sorted() && listed.len() >= 48);
    let listed: BTreeSet<String> = listed.into_iter().collect();
    assert_eq!(listed, stems(&directory()));
    assert_eq!(listed, stems(&directory().join("instances")));
}

#[test]
fn every_schema_accepts_and_rejects_its_instances() {
    for instance in sample().instances {
        let id = &instance.id;
        let validator =
            Validator::new(instance.schema.as_ref().unwrap()).unwrap_or_else(|problem| panic!("{id}: {problem}"));
        let text = fs::read_to_string(directory().join("instances").join(format!("{id}.json"))).unwrap();
        let instances = strict_json::parse(&text, 64).unwrap().value;
        for (list, expected) in [("valid", true), ("invalid", false)] {
            let values = instances[list].as_array().unwrap();
            assert!(!values.is_empty(), "{id}");
            for value in values {
                let verdict = validator.judge_value(value);
                assert_eq!(verdict.valid, expected, "{id}: {value}: {:?}", verdict.problems);
                assert_eq!(validator.judge(&value.to_string()), verdict, "{id}");
            }
        }
    }
}

#[test]
fn the_sample_covers_the_kinds_of_schema_there_are() {
    let (mut keywords, mut formats, mut drafts, mut sizes) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), Vec::new());
    for instance in sample().instances {
        let text = instance.schema.unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap();
        sizes.push(text.len());
        drafts.insert(
            schema
                .get("$schema")
                .map_or("", |draft| draft.as_str().unwrap())
                .to_owned(),
        );
        collect(&schema, &mut keywords, &mut formats);
    }
    assert!(drafts.len() >= 6 && drafts.contains(""), "{drafts:?}");
    assert!(
        sizes.iter().any(|&size| size > 6000)
            && sizes.iter().filter(|&&size| size < 1000).count() > sizes.len() * 3 / 4
    );
    for keyword in [
        "$ref",
        "$defs",
        "definitions",
        "enum",
        "const",
        "pattern",
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "patternProperties",
        "additionalProperties",
        "additionalItems",
        "prefixItems",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "uniqueItems",
        "minProperties",
        "maxProperties",
        "multipleOf",
        "if",
        "then",
        "else",
        "propertyNames",
        "contains",
        "unevaluatedProperties",
        "self",
    ] {
        assert!(keywords.contains(keyword), "no schema has {keyword}");
    }
    for format in [
        "date-time",
        "uri",
        "date",
        "email",
        "uuid",
        "uri-reference",
        "hostname",
        "ipv4",
        "time",
        "ipv6",
        "regex",
        "int32",
        "int64",
    ] {
        assert!(formats.contains(format), "no schema has format {format}");
    }
}

fn collect(value: &Value, keywords: &mut BTreeSet<String>, formats: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                keywords.insert(name.clone());
                if name == "format" {
                    formats.extend(member.as_str().map(str::to_owned));
                }
                collect(member, keywords, formats);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, keywords, formats)),
        _ => {}
    }
}
