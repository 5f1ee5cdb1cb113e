"""vLLM's manager of structured outputs with the backend `maskwright`: masks, drafts, limits, refusals.

python with_vllm.py MODEL
"""

import json
import random
import sys
from types import SimpleNamespace
from typing import Any

import vllm.v1.structured_output as structured_output
from answers import EBNF, PERSON, TAG, allowed, check_person, choose
from transformers import AutoTokenizer
from vllm.config.structured_outputs import StructuredOutputsConfig
from vllm.exceptions import VLLMValidationError
from vllm.plugins import load_general_plugins
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.v1.structured_output.request import StructuredOutputRequest

import maskwright

DRAFTED = 3

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
EOS, VOCAB = tokenizer.eos_token_id, len(tokenizer)
load_general_plugins()
structured_output.cached_tokenizer_from_config = lambda model_config: tokenizer
own = maskwright.Compiler(maskwright.Tokenizer.from_huggingface(tokenizer))


def manager(drafted: int) -> Any:
    """A manager as the scheduler has one, without an engine."""
    model = SimpleNamespace(
        skip_tokenizer_init=False,
        get_vocab_size=lambda: VOCAB,
        is_diffusion=False,
        hf_config=SimpleNamespace(model_type="llama"),
        hf_text_config=SimpleNamespace(model_type="llama"),
    )
    config = SimpleNamespace(
        parallel_config=SimpleNamespace(distributed_executor_backend="mp"),
        scheduler_config=SimpleNamespace(max_num_seqs=256),
        model_config=model,
        structured_outputs_config=StructuredOutputsConfig(backend="maskwright"),
        speculative_config=None,
        num_speculative_tokens=drafted,
    )
    return structured_output.StructuredOutputManager(config)


def request(served: Any, number: int, max_tokens: int | None = None, **asked: Any) -> Any:
    """A request that vLLM has validated and whose grammar is compiled."""
    params = SamplingParams(structured_outputs=StructuredOutputsParams(**asked), max_tokens=max_tokens)
    config = served.vllm_config
    params._validate_structured_outputs(config.model_config, config.structured_outputs_config, tokenizer)
    assert params.structured_outputs._backend == "maskwright"
    made = SimpleNamespace(
        request_id=f"r{number}",
        sampling_params=params,
        use_structured_output=True,
        structured_output_request=StructuredOutputRequest.from_sampling_params(params),
        prompt_token_ids=[1],
        all_token_ids=[1],
        num_computed_tokens=0,
        num_output_tokens=0,
    )
    served.grammar_init(made)
    made.structured_output_request._grammar = made.structured_output_request._grammar.result()
    return made


