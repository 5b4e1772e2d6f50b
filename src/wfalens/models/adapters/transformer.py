"""Hugging Face sequence classifiers: the automaton reads words, the model sub-words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import FormatError, InputError, ModelError, WfalensError, naming_extras
from wfalens.messages import quoted, reason_of
from wfalens.models.adapter_registry import WrapArguments, adapter, packages_of
from wfalens.models.adapters.functions import TextClassifier
from wfalens.models.adapters.multi_label import MultiLabelClassifier
from wfalens.models.adapters.torch_module import weights_fingerprint
from wfalens.models.inference import TOKENS_PER_BATCH
from wfalens.ragged import Ragged, concatenate

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

SubWords = tuple[int, ...]
HUGGING_FACE = "hf:"
_WEIGHTS = ".safetensors"
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
        label: str | None = None,
    ) -> TextClassifier:
        """Options: a label to study alone, of a model that gives a text several; it is one of two classes then."""
        if given.tokenizer is not None and packages_of(given.tokenizer) & {"transformers", "tokenizers"}:
            model, given = (model, given.tokenizer), replace(given, tokenizer=None)  # the model's, not the automaton's
        network, tokenizer = _loaded(model) if isinstance(model, str) else _pair(model)
        config: Any = network.config
        names = [str(config.id2label[number]) for number in range(config.num_labels)]
        several = _is_multi_label(model, config)
        if not several and (config.problem_type == "regression" or len(names) < 2 or label is not None):
            raise ModelError(
                "the model does not choose one of several classes"
                if label is None
                else "the model gives a text one label, so there is none to choose",
                code="not-single-label",
            )
        spare = tokenizer.unk_token_id is not None and tokenizer.unk_token_id != config.pad_token_id
        reader = _Reader(network, tokenizer, tokens_per_batch, several)
        common: dict[str, Any] = {
            "unknown": str(tokenizer.unk_token) if spare else "",
            "batch_size": batch_size,
            "fingerprint": weights_fingerprint(network, f"{_tokenizer_text(tokenizer)}{several or ''}"),
        }
        if several:
            labelled = MultiLabelClassifier(reader.predict_proba, given.encoder(), names, **common)
            labelled.say_rejoined(given.texts)
            return labelled if label is None else labelled.label(label)
        kind = SharedPassClassifier if reader.is_causal else TextClassifier
        wrapped = kind(
            reader.predict_proba, given.encoder(), given.class_names(names), initial_output=initial_output, **common
        )
        wrapped.say_rejoined(given.texts)
        return wrapped


def _is_multi_label(model: Any, config: Any) -> bool:
    """Whether every label has a probability of its own, by the model's or the pipeline's settings."""
    function = getattr(model, "_postprocess_params", {}).get("function_to_apply") or getattr(
        config, "function_to_apply", None
    )
    applied = str(getattr(function, "value", function) or "").lower()
    return config.problem_type == "multi_label_classification" or applied == "sigmoid"


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
    with naming_extras():
        from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging as logging_of_transformers
    _check_folder(Path(name))
    logging: Any = logging_of_transformers  # it has no types
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # a library is silent
    try:
        config: Any = AutoConfig.from_pretrained(name, trust_remote_code=False)
        if "/" in str(config._attn_implementation):
            raise _foreign_file(name, "kernels are to be fetched from the hub")
        safely = {"config": config, "trust_remote_code": False}
        model, loading = AutoModelForSequenceClassification.from_pretrained(
            name, use_safetensors=True, output_loading_info=True, **safely
        )
        tokenizer = AutoTokenizer.from_pretrained(name, **safely)
    except WfalensError:
        raise
    except Exception as error:  # a folder from elsewhere fails in many ways within transformers
        raise InputError(
            f"{quoted(name)}: transformers cannot load a sequence classifier from there: {reason_of(error)}",
            code="cannot-load",
        ) from None
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


def _check_folder(folder: Path) -> None:
    """Refuse weights that are pickled or lie outside the folder."""
    if not folder.is_dir():
        return
    if (folder / "adapter_config.json").exists():
        raise _foreign_file(folder, "an adapter is to be put on a model from elsewhere; merge the two and save them")
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            shards = set(json.loads(index.read_text("utf-8"))["weight_map"].values())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise FormatError(f"{index}: not an index of weights", code="cannot-load") from None
        if any(
            not isinstance(each, str) or Path(each).name != each or Path(each).suffix != _WEIGHTS for each in shards
        ):
            raise _foreign_file(folder, f"weights are to be read from other places than {_WEIGHTS} files in the folder")
    elif any(folder.glob("*.bin")) and not any(folder.glob(f"*{_WEIGHTS}")):
        raise InputError(
            f"{folder}: its weights are pickled, and loading a pickle can run code; load the model in Python and save "
            f"it again, which writes {_WEIGHTS}",
            code="pickled-weights",
        )


def _foreign_file(name: object, reason: str) -> InputError:
    return InputError(f"{quoted(str(name))}: only files of the model are read, but {reason}", code="foreign-file")


class SharedPassClassifier(TextClassifier):
    """A causal transformer: one pass over a text scores all of its prefixes whose sub-words begin it."""

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        """Text by text, so that prefixes are asked together with the texts that they begin."""
        return concatenate([super(SharedPassClassifier, self).trace(part) for part in ids.chunks(self.batch_size)])


class _Reader:
    """Reads equal sequences of sub-words once, and only equally long ones together: nothing is padded.

    A causal model reads a sequence that begins another one along with it.
    """

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, tokens_per_batch: int, several: bool
    ) -> None:
        """several: whether every label has a probability of its own"""
        self.model: Any = model.train(False)
        self.several, self.classes = several, int(self.model.config.num_labels)
        self.tokenizer = tokenizer
        self.longest = _longest(model, tokenizer)
        # decoders refuse batches as long as nobody says which token pads
        self.tokens_per_batch = 1 if model.config.pad_token_id is None else tokens_per_batch

    def predict_proba(self, texts: list[str]) -> NDArray[np.float32]:
        """Class probabilities of texts; -> (texts, classes)"""
        import torch

        read = self.tokenizer(texts, truncation=self.longest is not None, max_length=self.longest)
        sequences: list[SubWords] = [tuple(ids) for ids in read["input_ids"]]
        place = {ids: at for at, ids in enumerate(sequences) if ids}
        owner = _owners(place) if self.is_causal else {ids: ids for ids in place}
        outputs: dict[SubWords, NDArray[np.float32]] = {}
        for batch in self._batches(dict.fromkeys(owner.values())):
            with torch.inference_mode():
                if self.is_causal:
                    logits = self._all_logits(torch.tensor(batch))
                else:
                    columns = {name: torch.tensor([rows[place[ids]] for ids in batch]) for name, rows in read.items()}
                    moved = {name: column.to(self.model.device) for name, column in columns.items()}
                    logits = self.model(**moved).logits.float()
            shares = logits.sigmoid() if self.several else logits.softmax(-1)
            outputs |= zip(batch, shares.cpu().numpy(), strict=True)
        found = np.full((len(texts), self.classes), 1 / self.classes, np.float32)
        for at, ids in enumerate(sequences):
            if ids:  # a model cannot read nothing
                rows = outputs[owner[ids]]
                found[at] = rows[self._last(ids)] if self.is_causal else rows
        return found

    def _batches(self, sequences: Iterable[SubWords]) -> Iterator[list[SubWords]]:
        for length, same in groupby(sorted(sequences, key=len), len):
            equal, rows = list(same), max(1, self.tokens_per_batch // length)
            yield from (equal[start : start + rows] for start in range(0, len(equal), rows))

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

    def _last(self, ids: SubWords) -> int:
        """The place whose logits count: decoders overlook padding at the end."""
        end = len(ids) - 1
        while end and ids[end] == self.model.config.pad_token_id:
            end -= 1
        return end


def _owners(sequences: Iterable[SubWords]) -> dict[SubWords, SubWords]:
    """For every sequence the one that it begins and that begins no other: one pass over it scores both."""
    order = sorted(sequences, reverse=True)
    owner: dict[SubWords, SubWords] = {}
    for ids, after in zip(order, [(), *order], strict=False):  # what a sequence begins stands right before it
        owner[ids] = owner[after] if after[: len(ids)] == ids else ids
    return owner


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
