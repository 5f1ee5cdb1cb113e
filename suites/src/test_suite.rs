//! The [JSON Schema Test Suite](https://github.com/json-schema-org/JSON-Schema-Test-Suite), read from its directory.
//!
//! Texts are what Python's `json.dumps(json.load(file))` prints, as in the JSONSchemaBench paper (listings 2 and 3): one
//! line, `", "` and `": "`, non-ASCII characters as `\uXXXX`, numbers as [`json_text::python_number`] has them.
//!
//! The paper leaves out category `format` and the cases that need remote documents; this loader leaves out nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::json_text;
pub use crate::text_file::FileError;
use crate::text_file::{self, Place};

/// Address at which the suite expects its remote documents to be served.
pub const REMOTES_URI: &str = "http://localhost:1234/";

/// The directory of an unpacked Test Suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSuite {
    directory: PathBuf,
}

/// A draft of JSON Schema that the suite has tests for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Draft {
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12.
    Draft202012,
}

/// Part of a draft's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SuitePart {
    /// Mandatory behaviour of every implementation: the files in the draft's own folder.
    Required,
    /// Optional behaviour: `optional/*.json`.
    Optional,
    /// Formats, to be asserted: `optional/format/*.json`.
    OptionalFormat,
}

/// One schema with instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The file's path in the draft's folder without its extension: `anyOf`, `optional/bignum`, `optional/format/date`.
    pub category: String,
    /// Description of the case, in the suite's words.
    pub description: String,
    /// The schema. Drafts 4, 6 and 7 of the suite leave `$schema` out and expect to be read by the draft of their
    /// folder; an object without it gets it as its first member, as the text is all that a framework sees.
    pub schema_text: String,
    /// The instances, in the file's order.
    pub instances: Vec<CaseInstance>,
}

/// An instance and whether it is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseInstance {
    /// Description of the instance, in the suite's words.
    pub description: String,
    /// The instance.
    pub text: String,
    /// Whether it is valid under the case's schema.
    pub valid: bool,
}

/// Error of reading the suite, or a part of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestSuiteError {
    /// The directory is not the suite's.
    #[error(
        "there is no JSON Schema Test Suite in {}: `{missing}` is missing; give the directory that holds `tests` and \
         `remotes`", path.display()
    )]
    NotASuite {
        /// The directory asked for.
        path: PathBuf,
        /// The first of its folders that is missing.
        missing: String,
    },
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A draft was asked for that the suite does not have, or that is too old.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no draft {0:?}: known are 4, 6, 7, 2019-09 and 2020-12")]
pub struct UnknownDraft(pub String);

impl TestSuite {
    /// The suite in `directory`, which holds `tests` and `remotes`. Files are read when asked for.
    ///
    /// # Errors
    ///
    /// [`TestSuiteError::NotASuite`].
    pub fn open(directory: &Path) -> Result<Self, TestSuiteError> {
        let suite = Self {
            directory: directory.to_owned(),
        };
        for folder in ["tests", "remotes"] {
            suite.folder(folder)?;
        }
        Ok(suite)
    }

    /// The cases of one part of a draft, in the order of file names and of the files; none where the draft has no such
    /// part.
    ///
    /// # Errors
    ///
    /// [`TestSuiteError`], naming the folder or file, and the place in it.
    pub fn cases(&self, draft: Draft, part: SuitePart) -> Result<Vec<Case>, TestSuiteError> {
        let own = self.folder(&format!("tests/{}", draft.folder()))?;
        let folder = own.join(part.folder());
        let mut cases = Vec::new();
        if !folder.is_dir() {
            return Ok(cases);
        }
        for path in text_file::json_files(&folder)? {
            let category = relative(&own, &path.with_extension(""));
            let document = text_file::read_json(&path)?;
            let place = Place::root(&path);
            let listed = document.as_array().ok_or_else(|| place.malformed("a list of cases"))?;
            for (number, value) in listed.iter().enumerate() {
                cases.push(case(&category, value, draft, &place.at(number))?);
            }
        }
        Ok(cases)
    }

    /// Every document below `remotes`, by the URI that schemas refer to it by: [`REMOTES_URI`] and its path. Drafts refer
    /// to one another's documents, so each is served all of them.
    ///
    /// If `draft` is 4, 6 or 7, the documents in no draft's folder and those in the draft's own get `$schema` as
    /// [`Case::schema_text`] does.
    ///
    /// # Errors
    ///
    /// [`TestSuiteError`], naming the file.
    pub fn remotes(&self, draft: Draft) -> Result<BTreeMap<String, String>, TestSuiteError> {
        let root = self.folder("remotes")?;
        let mut remotes = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for path in text_file::entries(&folder)? {
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "json") {
                    let name = relative(&root, &path);
                    let document = text_file::read_json(&path)?;
                    let document = match remote_draft(&name, draft) {
                        Some(draft) => with_draft(document, draft),
                        None => document,
                    };
                    remotes.insert(format!("{REMOTES_URI}{name}"), text(&document, &Place::root(&path))?);
                }
            }
        }
        Ok(remotes)
    }

    fn folder(&self, name: &str) -> Result<PathBuf, TestSuiteError> {
        let path = self.directory.join(name);
        if path.is_dir() {
            return Ok(path);
        }
        Err(TestSuiteError::NotASuite {
            path: self.directory.clone(),
            missing: name.to_owned(),
        })
    }
}

