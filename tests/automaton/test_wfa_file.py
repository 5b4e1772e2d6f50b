"""The .wfa file: identity through save and load, equal bytes, and refusal of everything damaged."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given

from tests.automata import linear_sample, sample, samples
from tests.files import contents, without_checksums, write_contents
from wfalens.automaton import WFA, Fitted, Probe, Shared
from wfalens.errors import FormatError, InputError


def assert_same(first, second):
    assert first.kind == second.kind
    assert first.encoder == second.encoder
    assert first.class_names == second.class_names
    assert first.alpha == second.alpha
    assert first.provenance == second.provenance
    for name in ("centres", "state_visits", "word_counts"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for one, two in zip(first.rows, second.rows, strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.dtype == two.dtype
    if isinstance(first.completion, Probe | Fitted):
        for name in ("strength", "representatives", "drift"):
            assert getattr(first.completion, name, None) == getattr(second.completion, name, None)
        for one, two in zip(first.completion.rows, second.completion.rows, strict=True):
            np.testing.assert_array_equal(one, two)
    elif isinstance(first.completion, Shared):
        for name in ("word_class", "visits", "typicality"):
            np.testing.assert_array_equal(getattr(first.completion, name), getattr(second.completion, name))
        for one, two in zip(first.completion.rows, second.completion.rows, strict=True):
            np.testing.assert_array_equal(one, two)
    else:
        assert first.completion == second.completion


@given(samples())
def test_load_of_save_is_identity_and_bytes_are_stable(tmp_path_factory, item):
    folder = tmp_path_factory.mktemp("wfa")
    item.wfa.save(folder / "a.wfa")
    loaded = WFA.load(folder / "a.wfa")
    assert_same(item.wfa, loaded)
    loaded.save(folder / "b.wfa")
    assert (folder / "a.wfa").read_bytes() == (folder / "b.wfa").read_bytes()


def test_a_fingerprint_tells_automata_apart_but_not_where_they_come_from(tmp_path):
    wfa = sample("empirical", 0).wfa
    wfa.save(tmp_path / "a.wfa")
    moved = WFA.load(tmp_path / "a.wfa")
    moved.provenance["corpus"] = "elsewhere"
    assert moved.fingerprint == wfa.fingerprint
    others = [sample("empirical", 1).wfa, sample("uniform", 0).wfa, wfa.with_rule(0.123, wfa.completion)]
    assert len({wfa.fingerprint, *(other.fingerprint for other in others)}) == 4


def test_words_with_any_characters_survive(tmp_path):
    from dataclasses import replace

    from wfalens.automaton import StochasticWFA
    from wfalens.text import Vocabulary

    wfa = sample("uniform", 0, words=9).wfa
    words = ["don't", "\n", '"', "\\", "👩‍👩‍👧", "e\u0301", "\ud800"]
    encoder = replace(wfa.encoder, vocabulary=Vocabulary.of_words(words))
    fields = ("class_names", "centres", "rows", "completion", "alpha", "state_visits", "word_counts")
    changed = StochasticWFA(encoder=encoder, **{name: getattr(wfa, name) for name in fields})
    changed.save(tmp_path / "a.wfa")
    assert WFA.load(tmp_path / "a.wfa").encoder.vocabulary.words[2:] == tuple(words)


@pytest.fixture
def parts(tmp_path):
    """Tensors and header of a good file, and a way to write them back changed."""
    sample("probe", 4, n=6, words=9).wfa.save(tmp_path / "good.wfa")
    tensors, header = contents(tmp_path / "good.wfa")
    return tensors, header, lambda: write_contents(tmp_path / "bad.wfa", tensors, header)


def test_the_unchanged_parts_load(parts):
    assert WFA.load(parts[2]()).kind == "stochastic"


DAMAGE = {
    "state out of range": lambda t, h: t["rows.state"].__setitem__(0, 200),
    "target out of range": lambda t, h: t["rows.target"].__setitem__(-1, 99),
    "probed target out of range": lambda t, h: t["probed.target"].__setitem__(0, 255),
    "NaN weight": lambda t, h: t.update({"rows.weight": np.full(len(t["rows.weight"]), np.nan, np.float32)}),
    "zero weight": lambda t, h: t["rows.weight"].__setitem__(0, 0),
    "NaN centre": lambda t, h: t["centres"].__setitem__((0, 0), np.nan),
    "centres do not sum to 1": lambda t, h: t["centres"].__setitem__((0, 0), 5.0),
    "negative centre": lambda t, h: t["centres"].__setitem__((0, slice(0, 2)), [-0.5, 1.5]),
    "centres of wrong shape": lambda t, h: t.update({"centres": t["centres"][:, :1]}),
    "fewer centres": lambda t, h: t.update({"centres": t["centres"][:3]}),
    "rows cut": lambda t, h: t.update({"rows.state": t["rows.state"][:-1]}),
    "entries cut": lambda t, h: t.update({"rows.target": t["rows.target"][:-1]}),
    "weights cut": lambda t, h: t.update({"rows.weight": t["rows.weight"][:-1]}),
    "unsorted rows": lambda t, h: t.update({"probed.state": t["probed.state"][::-1].copy()}),
    "float states": lambda t, h: t.update({"rows.state": t["rows.state"].astype(np.float32)}),
    "words cut": lambda t, h: t.update({"alphabet_lengths": t["alphabet_lengths"][:-1]}),
    "words not UTF-8": lambda t, h: t["alphabet_bytes"].__setitem__(slice(None), 255),
    "words longer than their bytes": lambda t, h: t["alphabet_lengths"].__setitem__(2, 200),
    "word counts cut": lambda t, h: t.update({"word_counts": t["word_counts"][:-1]}),
    "visits of wrong length": lambda t, h: t.update({"state_visits": t["state_visits"][:-1]}),
    "missing tensor": lambda t, h: t.pop("rows.weight"),
    "no kind": lambda t, h: h.pop("kind"),
    "unknown kind": lambda t, h: h.update(kind="magic"),
    "future version": lambda t, h: h.update(version=99),
    "other format": lambda t, h: h.update(format="rnn"),
    "alpha above 1": lambda t, h: h.update(alpha=1.5),
    "alpha as text": lambda t, h: h.update(alpha="high"),
    "unknown completion": lambda t, h: h.update(completion={"name": "guess"}),
    "completion without strength": lambda t, h: h.update(completion={"name": "probe"}),
    "huge alpha": lambda t, h: h.update(alpha=10**400),
    "alpha not a number": lambda t, h: h.update(alpha=float("nan")),
    "alpha true": lambda t, h: h.update(alpha=True),
    "version true": lambda t, h: h.update(version=True),
    "infinite strength": lambda t, h: h["completion"].update(strength=float("inf")),
    "representatives as text": lambda t, h: h["completion"].update(representatives="many"),
    "observed but not probed": lambda t, h: t.update(
        {
            "probed.per_word": np.zeros_like(t["probed.per_word"]),
            **{f"probed.{part}": t[f"probed.{part}"][:0] for part in ("state", "entries", "target", "weight")},
        }
    ),
    "weights beyond single precision": lambda t, h: t.update({"rows.weight": np.full(len(t["rows.weight"]), 1e300)}),
    "weights that vanish in single precision": lambda t, h: t.update(
        {"rows.weight": np.full(len(t["rows.weight"]), 1e-300)}
    ),
    "entries that overflow": lambda t, h: t.update({"rows.entries": np.full(len(t["rows.entries"]), 2**63, np.uint64)}),
    "visits out of range": lambda t, h: t.update({"state_visits": np.full(6, 2**64 - 1, np.uint64)}),
    "words wider than bytes": lambda t, h: t.update({"alphabet_bytes": t["alphabet_bytes"].astype(np.uint16)}),
    "one class": lambda t, h: h.update(class_names=["only"]),
    "class names not text": lambda t, h: h.update(class_names=[1, 2]),
    "unknown tokenizer": lambda t, h: h.update(tokenizer="rot13"),
    "negative max_length": lambda t, h: h.update(max_length=-3),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused_with_one_sentence(parts, name):
    tensors, header, write = parts
    DAMAGE[name](tensors, header)
    with pytest.raises(FormatError, match=r"bad\.wfa") as caught:
        WFA.load(write())
    assert "\n" not in str(caught.value)


def test_every_truncation_is_refused(tmp_path):
    sample("empirical", 4).wfa.save(tmp_path / "good.wfa")
    blob = (tmp_path / "good.wfa").read_bytes()
    for length in range(0, len(blob), max(1, len(blob) // 60)):
        (tmp_path / "cut.wfa").write_bytes(blob[:length])
        with pytest.raises(FormatError):
            WFA.load(tmp_path / "cut.wfa")


def test_random_bytes_never_load_or_crash(tmp_path):
    sample("probe", 4).wfa.save(tmp_path / "good.wfa")
    blob = bytearray(without_checksums(tmp_path / "good.wfa"))
    rng = np.random.default_rng(0)
    for _ in range(300):
        changed = blob.copy()
        for place in rng.integers(len(blob), size=3):
            changed[place] = rng.integers(256)
        (tmp_path / "odd.wfa").write_bytes(changed)
        try:
            wfa = WFA.load(tmp_path / "odd.wfa")
        except FormatError:
            continue
        assert np.isfinite(wfa.predict_proba(["w0 w1 w2"])).all()


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path, monkeypatch):
    path = tmp_path / "a.wfa"
    sample("uniform", 0).wfa.save(path)
    before = path.read_bytes()

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="No space left"):
        sample("uniform", 1).wfa.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.wfa"]


def test_prediction_from_a_file_imports_neither_torch_nor_sklearn(tmp_path):
    paths = [tmp_path / "stochastic.wfa", tmp_path / "linear.wfa"]
    for path, made in zip(paths, (sample("probe", 4), linear_sample(4)), strict=True):
        made.wfa.save(path)
    program = (
        "import sys; from wfalens import WFA\n"
        "for path in sys.argv[1:]: wfa = WFA.load(path); wfa.predict_proba(['w0 w1']); wfa.walk('w0')\n"
        "print([name for name in ('torch', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program, *map(str, paths)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
