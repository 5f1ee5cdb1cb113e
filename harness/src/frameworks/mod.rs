//! The frameworks that can be compared: those of `maskwright-frameworks`, which run within this program, and programs of their own.

mod by_name;
mod settings;

pub use by_name::{Framework, FrameworkError, NamedWorker, REPOSITORY, choose, find_executable};
pub use maskwright_frameworks::{BUILT_IN_FRAMEWORKS, Documented, Judging};
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
