"""Trains the byte-level BPE tokenizer and writes tokenizer.json and tokenizer_config.json."""

import argparse
import json
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

BOS, PAD, EOS = "<|bos|>", "<|pad|>", "<|end|>"
SYSTEM, USER, ASSISTANT = "<|system|>", "<|user|>", "<|assistant|>"
SPECIAL = [PAD, BOS, EOS, SYSTEM, USER, ASSISTANT]

# Words that take the blank before them. They are words that a name of a field does not begin with, or names of types.
COMMON = """
a about after all also an and any are as at be been before below between both but by can could do does each either every exactly following for
from gets give gives has have here how i if in integer into is it its just least like list make may me more most must my need no none not
number object of on one only optional or other our over please put required should so string such text than that the their them then there these
they this to true under up use value values was we what when where whether which who will with within without would write you your
""".split()

# As in GPT-2 and Llama 3, but for what makes JSON, YAML and names short and easy to copy: a run of punctuation may take the blank and the quote that
# follow it (`", "`, `": {"`, `": ` before a digit), a word takes the underscore before it, but not the blank, so that a name has the same tokens
# in a sentence, in quotes, and at the beginning of a line, an upper-case letter starts a word inside camelCase, a line break takes the
# indentation that follows it, and digits stand alone, so that a number has the same tokens wherever it is copied to.
SPLIT = (
    rf" (?:{'|'.join(COMMON)})(?![\p{{L}}_])"
    r"|_?[A-Z]?[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|\p{Lu}|\p{N}"
    r"| ?[^\s\p{L}\p{N}_]+(?: [^\s\p{L}\p{N}_]+)*(?: (?=\p{N}))?|_|\r?\n *| +(?= )|\s"
)

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def texts(path: Path, limit: int):
    """The last request and answer of each dialogue."""
    with path.open() as lines:
        for _, line in zip(range(limit), lines):
            for message in json.loads(line)["messages"][-2:]:
                yield message["content"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--vocab-size", type=int, default=4096)
    parser.add_argument("--limit", type=int, default=60000)
    parser.add_argument("--max-length", type=int, default=4096)
    arguments = parser.parse_args()

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=arguments.vocab_size,
        special_tokens=[AddedToken(t, special=True, normalized=False) for t in SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=24,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts(arguments.dialogues, arguments.limit), trainer)
    arguments.out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(arguments.out / "tokenizer.json"))
    config = {
        "add_bos_token": False,
        "add_prefix_space": False,
        "bos_token": BOS,
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
        "eos_token": EOS,
        "model_max_length": arguments.max_length,
        "pad_token": PAD,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    (arguments.out / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")


if __name__ == "__main__":
    main()
