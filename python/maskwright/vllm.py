"""The backend `maskwright` for structured outputs of vLLM: `--structured-outputs-config.backend maskwright`.

vLLM has no registry of backends, so its plugin, which it finds by the entry point `vllm.general_plugins`, changes five places: the names that the
configuration admits, the validation of requests, the choice of the backend, the creation of grammars, which is where the request's
`max_tokens` is known, and the acceptance of tokens, which shows how many of them were reasoning. Schemas, JSON objects, regular expressions, choices, grammars and structural tags are answered here; grammars that the engine
does not treat, by vLLM's own backend over xgrammar, or over llguidance where xgrammar is not installed, which the log says once.

Written for vLLM 0.33.0; `scripts/check-serving.sh` drives its classes with ours.
"""

from __future__ import annotations

import contextvars
import functools
import importlib.util
import json
import logging
import threading
from typing import Any

from ._bitmask import allow_only, bitmask_words
from ._native import Compiled, Compiler, MaskError, Matcher, Tokenizer
from ._delegation import compile_own_grammar, compile_own_tag

logger = logging.getLogger(__name__)

NAME = "maskwright"

_max_tokens: contextvars.ContextVar[int | None] = contextvars.ContextVar("maskwright_max_tokens", default=None)


class Grammar:
    """One request's grammar, as vLLM's `StructuredOutputGrammar` describes it."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Accepts tokens. Returns False, with a line in the log, if one is not allowed or a limit of the engine is reached. Tokens after
        the end are ignored.
        """
        if self.matcher.is_terminated():
            return True
        try:
            accepted = self.matcher.accept_tokens(tokens)
        except MaskError as error:
            logger.error("request %s: %s", request_id, error)
            return False
        if accepted == len(tokens) or self.matcher.is_terminated():
            return True
        logger.error("request %s: token %d is not allowed by its schema", request_id, tokens[accepted])
        return False

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """Returns the tokens that would be accepted; none if a limit of the engine is reached. The grammar does not change."""
        try:
            return tokens[: self.matcher.validate_tokens(tokens)]
        except MaskError:
            return []

    def rollback(self, num_tokens: int) -> None:
        """Takes back accepted tokens, which may include the end."""
        self.matcher.rollback(num_tokens)

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Writes the mask into a row. If a limit of the engine is reached, only stop tokens are allowed, so that the request ends: as an
        error, unless the answer is complete.
        """
        try:
            self.matcher.fill_next_token_bitmask(bitmask, batch_index)
        except MaskError as error:
            logger.error("a request cannot be answered further: %s", error)
            allow_only(bitmask, batch_index, self.matcher.stop_token_ids)

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted."""
        return self.matcher.is_terminated()

    def reset(self) -> None:
        """Goes back to the start."""
        self.matcher.reset()


