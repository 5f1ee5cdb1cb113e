//! Conformance of a framework to the JSON Schema Test Suite: outcomes by case and by category, and the paper's tables 5 and 6.

use std::cmp::Reverse;

use maskwright::TokenId;
use maskwright::Vocabulary;
use maskwright_suites::test_suite::Case;
use maskwright_worker::protocol::Replayed;
use serde::{Deserialize, Serialize};

use crate::worker::trial::{Compilation, Ending, Trial};

/// A framework's outcome on one case: it passes if every instance is accepted or rejected rightly (listings 2 and 3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseOutcome {
    /// The case's category.
    pub category: String,
    /// The case, in the suite's words.
    pub description: String,
    /// Failures of the case; empty where the case passes.
    pub failures: Vec<CaseFailure>,
}

/// Failure of a case: its kind, the instance, and the token at which the framework stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseFailure {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// The instance, in the suite's words; none where the schema was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Token at which the framework rejected the instance; none where the instance was accepted whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stop>,
    /// The particulars.
    pub reason: String,
}

/// The ways in which a case fails (definitions 5.4 and 5.5, and the paper's compile error).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The schema was refused although a valid instance exists.
    CompileError,
    /// A valid instance was rejected.
    OverConstrained,
    /// An invalid instance was accepted.
    UnderConstrained,
    /// The framework crashed, hung or ran out of memory on an instance.
    Crashed,
}

/// The token at which an instance was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Number of tokens accepted before the rejected one.
    pub token: usize,
    /// Text of the tokens accepted before it.
    pub after: String,
    /// Text of the rejected token; empty at the end of the document.
    pub text: String,
}

/// Judges a framework's results on a case.
pub fn judge(case: &Case, tokens: &[Vec<TokenId>], trial: &Trial, vocabulary: &Vocabulary) -> CaseOutcome {
    let failures = match &trial.compilation {
        Compilation::Done { .. } => replays(case, tokens, trial, vocabulary),
        // A refusal passes a case that has nothing to accept.
        Compilation::Refused(_) if case.instances.iter().all(|instance| !instance.valid) => Vec::new(),
        Compilation::Refused(error) => vec![refused(error.message.clone())],
        Compilation::Failed(ending) => vec![refused(ending.message.clone())],
    };
    CaseOutcome {
        category: case.category.clone(),
        description: case.description.clone(),
        failures,
    }
}

fn refused(reason: String) -> CaseFailure {
    CaseFailure {
        kind: FailureKind::CompileError,
        instance: None,
        stopped: None,
        reason,
    }
}

fn replays(case: &Case, tokens: &[Vec<TokenId>], trial: &Trial, vocabulary: &Vocabulary) -> Vec<CaseFailure> {
    let instances = case.instances.iter().zip(tokens).zip(&trial.replays);
    instances
        .filter_map(|((instance, tokens), replay)| {
            let accepted = match replay {
                Ok(replay) => is_accepted(replay, tokens),
                Err(ending) => return Some(crashed(&instance.description, ending)),
            };
            let replay = replay.as_ref().ok().filter(|_| accepted != instance.valid)?;
            Some(CaseFailure {
                kind: match instance.valid {
                    true => FailureKind::OverConstrained,
                    false => FailureKind::UnderConstrained,
                },
                instance: Some(instance.description.clone()),
                stopped: (!accepted).then(|| stop(replay, tokens, vocabulary)),
                reason: reason(replay, accepted, tokens),
            })
        })
        .collect()
}

/// Whether a document was accepted: every token in its mask, and the end allowed.
pub fn is_accepted(replay: &Replayed, tokens: &[TokenId]) -> bool {
    replay.failure.is_none() && replay.accepted == tokens.len() && replay.complete
}

fn crashed(instance: &str, ending: &Ending) -> CaseFailure {
    CaseFailure {
        kind: FailureKind::Crashed,
        instance: Some(instance.to_owned()),
        stopped: None,
        reason: ending.message.clone(),
    }
}

