//! [`Scoring`]: the rules by which an answer is judged.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jsonschema::{Keyword, ValidationError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::documents::Documents;
use super::{MAX_DEPTH, Problem, ProblemKind, SchemaProblem, Validator, Verdict, not_json};
use crate::strict_json;

/// A keyword that the paper's evaluator has not heard of, although the `jsonschema` crate keeps it in every draft.
pub(super) const IGNORED_KEYWORD: &str = "dependencies";

/// Keyword without effect, in place of [`IGNORED_KEYWORD`].
pub(super) struct Ignored;

impl<'i> Keyword<'i> for Ignored {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        true
    }
}

/// Formats whose checkers in the paper's evaluator return nothing, which counts as "not valid".
pub(super) const BROKEN_FORMATS: [&str; 3] = ["ipv4", "ipv6", "uuid"];

/// The rules by which an answer is judged.
///
/// [`Scoring::Paper`] is for comparing figures with the JSONSchemaBench paper. Where listing 10 leaves something open, it
/// is as in [`Scoring::Strict`]: the answer is the whole text or the one fenced block that the text is, and formats
/// are those that the `jsonschema` crate knows in draft 2020-12 (in Python they depend on what is installed). Patterns are
/// those of ECMA-262 in both, although Python has its own. The paper's public code adapts schemas to each
/// framework and judges by the adapted one; nothing is adapted here, so that defect has no counterpart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scoring {
    /// Judges by the schema's own draft, as the [module](super) says.
    #[default]
    Strict,
    /// Judges as the paper's evaluator does, with its defects: draft 2020-12 (without `dependencies`) whatever `$schema` says, no
    /// answer is valid under a schema that the meta-schema of 2020-12 refuses, no string is valid where format `ipv4`, `ipv6` or
    /// `uuid` applies, and of a name given twice the last value counts.
    Paper,
}

/// A schema ready to judge texts by every scoring.
#[derive(Clone, Debug)]
pub struct Judge {
    strict: Validator,
    paper: Result<Validator, SchemaProblem>,
}

/// The verdicts on one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// Verdict by [`Scoring::Strict`].
    pub strict: Verdict,
    /// Verdict by [`Scoring::Paper`].
    pub paper: Verdict,
}

impl Judge {
    /// Compiles a schema, which has to be usable by [`Scoring::Strict`].
    ///
    /// # Errors
    ///
    /// [`SchemaProblem`], as [`Validator::new`].
    pub fn new(schema: &str) -> Result<Self, SchemaProblem> {
        Self::with_documents(schema, &BTreeMap::new())
    }

    /// Compiles a schema that may refer to `documents`, JSON texts by URI.
    ///
    /// # Errors
    ///
    /// [`SchemaProblem`], as [`Validator::new`].
    pub fn with_documents(schema: &str, documents: &BTreeMap<String, String>) -> Result<Self, SchemaProblem> {
        let document = strict_json::parse(schema, MAX_DEPTH).map_err(|error| not_json(&error))?;
        let documents = Documents::read(documents);
        Ok(Self {
            strict: Validator::for_scoring(&document.value, Scoring::Strict, &documents)?,
            paper: Validator::for_scoring(&document.value, Scoring::Paper, &documents),
        })
    }

    /// Judges a text as a model wrote it.
    pub fn judge(&self, text: &str) -> Verdicts {
        let strict = self.strict.judge(text);
        let paper = match &self.paper {
            Ok(validator) => validator.judge(text),
            Err(problem) => Verdict {
                valid: false,
                problems: vec![unusable(problem)],
                ..strict.clone()
            },
        };
        Verdicts { strict, paper }
    }
}

impl Verdicts {
    /// One verdict that holds by every scoring.
    pub fn both(verdict: Verdict) -> Self {
        Self {
            strict: verdict.clone(),
            paper: verdict,
        }
    }
}

fn unusable(problem: &SchemaProblem) -> Problem {
    Problem {
        kind: ProblemKind::UnusableSchema,
        instance: String::new(),
        keyword: problem.pointer.clone(),
        message: problem.to_string(),
    }
}

/// `schema` without the `$schema` of its root, which the paper's evaluator does not look at.
pub(super) fn without_draft(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(members) = &mut schema {
        members.shift_remove("$schema");
    }
    schema
}

impl fmt::Display for Scoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Strict => "strict",
            Self::Paper => "paper",
        })
    }
}

impl FromStr for Scoring {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "strict" => Ok(Self::Strict),
            "paper" => Ok(Self::Paper),
            _ => Err("must be strict or paper".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `text` is valid by strict and by paper scoring.
    fn valid(schema: &str, text: &str) -> (bool, bool) {
        let verdicts = Judge::new(schema).unwrap().judge(text);
        (verdicts.strict.valid, verdicts.paper.valid)
    }

    #[test]
    fn paper_scoring_has_the_defects_of_the_papers_evaluator_and_no_others() {
        let draft = |rest: &str| format!(r#"{{"$schema": "http://json-schema.org/draft-07/schema#", {rest}}}"#);
        let address = "\"127.0.0.1\"";
        for (format, text) in [
            ("ipv4", address),
            ("ipv6", "\"::1\""),
            ("uuid", "\"7d444840-9dc0-11d1-b245-5ffdce74fad2\""),
        ] {
            assert_eq!(
                valid(&format!(r#"{{"format": "{format}"}}"#), text),
                (true, false),
                "{format}"
            );
        }
        assert_eq!(valid(r#"{"format": "ipv4"}"#, "4"), (true, true));
        assert_eq!(valid(r#"{"not": {"format": "ipv4"}}"#, address), (false, true));
        assert_eq!(
            valid(r#"{"format": "date"}"#, "\"2024-02-30\""),
            (false, false),
            "others are checked"
        );
        assert_eq!(
            valid(&draft(r#""dependencies": {"a": ["b"]}"#), r#"{"a": 1}"#),
            (false, true),
            "no keyword of 2020-12"
        );
        assert_eq!(
            valid(&draft(r#""prefixItems": [{"type": "string"}]"#), "[1]"),
            (true, false),
            "no keyword of draft 7"
        );
        assert_eq!(valid("true", r#"{"a": 1, "a": 2}"#), (false, true));
        assert_eq!(valid("true", "```json\n1\n```"), (true, true));
        assert_eq!(valid("true", "so: 1"), (false, false));

        let tuple = draft(r#""items": [{"type": "string"}]"#);
        let verdict = Judge::new(&tuple).unwrap().judge("[\"a\"]");
        assert!(verdict.strict.valid && verdict.paper.parsed && !verdict.paper.valid);
        assert_eq!(verdict.paper.problems[0].kind, ProblemKind::UnusableSchema);
    }

    #[test]
    fn scorings_are_written_as_they_are_read() {
        for scoring in [Scoring::Strict, Scoring::Paper] {
            assert_eq!(scoring.to_string().parse(), Ok(scoring));
        }
        assert!("lenient".parse::<Scoring>().is_err());
    }
}
