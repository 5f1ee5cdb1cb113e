//! The JSON Schema Test Suite, where it is at hand, token by token: the required part without exception, the optional part
//! but for what `expected-failures.json` lists, with the reason.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "tests")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::random_bytes;
use maskwright::{CompileErrorKind, Compiler as _, ExactCompiler, ExactOptions, Formats, Masker};
use maskwright_fuzz::engine::{accepts, vocabulary};
use maskwright_fuzz::{Choices, spelling};
use maskwright_suites::strict_json;
use maskwright_suites::test_suite::{Case, Draft, SuitePart, TestSuite};

/// Reasons, each with the cases or tests (`draft/file: case`, `draft/file: case: test`) that fail for it.
const EXPECTED_FAILURES: &str = include_str!("expected-failures.json");

/// A compiler of `draft`, which the documents of the suite are registered with.
fn compiler(suite: &TestSuite, draft: Draft, part: SuitePart) -> ExactCompiler {
    let mut options = ExactOptions::judging().formats(match part {
        SuitePart::OptionalFormat => Formats::Asserted,
        _ => Formats::Annotation,
    });
    options.schema.documents = suite.remotes(draft).unwrap();
    ExactCompiler::new(vocabulary(), options)
}

/// Runs a part of the suite; returns the tests that come out wrong, and the number of tests.
fn run(suite: &TestSuite, part: SuitePart) -> (BTreeSet<String>, usize) {
    let (mut wrong, mut tests) = (BTreeSet::new(), 0);
    for draft in Draft::ALL {
        let compiler = compiler(suite, draft, part);
        for case in suite.cases(draft, part).unwrap() {
            let title = format!("draft{draft}/{}: {}", case.category, case.description);
            tests += case.instances.len();
            match compiler.compile(&case.schema_text) {
                Ok(masker) => judge(draft, &case, Some(&*masker), &title, &mut wrong),
                Err(error) if error.kind() == CompileErrorKind::Unsatisfiable => {
                    judge(draft, &case, None, &title, &mut wrong)
                }
                Err(error) => {
                    println!("{title}: {error}");
                    wrong.insert(title);
                }
            }
        }
    }
    (wrong, tests)
}

/// Asks for every instance as the suite spells it and, mostly, in two spellings of its value. In draft 4, where the spelling of
/// a number may decide, only as the suite has it.
fn judge(draft: Draft, case: &Case, masker: Option<&dyn Masker>, title: &str, wrong: &mut BTreeSet<String>) {
    for (seed, instance) in (0..).zip(&case.instances) {
        let bytes = random_bytes(seed);
        let mut choices = Choices::new(&bytes);
        let value = strict_json::parse(&instance.text, 256).unwrap().value;
        let mut texts = vec![instance.text.clone()];
        // Masks of internationalised host names are slow.
        if !case.category.ends_with("idn-hostname") && draft != Draft::Draft4 {
            texts.extend([(); 2].map(|()| spelling::spelled(&mut choices, &value)));
        }
        for text in texts {
            let accepted = masker.map_or(Ok(false), |masker| {
                accepts(masker, &vocabulary(), text.as_bytes(), &mut choices)
            });
            if accepted != Ok(instance.valid) {
                println!("{title}: {}: {text}: accepted: {accepted:?}", instance.description);
                wrong.insert(format!("{title}: {}", instance.description));
            }
        }
    }
}

fn suite() -> Option<TestSuite> {
    Some(TestSuite::open(&maskwright_test_data::find("test-suite")?).unwrap())
}

#[test]
fn the_required_part_has_no_exception() {
    let Some(suite) = suite() else { return };
    let (wrong, tests) = run(&suite, SuitePart::Required);
    assert!(tests > 4_900, "{tests}");
    assert_eq!(wrong, BTreeSet::new());
}

#[test]
fn the_optional_part_fails_as_expected_and_not_otherwise() {
    let Some(suite) = suite() else { return };
    let (mut wrong, mut tests) = run(&suite, SuitePart::Optional);
    let (more, of_formats) = run(&suite, SuitePart::OptionalFormat);
    wrong.extend(more);
    tests += of_formats;
    println!("{} of {tests} optional tests or cases fail", wrong.len());
    let listed: BTreeMap<String, Vec<String>> = serde_json::from_str(EXPECTED_FAILURES).unwrap();
    let expected: BTreeSet<String> = listed.into_values().flatten().collect();
    let unexpected: Vec<_> = wrong.difference(&expected).collect();
    let passing: Vec<_> = expected.difference(&wrong).collect();
    assert!(unexpected.is_empty(), "not in expected-failures.json: {unexpected:#?}");
    assert!(
        passing.is_empty(),
        "pass now, so take them off expected-failures.json: {passing:#?}"
    );
}
