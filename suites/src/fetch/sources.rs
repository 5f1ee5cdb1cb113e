//! The table of sources that can be fetched.

/// A collection of public data: its home, and the files wanted from it.
#[derive(Debug)]
pub struct Source {
    /// Name for `maskwright fetch`; also the name of the source's directory.
    pub name: &'static str,
    /// Description in one line.
    pub description: &'static str,
    /// Licence of the source, as its home states it.
    pub licence: &'static str,
    /// The place where the source is published.
    pub home: Home,
    /// The revision fetched unless another is asked for: a commit, which needs no resolving, or a branch.
    pub revision: &'static str,
    /// Patterns of the paths wanted: `*` stands for any part of one name, `**` for any names.
    pub wanted: &'static [&'static str],
    /// Layout by which a copy of the source is recognised on disk.
    pub layout: Layout,
}

/// The place where a source is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// A GitHub repository of many files, fetched as one archive.
    GitHubArchive(&'static str),
    /// A few files of a GitHub repository, fetched one by one.
    GitHubFiles(&'static str),
    /// A dataset of the Hugging Face hub, fetched file by file.
    Hub(&'static str),
}

/// Layout of a directory with a source's data.
#[derive(Debug)]
pub struct Layout {
    /// Directories, from the root of a copy, that hold the data; the first that has the [marker](Self::marker).
    pub roots: &'static [&'static str],
    /// A path below the root that every copy has.
    pub marker: &'static str,
}

impl Home {
    /// `owner/name`.
    pub fn repository(&self) -> &'static str {
        match self {
            Self::GitHubArchive(repository) | Self::GitHubFiles(repository) | Self::Hub(repository) => repository,
        }
    }

    /// Address of its page, for people.
    pub fn page(&self) -> String {
        match self {
            Self::GitHubArchive(repository) | Self::GitHubFiles(repository) => {
                format!("https://github.com/{repository}")
            }
            Self::Hub(repository) => format!("https://huggingface.co/datasets/{repository}"),
        }
    }
}

impl Source {
    /// Name of a directory that a copy made by other means usually has.
    pub fn checkout(&self) -> &'static str {
        let repository = self.home.repository();
        repository.split_once('/').map_or(repository, |(_, name)| name)
    }

    /// Whether `path` is among the wanted files.
    pub fn wants(&self, path: &str) -> bool {
        self.wanted.iter().any(|pattern| matches(pattern, path))
    }

    /// Whether the directory `path` may hold something that is wanted.
    pub fn may_want_below(&self, path: &str) -> bool {
        self.wanted.iter().any(|pattern| {
            let mut names = pattern.split('/');
            path.split('/').all(|part| match names.next() {
                Some("**") => {
                    names = "**".split('/');
                    true
                }
                Some(name) => name_matches(name, part),
                None => false,
            }) && names.next().is_some()
        })
    }
}

