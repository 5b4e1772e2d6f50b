"""The card of an automaton: what it was made from, how texts are read, how faithful it is, what is known to be wrong.

As data (`to_json`) and as Markdown. What was not measured is absent, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wfalens.automaton.wfa import WFA
from wfalens.evaluation import Estimate, Fidelity, GroupReport
from wfalens.explanation.artefacts import Artefacts, find_artefacts
from wfalens.messages import percent, visible

_UNMEASURED = "not measured: give the classifier (--model) and texts that extraction has not seen (--corpus)"
_NO_GROUPS = "not compared: name a column of the texts (--by)"
_MOST_GAPS = 5
_FIGURES = re.compile(r"[-+–\d.,\[\] %]*")
_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#"})


@dataclass(frozen=True, eq=False)
class Card:
    """All that a card tells; `fidelity` is None where it was not measured."""

    name: str
    wfa: WFA
    artefacts: Artefacts
    fidelity: Fidelity | None = None
    texts: str | None = None  # what the fidelity was measured on

    @classmethod
    def of(cls, name: str, wfa: WFA, fidelity: Fidelity | None = None, texts: str | None = None) -> Card:
        return cls(name, wfa, find_artefacts(wfa), fidelity, texts)

    def to_json(self) -> dict[str, Any]:
        groups = None if self.fidelity is None or self.fidelity.by_group is None else self.fidelity.by_group
        return {
            "name": self.name,
            "automaton": self._automaton,
            "model": self._model,
            "data": self._data,
            "preprocessing": self._preprocessing,
            "fidelity": None if self.fidelity is None else {"texts": self.texts, **self.fidelity.to_json()},
            "groups": None if groups is None else groups.to_json(),
            "artefacts": self.artefacts.to_dict(),
            "absent": self._absent,
        }

    def to_markdown(self) -> str:
        """One page; all names and words are escaped."""
        return "\n".join([f"# {_plain(self.name)}", "", *self._sections()]).rstrip() + "\n"

    @property
    def _automaton(self) -> dict[str, Any]:
        made = self.wfa.provenance.get("versions") or {}
        return {"kind": self.wfa.kind, "fingerprint": self.wfa.fingerprint, **self.wfa.summary(), "versions": made}

    @property
    def _model(self) -> dict[str, Any]:
        told = self.wfa.provenance.get("model")
        return {**(told if isinstance(told, dict) else {}), "classes": list(self.wfa.class_names)}

    @property
    def _data(self) -> dict[str, Any] | None:
        told = self.wfa.provenance.get("corpus")
        return dict(told) if isinstance(told, dict) else None

    @property
    def _preprocessing(self) -> dict[str, Any]:
        encoder = self.wfa.encoder
        sides = self.wfa.provenance.get("model") or {}
        told = {
            "tokenizer": encoder.tokenizer_name,
            "max_length": encoder.max_length,
            "cutting_side": None if encoder.max_length is None else encoder.cutting_side,
            "width": sides.get("width"),
            "padding_side": sides.get("padding_side"),
            "closed": encoder.closed,
        }
        return told | {"words": len(encoder.vocabulary), "words_seen": int((self.wfa.word_counts > 0).sum())}

    @property
    def _absent(self) -> dict[str, str]:
        """What the card does not tell, and why."""
        absent = {}
        if self.fidelity is None:
            absent["fidelity"] = _UNMEASURED
        if self.fidelity is None or self.fidelity.by_group is None:
            absent["groups"] = _NO_GROUPS if self.fidelity is not None else _UNMEASURED
        if self._data is None:
            absent["data"] = "the file does not tell what it was extracted from"
        return absent

    def _sections(self) -> Iterator[str]:
        model, data, read = self._model, self._data, self._preprocessing
        yield from _section("Model")
        yield from _table(
            ("", ""),
            [
                ["kind of network", str(model.get("type", "not told"))],
                ["fingerprint", str(model.get("fingerprint", "not told"))],
                ["classes", ", ".join(model["classes"])],
                ["automaton", f"{self.wfa.kind}, {self.wfa.states:,} states, {self.wfa.fingerprint}"],
            ],
        )
        yield from _section("Data")
        if data is None:
            yield from _paragraph(self._absent["data"])
        else:
            names = {"name": "extracted from", "texts": "texts", "tokens": "words", "left_out": "texts left out"}
            yield from _table(("", ""), [[told, _number(data[key])] for key, told in names.items() if key in data])
        yield from _section("Preprocessing")
        padded = "never" if read["width"] is None else f"on the {read['padding_side']}, to {read['width']:,} tokens"
        others = "refused: the alphabet is closed" if read["closed"] else "read as one unknown word"
        yield from _table(
            ("", ""),
            [
                ["tokenizer", str(read["tokenizer"])],
                ["read", self.wfa.encoder.reads],
                ["shorter texts are padded", padded],
                ["vocabulary", f"{read['words']:,} words, {read['words_seen']:,} of them seen in extraction"],
                ["other words", others],
            ],
        )
        yield from _section("Fidelity")
        yield from self._fidelity()
        yield from _section("Groups")
        report = None if self.fidelity is None else self.fidelity.by_group
        yield from _paragraph(self._absent["groups"]) if report is None else _groups(report)
        yield from _section("Known artefacts")
        yield from self._artefacts()

    def _fidelity(self) -> Iterator[str]:
        chosen = self.wfa.provenance.get("choice")
        if isinstance(chosen, dict):
            tried = ", ".join(f"{each['kind']} {each['cr']:.3f}" for each in chosen.get("tried", ()))
            yield from _paragraph(f"Chosen on {chosen.get('texts', 0):,} held-out extraction texts by CR: {tried}.")
        if self.fidelity is None:
            yield from _paragraph(_UNMEASURED)
            return
        found = self.fidelity
        measured = {"automaton": found.overall}
        measured |= {} if found.readable is None else {"its readable automaton": found.readable}
        measured |= {f"stand-in: {name}": each for name, each in found.baselines.items()}
        yield from _paragraph(
            f"On {_plain(self.texts or 'texts')}, {found.overall.texts:,} texts, with 95 % intervals:"
        )
        yield from _table(
            ("", "CR", "JSD"), [[name, f"{each.cr:.3f}", f"{each.jsd:.3f}"] for name, each in measured.items()]
        )
        classes = [
            [name, f"{each.texts:,}", f"{each.cr:.3f}"]
            for name, each in sorted(found.by_class.items(), key=lambda item: item[1].cr.value)
        ]
        yield from _table(("class (of the network)", "texts", "CR"), classes)
        if found.model_accuracy and found.automaton_accuracy:
            yield from _paragraph(
                f"Accuracy: network {found.model_accuracy:.3f}, automaton {found.automaton_accuracy:.3f}."
            )

    def _artefacts(self) -> Iterator[str]:
        if not len(self.artefacts):
            yield from _paragraph(
                f"None found among {int((self.wfa.word_counts > 0).sum()):,} words: no damaged word is stronger than "
                f"half of the usual ones, no word seen up to {self.artefacts.rare} times than 99 % of them."
            )
            return
        yield from _paragraph(
            f"Words that should not matter: damaged ones, and ones seen up to {self.artefacts.rare} times that are "
            "stronger than 99 % of the usual words. Influence is on the probability of the class, averaged over states."
        )
        rows = [
            [each.shown, each.kind, f"{each.count:,}", each.class_name, f"{each.influence:+.3f}", percent(each.rank)]
            for each in self.artefacts
        ]
        yield from _table(("word", "kind", "count", "class", "influence", "stronger than"), rows)


def _groups(report: GroupReport) -> Iterator[str]:
    yield from _paragraph(f"By {_plain(report.column)}, with 95 % intervals; the widest gaps first.")
    gaps = [
        [
            gap.measure if gap.side is None else f"{gap.measure}, {gap.side}, {gap.class_name}",
            gap.high,
            gap.low,
            f"{gap.difference:.3f}" + ("" if gap.is_clear else " (may be chance)"),
        ]
        for gap in report.gaps[:_MOST_GAPS]
    ]
    if gaps:
        yield from _table(("measure", "highest", "lowest", "gap"), gaps)
    rows = [
        [
            group.name,
            f"{group.agreement.texts:,}",
            f"{group.agreement.cr:.3f}",
            name,
            side,
            *map(_told, vars(each).values()),
        ]
        for group in report.groups
        for side, by_class in group.rates.items()
        for name, each in by_class.items()
    ]
    yield from _table(
        (report.column, "texts", "CR", "class", "who", "selected", "true positives", "false positives"), rows
    )


def _told(value: Estimate | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _section(title: str) -> Iterator[str]:
    yield from (f"## {title}", "")


def _paragraph(text: str) -> Iterator[str]:
    yield from (text, "")


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_plain, columns))} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(map(_plain, row))} |"
    yield ""


def _plain(text: str) -> str:
    """Untrusted text as Markdown that shows it as it is, in one line; figures need no escaping."""
    return text if _FIGURES.fullmatch(text) else " ".join(map(visible, text.split(" "))).translate(_MARKS)