class Backend:
    """Compiles requests, as vLLM's `StructuredOutputBackend` describes it."""

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        self.vllm_config, self.tokenizer, self.vocab_size = vllm_config, tokenizer, vocab_size
        own = Tokenizer.from_huggingface(tokenizer, vocab_size=vocab_size)
        self.compiler = Compiler(own)
        self._other_made = threading.Lock()

    def compile_grammar(self, request_type: Any, grammar_spec: str, stop_token_ids: set[int] | None = None) -> Any:
        """Compiles a request. Its limit on tokens is the one that `_create_grammar` has noted.

        Raises `CompileError`, or `ValueError` if the limit is too small for any answer.
        """
        compiled = compile_request(self.compiler, request_type.name, grammar_spec)
        if compiled is None:
            # Requests are compiled by several threads.
            with self._other_made:
                other = self._other
            return other.compile_grammar(request_type, grammar_spec, stop_token_ids)
        stops = sorted(stop_token_ids) if stop_token_ids else None
        return Grammar(compiled.matcher(stop_token_ids=stops, max_tokens=_max_tokens.get()))

    @functools.cached_property
    def _other(self) -> Any:
        """The backend for grammars and structural tags that are not treated here.

        Raises `ImportError` if there is none.
        """
        backend = _other_backend()
        logger.warning("a grammar is not treated here: such requests are answered by %s", backend.__name__)
        return backend(self.vllm_config, tokenizer=self.tokenizer, vocab_size=self.vocab_size)

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        """Allocates a tensor on the CPU of shape `(max_num_seqs, words)` and type int32."""
        import torch

        # Not in pinned memory: the engine's process computes nothing on a GPU, and sends the masks to processes that do.
        return torch.full((max_num_seqs, bitmask_words(self.vocab_size)), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Drops the compiled schemas."""
        self.compiler.clear_cache()
        if other := self.__dict__.pop("_other", None):
            other.destroy()


def _other_name() -> str:
    """The name of vLLM's backend for requests that are not answered here."""
    return "xgrammar" if importlib.util.find_spec("xgrammar") else "guidance"


def _other_backend() -> Any:
    """The class of that backend."""
    if _other_name() == "xgrammar":
        from vllm.v1.structured_output.backend_xgrammar import XgrammarBackend

        return XgrammarBackend
    from vllm.v1.structured_output.backend_guidance import GuidanceBackend

    return GuidanceBackend


def compile_request(compiler: Compiler, kind: str, text: str) -> Compiled | None:
    """Compiles a request of one of vLLM's kinds. Returns None if it is not answered here."""
    match kind:
        case "JSON":
            return compiler.compile_json_schema(text)
        case "JSON_OBJECT":
            return compiler.compile_json_object()
        case "REGEX":
            return compiler.compile_regex(text)
        case "CHOICE":
            return compiler.compile_choice(json.loads(text))
        case "STRUCTURAL_TAG":
            return compile_own_tag(compiler, text)
        case "GRAMMAR":
            return compile_own_grammar(compiler, text)
        case _:
            return None


@functools.lru_cache(maxsize=4)
def _checker(tokenizer: Any, vocab_size: int) -> Compiler:
    """The compiler that validates requests for a tokenizer, in the process that takes the requests. Special tokens of structural tags and the
    number of tokens that an answer takes depend on the tokenizer.
    """
    return Compiler(Tokenizer.from_huggingface(tokenizer, vocab_size=vocab_size), cache_bytes=64 << 20)


def check_request(compiler: Compiler, kind: str, text: str, max_tokens: int | None) -> bool:
    """Checks a request of one of vLLM's kinds. Returns False if it is not answered here.

    Raises `ValueError` with all reasons if the request cannot be compiled, or if the limit is too small for any answer.
    """
    if kind == "JSON" and (problems := compiler.check(text)):
        raise ValueError("; ".join(problems))
    compiled = compile_request(compiler, kind, text)
    if compiled is None:
        return False
    compiled.matcher(max_tokens=max_tokens)
    return True


def register() -> None:
    """Registers the backend with vLLM. A second call changes nothing. A vLLM that lacks what the backend needs is left as it is, with a
    warning: vLLM loads this plugin in every process, and an error here would end them all.
    """
    try:
        import vllm.config.structured_outputs as configuration
        import vllm.sampling_params as sampling
        import vllm.v1.structured_output as manager
        from vllm.v1.structured_output.backend_types import StructuredOutputGrammar

        for owner, names in [
            (manager.StructuredOutputManager, ("grammar_init", "_create_grammar", "accept_tokens")),
            (configuration, ("StructuredOutputsConfig", "StructuredOutputsBackend")),
            (sampling, ("VLLMValidationError",)),
            (sampling.SamplingParams, ("_validate_structured_outputs",)),
        ]:
            for name in names:
                getattr(owner, name)
    except (ImportError, AttributeError) as error:
        logger.warning("the backend %s is not registered: it is written for vLLM 0.33, and this one lacks something (%s)", NAME, error)
        return
    if getattr(manager.StructuredOutputManager, "_maskwright", False):
        return
    # vLLM asserts that grammars are of this class.
    StructuredOutputGrammar.register(Grammar)
    _admit_name(configuration)
    _answer_requests(manager.StructuredOutputManager)
    _validate_requests(sampling)


def _admit_name(configuration: Any) -> None:
    from typing import Literal, get_args

    import pydantic.dataclasses

    config = configuration.StructuredOutputsConfig
    names = Literal[(*get_args(configuration.StructuredOutputsBackend), NAME)]  # type: ignore[valid-type]
    configuration.StructuredOutputsBackend = names
    config.__annotations__["backend"] = names
    config.__dataclass_fields__["backend"].type = names
    pydantic.dataclasses.rebuild_dataclass(config, force=True)


def _token_limit(params: Any) -> int | None:
    """The limit on tokens of a request; None for the half of one that only reads the prompt, while another server writes the answer."""
    transfer = (getattr(params, "extra_args", None) or {}).get("kv_transfer_params") or {}
    limit: int | None = None if transfer.get("do_remote_decode") else params.max_tokens
    return limit


def _answer_requests(manager: Any) -> None:
    grammar_init, create_grammar, accept_tokens = manager.grammar_init, manager._create_grammar, manager.accept_tokens

    @functools.wraps(grammar_init)
    def init(self: Any, request: Any) -> None:
        asked = request.structured_output_request is not None and request.sampling_params.structured_outputs._backend
        if asked == NAME and self.backend is None:
            vocab_size = self.vllm_config.model_config.get_vocab_size()
            self.backend = Backend(self.vllm_config, tokenizer=self.tokenizer, vocab_size=vocab_size)
            self.backend_name = NAME
        grammar_init(self, request)

    @functools.wraps(create_grammar)
    def create(self: Any, request: Any) -> Any:
        limit = _token_limit(request.sampling_params) if request.sampling_params is not None else None
        token = _max_tokens.set(limit if self.reasoner_cls is None else None)
        try:
            grammar = create_grammar(self, request)
        finally:
            _max_tokens.reset(token)
        # Tokens of reasoning count in vLLM's limit and not in the matcher's, which is set again once the answer has begun. A request may
        # also not reason at all, or reason within its grammar.
        if self.reasoner_cls is not None and isinstance(grammar, Grammar):
            grammar.matcher.set_max_tokens(limit)
        return grammar

    @functools.wraps(accept_tokens)
    def accept(self: Any, request: Any, new_token_ids: list[int]) -> bool:
        accepted: bool = accept_tokens(self, request, new_token_ids)
        if self.reasoner_cls is not None:
            _limit_behind_reasoning(request)
        return accepted

    manager.grammar_init, manager._create_grammar, manager.accept_tokens = init, create, accept
    manager._maskwright = True


def _limit_behind_reasoning(request: Any) -> None:
    """Sets the limit of a request whose answer has begun to the tokens that its reasoning left; no limit if they are too few."""
    asked, params = request.structured_output_request, request.sampling_params
    if asked is None or not asked.reasoning_ended or params is None or (limit := _token_limit(params)) is None:
        return
    if isinstance(grammar := asked.grammar, Grammar):
        answered = grammar.matcher.num_accepted_tokens
        grammar.matcher.set_max_tokens(max(0, limit - max(0, request.num_output_tokens - answered)))


def _validate_requests(sampling: Any) -> None:
    validate = sampling.SamplingParams._validate_structured_outputs

    @functools.wraps(validate)
    def checked(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> None:
        asked = self.structured_outputs
        if structured_outputs_config is None or asked is None or structured_outputs_config.backend != NAME:
            validate(self, model_config, structured_outputs_config, tokenizer)
            return
        if asked._backend not in (None, NAME):
            raise sampling.VLLMValidationError(
                f"the request asks for the backend {asked._backend!r}, the engine has {NAME!r}"
            )
        if asked.json_object is False:
            raise sampling.VLLMValidationError("structured_outputs.json_object must be True if set")
        from vllm.v1.structured_output.request import get_structured_output_key

        kind, text = get_structured_output_key(asked)
        # vLLM's checks that hold for every backend, and then our own.
        if model_config.is_diffusion or tokenizer is None:
            validate(self, model_config, structured_outputs_config, tokenizer)
        # Reasoning counts in vLLM's limit, and what it leaves of the limit is not known yet.
        max_tokens = None if structured_outputs_config.reasoning_parser else _token_limit(self)
        try:
            compiler = _checker(tokenizer, model_config.get_vocab_size())
            is_own = check_request(compiler, kind.name, text, max_tokens)
        except (MaskError, ValueError) as error:
            raise sampling.VLLMValidationError(str(error)) from error
        if not is_own:
            # vLLM's own checks, as of its backend that answers what is not treated here.
            _validate_as(validate, self, (model_config, structured_outputs_config, tokenizer), _other_name())
        asked._backend = NAME
        asked.__post_init__()

    sampling.SamplingParams._validate_structured_outputs = checked


def _validate_as(validate: Any, params: Any, arguments: tuple[Any, Any, Any], backend: str) -> None:
    """Runs vLLM's validation as if another backend were configured."""
    import copy

    model_config, config, tokenizer = arguments
    config = copy.copy(config)
    config.backend = backend
    params.structured_outputs._backend = None
    validate(params, model_config, config, tokenizer)
