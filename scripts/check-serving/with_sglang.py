"""SGLang's grammar backend `maskwright`: masks, drafted trees, limits, reasoning, and grammars of others in one batch.

python with_sglang.py MODEL
"""

import json
import random
import sys
from types import SimpleNamespace
from typing import Any

import torch
from sglang.srt import runtime_context
from sglang.srt.constrained import base_grammar_backend as base
from sglang.srt.plugins import load_plugins
from sglang.srt.speculative.spec_utils import traverse_tree
from transformers import AutoTokenizer

import maskwright
from answers import EBNF, PERSON, TAG, allowed, check_person, choose

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
EOS, VOCAB = tokenizer.eos_token_id, len(tokenizer)
own = maskwright.Compiler(maskwright.Tokenizer.from_huggingface(tokenizer))

# What a server publishes.
serving = SimpleNamespace(
    reasoning_parser=None,
    enable_strict_thinking=False,
    constrained_json_disable_any_whitespace=False,
    constrained_json_whitespace_pattern=None,
    constrained_json_max_whitespace_cnt=None,
    skip_tokenizer_init=False,
)
for module in (runtime_context, base):
    module.get_serving = lambda: serving
base.get_exec = lambda: SimpleNamespace(kernel=SimpleNamespace(grammar_backend="maskwright"))
load_plugins()


def backend() -> Any:
    return base.create_grammar_backend(None, tokenizer, VOCAB, {EOS})


def grammar(of: Any, kind: str, text: str, reasoning: bool = False) -> Any:
    """A request's grammar: compiled in a thread, kept, and copied for the next."""
    value, is_known = of.get_cached_or_future_value((kind, text), reasoning)
    if not is_known:
        value = value.result()
        of.set_cache((kind, text), value.copy())
    return value


