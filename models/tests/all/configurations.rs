//! Configurations that describe no model that can be run: which field, and why.

use std::fs;

use maskwright_models::Family;
use serde_json::{Value, json};

use crate::checkpoints::{edit_config, open, refusal, write};

#[test]
fn bad_configurations_name_the_field() {
    let cases: [(&str, Value, &str); 18] = [
        ("num_attention_heads", json!(0), "`num_attention_heads`"),
        ("num_key_value_heads", json!(3), "does not divide"),
        ("head_dim", json!(7), "odd"),
        ("hidden_size", json!(1u64 << 40), "`hidden_size`"),
        ("num_hidden_layers", json!(-1), "`num_hidden_layers`"),
        ("vocab_size", json!("many"), "`vocab_size`"),
        ("vocab_size", json!(2.5), "`vocab_size`"),
        ("intermediate_size", Value::Null, "missing"),
        ("rms_norm_eps", json!(-1.0), "`rms_norm_eps`"),
        ("rope_theta", json!(0), "`rope_theta`"),
        (
            "rope_scaling",
            json!({"rope_type": "dynamic", "factor": 4.0}),
            "dynamic",
        ),
        (
            "rope_scaling",
            json!({"rope_type": "llama3", "factor": 0}),
            "rope_scaling.",
        ),
        ("hidden_act", json!("gelu"), "gelu"),
        ("architectures", json!(["MambaForCausalLM"]), "MambaForCausalLM"),
        ("architectures", json!(["DeepseekV32ForCausalLM"]), "indexer"),
        ("quantization_config", json!({"quant_method": "gptq"}), "gptq"),
        (
            "layer_types",
            json!(["sliding_attention", "full_attention"]),
            "sliding-window",
        ),
        ("eos_token_id", json!([1, "two"]), "`eos_token_id`"),
    ];
    let directory = write(Family::Llama, |_| {});
    let original = fs::read(directory.path().join("config.json")).unwrap();
    for (field, value, expected) in cases {
        fs::write(directory.path().join("config.json"), &original).unwrap();
        edit_config(directory.path(), field, value.clone());
        let message = refusal(directory.path());
        assert!(
            message.contains(expected) && message.contains("config.json"),
            "{field} = {value}: {message}"
        );
    }
    fs::write(directory.path().join("config.json"), "[1, 2").unwrap();
    assert!(refusal(directory.path()).contains("line 1"));
}

