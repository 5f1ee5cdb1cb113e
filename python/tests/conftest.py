"""A small tokenizer, in which each byte is a token and some texts are too."""

import json
from typing import Any

import pytest

import maskwright

TEXTS = ['{"', '":', '", "', '"}', "true", "  ", "ab", "abc", "\n", "é"]
STOP = 256 + len(TEXTS)
OTHER_STOP = STOP + 1

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "label": {"type": "string"}},
    "required": ["x"],
    "additionalProperties": False,
}


class Failing:
    """A matcher of an answer that has reached a limit of the engine."""

    stop_token_ids = [31, STOP]

    def is_terminated(self) -> bool:
        return False

    def fail(self, *_: Any, **__: Any) -> Any:
        raise maskwright.MaskError("a limit")

    accept_token = accept_tokens = validate_tokens = fill_next_token_bitmask = fail


@pytest.fixture(scope="session")
def tokenizer() -> maskwright.Tokenizer:
    tokens = [bytes([byte]) for byte in range(256)] + [text.encode() for text in TEXTS] + [b"<end>", b"<other>"]
    return maskwright.Tokenizer.from_bytes(
        tokens, stop_token_ids=[STOP], special_token_ids=[STOP, OTHER_STOP], vocab_size=300
    )


@pytest.fixture(scope="session")
def compiler(tokenizer: maskwright.Tokenizer) -> maskwright.Compiler:
    return maskwright.Compiler(tokenizer)


@pytest.fixture(scope="session")
def tokenizer_json() -> str:
    """A tokenizer.json of byte-level BPE with one merge, `ab`."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    characters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + at) for at, byte in enumerate(others)}
    vocab = {characters[byte]: byte for byte in range(256)} | {"ab": 256}
    special = {"id": 257, "content": "<|end|>", "special": True, "single_word": False, "lstrip": False, "rstrip": False}
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [special | {"normalized": False}],
            "normalizer": None,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None,
            "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "vocab": vocab, "merges": ["a b"]},
        }
    )
