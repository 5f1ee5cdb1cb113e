"""Structural tags of vLLM's making: on recorded replies, masks are those of the slow matcher."""

import json
import random
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from slow_matcher import SPECIAL, SlowMatcher

import maskwright

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "structural_tags.json").read_text(encoding="utf-8"))
TEXTS = ['{"', '":', '"}', "}\n", "</", ">\n", "\n</", "<parameter", "=city", "_call>", "arg_", "｜", "DSML", "ü", "e</"]
TEXTS += ["30", "30</", "</parameter>\n"]
END = "<end>"
# Some tokenizers have these as tokens of their own, others spell them.
MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<arg_value>", "</arg_value>"]
MARKS += ["<｜tool▁calls▁begin｜>", "<｜tool▁call▁end｜>", "<|tool_call_end|>"]


class Vocabulary:
    def __init__(self, marks: list[str]) -> None:
        texts = [bytes([byte]) for byte in range(256)] + [text.encode() for text in TEXTS]
        names = [*marks, END]
        self.special = {name: len(texts) + at for at, name in enumerate(names)}
        self.symbols = [tuple(text) for text in texts] + [(SPECIAL + token,) for token in self.special.values()]
        self.end = self.special[END]
        tokens = texts + [name.encode() for name in names]
        self.tokenizer = maskwright.Tokenizer.from_bytes(
            tokens, stop_token_ids=[self.end], special_token_ids=list(self.special.values())
        )

    def tokens(self, text: str, chooser: random.Random) -> list[int]:
        """Tokens that spell a text, of those that do at random."""
        tokens = []
        for part in re.split("|".join(f"({re.escape(name)})" for name in self.special), text):
            rest = (part or "").encode()
            if part in self.special:
                tokens.append(self.special[part])
                continue
            while rest:
                fitting = [token for token, symbols in enumerate(self.symbols) if begins(rest, symbols)]
                tokens.append(chooser.choice(fitting))
                rest = rest[len(self.symbols[tokens[-1]]) :]
        return tokens


def begins(text: bytes, symbols: tuple[int, ...]) -> bool:
    return symbols[0] < SPECIAL and text.startswith(bytes(symbols))


def mask(matcher: maskwright.Matcher, size: int) -> set[int]:
    bitmask = maskwright.allocate_token_bitmask(1, size, kind="memoryview")
    matcher.fill_next_token_bitmask(bitmask)
    words = struct.unpack(f"={bitmask.nbytes // 4}I", bitmask.tobytes())
    return {32 * at + bit for at, word in enumerate(words) for bit in range(32) if word >> bit & 1}


@pytest.mark.parametrize("marks", [[], MARKS], ids=["spelled", "special"])
@pytest.mark.parametrize("family", RECORDED["replies"])
def test_masks_are_those_of_the_slow_matcher(family: str, marks: list[str]) -> None:
    vocabulary, chooser = Vocabulary(marks), random.Random(family)
    style = {"layout": {"around_comma": [0, 0], "around_colon": [0, 0]}}
    compiler = maskwright.Compiler(vocabulary.tokenizer, style=style)
    tag = RECORDED["tags"][family]
    slow = SlowMatcher(tag, vocabulary.special, {vocabulary.end})
    compiled = compiler.compile_structural_tag(tag)
    for reply in RECORDED["replies"][family]:
        matcher, states = compiled.matcher(), slow.begin()
        for token in [*vocabulary.tokens(reply, chooser), None]:
            expected = {
                other
                for other, symbols in enumerate(vocabulary.symbols)
                if other != vocabulary.end and slow.steps(states, symbols)
            }
            expected |= {vocabulary.end} if slow.is_complete(states) else set()
            found = mask(matcher, vocabulary.tokenizer.vocab_size)
            assert found == expected, (reply, token, [vocabulary.symbols[other] for other in found ^ expected])
            if token is not None:
                assert matcher.accept_token(token)
                states = slow.steps(states, vocabulary.symbols[token])
        assert slow.is_complete(states) and matcher.is_completed()
