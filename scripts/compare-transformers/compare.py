"""Compares greedy tokens and logits of this project's models with those of Hugging Face transformers."""

import argparse
import datetime
import json
import math
import platform
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from transformers import (
    AutoModelForCausalLM,
    DeepseekV2Config,
    DeepseekV3Config,
    Gemma2Config,
    Gemma3Config,
    Gemma3TextConfig,
    Gemma4TextConfig,
    Glm4Config,
    GptOssConfig,
    GraniteConfig,
    GraniteMoeHybridConfig,
    Lfm2Config,
    LlamaConfig,
    MistralConfig,
    MixtralConfig,
    NemotronHConfig,
    Olmo2Config,
    Olmo3Config,
    Phi3Config,
    Qwen2Config,
    Qwen3_5MoeConfig,
    Qwen3_5MoeTextConfig,
    Qwen3_5TextConfig,
    Qwen3Config,
    Qwen3MoeConfig,
    Qwen3NextConfig,
    SmolLM3Config,
)

VOCABULARY = 320
# What docs/models.md says of the comparison.
RECORD = Path(__file__).resolve().parents[2] / "models/src/write/transformers_comparison.json"
SHAPE = dict(
    vocab_size=VOCABULARY,
    hidden_size=48,
    intermediate_size=96,
    num_hidden_layers=3,
    num_attention_heads=6,
    num_key_value_heads=2,
    max_position_embeddings=1024,
    bos_token_id=256,
    eos_token_id=257,
)
LLAMA3_ROPE = dict(
    rope_type="llama3",
    rope_theta=10000.0,
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=64,
)
LINEAR_ROPE = dict(rope_type="linear", rope_theta=10000.0, factor=4.0)
LONG_ROPE = dict(
    rope_type="longrope",
    rope_theta=10000.0,
    partial_rotary_factor=0.75,
    original_max_position_embeddings=800,
    short_factor=[1.0, 1.2, 1.5],
    long_factor=[1.0, 2.0, 4.0],
)
YARN_ROPE = dict(
    rope_type="yarn", rope_theta=10000.0, factor=16.0, beta_fast=16.0, beta_slow=1.0, original_max_position_embeddings=64
)
PLAIN_ROPE = dict(rope_type="default", rope_theta=50000.0)
QWEN3_5_MOE = {name: size for name, size in SHAPE.items() if name != "intermediate_size"} | dict(
    num_hidden_layers=5,
    head_dim=32,
    linear_num_key_heads=3,
    linear_num_value_heads=6,
    linear_key_head_dim=12,
    linear_value_head_dim=10,
    num_experts=6,
    num_experts_per_tok=3,
    moe_intermediate_size=40,
    shared_expert_intermediate_size=56,
)

DEEPSEEK = SHAPE | dict(
    num_key_value_heads=6,
    kv_lora_rank=20,
    qk_nope_head_dim=10,
    qk_rope_head_dim=12,
    v_head_dim=14,
    n_routed_experts=8,
    num_experts_per_tok=3,
    moe_intermediate_size=40,
    first_k_dense_replace=1,
)

