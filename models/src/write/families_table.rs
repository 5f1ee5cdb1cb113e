//! [`families_table`]: the families as a Markdown document, docs/models.md.

use std::fmt::Write;

use crate::load::config::family::Family;
use crate::load::config::missing::MISSING;
use crate::write::gguf::architecture_of;

/// What greedy tokens and logits of small random checkpoints of every family are compared with, in every test run.
pub const COMPARED_WITH: &str = "transformers 5.23.0";

/// The software whose greedy tokens and logits those of `family` are compared with, for small random checkpoints.
pub fn compared_with(family: Family) -> Vec<&'static str> {
    match architecture_of(family) {
        Some(_) => vec![COMPARED_WITH, "llama.cpp"],
        None => vec![COMPARED_WITH],
    }
}

/// The contents of docs/models.md: families that run, and architectures that do not with the part that is missing.
pub fn families_table() -> String {
    let mut text = String::from(
        "# Models

Written by `cargo run -p maskwright-models -- families`; a test compares.

Weights are safetensors of F32, F16 or BF16, in one file or in several, in a directory or on the Hugging Face hub. Of quantised weights only the MXFP4 of gpt-oss's experts is read, and
kept in memory as it is; others are refused.
Every family appends several tokens in one forward pass and takes tokens back; `self_check` holds both against single steps, in every test run and for each format of weights. Tensor operations are held against the
CPU's loops in every test run, too, on the CPU; on a GPU, families without own kernels have not been measured.

| family | models | `architectures` | on a GPU, passes of up to 8 tokens by | greedy tokens and logits compared with | limits |
|---|---|---|---|---|---|
",
    );
    for family in Family::ALL {
        let kernels = match family.has_kernels() {
            true => "own kernels",
            false => "tensor operations",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {} | `{}` | {kernels} | {} | {} |",
            family.name(),
            family.models(),
            family.architecture(),
            compared_with(family).join(", "),
            family.limits(),
        );
    }
    text.push_str(
        "
`scripts/compare-transformers/run.sh` compares again, each family in several shapes; `models/tests/all/golden.json` keeps what transformers computed for
checkpoints of each, which every test run computes too. `scripts/compare-llamacpp/run.sh` compares with llama.cpp, over GGUF files that it reads.

## What does not run

Loading such a model ends in an error that names the missing part.

| models | `architectures` | missing |
|---|---|---|
",
    );
    for missing in MISSING {
        let _ = writeln!(
            text,
            "| {} | `{}` | {} |",
            missing.models, missing.architecture, missing.missing
        );
    }
    text
}
