"""Hugging Face sequence classifiers as stepwise classifiers: the automaton reads words, the model sub-words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from wfalens.corpus.encoder import TextEncoder
from wfalens.errors import InputError, MissingDependencyError, ModelError
from wfalens.models.adapters.texts import TextClassifier
from wfalens.models.adapters.torch_module import weights_fingerprint
from wfalens.models.batches import TOKENS_PER_BATCH

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_NO_LIMIT = 1 << 30  # tokenizers without a limit tell a huge one


def load_transformer(
    name: str | Path, encoder: TextEncoder, class_names: Sequence[object] | None = None, **options: Any
) -> TextClassifier:
    """A classifier from a folder, or from the hub by its name; no code that comes with it is run."""
    try:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging as logging_of_transformers
    except ImportError:
        raise MissingDependencyError("transformers", "transformers") from None
    logging: Any = logging_of_transformers  # it has no types
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # a library is silent
    try:
        model, loading = AutoModelForSequenceClassification.from_pretrained(str(name), output_loading_info=True)
        tokenizer = AutoTokenizer.from_pretrained(str(name))
    except (OSError, ValueError, ImportError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name}: transformers cannot load a sequence classifier from there: {reason}") from None
    finally:
        if shown:
            logging.enable_progress_bar()
    if loading["missing_keys"]:
        missing = ", ".join(sorted(loading["missing_keys"])[:3])
        raise ModelError(f"{name} is not a trained classifier: it has no weights for {missing}; fine-tune it first")
    return wrap_transformer(model, tokenizer, encoder, class_names, **options)


def wrap_transformer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    encoder: TextEncoder,
    class_names: Sequence[object] | None = None,
    *,
    batch_size: int = 1024,
    tokens_per_batch: int = TOKENS_PER_BATCH,
    initial_output: ArrayLike | None = None,
) -> TextClassifier:
    """A classifier from a model and its tokenizer; classes are the model's labels unless given.

    A prefix of words is joined by blanks, split into sub-words and classified as a text of its own; texts with more
    sub-words than the model reads are cut there. Words outside the vocabulary become the tokenizer's unknown token,
    or are left out where it has none to spare. Where no sub-word is left, the answer is uniform. `initial_output`
    takes the place of the answer for an empty text.
    """
    config: Any = model.config
    if config.problem_type in ("multi_label_classification", "regression") or config.num_labels < 2:
        raise ModelError("the model does not choose one of several classes; a single-label classifier is needed")
    spare = tokenizer.unk_token_id is not None and tokenizer.unk_token_id != config.pad_token_id
    return TextClassifier(
        _Reader(model, tokenizer, tokens_per_batch).predict_proba,
        encoder,
        [config.id2label[number] for number in range(config.num_labels)] if class_names is None else class_names,
        unknown=str(tokenizer.unk_token) if spare else "",
        batch_size=batch_size,
        fingerprint=weights_fingerprint(model, _told(tokenizer)),
        initial_output=initial_output,
    )


class _Reader:
    """Reads equal sequences of sub-words once, and only equally long ones together: nothing is padded."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, tokens_per_batch: int) -> None:
        self.model: Any = model.train(False)
        self.tokenizer = tokenizer
        self.longest = _longest(model, tokenizer)
        # decoders refuse batches as long as nobody says which token pads
        self.tokens_per_batch = 1 if model.config.pad_token_id is None else tokens_per_batch

    @torch.inference_mode()
    def predict_proba(self, texts: list[str]) -> NDArray[np.float32]:
        # -> (texts, classes)
        read = self.tokenizer(texts, truncation=self.longest is not None, max_length=self.longest)
        first: dict[tuple[int, ...], int] = {}
        item_of_text = np.array([first.setdefault(tuple(ids), at) for at, ids in enumerate(read["input_ids"])])
        lengths = np.array([len(ids) for ids in read["input_ids"]])
        classes = self.model.config.num_labels
        outputs = np.full((len(texts), classes), 1 / classes, np.float32)  # a model cannot read nothing
        distinct = np.array(list(first.values()), np.int64)
        for length in np.unique(lengths[distinct[lengths[distinct] > 0]]):
            items, rows = distinct[lengths[distinct] == length], max(1, self.tokens_per_batch // int(length))
            for start in range(0, len(items), rows):
                batch = items[start : start + rows]
                tables = {name: torch.tensor([column[at] for at in batch]) for name, column in read.items()}
                logits = self.model(**{name: table.to(self.model.device) for name, table in tables.items()}).logits
                outputs[batch] = logits.float().softmax(-1).cpu().numpy()
        answers: NDArray[np.float32] = outputs[item_of_text]
        return answers


def _longest(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int | None:
    """Sub-words that the model can read, by its tokenizer and its position embeddings."""
    limits = [tokenizer.model_max_length]
    for name, layer in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(layer, nn.Embedding):
            # where padding has a position of its own, those up to it are not for words
            limits.append(layer.num_embeddings - (0 if layer.padding_idx is None else layer.padding_idx + 1))
    limits += [limit for limit in [getattr(model.config, "max_position_embeddings", None)] if limit]
    return int(min(limits)) if min(limits) < _NO_LIMIT else None


def _told(tokenizer: PreTrainedTokenizerBase) -> str:
    """What the tokenizer does, as text."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return str(sorted(tokenizer.get_vocab().items())) if backend is None else str(backend.to_str())