fn stop(replay: &Replayed, tokens: &[TokenId], vocabulary: &Vocabulary) -> Stop {
    let text = |tokens: &[TokenId]| String::from_utf8_lossy(&vocabulary.text_bytes(tokens)).into_owned();
    let at = replay.accepted.min(tokens.len());
    Stop {
        token: at,
        after: text(&tokens[..at]),
        text: tokens.get(at).map(|&token| text(&[token])).unwrap_or_default(),
    }
}

fn reason(replay: &Replayed, accepted: bool, tokens: &[TokenId]) -> String {
    match &replay.failure {
        Some(message) => message.clone(),
        None if accepted => "accepted to the end".to_owned(),
        None if replay.accepted == tokens.len() => "the end is not allowed".to_owned(),
        None => "the token is not in the mask".to_owned(),
    }
}

/// A framework's outcome on one category: its passed cases and the kinds of its failures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CategoryOutcome {
    /// Cases of the category.
    pub cases: usize,
    /// Number of the cases that pass.
    pub passed: usize,
    /// Whether a schema was refused that has valid instances.
    pub compile_error: bool,
    /// Whether a valid instance was rejected.
    pub over: bool,
    /// Whether an invalid instance was accepted.
    pub under: bool,
    /// Whether the framework crashed, hung or ran out of memory on an instance.
    pub crashed: bool,
}

impl CategoryOutcome {
    /// Share of the cases that pass (the paper's test coverage).
    pub fn coverage(&self) -> f64 {
        self.passed as f64 / self.cases.max(1) as f64
    }

    /// The flags that are set, as one letter each: C compile error, O over-constrained, U under-constrained, X crashed.
    pub fn flags(&self) -> String {
        let flags = [
            (self.compile_error, 'C'),
            (self.over, 'O'),
            (self.under, 'U'),
            (self.crashed, 'X'),
        ];
        flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).collect()
    }
}

/// Conformance of one framework to the whole suite: its outcomes by category and by case.
#[derive(Clone, Debug, PartialEq)]
pub struct Conformance {
    /// The framework.
    pub framework: String,
    /// Categories in the suite's order, with their outcomes.
    pub categories: Vec<(String, CategoryOutcome)>,
    /// The cases.
    pub cases: Vec<CaseOutcome>,
}

/// The figures of the paper's table 6: categories whose coverage is above each level.
pub const LEVELS: [(&str, f64); 5] = [
    ("minimal coverage (> 0 %)", 0.0),
    ("partial coverage (> 25 %)", 0.25),
    ("moderate coverage (> 50 %)", 0.5),
    ("high coverage (> 75 %)", 0.75),
    ("full coverage (100 %)", 1.0),
];

impl Conformance {
    /// Gathers a framework's cases by category.
    pub fn new(framework: &str, cases: Vec<CaseOutcome>) -> Self {
        let mut categories: Vec<(String, CategoryOutcome)> = Vec::new();
        for case in &cases {
            if categories.last().is_none_or(|(name, _)| *name != case.category) {
                categories.push((case.category.clone(), CategoryOutcome::default()));
            }
            let Some((_, outcome)) = categories.last_mut() else {
                continue;
            };
            outcome.cases += 1;
            outcome.passed += usize::from(case.failures.is_empty());
            for failure in &case.failures {
                match failure.kind {
                    FailureKind::CompileError => outcome.compile_error = true,
                    FailureKind::OverConstrained => outcome.over = true,
                    FailureKind::UnderConstrained => outcome.under = true,
                    FailureKind::Crashed => outcome.crashed = true,
                }
            }
        }
        Self {
            framework: framework.to_owned(),
            categories,
            cases,
        }
    }

    /// The outcome of a category; `None` where no case of it was run.
    pub fn of(&self, category: &str) -> Option<&CategoryOutcome> {
        let mut categories = self.categories.iter();
        categories
            .find(|(name, _)| name == category)
            .map(|(_, outcome)| outcome)
    }

