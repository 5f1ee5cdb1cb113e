"""Writes models/tests/all/golden.json: what transformers computes with random checkpoints that the tests make again."""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

import torch
import transformers
from compare import families, from_checkpoint, greedy

PROMPTS = [[256, 72, 101, 108, 108, 111], [(37 * i + 11) % 256 for i in range(80)]]
TOKENS = 24
# Shapes whose tensors are read in other ways than those of the families' tiny models.
VARIANTS = [
    ("gpt_oss", dict(quantization_config=None)),
    ("gemma2", dict(sliding_window=40, attn_logit_softcapping=None, final_logit_softcapping=None)),
    ("gemma4_text", dict(attention_k_eq_v=False, hidden_size_per_layer_input=0, use_double_wide_mlp=False, num_kv_shared_layers=0)),
    ("qwen3_5_text", dict(linear_conv_kernel_dim=3, linear_num_key_heads=4)),
    ("gemma4_text", dict(enable_moe_block=True, num_experts=5, top_k_experts=2, moe_intermediate_size=24)),
    ("deepseek_v2", dict(q_lora_rank=20, topk_method="group_limited_greedy", n_group=3, topk_group=1, attention_bias=True)),
    ("deepseek_v3", dict(q_lora_rank=None, n_group=1, topk_group=1, n_shared_experts=2, rope_scaling=None)),
    ("nemotron_h", dict(layers_block_type=None, hybrid_override_pattern="M-*-", num_hidden_layers=4, use_bias=True)),
    ("granitemoehybrid", dict(position_embedding_type="rope", num_local_experts=0, mamba_conv_bias=False, mamba_proj_bias=True)),
]
LOGITS = 8
SEEDS_APART = 100
OUTPUT = Path(__file__).resolve().parents[2] / "models" / "tests" / "all" / "golden.json"


def continuations(program: Path, family: str, config: dict, seed: int, untied: bool) -> tuple[list[dict], float]:
    """What transformers computes with one random checkpoint, and the smallest gap between its two likeliest tokens."""
    results, smallest = [], math.inf
    with tempfile.TemporaryDirectory() as directory:
        command = [program, "random-checkpoint", directory, "--family", family]
        subprocess.run(command + ["--seed", str(seed), "--config", json.dumps(config)] + ["--untied"] * untied, check=True)
        model = from_checkpoint(directory)
        for prompt in PROMPTS:
            tokens, first, _, gap = greedy(model, prompt, TOKENS)
            smallest = min(smallest, gap)
            logits = [round(logit, 5) for logit in first[:LOGITS].tolist()]
            result = dict(family=family, seed=seed, untied=untied, config=config)
            results.append(result | dict(prompt=prompt, tokens=tokens, first_logits=logits))
    return results, smallest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help="the program maskwright-models")
    arguments = parser.parse_args()
    results = []
    known = [(family, {}) for family in families(arguments.program)]
    for number, (family, config) in enumerate(known + VARIANTS):
        untied = number % 2 == 1
        # Two tokens that are almost equally likely would make a test of rounding: another seed then.
        seeds = range(number, number + 10 * SEEDS_APART, SEEDS_APART)
        computed = (continuations(arguments.program, family, config, seed, untied) for seed in seeds)
        results += next(found for found, gap in computed if gap > 1e-4)
    made_with = f"golden.py, transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}"
    lines = ",\n  ".join(json.dumps(result) for result in results)
    OUTPUT.write_text(f'{{"made_with": {json.dumps(made_with)}, "results": [\n  {lines}\n]}}\n')


if __name__ == "__main__":
    main()
