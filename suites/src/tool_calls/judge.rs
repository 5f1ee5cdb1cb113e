//! [`judge`]: how far the calls of a reply are right.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::accepted::is_accepted;
use super::request::{ExpectedCall, ToolRequest};

/// A call that a model has made.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function's name.
    pub name: String,
    /// The arguments; of a name that was given twice, the last.
    pub arguments: Map<String, Value>,
    /// A name that was given twice, where there is one: such arguments are not valid.
    pub repeated: Option<String>,
}

/// Verdict on the calls of a reply.
///
/// Where no call is right, all hold of a reply without one, and none but the first of a reply with calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallJudgement {
    /// Number of calls.
    pub calls: usize,
    /// Whether there is a call where one is right, and every call is built as calls are in the format that was asked for.
    pub parsed: bool,
    /// Whether the functions are those that are right, each called as often as it is; their order is free.
    pub right_functions: bool,
    /// Whether the functions are right and the arguments of every call are valid under the JSON Schema of its function.
    pub valid_arguments: bool,
    /// Whether the functions are right and the arguments are among the accepted values, by BFCL's rules: those of each right call are those of another call.
    pub accepted: bool,
    /// Reason against the reply; none where it is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Judges the calls of a reply to `request`; an error says why they cannot be read.
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

/// Why the arguments of a call are not valid, where they are not.
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

/// Whether each right call can be given a call of its own that is accepted for it: a matching, grown call by call along augmenting paths.
fn are_accepted(calls: &[Call], expected: &[ExpectedCall]) -> bool {
    let fits = |right: usize, made: usize| {
        let (right, made) = (&expected[right], &calls[made]);
        right.name == made.name && is_accepted(&made.arguments, &right.arguments)
    };
    let mut right_of: Vec<Option<usize>> = vec![None; calls.len()];
    (0..expected.len()).all(|right| {
        // Breadth first: from which right call each made one is reached.
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

/// Gives `made` to the right call that it was reached from, and so on back to `root`.
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
