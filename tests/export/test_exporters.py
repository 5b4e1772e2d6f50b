"""Formats by their names: what a module has to bring, and what is rejected."""

import pytest

from tests.automata import carrier, linear_sample, sample
from tests.errors import raises
from tests.export.conformance import ExporterConformance, by_matrices, write
from wfalens.automaton import StochasticWFA
from wfalens.export import FORMATS, Subset, export_files, exporter, unescape
from wfalens.export.symbols import chosen, escape, lines, numbers

# The worked example of docs/export.md: all that a new format needs ---------------------------------------------------


@exporter("arrows", suffixes=(".arrows",), stochastic=True)
def to_arrows(part: Subset, *, arrow: str = "->") -> str:
    """A line for every transition: source, arrow, target, word, weight."""
    states = [str(state) for state in range(len(part.states))]
    names = [escape(word) for word in part.words]
    columns = chosen(states, part.source), f" {arrow} ", chosen(states, part.target), " "
    return lines(*columns, chosen(names, part.word), " ", numbers(part.weight), "\n")


class TestArrows(ExporterConformance):
    """The tool that reads it is five lines long; class weights have no place in this format: they are ours."""

    def reading(self, wfa, folder, **choice):
        import numpy as np

        from wfalens.export import subset

        part = subset(wfa, **choice)
        matrices = np.zeros((len(part.words), len(part.states), len(part.states)))
        for line in write(wfa, folder, "arrows", "model.arrows", **choice).read_text().splitlines():
            source, _, target, name, weight = line.split()
            matrices[part.words.index(unescape(name)), int(source), int(target)] = float(weight)
        return by_matrices(part.words, matrices, part.initial, part.final)


# ---------------------------------------------------------------------------------------------------------------------


def test_a_registered_format_is_known_by_its_name_and_ending_and_takes_its_own_options(tmp_path):
    wfa = sample("fit", 0).wfa
    done = wfa.export(tmp_path / "out.arrows", words=2, arrow="=>")
    assert done.format == "arrows"
    assert done.words == 3  # <unk> and the two most frequent
    assert (tmp_path / "out.arrows").read_text().count(" => ") == done.transitions
    assert done.to_dict()["files"] == [
        {"file": str(tmp_path / "out.arrows"), "bytes": (tmp_path / "out.arrows").stat().st_size}
    ]
    with raises("unknown-option"):
        wfa.export(tmp_path / "out.json", arrow="=>")


def test_what_names_no_format_is_rejected_and_nothing_is_written(tmp_path):
    wfa = sample("fit", 0).wfa
    for path, name in (("out.xyz", None), ("out.dot", "xml")):
        with raises("unknown-format"):
            wfa.export(tmp_path / path, name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if each.stochastic])
def test_formats_of_probabilities_get_the_readable_automaton_of_a_linear_one(tmp_path, name):
    options = {"class_name": carrier(0).class_names[0]} if name == "openfst" else {}
    done = export_files(carrier(0), tmp_path / "out", name, **options)
    assert done.kind == StochasticWFA.kind
    assert "readable" in done.remark
    with raises("real-weights"):
        export_files(linear_sample(0).wfa, tmp_path / "out", name, **options)


def test_an_export_prints_in_a_line_without_the_words(tmp_path):
    done = export_files(sample("fit", 0).wfa, tmp_path / "out.drn")
    assert str(done).startswith(f"{tmp_path / 'out.drn'}, {tmp_path / 'out.drn.syms'} (")
    assert len(str(done)) < 2000
