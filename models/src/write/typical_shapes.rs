//! [`make_typical`]: small shapes of each family that have all its parts.

use serde_json::{Value, json};

use crate::load::config::family::Family;

/// Adds to a small model the features that its family's network has and Llama's has not: layers of each kind, windows that are
/// shorter than its context, factors other than 1.
pub(crate) fn make_typical(family: Family, config: &mut Value) {
    let fields = match family {
        Family::Lfm2 => json!({
            "num_hidden_layers": 4, "full_attn_idxs": [2], "conv_L_cache": 3, "conv_bias": false, "norm_eps": 1e-5,
            "block_ff_dim": 96, "block_multiple_of": 32, "block_auto_adjust_ff_dim": true, "rope_theta": 1_000_000.0,
        }),
        Family::Lfm2Moe => json!({
            "num_hidden_layers": 4, "layer_types": ["conv", "conv", "full_attention", "conv"], "conv_L_cache": 3,
            "norm_eps": 1e-5, "rope_theta": 1_000_000.0, "num_experts": 5, "num_experts_per_tok": 2,
            "moe_intermediate_size": 24, "num_dense_layers": 1, "use_expert_bias": true, "norm_topk_prob": true,
            "routed_scaling_factor": 1.5,
        }),
        Family::Granite => json!({
            "embedding_multiplier": 6.0, "attention_multiplier": 0.2, "residual_multiplier": 0.5, "logits_scaling": 1.5,
        }),
        Family::SmolLm3 => json!({"num_hidden_layers": 4, "no_rope_layers": [1, 1, 0, 1]}),
        Family::Phi3 => json!({
            "sliding_window": 24, "partial_rotary_factor": 0.5, "original_max_position_embeddings": 512,
            "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.5], "long_factor": [1.0, 3.0]},
        }),
        Family::Glm4 => json!({"attention_bias": true, "partial_rotary_factor": 0.5}),
        Family::Gemma3 => json!({
            "num_hidden_layers": 4, "sliding_window_pattern": 2, "sliding_window": 24, "query_pre_attn_scalar": 12,
            "rope_local_base_freq": 1000.0, "rope_theta": 50000.0, "hidden_activation": "gelu_pytorch_tanh",
            "rope_scaling": {"rope_type": "linear", "factor": 4.0},
        }),
        Family::Qwen3Moe => json!({
            "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "norm_topk_prob": true,
            "num_hidden_layers": 3, "mlp_only_layers": [1],
        }),
        Family::Mixtral => json!({"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 24}),
        Family::Olmo3 => json!({
            "num_hidden_layers": 4, "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
            "sliding_window": 24, "rope_theta": 500_000.0,
            "rope_scaling": {
                "rope_type": "yarn", "factor": 8.0, "beta_fast": 8.0, "beta_slow": 1.0,
                "original_max_position_embeddings": 64,
            },
        }),
        Family::Gemma2 => json!({
            "num_hidden_layers": 4, "sliding_window": 24, "query_pre_attn_scalar": 12, "attn_logit_softcapping": 2.0,
            "final_logit_softcapping": 3.0, "hidden_activation": "gelu_pytorch_tanh",
        }),
        Family::Gemma4 => json!({
            "num_hidden_layers": 6, "sliding_window": 24, "num_kv_shared_layers": 2, "use_double_wide_mlp": true,
            "layer_types": [
                "sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
            ],
            "global_head_dim": 16, "num_global_key_value_heads": 1, "attention_k_eq_v": true,
            "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 320, "final_logit_softcapping": 3.0,
            "hidden_activation": "gelu_pytorch_tanh",
            "rope_parameters": {
                "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 50000.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1000.0},
            },
        }),
        Family::Qwen35 => json!({
            "num_hidden_layers": 4, "layer_types": ["linear_attention", "linear_attention", "full_attention", "linear_attention"],
            "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 6,
            "linear_conv_kernel_dim": 4, "head_dim": 16, "partial_rotary_factor": 0.25,
        }),
        Family::Qwen35Moe => json!({
            "num_hidden_layers": 4, "layer_types": ["linear_attention", "linear_attention", "full_attention", "linear_attention"],
            "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 6,
            "linear_conv_kernel_dim": 4, "head_dim": 16, "partial_rotary_factor": 0.25, "num_experts": 5,
            "num_experts_per_tok": 2, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 40,
        }),
        Family::Qwen3Next => json!({
            "num_hidden_layers": 4, "layer_types": ["linear_attention", "linear_attention", "full_attention", "linear_attention"],
            "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 6,
            "linear_conv_kernel_dim": 4, "head_dim": 16, "partial_rotary_factor": 0.25, "num_experts": 5,
            "num_experts_per_tok": 2, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 40, "mlp_only_layers": [1],
        }),
        Family::DeepseekV2 => json!({
            "num_hidden_layers": 3, "num_key_value_heads": 4, "q_lora_rank": null, "kv_lora_rank": 12, "qk_nope_head_dim": 10, "qk_rope_head_dim": 8,
            "v_head_dim": 6, "n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "n_shared_experts": 2,
            "first_k_dense_replace": 1, "topk_method": "greedy", "routed_scaling_factor": 1.0,
        }),
        Family::DeepseekV3 => json!({
            "num_hidden_layers": 3, "num_key_value_heads": 4, "q_lora_rank": 20, "kv_lora_rank": 12, "qk_nope_head_dim": 10, "qk_rope_head_dim": 8,
            "v_head_dim": 6, "n_routed_experts": 8, "num_experts_per_tok": 3, "moe_intermediate_size": 24, "n_shared_experts": 1,
            "first_k_dense_replace": 1, "n_group": 4, "topk_group": 2, "norm_topk_prob": true, "routed_scaling_factor": 1.5,
            "rope_scaling": {
                "type": "yarn", "factor": 8.0, "beta_fast": 8.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 0.7,
                "original_max_position_embeddings": 64,
            },
        }),
        Family::NemotronH => json!({
            "layers_block_type": ["linear_attention", "moe", "full_attention", "mlp", "linear_attention", "moe"],
            "mamba_num_heads": 6, "mamba_head_dim": 8, "n_groups": 2, "ssm_state_size": 6, "n_routed_experts": 6,
            "num_experts_per_tok": 2, "moe_intermediate_size": 24, "moe_shared_expert_intermediate_size": 40,
            "routed_scaling_factor": 1.5, "n_group": 1, "topk_group": 1, "mlp_hidden_act": "relu2",
        }),
        Family::GraniteHybrid => json!({
            "num_hidden_layers": 4, "layer_types": ["mamba", "attention", "mamba", "mamba"], "mamba_n_heads": 8, "mamba_n_groups": 2,
            "mamba_d_state": 6, "mamba_d_head": 8, "shared_intermediate_size": 40, "intermediate_size": 24, "num_local_experts": 4,
            "num_experts_per_tok": 2, "position_embedding_type": "nope", "embedding_multiplier": 6.0,
            "attention_multiplier": 0.2, "residual_multiplier": 0.5, "logits_scaling": 1.5,
        }),
        Family::GptOss => json!({
            "hidden_size": 64, "num_hidden_layers": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 24,
            "swiglu_limit": 1.5, "quantization_config": {"quant_method": "mxfp4"},
            "rope_scaling": {
                "rope_type": "yarn", "factor": 8.0, "beta_fast": 8.0, "beta_slow": 1.0, "truncate": false,
                "original_max_position_embeddings": 64,
            },
        }),
        _ => json!({}),
    };
    if let (Value::Object(config), Value::Object(fields)) = (config, fields) {
        // Defaults of transformers may be past the end of a small vocabulary.
        config.insert("pad_token_id".to_owned(), Value::Null);
        config.extend(fields);
    }
}
