"""Hugging Face sequence classifiers: the automaton reads words, the model sub-words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import InputError, MissingDependencyError, ModelError
from wfalens.models.adapters.functions import TextClassifier
from wfalens.models.adapters.torch_module import weights_fingerprint
from wfalens.models.inference import TOKENS_PER_BATCH
from wfalens.models.registry import WrapArguments, adapter, packages_of
from wfalens.ragged import Ragged, concatenate

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

HUGGING_FACE = "hf:"
_TRIED = 16  # sub-words of the sequence that shows whether a model is causal
_NO_LIMIT = 1 << 30  # tokenizers without a limit have a huge one


@adapter
class TransformerAdapter:
    """A Hugging Face sequence classifier with its tokenizer, a text-classification pipeline, or "hf:FOLDER".

    A prefix of words is joined by blanks, split into sub-words and classified as a text of its own; texts with more
    sub-words than the model reads are cut there. Words outside the vocabulary become the tokenizer's unknown token,
    or are left out where it has none to spare. Where no sub-word is left, the output is uniform. No code that comes
    with a model is run.
    """

    kind = 'a transformers pipeline, (model, tokenizer) or "hf:FOLDER"'

    def accepts(self, model: Any) -> bool:
        if isinstance(model, str):
            return model.startswith(HUGGING_FACE)
        parts = model if isinstance(model, tuple) else (model,)
        return any(packages_of(part) & {"transformers", "tokenizers"} for part in parts)

    def wrap(
        self,
        model: Any,
        given: WrapArguments,
        *,
        batch_size: int = 1024,
        tokens_per_batch: int = TOKENS_PER_BATCH,
        initial_output: ArrayLike | None = None,
    ) -> TextClassifier:
        if given.tokenizer is not None and packages_of(given.tokenizer) & {"transformers", "tokenizers"}:
            model, given = (model, given.tokenizer), replace(given, tokenizer=None)  # the model's, not the automaton's
        network, tokenizer = _loaded(model) if isinstance(model, str) else _pair(model)
        config: Any = network.config
        if config.problem_type in ("multi_label_classification", "regression") or config.num_labels < 2:
            raise ModelError(
                "the model does not choose one of several classes; a single-label classifier is needed",
                code="not-single-label",
            )
        spare = tokenizer.unk_token_id is not None and tokenizer.unk_token_id != config.pad_token_id
        reader = _Reader(network, tokenizer, tokens_per_batch)
        kind = SharedPassClassifier if reader.is_causal else TextClassifier
        return kind(
            reader.predict_proba,
            given.encoder(),
            given.class_names([config.id2label[number] for number in range(config.num_labels)]),
            unknown=str(tokenizer.unk_token) if spare else "",
            batch_size=batch_size,
            fingerprint=weights_fingerprint(network, _tokenizer_text(tokenizer)),
            initial_output=initial_output,
        )


def reads_texts(spec: str | Path) -> bool:
    """Whether a model reads texts of any words, so that the words of its automaton must be given."""
    return str(spec).startswith(HUGGING_FACE)


def _pair(model: Any) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model and the tokenizer of a pipeline or a pair."""
    if not isinstance(model, tuple) and hasattr(model, "model") and hasattr(model, "tokenizer"):
        model = (model.model, model.tokenizer)
    parts = model if isinstance(model, tuple) else (model,)
    is_pair = len(parts) == 2 and hasattr(parts[0], "config") and hasattr(parts[1], "unk_token_id")
    if not is_pair:
        kinds = ", ".join(type(part).__name__ for part in parts)
        raise InputError(
            f"a transformer is wrapped with its tokenizer: wrap((model, tokenizer)), in this order, not ({kinds})",
            code="transformer-pair",
        )
    return parts[0], parts[1]


def _loaded(name: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A classifier from a folder, or from the hub by its name."""
    name = name.removeprefix(HUGGING_FACE)
    try:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging as logging_of_transformers
    except ImportError:
        raise MissingDependencyError("transformers", "transformers") from None
    logging: Any = logging_of_transformers  # it has no types
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # a library is silent
    try:
        model, loading = AutoModelForSequenceClassification.from_pretrained(name, output_loading_info=True)
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError, ImportError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name}: transformers cannot load a sequence classifier from there: {reason}") from None
    finally:
        if shown:
            logging.enable_progress_bar()
    if loading["missing_keys"]:
        missing = ", ".join(sorted(loading["missing_keys"])[:3])
        raise ModelError(
            f"{name} is not a trained classifier: it has no weights for {missing}; fine-tune it first",
            code="not-trained",
        )
    return model, tokenizer


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

    def predict_proba(self, texts: list[str]) -> NDArray[np.float32]:
        """Class probabilities of texts; -> (texts, classes)"""
        import torch

        with torch.inference_mode():
            return self._outputs(texts)

    def _outputs(self, texts: list[str]) -> NDArray[np.float32]:
        import torch

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
        import torch

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
        import torch

        base = getattr(self.model, self.model.base_model_prefix)
        hidden = base(ids.to(self.model.device)).last_hidden_state
        return torch.as_tensor(self.model.score(hidden)).float()

    def _shared(self, sequences: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Only sequences that begin no other one are read, each with all that begin it; -> (texts, classes)"""
        import torch

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
    import torch

    limits = [tokenizer.model_max_length]
    for name, layer in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(layer, torch.nn.Embedding):
            # where padding has a position of its own, those up to it are not for words
            limits.append(layer.num_embeddings - (0 if layer.padding_idx is None else layer.padding_idx + 1))
    limits += [limit for limit in [getattr(model.config, "max_position_embeddings", None)] if limit]
    return int(min(limits)) if min(limits) < _NO_LIMIT else None


def _tokenizer_text(tokenizer: PreTrainedTokenizerBase) -> str:
    """The tokenizer as text, for the fingerprint."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return str(sorted(tokenizer.get_vocab().items())) if backend is None else str(backend.to_str())
