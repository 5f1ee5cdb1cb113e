//! [`families_table`]: the families as a Markdown document, docs/models.md.

use std::fmt::Write;

use crate::load::config::family::Family;
use crate::load::config::missing::MISSING;
use crate::load::gguf::BlockFormat;
use crate::load::gguf::configuration::ARCHITECTURES;
use crate::write::gguf::architecture_of;
use crate::write::llamacpp_comparison::llamacpp_section;
use crate::write::transformers_comparison::transformers_section;

/// The reference software for all families: every test run compares greedy tokens and logits of small random checkpoints with those
/// that this software gave.
pub const COMPARED_WITH: &str = "transformers 5.23.0";

/// Lists the software with which greedy tokens and logits of small random checkpoints of `family` are compared.
pub fn compared_with(family: Family) -> Vec<&'static str> {
    match architecture_of(family) {
        Some(_) => vec![COMPARED_WITH, "llama.cpp"],
        None => vec![COMPARED_WITH],
    }
}

/// The software with whose answers those from GGUF files are compared.
const COMPARED_GGUF_WITH: &str = "llama.cpp (as in llama-cpp-python 0.3.36)";

/// The contents of docs/models.md: families that run, and architectures that do not with the part that is missing.
pub fn families_table() -> String {
    let mut text = String::from(
        "# Models

Written by `cargo run -p maskwright-models -- families`; a test compares.

Weights are safetensors of F32, F16 or BF16, in one file or in several, in a directory or on the Hugging Face hub, or GGUF files. Of quantised safetensors only the MXFP4 of gpt-oss's experts is read, and
stays quantised in memory; others are refused.
Every family appends several tokens in one forward pass and takes tokens back; `self_check` compares both with single steps, in every test run and for each format of weights. Every test run also compares tensor operations, run
on the CPU, with the CPU's loops. On a GPU, families without own kernels have not been measured.

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
`scripts/compare-transformers/run.sh` repeats the comparison, for each family in several shapes; `models/tests/all/golden.json` keeps the results of transformers for
checkpoints of each family, and every test run compares with these. `scripts/compare-llamacpp/run.sh` compares with llama.cpp, over GGUF files that llama.cpp reads.

",
    );
    text.push_str(&transformers_section());
    text.push_str(&gguf_section());
    text.push_str(&llamacpp_section());
    text.push_str(
        "
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

/// Returns the section on GGUF files: the supported architectures, formats and tokenizers.
fn gguf_section() -> String {
    let architectures = ARCHITECTURES.map(|(name, class)| format!("`{name}` (`{class}`)"));
    let formats = BlockFormat::ALL.map(|format| format.name().to_ascii_uppercase());
    format!(
        "## GGUF files

`--model` takes a file (`model.gguf`) or one of a repository on the hub (`owner/name:Q8_0`, `owner/name/file.gguf`). Sizes, tokenizer, chat template and the
ends of answers come from the file's metadata.

- **Architectures**: {}.
- **Formats of tensors**: {}. On the CPU, weights stay quantised, and activations are rounded to 8 bits, as in ggml; `--dtype f32`
  computes with the numbers that the quantised weights stand for. On a GPU, weights stay quantised if own kernels fit the model and all matrices are quantised, and are multiplied as the numbers that they stand for; otherwise they become
  BF16 when the model is loaded. Every test run with a C++ compiler compares these kernels, emulated on the CPU, with the CPU's loops; on a GPU they have not been run.
- **Tokenizers**: byte-level BPE (`gpt2`) with the usual ways of cutting texts into words (`tokenizer.ggml.pre`), and SentencePiece's BPE (`llama`).
- **Not read**: models in several files, experts, other architectures and formats; an error names the key or tensor.

`scripts/compare-llamacpp/quantised.sh` compares tokens of texts, greedy tokens, logits and speed with {COMPARED_GGUF_WITH}, on files that llama.cpp's own quantiser wrote.
",
        architectures.join(", "),
        formats.join(", "),
    )
}
