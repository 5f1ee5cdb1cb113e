//! A loop in candle: logits as a tensor, masked on the host, sampled as candle's programs do.
//!
//! ```console
//! $ cargo run --release -p maskwright-models --example candle_loop
//! ```
//!
//! The model is the small one that is built into this crate; any model whose forward pass gives a tensor of logits will do.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use candle_core::{D, DType, Device, Tensor};
use maskwright::{Compiler, ExactCompiler, ExactOptions, TokenId, TokenMask};
use maskwright_models::{LoadOptions, ModelSource, load};

const PROMPT: &str = "A person as JSON: ";
const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer", "minimum": 0, "maximum": 150}},
    "required": ["name", "age"],
    "additionalProperties": false
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut loaded = load(&ModelSource::Builtin, &LoadOptions::default())?;
    let vocabulary = loaded.vocabulary();
    let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::default());
    let mut masker = compiler.compile(SCHEMA)?;

    let mut document: Vec<TokenId> = Vec::new();
    let mut next = loaded.encode_prompt(PROMPT)?;
    loop {
        let logits = loaded.model.append(&next)?;
        let logits = masked(&logits, masker.mask()?)?;
        // With candle-transformers, `LogitsProcessor::sample(&logits)` stands here. Its `sample_f` would be the wrong place for the
        // mask: where sampling is greedy it never calls the closure that it is given.
        let token = logits.argmax(D::Minus1)?.to_scalar::<u32>()?;
        masker.advance(token)?;
        if vocabulary.is_eos(token) {
            break;
        }
        // Forced tokens go into the next forward pass, together with the chosen one.
        next = vec![token];
        masker.forced_tokens(&mut next)?;
        for forced in &next[1..] {
            masker.advance(*forced)?;
        }
        document.extend(&next);
    }
    println!("{}", String::from_utf8(vocabulary.text_bytes(&document))?);
    Ok(())
}

/// The logits with those of forbidden tokens at negative infinity, on the CPU.
fn masked(logits: &Tensor, mask: &TokenMask) -> candle_core::Result<Tensor> {
    let mut logits: Vec<f32> = logits.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
    mask.apply_to(&mut logits);
    let length = logits.len();
    Tensor::from_vec(logits, length, &Device::Cpu)
}
