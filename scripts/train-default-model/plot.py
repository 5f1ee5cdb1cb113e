"""Draws the loss and the learning rate of a training run, from its log.jsonl, over the tokens read: an SVG without other packages."""

import argparse
import json
import math
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 380, 60, 60, 46, 46
LOSS, RATE = "#1f5fa8", "#b0601a"


def points(log: Path) -> list[dict]:
    """The lines of the log that have a loss, each number of tokens once: a run that went on from a checkpoint repeats some."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    by_tokens = {line["tokens"]: line for line in lines if "loss" in line}
    return [by_tokens[tokens] for tokens in sorted(by_tokens)]


def svg(lines: list[dict]) -> str:
    """The drawing: the loss on a logarithmic scale at the left, the learning rate as a share of its peak at the right."""
    most = max(line["tokens"] for line in lines)
    low, high = (f(line["loss"] for line in lines) for f in (min, max))
    low, high = math.floor(math.log10(low) * 4) / 4, math.ceil(math.log10(high) * 4) / 4

    def x(tokens):
        return LEFT + (WIDTH - LEFT - RIGHT) * tokens / most

    def y(share):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    def curve(values, colour, dashes=""):
        at = " ".join(f"{x(line['tokens']):.1f},{y(value):.1f}" for line, value in zip(lines, values))
        return f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="1.6"{dashes}/>'

    def text(at, over, words, anchor="middle", colour="#333"):
        return f'<text x="{at:.1f}" y="{over:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(LEFT, 22, "loss: cross-entropy in nats, words that count items eightfold", "start", LOSS),
        text(WIDTH - RIGHT, 22, "learning rate, share of its peak", "end", RATE),
        text(WIDTH / 2, HEIGHT - 10, "million tokens, padding included"),
    ]
    for loss in (0.05, 0.1, 0.2, 0.5, 1, 2, 5):
        share = (math.log10(loss) - low) / (high - low)
        if 0 <= share <= 1:
            out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#ddd"/>')
            out.append(text(LEFT - 8, y(share) + 4, f"{loss:g}", "end", LOSS))
    for rate in (0, 0.5, 1):
        out.append(text(WIDTH - RIGHT + 8, y(rate) + 4, f"{rate:g}", "start", RATE))
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if most / 1e6 / step <= 10)
    for million in range(0, int(most / 1e6) + 1, step):
        out.append(text(x(million * 1e6), HEIGHT - BOTTOM + 18, million))
    out.append(curve([line["rate"] for line in lines], RATE, ' stroke-dasharray="5 3"'))
    out.append(curve([(math.log10(line["loss"]) - low) / (high - low) for line in lines], LOSS))
    return "\n".join(out) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.write_text(svg(points(arguments.log)))


if __name__ == "__main__":
    main()
