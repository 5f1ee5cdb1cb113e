"""The grammar backend `maskwright` of SGLang: `--grammar-backend maskwright`.

SGLang finds it by the entry point `sglang.srt.plugins`. Schemas, regular expressions, structural tags and EBNF are answered here; grammars that the engine does not
treat or cannot read, also in structural tags, by SGLang's own backend over xgrammar, or over llguidance where xgrammar is not installed, which the log says once. A request's `max_new_tokens` reaches its
matcher, so that answers are not cut off; if a request reasons first, the tokens of its reasoning count in the limit, and the answer gets the
rest.

Written for SGLang 0.5.23; `scripts/check-serving.sh` drives its classes with ours.
"""

from __future__ import annotations

import functools
from typing import Any

from .._native import MaskError

NAME = "maskwright"

_MANAGER = "sglang.srt.constrained.grammar_manager.GrammarManager"


def register() -> None:
    """Registers the backend with SGLang. A second call changes nothing."""
    from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend

    if NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([NAME])
    register_grammar_backend(NAME, create)


def create(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any) -> Any:
    """Makes the backend for a server, as SGLang's `create_grammar_backend` asks for it. If the server parses reasoning, the backend is
    wrapped as SGLang wraps its own.

    Raises `TokenizerError` if the tokenizer does not give the bytes of its tokens.
    """
    from sglang.srt.runtime_context import get_serving

    from .backend import Backend

    _take_limits()
    serving = get_serving()
    compact = bool(getattr(serving, "constrained_json_disable_any_whitespace", False))
    backend = Backend(tokenizer, vocab_size, eos_token_ids, compact=compact)
    return _with_reasoning(backend, serving, tokenizer)


def _with_reasoning(backend: Any, serving: Any, tokenizer: Any) -> Any:
    """Wraps the backend if the tokenizer can write the end of reasoning. SGLang wraps its own backends, but not registered ones."""
    if not getattr(serving, "reasoning_parser", None):
        return backend
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    parser = ReasoningParser(model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    if not parser.detector.get_think_end_token_ids(tokenizer):
        return backend
    return ReasonerGrammarBackend(backend, parser, tokenizer, enable_strict_thinking=serving.enable_strict_thinking)


@functools.cache
def _take_limits() -> None:
    """Has SGLang's manager of grammars hand over each request when its grammar is compiled. A second call changes nothing."""
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType

    HookRegistry.register(f"{_MANAGER}.process_req_with_grammar", _when_known, HookType.AFTER)
    HookRegistry.register(f"{_MANAGER}.get_ready_grammar_requests", _when_ready, HookType.AFTER)
    HookRegistry.apply_hooks()


def _when_known(is_queued: bool, manager: Any, req: Any) -> None:
    """Runs after `process_req_with_grammar`: the grammar is compiled, unless the request waits for it."""
    if not is_queued:
        limit(req)


def _when_ready(reqs: list[Any], manager: Any) -> None:
    """Runs after `get_ready_grammar_requests`: the grammars of these requests are compiled."""
    for req in reqs:
        limit(req)


def limit(req: Any) -> None:
    """Hands a request's limit on tokens to its matcher. A request whose limit is too small for any answer is aborted with the reason."""
    from .backend import Grammar

    grammar, wrapper = req.grammar, None
    if not isinstance(grammar, Grammar):
        # The wrapper of servers that parse reasoning.
        grammar, wrapper = getattr(grammar, "grammar", None), grammar
    if not isinstance(grammar, Grammar) or req.finished() or req.sampling_params.max_new_tokens is None:
        return
    # A grammar that describes the reasoning too counts its tokens itself.
    if wrapper is not None and req.require_reasoning and not getattr(wrapper, "reasoning_in_grammar", False):
        grammar.limit_behind_reasoning(req.sampling_params.max_new_tokens, wrapper)
        return
    try:
        grammar.limit(req.sampling_params.max_new_tokens)
    except (MaskError, ValueError) as error:
        req.set_finish_with_abort(str(error))
