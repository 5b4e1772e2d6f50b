"""Runs exported automata in Node and as compiled C, and gives back the whole numbers that they compute."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from wfalens.export.runtime.source_files import runtime_tables, to_c, to_js

NODE, GCC = shutil.which("node"), shutil.which("gcc")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
SANITIZED = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
PROBABILITY_ONE = 1 << 22
needs_node = pytest.mark.skipif(NODE is None, reason="needs node (apt-get install nodejs)")
needs_gcc = pytest.mark.skipif(GCC is None, reason="needs gcc (apt-get install gcc)")

NODE_DRIVER = """
import {{ readFileSync, writeFileSync }} from 'node:fs';
import model from './{name}.mjs';
const {{ texts, explained, absence }} = JSON.parse(readFileSync('{name}.texts.json', 'utf8'));
const answers = texts.map((text, at) => {{
  const words = model.tokens(text);
  try {{
    const {{ index, probabilities }} = model.predict(text);
    const known = model.trace(text).known.map(Number);
    const values = explained[at] ? model.explain(text, absence).values.flat() : null;
    return {{ words, known, index, probabilities: probabilities.map((p) => p * 2 ** 22), values }};
  }} catch (error) {{
    if (!(error instanceof RangeError)) throw error;
    return {{ words, index: -2, probabilities: null, values: null, known: null }};
  }}
}});
writeFileSync('{name}.answers.json', JSON.stringify(answers));
"""
C_DRIVER = r"""
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "{name}.h"
/* whether texts that are read together have the answers that they have alone: this one, parts of it, earlier ones */
static int read_together(const char *text, size_t bytes, const wfa_token *tokens, size_t count, int found,
                         const uint32_t *one) {{
  enum {{ PARTS = 11, KEPT = 40 }};
  static char earlier[KEPT][256];
  static size_t earlier_bytes[KEPT], seen;
  const char *texts[PARTS + KEPT];
  size_t all[PARTS + KEPT], k, starts[] = {{0, 0, 0}}, number = PARTS + (seen < KEPT ? seen : KEPT);
  uint32_t *many = malloc((PARTS + KEPT) * WFA_CLASSES * sizeof *many), alone[WFA_CLASSES];
  int classes[PARTS + KEPT];
  uint16_t *entries = malloc((count ? count : 1) * sizeof *entries);
  for (k = 0; k < number; k++) {{
    texts[k] = k < PARTS ? text : earlier[k - PARTS];
    all[k] = k < PARTS ? bytes * k / (PARTS - 1) : earlier_bytes[k - PARTS];
  }}
  wfa_predict_texts(texts, all, number, classes, many);
  for (k = 0; k < number; k++) {{
    if (classes[k] != wfa_predict(texts[k], all[k], alone)) return 0;
    if (classes[k] != WFA_UNKNOWN_WORD && memcmp(alone, many + k * WFA_CLASSES, sizeof alone)) return 0;
  }}
  for (k = 0; k < count; k++) entries[k] = tokens[k].entry;
  starts[1] = starts[2] = count;
  wfa_predict_entries(entries, starts, 2, classes, many);
  if (found != WFA_UNKNOWN_WORD && (classes[0] != found || memcmp(one, many, sizeof alone))) return 0;
  earlier_bytes[seen % KEPT] = bytes < sizeof earlier[0] ? bytes : sizeof earlier[0];
  memcpy(earlier[seen % KEPT], text, earlier_bytes[seen % KEPT]);
  seen++;
  free(many);
  free(entries);
  return 1;
}}

