"""A compact Llama, equal to `transformers.LlamaForCausalLM`, for training and greedy decoding.

Module names follow the Hugging Face layout, so `state_dict()` is the checkpoint.
"""

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    """Shape of the model; `to_hf` gives the Hugging Face `config.json`."""

    vocab_size: int = 4096
    hidden_size: int = 256
    intermediate_size: int = 640
    num_hidden_layers: int = 6
    num_attention_heads: int = 8
    num_key_value_heads: int = 4
    head_dim: int = 32
    max_position_embeddings: int = 4096
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5

    def to_hf(self, bos: int, eos: int, pad: int) -> dict:
        """The `config.json` of the Hugging Face layout."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            **asdict(self),
            "attention_bias": False,
            "attention_dropout": 0.0,
            "bos_token_id": bos,
            "eos_token_id": eos,
            "hidden_act": "silu",
            "initializer_range": 0.02,
            "mlp_bias": False,
            "pad_token_id": pad,
            "rope_scaling": None,
            "tie_word_embeddings": True,
            "torch_dtype": "float16",
            "use_cache": True,
        }


class RMSNorm(nn.Module):
    """Root-mean-square normalisation with a learned scale."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.eps)


QUERIES = 96
"""Queries of a run of `causal`."""


def rotate(x, cos, sin):
    """Rotary position embedding, half-rotation form."""
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


def causal(q, k, v):
    """Causal attention of `q` (batch, heads, time, dimension) to `k` and `v`, which may have fewer heads, as plain matrix products.

    Queries are handled in runs of `QUERIES`, each with the keys up to its end, so that scores of later keys are not worked out and those
    of a run stay in the cache. Compiled, that takes half of the time of `scaled_dot_product_attention` on a CPU with instructions for bf16.
    """
    b, heads, t, dim = q.shape
    kv_heads = k.shape[1]
    group = heads // kv_heads
    q = (q * dim**-0.5).view(b, kv_heads, group, t, dim)
    k, v = k.reshape(b * kv_heads, t, dim), v.reshape(b * kv_heads, t, dim)
    out = []
    for start in range(0, t, QUERIES):
        end = min(t, start + QUERIES)
        scores = q[:, :, :, start:end].reshape(b * kv_heads, -1, dim) @ k[:, :end].mT
        scores = scores.view(b * kv_heads, group, end - start, end)
        later = torch.arange(end, device=q.device) > torch.arange(start, end, device=q.device)[:, None]
        weights = scores.masked_fill(later, float("-inf")).float().softmax(-1).to(v.dtype)
        out.append((weights.view(b * kv_heads, -1, end) @ v[:, :end]).view(b, kv_heads, group, end - start, dim))
    return torch.cat(out, 3).view(b, heads, t, dim)


class Attention(nn.Module):
    """Grouped-query causal attention."""

    def __init__(self, c: Config):
        super().__init__()
        self.heads, self.kv_heads, self.dim = c.num_attention_heads, c.num_key_value_heads, c.head_dim
        self.q_proj = nn.Linear(c.hidden_size, self.heads * self.dim, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, self.kv_heads * self.dim, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, self.kv_heads * self.dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.dim, c.hidden_size, bias=False)

    def forward(self, x, cos, sin, mask, cache=None):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.heads, self.dim).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.kv_heads, self.dim).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.kv_heads, self.dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if cache is not None:
            if cache:
                k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
            cache[:] = [k, v]
        if mask is None:
            y = causal(q, k, v) if x.device.type == "cpu" else F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            return self.o_proj(y.transpose(1, 2).reshape(b, t, -1))
        # Queries that share a key head are folded into the time axis: plain matrix products.
        group = self.heads // self.kv_heads
        q = (q * self.dim**-0.5).reshape(b, self.kv_heads, group * t, self.dim)
        scores = (q @ k.transpose(2, 3)).view(b, self.kv_heads, group, t, -1)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        y = scores.softmax(-1).to(v.dtype).view(b, self.kv_heads, group * t, -1) @ v
        return self.o_proj(y.view(b, self.heads, t, self.dim).transpose(1, 2).reshape(b, t, -1))


