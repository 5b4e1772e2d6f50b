"""Exported C under libFuzzer, with AddressSanitizer and UndefinedBehaviorSanitizer.

`python -m tests.fuzz.runtime_fuzzer [--seconds N]` needs clang and its runtime (apt-get install clang libclang-rt-dev).
It exports small automata that together use all of the C code, fuzzes each for its share of the time, and prints how
many texts were tried. It ends with an error if one of them harms the program.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.automata import linear_sample, sample
from tests.export.runtime.test_word_list import any_texts
from wfalens.automaton import WFA
from wfalens.export import to_c
from wfalens.text import TextEncoder, Vocabulary

SWITCHES = ["-std=c99", "-g", "-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
HARNESS = Path(__file__).with_suffix(".c")


def automata(texts: list[str]) -> dict[str, tuple[WFA, dict[str, Any], list[str]]]:
    """By a name: the automaton, the options of its export, and switches of the compiler."""

    def reading(wfa: WFA, tokenizer: str, **options: Any) -> WFA:
        words = TextEncoder.of_texts(texts, tokenizer).vocabulary.words[2 : len(wfa.encoder.vocabulary)]
        return replace_encoder(wfa, TextEncoder(Vocabulary.of_words(words), tokenizer, **options))

    def shared(words: int = 400) -> WFA:
        return sample("shared", 3, n=13, words=words).wfa

    linear = linear_sample(3, words=60).wfa
    return {
        "vectors": (reading(shared(), "basic_english", max_length=20), {"bits": 8}, []),
        "wide vectors": (reading(shared(), "lower+whitespace"), {"bits": 8}, ["-march=native"]),
        "plain": (reading(shared(), "quotes+basic_english"), {"bits": 8}, ["-U__SSE2__"]),
        "title": (reading(shared(), "strip+title+whitespace"), {"bits": 16}, []),
        "n-grams": (reading(shared(), "lower+ngrams:3", truncation_side="left", max_length=9), {"bits": 32}, []),
        "losing": (reading(sample("null", 5, n=7, words=60).wfa, "whitespace", closed=True), {"bits": 8}, []),
        "linear": (reading(linear, "quotes+lower+quotes+whitespace"), {"bits": 16}, []),
    }


def replace_encoder(wfa: WFA, encoder: TextEncoder) -> WFA:
    missing = len(wfa.encoder.vocabulary) - len(encoder.vocabulary)
    words = [*encoder.vocabulary.words[2:], *(f"word{number}" for number in range(missing))]
    wfa.encoder = replace(encoder, vocabulary=Vocabulary.of_words(words))
    return wfa


def fuzz(wfa: WFA, options: dict[str, Any], switches: list[str], texts: list[str], seconds: int, folder: Path) -> int:
    """How many texts were tried."""
    for ending, content in to_c(wfa, **options).files.items():
        (folder / f"model{ending or '.c'}").write_text(str(content))
    seeds = folder / "seeds"
    seeds.mkdir()
    for number, text in enumerate(texts):
        (seeds / str(number)).write_bytes(text.encode("utf-8", "surrogatepass"))
    clang = next(filter(None, map(shutil.which, ("clang", "clang-14", "clang-16", "clang-19"))), "clang")
    built = [clang, *SWITCHES, *switches, "-I", folder, folder / "model.c", HARNESS, "-o", folder / "fuzzer"]
    subprocess.run(built, check=True)
    limits = [f"-max_total_time={seconds}", "-max_len=300", "-print_final_stats=1", "-verbosity=0"]
    ran = subprocess.run([folder / "fuzzer", *limits, seeds], cwd=folder, capture_output=True, check=False, text=True)
    if ran.returncode:
        sys.exit(ran.stderr[-4000:])
    found = re.search(r"number_of_executed_units:\s*(\d+)", ran.stderr)
    return int(found[1]) if found else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="of all automata together")
    seconds, texts, tried = parser.parse_args().seconds, any_texts(300, 1), 0
    found = automata(texts)
    for name, (wfa, options, switches) in found.items():
        with tempfile.TemporaryDirectory() as folder:
            count = fuzz(wfa, options, switches, texts, max(1, seconds // len(found)), Path(folder))
        print(f"{name}: {count:,} texts", flush=True)
        tried += count
    print(f"{tried:,} texts in {seconds} s, none of which harmed the program")


if __name__ == "__main__":
    main()
