"""Automata as files: how small they are at a wanted CR, and how quickly C and JavaScript read texts with them.

sizes   per data set: the smallest JavaScript file with CR at least .90 (film reviews), .95 (toxic comments) and .88
        (news), over readable automata of two sizes, 8 bits, and budgets of bytes; beside it, bags of words distilled
        from the network with as many bytes: 8 bits for each word and class in a hash of words; fastText, quantized;
        and m2cgen's C of a logistic regression. The last two are left out if they are not installed
speed   on news titles, one core: C (gcc -O3 -march=native; texts together, as the network reads them, and one by one)
        and Node (one by one); against torch's LSTM in batches, ONNX Runtime in float and int8, and ONNX Runtime Web
        (WASM in Node) if npm can install it

Both sides read either texts (the network's are split by wfalens' compiled tokenizer) or word ids. All take turns on the
same texts; a turn is the best of some runs, by processor time, as other work may share the machine, and the median of
the turns counts.
"""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from statistics import median

import numpy as np
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from common import CACHE, arguments, finish, show, trained_model
from wfalens.automaton import WFA
from wfalens.export.runtime.fixed_point import importance, make_tables, outputs
from wfalens.export.runtime.source_files import module_bytes, to_c, to_js
from wfalens.export.runtime.word_list import empty_words
from wfalens.extraction import Linear, Readable, extract
from wfalens.models import RNNClassifier, Trainer
from wfalens.text import load_dataset
from wfalens.text.datasets.catalogue import DATASETS, is_available

GOALS = {"rotten_tomatoes": 0.90, "jigsaw_toxic": 0.95, "tagmynews": 0.88}
SIZES = {"page": {}, "poster": {"states": 24, "clusters": 64}}  # the default, and a larger one
KINDS = ("page", "linear")
BUDGETS = (20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120, 150, 200, 300)  # thousands of bytes of a file
NEWS = "tagmynews"
BATCH, ROUNDS, RUNS = 256, 7, 3
C_DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "model.h"
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(int argc, char **argv) {
  size_t count = 0, size = 0, room = 1 << 26, at, all = 0, runs = (size_t)atoi(argv[1]), run;
  char *buffer = malloc(room);
  const char **texts = malloc(sizeof *texts << 20);
  double best[3] = {1e9, 1e9, 1e9};
  long sum = 0;
  (void)argc;
  size = fread(buffer, 1, room, stdin);
  for (at = 0; at < size; at++)
    if (at == 0 || buffer[at - 1] == '\n') texts[count++] = buffer + at;
  texts[count] = buffer + size;
  size_t *bytes = malloc(sizeof *bytes * count), *starts = malloc(sizeof *starts * (count + 1));
  wfa_token *tokens = malloc(sizeof *tokens * (size + 1));
  uint16_t *entries = malloc(sizeof *entries * (size + 1));
  uint32_t *probabilities = malloc(sizeof *probabilities * count * WFA_CLASSES);
  int *classes = malloc(sizeof *classes * count);
  for (at = 0; at < count; at++) {
    starts[at] = all;
    bytes[at] = (size_t)(texts[at + 1] - texts[at]);
    all += wfa_tokens(texts[at], bytes[at], tokens + all, size - all);
  }
  starts[count] = all;
  for (at = 0; at < all; at++) entries[at] = tokens[at].entry;
#if WFA_STEP_NUMBERS
  wfa_prepare(malloc(sizeof(int32_t) * WFA_STEP_NUMBERS * 65536), (size_t)WFA_STEP_NUMBERS * 65536);
#endif
  for (run = 0; run < runs; run++) {
    double times[4];
    times[0] = now();
    wfa_predict_texts(texts, bytes, count, classes, probabilities);
    times[1] = now();
    wfa_predict_entries(entries, starts, count, classes, probabilities);
    times[2] = now();
    for (at = 0; at < count; at++) sum += wfa_predict(texts[at], bytes[at], probabilities);
    times[3] = now();
    for (at = 0; at < 3; at++)
      if (times[at + 1] - times[at] < best[at]) best[at] = times[at + 1] - times[at];
  }
  printf("%.9f %.9f %.9f\n", best[0], best[1], best[2]);
  fprintf(stderr, "%ld\n", sum);
  return 0;
}
"""
NODE_DRIVER = """
import { readFileSync } from 'node:fs';
const began = process.cpuUsage();
const spent = (since) => { const { user, system } = process.cpuUsage(since); return (user + system) / 1e6; };
const model = await import('./model.mjs');
model.predict('a first text');
const cold = 1000 * spent(began);
const texts = JSON.parse(readFileSync('texts.json', 'utf8')), seconds = [];
for (let run = 0; run < RUNS; run += 1) {
  const start = process.cpuUsage();
  for (const text of texts) model.predict(text);
  seconds.push(spent(start));
}
console.log(JSON.stringify({ cold, seconds }));
"""
WEB_DRIVER = """
import { readFileSync } from 'node:fs';
const began = process.cpuUsage();
const spent = (since) => { const { user, system } = process.cpuUsage(since); return (user + system) / 1e6; };
const ort = await import('onnxruntime-web');
ort.env.wasm.numThreads = 1;
const session = await ort.InferenceSession.create(readFileSync('model.onnx'), { executionProviders: ['wasm'] });
const batches = JSON.parse(readFileSync('batches.json', 'utf8'));
const inputs = batches.map(([rows, columns, ids, lengths]) => ({
  ids: new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [rows, columns]),
  lengths: new ort.Tensor('int64', BigInt64Array.from(lengths, BigInt), [rows]),
}));
await session.run(inputs[0]);
const cold = 1000 * spent(began), seconds = [];
for (let run = 0; run < RUNS; run += 1) {
  const start = process.cpuUsage();
  for (const each of inputs) await session.run(each);
  seconds.push(spent(start));
}
console.log(JSON.stringify({ cold, seconds }));
"""


def model_of(options, name: str, train) -> RNNClassifier:
    """The paper's LSTM; of the long comments with six epochs."""
    if name != "jigsaw_toxic":
        return trained_model(name, train, options.quick)
    CACHE.mkdir(exist_ok=True)
    path, known = CACHE / f"runtime{'-quick' if options.quick else ''}-{name}.rnn", DATASETS[name]
    if not path.exists():
        settings = {"max_length": known.max_length, "seed": 0}
        Trainer(**settings, epochs=2 if options.quick else 6).train(train).model.save(path)
    return RNNClassifier.load(path)


