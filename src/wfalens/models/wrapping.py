"""`wrap`: one door for every kind of model, and a check of how a model file reads texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wfalens import progress
from wfalens.errors import InputError, opening
from wfalens.memory import limited_memory
from wfalens.models import adapters  # noqa: F401 - they register themselves
from wfalens.models.adapter_registry import WrapArguments, adapter_of, split_options
from wfalens.models.adapters.transformer import HUGGING_FACE
from wfalens.models.answer_cache import AnswerCache
from wfalens.models.base import BlackBoxClassifier
from wfalens.models.checks import unknown_words
from wfalens.models.contract import PrefixClassifier, StatefulClassifier
from wfalens.models.padded import IdClassifier
from wfalens.models.preprocessing import Preprocessing
from wfalens.models.preprocessing_check import (
    Misreading,
    StepsApart,
    agreement,
    require_reading,
    say_misreading,
)
from wfalens.results import Result
from wfalens.text.corpus import Corpus
from wfalens.text.encoder import LEFT, RIGHT

_UNKNOWN_SIZE = 1 << 40  # bytes: nothing is limited


def wrap(
    model: Any,
    texts: Any = None,
    *,
    vocab: Any = None,
    tokenizer: Any = None,
    classes: Any = None,
    preprocessing: Preprocessing | str | Path | None = None,
    max_length: int | None = None,
    labelled: Corpus | None = None,
    cache: str | Path | None = None,
    **options: Any,
) -> Any:
    """Any model as a classifier with `predict_proba(texts)`, `predict(texts)`, `classes_`, `trace` and `final`.

    | model | needs | options |
    |---|---|---|
    | function of n token lists, or of n strings, to probabilities (n, classes) | `texts` or `vocab` | `reads="tokens"` or `"text"` (default: tried on a text), `batch_size`, `name`, `initial_output`, `unknown` |
    | torch module, ids (batch, time) to logits per word or per text; also with lengths, a mask, or packed | `vocab` | `inputs`, `tokens_per_batch`, and those of ids |
    | transformers pipeline, `(model, tokenizer)` or "hf:FOLDER" | `texts` or `vocab` | `batch_size`, `tokens_per_batch`, `initial_output`, `label` (of a model with several per text) |
    | fitted scikit-learn pipeline, or anything else with `predict_proba` over texts | `texts` or `vocab` | `batch_size`, `name`, `initial_output`, `unknown` |
    | Keras model | `vocab` | `batch_size`, `initial_output`, and those of ids |
    | .h5, .keras, .onnx file | `preprocessing`, or a JSON file beside it | those of ids |
    | .rnn file, folder with a network over symbols | – | – |

    Options of ids, of models that read them: `outputs` (what the rows are: logits, probabilities, or of the second
    class alone: binary, binary_logits), `width` (words to which texts are padded), `padding_side`, `truncation_side`
    and `word_ids` (the model's own id of every word).

    Args:
        model: one of these.
        texts: some texts, such as the training texts: their words become the automaton's, where `vocab` is not given;
            a corpus also names the classes.
        vocab: the model's words: a dictionary of ids (kept as they are), a list in the order of the ids, a `Vocabulary`
            or a `TextEncoder`.
        tokenizer: how a text becomes words: a name, or a function from a text to its tokens.
        classes: names of the classes in the order of the outputs (default: the model's own).
        preprocessing: how a model that reads ids was trained to read texts, or the JSON file that says so.
        max_length: words after which a text is cut (default: never).
        labelled: texts with labels; a model is refused if it agrees with them much better when it is read otherwise
            or its class names stand in another order.
        cache: a file that keeps what a model that pays for every call was asked and has answered, as hashes of the
            texts: no text is asked twice, and nothing is lost where work is stopped.
        options: of the kind of model.

    Examples:
        >>> import wfalens as wl
        >>> model = wl.wrap(predict_proba, texts=texts, classes=("neg", "pos"))
        >>> model.predict_proba(["a good film", ""]).shape
        (2, 2)
    """  # noqa: E501 - a table
    if isinstance(preprocessing, str | Path):
        preprocessing = Preprocessing.read(preprocessing, Path(model) if isinstance(model, str | Path) else None)
    if preprocessing is not None and not isinstance(preprocessing, Preprocessing):
        raise InputError(
            f"preprocessing must be a Preprocessing or its JSON file, not {type(preprocessing).__name__}",
            code="preprocessing",
        )
    if labelled is not None and (not isinstance(labelled, Corpus) or labelled.labels is None):
        raise InputError(
            "labelled must be a corpus with labels: Corpus.of(texts, labels) makes one of two lists", code="labelled"
        )
    if not isinstance(model, type) and isinstance(model, PrefixClassifier):
        wrapped = model
    else:
        chosen = adapter_of(model)
        own, ids = split_options(chosen, options)
        given = WrapArguments(texts, vocab, tokenizer, classes, preprocessing, max_length, ids)
        if isinstance(model, str | Path):
            with opening(model, chosen.kind), limited_memory(_stored_bytes(str(model))):
                wrapped = chosen.wrap(model, given, **own)
        else:
            wrapped = chosen.wrap(model, given, **own)
    if cache is not None and isinstance(wrapped, BlackBoxClassifier):
        wrapped.cache = AnswerCache(cache)
    if labelled is not None:
        require_reading(wrapped, labelled)
    return wrapped


def _stored_bytes(model: str) -> int:
    """Of a model's file, or of the files in its folder; of a model on the hub nothing is known."""
    path = Path(model.removeprefix(HUGGING_FACE))
    if not path.is_dir():
        return path.stat().st_size if path.is_file() else _UNKNOWN_SIZE
    return sum(each.stat().st_size for each in path.iterdir() if each.is_file())


@dataclass(frozen=True, repr=False)
class ModelDescription(Result):
    """The preprocessing of a model, and what the checks found; figures on labels are None without labelled texts."""

    preprocessing: Preprocessing
    stateful: bool  # whether it can be stepped from a saved state
    accuracy: float | None
    misreading: Misreading | None
    steps_apart: StepsApart | None

    def to_dict(self) -> dict[str, Any]:
        """Without the lists of words and classes."""
        sizes = {"words": len(self.preprocessing.words), "classes": len(self.preprocessing.class_names)}
        found = {name: value for name, value in super().to_dict().items() if name != "preprocessing"}
        return {**sizes, **found}

    def rows(self) -> list[dict[str, Any]]:
        rows: list[tuple[str, Any]] = [
            ("words", len(self.preprocessing.words)),
            ("classes", len(self.preprocessing.class_names)),
            ("can be stepped", "yes" if self.stateful else "no: it is asked text by text"),
        ]
        rows += [] if self.accuracy is None else [("accuracy on labels", self.accuracy)]
        return [{"": name, "value": value} for name, value in rows]


def describe_model(model: str | Path, preprocessing: Preprocessing, labelled: Corpus | None = None) -> ModelDescription:
    """Check a description of a model; labels choose the padding side where that is not given."""
    chosen, classifier = _best_side(model, preprocessing, labelled)
    width = classifier.form.width if isinstance(classifier, IdClassifier) else None
    if width is not None and chosen.padding_side is None:
        progress.say(
            f"the model reads batches padded to {width} words, and the padding side is not known, so the right one is "
            "assumed: name the side, or give labelled texts"
        )
    if labelled is None:
        return ModelDescription(chosen, isinstance(classifier, StatefulClassifier), None, None, None)
    unknown = unknown_words(classifier.encoder, labelled.texts)
    if unknown is not None:
        progress.say(unknown)
    found = say_misreading(classifier, labelled)
    return ModelDescription(chosen, isinstance(classifier, StatefulClassifier), agreement(classifier, labelled), *found)


def _best_side(
    model: str | Path, preprocessing: Preprocessing, labelled: Corpus | None
) -> tuple[Preprocessing, PrefixClassifier]:
    if preprocessing.padding_side is not None or labelled is None or labelled.labels is None:
        return preprocessing, wrap(model, preprocessing=preprocessing)
    options = {side: preprocessing.read_as(side) for side in (LEFT, RIGHT)}
    opened = {side: wrap(model, preprocessing=each) for side, each in options.items()}
    rates = {side: agreement(each, labelled) for side, each in opened.items()}
    if rates["left"] is None or rates["left"] == rates["right"]:  # nothing is padded, or labels do not decide
        return preprocessing, wrap(model, preprocessing=preprocessing)
    best = max(rates, key=lambda side: rates[side] or 0.0)
    shown = ", ".join(f"{rate:.1%} on the {side}" for side, rate in rates.items())
    progress.say(f"padding on the {best}: agrees with labels on {shown}")
    return options[best], opened[best]
