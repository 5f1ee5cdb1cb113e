"""The classes of the package, which are written in Rust. Threads may share every object."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, final, type_check_only

__all__ = [
    "CompileError",
    "Compiled",
    "Compiler",
    "Executor",
    "MaskError",
    "Matcher",
    "Tokenizer",
    "TokenizerError",
    "__version__",
]

__version__: str

class CompileError(ValueError):
    """A schema cannot be compiled."""

    kind: Literal["malformed", "unsupported", "unsatisfiable", "limit_exceeded", "refused", "internal"]
    """The kind of error: the text is no schema, a keyword cannot be treated exactly, no value is valid, or a limit was reached."""
    pointer: str | None
    """JSON Pointer to the subschema at fault, empty for the root; None where it is not known."""
    keyword: str | None
    """The keyword at fault; None where no keyword is."""
    reason: str
    """The reason, without place and kind."""

class MaskError(RuntimeError):
    """A call on a matcher failed. After a limit of the engine the answer cannot go on; otherwise the matcher is unchanged."""

class TokenizerError(ValueError):
    """A tokenizer's data makes no vocabulary, or is of an unknown kind."""

@final
class Tokenizer:
    """The tokens of a model: their bytes, and the tokens that end an answer.

    `stop_token_ids` are the tokens that end an answer, instead of the tokens that the tokenizer names. `vocab_size` is the number
    of logits of the model, if this is larger than the number of tokens.
    """

    @classmethod
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        stop_token_ids: Sequence[int] | None = None,
        vocab_size: int | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Tokenizer:
        """Reads `tokenizer.json`, tiktoken ranks, or a model of SentencePiece; or a directory with `tokenizer.json` or `tokenizer.model`.

        In a directory, the files `config.json`, `generation_config.json` and `tokenizer_config.json` give the tokens that end answers and
        the number of logits; each of them may be missing. `special_tokens` are added; files of tiktoken have none of their own.

        Raises `TokenizerError`, which names the expected data and the place, also if one of these files is there and cannot be read.
        """

    @classmethod
    def from_huggingface(
        cls, tokenizer: Any, *, stop_token_ids: Sequence[int] | None = None, vocab_size: int | None = None
    ) -> Tokenizer:
        """Takes the tokens of a fast tokenizer of `transformers` or `tokenizers`.

        Raises `TokenizerError` for other tokenizers: they do not say which bytes a token stands for.
        """

    @classmethod
    def from_tiktoken(
        cls, encoding: Any, *, stop_token_ids: Sequence[int] | None = None, vocab_size: int | None = None
    ) -> Tokenizer:
        """Takes the tokens of an encoding of `tiktoken`. Answers end with its `eot_token` unless `stop_token_ids` says otherwise.

        Raises `TokenizerError`.
        """

    @classmethod
    def from_bytes(
        cls,
        tokens: Sequence[bytes | None],
        *,
        stop_token_ids: Sequence[int],
        special_token_ids: Sequence[int] | None = None,
        vocab_size: int | None = None,
    ) -> Tokenizer:
        """Takes the bytes of each token by its id; None for ids that are not used. Special tokens never stand for text.

        Raises `TokenizerError`.
        """

    @property
    def vocab_size(self) -> int:
        """Number of token ids, unused ones included: the bits of a mask."""

    @property
    def stop_token_ids(self) -> list[int]:
        """The tokens that end an answer."""

    def token_bytes(self, token: int) -> bytes | None:
        """The bytes that a text token stands for; None for special and unused ids."""

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes that tokens spell. Special and unused tokens are left out."""

    def __len__(self) -> int: ...

@final
class Compiler:
    """Compiles schemas for one tokenizer, and keeps the compiled schemas by their texts.

    - `style`: "generation", the style in which a model should write (the default); "rfc8259", all of JSON; or a mapping of changes to "generation":
      `{"key_order": "any", "layout": {"indent": 2}, "max_items": 100}`. docs/worker-protocol.md has all members.
    - `formats`: whether the keyword `format` asserts ("asserted") or not ("annotation").
    - `patterns`: the dialect of regular expressions, in schemas and in `compile_regex`: "common", ECMA-262 as JSON Schema has it, and
      constructs that other dialects have in common beyond it (the default); "ecma", ECMA-262 alone; "rust", the dialect of the crate
      `regex`; "python", the dialect of the module `re` for `str`.
    - `draft`: the draft of schemas without `$schema`: "4", "6", "7", "2019-09", "2020-12" (the default), "openapi-3.0" or "openapi-3.1".
    - `documents`: JSON documents to which `$ref` may lead, by URI. Nothing is ever fetched.
    - `memory_limit`: bytes that one compiled schema may take.
    - `cache_bytes`: bytes that all kept schemas may take together.

    The constructor sorts the vocabulary, which takes a fraction of a second. Raises `ValueError` for options that are not known.
    """

    def __new__(
        cls,
        tokenizer: Tokenizer,
        *,
        style: str | Mapping[str, Any] | None = None,
        formats: Literal["annotation", "asserted"] = "annotation",
        patterns: Literal["common", "ecma", "rust", "python"] = "common",
        draft: str | None = None,
        documents: Mapping[str, Any] | None = None,
        memory_limit: int | None = None,
        cache_bytes: int = ...,
    ) -> Compiler: ...
    def compile_json_schema(self, schema: Any) -> Compiled:
        """Compiles a JSON Schema: its text, a dict or bool, or a Pydantic model. The order of keys in a dict counts.

        Raises `CompileError`.
        """

    def compile_json_object(self) -> Compiled:
        """Compiles the schema of any JSON object, for requests that ask for JSON without a schema."""

    def compile_regex(self, pattern: str) -> Compiled:
        """Compiles a regular expression: an answer is a text that it matches whole, without quotes and escapes.

        The expression is in the compiler's dialect, `patterns`. The default is ECMA-262, as in the keyword `pattern`, with constructs that
        other dialects have in common beyond it, such as `(?i)` and `(?P<name>…)`. Back-references are refused in every dialect.

        Raises `CompileError`.
        """

    def compile_choice(self, choices: Sequence[str]) -> Compiled:
        """Compiles a choice: an answer is one of some texts, without quotes and escapes.

        Raises `CompileError` if there is no text.
        """

    def compile_grammar(self, grammar: str, *, syntax: Literal["ebnf", "gbnf", "lark"] | None = None) -> Compiled:
        """Compiles a grammar: an answer is one of its texts, without quotes and escapes.

        The notation is that of GBNF and of XGrammar's EBNF ("ebnf" or "gbnf", with the rule `root`), or that of Lark ("lark", with the
        rule `start`). Without `syntax`, a grammar with a line that begins with `name ::=` is EBNF, and any other is Lark.

        Lark's grammars are read without a lexer: an answer is admitted if it can be split into terminals in any way. Expressions with
        anchors, word boundaries, lookaheads or lookbehinds are unsupported: they speak of text that is not known here.

        Raises `CompileError`: `kind` is "malformed" with line and column, "unsupported" if the next byte does not determine the
        rule, or "unsatisfiable". Raises `ValueError` for an unknown syntax.
        """

    def compile_structural_tag(self, tag: Any) -> Compiled:
        """Compiles a structural tag, given as JSON text, a dict or an instance of a Pydantic model.

        A structural tag describes replies of text, tool calls, reasoning and special tokens.

        The formats are those of XGrammar's `StructuralTag`, with grammars in EBNF of which no rule is nested in itself, and the older form with `structures` and `triggers`. JSON in
        replies is written in the compiler's style.

        Raises `CompileError` if the structural tag is malformed, has an unknown format, or has a schema or expression that cannot be
        compiled; `pointer` leads into the structural tag.
        """

    def check(self, schema: Any) -> list[str]:
        """The errors of a schema, each with place, keyword and reason; empty if the schema can be compiled.

        A value that its keyword may not have, such as a negative `minLength`, and a reference to nothing are told one at a time.
        """

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the masks."""

    @property
    def cached_schemas(self) -> int:
        """Number of compiled schemas that are kept."""

    @property
    def cached_bytes(self) -> int:
        """Bytes that the kept schemas took at the last request for each, roughly."""

    def clear_cache(self) -> None:
        """Drops all kept schemas. Matchers keep their own."""