/// All sources that can be fetched.
pub const SOURCES: &[Source] = &[
    Source {
        name: "jsonschemabench",
        description: "JSONSchemaBench: 9,558 schemas in ten datasets, and MaskBench's labelled instances",
        licence: "MIT, as stated on the hub",
        home: Home::GitHubArchive("guidance-ai/jsonschemabench"),
        revision: "bf6af9bf765573fdc281d0c7964f5464929d7ded",
        wanted: &["LICENSE*", "README.md", "data/*/*.json", "maskbench/data/*.json"],
        layout: Layout {
            roots: &[""],
            marker: "data/Github_easy",
        },
    },
    Source {
        name: "test-suite",
        description: "the official JSON Schema Test Suite: tests of every draft, and the schemas they refer to",
        licence: "MIT",
        home: Home::GitHubArchive("json-schema-org/JSON-Schema-Test-Suite"),
        revision: "main",
        wanted: &["LICENSE*", "tests/**", "remotes/**"],
        layout: Layout {
            roots: &[""],
            marker: "tests/draft2020-12",
        },
    },
    Source {
        name: "jsonschemabench-hub",
        description: "JSONSchemaBench's schemas as parquet files, in splits",
        licence: "MIT",
        home: Home::Hub("epfl-dlab/JSONSchemaBench"),
        revision: "main",
        // Not its folder `data`: earlier versions of the same rows.
        wanted: &[
            "README.md",
            "Github_*/*.parquet",
            "Glaiveai2K/*.parquet",
            "JsonSchemaStore/*.parquet",
            "Kubernetes/*.parquet",
            "Snowplow/*.parquet",
            "WashingtonPost/*.parquet",
        ],
        layout: Layout {
            roots: &[""],
            marker: "Github_easy/test-00000-of-00001.parquet",
        },
    },
    Source {
        name: "gsm8k",
        description: "GSM8K: grade school mathematics, questions with worked answers",
        licence: "MIT",
        home: Home::GitHubFiles("openai/grade-school-math"),
        revision: "master",
        wanted: &[
            "LICENSE*",
            "grade_school_math/data/train.jsonl",
            "grade_school_math/data/test.jsonl",
        ],
        layout: Layout {
            roots: &["grade_school_math/data", "data", ""],
            marker: "test.jsonl",
        },
    },
    Source {
        name: "bbh",
        description: "BIG-Bench Hard: tracking three, five and seven shuffled objects",
        licence: "MIT",
        home: Home::GitHubFiles("suzgunmirac/BIG-Bench-Hard"),
        revision: "main",
        wanted: &[
            "LICENSE*",
            "bbh/tracking_shuffled_objects_three_objects.json",
            "bbh/tracking_shuffled_objects_five_objects.json",
            "bbh/tracking_shuffled_objects_seven_objects.json",
        ],
        layout: Layout {
            roots: &["bbh", ""],
            marker: "tracking_shuffled_objects_three_objects.json",
        },
    },
    Source {
        name: "last-letter",
        description: "Last Letter: names whose last letters are to be put together",
        licence: "see its page",
        home: Home::Hub("ChilleD/LastLetterConcat"),
        revision: "main",
        wanted: &["LICENSE*", "README.md", "test.json", "train.json"],
        layout: Layout {
            roots: &[""],
            marker: "test.json",
        },
    },
    Source {
        name: "ifstruct",
        description: "IFStruct: prompts that ask for JSON and YAML of a given structure",
        licence: "see its page",
        home: Home::Hub("LiquidAI/ifstruct-v1.0"),
        revision: "main",
        wanted: &["LICENSE*", "README.md", "*.parquet"],
        layout: Layout {
            roots: &[""],
            marker: "test.parquet",
        },
    },
];

/// The source by the name `name`.
pub fn source(name: &str) -> Option<&'static Source> {
    SOURCES.iter().find(|source| source.name == name)
}

/// Whether `path` has the form of `pattern`.
fn matches(pattern: &str, path: &str) -> bool {
    match (pattern.split_once('/'), path.split_once('/')) {
        (Some(("**", _)), _) => false,
        (None, _) if pattern == "**" => true,
        (Some((first, patterns)), Some((name, names))) => name_matches(first, name) && matches(patterns, names),
        (None, None) => name_matches(pattern, path),
        _ => false,
    }
}

/// Whether a single name has the form of `pattern`, in which at most one `*` stands for anything.
fn name_matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_choose_files_and_the_folders_on_the_way() {
        let bench = source("jsonschemabench").unwrap();
        assert!(bench.wants("data/Github_easy/a.json") && bench.wants("LICENSE.md") && bench.wants("LICENSE"));
        for path in [
            "data/a.json",
            "data/x/y/a.json",
            "data/x/a.txt",
            "maskbench/a.json",
            "x/README.md",
        ] {
            assert!(!bench.wants(path), "{path}");
        }
        for path in ["data", "data/x", "maskbench", "maskbench/data"] {
            assert!(bench.may_want_below(path), "{path}");
        }
        for path in ["img", "data/x/y", "maskbench/plots", "maskbench/data/x"] {
            assert!(!bench.may_want_below(path), "{path}");
        }
        let suite = source("test-suite").unwrap();
        assert!(suite.wants("tests/draft7/optional/format/date.json") && !suite.wants("bin/x"));
        assert!(suite.may_want_below("tests") && suite.may_want_below("remotes/a/b/c"));
        let hub = source("jsonschemabench-hub").unwrap();
        assert!(!hub.wants("data/Github_easy-00000-of-00001.parquet"));
        assert!(hub.wants("Github_hard/val-00000-of-00001.parquet"));
    }

    #[test]
    fn markers_are_wanted_and_names_differ() {
        for (at, source) in SOURCES.iter().enumerate() {
            assert!(SOURCES[..at].iter().all(|other| other.name != source.name));
            let root = source.layout.roots[0];
            let marker = format!("{root}/{}", source.layout.marker);
            let marker = marker.trim_start_matches('/');
            assert!(source.wants(marker) || source.may_want_below(marker), "{marker}");
        }
    }
}