class Mlp(nn.Module):
    """SwiGLU."""

    def __init__(self, c: Config):
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.up_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.down_proj = nn.Linear(c.intermediate_size, c.hidden_size, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """One pre-norm transformer block."""

    def __init__(self, c: Config):
        super().__init__()
        self.self_attn = Attention(c)
        self.mlp = Mlp(c)
        self.input_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(c.hidden_size, c.rms_norm_eps)

    def forward(self, x, cos, sin, mask, cache=None):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class Inner(nn.Module):
    """Embedding, blocks and final norm (`model.` in checkpoint names)."""

    def __init__(self, c: Config):
        super().__init__()
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))
        self.norm = RMSNorm(c.hidden_size, c.rms_norm_eps)


class Llama(nn.Module):
    """The language model; the output matrix is the embedding matrix."""

    def __init__(self, c: Config):
        super().__init__()
        self.config = c
        self.model = Inner(c)
        inverse = 1.0 / c.rope_theta ** (torch.arange(0, c.head_dim, 2).float() / c.head_dim)
        angles = torch.outer(torch.arange(c.max_position_embeddings).float(), inverse)
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                scale = 0.02
                if name.endswith(("o_proj.weight", "down_proj.weight")):
                    scale /= (2 * c.num_hidden_layers) ** 0.5
                nn.init.normal_(p, std=scale)

    def hidden(self, tokens, positions=None, caches=None, mask=None, block=Layer.__call__):
        """Final hidden states of `tokens` (batch, time); without `mask` each token sees itself and those before it.

        `block` applies a layer. Training gives one that is compiled: once for each shape, where all layers are the same.
        """
        x = self.model.embed_tokens(tokens)
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.get_autocast_dtype(x.device.type))
        if positions is None:
            cos, sin = self.cos[: tokens.shape[1]], self.sin[: tokens.shape[1]]
        else:
            cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        cos, sin = cos.to(x.dtype), sin.to(x.dtype)
        for i, layer in enumerate(self.model.layers):
            x = block(layer, x, cos, sin, mask, None if caches is None else caches[i])
        return self.model.norm(x)

    def logits(self, hidden):
        """Logits over the vocabulary."""
        return F.linear(hidden, self.model.embed_tokens.weight)

    def loss(self, hidden, tokens, weights):
        """Weighted sum of cross-entropies (nats) and the sum of weights; `weights` belong to the predicted tokens.

        Only positions of positive weight go through the output matrix.
        """
        w = weights[:, 1:].flatten()
        chosen = w.nonzero().squeeze(1)
        logits = self.logits(hidden[:, :-1].flatten(0, 1)[chosen]).float()
        nll = F.cross_entropy(logits, tokens[:, 1:].flatten()[chosen], reduction="none")
        return (nll * w[chosen]).sum(), w.sum()

    @torch.no_grad()
    def greedy(self, prompts: list[list[int]], eos: int, pad: int, max_new: int) -> list[list[int]]:
        """Greedy continuations of left-padded prompts, each up to and without `eos`."""
        device = self.cos.device
        width = max(map(len, prompts))
        tokens = torch.tensor([[pad] * (width - len(p)) + p for p in prompts], device=device)
        real = torch.tensor([[False] * (width - len(p)) + [True] * len(p) for p in prompts], device=device)
        start = torch.tensor([width - len(p) for p in prompts], device=device)
        caches = [[] for _ in self.model.layers]
        positions = (torch.arange(width, device=device)[None] - start[:, None]).clamp(min=0)
        causal = torch.ones(width, width, dtype=torch.bool, device=device).tril()
        mask = (causal[None] & real[:, None, :]) | torch.eye(width, dtype=torch.bool, device=device)[None]
        out, done = [[] for _ in prompts], [False] * len(prompts)
        h = self.hidden(tokens, positions, caches, mask[:, None, None])
        for step in range(max_new):
            following = self.logits(h[:, -1]).argmax(-1)
            for i, t in enumerate(following.tolist()):
                done[i] = done[i] or t == eos
                if not done[i]:
                    out[i].append(t)
            if all(done) or step + 1 == max_new:
                break
            real = torch.cat((real, torch.ones(len(prompts), 1, dtype=torch.bool, device=device)), dim=1)
            positions = (width + step - start).clamp(max=self.config.max_position_embeddings - 1)[:, None]
            h = self.hidden(following[:, None], positions, caches, real[:, None, None, None, :])
        return out
