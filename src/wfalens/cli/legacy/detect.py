"""`wfalens detect`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.inputs import USUAL, Reader, check_share, open_vectors
from wfalens.cli.legacy.output import note, print_json, print_table, say
from wfalens.errors import InputError
from wfalens.models.wrapping import wrap
from wfalens.validation import check_choice

if TYPE_CHECKING:
    from wfalens.monitoring import Detector
    from wfalens.text.corpus import Corpus

KINDS = ("guided", "greedy", "random-word")


@dataclass(frozen=True)
class Detected:
    """A detector and how well it tells attacked texts of each kind."""

    detector: Detector
    auroc: dict[str, float | None]  # by kind of attack; None: too few attacks succeeded
    caught: dict[str, float | None]  # share of attacked texts above the threshold
    false_alarms: float  # share of clean test texts above it
    attacked: dict[str, int]  # texts


def detect_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    train_on: Annotated[
        str, typer.Option("--train-on", metavar="KIND", help=f"Attack to learn from: {', '.join(KINDS)}.")
    ] = "guided",
    test_on: Annotated[
        list[str] | None,
        typer.Option("--test-on", metavar="KIND", help="Attacks to test on (may be repeated).", show_default="all"),
    ] = None,
    changes: Annotated[int, typer.Option("--changes", metavar="N", min=1, help="Words an attack may replace.")] = 3,
    false_alarms: Annotated[
        float, typer.Option("--false-alarms", metavar="SHARE", help="Share of clean texts that may raise an alarm.")
    ] = 0.05,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Use only so many texts, chosen at random.")
    ] = 2000,
    vectors: opt.Vectors = "wordllama",
    min_auroc: Annotated[
        float | None,
        typer.Option("--min-auroc", metavar="SHARE", help="Exit with code 1 if it is lower on any kind of attack."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the detector (JSON) for `watch`.", rich_help_panel=opt.OUTPUT
        ),
    ] = None,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Train a detector of attacked texts, and test it on attacks of other kinds.

    Half of the texts (which need labels) are attacked to learn from, the other half to test. The detector is a logistic
    regression on how surprising a text is to the automaton, how rare its words are, how far network and automaton part,
    and how much hangs on single words.

    Example:
      wfalens detect news.wfa --model news.rnn --corpus tagmynews -o detector.json
    """
    check_outputs(output, force=force)
    check_share("--false-alarms", false_alarms)
    check_share("--min-auroc", min_auroc)
    done = detect(
        automaton,
        model,
        corpus,
        train_on=train_on,
        test_on=tuple(test_on or KINDS),
        changes=changes,
        false_alarms=false_alarms,
        limit=limit,
        vectors=vectors,
        seed=seed,
        reader=Reader(data, text_column, label_column, encoding),
    )
    if output is not None:
        done.detector.save(output)
        note(f"wrote {output}")
    values = [value for value in done.auroc.values() if value is not None]
    failed = min_auroc is not None and (not values or min(values) < min_auroc)
    if as_json:
        print_json(
            {
                "trained_on": train_on,
                "auroc": done.auroc,
                "caught": done.caught,
                "false_alarms": done.false_alarms,
                "attacked": done.attacked,
            }
        )
    else:
        _print(done, train_on)
        if failed:
            say(f"the detector is below {min_auroc:.3f}")
    if failed:
        raise typer.Exit(1)


def detect(
    automaton: Path,
    model: str,
    corpus: str,
    *,
    train_on: str = "guided",
    test_on: tuple[str, ...] = KINDS,
    changes: int = 3,
    false_alarms: float = 0.05,
    limit: int | None = 2000,
    vectors: str = "wordllama",
    seed: int = 0,
    reader: Reader = USUAL,
) -> Detected:
    """Attack half of a corpus to train a detector, the other half to test it."""
    import numpy as np

    from wfalens.automaton import WFA
    from wfalens.evaluation.comparison import check_pair
    from wfalens.monitoring import Detector, auroc

    for kind in (train_on, *test_on):
        check_choice("kind of attack", kind, KINDS)
    wfa = WFA.load(automaton)
    classifier = wrap(model, vocab=wfa.encoder)
    check_pair(wfa, classifier)
    texts = reader.corpus(corpus, "test").sample(limit, seed)
    if texts.labels is None:
        raise InputError(f"{texts.name} has no labels; an attack needs to know the true classes")
    learned, tested = texts.split(0.5, np.random.default_rng(seed))
    attacks = _Attacks(wfa, classifier, vectors, changes, seed)
    clean, attacked = attacks.features(learned, None), attacks.features(learned, train_on)
    about = {"attack": train_on, "changes": changes, "corpus": texts.name, "texts": len(learned)}
    detector = Detector.trained(clean, attacked, attacks.restoration, false_alarms, about)
    scores = detector.scores(attacks.features(tested, None))
    found: dict[str, float | None] = {}
    caught: dict[str, float | None] = {}
    numbers: dict[str, int] = {}
    for kind in test_on:
        others = detector.scores(attacks.features(tested, kind))
        numbers[kind] = len(others)
        found[kind] = auroc(scores, others) if len(others) else None
        caught[kind] = float((others >= detector.threshold).mean()) if len(others) else None
    return Detected(detector, found, caught, float((scores >= detector.threshold).mean()), numbers)


class _Attacks:
    """Features of texts as they are, and of those that an attack has felled."""

    def __init__(
        self,
        wfa: Any,
        model: Any,
        vectors: str,
        changes: int,
        seed: int,
    ) -> None:
        from wfalens.explanation import nearness_of
        from wfalens.monitoring import ReferenceStats, Restoration

        self.habits, self.model, self.changes = ReferenceStats(wfa), model, changes
        self.near = nearness_of(wfa, open_vectors(vectors, wfa.encoder.vocabulary.words[2:]))
        self.restoration = Restoration.of(wfa, self.near)
        self.seed = seed

    def features(self, corpus: Corpus, kind: str | None) -> Any:
        """(texts, FEATURES)"""
        from wfalens.monitoring import read

        encoder = self.model.encoder
        ids = encoder.encode(corpus.texts) if kind is None else encoder.vocabulary.encode(self._felled(corpus, kind))
        _, ids = ids.nonempty()
        if len(ids) == 0:
            from wfalens.monitoring import FEATURES

            return [[0.0] * len(FEATURES)][:0]
        return read(self.habits, self.model, ids, self.restoration).features

    def _felled(self, corpus: Corpus, kind: str) -> list[list[str]]:
        import numpy as np

        from wfalens.robustness.attack import AttackContext, run_attack

        only = np.unique(self.model.encoder.encode(corpus.texts).values)
        context = AttackContext.prepare(self.habits.wfa, self.near, only=only)
        search = context.recipe(kind, self.changes)
        outcome = run_attack(kind, self.changes, search, self.model, corpus, seed=self.seed)
        return [list(each.after) for each in outcome.examples if each.status == "succeeded"]


def _print(done: Detected, train_on: str) -> None:
    rows = [
        [
            kind,
            f"{done.attacked[kind]:,}",
            "–" if done.auroc[kind] is None else f"{done.auroc[kind]:.3f}",
            "–" if done.caught[kind] is None else f"{done.caught[kind]:.1%}",
        ]
        for kind in done.auroc
    ]
    print_table(f"Detector trained on {train_on} attacks", ["attack", "attacked texts", "AUROC", "caught"], rows)
    say(f"{done.false_alarms:.1%} of the clean test texts raise an alarm")