def ids(text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def rows(served: Any, asked: Any, drafted: list[int]) -> list[set[int]]:
    masks = served.grammar_bitmask({asked.request_id: asked}, [asked.request_id], {asked.request_id: drafted})
    return [allowed(row, VOCAB) for row in masks]


def mask(matcher: maskwright.Matcher) -> set[int]:
    row = maskwright.allocate_token_bitmask(1, VOCAB, kind="numpy")
    matcher.fill_next_token_bitmask(row)
    return allowed(row[0], VOCAB)


def check_masks() -> None:
    served = manager(DRAFTED)
    kinds = [
        ({"json": PERSON}, own.compile_json_schema(PERSON), '{"name": "Ada", "born": 1815}'),
        ({"json_object": True}, own.compile_json_object(), '{"a": [1, true]}'),
        ({"regex": "[a-z]+[0-9]{2}"}, own.compile_regex("[a-z]+[0-9]{2}"), "abc12"),
        ({"choice": ["yes", "no", "maybe"]}, own.compile_choice(["yes", "no", "maybe"]), "maybe"),
    ]
    for number, (asked, compiled, text) in enumerate(kinds):
        made, matcher = request(served, number, **asked), compiled.matcher()
        tokens = [*ids(text), EOS]
        for at, token in enumerate(tokens):
            drafted = tokens[at : at + DRAFTED]
            expected = []
            for place in range(len(drafted) + 1):
                follower = matcher.fork()
                assert follower.accept_tokens(drafted[:place]) == place
                expected.append(set(range(VOCAB)) if follower.is_terminated() else mask(follower))
            assert rows(served, made, drafted)[: len(expected)] == expected, (asked, at)
            if token != EOS:
                wrong = next(other for other in range(VOCAB) if other not in expected[1])
                assert served.validate_tokens(made, [token, wrong, EOS]) == [token]
            assert served.accept_tokens(made, [token]) and matcher.accept_token(token)
        grammar = made.structured_output_request.grammar
        assert grammar.is_terminated()
        grammar.rollback(2)
        matcher.rollback(2)
        assert rows(served, made, [])[0] == mask(matcher), "the end is taken back"
    served.clear_backend()


def check_others() -> None:
    served = manager(0)
    for number, (asked, text) in enumerate(
        [({"grammar": EBNF}, "no"), ({"structural_tag": json.dumps(TAG)}, "<data>12</data>"), ({"json": PERSON}, None)]
    ):
        made = request(served, number, **asked)
        assert text is None or served.accept_tokens(made, ids(text)), asked
    served.clear_backend()


def check_large_batch() -> None:
    """Over 128 requests, which vLLM hands to threads."""
    served = manager(0)
    text = ids('{"name": "Ada", "born": 1815}')
    made, expected = {}, []
    for number in range(200):
        asked = request(served, number, json=PERSON)
        matcher = own.compile_json_schema(PERSON).matcher()
        written = text[: number % len(text)]
        assert served.accept_tokens(asked, written) and matcher.accept_tokens(written) == len(written)
        made[asked.request_id] = asked
        expected.append(mask(matcher))
    masks = served.grammar_bitmask(made, list(made), {})
    assert [allowed(row, VOCAB) for row in masks] == expected
    served.clear_backend()


def check_limits() -> None:
    served = manager(0)
    for number in range(20):
        limit = 16 + 4 * number
        made, chooser, written = request(served, number, max_tokens=limit, json=PERSON), random.Random(number), []
        while not made.structured_output_request.grammar.is_terminated():
            token = choose(rows(served, made, [])[0], EOS, chooser)
            assert served.accept_tokens(made, [token])
            written.append(token)
        assert len(written) <= limit, (len(written), limit)
        check_person(tokenizer.decode(written, skip_special_tokens=True))
    served.clear_backend()


class Thinker:
    """A parser of reasoning that ends with a tag."""

    END = ids("</think>")

    def __init__(self, tokenizer: Any) -> None:
        pass

    def is_reasoning_end(self, tokens: list[int]) -> bool:
        return tokens[-len(self.END) :] == self.END

    def is_reasoning_end_streaming(self, tokens: list[int], delta: list[int]) -> bool:
        return any(self.is_reasoning_end(tokens[: len(tokens) - at]) for at in range(len(delta)))


def check_reasoning() -> None:
    """Tokens of reasoning count in the limit, and what they leave of it is enough for the answer."""
    served = manager(0)
    served.reasoner_cls = Thinker
    thought = [*ids("so?"), *Thinker.END]
    for number in range(12):
        limit = len(thought) + 16 + 4 * number
        made, chooser = request(served, number, max_tokens=limit, json=PERSON), random.Random(number)
        written: list[int] = []
        while not made.structured_output_request.grammar.is_terminated():
            allowed_now = rows(served, made, [])[0]
            if len(written) < len(thought):
                assert len(allowed_now) == VOCAB
                token = thought[len(written)]
            else:
                token = choose(allowed_now, EOS, chooser)
            written.append(token)
            made.all_token_ids.append(token)
            made.num_output_tokens += 1
            assert served.accept_tokens(made, [token])
        assert len(written) <= limit, (len(written), limit)
        check_person(tokenizer.decode(written[len(thought) :], skip_special_tokens=True))
    served.clear_backend()


def check_refusals() -> None:
    served = manager(0)
    for asked, reason in [
        ({"json": {"type": "object", "properties": {"a": {"pattern": "(a)\\1"}}}}, "/properties/a"),
        ({"json": {"allOf": [{"type": "string"}, {"type": "integer"}]}}, "unsatisfiable"),
        ({"json": "{"}, "malformed"),
        ({"regex": "("}, "malformed"),
        ({"grammar": "root ::= nothing"}, ""),
    ]:
        try:
            request(served, 0, **asked)
        except VLLMValidationError as error:
            assert reason in str(error), error
        else:
            raise AssertionError(f"{asked} is not refused")


for check in (check_masks, check_others, check_large_batch, check_limits, check_reasoning, check_refusals):
    check()
    print(f"{check.__name__}: as it should be")
