"""The code in the docs runs, and says what the text says it does."""

import json
import re
import shlex
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open

import wfalens as wl
from tests.automata import linear_sample, sample
from tests.cli.test_app import ALL, parsed
from tests.commands import wfalens
from tests.export.conformance import renamed
from tests.readable import negation
from wfalens import RNNConfig, Stochastic, TextEncoder, extract, wrap
from wfalens.export import FORMATS, unescape
from wfalens.models import Trainer
from wfalens.robustness import learn_machine, minimal_but_for_the_empty_text
from wfalens.text import Corpus, load_dataset, wordllama_vectors
from wfalens.text.datasets import newsroom

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
WRITTEN = [*PAGES, DOCS.parent / "CHANGELOG.md", DOCS.parent / "SECURITY.md"]
RUN_BY_NAME = {"audit.md", "corpora.md", "looking.md", "scale.md", "strings.md", "verification.md"}
SLOW_PAGES = ("looking.md", "scale.md", "strings.md")
RUN_APART = {"tutorial.md", "models.md", "export.md", "explanation.md", "readable.md", "README.md", "shap_queries.md"}
RUN_ELSEWHERE = {"api.md"}  # in test_docstrings


@pytest.mark.slow
def test_the_tutorial_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "tutorial.md").read_text(), re.DOTALL)
    assert len(blocks) == 6
    names: dict[str, object] = {}
    source = (DOCS / "tutorial.md").read_text()
    for block in blocks[:5]:
        exec(block, names)  # noqa: S102 - our own text
    names["wfa"].save("newsroom.wfa")
    exec(blocks[5], names)  # noqa: S102
    assert "'us'" in source
    wfa, senate = names["wfa"], names["senate"]
    assert wfa.class_names[(senate[0] @ wfa.centres).argmax()] == newsroom.TRUTH.topic_of("senate") == "us"
    printed = capsys.readouterr().out
    rates = [float(rate) for rate in re.findall(r"CR (0\.\d+)", printed)]
    assert len(rates) == 4
    assert rates[0] < rates[1] < min(rates[2:])


@pytest.mark.slow
def test_the_examples_of_models_run_and_are_faithful(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "models.md").read_text(), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own text
    rates = [float(rate) for rate in re.findall(r"CR (0\.\d+)", capsys.readouterr().out)]
    assert len(rates) == 2
    assert min(rates) > 0.8


def test_the_whole_example_of_a_torch_module_runs(tmp_path, monkeypatch, capsys):
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    rng, words = np.random.default_rng(0), [f"w{number}" for number in range(20)]
    Path("headtok.py").write_text("def tokenize(text):\n    return text.lower().split('/')\n")
    Path("words.txt").write_text("\n".join(words))
    for name in ("train.csv", "test.csv"):
        texts = ["/".join(rng.choice(words, 5)) for _ in range(60)]
        pd.DataFrame({"text": texts, "label": rng.choice(["ham", "spam"], 60)}).to_csv(name, index=False)
    example = (DOCS / "models.md").read_text().split("### A whole example")[1]
    defined, used = re.findall(r"```\n(.*?)```", example, re.DOTALL)[0].split("train, test =")
    names: dict[str, object] = {}
    exec(defined, names)  # noqa: S102 - our own text
    torch.manual_seed(0)
    torch.save(names["Reader"](len(words) + 2, 2).state_dict(), "weights.pt")
    names["Stochastic"] = Stochastic
    exec("train, test =" + used.replace('time="90s"', "Stochastic(states=4)"), names)  # noqa: S102
    assert "CR " in capsys.readouterr().out
    assert names["wfa"].encoder.tokenizer_name == "headtok:tokenize"
    assert Path("mail.html").stat().st_size > 10_000


def test_the_model_card_of_the_documentation_is_one(tmp_path):
    from wfalens.models import Preprocessing

    (block,) = re.findall(r"```json\n(.*?)```", (DOCS / "models.md").read_text(), re.DOTALL)
    assert Preprocessing.from_json(block, "the page").class_names == ("bad", "good")
    entries = re.findall(r"^\| (`.*?`) \|", (DOCS / "models.md").read_text().split("| entry |")[1], re.MULTILINE)
    told = {name.strip("`") for entry in entries for name in entry.split(", ")}
    assert set(Preprocessing.__dataclass_fields__) <= told


