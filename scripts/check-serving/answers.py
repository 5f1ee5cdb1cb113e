"""What the checks of servers have in common: requests, and a model that would rather not end."""

import json
import random
from typing import Any

import numpy as np

PERSON = {
    "type": "object",
    "required": ["name", "born"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "born": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}

EBNF = 'root ::= "yes" | "no"'

TAG = {
    "type": "structural_tag",
    "format": {
        "type": "tag",
        "begin": "<data>",
        "content": {"type": "json_schema", "json_schema": {"type": "integer"}},
        "end": "</data>",
    },
}


def allowed(row: Any, tokens: int) -> set[int]:
    """The tokens of a row of a bitmask."""
    bits = np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little")[:tokens]
    return set(np.flatnonzero(bits).tolist())


def choose(tokens: set[int], eos: int, chooser: random.Random) -> int:
    """A token of a model that ends only where nothing else may come."""
    return chooser.choice(sorted(tokens - {eos} or tokens))


def check_person(text: str) -> None:
    """That an answer is valid under `PERSON`."""
    import jsonschema

    jsonschema.validate(json.loads(text), PERSON)
