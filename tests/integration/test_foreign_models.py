"""Models and automata from elsewhere: opening one runs no code that comes with it and reads no file but its own."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.automata import sample
from tests.commands import wfalens
from tests.errors import raises
from tests.models.adapters.test_transformer import LETTERS, bert
from wfalens.cli.app import PHASES, load_command
from wfalens.models import wrap

CODE = """
from pathlib import Path
Path({canary!r}).write_text("code that came with a model ran")
from transformers import BertConfig as Config, BertForSequenceClassification as Model, BertTokenizer as Reader
"""


def leaves(command, path):
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
    for name, each in (inner or {}).items():
        yield from leaves(each, (*path, name))


def commands_with_models():
    """Every command that can open a model, by its words, with its parameters."""
    for phase in PHASES.values():
        for name in phase:
            for path, command in leaves(load_command(name), (name,)):
                if {"model", "source"} & {each.name for each in command.params}:
                    yield path, command.params


COMMANDS = dict(commands_with_models())
WFA = sample("empirical", 0).wfa


def arguments(path, model):
    """The least that a command needs, with a model."""
    given = {"model": model, "source": model, "automaton": "letters.wfa", "before": "letters.wfa", "out": "out"}
    given |= {"after": "letters.wfa", "text": "a b", "words": "words.txt", "classes": "x,y"}
    for each in COMMANDS[path]:
        if each.required or each.name in ("model", "source"):
            value = given.get(each.name, "texts.csv")
            yield from [value] if each.param_type_name == "argument" else [each.opts[0], value]


@pytest.fixture
def folder(tmp_path):
    WFA.save(tmp_path / "letters.wfa")
    (tmp_path / "texts.csv").write_text("text,label\n" + "a b c,x\nc b,y\na a,x\n" * 5)
    (tmp_path / "words.txt").write_text("<pad>\n<unk>\na\nb\n")
    bert(0, LETTERS).save_pretrained(tmp_path / "model")
    LETTERS.save_pretrained(tmp_path / "model")
    return tmp_path


def changed(path, **entries):
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


def with_code(folder, **config):
    """The folder of a model that brings code for its configuration, network and tokenizer; the canary shows a run."""
    canary, model = folder / "canary", folder / "model"
    (model / "own.py").write_text(CODE.format(canary=str(canary)))
    names = {"AutoConfig": "own.Config", "AutoModelForSequenceClassification": "own.Model"}
    changed(model / "config.json", auto_map=names, **config)
    changed(model / "tokenizer_config.json", auto_map={"AutoTokenizer": ["own.Reader", "own.Reader"]})
    return canary


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_no_command_runs_the_code_of_a_model_whatever_standard_input_says(folder, path):
    canary = with_code(folder, model_type="own")
    done = wfalens(*path, *arguments(path, "hf:model"), cwd=folder, stdin="y\n" * 20)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert not canary.exists()
    assert "[y/N]" not in done.stdout + done.stderr


def test_a_known_network_that_brings_code_is_read_without_it(folder):
    canary = with_code(folder)
    assert np.isfinite(wrap(f"hf:{folder / 'model'}", vocab=WFA.encoder).predict_proba(["a b"])).all()
    assert not canary.exists()


def test_pickled_weights_get_one_sentence(folder):
    (folder / "model" / "model.safetensors").rename(folder / "model" / "pytorch_model.bin")
    with raises("pickled-weights", match="safetensors"):
        wrap(f"hf:{folder / 'model'}", vocab=WFA.encoder)


@pytest.mark.parametrize("place", ["../other.safetensors", "/other.safetensors", "other.bin"])
def test_weights_in_other_places_are_not_read(folder, place):
    weights = load_file(folder / "model" / "model.safetensors")
    save_file(weights, folder / "other.safetensors", {"format": "pt"})
    (folder / "model" / "model.safetensors").unlink()
    index = {"metadata": {}, "weight_map": dict.fromkeys(weights, place)}
    (folder / "model" / "model.safetensors.index.json").write_text(json.dumps(index))
    with raises("foreign-file"):
        wrap(f"hf:{folder / 'model'}", vocab=WFA.encoder)


def test_an_adapter_that_names_another_model_is_refused(folder):
    (folder / "model" / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "/elsewhere"}))
    with raises("foreign-file"):
        wrap(f"hf:{folder / 'model'}", vocab=WFA.encoder)


def test_kernels_from_elsewhere_are_refused(folder):
    changed(folder / "model" / "config.json", attn_implementation="somebody/attention")
    with raises("foreign-file"):
        wrap(f"hf:{folder / 'model'}", vocab=WFA.encoder)