int main(int argc, char **argv) {{
  uint32_t head[2];
  enum wfa_absence absence = argc > 1 && argv[1][0] == 'u' ? WFA_UNKNOWN : WFA_DELETE;
#if WFA_STEP_NUMBERS
  static int32_t steps[3 * WFA_STEP_NUMBERS];
  if (wfa_prepare(steps, sizeof steps / sizeof steps[0]) > 3) return 7; /* some words, not all */
#endif
  while (fread(head, sizeof head, 1, stdin) == 1) {{
    char *text = malloc(head[0] ? head[0] : 1); /* no byte more than the text has */
    uint32_t probabilities[WFA_CLASSES] = {{0}}, again[WFA_CLASSES] = {{0}};
    size_t count, c, t;
    wfa_token *tokens;
    int found;
    if (fread(text, 1, head[0], stdin) != head[0]) return 1;
    count = wfa_tokens(text, head[0], NULL, 0);
    tokens = malloc((count ? count : 1) * sizeof *tokens);
    if (wfa_tokens(text, head[0], tokens, count) != count) return 2;
    found = wfa_predict(text, head[0], probabilities);
    if (found != wfa_predict_tokens(tokens, count, again)) return 3;
    if (!read_together(text, head[0], tokens, count, found, probabilities)) return 8;
    printf("%d %zu", found, count);
    for (c = 0; c < WFA_CLASSES; c++) {{
      if (found != WFA_UNKNOWN_WORD && probabilities[c] != again[c]) return 4;
      printf(" %" PRIu32, probabilities[c]);
    }}
    for (t = 0; t < count; t++) {{
      if (tokens[t].first > tokens[t].end || tokens[t].end > head[0]) return 5;
      printf(" %d", tokens[t].known);
    }}
    if (head[1]) {{
      int32_t *work = malloc(WFA_WORK(count ? count : 1) * sizeof *work);
      int64_t *values = malloc((count ? count : 1) * WFA_CLASSES * sizeof *values);
      int failed = wfa_explain(tokens, count, absence, work, values);
      if (failed && failed != WFA_UNKNOWN_WORD) return 6;
      for (t = 0; !failed && t < count * WFA_CLASSES; t++) printf(" %" PRId64, values[t]);
      free(work);
      free(values);
    }}
    printf("\n");
    free(tokens);
    free(text);
  }}
  return 0;
}}
"""


@dataclass
class Answers:
    """Of some texts: the class, the whole probabilities and values, and which tokens are listed."""

    index: list[int]
    probabilities: list[list[int] | None]
    values: list[list[int] | None]
    known: list[list[int] | None]
    words: list[list[str]] | None = None


class Exported:
    """An automaton in a folder, as a module and as a program."""

    def __init__(self, wfa, folder: Path, name: str = "model", sanitized: bool = False, switches=(), **options) -> None:
        self.folder, self.name = folder, name
        self.tables, self.remark = runtime_tables(wfa, **options)
        self.value_one = 2 ** (50 - self.tables.numbers["logit_bits"])
        (folder / f"{name}.mjs").write_text(to_js(wfa, **options).files[""], encoding="utf-8")
        source = to_c(wfa, **options).files
        (folder / f"{name}.c").write_text(source[""])
        (folder / f"{name}.h").write_text(source[".h"])
        self._program = None
        self._switches = [*(SANITIZED if sanitized else ["-O1"]), *switches]

    def in_node(self, texts, explained=None, absence="delete") -> Answers:
        explained = [True] * len(texts) if explained is None else explained
        asked = {"texts": list(texts), "explained": explained, "absence": absence}
        (self.folder / f"{self.name}.texts.json").write_text(json.dumps(asked))
        driver = self.folder / f"{self.name}.driver.mjs"
        driver.write_text(NODE_DRIVER.format(name=self.name))
        subprocess.run([NODE, driver.name], cwd=self.folder, check=True)
        found = json.loads((self.folder / f"{self.name}.answers.json").read_text())
        values = [self._whole(each["values"]) for each in found]
        return Answers(
            [each["index"] for each in found],
            [each["probabilities"] for each in found],
            values,
            [each["known"] for each in found],
            [each["words"] for each in found],
        )

    def _whole(self, values):
        if values is None:
            return None
        whole = [value * self.value_one for value in values]
        assert all(value == int(value) for value in whole)
        return [int(value) for value in whole]

    def in_c(self, texts, explained=None, absence="delete") -> Answers:
        explained = [True] * len(texts) if explained is None else explained
        content = bytearray()
        for text, also in zip(texts, explained, strict=True):
            raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
            content += np.array([len(raw), also], np.uint32).tobytes() + raw
        ran = subprocess.run([self.program(), absence], input=bytes(content), capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()[-2000:]
        found = Answers([], [], [], [])
        classes = self.tables.numbers["classes"]
        for line, also in zip(ran.stdout.decode().splitlines(), explained, strict=True):
            index, count, *rest = map(int, line.split())
            refused = index == -2
            found.index.append(index)
            found.probabilities.append(None if refused else rest[:classes])
            found.known.append(None if refused else rest[classes : classes + count])
            found.values.append(rest[classes + count :] if also and not refused else None)
        return found

    def program(self) -> Path:
        if self._program is None:
            (self.folder / f"{self.name}.driver.c").write_text(C_DRIVER.format(name=self.name))
            self._program = self.folder / f"{self.name}.program"
            sources = [f"{self.name}.c", f"{self.name}.driver.c"]
            subprocess.run(
                [GCC, *STRICT, *self._switches, *sources, "-o", self._program.name], cwd=self.folder, check=True
            )
        return self._program


def assert_bit_equal(one: Answers, two: Answers) -> None:
    assert one.index == two.index
    assert one.probabilities == two.probabilities
    assert one.known == two.known
    assert one.values == two.values
