//! [`Documents`]: the documents that a schema's coverage is tested with, each judged valid or invalid.

use std::time::{Duration, Instant};

use maskwright::{ExactOptions, Formats, StringStyle, Style, Whitespace};
use maskwright_suites::json_text;
use maskwright_suites::validate::Validator;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::mutate::mutants;
use super::subject::Subject;
use crate::sample::{DocumentWriter, OptionalMembers, SampleSettings};

/// Where a document is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The data set.
    Given,
    /// Sampled from the schema.
    Sampled,
    /// A change of one of the others.
    Mutated,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its text, as Python's `json.dumps` prints it.
    pub text: String,
    /// Whether it is valid.
    pub valid: bool,
    /// Where it is from.
    pub origin: Origin,
}

/// How many documents there are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    /// Documents sampled from each schema.
    pub sampled: usize,
    /// Changes of documents of each schema that are invalid, and as many at most that are valid.
    pub mutated: usize,
    /// Seed of both.
    pub seed: u64,
}

/// The documents of one schema.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// All of them.
    pub all: Vec<Document>,
    /// Documents of the data set, or sampled ones, that the judge does not find to be what they are called. They are left out.
    pub disputed: usize,
    /// The judge; none where the schema cannot be judged by, so that there are only documents with labels.
    pub judge: Option<Validator>,
}

/// Time for the documents of one schema, after which those that there are have to do.
const TIME: Duration = Duration::from_secs(30);
/// Bytes of a sampled document, at most.
const SAMPLE_BYTES: usize = 4_000;
/// Documents that are changed, at most.
const CHANGED: usize = 8;
/// Bytes of a document up to which it is changed.
const CHANGED_BYTES: usize = 20_000;

impl Documents {
    /// The documents of `subject`: those it comes with, sampled ones, and changes of both.
    pub fn of(subject: &Subject, amounts: Amounts) -> Self {
        let begun = Instant::now();
        let judge = Self::judge(subject);
        let mut documents = Self {
            judge,
            ..Self::default()
        };
        for (text, valid) in &subject.given {
            documents.add(text, *valid, Origin::Given);
        }
        if documents.judge.is_some() {
            documents.sample(subject, amounts, begun);
            documents.mutate(amounts, begun);
        }
        documents
    }

    /// The judge of `subject`: none where formats do not assert and there are some, since the judge asserts them.
    fn judge(subject: &Subject) -> Option<Validator> {
        match subject.assert_formats || !subject.schema.contains("\"format\"") {
            true => Validator::with_documents(&subject.schema, &subject.documents).ok(),
            false => None,
        }
    }

    fn is_valid(&self, text: &str) -> Option<bool> {
        self.judge.as_ref().map(|judge| judge.judge(text).valid)
    }

    /// Adds a document that is called valid or invalid, unless the judge disagrees.
    fn add(&mut self, text: &str, valid: bool, origin: Origin) {
        match self.is_valid(text).is_some_and(|judged| judged != valid) {
            true => self.disputed += 1,
            false => self.all.push(Document {
                text: text.to_owned(),
                valid,
                origin,
            }),
        }
    }

    fn sample(&mut self, subject: &Subject, amounts: Amounts, begun: Instant) {
        let formats = match subject.assert_formats {
            true => Formats::Asserted,
            false => Formats::Annotation,
        };
        let style = Style {
            whitespace: Whitespace::Compact,
            strings: StringStyle::any(),
            ..Style::generation()
        };
        let options = ExactOptions::judging().formats(formats).style(style);
        let settings = |optional| SampleSettings {
            optional,
            max_bytes: SAMPLE_BYTES,
            time_limit: TIME / 4,
        };
        // Those with few members, with some, and with all of them are different documents.
        let kinds = [OptionalMembers::Some, OptionalMembers::None, OptionalMembers::All];
        for (number, optional) in kinds.into_iter().enumerate() {
            let writer = DocumentWriter::new(&subject.schema, &subject.documents, options.clone(), settings(optional));
            let Ok(writer) = writer else { return };
            let of_kind = (0..amounts.sampled).filter(|at| at % kinds.len() == number);
            for at in of_kind {
                if begun.elapsed() > TIME {
                    return;
                }
                let written = writer.write(amounts.seed.wrapping_add(at as u64)).ok();
                if let Some(text) = written.and_then(|text| python_text(&text)) {
                    if self.all.iter().all(|known| known.text != text) {
                        self.add(&text, true, Origin::Sampled);
                    }
                }
            }
        }
    }

    fn mutate(&mut self, amounts: Amounts, begun: Instant) {
        let sources: Vec<Value> = {
            let small = self.all.iter().filter(|one| one.text.len() <= CHANGED_BYTES);
            // Changes of what is valid are more often nearly valid.
            let valid = small.filter(|one| one.valid);
            valid
                .take(CHANGED)
                .filter_map(|one| serde_json::from_str(&one.text).ok())
                .collect()
        };
        let (mut valid, mut invalid) = (0, 0);
        for (number, source) in sources.iter().enumerate() {
            let share = (2 * amounts.mutated).div_ceil(sources.len());
            for mutant in mutants(source, share, amounts.seed.wrapping_add(number as u64)) {
                if begun.elapsed() > TIME {
                    return;
                }
                let Ok(text) = json_text::python_string(&mutant) else {
                    continue;
                };
                let Some(is_valid) = self.is_valid(&text) else { return };
                let count = if is_valid { &mut valid } else { &mut invalid };
                if *count < amounts.mutated && self.all.iter().all(|known| known.text != text) {
                    *count += 1;
                    self.all.push(Document {
                        text,
                        valid: is_valid,
                        origin: Origin::Mutated,
                    });
                }
            }
        }
    }
}

/// The value of a JSON text as Python prints it.
fn python_text(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    json_text::python_string(&value).ok()
}
