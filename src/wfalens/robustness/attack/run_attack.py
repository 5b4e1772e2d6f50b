"""Attacks on a model: the door, and how batches of texts are attacked by replacing words or editing characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress as display
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.embeddings import nearness_of
from wfalens.extraction.extract import extract
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import encoded, last_outputs, text_outputs
from wfalens.ragged import Ragged
from wfalens.robustness.attack.attack_options import AttackOptions
from wfalens.robustness.attack.attack_result import FAILED, SKIPPED, SUCCEEDED, AttackResult, Example, RecipeResult
from wfalens.robustness.attack.recipes import EDIT_RECIPES, RECIPES, AttackContext, Search, Target
from wfalens.scale.sample import NO_LIMIT, draws
from wfalens.text.blocks import classes_of
from wfalens.text.character_edits import reads_characters
from wfalens.text.corpus import Corpus
from wfalens.text.encoder import require_words
from wfalens.text.files import TextFiles, with_labels
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import check_choice

DEFAULT_RECIPES = ("strong", "random-order", "random-word", "guided", "random-tries")
_TEXTS_AT_ONCE = 512
_EDITED_AT_ONCE = 64  # texts whose edits are held together


def attack(
    model: PrefixClassifier,
    texts: Sequence[str] | Corpus | TextFiles,
    wfa: WFA | None = None,
    recipe: str | Sequence[str] = DEFAULT_RECIPES,
    options: AttackOptions | None = None,
    *,
    vectors: WordVectors | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: bool = False,
) -> AttackResult:
    """Change a few words of each text by similar ones so that the model errs; the automaton guides the search.

    Where tokens are characters, characters are substituted, inserted, deleted or transposed instead.

    Args:
        model: the classifier under attack.
        texts: with their true classes; without labels, the model's own classes count as true.
        wfa: its automaton; None: one is extracted from the texts.
        recipe: one or several of `RECIPES`; by default the paper's attack and ours, each beside random controls.
        options: what may be changed, and the query budget.
        vectors: word vectors that say which words are near in meaning; None: WordLlama.
        limit: attack only so many texts, drawn at random; files of any size are then read once and not held.
        seed: of all random draws.
        progress: show a progress bar.

    Examples:
        >>> from wfalens.robustness.attack import AttackOptions, attack
        >>> vectors = wl.WordVectors(encoder.vocabulary.words[2:], np.eye(len(encoder.vocabulary) - 2))
        >>> result = attack(model, corpus, wfa, "guided", AttackOptions(min_transition=0), vectors=vectors)
        >>> result["guided"].rates.texts == len(corpus)
        True
    """
    options = AttackOptions() if options is None else options
    recipes = (recipe,) if isinstance(recipe, str) else tuple(recipe)
    for name in recipes:
        check_choice("recipe", name, RECIPES)
    with display.shown(progress):
        corpus = _chosen(texts, tuple(model.class_names), limit, seed)
        if wfa is None:
            wfa = extract(model, corpus, seed=seed)
        check_pair(wfa, model)
        searches: list[tuple[str, Search]]
        if reads_characters(wfa.encoder):
            unit, changed, searches = "characters", "edits of characters", _edit_searches(wfa, recipes, options)
        else:
            near = nearness_of(wfa, vectors, spare_stop_words=options.spare_stop_words)
            words = np.unique(wfa.encoder.encode(corpus.texts).values)
            context = AttackContext.prepare(wfa, near, options, only=words)
            if not context.strong.has_any.any():
                raise InputError(
                    f"no word of these texts has a replacement that is near in meaning ({near.source}) with d_S ≤ "
                    f"{options.strong} and d_T ≥ {options.min_transition}; widen the bounds or give other vectors",
                    code="no-candidates",
                )
            unit, changed = "words", f"near words by {near.source}"
            searches = [(name, context.recipe(name, options.changes)) for name in recipes]
        if corpus.labels is None:
            display.say(f"{corpus.name} has no labels: the model's own classes count as true")
        originals = Originals.of(model, corpus, own_classes=corpus.labels is None)
        results = tuple(
            run_attack(name, options.changes, search, originals, budget=options.budget, seed=seed)
            for name, search in searches
        )
        return AttackResult(corpus.name, len(originals.texts), changed, unit, results)


def _edit_searches(wfa: WFA, recipes: tuple[str, ...], options: AttackOptions) -> list[tuple[str, Search]]:
    """Of a classifier that reads characters, only the text can be changed."""
    possible = [name for name in recipes if name in EDIT_RECIPES]
    if not possible or (recipes != DEFAULT_RECIPES and len(possible) < len(recipes)):
        raise InputError(
            f"texts of characters are attacked by edits; choose recipes among {', '.join(EDIT_RECIPES)}",
            code="edit-recipe",
        )
    return [(name, EDIT_RECIPES[name](wfa, options.changes)) for name in possible]


def _chosen(
    texts: Sequence[str] | Corpus | TextFiles, classes: tuple[str, ...], limit: int | None, seed: int
) -> Corpus:
    if isinstance(texts, TextFiles):
        if limit is None:
            raise InputError(f"say how many texts of {texts.name} to attack: give a limit", code="no-limit")
        return draw_texts(texts, limit, classes, seed=seed)
    return (texts if isinstance(texts, Corpus) else Corpus.of(texts, name="texts")).sample(limit, seed)


def draw_texts(files: TextFiles, number: int, class_names: Sequence[str], *, seed: int = 0) -> Corpus:
    """Draw `number` labelled texts uniformly from all files (all texts, if there are fewer), in the order of the files.

    A row that cannot be read is refused; labels of texts that are not drawn are not looked at.
    """
    files, remark = with_labels(files)
    if files.label_column is None:
        raise InputError(
            remark or f"{files.name} has no labels; an attack needs to know the true classes", code="no-labels"
        )
    classes = {name: at for at, name in enumerate(class_names)}
    drawn: list[tuple[int, int, int, int, str, int]] = []  # draw, file, block, row, text, label
    limit = NO_LIMIT  # a text with a larger draw is not among the `number` smallest
    for file in display.track(range(len(files.paths)), "reading the files"):
        for block in files.blocks(file):
            draw = draws(seed, file, block.number, len(block.texts))
            rows = np.flatnonzero(draw <= limit)
            labels, unknown = classes_of(block, classes, rows)
            for bad in (*block.bad, *unknown):
                raise InputError(str(bad))
            pairs = zip(rows.tolist(), labels.tolist(), strict=True)
            drawn += [(int(draw[row]), file, block.number, row, block.texts[row], label) for row, label in pairs]
            if len(drawn) > 2 * number:
                drawn = sorted(drawn)[:number]
                limit = np.uint64(drawn[-1][0])
    if not drawn:
        raise InputError(f"{files.name}: no text in it", code="no-texts")
    chosen = sorted(sorted(drawn)[:number], key=itemgetter(1, 2, 3))
    labels = np.array([label for *_, label in chosen], np.int64)
    return Corpus(tuple(text for *_, text, _ in chosen), labels, tuple(class_names), files.name)


@dataclass(frozen=True, eq=False)
class Originals:
    """Texts to attack, with what the model makes of them as they are: asked once, whatever the number of recipes."""

    model: PrefixClassifier
    texts: tuple[str, ...]
    ids: Ragged[np.int32]
    written: Ragged[np.int32]  # the same words as a model that reads texts knows them
    labels: NDArray[np.int64]  # (texts,): the true classes
    outputs: NDArray[np.float32]  # (texts, C)

    @classmethod
    def of(cls, model: PrefixClassifier, corpus: Corpus, *, own_classes: bool = False) -> Originals:
        """Those that have words. `own_classes`: the model's own classes count as true, else the labels."""
        labels = None if own_classes else corpus.labels_in(model.class_names)
        worded, ids = require_words(model.encoder.encode(corpus.texts), corpus.name)
        written = encoded(model, corpus.texts).take(worded)
        outputs = last_outputs(model, written)
        truth = outputs.argmax(1) if labels is None else labels[worded]
        return cls(model, tuple(corpus.texts[at] for at in worded), ids, written, truth, outputs)

    def take(self, rows: NDArray[np.int64]) -> Originals:
        texts, ids, written = tuple(self.texts[row] for row in rows), self.ids.take(rows), self.written.take(rows)
        return Originals(self.model, texts, ids, written, self.labels[rows], self.outputs[rows])


