"""Matchers that follow sequences of tokens, for libraries that hand over whole sequences at every step."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from ._bitmask import allow_only
from ._native import Compiled, Matcher

logger = logging.getLogger(__name__)


class Follower:
    """Follows one sequence: the matcher has accepted the tokens after the prompt.

    A sequence may go back and continue otherwise, as beams do: the matcher is rolled back to the last common token. A sequence with a token
    that is not allowed is dead from that token on: the matcher stays before the token, until the sequence goes back. Libraries hand over
    such sequences: beams without probability, rows that are padded before their answer's end, and drafts of other models.
    """

    def __init__(self, compiled: Compiled, max_tokens: int | None) -> None:
        self.matcher: Matcher = compiled.matcher(max_tokens=max_tokens)
        self._accepted: list[int] = []
        # The token from which on the sequence is dead; None if there is no such token.
        self.refused: int | None = None

    def follow(self, tokens: Sequence[int]) -> None:
        """Moves the matcher behind `tokens`, or to the first that is not allowed, which is then `refused`. Tokens after the end of the
        answer, such as padding, are ignored.
        """
        self.refused = None
        accepted = self._accepted
        shared = 0
        for one, other in zip(accepted, tokens, strict=False):
            if one != other:
                break
            shared += 1
        if shared < len(accepted):
            self.matcher.rollback(len(accepted) - shared)
            del accepted[shared:]
        for token in tokens[shared:]:
            if self.matcher.is_terminated():
                return
            if not self.matcher.accept_token(token):
                self.refused = token
                return
            accepted.append(token)


class BatchFollower:
    """Follows the sequences of a batch. Their tokens at the first call are the prompt."""

    def __init__(self, compiled: Compiled | Sequence[Compiled], max_tokens: int | None) -> None:
        self._compiled = compiled
        self._max_tokens = max_tokens
        self._prompt: int | None = None
        self._followers: list[Follower] = []
        self._has_warned = False

    def follow(self, sequences: Sequence[Sequence[int]]) -> list[Matcher]:
        """Returns the matchers of the sequences, each moved behind its tokens. The first token that is not allowed is logged.

        Raises `ValueError` if there are not as many schemas as sequences.
        """
        if self._prompt is None:
            self._prompt = len(sequences[0]) if sequences else 0
            if isinstance(self._compiled, Compiled):
                schemas: list[Compiled] = [self._compiled] * len(sequences)
            else:
                schemas = list(self._compiled)
                # The beams of one answer stand side by side.
                if schemas and len(sequences) % len(schemas) == 0:
                    beams = len(sequences) // len(schemas)
                    schemas = [schema for schema in schemas for _ in range(beams)]
            if len(schemas) != len(sequences):
                raise ValueError(f"there are {len(schemas)} schemas for {len(sequences)} sequences")
            self._followers = [Follower(schema, self._max_tokens) for schema in schemas]
        if len(sequences) != len(self._followers):
            raise ValueError(
                f"the batch has {len(sequences)} sequences, and had {len(self._followers)}: "
                "a processor serves one call of generate"
            )
        for follower, sequence in zip(self._followers, sequences, strict=True):
            follower.follow(sequence[self._prompt :])
            if follower.refused is not None and not self._has_warned:
                self._has_warned = True
                logger.warning(
                    "token %d is not allowed after %d tokens of the answer: was the mask applied last?",
                    follower.refused,
                    follower.matcher.num_accepted_tokens,
                )
        return [follower.matcher for follower in self._followers]

    def end_dead(self, bitmask: Any) -> None:
        """Allows only stop tokens in the rows of dead sequences, so that they end. The rows of the others do not change."""
        for row, follower in enumerate(self._followers):
            if follower.refused is not None:
                allow_only(bitmask, row, follower.matcher.stop_token_ids)