def test_the_page_on_export_runs(tmp_path, monkeypatch, capsys):
    for package in ("onnxruntime", "networkx", "stormpy", "pywrapfst"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    words = ["good", "bad", "don't", "film"]
    wfa = renamed(sample("fit", 1, words=6).wfa, words, ["negative", "positive", "mixed"])
    wfa.save("films.wfa")
    source = (DOCS / "export.md").read_text()
    commands = re.findall(r"^wfalens (export .*)$", source, re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        done = wfalens(*shlex.split(command))
        assert done.returncode == 0, done.stderr
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", source, re.DOTALL)
    assert len(blocks) == 6
    monkeypatch.setattr("wfalens.export.exporters.FORMATS", dict(FORMATS))  # the last block adds a format
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert f"at most {names['answer']:.3f}" in printed
    assert wfa.export("films.arrows").format == "arrows"
    exported = names["subset"](wfa, names["frequent_words"](wfa, 500))
    reached = exported.final[:, 1]
    for _ in range(3):
        reached = (exported.matrices() @ reached).max(0)
    assert names["answer"] == pytest.approx(reached[0])
    assert set(names["advice"]) == set(range(len(exported.states)))
    assert set(names["advice"].values()) <= set(exported.words)
    _, *rows = (line.split("\t") for line in Path("films.drn.syms").read_text().splitlines())
    assert [(unescape(name), int(number)) for name, number in rows] == [
        (word, place + 1) for place, word in enumerate(exported.words)
    ]


def test_the_page_on_queries_of_shapley_values_runs(monkeypatch):
    """The function and the texts of a reader, and a quick extraction, stand in for those that the page leaves open."""
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "shap_queries.md").read_text(), re.DOTALL)
    words = ["a", "moving", "and", "funny", "film", "dull"]
    train = [" ".join(np.random.default_rng(seed).choice(words, 5)) for seed in range(60)]

    def predict_proba(texts: list[str]):
        second = np.array([0.1 + 0.8 * ("funny" in text) for text in texts])
        return np.stack([1 - second, second], 1)

    monkeypatch.setattr(wl, "extract", lambda model, texts: extract(model, texts, Stochastic(states=2)))
    names = {"predict_proba": predict_proba, "train": train}
    exec(block.replace("texts=train)", 'texts=train, reads="text")'), names)  # noqa: S102 - our own text
    assert (names["low"] <= names["found"].values).all()


@pytest.mark.slow
def test_the_page_on_explanation_runs(capsys):
    pytest.importorskip("shap", reason="the page draws with shap")
    source = (DOCS / "explanation.md").read_text()
    assert source.split("\n## ")[1].startswith("SHAP or Captum does not work with my LSTM")
    blocks = re.findall(r"```python\n(.*?)```", source, re.DOTALL)
    assert len(blocks) == 8
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own text
    found, asked = names["found"], names["asked"]
    assert found.label == "us"
    assert found.words[int(found.of_class().argmax())] == "senate"
    assert abs(found.gap).max() < 1e-9
    assert asked.queries <= 25
    assert (names["low"] <= asked.values).all()
    assert abs(names["delta"]).max() < 1e-9
    assert "Shapley values" in capsys.readouterr().out
    for image in re.findall(r"\((images/[^)]+)\)", source):
        assert (DOCS / image).read_bytes()[:4] == b"\x89PNG"


def test_the_page_on_readable_automata_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wfa = negation().wfa
    wfa.save("readable.wfa")
    source = (DOCS / "readable.md").read_text()
    for command in re.findall(r"^wfalens (.*?)(?: +#.*)?$", source, re.MULTILINE):
        name, *arguments = shlex.split(command)
        if name == "extract":  # needs a network
            parsed(f"wfalens {command}")
            continue
        done = wfalens(name, *arguments)
        assert done.returncode == 0, done.stderr
    (block,) = re.findall(r"```python\n(.*?)```", source, re.DOTALL)
    exec(block, {"wfa": wfa})  # noqa: S102 - our own text
    assert (tmp_path / "automaton.svg").read_bytes().startswith(b"<svg")
    for image in re.findall(r"\((images/.*?)\)", source):
        assert (DOCS / image).is_file()


@pytest.mark.slow
def test_the_lines_of_the_readme_run_on_files_of_ones_own(tmp_path, monkeypatch, capsys):
    import csv

    from tests.models.adapters.test_transformer import bert, word_pieces

    monkeypatch.chdir(tmp_path)
    texts = load_dataset("newsroom", "train").texts
    for name, some in (("train.csv", texts[:300]), ("test.csv", texts[300:400])):
        with Path(name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            writer.writerows([text, "ham" if "the" in text.split() else "spam"] for text in some)
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS.parent / "README.md").read_text(), re.DOTALL)
    tokenizer = word_pieces(sorted({word for text in texts for word in text.split()}))
    bert(0, tokenizer, ("ham", "spam"), max_position_embeddings=64).save_pretrained("NAME")
    tokenizer.save_pretrained("NAME")
    exec(block, {})  # noqa: S102 - our own text
    assert capsys.readouterr().out.startswith("CR ")
    assert Path("mail.wfa").is_file()


