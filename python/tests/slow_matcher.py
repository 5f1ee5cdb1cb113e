"""A slow matcher of structural tags, which shares nothing with the engine: a nondeterministic automaton over bytes and special tokens.

It knows the formats of the recorded tags alone: objects whose members are listed, with values from a list or free strings, JSON without whitespace.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

# Symbols from here on are special tokens.
SPECIAL = 256
# How JSON writes what it does not have in strings as it is.
ESCAPES = {json.dumps(chr(code))[1:-1] for code in [*range(0x20), ord('"'), ord("\\")]}
BREAK = "\n"

# The ways of a style to write a parameter: before and behind the name, behind the value, whether strings and whether other values are written so,
# and whether a string may have a line break at either end. Last what no string has.
STYLES: dict[str, tuple[list[tuple[str, str, str, bool, bool, bool]], list[str]]] = {
    "qwen_xml": (
        [
            ("<parameter=", ">\n", "\n</parameter>", True, True, True),
            ("<parameter=", ">", "</parameter>", True, True, False),
        ],
        ["</parameter>", "<parameter="],
    ),
    "glm_xml": (
        [
            ("<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>", True, True, True),
            ("<arg_key>", "</arg_key><arg_value>", "</arg_value>", True, True, True),
        ],
        ["</arg_value>"],
    ),
    "deepseek_xml": (
        [
            ('<｜DSML｜parameter name="', '" string="true">', "</｜DSML｜parameter>", True, False, True),
            ('<｜DSML｜parameter name="', '" string="false">', "</｜DSML｜parameter>", False, True, True),
        ],
        ["</｜DSML｜parameter>"],
    ),
}


@dataclass
class Node:
    """A place in a tag: what may come without a symbol, and what comes with one."""

    empty: list[Node] = field(default_factory=list)
    edges: dict[int, Node] = field(default_factory=dict)
    free: Free | None = None


@dataclass
class Free:
    """Free text: patterns that are followed by nodes or by nothing, and what follows the text."""

    patterns: dict[tuple[int, ...], list[Node]]
    specials: frozenset[int]
    exit: Node
    # Whether the text may have a line break first or last.
    keeps_breaks: bool = True
    # A character that stands for itself in the text.
    is_plain: Callable[[str], bool] = lambda character: True


# A node, or free text with what was read of its patterns and of a character, and whether it is empty and ends with a line break.
State = tuple[int, tuple[int, ...], bytes, bool, bool]


class SlowMatcher:
    def __init__(self, tag: dict[str, Any], specials: dict[str, int], ends: set[int]) -> None:
        self.names = sorted(specials, key=len, reverse=True)
        self.specials = specials
        self.free_specials = frozenset(SPECIAL + token for token in specials.values() if token not in ends)
        self.nodes: list[Node] = []
        self.numbers: dict[int, int] = {}
        self.end = self.node()
        self.start = self.format(tag["format"], self.end, [])

    def node(self) -> Node:
        self.nodes.append(Node())
        self.numbers[id(self.nodes[-1])] = len(self.nodes) - 1
        return self.nodes[-1]

    def symbols(self, text: str) -> tuple[int, ...]:
        """A fixed text, in which the names of special tokens are these."""
        found: list[int] = []
        while text:
            name = next((name for name in self.names if text.startswith(name)), None)
            if name is None:
                found += text[0].encode()
                text = text[1:]
            else:
                found.append(SPECIAL + self.specials[name])
                text = text[len(name) :]
        return tuple(found)

    def chain(self, symbols: Sequence[int], behind: Node) -> Node:
        for symbol in reversed(symbols):
            before = self.node()
            before.edges[symbol] = behind
            behind = before
        return behind

    def either(self, nodes: list[Node]) -> Node:
        node = self.node()
        node.empty = nodes
        return node

    def text(self, text: str, behind: Node) -> Node:
        return self.chain(self.symbols(text), behind)

    def free(self, followed: dict[tuple[int, ...], list[Node]], refused: list[str], exit: Node) -> Node:
        patterns = dict(followed)
        for text in refused:
            for symbols in (self.symbols(text), tuple(text.encode())):
                patterns.setdefault(symbols, [])
        node = self.node()
        node.free = Free(patterns, self.free_specials, exit)
        return node

    def format(self, made: dict[str, Any], behind: Node, around: list[str]) -> Node:
        kind = made["type"]
        if kind == "const_string":
            return self.text(made["value"], behind)
        if kind == "any_text":
            return self.free({}, made["excludes"] + around, behind)
        if kind == "regex":
            assert made["pattern"] == "\\d+"
            more = self.either([behind])
            more.edges = dict.fromkeys(b"0123456789", more)
            digits = self.node()
            digits.edges = dict.fromkeys(b"0123456789", more)
            return digits
        if kind == "json_schema":
            style = made.get("style", "json")
            schema = made["json_schema"]
            return self.object(schema, behind) if style == "json" else self.parameters(schema, style, behind)
        if kind == "sequence":
            for element in reversed(made["elements"]):
                behind = self.format(element, behind, around)
            return behind
        if kind == "tag":
            return self.text(made["begin"], self.behind_begin(made, behind))
        if kind == "tags_with_separator":
            again = self.node()
            first = self.either([self.format(tag, again, around) for tag in made["tags"]])
            again.empty = [behind, self.text(made["separator"], first)]
            assert made["at_least_one"] and not made["stop_after_first"]
            return first
        assert kind == "triggered_tags" and not made["at_least_one"] and not made["stop_after_first"], kind
        again = self.node()
        followed: dict[tuple[int, ...], list[Node]] = {}
        for tag in made["tags"]:
            begin = self.symbols(tag["begin"])
            trigger = next(text for text in map(self.symbols, made["triggers"]) if begin[: len(text)] == text)
            content = self.behind_begin(tag, again)
            followed.setdefault(trigger, []).append(self.chain(begin[len(trigger) :], content))
        again.empty = [self.free(followed, made["excludes"] + made["triggers"] + around, behind)]
        return again

    def behind_begin(self, tag: dict[str, Any], behind: Node) -> Node:
        ends = tag["end"] if isinstance(tag["end"], list) else [tag["end"]]
        end = self.either([self.text(end, behind) for end in ends])
        return self.format(tag["content"], end, ends)

    @staticmethod
    def members(schema: dict[str, Any]) -> Iterator[list[tuple[str, dict[str, Any]]]]:
        """The lists of members that an object may have."""
        assert schema["additionalProperties"] is False
        properties = schema["properties"]
        choices = [[True] if name in schema.get("required", []) else [False, True] for name in properties]
        for chosen in itertools.product(*choices):
            yield [member for member, is_there in zip(properties.items(), chosen, strict=True) if is_there]

    def object(self, schema: dict[str, Any], behind: Node) -> Node:
        objects = []
        for members in self.members(schema):
            node = self.chain(b"}", behind)
            for number, (name, value) in reversed(list(enumerate(members))):
                before = ("," if number else "") + json.dumps(name, ensure_ascii=False) + ":"
                node = self.chain(tuple(before.encode()), self.json(value, node))
            objects.append(self.chain(b"{", node))
        return self.either(objects)

    def json(self, schema: dict[str, Any], behind: Node) -> Node:
        if "enum" in schema:
            texts = [json.dumps(value, ensure_ascii=False) for value in schema["enum"]]
            return self.either([self.chain(tuple(text.encode()), behind) for text in texts])
        assert schema["type"] == "string"
        text = self.node()
        text.free = Free({}, frozenset(), self.chain(b'"', behind))
        text.free.is_plain = lambda character: character >= " " and character not in '"\\'
        escaped = self.node()
        escaped.empty = [text, *(self.chain(tuple(spelled.encode()), escaped) for spelled in ESCAPES)]
        # Behind plain text an escape may come, and the other way round.
        text.free.exit = self.either([text.free.exit, *escaped.empty[1:]])
        return self.chain(b'"', escaped)

    def parameters(self, schema: dict[str, Any], style: str, behind: Node) -> Node:
        ways, never = STYLES[style]
        calls = []
        for members in self.members(schema):
            node = self.either([behind, self.text(BREAK, behind)])
            for name, value in reversed(members):
                forms = []
                for before, between, after, has_strings, has_others, keeps_breaks in ways:
                    end = self.text(after, node)
                    values = []
                    for listed in value.get("enum", []):
                        if isinstance(listed, str) and has_strings:
                            values.append(self.chain(tuple(listed.encode()), end))
                        elif not isinstance(listed, str) and has_others:
                            values.append(self.chain(tuple(json.dumps(listed).encode()), end))
                    if "enum" not in value and has_strings:
                        text = self.node()
                        text.free = Free({tuple(text.encode()): [] for text in never}, frozenset(), end, keeps_breaks)
                        values.append(text)
                    if values:
                        forms.append(self.text(before + name + between, self.either(values)))
                one = self.either(forms)
                node = self.either([one, self.text(BREAK, one)])
            calls.append(node)
        return self.either(calls)

    def closure(self, states: set[State]) -> set[State]:
        """The states that are reached without a symbol."""
        found, open = set(states), list(states)
        while open:
            number, _, begun, is_empty, ends_in_break = open.pop()
            node = self.nodes[number]
            behind = list(node.empty)
            if node.free and not begun and (node.free.keeps_breaks or not ends_in_break):
                behind.append(node.free.exit)
            for next in behind:
                state = self.state(next)
                if state not in found:
                    found.add(state)
                    open.append(state)
        return found

    def state(self, node: Node) -> State:
        return (self.numbers[id(node)], (), b"", True, False)

    def begin(self) -> set[State]:
        return self.closure({self.state(self.start)})

    def is_complete(self, states: set[State]) -> bool:
        return self.state(self.end) in states

    def step(self, states: set[State], symbol: int) -> set[State]:
        after: set[State] = set()
        for number, read, begun, is_empty, _ in states:
            node = self.nodes[number]
            if symbol in node.edges:
                after.add(self.state(node.edges[symbol]))
            if node.free is None:
                continue
            free = node.free
            if symbol >= SPECIAL:
                if begun or symbol not in free.specials:
                    continue
                rest = b""
            else:
                rest = begun + bytes([symbol])
                try:
                    character = rest.decode()
                    if not free.is_plain(character) or (is_empty and character == BREAK and not free.keeps_breaks):
                        continue
                    rest = b""
                except UnicodeDecodeError as error:
                    if error.reason != "unexpected end of data":
                        continue
            read = (*read, symbol)
            ended = [pattern for pattern in free.patterns if read[-len(pattern) :] == pattern]
            if ended:
                after.update(self.state(next) for pattern in ended for next in free.patterns[pattern])
                continue
            beginnings = (read[at:] for at in range(len(read) + 1))
            read = next(
                text for text in beginnings if not text or any(pattern[: len(text)] == text for pattern in free.patterns)
            )
            after.add((number, read, rest, False, symbol == ord(BREAK)))
        return self.closure(after)

    def steps(self, states: set[State], symbols: tuple[int, ...]) -> set[State]:
        for symbol in symbols:
            states = self.step(states, symbol)
        return states
