"""What users ask of an automaton that other packages answer: each method imports its package when it is called.

The packages of these methods depend on the automaton, so this is the only module that imports upwards (see the import
contract in `pyproject.toml`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wfalens.results import ByLabel

if TYPE_CHECKING:
    from wfalens.automaton.wfa import WFA
    from wfalens.evaluation import Fidelity
    from wfalens.explanation import Attribution
    from wfalens.export import Exported
    from wfalens.models.contract import PrefixClassifier
    from wfalens.report.notebook import SentenceCard
    from wfalens.scale import RunConfig
    from wfalens.text import Corpus


class Doors:
    """Mixin of `WFA`: fidelity, explanations, reports, exports and notebook cards as methods of the automaton."""

    def fidelity(
        self,
        model: PrefixClassifier,
        texts: Any,
        *,
        reference: Corpus | None = None,
        groups: Sequence[str] | None = None,
        group_column: str = "group",
        positive: str | None = None,
        seed: int = 0,
        run: RunConfig | None = None,
        progress: bool = False,
    ) -> Fidelity | Any:
        """Compare this automaton with the model that it was extracted from, on texts that neither has seen.

        Of a language model, all prefixes are compared (`wfalens.evaluation.LanguageModelFidelity`); of a model with
        several labels per text, each label by itself (`wfalens.results.ByLabel`).

        Args:
            model: the model that the automaton was extracted from.
            texts: a list of texts, a corpus, a pandas Series, a numpy array, word ids, or `TextFiles`.
            reference: texts that the bag-of-words baseline is fitted on (best: the extraction texts); without it,
                each fifth of `texts` is predicted from the other four.
            groups: a name for each text in memory; `Fidelity.by_group` then compares model and automaton by group.
            group_column: what the groups are called.
            positive: the class whose selection, true- and false-positive rates are reported by group (default: of two
                classes the second, else every class).
            seed: of intervals and samples.
            run: how files beyond memory are read.
            progress: show a progress bar.

        Examples:
            >>> fidelity = wfa.fidelity(model, ["not a good film", "a bad film"], reference=corpus)
            >>> print(fidelity.cr)
            1.000 [0.342, 1.000]
        """
        from wfalens.evaluation.fidelity import measure_fidelity
        from wfalens.evaluation.language_models import measure_language_model
        from wfalens.models.contract import END, is_language_model
        from wfalens.progress import shown

        shared: dict[str, Any] = {"reference": reference, "seed": seed}
        by_group: dict[str, Any] = {"groups": groups, "group_column": group_column, "positive": positive}
        if self._wfa.labels:
            shared |= {"run": run, "progress": progress, **by_group}
            return self._by_label(lambda wfa, own: wfa.fidelity(cast("Any", own), texts, **shared), model)
        with shown(progress):
            if END in self._wfa.class_names and is_language_model(self._wfa):
                return measure_language_model(self._wfa, cast("Any", model), texts, **shared)
            return measure_fidelity(self._wfa, model, texts, run=run, **by_group, **shared)

    def explain(
        self,
        text: str,
        model: PrefixClassifier | None = None,
        *,
        method: str = "shapley",
        absence: str = "delete",
        unit: str | None = None,
        queries: int | None = None,
        tolerance: float | None = None,
        class_name: str | None = None,
        seed: int = 0,
    ) -> Attribution | Any:
        """What every word of a text contributes to every class, or of several labels to each (`ByLabel`).

        Args:
            text: to explain.
            model: the network; with it, the values are the network's own Shapley values, else those of the automaton.
            method: "shapley", "banzhaf", or "additive" (what each word changed when it was read).
            absence: what an absent word is: "delete", "unknown" or, without a model, "background" or "bigram".
            unit: "probability", or for experts "log-odds" of a linear automaton.
            queries: with a model: model calls at most (default: 500).
            tolerance: with a model: stop when all 95 % intervals are at most this far from the values.
            class_name: the class to show first; by default the predicted one.
            seed: of the coalitions that are drawn.

        Examples:
            >>> wfa.explain("a good film").ranking  # the predicted class, then the runners-up
            ('pos', 'neg')
        """
        from wfalens.explanation.explain import explain

        options: dict[str, Any] = {"method": method, "absence": absence, "unit": unit, "class_name": class_name}
        if self._wfa.labels:
            options |= {"queries": queries, "tolerance": tolerance, "seed": seed}
            return self._by_label(lambda wfa, own: wfa.explain(text, own, **options), model)
        return explain(self._wfa, text, model, queries=queries, tolerance=tolerance, seed=seed, **options)

    def report(
        self,
        path: str | Path,
        model: PrefixClassifier | None = None,
        texts: Any = None,
        *,
        format: str | None = None,
        groups: Sequence[str] | None = None,
        group_column: str = "group",
        progress: bool = False,
        **options: Any,
    ) -> int:
        """Write a report: one HTML page that works offline, or a short card; returns its size in bytes.

        Args:
            path: the file.
            model: the network, which is then shown beside the automaton.
            texts: texts to show, best a corpus with labels.
            format: "html", "md" or "json" (default: by the ending of the path, else "html").
            groups: of the card: a name for each text; the rates of model and automaton are compared by group.
            group_column: of the card: what the groups are called.
            progress: show a progress bar.
            options: `name`, `vectors`, `other`, `reference`, `seed` … of `wfalens.report.study_of`.

        Examples:
            >>> wfa.report("films.html", model, corpus) == Path("films.html").stat().st_size
            True
        """
        from wfalens.progress import shown
        from wfalens.report import study_of, write_report

        by_group: dict[str, Any] = {} if groups is None else {"groups": groups, "group_column": group_column}
        with shown(progress):
            study = study_of(self._wfa, model, texts, **{"name": Path(path).stem} | options)
            return write_report(study, path, format=format, **by_group)

    def export(self, path: str | Path, format: str | None = None, **options: Any) -> Exported:
        """Write this automaton for another tool.

        Args:
            path: the file; formats of several files put the others beside it.
            format: one of `wfalens.export.FORMATS` (default: by the ending of the path).
            options: `words`, `states`, `threshold`, `class_name`, `flows` of `wfalens.export.export_files`.

        Examples:
            >>> wfa.export("films.dot", words=["good", "bad"]).words
            2
        """
        from wfalens.export import export_files

        return export_files(self._wfa, path, format, **options).write()

    def show(self, text: str, model: PrefixClassifier | None = None) -> SentenceCard:
        """One text for notebooks: the outputs, the word contributions and, with the model, where the two differ."""
        from wfalens.report.notebook import sentence_card

        return sentence_card(self._wfa, text, model)

    def _repr_html_(self) -> str:
        from wfalens.report.notebook import automaton_html

        return automaton_html(self._wfa)

    def _by_label(self, ask: Callable[[WFA, PrefixClassifier | None], Any], model: PrefixClassifier | None) -> ByLabel:
        """What is asked of every label's automaton and of the model's same label."""
        label_of: Any = getattr(model, "label", None)
        return ByLabel(
            {name: ask(self._wfa.label(name), label_of(name) if label_of else model) for name in self._wfa.labels}
        )

    @property
    def _wfa(self) -> WFA:
        return cast("WFA", self)
