//! Greedy tokens and logits that transformers computed (golden.json, written by scripts/compare-transformers/golden.py).

use maskwright_models::{
    COMPARED_WITH, CheckpointTokenizer, Family, LoadOptions, ModelSource, RandomCheckpoint, WeightFormat,
    families_table, load, logits_to_host,
};

#[derive(serde::Deserialize)]
struct Golden {
    made_with: String,
    results: Vec<Expected>,
}

#[derive(serde::Deserialize)]
struct Expected {
    family: String,
    seed: u64,
    untied: bool,
    /// Fields of config.json that are not as in the family's tiny model.
    config: serde_json::Map<String, serde_json::Value>,
    prompt: Vec<u32>,
    tokens: Vec<u32>,
    first_logits: Vec<f32>,
}

#[test]
fn greedy_tokens_and_logits_are_those_of_transformers() {
    let golden: Golden = serde_json::from_str(include_str!("golden.json")).unwrap();
    assert!(golden.made_with.contains(COMPARED_WITH), "{}", golden.made_with);
    for family in Family::ALL {
        let compared = golden
            .results
            .iter()
            .filter(|expected| expected.family == family.name() && expected.config.is_empty());
        assert_eq!(compared.count(), 2, "{family:?}");
    }
    for expected in golden.results {
        let family = Family::from_name(&expected.family).unwrap();
        let case = format!("{family:?} {:?}", expected.config);
        let directory = tempfile::tempdir().unwrap();
        let mut checkpoint = RandomCheckpoint::preset(family, "tiny").unwrap();
        assert_eq!(checkpoint.tokenizer, CheckpointTokenizer::Bytes);
        checkpoint.seed = expected.seed;
        checkpoint.config["tie_word_embeddings"] = (!expected.untied).into();
        checkpoint
            .config
            .as_object_mut()
            .unwrap()
            .extend(expected.config.clone());
        checkpoint.write(directory.path()).unwrap();
        for dtype in [WeightFormat::Auto, WeightFormat::F32] {
            let options = LoadOptions {
                dtype,
                ..LoadOptions::default()
            };
            let mut model = load(&ModelSource::Directory(directory.path().to_owned()), &options)
                .unwrap()
                .model;
            let mut logits = Vec::new();
            logits_to_host(&model.append(&expected.prompt).unwrap(), &mut logits).unwrap();
            for (got, expected) in logits.iter().zip(&expected.first_logits) {
                assert!((got - expected).abs() < 1e-3, "{case}: {got}, expected {expected}");
            }
            let mut tokens = Vec::new();
            while tokens.len() < expected.tokens.len() {
                let likeliest = (0..logits.len())
                    .max_by(|&a, &b| logits[a].total_cmp(&logits[b]))
                    .unwrap();
                tokens.push(likeliest as u32);
                logits_to_host(&model.append(&[likeliest as u32]).unwrap(), &mut logits).unwrap();
            }
            assert_eq!(tokens, expected.tokens, "{case}, {dtype:?}");
        }
    }
}

#[test]
fn the_documentation_names_the_families_that_run() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/models.md");
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        families_table(),
        "run `cargo run -p maskwright-models -- families > docs/models.md`"
    );
}
