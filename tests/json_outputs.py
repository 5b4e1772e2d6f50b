"""What commands print with `--json`, as JSON schemas: `python -m tests.json_outputs` writes them for the reference.

A schema is inferred from what a command prints on small files. Objects that are keyed by words, classes or groups
become `additionalProperties`; what is not always there is not required.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.commands import SMALL, wfalens
from wfalens.text import load_dataset

SCHEMAS = Path(__file__).resolve().parent.parent / "docs" / "reference" / "schemas.json"
MADE = (
    ("train", "--corpus", "train.csv", "--out", "news.rnn", *SMALL),
    ("extract", "news.rnn", "-c", "train.csv", "-o", "news.wfa", "-C", "stochastic.states=10"),
    ("extract", "news.rnn", "-c", "train.csv", "-o", "small.wfa", "-C", "readable.states=8"),
)
TEXT = "the senate votes"
AGAIN = ("extract", "news.rnn", "-c", "train.csv", "-o", "again.wfa", "-C", "stochastic.states=10")
BOTH = ("news.wfa", "-m", "news.rnn", "-c", "test.csv")
COMMANDS: dict[str, tuple[str, ...]] = {
    "train": ("train", "--corpus", "train.csv", "--test", "test.csv", "--out", "again.rnn", *SMALL),
    "extract": AGAIN,
    "evaluate": ("evaluate", *BOTH, "--reference", "train.csv"),
    "evaluate --explanations": ("evaluate", *BOTH, "--explanations", "--limit", "5"),
    "predict": ("predict", "news.wfa", TEXT),
    "predict --trace": ("predict", "news.wfa", TEXT, "--trace"),
    "show": ("show", "small.wfa"),
    "explain findings": ("explain", "findings", *BOTH, "--train", "train.csv", "-C", "queries=2000"),
    "show --model": ("show", *BOTH),
    "explain text": ("explain", "text", "news.wfa", TEXT),
    "explain words": ("explain", "words", "news.wfa"),
    "explain phrases": ("explain", "phrases", "news.wfa", "-c", "test.csv", "-C", "longest=1"),
    "explain neighbours": ("explain", "neighbours", "news.wfa", "senate"),
    "explain pairs": ("explain", "pairs", "news.wfa"),
    "attack": ("attack", *BOTH, "--limit", "20", "--recipe", "guided"),
    "verify certify": ("verify", "certify", "news.wfa", "--text", TEXT),
    "monitor coverage": ("monitor", "coverage", "small.wfa", "-c", "test.csv"),
    "repair labels": ("repair", "labels", "news.wfa", "-m", "news.rnn", "--train", "train.csv"),
    "compare": ("compare", "news.wfa", "small.wfa", "-c", "test.csv"),
    "export": ("export", "news.wfa", "--words", "top:50", "-o", "news.drn"),
    "report": ("report", *BOTH, "-o", "card.json"),
}
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def printed(folder: Path, commands: dict[str, tuple[str, ...]] = COMMANDS) -> dict[str, Any]:
    """What every command prints on small files in an empty folder."""
    for split, rows in (("train", 600), ("test", 120)):
        corpus = load_dataset("newsroom", split)
        lines = [f"{text},{corpus.class_names[corpus.labels[row]]}" for row, text in enumerate(corpus.texts[:rows])]
        (folder / f"{split}.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    for command in MADE:
        _printed(command, folder)
    return {name: json.loads(_printed((*command, "--json"), folder)) for name, command in commands.items()}


def _printed(command: tuple[str, ...], folder: Path) -> str:
    done = wfalens(*command, cwd=folder)
    if done.returncode not in (0, 1):
        raise SystemExit(f"wfalens {' '.join(command)}: {done.stderr}")
    return str(done.stdout)


def schema_of(value: Any, names: frozenset[str]) -> dict[str, Any]:
    """The schema of a value; `names` are keys that stand for data."""
    if isinstance(value, dict):
        parts = {key: schema_of(each, names) for key, each in value.items()}
        if parts and any(not _NAME.fullmatch(key) or key in names for key in parts):
            return {"type": "object", "additionalProperties": union(list(parts.values()))}
        return {"type": "object", "properties": parts, "required": sorted(parts)}
    if isinstance(value, list):
        return (
            {"type": "array", "items": union([schema_of(each, names) for each in value])}
            if value
            else {"type": "array"}
        )
    kinds = {bool: "boolean", int: "number", float: "number", str: "string"}
    return {"type": kinds.get(type(value), "null")}


def union(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """One schema that all of them keep to."""
    distinct = [each for number, each in enumerate(schemas) if each not in schemas[:number]]
    if len(distinct) < 2:
        return distinct[0] if distinct else {}
    kinds = sorted({kind for each in distinct for kind in _kinds(each)})
    merged: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
    objects = [each for each in distinct if "object" in _kinds(each)]
    if any("additionalProperties" in each for each in objects):
        inner = [part for each in objects for part in each.get("properties", {}).values()]
        merged["additionalProperties"] = union(inner + [each.get("additionalProperties", {}) for each in objects])
    elif objects:
        keys = dict.fromkeys(key for each in objects for key in each["properties"])
        merged["properties"] = {
            key: union([each["properties"][key] for each in objects if key in each["properties"]]) for key in keys
        }
        merged["required"] = sorted(set.intersection(*(set(each["required"]) for each in objects)))
    items = [each["items"] for each in distinct if "items" in each]
    return merged | ({"items": union(items)} if items else {})


def _kinds(schema: dict[str, Any]) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else kind


def main() -> int:
    names = frozenset(load_dataset("newsroom", "test").class_names)
    with TemporaryDirectory() as folder:
        outputs = printed(Path(folder))
    schemas = {name: schema_of(value, names) for name, value in outputs.items()}
    SCHEMAS.write_text(json.dumps(schemas, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {SCHEMAS.name}: {', '.join(schemas)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