@type_check_only
class Narrowing(TypedDict):
    """One way in which the style leaves out values that a schema allows."""

    kind: str
    what: str
    places: list[str]
    count: int

@type_check_only
class Warning(TypedDict):
    """A probable mistake in a schema."""

    kind: str
    pointer: str
    message: str

@type_check_only
class Report(TypedDict):
    """Facts about a compiled schema. No keyword is dropped: one that cannot be treated exactly is a `CompileError`."""

    draft: str
    """The draft by which the schema is read."""
    subschemas: int
    """Number of subschemas, with references followed."""
    narrowings: list[Narrowing]
    """The values that the style leaves out, mostly values without a bound on their length."""
    narrowings_complete: bool
    """Whether all values of the schema were examined."""
    warnings: list[Warning]

@final
class Compiled:
    """A compiled schema. Its matchers share the masks that have been computed."""

    def matcher(self, *, stop_token_ids: Sequence[int] | None = None, max_tokens: int | None = None) -> Matcher:
        """Makes a matcher at the start of an answer. `Matcher` documents the options."""

    def report(self) -> Report:
        """Reports the draft of the schema, the values that the style leaves out, and warnings of probable mistakes.

        Raises `CompileError` if no JSON Schema was compiled.
        """

    @property
    def source(self) -> str:
        """The text of the schema, the regular expression, or the list of texts."""

    @property
    def vocab_size(self) -> int:
        """Number of token ids: the bits of a mask."""

    @property
    def memory_bytes(self) -> int:
        """Bytes that the schema takes with its computed masks, roughly. The number grows with the answers that are written."""

    @property
    def is_limit_reached(self) -> bool:
        """Whether answers have reached a limit of the engine or come near one. The schema has to be compiled again then: its compiler does so if asked."""

