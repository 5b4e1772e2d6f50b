"""The card of an automaton: what it was made from, how texts are read, how faithful it is, what is known to be wrong.

As data (`to_dict`) and as Markdown. What was not measured is absent, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation import Agreement, Fidelity, GroupReport
from wfalens.explanation.findings import Findings
from wfalens.messages import visible
from wfalens.models.contract import is_language_model
from wfalens.report.study import Study
from wfalens.results import Result

_UNMEASURED = "not measured: this takes the classifier and texts that extraction has not seen"
_NO_GROUPS = "not compared: no groups of texts were given"
_MOST_GAPS = 5
_DATA = {"name": "extracted from", "texts": "texts", "tokens": "words", "left_out": "texts left out"}
_OTHER_WORDS = {True: "rejected: the alphabet is closed", False: "read as one unknown word"}
_FIGURES = re.compile(r"[-+–\d.,\[\] %]*")
_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#"})


@dataclass(frozen=True, eq=False, repr=False)
class AutomatonCard(Result):
    """The contents of a card; `fidelity` is None where it was not measured."""

    name: str
    wfa: WFA
    fidelity: Fidelity | None = None
    texts: str | None = None  # what the fidelity was measured on
    findings: Findings | None = None  # about the model; None without model and texts, and of language models

    @classmethod
    def of_study(cls, study: Study, **groups: Any) -> AutomatonCard:
        """The card of an automaton whose fidelity is measured, by groups as well, if there are model and texts.

        `groups` are `groups`, `group_column` and `positive` of `wfa.fidelity`.
        """
        if study.model is None or study.corpus is None:
            if groups.get("groups") is not None:
                raise InputError("comparing groups takes the classifier and texts", code="no-model")
            return cls(study.name, study.wfa)
        fidelity = study.wfa.fidelity(study.model, study.corpus, reference=study.reference, seed=study.seed, **groups)
        found = None if is_language_model(study.wfa) else study.findings
        return cls(study.name, study.wfa, fidelity, study.corpus.name, found)

    def rows(self) -> list[dict[str, Any]]:
        """The measured agreement of the automaton and of its baselines."""
        if self.fidelity is None:
            return []
        return [
            {"model": name, "CR": each.cr.value, "JSD": each.jsd.value, "texts": each.texts}
            for name, each in _measured(self.fidelity).items()
        ]

    @property
    def title(self) -> str:
        return f"Card of {self.name}"

    def summary(self) -> str:
        return self.title if self.fidelity is None else f"{self.title}: {self.fidelity.overall}"

    def to_dict(self) -> dict[str, Any]:
        """What is missing on the card is None, and the reason stands under "absent"."""
        provenance, encoder = self.wfa.provenance, self.wfa.encoder
        model, data = (
            dict(part) if isinstance(part := provenance.get(name), dict) else None for name in ("model", "corpus")
        )
        groups = None if self.fidelity is None else self.fidelity.by_group
        reasons = {
            "fidelity": _UNMEASURED if self.fidelity is None else None,
            "groups": None if groups is not None else _UNMEASURED if self.fidelity is None else _NO_GROUPS,
            "findings": _UNMEASURED if self.findings is None else None,
            "data": "the file does not record what it was extracted from" if data is None else None,
        }
        return {
            "name": self.name,
            "automaton": {
                "kind": self.wfa.kind,
                "fingerprint": self.wfa.fingerprint,
                **self.wfa.summary(),
                "versions": provenance.get("versions") or {},
            },
            "model": {**(model or {}), "classes": list(self.wfa.class_names)},
            "data": data,
            "preprocessing": {
                "tokenizer": encoder.tokenizer_name,
                "max_length": encoder.max_length,
                "truncation_side": None if encoder.max_length is None else encoder.truncation_side,
                "width": width if type(width := (model or {}).get("width")) is int else None,
                "padding_side": (model or {}).get("padding_side"),
                "closed": encoder.closed,
                "words": len(encoder.vocabulary),
                "words_seen": int((self.wfa.word_counts > 0).sum()),
            },
            "fidelity": None if self.fidelity is None else {"texts": self.texts, **self.fidelity.to_dict()},
            "groups": None if groups is None else groups.to_dict(),
            "findings": None if self.findings is None else self.findings.to_dict(),
            "absent": {name: reason for name, reason in reasons.items() if reason is not None},
        }

    def to_markdown(self) -> str:
        """One page; all names and words are escaped."""
        card, groups = self.to_dict(), None if self.fidelity is None else self.fidelity.by_group
        model, data, read, absent = (card[name] for name in ("model", "data", "preprocessing", "absent"))
        padded = "never" if read["width"] is None else f"on the {read['padding_side']}, to {read['width']:,} tokens"
        sections: dict[str, list[str] | dict[str, object]] = {
            "Model": {
                "kind of network": model.get("type", "not recorded"),
                "fingerprint": model.get("fingerprint", "not recorded"),
                "classes": ", ".join(model["classes"]),
                "automaton": f"{self.wfa.kind}, {self.wfa.states:,} states, {self.wfa.fingerprint}",
            },
            "Data": [absent["data"]] if data is None else {_DATA[key]: data[key] for key in _DATA if key in data},
            "Preprocessing": {
                "tokenizer": read["tokenizer"],
                "read": self.wfa.encoder.reads,
                "shorter texts are padded": padded,
                "vocabulary": f"{read['words']:,} words, {read['words_seen']:,} of them seen in extraction",
                "other words": _OTHER_WORDS[read["closed"]],
            },
            "Fidelity": self._fidelity(),
            "Groups": [absent["groups"]] if groups is None else _groups(groups),
            "Findings": [_UNMEASURED] if self.findings is None else _findings(self.findings),
        }
        blocks = [f"# {_plain(self.name)}"]
        for title, section in sections.items():
            blocks += [f"## {title}", *([_facts(section)] if isinstance(section, dict) else section)]
        return "\n\n".join(blocks) + "\n"

    def _fidelity(self) -> list[str]:
        blocks, found = _choice(self.wfa.provenance), self.fidelity
        if found is None:
            return [*blocks, _UNMEASURED]
        by_class = sorted(found.by_class.items(), key=lambda item: item[1].cr.value)
        blocks += [
            f"On {_plain(self.texts or 'texts')}, {found.overall.texts:,} texts, with 95 % intervals:",
            _table(
                ("", "CR", "JSD"),
                [[name, f"{each.cr:.3f}", f"{each.jsd:.3f}"] for name, each in _measured(found).items()],
            ),
            _table(
                ("class (of the network)", "texts", "CR"),
                [[name, f"{each.texts:,}", f"{each.cr:.3f}"] for name, each in by_class],
            ),
        ]
        if found.model_accuracy and found.automaton_accuracy:
            blocks.append(f"Accuracy: network {found.model_accuracy:.3f}, automaton {found.automaton_accuracy:.3f}.")
        return blocks


def _choice(provenance: Mapping[str, Any]) -> list[str]:
    """What the choice of a kind recorded, if it did."""
    try:
        choice = provenance["choice"]
        tried = ", ".join(f"{_plain(each['kind'])} {each['cr']:.3f}" for each in choice["tried"])
        return [f"Chosen on {choice['texts']:,} held-out extraction texts by CR: {tried}."]
    except (KeyError, TypeError, ValueError, AttributeError):  # files are of anybody
        return []


def _findings(found: Findings) -> list[str]:
    rows = found.rows()
    if not rows:
        return ["No claim is supported by the model's answers."]
    return ["Measured on the model itself.", _table(tuple(rows[0]), [[*map(str, row.values())] for row in rows])]


def _measured(found: Fidelity) -> dict[str, Agreement]:
    """The automaton, its readable automaton and the baselines."""
    readable = {} if found.readable is None else {"readable automaton": found.readable}
    baselines = {f"baseline: {name}": each for name, each in found.baselines.items()}
    return {"automaton": found.overall, **readable, **baselines}


def _groups(report: GroupReport) -> list[str]:
    gaps = [
        [
            gap.measure if gap.side is None else f"{gap.measure}, {gap.side}, {gap.class_name}",
            gap.high,
            gap.low,
            f"{gap.difference:.3f}" + ("" if gap.is_clear else " (may be chance)"),
        ]
        for gap in report.gaps[:_MOST_GAPS]
    ]
    rows = [
        [group.name, f"{group.agreement.texts:,}", f"{group.agreement.cr:.3f}", name, side]
        + ["–" if rate is None else f"{rate:.3f}" for rate in vars(rates).values()]
        for group in report.groups
        for side, by_class in group.rates.items()
        for name, rates in by_class.items()
    ]
    columns = (report.column, "texts", "CR", "class", "who", "selected", "true positives", "false positives")
    return [
        f"By {_plain(report.column)}, with 95 % intervals; the widest gaps first.",
        *([_table(("measure", "highest", "lowest", "gap"), gaps)] if gaps else []),
        _table(columns, rows),
    ]


def _facts(values: Mapping[str, object]) -> str:
    rows = [[name, f"{value:,}" if isinstance(value, int) else str(value)] for name, value in values.items()]
    return _table(("", ""), rows)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(_plain, row))} |" for row in (columns, *rows)]
    return "\n".join([lines[0], f"|{'---|' * len(columns)}", *lines[1:]])


def _plain(text: str) -> str:
    """Untrusted text as Markdown that shows it as it is, in one line; figures need no escaping."""
    return text if _FIGURES.fullmatch(text) else " ".join(map(visible, text.split(" "))).translate(_MARKS)