#[test]
fn bad_configurations_of_families_with_parts_of_their_own_name_the_field() {
    let cases = [
        (Family::GptOss, "hidden_size", json!(40), "multiple of 32"),
        (Family::GptOss, "rope_scaling", Value::Null, "`rope_scaling`"),
        (Family::GptOss, "swiglu_limit", json!(0), "`swiglu_limit`"),
        (
            Family::GptOss,
            "quantization_config",
            json!({"quant_method": "awq"}),
            "awq",
        ),
        (
            Family::Qwen3Moe,
            "quantization_config",
            json!({"quant_method": "mxfp4"}),
            "mxfp4",
        ),
        (Family::Gemma4, "enable_moe_block", json!(true), "`num_experts`"),
        (Family::NemotronH, "layers_block_type", Value::Null, "`layer_types`"),
        (Family::NemotronH, "layers_block_type", json!(["conv"]), "conv"),
        (Family::NemotronH, "mlp_hidden_act", json!("silu"), "mlp_hidden_act"),
        (Family::NemotronH, "moe_latent_size", json!(8), "moe_latent_size"),
        (Family::NemotronH, "n_groups", json!(4), "`mamba_num_heads`"),
        (Family::DeepseekV3, "n_group", json!(3), "`n_group`"),
        (Family::DeepseekV3, "n_group", json!(8), "`topk_group`"),
        (Family::DeepseekV3, "topk_group", json!(1), "`topk_group`"),
        (Family::DeepseekV3, "topk_group", json!(5), "`n_group`"),
        (Family::DeepseekV3, "kv_lora_rank", json!(0), "`kv_lora_rank`"),
        (Family::DeepseekV3, "qk_rope_head_dim", json!(7), "odd"),
        (Family::DeepseekV3, "rope_interleave", json!(false), "rope_interleave"),
        (Family::DeepseekV3, "scoring_func", json!("softmax"), "scoring_func"),
        (
            Family::DeepseekV3,
            "quantization_config",
            json!({"quant_method": "fp8"}),
            "fp8",
        ),
        (Family::DeepseekV2, "topk_method", json!("noaux_tc"), "topk_method"),
        (
            Family::DeepseekV2,
            "topk_method",
            json!("group_limited_greedy"),
            "`n_group`",
        ),
        (
            Family::DeepseekV2,
            "n_shared_experts",
            json!(1_000_000),
            "`n_shared_experts`",
        ),
        (Family::DeepseekV2, "mlp_bias", json!(true), "mlp_bias"),
        (
            Family::Gemma4,
            "num_kv_shared_layers",
            json!(6),
            "`num_kv_shared_layers`",
        ),
        (
            Family::Gemma4,
            "num_global_key_value_heads",
            json!(3),
            "does not divide",
        ),
        (
            Family::Gemma4,
            "vocab_size_per_layer_input",
            json!(300),
            "`vocab_size_per_layer_input`",
        ),
        (
            Family::Gemma4,
            "per_layer_config",
            json!({"1": {"head_dim": 24}}),
            "different heads",
        ),
        (
            Family::Gemma4,
            "per_layer_config",
            json!({"first": {"head_dim": 16}}),
            "per_layer_config.first",
        ),
        (
            Family::Gemma4,
            "per_layer_config",
            json!({"6": {"head_dim": 16}}),
            "one of the 6 layers",
        ),
        (
            Family::Gemma4,
            "per_layer_config",
            json!({"1": {"head_dim": 16}, "01": {"head_dim": 16}}),
            "named twice",
        ),
        (
            Family::Gemma4,
            "use_bidirectional_attention",
            json!("all"),
            "use_bidirectional_attention",
        ),
        (
            Family::Gemma4,
            "use_bidirectional_attention",
            json!(true),
            "`use_bidirectional_attention`",
        ),
        (
            Family::Gemma4,
            "rope_parameters",
            json!({"rope_type": "default", "rope_theta": 1000.0}),
            "`rope_parameters.full_attention`",
        ),
        (
            Family::Gemma2,
            "use_bidirectional_attention",
            json!(true),
            "use_bidirectional_attention",
        ),
        (Family::Gemma2, "hidden_activation", json!("gelu"), "hidden_activation"),
        (
            Family::Gemma3,
            "rope_parameters",
            json!({"full_attention": {}, "sliding_attention": {"rope_type": "linear", "factor": 2.0}}),
            "sliding_attention",
        ),
        (
            Family::Gemma3,
            "rope_parameters",
            json!({"sliding_attention": {}}),
            "`rope_parameters.full_attention`",
        ),
        (
            Family::Llama,
            "rope_scaling",
            json!({"rope_type": 3}),
            "`rope_scaling.rope_type`",
        ),
        (
            Family::Llama,
            "rope_scaling",
            json!({"type": ["linear"]}),
            "`rope_scaling.type`",
        ),
        (
            Family::Llama,
            "rope_scaling",
            json!({"rope_type": "proportional"}),
            "Gemma 4",
        ),
        (Family::Llama, "hidden_act", json!(7), "`hidden_act`"),
        (Family::Qwen35, "hidden_act", json!("gelu_pytorch_tanh"), "hidden_act"),
        (
            Family::GraniteHybrid,
            "hidden_act",
            json!("gelu_pytorch_tanh"),
            "hidden_act",
        ),
        (
            Family::GraniteHybrid,
            "position_embedding_type",
            json!("alibi"),
            "alibi",
        ),
        (
            Family::GraniteHybrid,
            "position_embedding_type",
            json!(1),
            "`position_embedding_type`",
        ),
        (
            Family::GraniteHybrid,
            "time_step_limit",
            json!([0.0, "inf"]),
            "time_step_limit",
        ),
        (Family::Qwen35, "linear_num_value_heads", json!(5), "not a multiple"),
        (Family::Qwen35, "attention_bias", json!(true), "attention_bias"),
        (Family::GraniteHybrid, "mamba_n_heads", json!(7), "do not divide"),
        (Family::GraniteHybrid, "mamba_n_groups", json!(3), "do not divide"),
        (
            Family::GraniteHybrid,
            "time_step_limit",
            json!([0.1, 1.0]),
            "time_step_limit",
        ),
    ];
    let scaled_twice = write(Family::Gemma3, |_| {});
    let parameters = json!({"full_attention": {}, "sliding_attention": {}});
    edit_config(scaled_twice.path(), "rope_parameters", parameters);
    let message = refusal(scaled_twice.path());
    assert!(message.contains("rope_scaling beside rope_parameters"), "{message}");
    for (family, field, value, expected) in cases {
        let directory = write(family, |_| {});
        if field == "rope_parameters" {
            edit_config(directory.path(), "rope_scaling", Value::Null);
        }
        edit_config(directory.path(), field, value.clone());
        let message = refusal(directory.path());
        assert!(
            message.contains(expected) && message.contains("config.json"),
            "{family:?}, {field} = {value}: {message}"
        );
    }
}

#[test]
fn blocks_and_scales_of_another_type_are_refused() {
    let directory = write(Family::GptOss, |_| {});
    let path = directory.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let header = String::from_utf8(bytes[8..8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize].to_vec());
    let changed = header.unwrap().replace(r#""dtype":"U8""#, r#""dtype":"I8""#);
    bytes[8..8 + changed.len()].copy_from_slice(changed.as_bytes());
    fs::write(&path, bytes).unwrap();
    let message = refusal(directory.path());
    assert!(
        message.contains("gate_up_proj_blocks") && message.contains("I8; U8 can be used"),
        "{message}"
    );
}

#[test]
fn scales_whose_numbers_are_not_finite_are_refused() {
    let directory = write(Family::GptOss, |_| {});
    let path = directory.path().join("model.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..start]).unwrap();
    let name = "model.layers.1.mlp.experts.down_proj_scales";
    let at = start + header[name]["data_offsets"][0].as_u64().unwrap() as usize;
    for (scale, is_refused) in [(252, false), (253, true), (255, true)] {
        bytes[at] = scale;
        fs::write(&path, &bytes).unwrap();
        match open(directory.path()) {
            Ok(_) => assert!(!is_refused, "{scale}"),
            Err(error) => {
                let message = error.to_string();
                assert!(
                    is_refused && message.contains(name) && message.contains("up to 252"),
                    "{message}"
                );
            }
        }
    }
}