@final
class Matcher:
    """The state of one answer: computes the tokens that may come next.

    - `stop_token_ids`: the tokens that end this answer, instead of the tokenizer's. They never stand for text.
    - `max_tokens`: the number of tokens that the answer may have, its stop token included. A token is not allowed if no end in time is
      known after it. A token slips through only if it alone makes more than a thousand others necessary (64 within a string). The
      ends that are known are short, and not always the shortest: the parts of an answer are spelled with the fewest tokens each.

    Raises `ValueError` if a stop token is outside the vocabulary or `max_tokens` is too small for the shortest answer that is known. If none
    is known, because each has more than 65,536 tokens, there is no limit. Methods raise
    `MaskError` if a limit of the engine is reached, or if only stop tokens could come next and the answer cannot end.
    """

    def __new__(
        cls, compiled: Compiled, *, stop_token_ids: Sequence[int] | None = None, max_tokens: int | None = None
    ) -> Matcher: ...
    def accept_token(self, token: int) -> bool:
        """Accepts a token. Returns False, and changes nothing, if it is not allowed; `max_tokens` is not checked.

        Numbers that are no token ids, such as the -1 of padded drafts, are not allowed, here and in all methods of matchers and executors.
        """

    def accept_tokens(self, tokens: Sequence[int]) -> int:
        """Accepts tokens up to the first that is not allowed, and returns the number of accepted ones."""

    def validate_tokens(self, tokens: Sequence[int]) -> int:
        """Returns the number of tokens that `accept_tokens` would accept. The matcher does not change."""

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """Writes the mask into row `index` of a bitmask. Returns False if every token is allowed.

        `bitmask` is a contiguous, writable array of 32-bit signed integers of shape `(rows, words)` or `(words,)`: a tensor of torch on the
        CPU, an array of numpy, or a memoryview. No other thread may use that row during the call. Words beyond the vocabulary
        become zero. After the end of the answer the mask has the stop tokens, as samplers need some token; `accept_token` returns False.

        Raises `TypeError` or `ValueError` for other bitmasks.
        """

    def rollback(self, num_tokens: int = 1) -> None:
        """Takes back the last accepted tokens, which may include a stop token.

        Raises `MaskError`, and changes nothing, if fewer tokens were accepted; `ValueError` for a negative number.
        """

    def reset(self) -> None:
        """Goes back to the start of the answer."""

    def set_max_tokens(self, max_tokens: int | None) -> None:
        """Sets the number of tokens that the answer may have, accepted tokens and the stop token included; None for any number.

        The call never fails: if no end is known within the limit, masks are computed without a limit. Servers call it when reasoning
        precedes the answer, because the rest of a request's limit is known only after the reasoning.
        """

    def fork(self) -> Matcher:
        """Makes an independent copy at the same place."""

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted."""

    def is_completed(self) -> bool:
        """Whether the answer may end here, or has ended."""

    def find_jump_forward_string(self) -> str:
        """Returns the text that must come next, in whole characters; empty if there is a choice."""

    def forced_tokens(self) -> list[int]:
        """Returns the tokens that must come next, as the tokenizer writes them; none without a `tokenizer.json`.

        With `max_tokens`, these are the tokens up to the first that the mask leaves out.
        """

    def completion(self) -> list[int] | None:
        """Returns a short sequence of tokens that ends the answer, without the stop token; None if none is known."""

    def traverse_draft_tree(
        self, next_token: Sequence[int], next_sibling: Sequence[int], draft: Sequence[int], bitmask: Any
    ) -> bool:
        """Fills one row of a bitmask for each node of a tree of drafted tokens. Returns True if every node can be reached.

        The sequences have an entry for each node: its first child, its next sibling (negative if there is none) and its token. Node 0
        is the token that was accepted last. Rows of nodes that cannot be reached allow every token. The matcher does not change.

        Raises `ValueError` if the sequences are no tree.
        """

    @property
    def vocab_size(self) -> int:
        """Number of token ids: the bits of a mask."""

    @property
    def num_accepted_tokens(self) -> int:
        """Number of tokens that were accepted and not taken back."""

    @property
    def stop_token_ids(self) -> list[int]:
        """The tokens that end the answer."""

@final
class Executor:
    """Threads that fill the masks of a batch: as many as there are processors, or `num_threads`.

    Raises `ValueError` for fewer threads than 1 or more than 1,024. Methods raise the errors of the matchers' own methods; the rows of the other matchers are filled all the same.

    A forked child makes an executor of its own: it has none of its parent's threads, for which a call with more than 16 matchers would wait
    for ever.
    """

    def __new__(cls, num_threads: int | None = None) -> Executor: ...
    def fill(self, matchers: Sequence[Matcher], bitmask: Any, rows: Sequence[int] | None = None) -> None:
        """Writes the mask of each matcher into its row of a bitmask, by default into the rows from 0 on.

        Raises `ValueError` if a row does not exist, or occurs twice.
        """

    def fill_with_drafts(self, requests: Sequence[tuple[Matcher, int, Sequence[int]]], bitmask: Any) -> None:
        """Writes, for each `(matcher, row, drafted)`, the mask into `row`, and the masks after each drafted token into the following rows.

        Rows after a drafted token that is not allowed allow every token. The matchers do not change.
        """

    def accept(self, tokens: Sequence[tuple[Matcher, int]]) -> list[bool]:
        """Accepts a token in each matcher. Returns for each whether the token was allowed."""

    @property
    def num_threads(self) -> int:
        """Number of threads."""
