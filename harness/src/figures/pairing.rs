//! [`check`]: decides whether the records of several runs may be paired, question by question and schema by schema.

use serde_json::Value;

/// Lists in the settings of runs whose members have a name and a hash of their questions: tasks of `quality`, datasets of `bench`.
const ASKED: [&str; 2] = ["tasks", "datasets"];
/// Settings that decide what a model answers, whatever constrains it, and what is right; a run that lacks one has its default.
const CONDITIONS: [&str; 6] = ["shots", "sampling", "prompt", "tool_format", "documents", "style"];
/// Further settings that decide answers and times. A run of an earlier version may lack them; a setting that a run lacks is not compared.
const FURTHER_CONDITIONS: [&str; 22] = [
    "sha256",
    "cases_sha256",
    "draft",
    "seed",
    "vocabulary",
    "documents_made",
    "samples",
    "level",
    "max_tokens",
    "protocol",
    "prompt_date",
    "compile_limit_s",
    "generation_limit_s",
    "time_limit_s",
    "fast_forward",
    "prefix_cache",
    "compile_beside_prefill",
    "finish_in_time",
    "overlap",
    "repeat",
    "tool_choice",
    "parallel_calls",
];

/// Checks that runs, given by their names and settings, asked the questions that they share under the same conditions.
///
/// # Errors
///
/// A sentence that names two runs that did not, and their differences: their answers could be paired by name, but are answers to something else.
pub fn check(runs: &[(String, Value)]) -> Result<(), String> {
    for (number, (first, one)) in runs.iter().enumerate() {
        for (second, other) in &runs[..number] {
            let differences = differences(one, other);
            if !differences.is_empty() {
                return Err(format!(
                    "{second} and {first} cannot be in the same figures: {} differ; give runs that asked alike, or draw the figures of each by itself",
                    differences.join(", ")
                ));
            }
        }
    }
    Ok(())
}

/// Returns the differences between the questions of two runs of one command, given by their settings; none where they share no data.
pub fn differences(one: &Value, other: &Value) -> Vec<String> {
    let (is_shared, mut found) = shared_data(one, other);
    if is_shared {
        found.extend(condition_differences(one, other));
    }
    found
}

/// Whether two runs share data, with those of their data that have one name and are not the same.
fn shared_data(one: &Value, other: &Value) -> (bool, Vec<String>) {
    let mut found = Vec::new();
    let has_lists = |settings: &Value| ASKED.iter().any(|list| settings[*list].is_array());
    // Runs without such lists have one set of data.
    let mut is_shared = !has_lists(one) && !has_lists(other);
    for list in ASKED {
        let members = |settings: &Value| settings[list].as_array().cloned().unwrap_or_default();
        let others = members(other);
        for member in members(one) {
            let Some(same) = others.iter().find(|other| other["name"] == member["name"]) else {
                continue;
            };
            is_shared = true;
            if same["sha256"] != member["sha256"] {
                found.push(format!("{list} {}", member["name"]));
            }
        }
    }
    (is_shared, found)
}

/// Returns the differences between the conditions under which two runs of one command asked, given by their settings.
fn condition_differences(one: &Value, other: &Value) -> impl Iterator<Item = String> {
    let conditions = CONDITIONS.iter().filter(|name| one[**name] != other[**name]);
    let further = FURTHER_CONDITIONS.iter().filter(|name| {
        let (one, other) = (&one[**name], &other[**name]);
        !one.is_null() && !other.is_null() && one != other
    });
    conditions.chain(further).map(|name| (*name).to_owned())
}

/// Whether two runs of one command asked under the same conditions, and the same questions where they share data.
pub fn are_alike(one: &Value, other: &Value) -> bool {
    let (_, differences) = shared_data(one, other);
    differences.is_empty() && condition_differences(one, other).next().is_none()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(task: &str, sha256: &str, shots: usize, seed: usize) -> Value {
        json!({"tasks": [{"name": task, "sha256": sha256}], "shots": shots, "sampling": {"seed": seed}})
    }

    #[test]
    fn runs_are_paired_where_they_asked_alike_only() {
        let check =
            |one: &Value, other: &Value| check(&[("A".to_owned(), one.clone()), ("B".to_owned(), other.clone())]);
        let one = settings("gsm8k", "1", 3, 0);
        assert_eq!(check(&one, &one), Ok(()));
        // Runs that share nothing are not paired.
        assert_eq!(check(&one, &settings("shuffle", "2", 5, 9)), Ok(()));
        for (other, difference) in [
            (settings("gsm8k", "2", 3, 0), "tasks \"gsm8k\" differ"),
            (settings("gsm8k", "1", 5, 0), "shots differ"),
            (settings("gsm8k", "1", 3, 7), "sampling differ"),
        ] {
            let problem = check(&one, &other).unwrap_err();
            assert!(problem.contains("A and B") && problem.contains(difference), "{problem}");
        }
        let bench = |sha256: &str| json!({"datasets": [{"name": "d", "sha256": sha256}], "shots": 2});
        assert!(check(&bench("1"), &bench("2")).unwrap_err().contains("datasets \"d\""));
    }

    #[test]
    fn every_setting_that_decides_answers_or_times_is_compared_where_both_tell_it() {
        let settings = |changes: Value| {
            let mut settings = json!({
                "datasets": [{"name": "d", "sha256": "1"}], "max_tokens": 8, "prefix_cache": false, "fast_forward": true, "repeat": 1,
                "tool_choice": "auto", "parallel_calls": true,
            });
            let changes = changes.as_object().cloned().unwrap_or_default();
            settings.as_object_mut().unwrap().extend(changes);
            settings
        };
        let one = settings(json!({}));
        for (name, value) in [
            ("max_tokens", json!(9)),
            ("prefix_cache", json!(true)),
            ("fast_forward", json!(false)),
            ("repeat", json!(2)),
            ("tool_choice", json!("required")),
            ("parallel_calls", json!(false)),
        ] {
            assert_eq!(differences(&one, &settings(json!({name: value}))), [name]);
            assert_eq!(differences(&one, &settings(json!({name: null}))), Vec::<String>::new());
        }
        // Without a name, the format of calls is that of each model.
        assert_eq!(
            differences(&one, &settings(json!({"tool_format": "hermes"}))),
            ["tool_format"]
        );
        // Runs without a model have their data in the settings themselves.
        let masks = |vocabulary: &str, sha256: &str| json!({"vocabulary": vocabulary, "sha256": sha256, "seed": 1});
        assert_eq!(differences(&masks("a", "1"), &masks("a", "1")), Vec::<String>::new());
        assert_eq!(
            differences(&masks("a", "1"), &masks("b", "2")),
            ["sha256", "vocabulary"]
        );
    }
}
