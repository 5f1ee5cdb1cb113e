//! The requirements of a sample can be read from its prompt alone: a reader that knows nothing of the generator finds every
//! field, type, limit, count and rule again, in every style and voice.

mod mutations;
mod references;

use maskwright_suites::ifstruct::recover::{Recovered, differences, expected, recover, sentences};
use maskwright_suites::ifstruct::{Difficulty, Presentation, Sample, SampleGenerator, Split};

fn read(sample: &Sample) -> Recovered {
    recover(&sample.prompt, sample.presentation_style.unwrap())
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
    let sentences = sentences(prompt);
    let sentence = sentences.get(left_out)?;
    Some(prompt.replacen(sentence.as_str(), "", 1))
}

#[test]
fn a_sentence_that_is_lost_is_missed() {
    // Sentences on context, readers and style may go; of the others none.
    for sample in samples(Split::Test, 12, 60).chain(samples(Split::Train, 12, 60)) {
        let meant = expected(&sample);
        let sentences = sentences(&sample.prompt);
        let missed = (0..sentences.len()).filter(|left_out| {
            let prompt = without(&sample.prompt, *left_out).unwrap();
            recover(&prompt, sample.presentation_style.unwrap()) != meant
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
            let recovered = recover(&prompt, sample.presentation_style.unwrap());
            assert_ne!(recovered, expected(&sample), "{name}");
        }
    }
}
