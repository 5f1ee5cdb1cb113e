//! [`Documents`]: the documents that a schema's coverage is tested with, each judged valid or invalid.

use std::time::Duration;

use maskwright::{ExactOptions, Formats, StringStyle, Style, Whitespace};
use maskwright_suites::json_text;
use maskwright_suites::validate::Validator;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::mutate::mutants;
use super::subject::Subject;
use crate::sample::{DocumentWriter, OptionalMembers, SampleError, SampleSettings};

/// Origin of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The document is from the dataset.
    Given,
    /// The document was sampled from the schema.
    Sampled,
    /// The document is a mutant of a given or a sampled one.
    Mutated,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Text of the document, as Python's `json.dumps` prints it.
    pub text: String,
    /// Whether the document is valid: by its label where the schema has no judge, and by the judge otherwise.
    pub valid: bool,
    /// Origin of the document.
    pub origin: Origin,
}

/// Numbers of documents to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    /// Documents sampled from each schema.
    pub sampled: usize,
    /// Changed documents of each schema that are invalid, and as many at most that are valid.
    pub mutated: usize,
    /// Seed of the samples and of the changes.
    pub seed: u64,
}

/// The documents of one schema.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// The documents, given and made.
    pub all: Vec<Document>,
    /// Number of documents of the dataset whose label the judge contradicts. They are left out.
    pub disputed: usize,
    /// The judge; none where the schema cannot be judged by, so that there are only documents with labels.
    pub judge: Option<Validator>,
}

/// Largest number of documents sampled from a schema, and of changed ones of each kind: with [`SAMPLE_BYTES`] and [`CHANGED_BYTES`], a bound on
/// memory.
pub const MAX_MADE: usize = 1_000;
/// Bytes of a sampled document, at most. A sampled document grows by a byte or more with every token, so that this bounds its work, too.
const SAMPLE_BYTES: usize = 4_000;
/// Time after which a sampled document is given up, a guard against schemas on which a single mask hangs. It is far above what documents take, so that
/// the documents of a schema depend on the seed only; where it strikes nevertheless, the hash of the documents tells.
const SAMPLE_GUARD: Duration = Duration::from_secs(60);
/// Documents that changed ones are made from, at most: the first that are valid and short.
const MAX_SOURCES: usize = 8;
/// Bytes of a document up to which changed ones are made from it.
const CHANGED_BYTES: usize = 20_000;

impl Documents {
    /// The documents of `subject`: those it comes with, sampled ones, and changes of both.
    pub fn of(subject: &Subject, amounts: Amounts) -> Self {
        let judge = Self::judge(subject);
        let mut documents = Self {
            judge,
            ..Self::default()
        };
        for (text, valid) in &subject.given {
            documents.add_given(text, *valid);
        }
        if documents.judge.is_some() {
            documents.sample(subject, amounts);
            documents.mutate(amounts);
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

    /// Adds a document of the dataset, unless the judge disagrees with its label.
    fn add_given(&mut self, text: &str, valid: bool) {
        match self.is_valid(text).is_some_and(|judged| judged != valid) {
            true => self.disputed += 1,
            false => self.add(text.to_owned(), valid, Origin::Given),
        }
    }

    /// Adds a document that was made from the schema. Sampled documents come from our own engine; the judge decides whether they are valid, so that a
    /// document which our engine permits wrongly shows as its defect.
    pub(super) fn add_made(&mut self, text: String, origin: Origin) {
        if let Some(valid) = self.is_valid(&text) {
            self.add(text, valid, origin);
        }
    }

    fn add(&mut self, text: String, valid: bool, origin: Origin) {
        self.all.push(Document { text, valid, origin });
    }

    fn is_known(&self, text: &str) -> bool {
        self.all.iter().any(|known| known.text == text)
    }

    /// SHA-256 of texts and verdicts, in order: frameworks that were tested with documents of the same hash were tested alike.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for document in &self.all {
            hash.update((document.text.len() as u64).to_le_bytes());
            hash.update(&document.text);
            hash.update([u8::from(document.valid)]);
        }
        hex::encode(hash.finalize())
    }

    fn sample(&mut self, subject: &Subject, amounts: Amounts) {
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
            time_limit: SAMPLE_GUARD,
        };
        // Those with few members, with some, and with all of them are different documents.
        let kinds = [OptionalMembers::Some, OptionalMembers::None, OptionalMembers::All];
        for (number, optional) in kinds.into_iter().enumerate() {
            let writer = DocumentWriter::new(&subject.schema, &subject.documents, options.clone(), settings(optional));
            let Ok(writer) = writer else { return };
            let of_kind = (0..amounts.sampled).filter(|at| at % kinds.len() == number);
            for at in of_kind {
                let written = match writer.write(amounts.seed.wrapping_add(at as u64)) {
                    // A schema that takes so long once takes so long again.
                    Err(SampleError::TimeLimit) => return,
                    written => written.ok(),
                };
                if let Some(text) = written.and_then(|text| python_text(&text))
                    && !self.is_known(&text)
                {
                    self.add_made(text, Origin::Sampled);
                }
            }
        }
    }

    fn mutate(&mut self, amounts: Amounts) {
        let sources: Vec<Value> = {
            let small = self.all.iter().filter(|one| one.text.len() <= CHANGED_BYTES);
            // Changes of what is valid are more often nearly valid.
            let valid = small.filter(|one| one.valid);
            valid
                .take(MAX_SOURCES)
                .filter_map(|one| serde_json::from_str(&one.text).ok())
                .collect()
        };
        let (mut valid, mut invalid) = (0, 0);
        for (number, source) in sources.iter().enumerate() {
            let share = amounts.mutated.saturating_mul(2).div_ceil(sources.len());
            for mutant in mutants(source, share, amounts.seed.wrapping_add(number as u64)) {
                let Ok(text) = json_text::python_string(&mutant) else {
                    continue;
                };
                let Some(is_valid) = self.is_valid(&text) else { return };
                let count = if is_valid { &mut valid } else { &mut invalid };
                if *count < amounts.mutated && !self.is_known(&text) {
                    *count += 1;
                    self.add(text, is_valid, Origin::Mutated);
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
