"""The engine as a class of MaskBench, the benchmark of masks beside JSONSchemaBench.

MaskBench's runner, and this project's `--worker maskbench:maskwright.maskbench.MaskwrightEngine`, set `tokenizer` to a tokenizer of transformers and
then call the methods. Every text of a valid document is admitted, and `format` is asserted, as MaskBench's labels have it.
"""

from __future__ import annotations

import json
from typing import Any

from ._bitmask import allocate_token_bitmask
from ._native import Compiled, Compiler, Matcher, Tokenizer, __version__


class MaskwrightEngine:
    """The methods of MaskBench's `Engine`. The class is not derived from `Engine`, so that MaskBench's package is not needed."""

    tokenizer: Any
    tokenizer_model_id: str
    multi: bool = False
    debug: bool = False

    def get_id(self) -> str:
        """The name in files of results."""
        return "maskwright"

    def get_name(self) -> str:
        """The name in tables."""
        return "maskwright"

    def get_module(self) -> str:
        """The name of the package."""
        return "maskwright"

    def get_version(self) -> str:
        """The version of the package."""
        return __version__

    def init(self) -> None:
        """Reads the vocabulary of `tokenizer`. Raises `TokenizerError` for a tokenizer that does not give the bytes of its tokens."""
        tokenizer = Tokenizer.from_huggingface(self.tokenizer)
        # A schema comes once, so that keeping it would only make the next one wait for memory.
        self._compiler = Compiler(tokenizer, style="rfc8259", formats="asserted", cache_bytes=0)
        self._bitmask = allocate_token_bitmask(1, tokenizer.vocab_size)
        self._compiled: Compiled | None = None
        self._matcher: Matcher | None = None

    def compile_grammar(self, schema: dict[str, Any]) -> None:
        """Compiles the schema of the next calls. Raises `CompileError`."""
        self._compiled = self._matcher = None
        self._compiled = self._compiler.compile_json_schema(json.dumps(schema))

    def reset(self) -> None:
        """Goes to the start of a document. Raises `RuntimeError` if no schema was compiled."""
        if self._compiled is None:
            raise RuntimeError("there is no schema: call compile_grammar first")
        self._matcher = self._compiled.matcher()

    def compute_mask(self) -> None:
        """Computes the mask of the next token. Raises `MaskError` where the engine cannot tell."""
        self._current().fill_next_token_bitmask(self._bitmask)

    def commit_token(self, token: int) -> bool:
        """Accepts a token. Returns False, and changes nothing, if it is not allowed. Raises `MaskError` where the engine cannot tell."""
        return self._current().accept_token(token)

    def log_single(self, message: str) -> None:
        """Prints a message, unless several engines run at once."""
        if not self.multi:
            import sys

            print(message, file=sys.stderr)

    def _current(self) -> Matcher:
        if self._matcher is None:
            raise RuntimeError("there is no document: call reset first")
        return self._matcher
