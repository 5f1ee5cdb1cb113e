"""Samples of IFStruct as rows for trainers, and a check that two files of them share no schema."""

import hashlib
import json
from pathlib import Path


def read(path: Path) -> list[dict]:
    """Rows of a file of `maskwright ifstruct generate`: the conversation up to the reply, and the sample's own line."""
    rows = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            prompt = [{"role": "user", "content": json.loads(line)["prompt"]}]
            rows.append({"prompt": prompt, "sample": line.strip()})
    return rows


def schemas(rows: list[dict]) -> set[str]:
    """A hash of each row's schema, whatever the order of its keys."""
    texts = (json.dumps(json.loads(row["sample"])["json_schema"], sort_keys=True) for row in rows)
    return {hashlib.sha256(text.encode()).hexdigest() for text in texts}


def check_apart(train: list[dict], test: list[dict]) -> None:
    """Ends the program where a schema is in both."""
    shared = schemas(train) & schemas(test)
    if shared:
        raise SystemExit(f"train and test share {len(shared)} schemas: generate them from different splits")
