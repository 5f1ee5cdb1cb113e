"""Trains the default model on a number of tokens and exports it in Hugging Face layout.

Checkpoints make it resumable: the same command goes on where the last checkpoint ended. Under `torchrun` with several
processes every process has its own data and the gradients are averaged; on a CPU that uses cores better than threads.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

import evaluate
from data import WIDTHS, Batches, Dialogues, generate
from model import Config, Layer, Llama
from optimizer import build, fast_type

CURRICULUM = [(0.04, 160), (0.1, 256), (0.2, 448), (0.5, 704), (1.0, 1152)]
"""(share of all tokens, longest dialogue in tokens until then)."""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generator", default="target/release/dialogues")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--work", type=Path, required=True, help="folder of checkpoints and the log")
    parser.add_argument("--out", type=Path, required=True, help="folder to export to")
    parser.add_argument("--initial", type=Path, help="folder of an exported model of the same shape to begin with, instead of random weights")
    parser.add_argument("--million-tokens", type=float, default=60, help="how many to train on in all, padding included")
    parser.add_argument("--ifstruct", type=int, default=0, help="how many in a hundred dialogues are requests of IFStruct")
    parser.add_argument("--program", default="target/release/maskwright", help="the judge of replies to IFStruct")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--batch-tokens", type=int, default=6144)
    parser.add_argument("--muon-lr", type=float, default=0.02)
    parser.add_argument("--adam-lr", type=float, default=0.004)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--evaluate-every", type=float, default=10, help="minutes between evaluations on held-out requests")
    parser.add_argument("--save-every", type=float, default=5, help="minutes between checkpoints")
    parser.add_argument("--stable", type=float, default=0.55, help="share of all tokens at the peak learning rate, which then falls linearly to zero")
    parser.add_argument("--no-curriculum", action="store_true", help="dialogues of every length from the first step, for a model that has been trained on them")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def export(model: Llama, dialogues: Dialogues, tokenizer: Path, out: Path):
    """Writes weights (f16), configuration and tokenizer; each file is replaced in one step."""
    out.mkdir(parents=True, exist_ok=True)

    def put(name: str, write):
        partial = out / f"{name}.partial"
        write(partial)
        partial.chmod(0o644)
        os.replace(partial, out / name)

    tensors = {k: v.detach().to("cpu", torch.float16).contiguous() for k, v in model.state_dict().items()}
    generation = {"bos_token_id": dialogues.bos, "eos_token_id": dialogues.eos, "pad_token_id": dialogues.pad,
                  "do_sample": False}
    config = model.config.to_hf(dialogues.bos, dialogues.eos, dialogues.pad)
    put("config.json", lambda p: p.write_text(json.dumps(config, indent=2) + "\n"))
    put("generation_config.json", lambda p: p.write_text(json.dumps(generation, indent=2) + "\n"))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        put(name, lambda p, name=name: p.write_bytes((tokenizer / name).read_bytes()))
    put("model.safetensors", lambda p: save_file(tensors, p, {"format": "pt"}))


def carry_over(initial: Path, model: Llama, tokenizer: Tokenizer):
    """Copies the weights of the model in `initial` into `model`, whose tokenizer may be another one.

    The embedding of a token that the other tokenizer lacks is the mean of those of its parts there.
    """
    before = load_file(initial / "model.safetensors")
    old = Tokenizer.from_file(str(initial / "tokenizer.json"))
    embeddings, carried = before["model.embed_tokens.weight"].float(), model.model.embed_tokens.weight.detach().clone()
    for token, index in tokenizer.get_vocab().items():
        known = old.token_to_id(token)
        text = tokenizer.decode([index], skip_special_tokens=False)
        if known is not None:
            carried[index] = embeddings[known]
        elif "\N{REPLACEMENT CHARACTER}" not in text:
            carried[index] = embeddings[old.encode(text, add_special_tokens=False).ids].mean(0)
    before["model.embed_tokens.weight"] = carried
    model.load_state_dict(before)


class Run:
    """The state of one training run."""

    def __init__(self, a):
        self.a = a
        torch.manual_seed(a.seed)
        self.world, self.rank = (dist.get_world_size(), dist.get_rank()) if dist.is_initialized() else (1, 0)
        if a.threads:
            torch.set_num_threads(a.threads)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        fixed = {m["content"] for m in generate([a.generator], 1, 0, "train", "default")[0]["messages"][:-1]}
        self.dialogues = Dialogues(str(a.tokenizer / "tokenizer.json"), fixed)
        vocabulary = self.dialogues.tokenizer.get_vocab_size()
        self.model = Llama(Config(vocab_size=vocabulary, num_hidden_layers=a.layers))
        if a.initial:
            carry_over(a.initial, self.model, self.dialogues.tokenizer)
        self.model.to(self.device)
        self.optimizers = build(self.model, a.muon_lr, a.adam_lr)
        torch._dynamo.config.recompile_limit = 4 * len(WIDTHS)
        self.block = Layer.__call__ if a.no_compile else torch.compile(Layer.__call__, dynamic=False)
        self.step = self.tokens = self.chunk = 0
        self.elapsed = 0.0
        self.seed = a.seed * 1_000_000 + self.rank * 100_000
        self.checkpoint = a.work / "checkpoint.pt"
        if self.checkpoint.exists():
            self.restore()
        self.held_out = generate([a.generator], 64, evaluate.HELD_OUT_SEED, "heldout", "none")
        self.requests = generate([a.generator], 32, evaluate.HELD_OUT_SEED, "heldout", ifstruct=100) if a.ifstruct else []
        self.started = time.monotonic() - self.elapsed
        self.progress = self.tokens / (1e6 * a.million_tokens)

    def restore(self):
        state = torch.load(self.checkpoint, map_location=self.device)
        self.model.load_state_dict(state["model"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"]):
            optimizer.load_state_dict(saved)
        self.step, self.tokens, self.chunk = state["step"], state["tokens"], state["chunk"]
        self.elapsed = state["elapsed"]

    def save(self, chunk: int):
        state = {"model": self.model.state_dict(), "optimizers": [o.state_dict() for o in self.optimizers],
                 "step": self.step, "tokens": self.tokens, "chunk": chunk, "elapsed": self.seconds()}
        partial = self.checkpoint.with_suffix(".partial")
        torch.save(state, partial)
        os.replace(partial, self.checkpoint)

    def seconds(self) -> float:
        return time.monotonic() - self.started

    def longest(self) -> int:
        if self.a.no_curriculum:
            return CURRICULUM[-1][1]
        return next((longest for until, longest in CURRICULUM if self.progress < until), CURRICULUM[-1][1])

    def rate(self) -> float:
        falling = 1 - max(0.0, self.progress - self.a.stable) / max(1e-9, 1 - self.a.stable)
        return max(0.0, min(1.0, (self.step + 1) / 100, falling))

    def log(self, **fields):
        if self.rank:
            return
        line = json.dumps({"minutes": round(self.seconds() / 60, 2), "step": self.step, "tokens": self.tokens, **fields})
        print(line, flush=True)
        with (self.a.work / "log.jsonl").open("a") as file:
            file.write(line + "\n")

    def update(self, tokens, weights) -> tuple[float, float]:
        """One optimiser step; returns the loss and the norm of the gradient."""
        tokens, weights = tokens.to(self.device), weights.to(self.device)
        kind = fast_type(self.device)
        with torch.autocast(self.device.type, kind, enabled=kind != torch.float32):
            loss, total = self.model.loss(self.model.hidden(tokens, block=self.block), tokens, weights)
            loss = loss / total
        loss.backward()
        self.average(tokens.numel())
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group["peak"] * self.rate()
            optimizer.step()
            optimizer.zero_grad()
        self.step += 1
        self.progress = self.tokens / (1e6 * self.a.million_tokens)
        return loss.item(), norm.item()

    def average(self, tokens: int):
        """Averages the gradients of all processes, and counts the tokens that all of them have read in this step."""
        if self.world == 1:
            self.tokens += tokens
            return
        gradients = [p.grad for p in self.model.parameters()]
        flat = torch.cat([g.flatten() for g in gradients] + [torch.tensor([float(tokens)], device=self.device)])
        dist.all_reduce(flat)
        self.tokens += round(flat[-1].item())
        flat /= self.world
        for g, f in zip(gradients, flat[:-1].split([g.numel() for g in gradients])):
            g.copy_(f.view_as(g))

    @torch.no_grad()
    def measure(self):
        """Logs the held-out rate and exports the present weights."""
        self.model.eval()
        results = evaluate.evaluate(self.model, self.dialogues, self.held_out, max_new=256)
        self.model.train()
        valid = sum(r == "valid" for r, _ in results)
        self.log(held_out_valid=valid, held_out=len(results), answers=[r[1][:160] for r in results[:3]])
        if self.requests:
            self.model.eval()
            rewards, replies = evaluate.ifstruct(self.model, self.dialogues, self.requests, self.a.program)
            self.model.train()
            self.log(ifstruct_passed=sum(rewards), ifstruct=len(rewards), replies=[r[:400] for r in replies[:3]])
        export(self.model, self.dialogues, self.a.tokenizer, self.a.out)

    def train(self):
        a = self.a
        batches = Batches(self.dialogues, [a.generator], a.batch_tokens, self.seed + self.chunk, self.longest, a.ifstruct)
        save_due, due = self.seconds() + 60 * a.save_every, self.seconds() + 60 * a.evaluate_every
        mean, shown, shown_tokens = math.nan, self.seconds(), self.tokens
        while self.progress < 1:
            loss, norm = self.update(*next(batches))
            mean = loss if math.isnan(mean) else 0.98 * mean + 0.02 * loss
            if self.step % 50 == 0:
                speed = (self.tokens - shown_tokens) / (self.seconds() - shown)
                shown, shown_tokens = self.seconds(), self.tokens
                self.log(loss=round(mean, 4), norm=round(norm, 3), rate=round(self.rate(), 4), speed=round(speed))
            if self.rank == 0 and self.seconds() > save_due:
                self.save(batches.chunk - self.seed)
                save_due = self.seconds() + 60 * a.save_every
            if self.rank == 0 and self.seconds() > due:
                self.measure()
                due = self.seconds() + 60 * a.evaluate_every
        if self.rank == 0:
            self.save(batches.chunk - self.seed)
            self.measure()


def main():
    a = arguments()
    a.work.mkdir(parents=True, exist_ok=True)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    Run(a).train()


if __name__ == "__main__":
    main()
