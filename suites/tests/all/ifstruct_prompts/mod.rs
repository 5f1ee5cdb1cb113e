//! What a sample asks for can be read from its prompt alone: a reader that knows nothing of the generator finds every field, type,
//! limit, count and rule again, in every style and voice.

mod blocks;
mod lexer;
mod mutations;
mod prose;
mod recovered;
mod references;
mod requirements;

use maskwright_suites::ifstruct::{Count, Difficulty, OutputFormat, Presentation, Sample, SampleGenerator, Split};
use recovered::{Fence, Recovered, sorted};
use serde_json::Value;

/// Reads a prompt, which shows its structure in `style`.
fn recover(prompt: &str, style: Presentation) -> Recovered {
    let mut recovered = Recovered::default();
    let rest = blocks::read(prompt, style, &mut recovered).replace("draft 2020-12", "");
    let mut reader = prose::Reader::default();
    for sentence in requirements::sentences(&rest) {
        if requirements::read(&sentence, &mut recovered) {
            continue;
        }
        let names = lexer::lex(&sentence)
            .iter()
            .any(|token| matches!(token, lexer::Token::Name(_)));
        if !names {
            requirements::count(&sentence, &mut recovered);
        }
        let says_all = lexer::regex!(
            r"(?i)\b(?:all|every|everything|nothing|nothing's|none|required\?|missing|those named here)\b"
        );
        if style == Presentation::Prose && (names || !says_all.is_match(&sentence)) {
            reader.read(&sentence);
        }
    }
    if style == Presentation::Prose {
        recovered.schema = recovered::schema(&reader.into_fields());
    }
    recovered
}

/// What a prompt must give.
fn expected(sample: &Sample) -> Recovered {
    Recovered {
        schema: sorted(&Value::Object(sample.json_schema.clone())),
        count: sample.top_level_count.map(|count| match count {
            Count::Exactly(exact) => (exact, exact),
            Count::Between(low, high) => (low, high),
        }),
        wrapper: sample.top_level_key.clone(),
        unwrapped: !sample.require_wrapper_key,
        format: Some(
            match sample.output_format {
                OutputFormat::Json => "json",
                OutputFormat::Yaml => "yaml",
            }
            .to_owned(),
        ),
        fence: match (
            &sample.code_block_language,
            sample.require_code_block,
            sample.forbid_code_block,
        ) {
            (Some(language), true, false) => Fence::Named(language.clone()),
            (None, true, false) => Fence::Any,
            (None, false, true) => Fence::Forbidden,
            (None, false, false) => Fence::Free,
            contradiction => panic!("{contradiction:?}"),
        },
        no_commentary: sample.require_no_commentary,
        no_extras: true,
    }
}

fn read(sample: &Sample) -> Recovered {
    let mut recovered = recover(&sample.prompt, sample.presentation_style.unwrap());
    recovered.schema = sorted(&recovered.schema);
    recovered
}

/// Where two differ, for people.
fn differences(found: &Recovered, meant: &Recovered) -> String {
    let mut text = String::new();
    let mut compare = |what: &str, found: String, meant: String| {
        if found != meant {
            text.push_str(&format!(
                "{what}: read {found}\n{:width$}  meant {meant}\n",
                "",
                width = what.len()
            ));
        }
    };
    let properties = |recovered: &Recovered| recovered.schema["items"]["properties"].clone();
    let (left, right) = (properties(found), properties(meant));
    let names = |value: &Value| {
        value
            .as_object()
            .map(|members| members.keys().cloned().collect::<Vec<String>>())
            .unwrap_or_default()
    };
    for name in names(&right) {
        compare(&name, left[&name].to_string(), right[&name].to_string());
    }
    compare(
        "names",
        format!("{:?}", {
            let mut n = names(&left);
            n.sort();
            n
        }),
        format!("{:?}", {
            let mut n = names(&right);
            n.sort();
            n
        }),
    );
    compare(
        "required",
        found.schema["items"]["required"].to_string(),
        meant.schema["items"]["required"].to_string(),
    );
    compare("count", format!("{:?}", found.count), format!("{:?}", meant.count));
    compare(
        "wrapper",
        format!("{:?} {}", found.wrapper, found.unwrapped),
        format!("{:?} {}", meant.wrapper, meant.unwrapped),
    );
    compare("format", format!("{:?}", found.format), format!("{:?}", meant.format));
    compare("fence", format!("{:?}", found.fence), format!("{:?}", meant.fence));
    compare(
        "commentary",
        found.no_commentary.to_string(),
        meant.no_commentary.to_string(),
    );
    compare("extras", found.no_extras.to_string(), meant.no_extras.to_string());
    text
}

fn samples(split: Split, seed: u64, count: usize) -> impl Iterator<Item = Sample> {
    SampleGenerator::new(seed, split).unwrap().take(count)
}

#[test]
fn what_is_asked_for_can_be_read_from_the_prompt() {
    let mut failures = Vec::new();
    let hard = Difficulty {
        fields: Some((9, 12)),
        nested: Some(4),
        escaping: Some(50),
    };
    for split in [Split::Train, Split::Test] {
        let hard = SampleGenerator::new(11, split)
            .unwrap()
            .difficulty(hard)
            .skip(1500)
            .take(300);
        for sample in samples(split, 11, 1500).chain(hard) {
            let (found, meant) = (read(&sample), expected(&sample));
            if found != meant {
                failures.push(format!(
                    "{:?} {:?}\n{}\n{}",
                    sample.presentation_style.unwrap(),
                    sample.voice,
                    sample.prompt,
                    differences(&found, &meant)
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} prompts of 3600 are misread:\n\n{}",
        failures.len(),
        failures[..failures.len().min(12)].join("\n------\n")
    );
}

/// A prompt without its `left_out`th sentence, if it has as many.
fn without(prompt: &str, left_out: usize) -> Option<String> {
    let sentences = requirements::sentences(prompt);
    let sentence = sentences.get(left_out)?;
    Some(prompt.replacen(sentence.as_str(), "", 1))
}

#[test]
fn a_sentence_that_is_lost_is_missed() {
    // Sentences on context, readers and style may go; of the others none.
    for sample in samples(Split::Test, 12, 60).chain(samples(Split::Train, 12, 60)) {
        let meant = expected(&sample);
        let sentences = requirements::sentences(&sample.prompt);
        let missed = (0..sentences.len()).filter(|left_out| {
            let prompt = without(&sample.prompt, *left_out).unwrap();
            let mut recovered = recover(&prompt, sample.presentation_style.unwrap());
            recovered.schema = sorted(&recovered.schema);
            recovered != meant
        });
        let missed: Vec<&String> = missed.map(|left_out| &sentences[left_out]).collect();
        // What stands in no block: the count, the top level, the ban on further fields; and the block or the sentences on fields.
        let least = match sample.presentation_style.unwrap() {
            Presentation::JsonSchema => 2,
            _ => 4,
        };
        assert!(
            missed.len() >= least,
            "{}\n\nonly these are missed: {missed:?}",
            sample.prompt
        );
    }
}

#[test]
fn every_field_must_be_read_from_its_own_words() {
    // Names in other words, so that nothing but the prompt can tell.
    for sample in samples(Split::Test, 13, 60).chain(samples(Split::Train, 13, 60)) {
        for name in sample.json_schema["items"]["properties"].as_object().unwrap().keys() {
            let prompt = sample.prompt.replace(name.as_str(), "zz_other_name");
            let mut recovered = recover(&prompt, sample.presentation_style.unwrap());
            recovered.schema = sorted(&recovered.schema);
            assert_ne!(recovered, expected(&sample), "{name}");
        }
    }
}