CONFIGS = {
    "llama, llama3 rope, grouped heads, tied": LlamaConfig(**SHAPE, rope_parameters=LLAMA3_ROPE, tie_word_embeddings=True),
    "llama, linear rope, untied": LlamaConfig(**SHAPE, rope_parameters=LINEAR_ROPE, tie_word_embeddings=False),
    "llama, biases everywhere, wide heads": LlamaConfig(
        **SHAPE, head_dim=16, rope_parameters=PLAIN_ROPE, attention_bias=True, mlp_bias=True
    ),
    "mistral, untied": MistralConfig(**SHAPE, rope_parameters=PLAIN_ROPE, sliding_window=None),
    "qwen2, biases, tied": Qwen2Config(**SHAPE, rope_parameters=PLAIN_ROPE, tie_word_embeddings=True),
    "qwen2, biases, untied": Qwen2Config(**SHAPE, rope_parameters=PLAIN_ROPE, tie_word_embeddings=False),
    "qwen3, head norms, tied": Qwen3Config(**SHAPE, head_dim=16, rope_parameters=PLAIN_ROPE, tie_word_embeddings=True),
    "qwen3, head norms, untied": Qwen3Config(**SHAPE, head_dim=8, rope_parameters=PLAIN_ROPE, tie_word_embeddings=False),
    "mistral, sliding window": MistralConfig(**SHAPE, rope_parameters=PLAIN_ROPE, sliding_window=50),
    "qwen2, sliding window in the last layers": Qwen2Config(
        **SHAPE, rope_parameters=PLAIN_ROPE, use_sliding_window=True, sliding_window=50, max_window_layers=1
    ),
    "lfm2, two attention layers": Lfm2Config(
        **SHAPE | dict(num_hidden_layers=5), layer_types=["conv", "full_attention", "conv", "conv", "full_attention"]
    ),
    "lfm2, four taps, biases, untied, width as written": Lfm2Config(
        **SHAPE,
        layer_types=["conv", "full_attention", "conv"],
        conv_L_cache=4,
        conv_bias=True,
        block_auto_adjust_ff_dim=False,
        tie_word_embeddings=False,
    ),
    "granite, factors, biases": GraniteConfig(
        **SHAPE,
        attention_bias=True,
        mlp_bias=True,
        embedding_multiplier=12.0,
        attention_multiplier=0.1,
        residual_multiplier=0.22,
        logits_scaling=8.0,
    ),
    "olmo2, untied": Olmo2Config(**SHAPE, rope_parameters=PLAIN_ROPE),
    "olmo3, windows, YaRN": Olmo3Config(
        **SHAPE | dict(num_hidden_layers=5),
        pad_token_id=0,
        sliding_window=50,
        rope_parameters=dict(
            full_attention=YARN_ROPE, sliding_attention=dict(rope_type="default", rope_theta=10000.0)
        ),
    ),
    "gemma2, soft caps, windows": Gemma2Config(
        **SHAPE | dict(num_hidden_layers=4, head_dim=16),
        sliding_window=50,
        query_pre_attn_scalar=20,
        attn_logit_softcapping=3.0,
        final_logit_softcapping=4.0,
    ),
    "smollm3, layers without positions": SmolLM3Config(**SHAPE | dict(num_hidden_layers=5), pad_token_id=0),
    "phi3, whole heads, window": Phi3Config(**SHAPE, sliding_window=50, pad_token_id=0),
    "phi3, longrope, a part of each head": Phi3Config(
        **SHAPE,
        pad_token_id=0,
        original_max_position_embeddings=LONG_ROPE["original_max_position_embeddings"],
        rope_parameters=LONG_ROPE,
    ),
    "glm4, biases, half of each head": Glm4Config(**SHAPE, head_dim=16, pad_token_id=0),
    "gemma3, windows, local positions": Gemma3TextConfig(
        **SHAPE | dict(num_hidden_layers=7, head_dim=16), sliding_window=50, query_pre_attn_scalar=20
    ),
    "gemma3 that sees pictures": Gemma3Config(
        text_config=SHAPE | dict(num_hidden_layers=7, head_dim=16, sliding_window=50, query_pre_attn_scalar=20),
        vision_config=dict(
            hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=28, patch_size=14
        ),
        mm_tokens_per_image=4,
        image_token_index=300,
        boi_token_index=301,
        eoi_token_index=302,
    ),
    "gemma4, layers that share keys and are twice as wide": Gemma4TextConfig(
        **SHAPE | dict(num_hidden_layers=8, head_dim=16),
        global_head_dim=32,
        sliding_window=50,
        layer_types=["sliding_attention", "full_attention"] * 4,
        num_kv_shared_layers=3,
        use_double_wide_mlp=True,
        hidden_size_per_layer_input=12,
        vocab_size_per_layer_input=VOCABULARY,
    ),
    "gemma4, keys as values, without embeddings of each layer": Gemma4TextConfig(
        **SHAPE | dict(num_hidden_layers=4, head_dim=16),
        global_head_dim=32,
        num_global_key_value_heads=1,
        attention_k_eq_v=True,
        sliding_window=50,
        layer_types=["sliding_attention", "full_attention"] * 2,
        hidden_size_per_layer_input=0,
        final_logit_softcapping=4.0,
    ),
    "gemma4, layers whose numbers have two digits": Gemma4TextConfig(
        **SHAPE | dict(num_hidden_layers=12, head_dim=16),
        global_head_dim=32,
        sliding_window=50,
        layer_types=["sliding_attention", "full_attention"] * 6,
        hidden_size_per_layer_input=12,
        vocab_size_per_layer_input=VOCABULARY,
    ),
    "qwen3.5, untied, a kernel of three": Qwen3_5TextConfig(
        **SHAPE | dict(num_hidden_layers=5, head_dim=32),
        linear_num_key_heads=3,
        linear_num_value_heads=6,
        linear_key_head_dim=12,
        linear_value_head_dim=10,
        linear_conv_kernel_dim=3,
        full_attention_interval=2,
        tie_word_embeddings=False,
    ),
    "gemma4, experts beside dense parts": Gemma4TextConfig(
        **SHAPE | dict(num_hidden_layers=4, head_dim=16),
        global_head_dim=32,
        num_global_key_value_heads=1,
        attention_k_eq_v=True,
        sliding_window=50,
        layer_types=["sliding_attention", "full_attention"] * 2,
        hidden_size_per_layer_input=0,
        final_logit_softcapping=4.0,
        enable_moe_block=True,
        num_experts=6,
        top_k_experts=3,
        moe_intermediate_size=40,
    ),
    "qwen3.5 with experts": Qwen3_5MoeTextConfig(
        **QWEN3_5_MOE, tie_word_embeddings=False, full_attention_interval=2
    ),
    "qwen3.5 with experts that sees pictures": Qwen3_5MoeConfig(
        text_config=QWEN3_5_MOE | dict(full_attention_interval=3),
        vision_config=dict(
            depth=1, hidden_size=16, intermediate_size=16, num_heads=2, out_hidden_size=48, num_position_embeddings=16
        ),
        image_token_id=300,
        video_token_id=301,
        vision_start_token_id=302,
        vision_end_token_id=303,
    ),
    "qwen3-next, a dense layer, untied": Qwen3NextConfig(
        **QWEN3_5_MOE, intermediate_size=96, mlp_only_layers=[1], norm_topk_prob=False, full_attention_interval=2
    ),
    "deepseek v2, experts of the best groups, queries from a shorter vector": DeepseekV2Config(
        **DEEPSEEK,
        q_lora_rank=28,
        topk_method="group_limited_greedy",
        n_group=4,
        topk_group=2,
        routed_scaling_factor=4.0,
        attention_bias=True,
    ),
    "deepseek v3, queries of the vectors themselves, shares as they are": DeepseekV3Config(
        **DEEPSEEK,
        q_lora_rank=None,
        n_group=2,
        topk_group=1,
        n_shared_experts=2,
        norm_topk_prob=False,
        rope_parameters=YARN_ROPE | dict(mscale=0.8, mscale_all_dim=1.1),
    ),
    "nemotron-h, experts in groups, biases": NemotronHConfig(
        **{name: size for name, size in SHAPE.items() if name != "num_hidden_layers"},
        head_dim=16,
        layers_block_type=["mlp", "linear_attention", "moe", "full_attention", "linear_attention", "mlp"],
        mamba_num_heads=6,
        mamba_head_dim=10,
        n_groups=3,
        ssm_state_size=10,
        conv_kernel=3,
        use_conv_bias=False,
        use_bias=True,
        # transformers has this limit while it reads a prompt, and not in steps.
        time_step_min=1e-9,
        n_routed_experts=8,
        num_experts_per_tok=3,
        moe_intermediate_size=40,
        moe_shared_expert_intermediate_size=56,
        norm_topk_prob=False,
        n_group=2,
        topk_group=1,
    ),
    "granite hybrid without experts, with positions": GraniteMoeHybridConfig(
        **SHAPE | dict(num_hidden_layers=5),
        pad_token_id=0,
        num_local_experts=0,
        shared_intermediate_size=40,
        position_embedding_type="rope",
        mamba_n_heads=6,
        mamba_n_groups=1,
        mamba_d_state=10,
        mamba_d_conv=3,
        mamba_conv_bias=False,
        mamba_proj_bias=True,
        layer_types=["linear_attention", "full_attention", "linear_attention", "linear_attention", "full_attention"],
    ),
    "qwen3 with experts, shares as they are": Qwen3MoeConfig(
        **SHAPE, head_dim=16, num_experts=6, num_experts_per_tok=3, moe_intermediate_size=40, decoder_sparse_step=2
    ),
    "gpt-oss, experts in 16 or 32 bits, rounded bounds of YaRN": GptOssConfig(
        **SHAPE | dict(num_hidden_layers=4, head_dim=16),
        num_local_experts=5,
        num_experts_per_tok=3,
        sliding_window=50,
        rope_parameters=YARN_ROPE,
    ),
    "llama, YaRN": LlamaConfig(**SHAPE, rope_parameters=YARN_ROPE),
    "mixtral, window": MixtralConfig(**SHAPE, num_local_experts=5, num_experts_per_tok=2, sliding_window=50),
}