def ids(text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def mask(of: Any) -> set[int]:
    if isinstance(of, maskwright.Matcher):
        row = maskwright.allocate_token_bitmask(1, VOCAB, kind="torch")
        of.fill_next_token_bitmask(row)
    else:
        row = of.allocate_vocab_mask(VOCAB, 1, "cpu")
        of.fill_vocab_mask(row, 0)
    return allowed(row[0].numpy(), VOCAB)


def check_masks() -> None:
    served = backend()
    schema = json.dumps(PERSON)
    for kind, asked, compiled, text in [
        ("json", schema, own.compile_json_schema(schema), '{"name": "Ada", "born": 1815}'),
        ("json", schema, own.compile_json_schema(schema), '{"name":"B","born":2,"tags":[]}'),
        ("json", "$$ANY$$", own.compile_json_schema(True), "[1, true]"),
        ("regex", "[a-z]+[0-9]{2}", own.compile_regex("[a-z]+[0-9]{2}"), "abc12"),
    ]:
        made, matcher = grammar(served, kind, asked), compiled.matcher()
        for token in [*ids(text), EOS]:
            assert mask(made) == mask(matcher), (kind, text)
            made.accept_token(token)
            assert matcher.accept_token(token)
        assert made.is_terminated()
        made.rollback(2)
        matcher.rollback(2)
        assert mask(made) == mask(matcher), "the end is taken back"
    assert grammar(served, "json", '{"allOf": [false]}').error_message


def check_trees() -> None:
    """A tree of drafted tokens, as speculative decoding verifies it: a right chain, and a wrong sibling of each of its nodes."""
    made, matcher = grammar(backend(), "json", json.dumps(PERSON)), own.compile_json_schema(PERSON).matcher()
    text = ids('{"name": "Ada", "born": 1815}')
    made.accept_token(text[0])
    matcher.accept_token(text[0])
    chain = text[1:6]
    tokens = [text[0], *chain, *([VOCAB - 1] * len(chain))]
    child = [*range(1, len(chain) + 1), -1, *([-1] * len(chain))]
    sibling = [-1, *range(len(chain) + 1, 2 * len(chain) + 1), *([-1] * len(chain))]
    rows = made.allocate_vocab_mask(VOCAB, len(tokens), "cpu")
    traverse_tree(torch.tensor(child), torch.tensor(sibling), torch.tensor(tokens), made, rows, VOCAB)
    native = maskwright.allocate_token_bitmask(len(tokens), VOCAB, kind="torch")
    assert not matcher.traverse_draft_tree(child, sibling, tokens, native)
    assert torch.equal(rows, native)
    assert mask(made) == mask(matcher), "the grammar stays where it is"


def check_batches() -> None:
    """Ours beside xgrammar's, applied to logits."""
    served = backend()
    grammars = [
        grammar(served, "json", json.dumps(PERSON)),
        grammar(served, "ebnf", EBNF),
        grammar(served, "structural_tag", json.dumps(TAG)),
        grammar(served, "regex", "[ab]"),
    ]
    for first in (grammars, grammars[::-1]):
        rows = first[0].allocate_vocab_mask(VOCAB, len(first), "cpu")
        entries = [base.GrammarRow(row=row, grammar=one) for row, one in enumerate(first)]
        first[0].fill_vocab_mask_batched(entries, rows)
        expected = [mask(one) for one in first]
        assert [allowed(row.numpy(), VOCAB) for row in rows] == expected
        logits = torch.zeros(len(first), VOCAB)
        base.GrammarMask(grammars[0], rows).apply(logits)
        assert [set(torch.nonzero(row == 0).flatten().tolist()) for row in logits] == expected
    grammars[1].accept_token(ids("yes")[0])


def manager(of: Any) -> Any:
    """SGLang's manager of grammars over a backend, without a scheduler."""
    from sglang.srt.constrained.grammar_manager import GrammarManager

    made = GrammarManager.__new__(GrammarManager)
    made.grammar_backend, made.grammar_queue, made._enable_strict_thinking = of, [], False
    made.scheduler = SimpleNamespace(model_config=SimpleNamespace())
    made.grammar_sync_size, made.pp_rank, made.pp_size, made.pp_group = 1, 0, 1, None
    made.SGLANG_GRAMMAR_POLL_INTERVAL, made.SGLANG_GRAMMAR_MAX_POLL_ITERATIONS = 0.1, 1000
    return made


def request(of: Any, max_tokens: int, schema: Any, reasoning: bool = False) -> Any:
    """A request whose grammar the manager has made."""
    asked = SimpleNamespace(
        sampling_params=SimpleNamespace(
            json_schema=json.dumps(schema),
            regex=None,
            ebnf=None,
            structural_tag=None,
            custom_params=None,
            max_new_tokens=max_tokens,
        ),
        require_reasoning=reasoning,
        origin_input_ids=[1],
        grammar=None,
        grammar_key=None,
        grammar_wait_ct=0,
        aborted=None,
        finished=lambda: asked.aborted is not None,
    )
    asked.set_finish_with_abort = lambda message: setattr(asked, "aborted", message)
    if of.process_req_with_grammar(asked):
        while not (ready := of.get_ready_grammar_requests()):
            pass
        assert ready == [asked]
    return asked


def check_limits() -> None:
    managed = manager(backend())
    for number in range(20):
        limit, chooser, written = 16 + 4 * number, random.Random(number), []
        made = request(managed, limit, PERSON).grammar
        while not made.is_terminated():
            written.append(choose(mask(made), EOS, chooser))
            made.accept_token(written[-1])
        assert len(written) <= limit, (len(written), limit)
        check_person(tokenizer.decode(written, skip_special_tokens=True))
    for _ in range(2):
        assert "max_tokens 3" in request(managed, 3, PERSON).aborted
    assert "unsatisfiable" in request(managed, 30, {"allOf": [False]}).aborted


def check_reasoning() -> None:
    """The wrapper holds the schema back until reasoning has ended."""
    serving.reasoning_parser = "qwen3"
    served = backend()
    assert type(served).__name__ == "ReasonerGrammarBackend"
    made = grammar(served, "json", '{"type": "integer"}', reasoning=True)
    made.maybe_init_reasoning(True)
    assert len(mask(made)) == VOCAB
    for token in ids("so?</think>"):
        made.accept_token(token)
    assert mask(made) == mask(own.compile_json_schema({"type": "integer"}).matcher())
    # Tokens of reasoning count in the limit, and what they leave of it is enough for the answer.
    managed = manager(served)
    thought = ids("so?</think>")
    for number in range(12):
        limit, chooser, written = len(thought) + 16 + 4 * number, random.Random(number), []
        made = request(managed, limit, PERSON, reasoning=True).grammar
        while not made.is_terminated():
            answering = len(written) >= len(thought)
            written.append(choose(mask(made), EOS, chooser) if answering else thought[len(written)])
            made.accept_token(written[-1])
        assert len(written) <= limit, (len(written), limit)
        check_person(tokenizer.decode(written[len(thought) :], skip_special_tokens=True))
    serving.reasoning_parser = None


for check in (check_masks, check_trees, check_batches, check_limits, check_reasoning):
    check()
    print(f"{check.__name__}: as it should be")