def automaton(options, name: str, kind: str, model, train) -> WFA:
    path = CACHE / f"runtime{'-quick' if options.quick else ''}-{name}-{kind}.wfa"
    if not path.exists() or WFA.load(path).encoder != model.encoder:
        print(f"extracting {path.name} …", file=sys.stderr)
        if kind == "linear":
            method = Linear(epochs=1 if options.quick else 12)
        else:
            short = {"start_epochs": 3, "epochs": 6, "final_epochs": 3} if options.quick else {}
            method = Readable(**SIZES[kind], **short)
        extract(model, train, method, seed=0).save(path)
    return WFA.load(path)


def sizes(options, name: str, train, test) -> dict[str, object]:
    """The smallest file that reaches the goal; and a bag of words of as many bytes."""
    model = model_of(options, name, train)
    ids = model.encoder.encode(test.texts).nonempty()[1]
    expected = model.trace(ids).last().argmax(1)
    rows = []
    for kind in SIZES:
        wfa = automaton(options, name, kind, model, train)
        full = float((wfa.predict_indices(ids) == expected).mean())
        words = np.arange(2, len(model.encoder.vocabulary), dtype=np.int32)
        words = words[np.argsort(-importance(wfa, words), kind="stable")]
        for budget in BUDGETS:
            tables = make_tables(wfa, words, 8, 1000 * budget, size_of=module_bytes)
            if tables is None:
                continue
            cr = float((outputs(tables, wfa, ids).argmax(1) == expected).mean())
            row = {"kind": kind, "states": wfa.states, "words": len(tables.ids), "cr": cr}
            rows.append(row | {"bytes": module_bytes(tables), "tables": tables.bytes, "cr_full": full})
            if rows[-1]["cr"] >= GOALS[name] or len(tables.ids) >= len(words) * 0.99:
                break
    reached = [row for row in rows if row["cr"] >= GOALS[name]]
    best = min(reached, key=lambda row: row["bytes"]) if reached else max(rows, key=lambda row: row["cr"])
    texts = Bags(model, train, test)
    rivals = {"bag": bag(texts, best["tables"]), "fasttext": fasttext(texts, best["bytes"])}
    rivals["m2cgen"] = m2cgen(texts, best["bytes"])
    return {**best, "goal": GOALS[name], "reached": bool(reached), **rivals}