/// The path of `path` below `root`, with `/` on every system.
fn relative(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// The draft by which the remote document `name` is read, where it does not say so itself and `draft` refers to it.
fn remote_draft(name: &str, draft: Draft) -> Option<Draft> {
    let folder = name.split('/').next().unwrap_or_default();
    let of_another = (folder.starts_with("draft") || folder == "v1") && folder != draft.folder();
    (!of_another).then_some(draft)
}

fn case(category: &str, value: &Value, draft: Draft, place: &Place<'_>) -> Result<Case, FileError> {
    let schema = place.member(value, "schema", "a schema", Some)?;
    let tests = place.member(value, "tests", "a list of tests", Value::as_array)?;
    let place_of_tests = place.at("tests");
    let numbered = tests.iter().enumerate();
    Ok(Case {
        category: category.to_owned(),
        description: place
            .member(value, "description", "a string", Value::as_str)?
            .to_owned(),
        schema_text: text(&with_draft(schema.clone(), draft), place)?,
        instances: numbered
            .map(|(number, test)| instance(test, &place_of_tests.at(number)))
            .collect::<Result<_, _>>()?,
    })
}

fn instance(value: &Value, place: &Place<'_>) -> Result<CaseInstance, FileError> {
    let data = place.member(value, "data", "an instance", Some)?;
    Ok(CaseInstance {
        description: place
            .member(value, "description", "a string", Value::as_str)?
            .to_owned(),
        text: text(data, place)?,
        valid: place.member(value, "valid", "a boolean", Value::as_bool)?,
    })
}

fn text(value: &Value, place: &Place<'_>) -> Result<String, FileError> {
    json_text::python_ascii_string(value).map_err(|_| place.malformed("a JSON value"))
}

/// `schema` with `$schema` as its first member, where it is an object without one and files of `draft` leave it out.
fn with_draft(schema: Value, draft: Draft) -> Value {
    match draft.states_itself() {
        true => schema,
        false => draft.declared_in(schema),
    }
}

impl Draft {
    /// All of them, the oldest first.
    pub const ALL: [Self; 5] = [
        Self::Draft4,
        Self::Draft6,
        Self::Draft7,
        Self::Draft201909,
        Self::Draft202012,
    ];

    /// The value of `$schema` that names the draft.
    #[must_use]
    pub fn schema_uri(self) -> &'static str {
        match self {
            Self::Draft4 => "http://json-schema.org/draft-04/schema#",
            Self::Draft6 => "http://json-schema.org/draft-06/schema#",
            Self::Draft7 => "http://json-schema.org/draft-07/schema#",
            Self::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// `schema` with `$schema` as its first member, where it is an object without one.
    #[must_use]
    pub fn declared_in(self, schema: Value) -> Value {
        match schema {
            Value::Object(members) if !members.contains_key("$schema") => {
                let mut all = Map::with_capacity(members.len() + 1);
                all.insert("$schema".to_owned(), Value::from(self.schema_uri()));
                all.extend(members);
                Value::Object(all)
            }
            other => other,
        }
    }

    /// Name of the draft: `4`, `6`, `7`, `2019-09` or `2020-12`.
    fn name(self) -> &'static str {
        match self {
            Self::Draft4 => "4",
            Self::Draft6 => "6",
            Self::Draft7 => "7",
            Self::Draft201909 => "2019-09",
            Self::Draft202012 => "2020-12",
        }
    }

    fn folder(self) -> String {
        format!("draft{}", self.name())
    }

    /// Whether the suite's schemas of this draft have `$schema`.
    fn states_itself(self) -> bool {
        self >= Self::Draft201909
    }
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Draft {
    type Err = UnknownDraft;

    /// Reads `7`, `draft7`, `draft-07`, `2019-09`, `draft2019-09` and the like.
    fn from_str(given: &str) -> Result<Self, UnknownDraft> {
        let lower = given.trim().to_ascii_lowercase();
        let plain = lower.strip_prefix("draft").unwrap_or(&lower);
        let plain = plain.trim_start_matches(['-', ' ', '0']);
        let found = Self::ALL.into_iter().find(|draft| draft.name() == plain);
        found.ok_or_else(|| UnknownDraft(given.to_owned()))
    }
}

impl SuitePart {
    fn folder(self) -> &'static str {
        match self {
            Self::Required => "",
            Self::Optional => "optional",
            Self::OptionalFormat => "optional/format",
        }
    }
}
