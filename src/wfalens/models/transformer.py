"""Hugging Face sequence classifiers as stepwise classifiers: the automaton reads words, the model sub-words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from wfalens.errors import InputError, MissingDependencyError, ModelError
from wfalens.models.inference import TOKENS_PER_BATCH
from wfalens.models.torch_module import weights_fingerprint
from wfalens.models.whole_texts import TextClassifier
from wfalens.ragged import Ragged, concatenate
from wfalens.text.encoder import TextEncoder

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_TRIED = 16  # sub-words of the sequence that tells whether a model is causal
_NO_LIMIT = 1 << 30  # tokenizers without a limit tell a huge one


def load_transformer(
    name: str | Path, encoder: TextEncoder, class_names: Sequence[object] | None = None, **options: Any
) -> TextClassifier:
    """A classifier from a folder, or from the hub by its name; no code that comes with it is run.

    Args:
        name: a folder, or a name on the hub.
        encoder: what the words of the automaton are.
        class_names: in the order of the model's labels (None: the model's own names).
        options: of `wrap_transformer`.

    Examples:
        >>> from transformers import BertConfig, BertForSequenceClassification, BertTokenizer
        >>> from wfalens import load_transformer
        >>> words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "good", "film"]
        >>> shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
        >>> BertTokenizer({word: id for id, word in enumerate(words)}).save_pretrained("folder")
        (...)
        >>> BertForSequenceClassification(BertConfig(vocab_size=len(words), **shape)).save_pretrained("folder")
        >>> model = load_transformer("folder", encoder, ("bad", "good"))
        >>> model.trace(encoder.encode(["a good film"])).values.shape
        (3, 2)
    """
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
    """A classifier from a Hugging Face model and its tokenizer.

    A prefix of words is joined by blanks, split into sub-words and classified as a text of its own; texts with more
    sub-words than the model reads are cut there. Words outside the vocabulary become the tokenizer's unknown token,
    or are left out where it has none to spare. Where no sub-word is left, the answer is uniform.

    Args:
        model: a single-label sequence classifier.
        tokenizer: the model's.
        encoder: what the words of the automaton are.
        class_names: in the order of the model's labels (None: the model's own names).
        batch_size: texts in a call at most.
        tokens_per_batch: sub-words in a call at most.
        initial_output: class probabilities (classes,) before any word, in place of the answer for an empty text.

    Examples:
        >>> from transformers import BertConfig, BertForSequenceClassification, BertTokenizer
        >>> from wfalens import wrap_transformer
        >>> words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "good", "film"]
        >>> tokenizer = BertTokenizer({word: id for id, word in enumerate(words)})
        >>> shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
        >>> network = BertForSequenceClassification(BertConfig(vocab_size=len(words), **shape))
        >>> model = wrap_transformer(network, tokenizer, encoder, ("bad", "good"))
        >>> model.trace(encoder.encode(["a good film"])).values.shape
        (3, 2)
    """
    config: Any = model.config
    if config.problem_type in ("multi_label_classification", "regression") or config.num_labels < 2:
        raise ModelError("the model does not choose one of several classes; a single-label classifier is needed")
    spare = tokenizer.unk_token_id is not None and tokenizer.unk_token_id != config.pad_token_id
    reader = _Reader(model, tokenizer, tokens_per_batch)
    kind = SharedPassClassifier if reader.is_causal else TextClassifier
    return kind(
        reader.predict_proba,
        encoder,
        [config.id2label[number] for number in range(config.num_labels)] if class_names is None else class_names,
        unknown=str(tokenizer.unk_token) if spare else "",
        batch_size=batch_size,
        fingerprint=weights_fingerprint(model, _told(tokenizer)),
        initial_output=initial_output,
    )


class SharedPassClassifier(TextClassifier):
    """A causal transformer: one pass over a text scores all of its prefixes whose sub-words begin it."""

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        """Text by text, so that prefixes are asked together with the texts that they begin."""
        return concatenate([super(SharedPassClassifier, self).trace(part) for part in ids.chunks(self.batch_size)])


class _Reader:
    """Reads equal sequences of sub-words once, and only equally long ones together: nothing is padded.

    A causal model reads a sequence that begins another one along with it.
    """

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
        if self.is_causal:
            return self._shared(read["input_ids"])
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

    @cached_property
    def is_causal(self) -> bool:
        """Whether the logits at a place are those of the sequence that ends there, as tried on one and its half."""
        base = getattr(self.model, self.model.base_model_prefix, None)
        if not hasattr(self.model, "score") or base is None or base is self.model:
            return False
        longest = min(self.longest or _TRIED, _TRIED)
        ids = torch.arange(longest)[None] % self.model.config.vocab_size
        with torch.inference_mode():
            try:
                every = self._all_logits(ids)
                halves = self.model(ids[:, : max(1, longest // 2)].to(self.model.device)).logits[0].float()
            except (RuntimeError, IndexError, ValueError, TypeError, AttributeError):
                return False  # it is read as a whole, like any other
        at = max(1, longest // 2) - 1
        return every.shape[:2] == ids.shape and bool(torch.allclose(every[0, at], halves, atol=1e-4))

    def _all_logits(self, ids: torch.Tensor) -> torch.Tensor:
        """(batch, time) -> (batch, time, classes)"""
        base = getattr(self.model, self.model.base_model_prefix)
        hidden = base(ids.to(self.model.device)).last_hidden_state
        return torch.as_tensor(self.model.score(hidden)).float()

    def _shared(self, sequences: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Only sequences that begin no other one are read, each with all that begin it; -> (texts, classes)"""
        classes = self.model.config.num_labels
        order = sorted({tuple(ids) for ids in sequences if len(ids)})
        owner: dict[tuple[int, ...], tuple[int, ...]] = {}
        for ids, after in zip(reversed(order), [(), *reversed(order)], strict=False):  # what it begins stands behind it
            owner[ids] = owner[after] if after[: len(ids)] == ids else ids
        outputs: dict[tuple[int, ...], NDArray[np.float32]] = {}
        whole = sorted(set(owner.values()), key=len)
        for length in sorted({len(ids) for ids in whole}):
            some, rows = [ids for ids in whole if len(ids) == length], max(1, self.tokens_per_batch // length)
            for start in range(0, len(some), rows):
                logits = self._all_logits(torch.tensor(some[start : start + rows]))
                outputs |= zip(some[start : start + rows], logits.softmax(-1).cpu().numpy(), strict=True)
        nothing = np.full(classes, 1 / classes, np.float32)  # a model cannot read nothing
        return np.array(
            [outputs[owner[tuple(ids)]][self._last(ids)] if len(ids) else nothing for ids in sequences], np.float32
        )

    def _last(self, ids: Sequence[int]) -> int:
        """The place whose logits count: decoders overlook padding at the end."""
        end = len(ids) - 1
        while end and ids[end] == self.model.config.pad_token_id:
            end -= 1
        return end


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