def commands(page):
    """The lines of a page that call wfalens: continued lines joined; remarks, redirections and forms are left out."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    lines = [re.split(r" #| < ", line)[0].strip() for line in "\n".join(blocks).replace("\\\n", " ").splitlines()]
    return [line for line in lines if re.match(r"wfalens [a-z]", line) and not re.search(r"…|\[--|\bX\b", line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_a_page_has_options_that_exist(page):
    for line in commands(page):
        parsed(line)


OF_BENCHMARKS = {
    "--balance",
    "--data",
    "--files",
    "--grow",
    "--json",
    "--models",
    "--only",
    "--queries",
    "--quick",
    "--texts",
}
OF_OTHER_PROGRAMS = {
    "--arc",
    "--execute",
    "--extra-index-url",
    "--head",
    "--help",
    "--inplace",
    "--no-deps",
    "--strict",
    "--to",
}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "benchmarks.md"], ids=lambda page: page.name)
def test_every_option_that_a_sentence_names_exists(page):
    existing = {name for _, command in ALL for each in command.params for name in (*each.opts, *each.secondary_opts)}
    sentences = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    named = set(re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", sentences))
    assert named - existing <= OF_BENCHMARKS | OF_OTHER_PROGRAMS


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_no_line_that_people_read_is_longer_than_a_hundred_characters(page):
    """Tables, code and the targets of links may be longer."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    lines = [re.sub(r"\]\(.*?\)", "]", line) for line in prose.splitlines() if not line.lstrip().startswith("|")]
    assert [line for line in lines if len(line) > 100] == []


def test_all_python_on_the_pages_is_run_by_a_test():
    with_code = {page.name for page in PAGES if "```python" in page.read_text()}
    assert with_code == RUN_BY_NAME | RUN_APART | RUN_ELSEWHERE


@pytest.fixture(scope="module")
def spam(tmp_path_factory):
    """A folder with files under the names that pages use; a small model of two classes and its automaton."""
    folder = tmp_path_factory.mktemp("docs")
    train, test = (
        Corpus.of(some.texts[:number], [("ham", "spam")[label] for label in some.labels[:number]])
        for some, number in ((load_dataset("opinions", "train"), 900), (load_dataset("opinions", "test"), 300))
    )
    model = Trainer(config=RNNConfig(embedding=12, hidden=12), epochs=4, learning_rate=1e-2).train(train).model
    wfa = extract(model, train, Stochastic(states=8, completion="probe", alpha=0.0, abstraction="outputs"))
    for name in ("films", "mail", "news"):
        model.save(folder / f"{name}.rnn")
        wfa.save(folder / f"{name}.wfa")
    for name, some in {"test": test, "mail": test, "texts/1": train, "held-out/1": test}.items():
        labels = [some.class_names[label] for label in some.labels]
        rows = {"text": some.texts, "label": labels, "country": [("DE", "FR")[row % 2] for row in range(len(some))]}
        (folder / name).parent.mkdir(exist_ok=True)
        table = pd.DataFrame(rows)
        table.to_csv(folder / f"{name}.csv", index=False)
        table.to_parquet(folder / f"{name}.parquet")
    return folder, {"wfa": wfa, "model": model}


def machine_of_ones():
    """An automaton that says whether a text is ones alone, and its machine."""
    texts = [" ".join(letters) for length in (1, 2, 3, 4) for letters in product("01", repeat=length)]

    def only_ones(token_lists):
        yes = np.array([0.9 if set(letters) == {"1"} else 0.1 for letters in token_lists])
        return np.stack([1 - yes, yes], axis=1)

    model = wrap(only_ones, vocab=TextEncoder.of_texts(texts, "whitespace"), classes=("no", "yes"), reads="tokens")
    wfa = extract(model, texts, Stochastic(states=2, completion="probe", alpha=0.0, abstraction="outputs"))
    return {"wfa": wfa, "known": minimal_but_for_the_empty_text(learn_machine(wfa, ("0", "1")).machine)}


@pytest.mark.parametrize(
    "name",
    ["audit.md", "corpora.md", "verification.md", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_PAGES)],
)
def test_the_python_of_a_page_runs_on_files_of_these_names(name, spam, monkeypatch, capsys):
    folder, names = spam
    monkeypatch.chdir(folder)
    known = {**names, "corpus": load_dataset("opinions", "test").subset(np.arange(100))}
    known["vectors"] = wordllama_vectors(known["wfa"].encoder.vocabulary.words[2:])
    if name == "strings.md":
        known = {"names": Corpus.of(["anna", "otto", "hannah", "bob"] * 20), "test_names": ["anna", "nah"]}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(), re.DOTALL):
        if "learn_machine" in block:  # about machines over two letters
            known |= machine_of_ones()
        exec(block, known)  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert printed.strip() or name in ("strings.md", "looking.md")


def test_the_page_on_files_names_every_tensor_and_entry(tmp_path):
    told = (DOCS / "reference" / "files.md").read_text()
    linear = linear_sample(0).wfa
    samples = [sample("fit", 0).wfa, sample("probe", 0).wfa, sample("empirical", 0).wfa, negation().wfa, linear]
    for number, wfa in enumerate(samples):
        wfa.save(tmp_path / f"{number}.wfa")
        with safe_open(tmp_path / f"{number}.wfa", "np") as file:
            names, header = list(file.keys()), json.loads(file.metadata()["wfalens"])
        families = {
            f"`{name.split('.')[0]}.…`" if name.startswith(("probed", "fitted")) else f"`{name}`" for name in names
        }
        shared = {f"`shared.{part}`" for part in ("per_word", "state", "entries", "target", "weight")}
        assert [name for name in families - shared if name not in told] == []
        assert [name for name in header if f"`{name}`" not in told] == []
