"""The card of an automaton: what it was made from, how texts are read, how faithful it is, what is known to be wrong.

As data (`to_dict`) and as Markdown. What was not measured is absent, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation import Agreement, Estimate, Fidelity, GroupReport
from wfalens.explanation.artefacts import Artefacts, find_artefacts
from wfalens.messages import percent, visible
from wfalens.report.study import Study
from wfalens.results import Result

_UNMEASURED = "not measured: this takes the classifier and texts that extraction has not seen"
_NO_GROUPS = "not compared: no groups of texts were given"
_MOST_GAPS = 5
_FIGURES = re.compile(r"[-+–\d.,\[\] %]*")
_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#"})


@dataclass(frozen=True, eq=False, repr=False)
class AutomatonCard(Result):
    """The contents of a card; `fidelity` is None where it was not measured."""

    name: str
    wfa: WFA
    artefacts: Artefacts
    fidelity: Fidelity | None = None
    texts: str | None = None  # what the fidelity was measured on

    @classmethod
    def of(cls, name: str, wfa: WFA, fidelity: Fidelity | None = None, texts: str | None = None) -> AutomatonCard:
        return cls(name, wfa, find_artefacts(wfa), fidelity, texts)

    @classmethod
    def of_study(cls, study: Study, **groups: Any) -> AutomatonCard:
        """The card of an automaton whose fidelity is measured, by groups as well, if there are model and texts.

        `groups` are `groups`, `group_column` and `positive` of `wfa.fidelity`.
        """
        if study.model is None or study.corpus is None:
            if groups.get("groups") is not None:
                raise InputError("comparing groups takes the classifier and texts", code="no-model")
            return cls.of(study.name, study.wfa)
        fidelity = study.wfa.fidelity(study.model, study.corpus, reference=study.reference, seed=study.seed, **groups)
        return cls.of(study.name, study.wfa, fidelity, study.corpus.name)

    def rows(self) -> list[dict[str, Any]]:
        """The measured agreement of the automaton and of its baselines; without it, the artefacts."""
        if self.fidelity is None:
            return [dict(row) for row in self.artefacts.rows()]
        return [
            {"model": name, "CR": each.cr.value, "JSD": each.jsd.value, "texts": each.texts}
            for name, each in self._measured().items()
        ]

    @property
    def title(self) -> str:
        return f"Card of {self.name}"

    def summary(self) -> str:
        return self.title if self.fidelity is None else f"{self.title}: {self.fidelity.overall}"

    def to_dict(self) -> dict[str, Any]:
        groups = None if self.fidelity is None or self.fidelity.by_group is None else self.fidelity.by_group
        return {
            "name": self.name,
            "automaton": self._automaton,
            "model": self._model,
            "data": self._data,
            "preprocessing": self._preprocessing,
            "fidelity": None if self.fidelity is None else {"texts": self.texts, **self.fidelity.to_dict()},
            "groups": None if groups is None else groups.to_dict(),
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
        recorded = self.wfa.provenance.get("model")
        return {**(recorded if isinstance(recorded, dict) else {}), "classes": list(self.wfa.class_names)}

    @property
    def _data(self) -> dict[str, Any] | None:
        recorded = self.wfa.provenance.get("corpus")
        return dict(recorded) if isinstance(recorded, dict) else None

    @property
    def _preprocessing(self) -> dict[str, Any]:
        encoder = self.wfa.encoder
        sides = self.wfa.provenance.get("model") or {}
        return {
            "tokenizer": encoder.tokenizer_name,
            "max_length": encoder.max_length,
            "truncation_side": None if encoder.max_length is None else encoder.truncation_side,
            "width": sides.get("width"),
            "padding_side": sides.get("padding_side"),
            "closed": encoder.closed,
            "words": len(encoder.vocabulary),
            "words_seen": int((self.wfa.word_counts > 0).sum()),
        }

    @property
    def _absent(self) -> dict[str, str]:
        """What is missing on the card, and why."""
        absent = {}
        if self.fidelity is None:
            absent["fidelity"] = _UNMEASURED
        if self.fidelity is None or self.fidelity.by_group is None:
            absent["groups"] = _NO_GROUPS if self.fidelity is not None else _UNMEASURED
        if self._data is None:
            absent["data"] = "the file does not record what it was extracted from"
        return absent

    def _sections(self) -> Iterator[str]:
        model, data, read = self._model, self._data, self._preprocessing
        yield from _section("Model")
        yield from _table(
            ("", ""),
            [
                ["kind of network", str(model.get("type", "not recorded"))],
                ["fingerprint", str(model.get("fingerprint", "not recorded"))],
                ["classes", ", ".join(model["classes"])],
                ["automaton", f"{self.wfa.kind}, {self.wfa.states:,} states, {self.wfa.fingerprint}"],
            ],
        )
        yield from _section("Data")
        if data is None:
            yield from _paragraph(self._absent["data"])
        else:
            names = {"name": "extracted from", "texts": "texts", "tokens": "words", "left_out": "texts left out"}
            yield from _table(("", ""), [[label, _number(data[key])] for key, label in names.items() if key in data])
        yield from _section("Preprocessing")
        padded = "never" if read["width"] is None else f"on the {read['padding_side']}, to {read['width']:,} tokens"
        others = "rejected: the alphabet is closed" if read["closed"] else "read as one unknown word"
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
        yield from _paragraph(
            f"On {_plain(self.texts or 'texts')}, {found.overall.texts:,} texts, with 95 % intervals:"
        )
        yield from _table(
            ("", "CR", "JSD"), [[name, f"{each.cr:.3f}", f"{each.jsd:.3f}"] for name, each in self._measured().items()]
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

    def _measured(self) -> dict[str, Agreement]:
        """The automaton, its readable automaton and the baselines; nothing where fidelity was not measured."""
        found = self.fidelity
        if found is None:
            return {}
        readable = {} if found.readable is None else {"readable automaton": found.readable}
        return {
            "automaton": found.overall,
            **readable,
            **{f"baseline: {name}": b for name, b in found.baselines.items()},
        }

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
            *map(_estimate, vars(each).values()),
        ]
        for group in report.groups
        for side, by_class in group.rates.items()
        for name, each in by_class.items()
    ]
    yield from _table(
        (report.column, "texts", "CR", "class", "who", "selected", "true positives", "false positives"), rows
    )


def _estimate(value: Estimate | None) -> str:
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
