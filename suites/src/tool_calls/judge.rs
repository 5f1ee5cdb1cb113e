//! [`judge`]: judges whether the calls of a reply are right.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::accepted::is_accepted;
use super::request::{ExpectedCall, ToolRequest};

/// A call that a model has made.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function's name.
    pub name: String,
    /// The arguments; of a name that was given twice, the last value.
    pub arguments: Map<String, Value>,
    /// A name that was given twice, where there is one: arguments with a repeated name are not valid.
    pub repeated: Option<String>,
}

/// Verdict on the calls of a reply.
///
/// If no call is right, all verdicts hold for a reply without a call, and only `parsed` holds for a reply with calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallJudgement {
    /// Number of calls.
    pub calls: usize,
    /// Whether every call is well-formed in the format that was asked for, and there is a call where one is right.
    pub parsed: bool,
    /// Whether the reply calls the right functions, each as often as is right, in any order.
    pub right_functions: bool,
    /// Whether the functions are right and the arguments of every call are valid under the JSON Schema of its function.
    pub valid_arguments: bool,
    /// Whether the functions are right and the arguments are accepted values by BFCL's rules. Each right call is matched with a call of its own.
    pub accepted: bool,
    /// Reason why the reply is wrong; `None` where it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Judges the calls of a reply to `request`; an `Err` in `reply` is the reason why the calls cannot be read.
#[must_use]
pub fn judge(request: &ToolRequest, reply: &Result<Vec<Call>, String>) -> CallJudgement {
    let failed = |calls, parsed, problem: String| CallJudgement {
        calls,
        parsed,
        right_functions: false,
        valid_arguments: false,
        accepted: false,
        problem: Some(problem),
    };
    let calls = match reply {
        Ok(calls) => calls,
        Err(problem) => return failed(0, false, problem.clone()),
    };
    match (calls.is_empty(), request.expected.is_empty()) {
        (true, false) => return failed(0, false, "no call".to_owned()),
        (false, true) => return failed(calls.len(), true, "no call is right".to_owned()),
        _ => {}
    }
    let (made, right) = (
        sorted(calls.iter().map(|call| &call.name)),
        sorted(request.expected.iter().map(|call| &call.name)),
    );
    if made != right {
        let problem = format!("{made:?} called, {right:?} right");
        return failed(calls.len(), true, problem);
    }
    let invalid = calls.iter().find_map(|call| invalidity(request, call));
    let accepted = are_accepted(calls, &request.expected);
    CallJudgement {
        calls: calls.len(),
        parsed: true,
        right_functions: true,
        valid_arguments: invalid.is_none(),
        accepted,
        problem: invalid.or_else(|| (!accepted).then(|| "arguments that are not accepted".to_owned())),
    }
}

fn sorted<'n>(names: impl Iterator<Item = &'n String>) -> Vec<&'n str> {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Returns the reason why the arguments of a call are not valid; `None` where they are valid.
fn invalidity(request: &ToolRequest, call: &Call) -> Option<String> {
    if let Some(name) = &call.repeated {
        return Some(format!("{}: the argument {name} twice", call.name));
    }
    let function = request.function(&call.name)?;
    let verdict = function.validator.judge_value(&Value::Object(call.arguments.clone()));
    let first = verdict.problems.first();
    let message = first.map_or_else(String::new, |problem| {
        format!("{}: {}", problem.instance, problem.message)
    });
    (!verdict.valid).then(|| format!("{}: {message}", call.name))
}

/// Whether the right calls can be matched with different calls of the reply that are accepted for them: a matching along augmenting paths.
fn are_accepted(calls: &[Call], expected: &[ExpectedCall]) -> bool {
    let fits = |right: usize, made: usize| {
        let (right, made) = (&expected[right], &calls[made]);
        right.name == made.name && is_accepted(&made.arguments, &right.arguments)
    };
    let mut right_of: Vec<Option<usize>> = vec![None; calls.len()];
    (0..expected.len()).all(|right| {
        // Breadth-first search; `reached_from` has the right call from which each call of the reply is reached.
        let mut reached_from: Vec<Option<usize>> = vec![None; calls.len()];
        let mut open = vec![right];
        let mut at = 0;
        while at < open.len() {
            let from = open[at];
            at += 1;
            for made in 0..calls.len() {
                if reached_from[made].is_some() || !fits(from, made) {
                    continue;
                }
                reached_from[made] = Some(from);
                match right_of[made] {
                    Some(next) => open.push(next),
                    None => return assign(right, made, &reached_from, &mut right_of),
                }
            }
        }
        false
    })
}

/// Matches `made` with the right call from which it was reached, and rematches along the path back to `root`.
fn assign(root: usize, mut made: usize, reached_from: &[Option<usize>], right_of: &mut [Option<usize>]) -> bool {
    while let Some(right) = reached_from[made] {
        let before = right_of.iter().position(|of| *of == Some(right));
        right_of[made] = Some(right);
        match before {
            Some(before) if right != root => made = before,
            _ => return true,
        }
    }
    false
}
