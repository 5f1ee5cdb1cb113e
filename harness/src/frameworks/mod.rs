//! The frameworks that can be compared, one file each.

mod by_name;
mod documented;
mod judging;
mod lark;
mod llguidance;
mod maskwright;
mod outlines_core;
mod settings;
mod spelling;
#[cfg(test)]
mod tests;
mod token_trie;

use ::maskwright::Compiler;
use maskwright_worker::{Description, Setup};

pub use by_name::{Framework, FrameworkError, NamedWorker, REPOSITORY, choose, find_executable};
pub use documented::{Documented, Keyword, Restriction};
pub use judging::{Judging, Spelling};
pub use settings::FrameworkSettings;

/// Name of the row without a framework: the model alone ("LM only" in the paper).
pub const LM_ONLY: &str = "none";

/// The name that pictures and tables show of a framework, or of a row with its mode behind the framework's name.
pub fn display_name(row: &str) -> String {
    match row.strip_prefix(LM_ONLY) {
        Some(mode) if mode.is_empty() || mode.starts_with(", ") => format!("LM only{mode}"),
        _ => row.to_owned(),
    }
}

/// A constrained-decoding framework of this program: its name and version, and the function that makes it ready.
pub struct BuiltInFramework {
    /// Name in commands, records and tables.
    pub name: &'static str,
    /// Description of the framework in one line, for `maskwright list`.
    pub description: &'static str,
    /// Version of the framework's package.
    pub version: &'static str,
    /// The options that the framework runs with, as its own documentation calls them.
    pub options: &'static str,
    /// Whether the framework resolves `$ref` to documents that come with the setup.
    pub accepts_documents: bool,
    /// Whether the framework can be trusted in the process of the benchmark itself: it neither crashes nor hangs on any schema we know. All others
    /// run in workers only.
    pub in_process: bool,
    /// Whether the framework can tell tokens that end a document.
    pub completes: bool,
    /// Whether it compiles structural tags.
    pub structural_tags: bool,
    /// Keywords and formats that the framework documents as supported.
    pub documented: &'static Documented,
    /// Function that writes documents in the form that the framework takes; none where it takes every text of a value.
    pub spelling: Option<Spelling>,
    /// Function that makes the framework ready for a vocabulary.
    pub prepare: fn(&Setup) -> Result<Box<dyn Compiler>, String>,
}

impl BuiltInFramework {
    /// Returns the description that the framework's worker sends.
    pub fn describe(&self) -> Description {
        Description {
            name: self.name.to_owned(),
            version: self.version.to_owned(),
            options: self.options.to_owned(),
            accepts_documents: self.accepts_documents,
            completes: self.completes,
            structural_tags: self.structural_tags,
            documented: Some(self.documented.into()),
        }
    }
}

/// A framework that is a program of its own, because it cannot be built into this one.
pub struct ExternalFramework {
    /// Name in commands, records and tables.
    pub name: &'static str,
    /// Description of the framework in one line, for `maskwright list`.
    pub description: &'static str,
    /// Name of the executable.
    pub executable: &'static str,
    /// Arguments of the executable.
    pub arguments: &'static [&'static str],
    /// Folder of its package, from the root of the repository.
    pub package: &'static str,
    /// Whether it compiles structural tags.
    pub structural_tags: bool,
}

/// Every framework of this program, in the order of tables.
pub static BUILT_IN_FRAMEWORKS: &[BuiltInFramework] = &[
    maskwright::FRAMEWORK,
    maskwright::GENERATION,
    llguidance::FRAMEWORK,
    outlines_core::FRAMEWORK,
];

/// Every framework that is a program of its own, in the order of tables.
pub static EXTERNAL_FRAMEWORKS: &[ExternalFramework] = &[
    ExternalFramework {
        name: "xgrammar",
        description: "pushdown automaton with masks computed ahead, as it comes: members that a schema does not name are forbidden",
        executable: "maskwright-worker-xgrammar",
        arguments: &[],
        package: "harness/worker-xgrammar",
        structural_tags: true,
    },
    ExternalFramework {
        name: "xgrammar-standard",
        description: "XGrammar with strict mode off: members that a schema does not name are allowed, as JSON Schema has it",
        executable: "maskwright-worker-xgrammar",
        arguments: &["--standard"],
        package: "harness/worker-xgrammar",
        structural_tags: true,
    },
    ExternalFramework {
        name: "llamacpp",
        description: "llama.cpp's grammars, from its own schema converter",
        executable: "maskwright-worker-llamacpp",
        arguments: &[],
        package: "harness/worker-llamacpp",
        structural_tags: false,
    },
    ExternalFramework {
        name: "glrmask",
        description: "generalised LR parser over precompiled tables",
        executable: "maskwright-worker-glrmask",
        arguments: &[],
        package: "harness/worker-glrmask",
        structural_tags: false,
    },
];
