"""Writes a model anew with weights of 16 bits, as the program contains them; `maskwright train` writes 32 bits."""

import argparse
from pathlib import Path

import evaluate
from data import Dialogues
from train import export


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    dialogues = Dialogues(str(arguments.model / "tokenizer.json"), set())
    export(evaluate.load(arguments.model), dialogues, arguments.model, arguments.out)


if __name__ == "__main__":
    main()
