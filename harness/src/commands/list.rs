//! `maskwright list`.

use std::path::PathBuf;

use clap::Args;
use maskwright_models::{Family, MISSING, compared_with};
use serde_json::{Value, json};

use crate::bench::settings::HELD_OUT;
use crate::error::CommandError;
use crate::frameworks::{BUILT_IN_FRAMEWORKS, EXTERNAL_FRAMEWORKS, LM_ONLY, REPOSITORY, find_executable};
use crate::terminal::listed;

/// Arguments of `maskwright list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Directory of further datasets: JSONSchemaBench's files, or the hub's parquet files. Without it,
    /// what `maskwright fetch` has fetched
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// List the families of models that run, with the implementations they were compared with, and known ones that do not
    #[arg(long, conflicts_with = "data")]
    models: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Lists frameworks, models and datasets.
///
/// # Errors
///
/// [`CommandError::Dataset`], where the data directory cannot be read.
pub fn run(arguments: &ListArguments) -> Result<(), CommandError> {
    if arguments.models {
        return match arguments.json {
            true => crate::print(&format!("{}\n", families_as_json())),
            false => crate::print_text(&families_as_text()),
        };
    }
    let catalog = super::catalog(arguments.data.as_deref())?;
    let datasets = catalog.available();
    let models = [
        ("builtin", "a small Llama trained by this project, part of the program"),
        ("DIR", "a directory with config.json, tokenizer.json and *.safetensors"),
        ("FILE.gguf", "a GGUF file, as llama.cpp and its quantiser write them"),
        ("ORG/NAME", "a model of the Hugging Face hub, kept in its cache"),
    ];
    if arguments.json {
        let frameworks = BUILT_IN_FRAMEWORKS.iter().map(|framework| {
            json!({
                "name": framework.name, "version": framework.version,
                "description": framework.description, "options": framework.options,
                "documented": framework.describe().documented,
            })
        });
        let programs = EXTERNAL_FRAMEWORKS.iter().map(|program| {
            json!({
                "name": program.name, "description": program.description,
                "program": find_executable(program).map(|path| path.display().to_string()),
            })
        });
        let listing = json!({
            "frameworks": frameworks.chain(programs).collect::<Vec<_>>(),
            "models": models.map(|(name, description)| json!({"name": name, "description": description})),
            "datasets": datasets
                .iter()
                .map(|dataset| json!({"name": dataset.name, "schemas": dataset.count}))
                .chain([json!({"name": HELD_OUT, "schemas": null})])
                .collect::<Vec<_>>(),
        });
        return crate::print(&format!("{listing}\n"));
    }
    let mut text = String::from("Frameworks\n");
    let mut line = |name: &str, description: &str| {
        text.push_str(&listed(name, description));
    };
    line(LM_ONLY, "the model alone, unconstrained (LM only)");
    for framework in BUILT_IN_FRAMEWORKS {
        line(
            framework.name,
            &format!("{} {}", framework.version, framework.description),
        );
    }
    for program in EXTERNAL_FRAMEWORKS {
        let state = match find_executable(program) {
            Some(path) => format!("({})", path.display()),
            None => "(not built)".to_owned(),
        };
        line(program.name, &format!("{} {state}", program.description));
    }
    if EXTERNAL_FRAMEWORKS
        .iter()
        .any(|program| find_executable(program).is_none())
    {
        let package = "cargo build --release --manifest-path harness/worker-NAME/Cargo.toml";
        text.push_str(&listed(
            "",
            &format!("one that is not built is built in a clone of {REPOSITORY}: {package}"),
        ));
    }
    text.push_str("\nModels (list --models has the families)\n");
    let mut line = |name: &str, description: &str| {
        text.push_str(&listed(name, description));
    };
    models.iter().for_each(|(name, description)| line(name, description));
    text.push_str("\nDatasets\n");
    let mut line = |name: &str, description: &str| {
        text.push_str(&listed(name, description));
    };
    for dataset in &datasets {
        line(&dataset.name, &format!("{} schemas", dataset.count));
    }
    line(
        HELD_OUT,
        "generated schemas that the built-in model was not trained on, as many as --limit asks for",
    );
    crate::print_text(&text)
}

/// Returns the families that run and the architectures that do not, as text.
fn families_as_text() -> String {
    let mut text = String::from(
        "Families that run, from safetensors weights of F32, F16 or BF16 (gpt-oss: MXFP4 too); llama, mistral, qwen2, qwen3, gemma3_text and lfm2 also from GGUF files, quantised ones included\n",
    );
    for family in Family::ALL {
        let kernels = match family.has_kernels() {
            true => "on a GPU by own kernels",
            false => "on a GPU by tensor operations",
        };
        let limits = match family.limits() {
            "" => String::new(),
            limits => format!("; {limits}"),
        };
        let compared = compared_with(family).join(", ");
        let description = format!(
            "{} ({}){limits}; {kernels}; compared with {compared}",
            family.models(),
            family.architecture()
        );
        text.push_str(&listed(family.name(), &description));
    }
    text.push_str(&listed(
        "",
        "compared are greedy tokens and logits, for small random checkpoints",
    ));
    text.push_str("\nKnown, and not run\n");
    for known in MISSING {
        let description = format!("{} is missing ({})", known.missing, known.architecture);
        text.push_str(&listed(known.models, &description));
    }
    text
}

/// Returns the families that run and the architectures that do not, as JSON.
fn families_as_json() -> Value {
    let families = Family::ALL.map(|family| {
        json!({
            "name": family.name(), "architecture": family.architecture(), "models": family.models(),
            "own_gpu_kernels": family.has_kernels(), "limits": family.limits(), "compared_with": compared_with(family),
        })
    });
    let missing = MISSING
        .map(|known| json!({"architecture": known.architecture, "models": known.models, "missing": known.missing}));
    json!({"families": families, "formats": ["safetensors", "gguf"], "missing": missing})
}
