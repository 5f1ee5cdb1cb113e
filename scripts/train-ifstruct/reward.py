"""The reward of IFStruct for trainers in Python: `maskwright ifstruct reward` as a function over replies.

    reward = IfstructReward("target/release/maskwright")
    reward.score([sample, ...], [reply, ...])   # one number for each, 1.0 or 0.0

An object of this class is a reward function for TRL's GRPOTrainer: it is called with the completions and, by keyword, the columns of the
dataset, of which it uses `sample`, the line of `maskwright ifstruct generate` that the prompt is of.
"""

import json
import subprocess
import threading


class IfstructReward:
    """Asks one process, which is started once and answers a line for each line."""

    __name__ = "ifstruct"

    def __init__(self, program: str = "maskwright", strict: bool = False):
        command = [program, "ifstruct", "reward"] + (["--strict"] if strict else [])
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self._lock = threading.Lock()

    def score(self, samples: list[str], replies: list[str]) -> list[float]:
        """The reward of each reply to the sample, a line of JSON, at the same place."""
        rewards = []
        with self._lock:
            for sample, reply in zip(samples, replies, strict=True):
                line = json.dumps({**json.loads(sample), "response": reply})
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
                if not answer:
                    raise RuntimeError("`maskwright ifstruct reward` has ended")
                answer = json.loads(answer)
                if "error" in answer:
                    raise ValueError(f"not scored: {answer['error']}")
                rewards.append(float(answer["reward"]))
        return rewards

    def __call__(self, completions, sample, **_) -> list[float]:
        # Conversations are lists of messages, of which the reply is the last.
        replies = [one if isinstance(one, str) else one[-1]["content"] for one in completions]
        return self.score(sample, replies)

    def close(self) -> None:
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
