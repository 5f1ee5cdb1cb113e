//! [`Failures`]: the schemas that a row refused or failed on, in sentences below the table of coverage.

use maskwright_suites::validate::Scoring;

use crate::bench::record::{GenerationRecord, Record};
use crate::terminal::{one_line, shortened};

/// Number of schemas that a sentence names with their messages.
const NAMED: usize = 3;

/// Largest number of characters of a message in a sentence.
const MESSAGE: usize = 90;

/// The schemas of a row without a full success of the framework: refused, failed on, or answered with help.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// Names of the schemas that the framework did not compile, with its messages.
    refused: Vec<(String, String)>,
    /// Names of the schemas on which the framework failed during the generation, with its messages.
    failed: Vec<(String, String)>,
    /// Number of valid answers that the framework had to end early to stay within the limit on tokens.
    ended_early: usize,
}

impl Failures {
    /// Returns the failures among the records of a row.
    pub fn of(records: &[&Record], scoring: Scoring) -> Self {
        let mut found = Self::default();
        for record in records {
            let refusal = record.compile.as_ref().and_then(|compile| compile.error.as_ref());
            let failure = record.generation.as_ref().and_then(GenerationRecord::failure);
            let name = || record.key.instance.clone();
            if let Some(refusal) = refusal {
                found.refused.push((name(), refusal.message.clone()));
            } else if let Some(message) = failure {
                found.failed.push((name(), message.to_owned()));
            } else if record.is_valid(scoring) && record.was_helped() {
                found.ended_early += 1;
            }
        }
        // Records are in the order in which they were made, which depends on interruptions.
        found.refused.sort_unstable();
        found.failed.sort_unstable();
        found
    }

    /// Returns the numbers behind a row's number of valid answers, as in " (26 refused)"; empty where there are none.
    pub fn counts(&self) -> String {
        let counts = [
            (self.ended_early, "ended early to fit the limit on tokens"),
            (self.refused.len(), "refused"),
            (self.failed.len(), "failed"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        match counts.is_empty() {
            true => String::new(),
            false => format!(" ({})", counts.join(", ")),
        }
    }

    /// Returns sentences that name schemas that the row `name` refused or failed on, with the reasons; `schemas` is the number of all.
    pub fn sentences(&self, name: &str, schemas: usize) -> Vec<String> {
        let all = [(&self.refused, "refused"), (&self.failed, "failed on")];
        let some = all.into_iter().filter(|(failures, _)| !failures.is_empty());
        let sentence = |(failures, what): (&Vec<(String, String)>, &str)| {
            let named = failures.iter().take(NAMED);
            let named = named.map(|(schema, message)| format!("{schema} ({})", shortened(&one_line(message), MESSAGE)));
            let rest = match failures.len() > NAMED {
                true => ", …; all of them: `maskwright report RUN --html FILE`",
                false => "",
            };
            let named: Vec<String> = named.collect();
            format!(
                "{name} {what} {} of {schemas}: {}{rest}.",
                failures.len(),
                named.join(", ")
            )
        };
        some.map(sentence).collect()
    }
}

#[cfg(test)]
mod tests {
    use maskwright::CompileErrorKind;
    use serde_json::json;

    use super::*;
    use crate::bench::record::{CompileFailure, CompileRecord, RecordKey};

    fn record(instance: &str) -> Record {
        Record::empty(RecordKey {
            model: "m".to_owned(),
            framework: "f".to_owned(),
            dataset: "d".to_owned(),
            instance: instance.to_owned(),
        })
    }

    fn refused(instance: &str, message: &str) -> Record {
        let error = CompileFailure {
            kind: CompileErrorKind::Refused,
            pointer: None,
            keyword: None,
            message: message.to_owned(),
        };
        let compile = CompileRecord {
            seconds: None,
            beside_prefill: false,
            error: Some(error),
        };
        Record {
            compile: Some(compile),
            ..record(instance)
        }
    }

    fn generated(instance: &str, changes: serde_json::Value, valid: bool) -> Record {
        let mut generation = json!({
            "prompt_tokens": 1, "output_tokens": 1, "forced_tokens": 0, "forward_passes": 1, "tgt_s": 1.0, "masks": 1,
            "token_times_us": [1], "text": "1",
        });
        generation
            .as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        Record {
            generation: Some(serde_json::from_value(generation).unwrap()),
            verdict: Some(
                serde_json::from_value(json!({"parsed": true, "valid": valid, "fenced": false, "problems": []}))
                    .unwrap(),
            ),
            ..record(instance)
        }
    }

    #[test]
    fn at_most_three_schemas_are_named_with_their_reasons() {
        let long = "long ".repeat(100);
        let records = [
            refused("d.json", "four"),
            refused("b.json", "two\nlines"),
            refused("c.json", &long),
            refused("a.json", "one"),
            generated(
                "e.json",
                json!({"framework_failed": true, "error": "mask is not offered"}),
                false,
            ),
            generated("f.json", json!({"helped": true}), true),
            generated("g.json", json!({"helped": true}), false),
            generated("h.json", json!({"error": "the model failed"}), false),
            generated("i.json", json!({}), true),
        ];
        let failures = Failures::of(&records.iter().collect::<Vec<_>>(), Scoring::Strict);
        assert_eq!(
            failures.counts(),
            " (1 ended early to fit the limit on tokens, 4 refused, 1 failed)"
        );
        let sentences = failures.sentences("f", 9);
        let expected = format!(
            "f refused 4 of 9: a.json (one), b.json (two lines), c.json ({}…), …; all of them: `maskwright report RUN --html FILE`.",
            &long[..MESSAGE]
        );
        assert_eq!(
            sentences,
            [expected, "f failed on 1 of 9: e.json (mask is not offered).".to_owned()]
        );
        assert_eq!(
            (Failures::default().counts(), Failures::default().sentences("f", 9)),
            (String::new(), vec![])
        );
    }
}
