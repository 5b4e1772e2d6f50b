"""The door to attacks: from a model and texts to the success of each recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from wfalens import progress as display
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.embeddings import nearness_of
from wfalens.extraction.extract import extract
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.progress import shown
from wfalens.robustness.attack.attack_candidates import installed_tagger
from wfalens.robustness.attack.attack_result import AttackResult
from wfalens.robustness.attack.recipes import RECIPES, AttackContext, AttackOptions
from wfalens.robustness.attack.run_attack import EDIT_RECIPES, run_attack, run_edit_attack
from wfalens.scale.run_config import RunConfig
from wfalens.scale.sample import draws
from wfalens.text.blocks import Block, classes_of
from wfalens.text.character_edits import reads_characters
from wfalens.text.corpus import Corpus
from wfalens.text.files import TextFiles, with_labels
from wfalens.text.word_vectors import WordVectors, wordllama_vectors
from wfalens.validation import check_choice

DEFAULT_RECIPES = ("strong", "random-order", "random-word", "guided", "random-tries")
_FIRST_WORD = 2  # of a vocabulary: padding and <unk> come before


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
    run: RunConfig | None = None,
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
        run: runs batches of texts side by side: engine and workers.
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
    with shown(progress):
        corpus = _labelled(model, _chosen(texts, tuple(model.class_names), limit, seed))
        if wfa is None:
            wfa = extract(model, corpus, seed=seed)
        check_pair(wfa, model)
        if reads_characters(wfa.encoder):
            return _by_edits(wfa, model, corpus, recipes, options, seed)
        vectors = wordllama_vectors(wfa.encoder.vocabulary.words[_FIRST_WORD:]) if vectors is None else vectors
        context = attack_context(wfa, corpus.texts, vectors, options)
        results = tuple(
            run_attack(
                name,
                options.changes,
                context.recipe(name, options.changes),
                model,
                corpus,
                budget=options.budget,
                seed=seed,
                run=run,
            )
            for name in recipes
        )
        return AttackResult(corpus.name, len(corpus), f"near words by {vectors.source}", "words", results)


def attack_context(wfa: WFA, texts: Sequence[str], vectors: WordVectors, options: AttackOptions) -> AttackContext:
    """The candidates of all words of the texts; refused if no word has any."""
    context = AttackContext.prepare(
        wfa,
        nearness_of(wfa, vectors, spare_stop_words=options.spare_stop_words),
        options.weak,
        options.strong,
        options.min_transition,
        tag=installed_tagger() if options.same_part_of_speech else None,
        only=np.unique(wfa.encoder.encode(texts).values),
    )
    if not context.strong.has_any.any():
        raise InputError(
            f"no word of these texts has a replacement that is near in meaning ({vectors.source}) with "
            f"d_S ≤ {options.strong} and d_T ≥ {options.min_transition}; widen the bounds or give other vectors",
            code="no-candidates",
        )
    return context


def _by_edits(
    wfa: WFA,
    model: PrefixClassifier,
    corpus: Corpus,
    recipes: tuple[str, ...],
    options: AttackOptions,
    seed: int,
) -> AttackResult:
    """Attack a classifier that reads characters: only the text can be changed."""
    possible = [name for name in recipes if name in EDIT_RECIPES]
    if not possible or (recipes != DEFAULT_RECIPES and len(possible) < len(recipes)):
        raise InputError(
            f"texts of characters are attacked by edits; choose recipes among {', '.join(EDIT_RECIPES)}",
            code="edit-recipe",
        )
    results = tuple(
        run_edit_attack(name, options.changes, wfa, model, corpus, budget=options.budget, seed=seed)
        for name in possible
    )
    return AttackResult(corpus.name, len(corpus), "edits of characters", "characters", results)


def _chosen(
    texts: Sequence[str] | Corpus | TextFiles, classes: tuple[str, ...], limit: int | None, seed: int
) -> Corpus:
    if isinstance(texts, TextFiles):
        if limit is None:
            raise InputError(f"say how many texts of {texts.name} to attack: give a limit", code="no-limit")
        return draw_texts(texts, limit, classes, seed=seed)
    return (texts if isinstance(texts, Corpus) else Corpus.of(texts, name="texts")).sample(limit, seed)


def _labelled(model: PrefixClassifier, corpus: Corpus) -> Corpus:
    """Texts with labels; those of the model where there are none."""
    if corpus.labels is not None:
        return corpus
    display.say(f"{corpus.name} has no labels: the model's own classes count as true")
    worded, ids = model.encoder.encode(corpus.texts).nonempty()
    if len(worded) == 0:
        raise InputError(f"{corpus.name}: there is no text with a word in it", code="no-words")
    labels = final_outputs(model, ids).argmax(1)
    return Corpus(tuple(corpus.texts[at] for at in worded), labels, tuple(model.class_names), corpus.name)


class _Drawn(NamedTuple):
    """A text by its draw; `position` is (file, block, row)."""

    draw: int
    position: tuple[int, int, int]
    text: str
    label: int


def draw_texts(
    files: TextFiles,
    number: int,
    class_names: Sequence[str],
    *,
    label_column: str | None = None,
    seed: int = 0,
) -> Corpus:
    """Draw `number` labelled texts uniformly from all files (all texts, if there are fewer), in the order of the files.

    A row that cannot be read is refused; labels of texts that are not drawn are not looked at.
    """
    files, remark = with_labels(files, label_column)
    if files.label_column is None:
        raise InputError(
            remark or f"{files.name} has no labels; an attack needs to know the true classes", code="no-labels"
        )
    classes = {name: at for at, name in enumerate(class_names)}
    drawn: list[_Drawn] = []
    limit: int | None = None  # a text with this draw or a larger one is no longer among the k smallest
    display.start("reading the files", len(files.paths))
    for file, path in enumerate(files.paths):
        for block in files.blocks(file):
            draw = draws(seed, file, block.number, len(block.texts))
            texts = np.arange(len(draw)) if limit is None else np.flatnonzero(draw < np.uint64(limit))
            drawn += _checked(block, classes, texts, draw)
            if len(drawn) > 2 * number:
                drawn = sorted(drawn)[:number]
                limit = drawn[-1].draw
        display.advance(1, Path(path).name)
    display.finish()
    if not drawn:
        raise InputError(f"{files.name}: no text in it", code="no-texts")
    chosen = sorted(sorted(drawn)[:number], key=lambda each: each.position)
    labels = np.array([each.label for each in chosen], np.int64)
    return Corpus(tuple(each.text for each in chosen), labels, tuple(class_names), files.name)


def _checked(
    block: Block, classes: Mapping[str, int], texts: NDArray[np.int64], draw: NDArray[np.uint64]
) -> list[_Drawn]:
    labels, unknown = classes_of(block, classes, texts)
    for bad in (*block.bad, *unknown):
        raise InputError(str(bad))
    held = cast(Sequence[str], block.texts)
    return [
        _Drawn(int(draw[text]), (block.file, block.number, text), held[text], label)
        for text, label in zip(texts.tolist(), labels.tolist(), strict=True)
    ]
