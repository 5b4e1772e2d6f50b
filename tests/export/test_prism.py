"""PRISM programs and explicit files as Storm reads them."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from tests.automata import sample
from tests.export.conformance import ExporterConformance, by_matrices, symbol_table, write
from tests.export.storm import StormConformance
from wfalens.export import unescape
from wfalens.export.symbols import CLASS


class TestPrism(StormConformance):
    def reading(self, wfa, folder, **choice):
        stormpy = pytest.importorskip("stormpy", reason="needs the extra verify")
        path = write(wfa, folder, "prism", "model.prism", **choice)
        program = stormpy.parse_prism_program(str(path))
        model = stormpy.build_model(program, options=stormpy.BuilderOptions(build_full=True))
        names = dict.fromkeys(re.findall(r"^  \[(\w+)\]", path.read_text(), re.MULTILINE))
        values = [json.loads(str(model.state_valuations.to_json(state.id)))["s"] for state in model.states]
        return self.read_model(wfa, model, [unescape(name) for name in names], values, folder)


class TestPrismExplicit(ExporterConformance):
    """PRISM's files differ from Storm's explicit ones in their head lines only: those are put in its form."""

    def reading(self, wfa, folder, **choice):
        stormpy = pytest.importorskip("stormpy", reason="needs the extra verify")
        write(wfa, folder, "prism-explicit", "model.tra", **choice)
        head, *rows = (folder / "model.tra").read_text().splitlines()
        n, choices, transitions = map(int, head.split())
        assert len(rows) == transitions
        assert (folder / "model.sta").read_text().splitlines() == ["(s)", *(f"{state}:({state})" for state in range(n))]
        words = list(dict.fromkeys(unescape(row.split()[-1]) for row in rows))
        assert symbol_table(folder).words == tuple(words)
        assert choices == n * len(words)
        transitions_file, labels_file, rewards_file = (folder / f"storm.{end}" for end in ("tra", "lab", "rew"))
        transitions_file.write_text("mdp\n" + "".join(row.rpartition(" ")[0] + "\n" for row in rows))
        self.labels_for_storm(folder / "model.lab", labels_file)
        final = np.zeros((n, len(wfa.class_names)))
        for label, name in enumerate(wfa.class_names):
            named, kind, sizes, *held = (folder / f"model{label + 1}.srew").read_text().splitlines()
            assert unescape(named.split('"')[1], CLASS) == name
            assert (kind, sizes) == ("# State rewards", f"{n} {len(held)}")
            rewards_file.write_text("\n".join(held))
            model = stormpy.build_model_from_explicit(
                str(transitions_file), str(labels_file), state_rewards=str(rewards_file)
            )
            (reward,) = model.reward_models.values()
            final[:, label] = reward.state_rewards
        matrices = np.zeros((len(words), n, n))
        for state in model.states:
            for word, action in enumerate(state.actions):
                for entry in action.transitions:
                    matrices[word, state.id, entry.column] = entry.value
        (start,) = model.initial_states
        return by_matrices(words, matrices, np.eye(n)[start], final)

    def labels_for_storm(self, path, target):
        head, *rows = path.read_text().splitlines()
        names = dict(re.findall(r'(\d+)="(\w+)"', head))
        body = [re.sub(r"(?<= )\d+", lambda found: names[found[0]], row.replace(":", "")) for row in rows]
        target.write_text("\n".join(["#DECLARATION", " ".join(names.values()), "#END", *body]) + "\n")

    @pytest.mark.skipif(shutil.which("prism") is None, reason="PRISM is not installed")
    def test_prism_itself_reads_the_files(self, tmp_path):
        write(sample("null", 0).wfa, tmp_path, "prism-explicit", "model.tra")
        question = 'R{"class_c0"}max=? [ I=2 ]'
        command = ["prism", "-importmodel", "model.all", "-mdp", "-pf", question]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "Result:" in done.stdout
