//! Reading requests: JSON Lines in the layout of BFCL, and the sample that is part of the program.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::BUILTIN;
use super::bfcl_types::json_schema;
use super::request::{ExpectedCall, RequestSet, ToolFunction, ToolRequest};
use crate::dataset::Subsample;
use crate::prompt::Message;
use crate::strict_json;
use crate::text_file::{self, FileError};
use crate::validate::{MAX_DEPTH, Validator};

/// Name of the folder of the answer files, beside the question files.
const ANSWERS: &str = "possible_answer";

/// Word in the names of files whose questions no call is right for; BFCL has no answer files for them.
const NO_CALL_IS_RIGHT: &str = "irrelevance";

/// Reason why requests cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolRequestError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is not in BFCL's layout.
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The defect, and the layout that is needed.
        problem: String,
    },
    /// A question file has no answer file.
    #[error(
        "{} has no answers: put BFCL's file of the same name at {}, or have `{NO_CALL_IS_RIGHT}` in the file's name where no call is right",
        questions.display(), answers.display()
    )]
    NoAnswers {
        /// The file of questions.
        questions: PathBuf,
        /// Path at which the answer file is expected.
        answers: PathBuf,
    },
    /// A file has no questions.
    #[error("{} has no questions", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Texts of a request set, with their paths for errors.
struct Source<'a> {
    questions: (&'a Path, &'a str),
    /// Path and text of the answer file; `None` where no call is right.
    answers: Option<(&'a Path, &'a str)>,
    /// Functions that questions may name instead of describing them.
    shared: &'a [Value],
}

impl RequestSet {
    /// Reads the questions of a file in BFCL's layout, with the answers of `possible_answer/` beside it, and takes `sample` of them. No call is right
    /// in a file without answers that has `irrelevance` in its name.
    ///
    /// # Errors
    ///
    /// [`ToolRequestError`], with file and line.
    pub fn read(path: &Path, sample: Subsample) -> Result<Self, ToolRequestError> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let questions = text_file::read_text(path)?;
        let file = path.file_name().unwrap_or_default();
        let answers_path = path.parent().unwrap_or(Path::new("")).join(ANSWERS).join(file);
        let answers = match answers_path.is_file() {
            true => Some(text_file::read_text(&answers_path)?),
            false if stem.to_lowercase().contains(NO_CALL_IS_RIGHT) => None,
            false => {
                return Err(ToolRequestError::NoAnswers {
                    questions: path.to_owned(),
                    answers: answers_path,
                });
            }
        };
        let source = Source {
            questions: (path, &questions),
            answers: answers.as_deref().map(|text| (&*answers_path, text)),
            shared: &[],
        };
        Self::from_source(stem, &source, sample)
    }

    /// Returns the sample that is part of the program: forty requests with twenty functions, and some for which no call is right.
    ///
    /// # Errors
    ///
    /// None: the tests read the sample.
    pub fn builtin(sample: Subsample) -> Result<Self, ToolRequestError> {
        let functions = include_str!("../../data/tool-calls/tools.json");
        let questions = include_str!("../../data/tool-calls/requests.jsonl");
        let answers = include_str!("../../data/tool-calls/answers.jsonl");
        let path = |name: &'static str| Path::new(name);
        let shared = serde_json::from_str(functions).map_err(|error| line(path("tools.json"), error.line(), &error))?;
        let source = Source {
            questions: (path("requests.jsonl"), questions),
            answers: Some((path("answers.jsonl"), answers)),
            shared: match &shared {
                Value::Array(shared) => shared,
                _ => &[],
            },
        };
        Self::from_source(BUILTIN.to_owned(), &source, sample)
    }

    fn from_source(name: String, source: &Source<'_>, sample: Subsample) -> Result<Self, ToolRequestError> {
        let answers = match source.answers {
            Some((path, text)) => Some(read_answers(path, text)?),
            None => None,
        };
        let (path, text) = source.questions;
        let lines: Vec<(usize, &str)> = lines(text).collect();
        let chosen = sample.positions(lines.len()).into_iter().map(|at| lines[at]);
        let mut ids = HashSet::new();
        let read = chosen.map(|(number, text)| {
            let request = read_request(text, source.shared, answers.as_ref());
            let request = request.and_then(|request| match ids.insert(request.id.clone()) {
                true => Ok(request),
                false => Err(taken(&request.id)),
            });
            request.map_err(|problem| line(path, number, &problem))
        });
        let requests: Vec<ToolRequest> = read.collect::<Result<_, _>>()?;
        match requests.is_empty() {
            true => Err(ToolRequestError::Empty { path: path.to_owned() }),
            false => Ok(Self { name, requests }),
        }
    }
}

fn line(path: &Path, line: usize, problem: &dyn std::fmt::Display) -> ToolRequestError {
    ToolRequestError::Line {
        path: path.to_owned(),
        line,
        problem: problem.to_string(),
    }
}

/// Returns the lines that are not empty, with their numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    numbered.filter(|(_, line)| !line.trim().is_empty())
}

