"""The classes of the grammar backend: they have bases in SGLang, so that this module is imported within SGLang alone."""

from __future__ import annotations

import functools
import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, cast

from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    GrammarStats,
    InvalidGrammarObject,
    register_vocab_mask_buffer,
)

from .._bitmask import allocate_token_bitmask, allow_only, apply_token_bitmask_inplace
from .._native import Compiled, Compiler, MaskError, Matcher, Tokenizer
from .._delegation import compile_own_grammar, compile_own_tag
from .._executor import shared_executor

logger = logging.getLogger(__name__)

# The style of servers that are told to write no whitespace.
COMPACT = {"layout": {"around_comma": (0, 0), "around_colon": (0, 0)}}

# The schema that SGLang asks for where any JSON will do.
ANY_JSON = "$$ANY$$"


class Masks:
    """The methods that SGLang calls on grammars and on the backend alike: allocation and application of masks."""

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> Any:
        """Allocates a tensor of shape `(batch_size, words)` and type int32 on the CPU, which allows every token."""
        return allocate_token_bitmask(batch_size, vocab_size, kind="torch")

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """Allows every token."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """Copies the mask to the device of the logits."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Forbids tokens in logits of shape `(batch, vocabulary)`: on CUDA by SGLang's kernel, elsewhere by torch."""
        kernel = _kernel() if logits.device.type == "cuda" else None
        (kernel or apply_token_bitmask_inplace)(logits, vocab_mask)


@functools.cache
def _kernel() -> Callable[[Any, Any], None] | None:
    """SGLang's Triton kernel; None on HIP, where SGLang does not use it either."""
    import torch

    if torch.version.hip:
        return None
    from sglang.kernels.ops.grammar.bitmask_ops import apply_token_bitmask_inplace_triton

    kernel: Callable[[Any, Any], None] = apply_token_bitmask_inplace_triton
    return kernel


class Grammar(Masks, BaseGrammarObject):  # type: ignore[misc]
    """One request's grammar, as SGLang's `BaseGrammarObject` describes it."""

    def __init__(
        self, compile: Callable[[], Compiled], compiled: Compiled, kind: str | None, matcher: Matcher | None = None
    ) -> None:
        super().__init__()
        self.matcher = compiled.matcher() if matcher is None else matcher
        self._compile, self._compiled, self._is_limited = compile, compiled, False
        self._reasoning: tuple[int, weakref.ref[Any]] | None = None
        self.grammar_stats = GrammarStats(dispatch_type=kind)

    def _usable(self) -> Compiled:
        """Returns the compiled schema, compiled anew if it came to a limit of the engine."""
        if self._compiled.is_limit_reached:
            self._compiled = self._compile()
        return self._compiled

    def limit(self, max_tokens: int) -> None:
        """Keeps an end of the answer within this number of tokens, the stop token included. The grammar is at the start of an answer.

        Raises `ValueError` if the tokens are too few for any answer.
        """
        self.matcher, self._is_limited = self._usable().matcher(max_tokens=max_tokens), True

    def limit_behind_reasoning(self, max_tokens: int, wrapper: Any) -> None:
        """Keeps an end within this number of tokens, including the tokens of the reasoning before the answer, which `wrapper` counts.

        If the reasoning leaves too few tokens for any answer, there is no limit.
        """
        self._reasoning = max_tokens, weakref.ref(wrapper)

    def _take_reasoning(self) -> None:
        """Subtracts the tokens of the reasoning from the limit. The reasoning has ended when a mask is asked for."""
        if self._reasoning is None:
            return
        max_tokens, wrapper = self._reasoning
        if (reasoned := wrapper()) is not None and reasoned.tokens_in_think >= 0:
            self.matcher.set_max_tokens(max(0, max_tokens - reasoned.tokens_in_think - len(reasoned.think_end_ids)))

    def accept_token(self, token: int) -> None:
        """Accepts a token. Tokens after the end are ignored.

        Raises `ValueError`, for which SGLang aborts the request, if the token is not allowed or a limit of the engine is reached.
        """
        if self.matcher.is_terminated():
            return
        self.current_token = token
        try:
            is_allowed = self.matcher.accept_token(token)
        except MaskError as error:
            raise ValueError(str(error)) from error
        if not is_allowed:
            raise ValueError(f"token {token} is not allowed by the schema of the request")

    def rollback(self, k: int) -> None:
        """Takes back accepted tokens, which may include the end."""
        self.matcher.rollback(k)

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted."""
        return self.matcher.is_terminated()

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """Writes the mask into a row. If a limit of the engine is reached, only stop tokens are allowed, so that the request ends: as an
        error, unless the answer is complete.
        """
        self._take_reasoning()
        try:
            self.matcher.fill_next_token_bitmask(vocab_mask, idx)
        except MaskError as error:
            logger.error("a request cannot be answered further: %s", error)
            allow_only(vocab_mask, idx, self.matcher.stop_token_ids)

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: Any) -> None:
        """Writes the masks of a batch. Masks of other backends' grammars are written one by one."""
        own = [entry for entry in entries if isinstance(entry.grammar, Grammar)]
        singly = [entry for entry in entries if not isinstance(entry.grammar, Grammar)]
        try:
            shared_executor().fill([entry.grammar.matcher for entry in own], vocab_mask, [entry.row for entry in own])
        except MaskError:
            # The error does not say whose it is.
            singly = list(entries)
        for entry in singly:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    def copy(self) -> Grammar:
        """Makes an independent copy at the same place. SGLang keeps one grammar for each text and copies it for each request: if the schema
        came to a limit of the engine, it is compiled anew, and nothing is kept of what was compiled before.
        """
        before = self._compiled
        is_new = self.matcher.num_accepted_tokens == 0 and not self._is_limited
        if is_new and self._usable() is not before:
            self.matcher = self._compiled.matcher()
        copied = Grammar(self._compile, self._compiled, self.grammar_stats.dispatch_type, self.matcher.fork())
        copied._is_limited = self._is_limited
        return copied

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """Returns the tokens that must come next; None if there is a choice."""
        tokens = self.matcher.forced_tokens()
        return (tokens, "") if tokens else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """Returns no text: tokens are forced, not text."""
        return "", -1

    def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int], next_state: int) -> None:
        """Does nothing: forced tokens are already as the tokenizer writes them."""