def families(program: Path) -> list[str]:
    """The families that the program can run."""
    done = subprocess.run([program, "families", "--names"], text=True, stdout=subprocess.PIPE, check=True)
    return done.stdout.split()


def randomize(model: torch.nn.Module, seed: int) -> None:
    """Random weights of a size at which every layer shows in the logits."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() >= 2:
                parameter.normal_(std=1 / math.sqrt(parameter.shape[-1]), generator=generator)
            elif name.endswith("bias"):
                parameter.normal_(std=0.5, generator=generator)
            elif type(model).__name__.startswith(("Gemma2", "Gemma3")):
                parameter.uniform_(-0.25, 0.25, generator=generator)
            else:
                parameter.uniform_(0.75, 1.25, generator=generator)


def from_checkpoint(directory: Path) -> torch.nn.Module:
    """The model of a checkpoint with weights in 32-bit floats, which hold those of 16 and 4 bits exactly."""
    return AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).float().eval()


def prompts(seed: int, longest: int) -> list[list[int]]:
    """Token ids: short ones, one longer than the first cache, one longer than what goes through at once."""
    numbers = random.Random(seed)
    lengths = [length for length in (1, 2, 9, 17, 40, 300, 700) if length <= longest]
    return [[numbers.randrange(VOCABULARY) for _ in range(length)] for length in lengths]


@torch.no_grad()
def greedy(model, prompt: list[int], count: int):
    """Greedy tokens, first and last logits, and the smallest gap between the two likeliest tokens."""
    tokens, gap = [], math.inf
    out = model(torch.tensor([prompt]), use_cache=True)
    first = out.logits[0, -1]
    while True:
        logits = out.logits[0, -1]
        best = torch.topk(logits, 2)
        gap = min(gap, (best.values[0] - best.values[1]).item())
        tokens.append(best.indices[0].item())
        if len(tokens) == count:
            return tokens, first, logits, gap
        out = model(torch.tensor([tokens[-1:]]), past_key_values=out.past_key_values, use_cache=True)


def ours(program: Path, directory: Path, asked: list[list[int]], count: int, dtype: str) -> list[dict]:
    command = [program, "greedy-tokens", directory, "--count", str(count), "--dtype", dtype]
    done = subprocess.run(command, input=json.dumps(asked), text=True, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


class Found:
    """What was found for one family."""

    def __init__(self):
        self.checkpoints = self.continuations = self.equal = 0
        self.difference = 0.0


def compare(
    name: str, model, program: Path, directory: Path, count: int, found: Found, dtype: str = "f32"
) -> bool:
    # Positions past the first training's are not computed where they would change those before.
    longest = getattr(model.config, "original_max_position_embeddings", None) or 1024
    asked = prompts(len(name), longest - count)
    worst, spread, passed = 0.0, math.inf, True
    found.checkpoints += 1
    for prompt, got in zip(asked, ours(program, directory, asked, count, dtype), strict=True):
        tokens, first, last, gap = greedy(model, prompt, count)
        of_prompt = (first.max() - first.min()).item()
        difference = (torch.tensor(got["first_logits"]) - first).abs().max().item()
        if got["tokens"] != tokens:
            at = next(i for i in range(count) if got["tokens"][i] != tokens[i])
            print(f"    {len(prompt)} prompt tokens: token {at} differs; smallest gap {gap:.2e}")
            passed = False
        else:
            difference = max(difference, (torch.tensor(got["last_logits"]) - last).abs().max().item())
        spread, worst = min(spread, of_prompt), max(worst, difference)
        found.continuations += 1
        found.equal += got["tokens"] == tokens
        found.difference = max(found.difference, difference / of_prompt)
    passed = passed and worst <= 1e-4 * spread
    print(f"{'ok  ' if passed else 'FAIL'} {name}: largest difference of logits {worst:.1e} of {spread:.1f}", flush=True)
    return passed


def processor() -> str:
    """What the system calls the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def record(by_family: dict[str, Found], count: int) -> None:
    """Writes what docs/models.md says of the comparison."""
    value = {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "transformers": transformers.__version__,
        "torch": torch.__version__.split("+")[0],
        "tokens": count,
        "families": {family: vars(found) for family, found in by_family.items()},
    }
    RECORD.write_text(json.dumps(value, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help="the program maskwright-models")
    parser.add_argument("--count", type=int, default=64, help="tokens per prompt")
    parser.add_argument("--record", action="store_true", help="keeps what was found for docs/models.md")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    passed = True
    by_family: dict[str, Found] = {}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        for number, family in enumerate(families(arguments.program)):
            directory = scratch / family
            command = [arguments.program, "random-checkpoint", directory, "--family", family, "--seed", str(number)]
            extra = ["--untied", "--shards", "3", "--dtype", "f16"] if number % 2 else []
            subprocess.run(command + extra, check=True)
            model = from_checkpoint(directory)
            for dtype in ["f32", "auto"]:
                name = f"random-checkpoint {family} {' '.join(extra)}, weights kept as {dtype}"
                found = by_family.setdefault(family, Found())
                passed &= compare(name, model, arguments.program, directory, arguments.count, found, dtype)
        for number, (name, config) in enumerate(CONFIGS.items()):
            model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
            randomize(model, seed=number)
            directory = scratch / f"transformers-{number}"
            model.save_pretrained(directory)
            for file in ["tokenizer.json", "tokenizer_config.json"]:
                shutil.copy(scratch / "llama" / file, directory)
            # Models that also see pictures are of the family of their text.
            family = config.get_text_config().model_type
            passed &= compare(name, model, arguments.program, directory, arguments.count, by_family[family])
    if arguments.record and passed:
        record(by_family, arguments.count)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
