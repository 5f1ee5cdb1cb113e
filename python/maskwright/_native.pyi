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
    """In which way: the text is no schema; a keyword cannot be treated exactly; no value is valid; a limit was reached."""
    pointer: str | None
    """JSON Pointer to the subschema at fault, empty for the root, where it is known."""
    keyword: str | None
    """The keyword at fault, where one is."""
    reason: str
    """The reason, without place and kind."""

class MaskError(RuntimeError):
    """A matcher cannot do as asked. After a limit of the engine the answer cannot go on; otherwise the matcher is as it was."""

class TokenizerError(ValueError):
    """A tokenizer's data does not make a vocabulary, or is of a kind that is not read."""

@final
class Tokenizer:
    """The tokens of a model: the bytes of each, and which of them end an answer.

    `stop_token_ids` are the tokens that end an answer, instead of those that the tokenizer names. `vocab_size` is the number of
    logits of the model, where it has more than the tokenizer has tokens.
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

        Of a directory, the files `config.json`, `generation_config.json` and `tokenizer_config.json` say how answers end and how many
        logits there are. `special_tokens` are added; files of tiktoken have none of their own.

        Raises `TokenizerError`, which says what was expected and where.
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
        """The bytes that tokens spell, special and unused ones left out."""

    def __len__(self) -> int: ...

@final
class Compiler:
    """Compiles schemas for one tokenizer and keeps what it compiled, by the schema's text.

    - `style`: "generation", what a model should write (the default); "rfc8259", all of JSON; or a dict of changes to the first:
      `{"key_order": "any", "layout": {"indent": 2}, "max_items": 100}`. docs/worker-protocol.md has all members.
    - `formats`: whether the keyword `format` asserts ("asserted") or not ("annotation").
    - `patterns`: the dialect of regular expressions, in schemas and in `compile_regex`: "common", ECMA-262 as JSON Schema has it, and what
      other dialects have in common beyond it (the default); "ecma", that alone; "rust", as the crate `regex` reads them; "python", as
      the module `re` does for `str`.
    - `draft`: the draft of schemas that do not say: "4", "6", "7", "2019-09" or "2020-12" (the default).
    - `documents`: JSON documents that `$ref` may lead to, by URI. Nothing is ever fetched.
    - `memory_limit`: bytes that one compiled schema may take.
    - `cache_bytes`: bytes that the compiled schemas which are kept may take together.

    Making one sorts the vocabulary, which takes a fraction of a second. Raises `ValueError` for options that are not known.
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
        """Any JSON object, for requests that ask for JSON without a schema."""

    def compile_regex(self, pattern: str) -> Compiled:
        """Texts that a regular expression matches whole, as they are: without quotes and escapes.

        The expression is of the compiler's dialect, `patterns`: by default one of ECMA-262, as in the keyword `pattern`; what other dialects
        have in common beyond it, such as `(?i)` and `(?P<name>…)`, is read too. Back-references are refused in every dialect.

        Raises `CompileError`.
        """

    def compile_choice(self, choices: Sequence[str]) -> Compiled:
        """One of some texts, as it is.

        Raises `CompileError`, where there is none.
        """

    def compile_grammar(self, grammar: str, *, syntax: Literal["ebnf", "gbnf", "lark"] | None = None) -> Compiled:
        """Texts of a grammar, as they are: in the notation of GBNF and of XGrammar's EBNF ("ebnf" or "gbnf", with the rule `root`), or in that of
        Lark ("lark", with the rule `start`). Without `syntax` it is EBNF where a line begins with `name ::=`, and Lark elsewhere.

        Lark's grammars are read without a lexer: an answer is admitted where it can be split into terminals in any way. `report()` of the
        result says nothing of grammars.

        Raises `CompileError`: `kind` is "malformed" with line and column, "unsupported" where the next byte does not say which of its rules is
        meant, or "unsatisfiable"; `ValueError` for a syntax that is not known.
        """

    def compile_structural_tag(self, tag: Any) -> Compiled:
        """Replies of text, tool calls, reasoning and special tokens, as the JSON of a structural tag describes them: its text, a dict,
        or a Pydantic model of one.

        The formats are those of XGrammar's `StructuralTag`, with grammars in EBNF of which no rule is nested in itself, and the older form with `structures` and `triggers`. JSON in them
        is that of the compiler's style. `report()` of the result says nothing of structural tags.

        Raises `CompileError` where it is malformed, has a format that is not treated, or has a schema or expression that cannot be compiled;
        `pointer` leads into the structural tag.
        """

    def check(self, schema: Any) -> list[str]:
        """Everything in a schema that cannot be compiled, each with place, keyword and reason; empty where it can be."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that masks are over."""

    @property
    def cached_schemas(self) -> int:
        """Number of compiled schemas that are kept."""

    @property
    def cached_bytes(self) -> int:
        """Bytes that these took when they were asked for last, roughly."""

    def clear_cache(self) -> None:
        """Lets all compiled schemas go. Matchers keep theirs."""

@type_check_only
class Narrowing(TypedDict):
    """One way in which the style leaves out values that a schema allows."""

    kind: str
    what: str
    places: list[str]
    count: int

@type_check_only
class Warning(TypedDict):
    """Something in a schema that is probably not meant."""

    kind: str
    pointer: str
    message: str

@type_check_only
class Report(TypedDict):
    """What is known of a schema. Nothing that it says is dropped: what cannot be treated exactly is a `CompileError`."""

    draft: str
    """The draft that it is read by."""
    subschemas: int
    """Number of subschemas, with references followed."""
    narrowings: list[Narrowing]
    """What the style leaves out: values of no end, mostly."""
    narrowings_complete: bool
    """Whether every value that the schema speaks of was looked at."""
    warnings: list[Warning]

