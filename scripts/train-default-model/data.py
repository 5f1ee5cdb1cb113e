"""Batches of training dialogues, generated while training runs."""

import json
import queue
import random
import subprocess
import threading

import torch
from tokenizers import Tokenizer

CHUNK = 6000
"""Dialogues per run of the generator; chunk `i` has seed `base + i`."""

WIDTHS = [160, 256, 352, 448, 576, 704, 896, 1152]
"""Padded lengths in tokens; a batch has one width, so padding and attention across dialogues stay out of it."""

SHORT_REPLY = 100
"""Reply tokens up to which every instance of a schema is kept; of longer ones a share of SHORT_REPLY / length is."""

COUNTING_WORDS = "amber birch cedar delta ember fjord grove harbor island juniper".split()
COUNTING_WEIGHT = 8.0
"""The first words of `WORDS` in suites/src/ifstruct/reference.rs, by which replies count down the items that are left, and their weight: the
first of them in a reply is the one token that shows whether the number of items was read in the request."""

PROMPT_WEIGHT, PROMPT_SAMPLE = 0.5, 0.2
"""A sampled fifth of the prompt tokens counts half, so a prompt token counts a tenth of an answer token."""


class Dialogues:
    """Encodes dialogues exactly as the chat template writes them."""

    def __init__(self, tokenizer_path: str, fixed_answers: set[str]):
        self.tokenizer_path = tokenizer_path
        self.tokenizer = Tokenizer.from_file(tokenizer_path)
        special = self.tokenizer.token_to_id
        self.bos, self.eos, self.pad = special("<|bos|>"), special("<|end|>"), special("<|pad|>")
        self.role = {r: special(f"<|{r}|>") for r in ("system", "user", "assistant")}
        self.fixed_answers = fixed_answers
        self.counting = {ids[0] for ids in self._texts(COUNTING_WORDS) if len(ids) == 1}

    def _texts(self, texts: list[str]) -> list[list[int]]:
        return [e.ids for e in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def encode(self, dialogues: list[list[dict]]) -> list[tuple[list[int], list[int]]]:
        """Token ids of each dialogue, and 1 where a token is part of an answer to be learned."""
        texts = sorted({m["content"] for d in dialogues for m in d})
        ids = dict(zip(texts, self._texts(texts)))
        out = []
        for messages in dialogues:
            tokens, answer = [self.bos], [0]
            for i, m in enumerate(messages):
                body = [*ids[m["content"]], self.eos]
                learn = m["role"] == "assistant" and (i + 1 == len(messages) or m["content"] not in self.fixed_answers)
                tokens += [self.role[m["role"]], *body]
                answer += [0] + [int(learn)] * len(body)
            out.append((tokens, answer))
        return out

    def prompt(self, messages: list[dict]) -> list[int]:
        """The tokens before the answer: the messages, then the assistant token."""
        return self.encode([messages])[0][0] + [self.role["assistant"]]


def generate(command: list[str], count: int, seed: int, split: str, shots: str = "mixed", ifstruct: int = 0,
             name_pieces: str | None = None) -> list[dict]:
    """Runs the generator binary; `ifstruct` in a hundred dialogues are requests of IFStruct, those for training with made-up names.

    `name_pieces` is a tokenizer.json, whose tokens those names are made of.
    """
    arguments = [*command, "--count", str(count), "--seed", str(seed), "--split", split, "--shots", shots, "--ifstruct", str(ifstruct)]
    if split == "train":
        arguments.append("--made-up-names")
        if name_pieces:
            arguments += ["--name-pieces", name_pieces]
    done = subprocess.run(arguments, check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def kept_share(line: dict, reply_tokens: int) -> float:
    """The share of dialogues like `line` that are trained on.

    Of requests for n items it is 1 / sqrt(n): the items of a reply after the first repeat its names, and teach little more about reading
    a request. How many fields an item has is left as it is drawn: a model that often sees items of few fields ends items too early.
    """
    if sample := line.get("sample"):
        count = sample["top_level_count"] or 1
        return (count[0] if isinstance(count, list) else count) ** -0.5
    return SHORT_REPLY / reply_tokens


class Batches:
    """A background thread that yields (tokens, weights) of about `batch_tokens` tokens, `ifstruct` in a hundred dialogues from IFStruct.

    `longest()` is asked before each chunk: longer dialogues are left out, which makes the curriculum.
    """

    def __init__(self, dialogues: Dialogues, command: list[str], batch_tokens: int, seed: int, longest, ifstruct: int = 0):
        self.dialogues, self.command, self.batch_tokens, self.ifstruct = dialogues, command, batch_tokens, ifstruct
        self.chunk, self.longest = seed, longest
        self.queue: queue.Queue = queue.Queue(maxsize=64)
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self):
        try:
            rng = random.Random(self.chunk)
            waiting: dict[int, list] = {w: [] for w in WIDTHS}
            while True:
                longest = self.longest()
                lines = generate(self.command, CHUNK, self.chunk, "train", ifstruct=self.ifstruct,
                                 name_pieces=self.dialogues.tokenizer_path)
                self.chunk += 1
                # A token of this text has about five bytes; the length filter below is the exact one.
                lines = [d for d in lines if sum(len(m["content"]) for m in d["messages"]) < 8 * longest]
                ready = []
                for line, (tokens, answer) in zip(lines, self.dialogues.encode([d["messages"] for d in lines])):
                    width = next((w for w in WIDTHS if w >= len(tokens)), None)
                    if width is None or width > longest or rng.random() > kept_share(line, sum(answer)):
                        continue
                    waiting[width].append((tokens, answer))
                    rows = max(1, self.batch_tokens // width)
                    if len(waiting[width]) == rows:
                        ready.append(self._batch(waiting[width], width, rng))
                        waiting[width] = []
                rng.shuffle(ready)
                for batch in ready:
                    self.queue.put(batch)
        except Exception as error:  # noqa: BLE001 - shown by the training thread
            self.queue.put(error)

    def _batch(self, rows, width, rng):
        tokens = torch.full((len(rows), width), self.dialogues.pad)
        weights = torch.zeros(len(rows), width)
        for i, (ids, answer) in enumerate(rows):
            tokens[i, : len(ids)] = torch.tensor(ids)
            counting = self.dialogues.counting
            kept = [(COUNTING_WEIGHT if token in counting else 1.0) if a else PROMPT_WEIGHT * (rng.random() < PROMPT_SAMPLE)
                    for token, a in zip(ids, answer)]
            weights[i, : len(ids)] = torch.tensor(kept)
        return tokens, weights

    def __iter__(self):
        return self

    def __next__(self):
        item = self.queue.get()
        if isinstance(item, Exception):
            raise item
        return item
