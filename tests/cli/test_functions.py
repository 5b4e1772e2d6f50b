"""The plain function behind each command: called from Python, it works and prints nothing."""

import inspect
import re
from importlib import import_module

import pytest

from tests.streams import some_labels, some_texts, write_texts
from wfalens.cli.app import PHASES
from wfalens.cli.legacy.evaluate import evaluate
from wfalens.cli.legacy.explain import explain, explain_text
from wfalens.cli.legacy.export import export
from wfalens.cli.legacy.extract import extract
from wfalens.cli.legacy.inputs import Reader
from wfalens.cli.legacy.predict import predict
from wfalens.cli.legacy.streams import Shards
from wfalens.cli.legacy.train import train, train_cli
from wfalens.cli.legacy.walk import walk
from wfalens.cli.legacy.words import WordChoice
from wfalens.errors import InputError
from wfalens.models.rnn.classifier import RNNConfig
from wfalens.models.rnn.training import Trainer
from wfalens.progress import Progress, shown_on

SMALL = {"embedding": 8, "hidden": 8}
ROWS = {"states": 4, "completion": "empirical", "alpha": 0.4, "beta": 0.3, "abstraction": "outputs"}


class Heard(Progress):
    def __init__(self):
        self.said = []

    def say(self, message):
        self.said.append(message)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("functions")
    write_texts(folder / "texts.csv", [*some_texts(80), "  "], some_labels(81))
    train(str(folder / "texts.csv"), folder / "a.rnn", network=SMALL, epochs=2, tokenizer="whitespace")
    extract(str(folder / "a.rnn"), str(folder / "texts.csv"), folder / "a.wfa", options=ROWS)
    return folder


@pytest.mark.parametrize("name", [name for commands in PHASES.values() for name in commands if name != "data"])
def test_every_command_is_a_parser_and_a_plain_function_of_its_name(name):
    own = name.replace("-", "_")
    module = import_module(f"wfalens.cli.legacy.{own}")
    plain, parser = getattr(module, own), getattr(module, f"{own}_cli")
    for function in (plain, parser):
        assert function.__module__ == module.__name__
        assert inspect.getdoc(function)
    assert not re.search(r"\btyper\b|\bprint|(?<!progress\.)\bsay\(|\bnote\(", inspect.getsource(plain))


def test_a_whole_session_from_python_prints_nothing(folder, capfd):
    heard = Heard()
    texts, model = str(folder / "texts.csv"), str(folder / "a.rnn")
    with shown_on(heard):
        done = train(texts, folder / "b.rnn", test=texts, network=SMALL, epochs=1)
    assert 0 <= done.test_accuracy <= 1
    assert set(heard.said) == {f"left out 1 rows ({texts}: line 82: empty text)"}
    made = extract(model, texts, folder / "b.wfa", options=ROWS)
    assert made.wfa.states == 5
    assert evaluate(folder / "a.wfa", model, texts).fidelity.overall.texts == 80
    (answer,) = predict(folder / "a.wfa", ["w1 w2"])
    assert answer.label == walk(folder / "a.wfa", "w1 w2").way.label
    assert explain_text(folder / "a.wfa", "w1 w2").found.words == ("w1", "w2")
    assert explain(folder / "a.wfa", ["w1"]).words == ("w1",)
    written = export(folder / "a.wfa", folder / "a.drn", "drn", words=WordChoice(["w1 w2"]))
    assert written.words == 2
    assert capfd.readouterr() == ("", "")


def test_the_parser_of_train_has_the_trainers_own_defaults():
    given = {name: each.default for name, each in inspect.signature(train_cli).parameters.items()}
    trainer, config = Trainer(), RNNConfig()
    for name in ("epochs", "patience", "batch_size", "learning_rate", "validation", "min_count", "seed"):
        assert given[name] == getattr(trainer, name)
    assert given["balance"] == trainer.balance_classes
    for name in ("cell", "embedding", "hidden", "layers", "dropout"):
        assert given[name] == getattr(config, name)


def test_vectors_reach_a_linear_automaton_if_they_are_given(folder):
    (folder / "vectors.txt").write_text("".join(f"w{at} {at / 9:.3f} {at % 7 / 9:.3f}\n" for at in range(60)))
    options = {"kind": "linear", "states": 4}
    files = (str(folder / "a.rnn"), str(folder / "texts.csv"))
    plain = extract(*files, folder / "p.wfa", options=options, distillation={"epochs": 1})
    told = extract(
        *files, folder / "v.wfa", options=options, distillation={"epochs": 1}, vectors=str(folder / "vectors.txt")
    )
    assert (plain.wfa.provenance["parameters"]["vectors"], told.wfa.provenance["parameters"]["vectors"]) == (
        None,
        "vectors.txt",
    )
    assert (folder / "p.wfa").read_bytes() != (folder / "v.wfa").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"vectors": "wordllama", "options": {"kind": "readable"}},
            "--vectors are for augmentation and for linear automata",
        ),
        ({"augmentation": {"replace": 0.1}}, "replace of augmentation without any epoch of it; give --augment too"),
        ({"shards": Shards(workers=2)}, "--workers is about corpora in shards; give --memory or --engine too"),
        ({"shards": Shards(on_bad="skip")}, "--on-bad is about corpora in shards"),
    ],
)
def test_options_that_nothing_would_use_are_refused(folder, options, message):
    with pytest.raises(InputError, match=message):
        extract(str(folder / "a.rnn"), str(folder / "texts.csv"), folder / "no.wfa", **options)


def test_a_reader_knows_data_sets_files_and_neither():
    assert Reader().corpus("tomita1:test", "train").name == "tomita1:test"
    assert Reader().corpus("tomita1", "train").name == "tomita1:train"
    with pytest.raises(InputError, match="no such file, and no data set of that name"):
        Reader().corpus("nothing", "train")