@final
class Compiled:
    """A compiled schema. Its matchers share what was worked out for masks."""

    def matcher(self, *, stop_token_ids: Sequence[int] | None = None, max_tokens: int | None = None) -> Matcher:
        """A matcher at the start of an answer. For the options see `Matcher`."""

    def report(self) -> Report:
        """What the schema is read as, what the style leaves out of it, and what in it is probably not meant.

        Raises `CompileError` for what was compiled of a regular expression or a list of texts.
        """

    @property
    def source(self) -> str:
        """The text of the schema, the regular expression, or the list of texts."""

    @property
    def vocab_size(self) -> int:
        """Number of token ids: the bits of a mask."""

    @property
    def memory_bytes(self) -> int:
        """Bytes that it takes with what was worked out for its masks, roughly. They grow with the answers that are written."""

@final
class Matcher:
    """Stands in one answer, and says which tokens may come next.

    - `stop_token_ids`: the tokens that end this answer, instead of the tokenizer's. They never stand for text.
    - `max_tokens`: the number of tokens that the answer may have, its stop token among them. Then no token is allowed after which the
      answer could no longer end in time, so that it is never cut off.

    Raises `ValueError`, where a stop token is outside of the vocabulary or `max_tokens` are too few for any answer. Methods raise
    `MaskError`, where a limit of the engine is reached.
    """

    def __new__(
        cls, compiled: Compiled, *, stop_token_ids: Sequence[int] | None = None, max_tokens: int | None = None
    ) -> Matcher: ...
    def accept_token(self, token: int) -> bool:
        """Accepts a token; False, and nothing changed, where it is not allowed. `max_tokens` does not count here."""

    def accept_tokens(self, tokens: Sequence[int]) -> int:
        """Accepts tokens up to the first that is not allowed, and counts them."""

    def validate_tokens(self, tokens: Sequence[int]) -> int:
        """Counts the tokens that `accept_tokens` would accept. The matcher stays where it is."""

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0) -> bool:
        """Writes the mask into row `index` of a bitmask; False where every token is allowed.

        `bitmask` is a contiguous, writable array of 32-bit signed integers of shape `(rows, words)` or `(words,)`: a tensor of torch on the
        CPU, an array of numpy, or a memoryview. No other thread may use that row meanwhile. Words beyond the vocabulary become zero.
        Behind the end of the answer only stop tokens are allowed.

        Raises `TypeError` or `ValueError` for other bitmasks.
        """

    def rollback(self, num_tokens: int = 1) -> None:
        """Takes back the last accepted tokens, a stop token among them.

        Raises `MaskError`, and changes nothing, where fewer were accepted.
        """

    def reset(self) -> None:
        """Goes back to the start of the answer."""

    def set_max_tokens(self, max_tokens: int | None) -> None:
        """Sets how many tokens the answer may have, those accepted and the stop token among them; None for any number.

        This is never refused: where no end is known within the limit, masks are those without one. Servers call it where reasoning
        precedes the answer: only then is it known how much of a request's limit is left.
        """

    def fork(self) -> Matcher:
        """A copy at the same place, which goes its own way."""

    def is_terminated(self) -> bool:
        """Whether a stop token was accepted."""

    def is_completed(self) -> bool:
        """Whether the answer may end here, or has ended."""

    def find_jump_forward_string(self) -> str:
        """The text that must come next whatever is sampled, in whole characters; empty where there is a choice."""

    def forced_tokens(self) -> list[int]:
        """The tokens that must come next whatever is sampled, as the tokenizer writes them; none without a `tokenizer.json`."""

    def completion(self) -> list[int] | None:
        """Tokens that end the answer from here, without the stop token: a short way. None where none is known."""

    def traverse_draft_tree(
        self, next_token: Sequence[int], next_sibling: Sequence[int], draft: Sequence[int], bitmask: Any
    ) -> bool:
        """Fills one row of a bitmask for each node of a tree of drafted tokens; True where every node can be reached.

        The sequences have an entry for each node: its first child, its next sibling (both negative where there is none) and its token. Node 0
        is the token that was accepted last. Rows of nodes that cannot be reached allow every token. The matcher stays where it is.

        Raises `ValueError` where that is no tree.
        """

    @property
    def vocab_size(self) -> int:
        """Number of token ids: the bits of a mask."""

    @property
    def num_accepted_tokens(self) -> int:
        """Number of tokens accepted and not taken back."""

    @property
    def stop_token_ids(self) -> list[int]:
        """The tokens that end the answer."""

@final
class Executor:
    """Threads that fill the masks of a batch: as many as there are processors, or `num_threads`.

    Methods raise what the matchers' own methods raise; the rows of the other matchers are filled all the same.
    """

    def __new__(cls, num_threads: int | None = None) -> Executor: ...
    def fill(self, matchers: Sequence[Matcher], bitmask: Any, rows: Sequence[int] | None = None) -> None:
        """Writes the mask of each matcher into its row of a bitmask, by default into the rows from 0 on.

        Raises `ValueError` where a row is not there, or is asked for twice.
        """

    def fill_with_drafts(self, requests: Sequence[tuple[Matcher, int, Sequence[int]]], bitmask: Any) -> None:
        """For each `(matcher, row, drafted)` writes the mask into `row`, and those behind each of the drafted tokens into the rows that follow.

        Rows behind a drafted token that is not allowed allow every token. The matchers stay where they are.
        """

    def accept(self, tokens: Sequence[tuple[Matcher, int]]) -> list[bool]:
        """Accepts a token in each matcher; for each whether it was allowed."""

    @property
    def num_threads(self) -> int:
        """Number of threads."""