class Bags:
    """Texts as the network splits them, with the network's classes; those that it cannot read are left out."""

    def __init__(self, model, train, test) -> None:
        self.split = model.encoder.tokens
        (self.train, self.taught), (self.test, self.expected) = (self._answered(model, part) for part in (train, test))

    def _answered(self, model, part) -> tuple[list[list[str]], np.ndarray]:
        ids = model.encoder.encode(part.texts)
        kept = [text for text, length in zip(part.texts, ids.lengths, strict=True) if length]
        return [self.split(text) for text in kept], model.trace(ids.nonempty()[1]).last().argmax(1)

    @cached_property
    def regression(self):
        """A logistic regression, its words with the most important first, and bags of the test texts."""
        counted = CountVectorizer(analyzer=lambda tokens: tokens, binary=True)
        known = counted.fit_transform(self.train)
        rule = LogisticRegression(max_iter=200).fit(known, self.taught)
        weight = np.abs(rule.coef_ - (rule.coef_.mean(0) if len(rule.coef_) > 1 else 0)).sum(0)
        order = np.argsort(-np.asarray(known.sum(0)).ravel() * weight)
        return rule, counted.get_feature_names_out(), order, counted.transform(self.test)

    def cr(self, rule, weights, bags) -> float:
        scores = bags @ weights.T + rule.intercept_
        said = rule.classes_[scores.argmax(1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)]
        return float((said == self.expected).mean())


def bag(texts: Bags, most_bytes: int) -> dict[str, float]:
    """A logistic regression on words, distilled from the network: the heaviest words that fit, with 8-bit weights."""
    rule, names, order, bags = texts.regression

    def size(words: int) -> int:  # the slots of the entries hold the first two weights
        return sum(array.nbytes for array in empty_words(words, True)[1].values()) + (len(rule.coef_) - 2) * words

    kept = bisect_right(range(len(names)), most_bytes, key=size) - 1
    weights, scale = np.zeros_like(rule.coef_), np.abs(rule.coef_).max() / 127
    weights[:, order[:kept]] = np.rint(rule.coef_[:, order[:kept]] / scale) * scale
    return {"words": kept, "cr": texts.cr(rule, weights, bags), "cr_full": texts.cr(rule, rule.coef_, bags)}


def fasttext(texts: Bags, most_bytes: int) -> dict[str, float]:
    """fastText on the network's answers: word vectors, quantized and cut to a size; nothing if it is not installed."""
    try:
        import fasttext as library
    except ImportError:
        return {}
    found = {}
    lines = [" ".join(tokens) + "\n" for tokens in texts.test]

    def answers(trained) -> list[int]:
        return [int(trained.f.predict(line, 1, 0.0, "strict")[0][1].removeprefix("__label__")) for line in lines]

    with tempfile.TemporaryDirectory() as name:
        source, path = Path(name) / "train.txt", Path(name) / "model.ftz"
        taught = zip(texts.taught, texts.train, strict=True)
        source.write_text("".join(f"__label__{label} {' '.join(tokens)}\n" for label, tokens in taught))
        for cut in (500, 1000, 2000, 4000, 8000):
            whole = library.train_supervised(str(source), dim=16, epoch=25, thread=1, seed=0, verbose=0)
            whole.quantize(str(source), cutoff=cut, retrain=True, thread=1, verbose=0)
            whole.save_model(str(path))
            if path.stat().st_size > most_bytes:
                break
            said, seconds = np.array(answers(whole)), median(timed(partial(answers, whole), 3))
            found = {"words": cut, "bytes": path.stat().st_size, "cr": float((said == texts.expected).mean())}
            found["texts_per_second"] = len(lines) / seconds
    return found