    /// Cases that pass.
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|case| case.failures.is_empty()).count()
    }

    /// Number of categories with a property.
    pub fn count(&self, property: impl Fn(&CategoryOutcome) -> bool) -> usize {
        self.categories.iter().filter(|(_, outcome)| property(outcome)).count()
    }

    /// Number of categories above a level of coverage; at it, where the level is 1.
    pub fn above(&self, level: f64) -> usize {
        self.count(|outcome| outcome.coverage() > level || (level >= 1.0 && outcome.passed == outcome.cases))
    }
}

/// The categories that were run with any framework: those of the framework with the most, then those that only others have. Of an unfinished run, or of
/// parts of one, frameworks have different categories.
pub fn categories(frameworks: &[Conformance]) -> Vec<&str> {
    let mut frameworks: Vec<&Conformance> = frameworks.iter().collect();
    frameworks.sort_by_key(|one| Reverse(one.categories.len()));
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in frameworks.into_iter().flat_map(|one| &one.categories) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// Rank of a framework's coverage among those of the other frameworks in one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Others cover more, no framework covers anything, or those that have come to the category have come to different
    /// numbers of its cases.
    Behind,
    /// The highest coverage, together with others.
    Tied,
    /// The highest coverage, alone.
    Single,
}

/// The standing of each framework in a category.
pub fn standings(frameworks: &[Conformance], category: &str) -> Vec<Standing> {
    let coverage = |conformance: &Conformance| conformance.of(category).map_or(0.0, CategoryOutcome::coverage);
    let mut counts = frameworks.iter().filter_map(|one| Some(one.of(category)?.cases));
    let is_comparable = counts.next().is_none_or(|first| counts.all(|count| count == first));
    let highest = frameworks.iter().map(coverage).fold(0.0, f64::max);
    let at_highest = frameworks.iter().filter(|one| coverage(one) >= highest).count();
    frameworks
        .iter()
        .map(|one| match is_comparable && coverage(one) >= highest && highest > 0.0 {
            false => Standing::Behind,
            true if at_highest > 1 => Standing::Tied,
            true => Standing::Single,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use maskwright::CompileErrorKind;
    use maskwright_suites::test_suite::CaseInstance;
    use maskwright_worker::protocol::{Time, WireCompileError};

    use super::*;
    use crate::worker::trial::EndingKind;

    fn vocabulary() -> Vocabulary {
        let builder = (0..=127_u8).try_fold(Vocabulary::builder(), |builder, byte| builder.text(byte.into(), [byte]));
        builder
            .and_then(|builder| builder.special(128, "<eos>"))
            .and_then(|builder| builder.eos([128]).build())
            .unwrap()
    }

    fn case(valid: &[bool]) -> (Case, Vec<Vec<TokenId>>) {
        let instance = |(number, valid): (usize, &bool)| CaseInstance {
            description: format!("instance {number}"),
            text: "[1]".to_owned(),
            valid: *valid,
        };
        let instances: Vec<CaseInstance> = valid.iter().enumerate().map(instance).collect();
        let tokens = instances.iter().map(|one| one.text.bytes().map(u32::from).collect());
        let tokens = tokens.collect();
        let case = Case {
            category: "items".to_owned(),
            description: "a case".to_owned(),
            schema_text: "{}".to_owned(),
            instances,
        };
        (case, tokens)
    }

    fn replay(accepted: usize, complete: bool) -> Result<Replayed, Ending> {
        Ok(Replayed {
            accepted,
            complete,
            ..Replayed::default()
        })
    }

    fn done(replays: Vec<Result<Replayed, Ending>>) -> Trial {
        Trial {
            compilation: Compilation::Done {
                time: Time::default(),
                first_mask: None,
            },
            replays,
        }
    }

    fn kinds(valid: &[bool], trial: &Trial) -> Vec<FailureKind> {
        let (case, tokens) = case(valid);
        let outcome = judge(&case, &tokens, trial, &vocabulary());
        outcome.failures.iter().map(|failure| failure.kind).collect()
    }

    #[test]
    fn every_instance_has_to_come_out_right() {
        let right = done(vec![replay(3, true), replay(2, false), replay(3, false)]);
        assert_eq!(kinds(&[true, false, false], &right), []);
        let wrong = done(vec![replay(3, false), replay(3, true)]);
        assert_eq!(
            kinds(&[true, false], &wrong),
            [FailureKind::OverConstrained, FailureKind::UnderConstrained]
        );
        let ending = Ending {
            kind: EndingKind::Timeout,
            message: "no reply".to_owned(),
        };
        assert_eq!(kinds(&[false, true], &done(vec![Err(ending)])), [FailureKind::Crashed]);
    }

    #[test]
    fn a_refusal_passes_only_where_nothing_is_valid() {
        let refusal = |message: &str| Trial {
            compilation: Compilation::Refused(WireCompileError {
                kind: CompileErrorKind::Refused,
                message: message.to_owned(),
                pointer: None,
                keyword: None,
            }),
            replays: Vec::new(),
        };
        assert_eq!(kinds(&[false, false], &refusal("no")), []);
        assert_eq!(kinds(&[false, true], &refusal("no")), [FailureKind::CompileError]);
        let crash = Trial {
            compilation: Compilation::Failed(Ending {
                kind: EndingKind::Crash,
                message: "signal: 11".to_owned(),
            }),
            replays: Vec::new(),
        };
        assert_eq!(kinds(&[false], &crash), [FailureKind::CompileError]);
    }

    #[test]
    fn a_failure_tells_the_token() {
        let (case, tokens) = case(&[true]);
        let outcome = judge(&case, &tokens, &done(vec![replay(1, false)]), &vocabulary());
        let stop = outcome.failures[0].stopped.clone().unwrap();
        assert_eq!((stop.token, stop.after.as_str(), stop.text.as_str()), (1, "[", "1"));
        assert_eq!(outcome.failures[0].reason, "the token is not in the mask");
    }

    fn conformance(name: &str, passed: [bool; 4]) -> Conformance {
        let failure = refused("no".to_owned());
        let cases = passed.iter().enumerate().map(|(number, passed)| CaseOutcome {
            category: ["a", "a", "b", "b"][number].to_owned(),
            description: String::new(),
            failures: if *passed { vec![] } else { vec![failure.clone()] },
        });
        Conformance::new(name, cases.collect())
    }

    #[test]
    fn tables_count_categories() {
        let one = conformance("one", [true, true, true, false]);
        assert_eq!(one.passed(), 3);
        assert_eq!(one.count(|outcome| outcome.compile_error), 1);
        assert_eq!(LEVELS.map(|(_, level)| one.above(level)), [2, 2, 1, 1, 1]);
        let two = conformance("two", [true, false, true, false]);
        let none = conformance("none", [false; 4]);
        let frameworks = [one, two, none];
        assert_eq!(
            standings(&frameworks, "a"),
            [Standing::Single, Standing::Behind, Standing::Behind]
        );
        assert_eq!(
            standings(&frameworks, "b"),
            [Standing::Tied, Standing::Tied, Standing::Behind]
        );
        assert_eq!(standings(&frameworks[2..], "a"), [Standing::Behind]);
    }

    #[test]
    fn categories_of_unfinished_runs_are_matched_by_name() {
        let whole = conformance("whole", [true, false, true, true]);
        let [mut first, mut second] = ["first", "second"].map(|name| conformance(name, [true; 4]));
        first.categories.truncate(1);
        second.categories.remove(0);
        let frameworks = [second, first, whole];
        assert_eq!(categories(&frameworks), ["a", "b"]);
        assert_eq!(categories(&frameworks[..2]), ["b", "a"]);
        assert_eq!(
            standings(&frameworks, "a"),
            [Standing::Behind, Standing::Single, Standing::Behind]
        );
        assert_eq!(
            standings(&frameworks, "b"),
            [Standing::Tied, Standing::Behind, Standing::Tied]
        );
        // A framework that has come to fewer cases of a category says nothing about the others.
        let [mut fewer, whole] = ["fewer", "whole"].map(|name| conformance(name, [true; 4]));
        fewer.categories[0].1.cases -= 1;
        let frameworks = [fewer, whole];
        assert_eq!(standings(&frameworks, "a"), [Standing::Behind; 2]);
        assert_eq!(standings(&frameworks, "b"), [Standing::Tied; 2]);
    }
}
