"""Matchers that follow sequences of tokens, for libraries that hand over whole sequences at every step."""

from __future__ import annotations

from collections.abc import Sequence

from ._native import Compiled, Matcher


class Follower:
    """Follows one sequence: the matcher has accepted the tokens after the prompt.

    A sequence may go back and continue otherwise, as beams do: the matcher is rolled back to the last common token.
    """

    def __init__(self, compiled: Compiled, max_tokens: int | None) -> None:
        self.matcher: Matcher = compiled.matcher(max_tokens=max_tokens)
        self._accepted: list[int] = []

    def follow(self, tokens: Sequence[int]) -> None:
        """Moves the matcher behind `tokens`. Tokens after the end of the answer, such as padding, are ignored.

        Raises `ValueError` if a token is not allowed.
        """
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
                raise ValueError(
                    f"token {token} is not allowed after {len(accepted)} tokens of the answer: was the mask applied last?"
                )
            accepted.append(token)


class BatchFollower:
    """Follows the sequences of a batch. Their tokens at the first call are the prompt."""

    def __init__(self, compiled: Compiled | Sequence[Compiled], max_tokens: int | None) -> None:
        self._compiled = compiled
        self._max_tokens = max_tokens
        self._prompt: int | None = None
        self._followers: list[Follower] = []

    def follow(self, sequences: Sequence[Sequence[int]]) -> list[Matcher]:
        """Returns the matchers of the sequences, each moved behind its tokens.

        Raises `ValueError` if there are not as many schemas as sequences, or a token is not allowed.
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
        return [follower.matcher for follower in self._followers]
