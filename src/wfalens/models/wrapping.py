"""`wrap`: one door for every kind of model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wfalens.errors import InputError
from wfalens.models import adapters  # noqa: F401 - they register themselves
from wfalens.models.contract import PrefixClassifier
from wfalens.models.preprocessing import Preprocessing
from wfalens.models.preprocessing_check import require_reading
from wfalens.models.registry import WrapArguments, adapter_of, check_options
from wfalens.text.corpus import Corpus


def wrap(
    model: Any,
    *,
    texts: Any = None,
    vocab: Any = None,
    tokenizer: Any = None,
    classes: Any = None,
    preprocessing: Preprocessing | str | Path | None = None,
    max_length: int | None = None,
    labelled: Corpus | None = None,
    **options: Any,
) -> Any:
    """Any model as a classifier with `predict_proba(texts)`, `predict(texts)`, `classes_`, `trace` and `final`.

    | model | needs | options |
    |---|---|---|
    | function of n token lists, or of n strings, to probabilities (n, classes) | `texts` or `vocab` | `reads="tokens"` or `"text"` (default: tried on a text), `batch_size`, `name`, `initial_output`, `unknown` |
    | torch module, ids (batch, time) to logits per word or per text | `vocab` | `outputs`, `width`, `padding_side`, `tokens_per_batch`, `word_ids` |
    | transformers pipeline, `(model, tokenizer)` or "hf:FOLDER" | `texts` or `vocab` | `batch_size`, `tokens_per_batch`, `initial_output` |
    | fitted scikit-learn pipeline, or anything else with `predict_proba` over texts | `texts` or `vocab` | `batch_size`, `name`, `initial_output`, `unknown` |
    | Keras model | `vocab` | `outputs`, `width`, `padding_side`, `truncation_side`, `word_ids`, `batch_size`, `initial_output` |
    | .h5, .keras, .onnx file | `preprocessing`, or a JSON file beside it | `padding_side`, `truncation_side` |
    | .rnn file, folder with a network over symbols | – | – |

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
        labelled: texts with labels; a model that reads ids is refused if it agrees with them much better when it is
            read otherwise.
        options: of the kind of model.

    Examples:
        >>> import wfalens as wl
        >>> model = wl.wrap(predict_proba, texts=texts, classes=("neg", "pos"))
        >>> model.predict_proba(["a good film", ""]).shape
        (2, 2)
    """  # noqa: E501 - a table
    if isinstance(preprocessing, str | Path):
        preprocessing = Preprocessing.read(preprocessing)
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
        check_options(chosen, options)
        given = WrapArguments(texts, vocab, tokenizer, classes, preprocessing, max_length)
        wrapped = chosen.wrap(model, given, **options)
    if labelled is not None:
        require_reading(wrapped, labelled)
    return wrapped
