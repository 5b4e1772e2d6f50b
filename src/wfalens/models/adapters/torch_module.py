"""Torch modules that read word ids."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import ModelError
from wfalens.messages import reason_of
from wfalens.models.adapter_registry import WrapArguments, adapter, packages_of
from wfalens.models.checks import probes, softmax
from wfalens.models.contract import State, fingerprint_of
from wfalens.models.inference import TOKENS_PER_BATCH, state_traces
from wfalens.models.padded import IdClassifier, Run, StepClassifier, checked_classes, id_classifier, reading_of
from wfalens.models.preprocessing_options import LOGITS
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import PADDING
from wfalens.validation import check_choice

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

_TOLERANCE = 1e-3


@adapter
class TorchAdapter:
    """A torch module from ids (batch, time) to logits, one row per word or one per text, in evaluation mode.

    Its `forward` takes `(ids)`, `(ids, lengths)`, `(ids, mask)` or a `PackedSequence` of ids; which, is told by the
    names of its parameters, else tried. Ids are moved to the module's device, and nothing else is.

    * Logits (batch, time, classes): one pass scores all prefixes of a text; shorter texts are padded on the right. If
      the module looks ahead (bidirectional, attention without a mask, a convolution), a warning says so, and every
      prefix is asked as a text of its own, without padding.
    * Logits (batch, classes): every prefix is asked as a text of its own, without padding.

    A module that also has `initial_state(batch) -> (batch, width)` and `step(state, ids (batch,)) -> (state, logits
    (batch, classes))` can be stepped. `initial_logits` (classes,) of the module, where it has them, give the output
    before any word (default: uniform).
    """

    kind, reads_ids = "a torch module", True

    def accepts(self, model: Any) -> bool:
        return "torch" in packages_of(model) and not packages_of(model) & {"keras", "transformers"}

    def wrap(
        self,
        model: Any,
        given: WrapArguments,
        *,
        inputs: str | None = None,
        tokens_per_batch: int = TOKENS_PER_BATCH,
    ) -> IdClassifier:
        """Options: what `forward` takes (ids, lengths, mask, padding_mask or packed); words in a batch at most."""
        if inputs is not None:
            check_choice("inputs", inputs, INPUTS)
        if any(weight.is_meta for weight in model.parameters()):
            raise ModelError(
                "the module has no weights: they are on the device meta; load them first", code="no-weights"
            )
        encoder, form = reading_of(given, LOGITS)
        run = _Forward(model.eval(), inputs, 0 if form.word_ids is None else int(form.word_ids[PADDING])).rows
        names, has_row_per_word = checked_classes(run, given, encoder, form, "the module", _embedding_rows(model))
        common: dict[str, Any] = {
            "form": form,
            "fingerprint": weights_fingerprint(model),
            "initial_output": _initial_output(model, len(names)),
        }
        if callable(getattr(model, "initial_state", None)) and callable(getattr(model, "step", None)):
            stepped = SteppableModule(model, run, encoder, names, **common)
            stepped.check_steps()
            return stepped
        return id_classifier(run, encoder, names, has_row_per_word, tokens_per_batch=tokens_per_batch, **common)


class SteppableModule(StepClassifier):
    """A module that continues from a state; whole texts are read by its `forward`."""

    def __init__(self, module: Any, run: Run, *arguments: Any, **common: Any) -> None:
        import torch

        with torch.inference_mode():
            start = np.array(_flat(module.initial_state(1), 1))
        super().__init__(partial(_step, module), start, *arguments, **common)
        self._run = run

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        return self.trace_batches(self._run, ids)

    def check_steps(self) -> None:
        """Refuse a module whose `step` says something else than its `forward`, by random texts, some of them long."""
        shortest, *longer = probes(self.encoder)
        self._compare(shortest, self.trace(shortest).values)
        for texts in longer:
            try:
                expected = self.trace(texts).values
            except ModelError:
                return  # a module that cannot read so long a text will say so when it is given one
            self._compare(texts, expected)

    def _compare(self, texts: Ragged[np.int32], expected: NDArray[np.float32]) -> None:
        # expected: (tokens, classes)
        for position, (tokens, _, outputs) in enumerate(state_traces(self, texts), 1):
            gap = float(np.abs(outputs - expected[tokens]).max())
            if gap > _TOLERANCE:
                raise ModelError(
                    f"the module's step contradicts its forward: after {position} of {texts.lengths.max()} words "
                    f"their outputs differ by {gap:.2g}; both must give the logits after the same words (is the state "
                    "that step returns the new one, and initial_state the one that forward begins with? does forward "
                    "look ahead?)"
                )


def weights_fingerprint(module: nn.Module, beside: str = "") -> str:
    """A hash of the module's kind and weights, and of what stands beside them."""
    import torch

    weights = sorted(module.state_dict().items())
    arrays = {name: tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy() for name, tensor in weights}
    return fingerprint_of(f"{type(module).__name__}{beside}", *chain.from_iterable(arrays.items()))