class Backend(Masks, BaseGrammarBackend):  # type: ignore[misc]
    """Compiles the requests of a server, as SGLang's `BaseGrammarBackend` describes it."""

    def __init__(self, tokenizer: Any, vocab_size: int, eos_token_ids: Any, *, compact: bool = False) -> None:
        super().__init__()
        one = isinstance(eos_token_ids, int)
        self._stops = [eos_token_ids] if one else sorted(eos_token_ids) if eos_token_ids else None
        own = Tokenizer.from_huggingface(tokenizer, stop_token_ids=self._stops, vocab_size=vocab_size)
        self.compiler = Compiler(own, style=COMPACT if compact else None)
        self._tokenizer, self._vocab_size = tokenizer, vocab_size
        self._other_made = threading.Lock()

    def initialize_vocab_mask_buffer(self, name: str, vocab_size: int, max_rows: int, device: Any) -> Any:
        """Allocates a bitmask that SGLang keeps under a name."""
        return register_vocab_mask_buffer(name, self.allocate_vocab_mask(vocab_size, max_rows, device), max_rows)

    @property
    def is_support_token_filter(self) -> bool:
        """Whether servers may forbid tokens while a request reasons: yes."""
        return True

    @staticmethod
    def set_token_filter(
        vocab_mask: Any, token_ids: list[int], batch_idx: int, is_allowed: bool = True, reset_vocab_mask: bool = True
    ) -> None:
        """Allows or forbids some tokens in a row, which may be reset before."""
        from sglang.srt.constrained.torch_ops.token_filter_torch_ops import set_token_filter_torch

        set_token_filter_torch(
            vocab_mask, token_ids, batch_idx, is_allowed=is_allowed, reset_vocab_mask=reset_vocab_mask
        )

    def dispatch_json(self, key_string: str) -> Any:
        """Returns the grammar of a schema. If the schema cannot be compiled, the grammar carries the reason."""
        schema = "{}" if key_string == ANY_JSON else key_string
        return self._grammar(self.compiler.compile_json_schema, schema, "json")

    def dispatch_regex(self, key_string: str) -> Any:
        """Returns the grammar of the texts that a regular expression matches whole."""
        return self._grammar(self.compiler.compile_regex, key_string, "regex")

    def dispatch_ebnf(self, key_string: str) -> Any:
        """Returns a grammar, of the other backend if it is not answered here."""
        return self._own_or_another(compile_own_grammar, key_string, "ebnf")

    def dispatch_structural_tag(self, key_string: str) -> Any:
        """Returns the grammar of a structural tag, of the other backend if a format is not answered here."""
        return self._own_or_another(compile_own_tag, key_string, "structural_tag")

    def reset(self) -> None:
        """Drops the compiled schemas."""
        super().reset()
        self.compiler.clear_cache()

    def _grammar(self, compile: Callable[[str], Compiled], text: str, kind: str) -> Any:
        again = functools.partial(compile, text)
        try:
            return Grammar(again, again(), kind)
        except ValueError as error:
            logger.error("a request is refused: %s", error)
            return InvalidGrammarObject(str(error))

    def _own_or_another(self, compile: Callable[[Compiler, str], Compiled | None], text: str, kind: str) -> Any:
        again = functools.partial(compile, self.compiler, text)
        try:
            compiled = again()
            if compiled is not None:
                return Grammar(cast(Callable[[], Compiled], again), compiled, kind)
        except ValueError as error:
            logger.error("a request is refused: %s", error)
            return InvalidGrammarObject(str(error))
        return self._by_another(f"dispatch_{kind}", text)

    def _by_another(self, dispatch: str, text: str) -> Any:
        # Requests are compiled by several threads.
        with self._other_made:
            other = self._other
        if other is None:
            return InvalidGrammarObject("this grammar or structural tag is not treated here, and needs the package xgrammar or llguidance")
        return getattr(other, dispatch)(text)

    @functools.cached_property
    def _other(self) -> Any:
        """The backend for grammars and structural tags that are not treated here; None if there is none."""
        makers = {"xgrammar": self._xgrammar, "llguidance": self._llguidance}
        for name, make in makers.items():
            try:
                other = make()
            except ImportError as error:
                logger.warning("%s cannot be used: %s", name, error)
                continue
            logger.warning("a grammar is not treated here: such requests are answered by %s", name)
            return other
        return None

    def _xgrammar(self) -> Any:
        from sglang.srt.constrained.xgrammar_backend import XGrammarGrammarBackend

        return XGrammarGrammarBackend(
            self._tokenizer, vocab_size=self._vocab_size, model_eos_token_ids=self._stops
        )

    def _llguidance(self) -> Any:
        from sglang.srt.constrained.llguidance_backend import GuidanceBackend

        return GuidanceBackend(tokenizer=self._tokenizer, n_vocab=self._vocab_size, eos_token_ids=self._stops)