/// Reads the JSON object of a line.
fn object(text: &str) -> Result<Map<String, Value>, String> {
    match strict_json::parse(text, MAX_DEPTH)
        .map_err(|error| error.to_string())?
        .value
    {
        Value::Object(members) => Ok(members),
        _ => Err("a JSON object is needed: one question or answer a line, as BFCL has them".to_owned()),
    }
}

fn text_of(members: &Map<String, Value>, name: &str) -> Result<String, String> {
    let text = members.get(name).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| format!("`{name}` with a text is needed"))
}

/// Reads the right calls of each question, by the question's id.
fn read_answers(path: &Path, text: &str) -> Result<HashMap<String, Vec<ExpectedCall>>, ToolRequestError> {
    let mut answers = HashMap::new();
    for (number, text) in lines(text) {
        let mut read = || {
            let members = object(text)?;
            let id = text_of(&members, "id")?;
            let calls = expected_calls(members.get("ground_truth"))?;
            match answers.insert(id.clone(), calls) {
                None => Ok(()),
                Some(_) => Err(taken(&id)),
            }
        };
        read().map_err(|problem: String| line(path, number, &problem))?;
    }
    Ok(answers)
}

fn taken(id: &str) -> String {
    format!("an earlier line has the id {id}: each question needs its own")
}

fn expected_calls(truth: Option<&Value>) -> Result<Vec<ExpectedCall>, String> {
    let needed = || "`ground_truth` with a list of {function: {argument: [accepted values]}} is needed".to_owned();
    let calls = truth.and_then(Value::as_array).ok_or_else(needed)?;
    let each = calls.iter().map(|call| {
        let mut calls = call.as_object().into_iter().flatten();
        let (Some((name, Value::Object(arguments))), None) = (calls.next(), calls.next()) else {
            return Err(needed());
        };
        match arguments.values().all(Value::is_array) {
            true => Ok(ExpectedCall {
                name: name.clone(),
                arguments: arguments.clone(),
            }),
            false => Err(needed()),
        }
    });
    each.collect()
}

fn read_request(
    text: &str,
    shared: &[Value],
    answers: Option<&HashMap<String, Vec<ExpectedCall>>>,
) -> Result<ToolRequest, String> {
    let members = object(text)?;
    let id = text_of(&members, "id")?;
    let functions = match members.get("function") {
        Some(Value::Array(functions)) => functions.iter(),
        // BFCL's oldest files have a single function without a list.
        Some(one @ Value::Object(_)) => std::slice::from_ref(one).iter(),
        _ => return Err("`function` with a list of functions is needed".to_owned()),
    };
    let mut read: Vec<ToolFunction> = Vec::new();
    for function in functions {
        let function = read_function(function, shared)?;
        if read.iter().any(|other| other.name == function.name) {
            return Err(format!(
                "two functions are called {}: leave one of them out",
                function.name
            ));
        }
        read.push(function);
    }
    let expected = match answers {
        None => Vec::new(),
        Some(answers) => {
            let found = answers.get(&id).cloned();
            found.ok_or_else(|| format!("the file of answers has none with the id {id}"))?
        }
    };
    let unknown = expected
        .iter()
        .find(|call| read.iter().all(|function| function.name != call.name));
    if let Some(call) = unknown {
        return Err(format!(
            "the answer calls {}, which is none of the functions",
            call.name
        ));
    }
    Ok(ToolRequest {
        id,
        messages: messages(members.get("question"))?,
        functions: read,
        expected,
    })
}

/// Reads the messages of a question of one turn.
fn messages(question: Option<&Value>) -> Result<Vec<Message>, String> {
    let needed = || {
        "`question` with one list of messages, `[[{\"role\": …, \"content\": …}]]`, is needed: questions of several turns are not asked".to_owned()
    };
    let turns = question.and_then(Value::as_array).ok_or_else(needed)?;
    let [turn] = &turns[..] else { return Err(needed()) };
    let messages: Vec<Message> = serde_json::from_value(turn.clone()).map_err(|_| needed())?;
    match messages.is_empty() {
        true => Err(needed()),
        false => Ok(messages),
    }
}

fn read_function(function: &Value, shared: &[Value]) -> Result<ToolFunction, String> {
    let members = match function {
        Value::Object(members) => members,
        Value::String(name) => {
            let mut named = shared.iter().filter(|function| function["name"] == **name);
            named
                .find_map(Value::as_object)
                .ok_or_else(|| format!("no function is called {name}"))?
        }
        _ => return Err("a function with `name`, `description` and `parameters` is needed".to_owned()),
    };
    let name = text_of(members, "name")?;
    let parameters = members.get("parameters").filter(|parameters| parameters.is_object());
    let parameters = parameters.ok_or_else(|| format!("function {name}: `parameters` with an object is needed"))?;
    let parameters = json_schema(parameters).ok_or_else(|| format!("function {name}: parameters nested too deeply"))?;
    let validator = Validator::from_value(&parameters).map_err(|problem| format!("function {name}: {problem}"))?;
    Ok(ToolFunction {
        description: text_of(members, "description").unwrap_or_default(),
        name,
        parameters,
        validator,
    })
}
