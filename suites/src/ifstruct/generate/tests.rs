//! The taxonomies are consistent, and what is drawn from them keeps its promises.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::taxonomy::{self, Entity, Field, FieldKind};
use super::{Difficulty, Sample, SampleGenerator, Split};
use crate::ifstruct::{Level, Scorer, reference};

fn all_fields(entity: &Entity) -> impl Iterator<Item = &Field> {
    let fields = entity.fields.iter();
    fields.flat_map(|field| std::iter::once(field).chain(field.kind.fields().unwrap_or_default()))
}

/// Words by which prompts say types, limits and presence: in a description they would be read as such.
const RESERVED: &[&str] = &[
    "string", "strings", "text", "integer", "number", "numbers", "boolean", "list", "array", "object", "optional",
    "required", "null", "true", "false", "either", "between", "whole", "decimal", "minimum", "maximum", "json", "yaml",
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

#[test]
fn taxonomies_are_consistent() {
    let entities = taxonomy::read().unwrap();
    assert!(entities.len() >= 60, "{}", entities.len());
    assert!(entities.iter().map(|entity| all_fields(entity).count()).sum::<usize>() >= 600);
    let names: BTreeSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
    assert_eq!(names.len(), entities.len(), "entities have names of their own");
    for split in [Split::Train, Split::Test] {
        let entities = entities.iter().filter(|entity| entity.split == split);
        assert!(entities.clone().count() >= 30);
        assert!(entities.filter(|entity| entity.escaping).count() >= 6);
    }
    for entity in &entities {
        let name = &entity.name;
        assert!(entity.contexts.len() >= 3 && entity.audiences.len() >= 2, "{name}");
        assert!(entity.fields.len() >= 7, "{name}");
        assert!(
            entity.fields[0].kind.fields().is_none(),
            "{name}: the first field is none of many parts"
        );
        let mut seen = BTreeSet::new();
        for field in all_fields(entity) {
            assert!(seen.insert(&field.name), "{name}: {} is there twice", field.name);
            let is_snake_case = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            assert!(field.name.bytes().all(is_snake_case), "{name}: {}", field.name);
            let about = field.about.as_deref().unwrap();
            let clear = about
                .split([' ', '/'])
                .all(|word| !RESERVED.contains(&word.trim_matches(',').to_lowercase().as_str()));
            let plain = about
                .chars()
                .all(|character| character.is_alphabetic() || " ,-'".contains(character));
            assert!(clear && plain, "{name}: {}: {about}", field.name);
            match &field.kind {
                FieldKind::Enum(values) => {
                    assert!(values.len() >= 2 && !field.nullable, "{name}: {}", field.name);
                    let distinct: BTreeSet<&String> = values.iter().collect();
                    assert_eq!(distinct.len(), values.len());
                    // Those would not be strings in YAML.
                    let coerced = ["yes", "no", "on", "off", "true", "false", "null", "y", "n"];
                    assert!(
                        values
                            .iter()
                            .all(|value| !coerced.contains(&value.to_lowercase().as_str())),
                        "{name}"
                    );
                }
                FieldKind::Integer(bounds) | FieldKind::Number(bounds) => {
                    assert!(bounds.min.unwrap() < bounds.max.unwrap(), "{name}: {}", field.name);
                    let whole = [bounds.min, bounds.max]
                        .into_iter()
                        .flatten()
                        .all(|bound| bound.fract() == 0.0);
                    assert!(
                        whole || matches!(field.kind, FieldKind::Number(_)),
                        "{name}: {}",
                        field.name
                    );
                }
                FieldKind::List { length, .. } | FieldKind::Objects { length, .. } => {
                    assert!(length.min < length.max, "{name}")
                }
                FieldKind::Object(fields) => assert!(fields.len() >= 2, "{name}"),
                FieldKind::Text(_) | FieldKind::Boolean => {}
            }
        }
        let values = all_fields(entity).filter_map(|field| match &field.kind {
            FieldKind::Enum(values) => Some(values),
            _ => None,
        });
        assert!(
            values.flatten().all(|value| !seen.contains(value)),
            "{name}: a value is a field's name"
        );
        let sentences = entity
            .contexts
            .iter()
            .chain(&entity.audiences)
            .chain([&entity.one, &entity.many]);
        for sentence in sentences {
            assert!(
                !sentence.contains(['`', '"', '_']) && !sentence.chars().any(char::is_numeric),
                "{name}: {sentence}"
            );
        }
    }
}

#[test]
fn no_schema_is_in_both_splits() {
    // By construction: the first field is in every schema, and the other split has no such name.
    let entities = taxonomy::read().unwrap();
    let mut names: BTreeMap<&str, Vec<Split>> = BTreeMap::new();
    for entity in &entities {
        for field in &entity.fields {
            names.entry(&field.name).or_default().push(entity.split);
        }
    }
    for entity in &entities {
        let splits = &names[entity.fields[0].name.as_str()];
        assert!(
            splits.iter().all(|split| *split == entity.split),
            "{}: {}",
            entity.name,
            entity.fields[0].name
        );
    }
    // And as it comes out.
    let schemas = |split| -> HashSet<String> {
        let samples = SampleGenerator::new(3, split).unwrap().take(4000);
        samples
            .map(|sample| serde_json::to_string(&sample.json_schema).unwrap())
            .collect()
    };
    let (train, test) = (schemas(Split::Train), schemas(Split::Test));
    assert!(train.is_disjoint(&test));
    assert!(
        train.len() > 3900 && test.len() > 3900,
        "{} and {}",
        train.len(),
        test.len()
    );
}

#[test]
fn a_sample_depends_on_its_seed_alone() {
    let lines = |skip, count| -> Vec<String> {
        let samples = SampleGenerator::new(5, Split::Test).unwrap().skip(skip).take(count);
        samples.map(|sample| serde_json::to_string(&sample).unwrap()).collect()
    };
    let all = lines(0, 60);
    assert_eq!(all[40..], lines(40, 20));
    let seeds: Vec<u64> = SampleGenerator::new(5, Split::Test)
        .unwrap()
        .take(3)
        .map(|sample| sample.seed)
        .collect();
    assert_eq!(seeds, [5_000_000, 5_000_001, 5_000_002]);
    assert!(SampleGenerator::new(super::MAX_SEED + 1, Split::Test).is_err());
    let last = SampleGenerator::new(super::MAX_SEED, Split::Test)
        .unwrap()
        .nth(999_999)
        .unwrap();
    assert!(last.seed == super::MAX_SEED * 1_000_000 + 999_999 && last.seed < 1 << 53);
    assert!(SampleGenerator::new(0, Split::Test).unwrap().nth(1_000_000).is_none());
}

#[test]
fn every_style_voice_and_rule_occurs() {
    let samples: Vec<Sample> = SampleGenerator::new(1, Split::Train).unwrap().take(2000).collect();
    let statistics = super::Statistics::of(&samples);
    for (what, count) in [
        ("entity", 37),
        ("style", 7),
        ("voice", 7),
        ("format", 2),
        ("structure", 2),
        ("fence", 4),
        ("commentary", 2),
    ] {
        assert_eq!(
            statistics.shares[what].len(),
            count,
            "{what}: {:?}",
            statistics.shares[what]
        );
    }
    let rewritten = samples.iter().filter(|sample| sample.voice.is_some()).count();
    assert!((900..1100).contains(&rewritten), "{rewritten}");
    assert_eq!(statistics.sizes["depth"].max, 2);
}

#[test]
fn difficulty_changes_what_it_names_and_nothing_unasked() {
    let lines = |difficulty| -> Vec<String> {
        let generator = SampleGenerator::new(2, Split::Test).unwrap().difficulty(difficulty);
        let samples = generator.take(300);
        samples.map(|sample| serde_json::to_string(&sample).unwrap()).collect()
    };
    let usual: Vec<String> = SampleGenerator::new(2, Split::Test)
        .unwrap()
        .take(300)
        .map(|sample| serde_json::to_string(&sample).unwrap())
        .collect();
    assert_eq!(lines(Difficulty::default()), usual);

    let samples = |difficulty| -> Vec<Sample> {
        SampleGenerator::new(2, Split::Test)
            .unwrap()
            .difficulty(difficulty)
            .take(300)
            .collect()
    };
    let properties = |sample: &Sample| sample.json_schema["items"]["properties"].as_object().unwrap().clone();
    let nested = |sample: &Sample| {
        let properties = properties(sample);
        let nested = properties
            .values()
            .filter(|field| field["type"] == "object" || field["items"]["type"] == "object");
        nested.count()
    };
    for (fields, nested_fields) in [((4, 4), 0), ((7, 7), 1), ((1, 1), 0), ((6, 8), 2), ((3, 3), 2)] {
        let asked = samples(Difficulty {
            fields: Some(fields),
            nested: Some(nested_fields),
            ..Difficulty::default()
        });
        for sample in &asked {
            // An entity has 8 fields at least, and may have fewer nested ones than are asked for.
            let (count, inner) = (properties(sample).len(), nested(sample));
            assert!(
                inner <= nested_fields && count <= fields.1,
                "{fields:?}, {nested_fields}: {count}, {inner}"
            );
            assert!(count >= fields.0.min(6), "{fields:?}, {nested_fields}: {count}");
        }
        assert!(
            asked.iter().any(|sample| nested(sample) == nested_fields),
            "{nested_fields}"
        );
    }
    let entities = taxonomy::read().unwrap();
    let asked = samples(Difficulty {
        fields: Some((10, 10)),
        ..Difficulty::default()
    });
    for sample in &asked {
        let name = sample.entity_type.rsplit("__").next().unwrap();
        let entity = entities.iter().find(|entity| entity.name == name).unwrap();
        assert_eq!(properties(sample).len(), entity.fields.len().min(10), "{name}");
    }
    for (percent, expected) in [(0, 0), (100, 300)] {
        let samples = samples(Difficulty {
            escaping: Some(percent),
            ..Difficulty::default()
        });
        let escaping = samples
            .iter()
            .filter(|sample| sample.entity_type.contains("__escaping__"));
        assert_eq!(escaping.count(), expected);
    }
}

#[test]
fn made_up_names_stand_in_place_of_those_of_the_taxonomy() {
    let entities = taxonomy::read().unwrap();
    let known: HashSet<&str> = entities
        .iter()
        .flat_map(all_fields)
        .map(|field| field.name.as_str())
        .collect();
    let generator = || SampleGenerator::new(31, Split::Train).unwrap();
    let (mut names, mut of_taxonomy) = (0, 0);
    let pieces = ["ference", "vendor", "k"].map(str::to_owned).to_vec();
    let mut of_pieces = 0;
    for (sample, plain) in generator().made_up_names(pieces).zip(generator()).take(100) {
        assert_eq!(sample.entity_type, plain.entity_type);
        let properties = sample.json_schema["items"]["properties"].as_object().unwrap();
        assert_eq!(
            properties.len(),
            plain.json_schema["items"]["properties"].as_object().unwrap().len()
        );
        for name in properties.keys() {
            assert!(
                sample.prompt.contains(name.as_str()),
                "{name} is not in {}",
                sample.prompt
            );
            names += 1;
            of_taxonomy += usize::from(known.contains(name.as_str()));
            of_pieces += usize::from(name.contains("ference") || name.contains("vendor"));
        }
        let reply = reference::plain_reply(&sample).unwrap();
        let score = Scorer::new(&sample, Level::Strict).unwrap().score(&reply);
        assert!(score.passed, "{:?}\n{reply}", score.failures);
    }
    // A word of the lists is the name of some field now and then.
    assert!(names > 500 && of_taxonomy * 20 < names, "{of_taxonomy} of {names}");
    assert!(of_pieces * 3 > names, "{of_pieces} of {names}");
}
