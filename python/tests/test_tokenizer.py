"""Tokenizers: files by what is in them, objects of other packages, and what is refused."""

import base64
import json
from pathlib import Path
from types import MappingProxyType

import pytest

import maskwright


def test_a_tokenizer_json_says_which_tokens_must_come(tmp_path: Path, tokenizer_json: str) -> None:
    (tmp_path / "tokenizer.json").write_text(tokenizer_json)
    tokenizer = maskwright.Tokenizer.from_file(tmp_path / "tokenizer.json", stop_token_ids=[257])
    assert (len(tokenizer), tokenizer.token_bytes(256), tokenizer.token_bytes(257)) == (258, b"ab", None)
    matcher = maskwright.Compiler(tokenizer).compile_json_schema({"const": "ab"}).matcher()
    assert matcher.forced_tokens() == [ord('"'), 256, ord('"')]
    with pytest.raises(maskwright.TokenizerError, match="end-of-sequence"):
        maskwright.Tokenizer.from_file(tmp_path / "tokenizer.json")


def test_a_directory_says_how_answers_end(tmp_path: Path, tokenizer_json: str) -> None:
    (tmp_path / "tokenizer.json").write_text(tokenizer_json)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": {"content": "<|end|>"}}))
    assert maskwright.Tokenizer.from_file(tmp_path).stop_token_ids == [257]
    (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": 3, "text_config": {"vocab_size": 320}}))
    tokenizer = maskwright.Tokenizer.from_file(tmp_path)
    assert (tokenizer.stop_token_ids, tokenizer.vocab_size) == ([3], 320)
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [257, 5]}))
    assert maskwright.Tokenizer.from_file(tmp_path).stop_token_ids == [257, 5]
    with pytest.raises(maskwright.TokenizerError, match="no tokenizer.json"):
        maskwright.Tokenizer.from_file(tmp_path.parent)


def test_files_of_a_directory_may_be_missing_and_not_unreadable(tmp_path: Path, tokenizer_json: str) -> None:
    # The numbers as Python writes them, beside a string with their names.
    (tmp_path / "tokenizer.json").write_text(tokenizer_json.replace("<|end|>", "<NaN>"))
    config = {"limits": [float("inf"), -float("inf"), float("nan")], "text": '"\\', "eos_token": "<NaN>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert maskwright.Tokenizer.from_file(tmp_path).stop_token_ids == [257]
    for name in ["config.json", "generation_config.json", "tokenizer_config.json"]:
        (tmp_path / name).write_text('{"eos_token_id": 25')
        with pytest.raises(maskwright.TokenizerError, match=f"/{name}: EOF"):
            maskwright.Tokenizer.from_file(tmp_path)
        (tmp_path / name).unlink()


def test_ranks_of_tiktoken(tmp_path: Path) -> None:
    path = tmp_path / "small.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(bytes([byte])) + f" {byte}\n".encode() for byte in range(256)))
    tokenizer = maskwright.Tokenizer.from_file(path, special_tokens={"<end>": 256}, stop_token_ids=[256])
    assert (tokenizer.decode(b"a\xff"), tokenizer.vocab_size) == (b"a\xff", 257)
    special = MappingProxyType({"<end>": 256, "<other>": 258})
    assert maskwright.Tokenizer.from_file(path, special_tokens=special, stop_token_ids=[256]).vocab_size == 259


def test_a_model_of_sentencepiece(tmp_path: Path) -> None:
    def piece(text: str, kind: int) -> bytes:
        data = text.encode()
        fields = bytes([0x0A, len(data)]) + data + bytes([0x18, kind])
        return bytes([0x0A, len(fields)]) + fields

    model = piece("<unk>", 2) + piece("<s>", 3) + piece("</s>", 3) + piece("<0x0A>", 6) + piece("\u2581a", 1)
    path = tmp_path / "tokenizer.model"
    path.write_bytes(model)
    tokenizer = maskwright.Tokenizer.from_file(path)
    assert tokenizer.stop_token_ids == [2]
    assert [tokenizer.token_bytes(token) for token in range(5)] == [None, None, None, b"\n", b" a"]
    path.write_bytes(b"something else")
    with pytest.raises(maskwright.TokenizerError, match="neither"):
        maskwright.Tokenizer.from_file(path)
    with pytest.raises(maskwright.TokenizerError):
        maskwright.Tokenizer.from_file(tmp_path / "missing")


def test_objects_of_other_packages(tokenizer_json: str) -> None:
    class Backend:
        def to_str(self) -> str:
            return tokenizer_json

    class Fast:
        backend_tokenizer = Backend()
        eos_token_id = 257

    class Encoding:
        eot_token, n_vocab, special_tokens_set = 258, 260, {"<end>"}

        def token_byte_values(self) -> list[bytes]:
            return [bytes([byte]) for byte in range(256)]

        def encode_single_token(self, token: str | bytes) -> int:
            return 258 if token == "<end>" else token[0]  # type: ignore[return-value]

    assert maskwright.Tokenizer.from_huggingface(Fast()).stop_token_ids == [257]
    tokenizer = maskwright.Tokenizer.from_huggingface(Backend(), stop_token_ids=[256], vocab_size=400)
    assert (tokenizer.stop_token_ids, tokenizer.vocab_size) == ([256], 400)
    tokenizer = maskwright.Tokenizer.from_tiktoken(Encoding())
    assert (tokenizer.stop_token_ids, tokenizer.vocab_size, tokenizer.token_bytes(65)) == ([258], 260, b"A")
    with pytest.raises(maskwright.TokenizerError, match="only fast tokenizers"):
        maskwright.Tokenizer.from_huggingface(object())


def test_vocabularies_that_are_none(tokenizer_json: str) -> None:
    for token in (1, -1):
        with pytest.raises(maskwright.TokenizerError, match="outside the vocabulary"):
            maskwright.Tokenizer.from_bytes([b"a"], stop_token_ids=[token])
    with pytest.raises(maskwright.TokenizerError, match="end-of-sequence"):
        maskwright.Tokenizer.from_bytes([b"a"], stop_token_ids=[])
    with pytest.raises(maskwright.TokenizerError, match="do not belong together"):
        maskwright.Tokenizer.from_bytes([b"a", b"b"], stop_token_ids=[0], vocab_size=1)