class _Forward:
    """Calls a module's `forward` with what it takes beside, or in place of, ids.

    padding: the module's id of what fills up short texts
    """

    def __init__(self, module: nn.Module, inputs: str | None, padding: int) -> None:
        self._module, self._padding = module, padding
        self._arguments = list(_arguments_of(module) if inputs is None else INPUTS[inputs])

    def rows(self, batch: NDArray[np.int64]) -> NDArray[np.float32]:
        """The module's output, as it is; (batch, time) -> (batch, classes) or (batch, time, classes)"""
        import torch

        ids, failures = torch.from_numpy(batch), list[Exception]()
        real = ids != self._padding
        real[:, 0] |= ~real.any(1)  # the lengths of texts are at least 1
        for arguments in list(self._arguments):
            try:
                with torch.inference_mode():
                    given = _numbers(self._module(*arguments(ids, real, _placement(self._module)[0])))
            except ModelError:
                raise
            except Exception as error:  # it is somebody's code
                failures.append(error)
                continue
            self._arguments = [arguments]  # what it takes is known now
            return given[:, None] if given.ndim == 1 else given
        raise ModelError(
            f"the module cannot read ids of shape {batch.shape} ({reason_of(failures[0])}); if its texts are too short "
            "for it, give a width to pad them to, if too long, give a max_length, and if forward takes more than ids, "
            f"say what (inputs: {', '.join(INPUTS)})",
            code="cannot-read",
        ) from failures[0]


def _packed(ids: Tensor, real: Tensor, device: torch.device) -> tuple[Any]:
    from torch.nn.utils.rnn import pack_padded_sequence

    return (pack_padded_sequence(ids.to(device), _lengths(real), batch_first=True, enforce_sorted=False),)


def _lengths(real: Tensor) -> Tensor:
    """Words of every text with the padding between them; (batch, time) -> (batch,), where torch packs sequences"""
    import torch

    return (torch.arange(1, real.shape[1] + 1) * real).amax(1)


# What `forward` may be given for ids (batch, time), which of them are no padding (batch, time), and the device.
_Arguments = Callable[["Tensor", "Tensor", "torch.device"], tuple[Any, ...]]
INPUTS: dict[str, tuple[_Arguments, ...]] = {
    "ids": (lambda ids, _, device: (ids.to(device),),),
    "lengths": (lambda ids, real, device: (ids.to(device), _lengths(real)),),
    "mask": (
        lambda ids, real, device: (ids.to(device), real.to(device)),
        lambda ids, real, device: (ids.to(device), real.long().to(device)),
    ),
    "padding_mask": (lambda ids, real, device: (ids.to(device), ~real.to(device)),),
    "packed": (_packed,),
}


def _arguments_of(module: nn.Module) -> Iterator[_Arguments]:
    """What `forward` may take, by the number and the names of its parameters; ids alone where that is enough."""
    given = [
        one for one in inspect.signature(module.forward).parameters.values() if one.kind <= one.POSITIONAL_OR_KEYWORD
    ]
    second = given[1].name.lower() if len(given) > 1 else ""
    if "len" in second:
        named: tuple[_Arguments, ...] = INPUTS["lengths"]
    elif "mask" in second:
        named = INPUTS["padding_mask" if "pad" in second else "mask"]
    else:
        named = INPUTS["lengths"] + INPUTS["mask"]
    if len(given) > 1 and given[1].default is inspect.Parameter.empty:
        return iter(named)
    return chain(INPUTS["ids"], named if second else INPUTS["packed"])


def _placement(module: nn.Module) -> tuple[torch.device, torch.dtype]:
    """Where a module's weights lie, and of which type they are."""
    import torch

    tensors = chain(module.parameters(), module.buffers())
    first = next((tensor for tensor in tensors if tensor.is_floating_point()), torch.empty(0))
    return first.device, first.dtype


def _step(module: Any, state: State, ids: NDArray[np.int64]) -> tuple[State, NDArray[np.float32]]:
    import torch

    device, dtype = _placement(module)
    with torch.inference_mode():
        after, given = module.step(torch.from_numpy(state).to(device, dtype), torch.from_numpy(ids).to(device))
    return _flat(after, len(state)), _numbers(given)


def _initial_output(module: nn.Module, classes: int) -> NDArray[np.floating] | None:
    """The module's `initial_logits` (classes,) as probabilities, where it has them."""
    import torch

    logits = getattr(module, "initial_logits", None)
    if logits is None:
        return None
    given = _numbers(torch.as_tensor(logits))
    if given.shape != (classes,):
        raise ModelError(f"initial_logits have the shape {given.shape}; one for each class is expected")
    return softmax(given)


def _embedding_rows(module: nn.Module) -> int | None:
    from torch.nn import Embedding

    return next((layer.num_embeddings for layer in module.modules() if isinstance(layer, Embedding)), None)


def _flat(state: object, batch: int) -> State:
    import torch

    if not isinstance(state, torch.Tensor) or state.ndim != 2 or len(state) != batch:
        shape = tuple(state.shape) if isinstance(state, torch.Tensor) else type(state).__name__
        raise ModelError(f"the module's state must be one tensor of shape ({batch}, width), not {shape}")
    return state.detach().float().cpu().numpy()


def _numbers(given: object) -> NDArray[np.float32]:
    import torch
    from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

    if isinstance(given, PackedSequence):
        given, _ = pad_packed_sequence(given, batch_first=True)
    if isinstance(given, Mapping) and "logits" in given:
        given = given["logits"]
    elif isinstance(given, tuple) and given:
        given = given[0]  # logits, and a state beside them
    if not isinstance(given, torch.Tensor):
        raise ModelError(f"the module returned {type(given).__name__} where one tensor, its logits, was expected")
    return given.detach().float().cpu().numpy()