def m2cgen(texts: Bags, most_bytes: int) -> dict[str, float]:
    """m2cgen's C of the regression with the words that fit, words included; reading starts from bags that are made."""
    try:
        import m2cgen as library
    except ImportError:
        return {}
    rule, names, order, bags = texts.regression

    def source(words: int) -> str:
        small = LogisticRegression()
        small.classes_, small.intercept_, small.coef_ = rule.classes_, rule.intercept_, rule.coef_[:, order[:words]]
        return library.export_to_c(small)

    def size(words: int) -> int:
        return len(source(words)) + sum(len(name) + 1 for name in names[order[:words]])

    sys.setrecursionlimit(1 << 16)  # it calls itself for every word
    kept = min(len(names), 100 + (most_bytes - size(100)) * 100 // (size(200) - size(100)))
    weights = np.zeros_like(rule.coef_)
    weights[:, order[:kept]] = rule.coef_[:, order[:kept]]
    classes = len(rule.coef_) if len(rule.coef_) > 1 else 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        call = "score(input, output)" if classes > 2 or "double * output" in source(1) else "output[0] = score(input)"
        (folder / "model.c").write_text(
            f"{source(kept)}\nvoid all(double *input, double *output, long texts) {{ "
            f"for (; texts--; input += {kept}) {call}; }}"
        )
        subprocess.run(
            [shutil.which("gcc"), "-O2", "-shared", "-fPIC", "model.c", "-o", "model.so"], cwd=folder, check=True
        )
        run = ctypes.CDLL(str(folder / "model.so")).all
        rows = np.ascontiguousarray(bags[:1000, order[:kept]].toarray(), np.float64)
        output = np.zeros(classes)
        seconds = median(
            timed(
                lambda: run(
                    rows.ctypes.data_as(ctypes.c_void_p),
                    output.ctypes.data_as(ctypes.c_void_p),
                    ctypes.c_long(len(rows)),
                ),
                5,
            )
        )
    return {
        "words": kept,
        "bytes": size(kept),
        "cr": texts.cr(rule, weights, bags),
        "texts_per_second": len(rows) / seconds,
    }


class LastOutput(torch.nn.Module):
    """The network for whole texts: ids and lengths to class distributions."""

    def __init__(self, network) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids, lengths):
        outputs = self.network(ids)
        return torch.softmax(outputs[torch.arange(ids.shape[0]), lengths - 1], 1)


def batches_of(ids) -> list[tuple[np.ndarray, np.ndarray]]:
    order, made = np.argsort(ids.lengths, kind="stable"), []
    for at in range(0, len(order), BATCH):
        part = ids.take(order[at : at + BATCH])
        table = np.zeros((len(part), int(part.lengths.max())), np.int64)
        for row, text in enumerate(part):
            table[row, : len(text)] = text
        made.append((table, part.lengths.astype(np.int64)))
    return made


def timed(run: Callable[[], object], times: int) -> list[float]:
    run()
    found = []
    for _ in range(times):
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return found