def run_attack(
    name: str, k: int, search: Search, originals: Originals, *, budget: int | None = None, seed: int = 0
) -> RecipeResult:
    """Attack every text that the model classifies correctly; the others are skipped.

    An attack succeeds when the model's class is no longer the true one. In each round the proposals are tried in
    batches over all texts that are still correct; the best one is kept for the next round. `budget` bounds
    the model queries per text.
    """
    examples, size = list[Example](), _TEXTS_AT_ONCE if search.replaces_words else _EDITED_AT_ONCE
    starts = range(0, len(originals.texts), size)
    for number, start in enumerate(display.track(starts, f"attacking ({name}, k = {k})")):
        batch = originals.take(np.arange(start, min(start + size, len(originals.texts))))
        examples += _Attack(search, batch, budget, np.random.default_rng([seed, number])).examples()
    return RecipeResult(name, k, tuple(examples))


@dataclass(frozen=True, eq=False)
class _Attack:
    """Texts that are attacked together."""

    search: Search
    batch: Originals
    budget: int | None
    rng: np.random.Generator

    def examples(self) -> list[Example]:
        batch = self.batch
        before, after, queries = batch.outputs, batch.outputs.copy(), np.zeros(len(batch.texts), np.int64)
        rows = zip(batch.ids, batch.labels.tolist(), batch.texts, strict=True)
        targets = [Target(ids, label, text) for ids, label, text in rows]
        correct = before.argmax(1) == batch.labels
        active = np.flatnonzero(correct).tolist()
        for _ in range(self.search.rounds):
            plans = {at: self.search.proposals(targets[at], self.rng) for at in active}
            if self.budget is not None:
                plans = {at: plan[: self.budget - queries[at]] for at, plan in plans.items()}
            active = []
            for at, (target, output) in self._best(targets, plans, queries).items():
                targets[at], after[at] = target, output
                if output.argmax() == target.label:
                    active.append(at)
        names = batch.model.class_names
        return [
            Example(
                SKIPPED if not correct[at] else FAILED if after[at].argmax() == target.label else SUCCEEDED,
                *self._tokens(batch.texts[at], target),
                target.changed,
                names[target.label],
                names[int(before[at].argmax())],
                float(before[at].max()),
                names[int(after[at].argmax())],
                float(after[at].max()),
                int(queries[at]),
                " " if self.search.replaces_words else "",
            )
            for at, target in enumerate(targets)
        ]

    def _best(
        self, targets: list[Target], plans: dict[int, Sequence[Any]], queries: NDArray[np.int64]
    ) -> dict[int, tuple[Target, NDArray[np.float32]]]:
        """Try proposals in turn, all texts side by side, until one changes the class; else keep the best one."""
        best: dict[int, tuple[Target, NDArray[np.float32]]] = {}
        succeeded: set[int] = set()
        for number in range(max(map(len, plans.values()), default=0)):
            asked = [at for at, plan in plans.items() if number < len(plan) and at not in succeeded]
            if not asked:
                break
            tried = [self.search.applied(targets[at], plans[at][number]) for at in asked]
            queries[asked] += 1
            for at, target, output in zip(asked, tried, self._outputs(asked, tried), strict=True):
                if output.argmax() != target.label:
                    succeeded.add(at)
                if at not in best or at in succeeded or output[target.label] < best[at][1][target.label]:
                    best[at] = target, output
        return best

    def _outputs(self, asked: list[int], tried: list[Target]) -> NDArray[np.float32]:
        """The model's outputs for changed texts; words that were not changed stand as they were written.

        -> (texts, classes)
        """
        batch, replaced = self.batch, self.search.replaces_words
        pairs = zip(asked, tried, strict=True)
        shown = [
            np.where(target.ids != batch.ids[at], target.ids, batch.written[at]) if replaced else target.ids
            for at, target in pairs
        ]
        ids = Ragged.from_lengths(np.concatenate(shown), np.array([len(text) for text in shown]))
        if replaced:
            return last_outputs(batch.model, ids)
        return text_outputs(batch.model, [target.text for target in tried], np.arange(len(tried)), ids)

    def _tokens(self, text: str, target: Target) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """A text before and after the attack, in words or in characters."""
        if not self.search.replaces_words:
            return tuple(text), tuple(target.text)
        encoder = self.batch.model.encoder
        tokens, words = tuple(encoder.tokens(text)), encoder.vocabulary.words
        changed = (words[target.ids[at]] if at in target.changed else token for at, token in enumerate(tokens))
        return tokens, tuple(changed)