def in_turns(runs: dict[str, Callable[[], dict[str, float]]], rounds: int) -> dict[str, dict[str, float]]:
    """Medians of what each run measures when all take turns."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            found[name].append(run())
    return {name: {key: median(turn[key] for turn in turns) for key in turns[0]} for name, turns in found.items()}


def in_process(run: Callable[[], object]) -> Callable[[], dict[str, float]]:
    return lambda: {"ids": min(timed(run, RUNS))}


def onnx_files(model, batches, folder: Path) -> dict[str, Path]:
    import onnx
    from onnxruntime.quantization import quantize_dynamic

    network = LastOutput(model.network).eval()
    example = tuple(torch.from_numpy(part[:2]) for part in batches[-1])
    plain, small = folder / "model.onnx", folder / "int8.onnx"
    axes = {"ids": {0: "batch", 1: "time"}, "lengths": {0: "batch"}}
    torch.onnx.export(
        network, example, plain, input_names=["ids", "lengths"], output_names=["out"], dynamic_axes=axes, dynamo=False
    )
    onnx.checker.check_model(onnx.load(plain))
    quantize_dynamic(plain, small)
    return {"float": plain, "int8": small}


def peers(model, texts, ids, folder: Path) -> dict[str, Callable[[], dict[str, float]]]:
    """The network as others run it, on one thread; and how its texts become ids."""
    import onnxruntime

    torch.set_num_threads(1)
    batches = batches_of(ids)
    expected = model.trace(ids.take(np.argsort(ids.lengths, kind="stable"))).last().argmax(1)
    runs = {"split": lambda: model.encoder.encode(texts), "torch": lambda: model.trace(ids).last()}
    for name, path in onnx_files(model, batches, folder).items():
        how = onnxruntime.SessionOptions()
        how.intra_op_num_threads = how.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(path, how, providers=["CPUExecutionProvider"])

        def run(session=session) -> np.ndarray:
            return np.concatenate(
                [session.run(None, {"ids": table, "lengths": lengths})[0] for table, lengths in batches]
            )

        print(f"onnx {name}: same class as torch {np.mean(run().argmax(1) == expected):.4f}", file=sys.stderr)
        runs[f"onnx_{name}"] = run
    found = {name: in_process(run) for name, run in runs.items()}
    return found | web(batches, folder) if shutil.which("npm") else found


def web(batches, folder: Path) -> dict[str, Callable[[], dict[str, float]]]:
    """ONNX Runtime Web in Node; nothing if it cannot be installed."""
    installed = subprocess.run(
        [shutil.which("npm"), "install", "--no-audit", "--no-fund", "onnxruntime-web"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    if installed.returncode:
        print(f"no onnxruntime-web: {installed.stderr.decode()[-300:]}", file=sys.stderr)
        return {}
    data = [[*table.shape, table.ravel().tolist(), lengths.tolist()] for table, lengths in batches]
    (folder / "batches.json").write_text(json.dumps(data))
    (folder / "web.mjs").write_text(WEB_DRIVER.replace("RUNS", str(RUNS)))
    return {"onnx_web": partial(in_node, "web.mjs", folder)}


def in_node(program: str, folder: Path) -> dict[str, float]:
    ran = subprocess.run([shutil.which("node"), program], cwd=folder, capture_output=True, check=True, text=True)
    answer = json.loads(ran.stdout.splitlines()[-1])
    return {"ids": min(answer["seconds"]), "cold": answer["cold"]}


def ours(wfa: WFA, kind: str, texts: list[str], folder: Path) -> tuple[dict[str, int], dict[str, Callable]]:
    """The exported automaton: its sizes, and its runs in C and in Node."""
    folder = folder / kind
    folder.mkdir()
    source, module = to_c(wfa, bits=8).files, to_js(wfa, bits=8).files[""]
    (folder / "model.c").write_text(source[""])
    (folder / "model.h").write_text(source[".h"])
    (folder / "driver.c").write_text(C_DRIVER)
    built = [shutil.which("gcc") or "gcc", "-std=gnu99", "-O3", "-march=native", "model.c", "driver.c", "-o", "program"]
    subprocess.run(built, cwd=folder, check=True)
    (folder / "model.mjs").write_text(module, encoding="utf-8")
    (folder / "texts.json").write_text(json.dumps(texts))
    (folder / "driver.mjs").write_text(NODE_DRIVER.replace("RUNS", str(RUNS if kind == "linear" else 10 * RUNS)))
    content = "\n".join(texts).encode()

    def in_c() -> dict[str, float]:
        ran = subprocess.run([folder / "program", str(10 * RUNS)], input=content, capture_output=True, check=True)
        return dict(zip(("texts", "ids", "one"), map(float, ran.stdout.split()), strict=True))

    tables = make_tables(wfa, np.arange(1, len(wfa.encoder.vocabulary), dtype=np.int32), 8)
    sizes = {"bytes": len(module.encode()), "tables": tables.bytes}
    return sizes, {f"{kind}_c": in_c, f"{kind}_node": partial(in_node, "driver.mjs", folder)}


def speeds(options, train, test) -> dict[str, object]:
    model = model_of(options, NEWS, train)
    ids = model.encoder.encode(test.texts)
    texts = [text.replace("\n", " ") for text, length in zip(test.texts, ids.lengths, strict=True) if length]
    ids = ids.nonempty()[1]
    expected = model.trace(ids).last().argmax(1)
    result: dict[str, object] = {"texts": len(texts), "tokens": len(ids.values)}
    with tempfile.TemporaryDirectory() as name:
        runs = peers(model, texts, ids, Path(name))
        rivals = [peer for peer in runs if peer != "split"]
        for kind in KINDS:
            wfa = automaton(options, NEWS, kind, model, train)
            sizes_of, own = ours(wfa, kind, texts, Path(name))
            runs |= own
            result[kind] = {**sizes_of, "cr": float((wfa.predict_indices(ids) == expected).mean())}
        found = in_turns(runs, 1 if options.quick else ROUNDS)
    rates = {
        peer: {
            "texts_per_second": len(ids) / (found["split"]["ids"] + found[peer]["ids"]),
            "ids_texts_per_second": len(ids) / found[peer]["ids"],
        }
        for peer in rivals
    }
    if "onnx_web" in rates:
        rates["onnx_web"]["cold_start_ms"] = found["onnx_web"]["cold"]
    native = [rate for peer, rate in rates.items() if peer != "onnx_web"]
    fastest = {key: max(rate[key] for rate in native) for key in ("texts_per_second", "ids_texts_per_second")}
    for kind in KINDS:
        in_c, node = found[f"{kind}_c"], found[f"{kind}_node"]
        row = {
            "c_texts_per_second": len(texts) / in_c["texts"],
            "c_ids_texts_per_second": len(texts) / in_c["ids"],
            "c_one_by_one_per_second": len(texts) / in_c["one"],
            "node_texts_per_second": len(texts) / node["ids"],
            "cold_start_ms": node["cold"],
        }
        row["speedup_c"] = row["c_texts_per_second"] / fastest["texts_per_second"]
        row["speedup_c_ids"] = row["c_ids_texts_per_second"] / fastest["ids_texts_per_second"]
        row["speedup_c_one_by_one"] = row["c_one_by_one_per_second"] / fastest["texts_per_second"]
        if "onnx_web" in rates:
            row["speedup_node"] = row["node_texts_per_second"] / rates["onnx_web"]["texts_per_second"]
        result[kind] |= row
    return {**result, "peers": rates}


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0], lambda parser: parser.add_argument("--only", choices=("sizes", "speed", *GOALS))
    )
    result: dict[str, object] = {}
    for name in [options.only] if options.only in GOALS else GOALS:
        if not is_available(name, options.data):
            print(f"no {name}", file=sys.stderr)
            continue
        train, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
        if options.quick:
            train = train.sample(3000, 0)
        if options.only != "speed":
            row = sizes(options, name, train, test)
            result[name] = row
            rivals = ("bag", "fasttext", "m2cgen")
            own = {key: value for key, value in row.items() if key not in rivals}
            crs = [row[rival].get("cr") for rival in rivals]
            show(f"{name}: the smallest file", [*own, *rivals], [[*own.values(), *crs]])
        if options.only in (None, "speed") and name == NEWS:
            result["speed"] = found = speeds(options, train, test)
            show(
                "peers",
                ["", "texts/s", "from ids"],
                [[peer, *list(each.values())[:2]] for peer, each in found["peers"].items()],
            )
            show("news titles", ["", *found["page"]], [[kind, *found[kind].values()] for kind in KINDS])
    finish(options, result)


if __name__ == "__main__":
    main()
