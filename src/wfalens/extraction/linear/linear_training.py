"""A training of a linear automaton under way: gradient descent until the automaton says what the model says."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.errors import InputError, WfalensError
from wfalens.extraction.deadline import Deadline
from wfalens.extraction.linear.generator import Generator
from wfalens.extraction.linear.linear_options import Linear
from wfalens.extraction.perturbation import length_buckets
from wfalens.extraction.perturbed_batches import PerturbedBatches, TrainingBatch
from wfalens.models.inference import jensen_shannon
from wfalens.ragged import Ragged
from wfalens.storage import read_file, write_file

_WARM_UP, _WARM_UP_SHARE = 100, 0.1  # steps, and share of a short training
_SLOWEST = 1e-3  # share of the learning rate that is left at the end
_SHORT = 9  # words
_LONG, _FASTEST = 2000, 2.4  # steps of a training at the given rate; a shorter one has so many times the rate at most
_LEAST_STEPS = 40  # in a pass
_AVERAGED = 100  # steps
_TOKENS_AT_ONCE = 1 << 13
_FLOOR = 1e-12  # below it, probabilities are not distinguished
_CHECKPOINT, _CHECKPOINT_VERSION = "wfa-training", 3
_MOMENTS = ("exp_avg", "exp_avg_sq")  # what AdamW remembers of every parameter


@dataclass(frozen=True)
class Pass:
    """What one epoch reached: the mean divergence in training at its temperature, CR and JSD on held-out texts."""

    loss: float
    cr: float
    jsd: float


class LinearTraining:
    """The network, its optimiser, its history and its best epoch; it ends with the epochs, or with the time.

    What is measured and kept is the mean of the weights over the last steps: long before the learning rate has fallen,
    it is far better than the weights themselves, so that training may be stopped at any time.
    """

    def __init__(
        self, generator: Generator, prior: NDArray[np.floating], batches: PerturbedBatches, deadline: Deadline
    ) -> None:
        self.generator, self.batches, self.deadline = generator, batches, deadline
        rate = generator.shape.learning_rate
        self.optimiser = torch.optim.AdamW(
            generator.parameters(), lr=rate, betas=(0.9, 0.99), weight_decay=0.01, fused=True
        )
        self.prior = torch.from_numpy(prior.astype(np.float32))  # the model's output before any word; (C,)
        self.history: list[Pass] = []
        self.mean, self.best = _copy(generator), _copy(generator)

    @property
    def is_over(self) -> bool:
        """One pass is made in any case."""
        if not self.history:
            return False
        return len(self.history) >= self.generator.shape.passes or self.deadline.is_over or self._is_stagnant

    @property
    def _is_stagnant(self) -> bool:
        scores = [each.jsd for each in self.history]
        return len(scores) - int(np.argmin(scores or [0])) > int(self.generator.shape.patience)

    def note(self, loss: float, ids: Ragged[np.int32], targets: NDArray[np.float32]) -> Pass:
        """Measure an epoch that had this loss on held-out texts, and keep the best. targets: (texts, C)"""
        if not math.isfinite(loss):
            raise WfalensError("training diverged; lower the learning rate")
        own = _copy(self.generator)
        self.generator.load_state_dict(self.mean)
        reached = Pass(loss, *measured(self.generator, ids, targets))
        self.generator.load_state_dict(own)
        if reached.jsd < min((each.jsd for each in self.history), default=math.inf):
            self.best = {name: tensor.clone() for name, tensor in self.mean.items()}
        self.history.append(reached)
        return reached

    def learn(self, data: TrainingBatch, rng: np.random.Generator) -> float:
        """One pass over a batch, or as much of it as there is time for; -> mean divergence."""
        shape, ids, total, tokens = self.generator.shape, data.texts, 0.0, 0
        found = length_buckets(ids.lengths, _batch_tokens(shape, ids), rng)
        rate = (
            shape.learning_rate
            * min(1.0, math.sqrt(_SHORT / ids.lengths.mean()))
            * _learning_rate_boost(shape.passes * len(found))
        )
        epoch = len(self.history)
        for number, batch in enumerate(found):
            done = max((epoch + number / len(found)) / shape.passes, self.deadline.share_used)
            if done >= 1 and tokens:
                break
            steps, part = epoch * len(found) + number + 1, data.take(batch)
            warm = min(1.0, max(steps / _WARM_UP, done / _WARM_UP_SHARE))
            temperature = float(shape.temperature) + min(1.0, done) * (1 - float(shape.temperature))
            loss = self._step(part, temperature, rate * warm * _cosine_decay(done))
            total, tokens = total + loss * len(part.asked.values), tokens + len(part.asked.values)
        return total / tokens

    def _step(self, batch: TrainingBatch, temperature: float, rate: float) -> float:
        """Descend along the gradient of the divergence after all words asked, and before any word."""
        outputs = self.generator(batch.texts, batch.places)
        words = divergence(outputs, torch.from_numpy(batch.outputs.values), temperature).sum()
        nothing = divergence(self.generator.before_any_word(), self.prior, temperature)
        weight = len(batch.texts) * len(outputs) / len(batch.texts.values)  # that of one word of each text
        loss = (words + weight * nothing) / (len(outputs) + weight)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.generator.parameters(), 1.0)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        if torch.isfinite(norm):
            self.optimiser.step()
            self._average()
        return float(loss.detach())

    @torch.no_grad()
    def _average(self) -> None:
        """Move the mean towards the weights: it is over the last hundred steps or, in the beginning, a tenth of all."""
        weights = dict(self.generator.named_parameters())
        steps = float(self.optimiser.state[weights["start"]]["step"])
        share = max(1 / _AVERAGED, 9 / (10 + steps))
        torch._foreach_lerp_([self.mean[name] for name in weights], list(weights.values()), share)

    def save(self, path: Path | None, manifest: dict[str, Any]) -> None:
        if path is None:
            return
        parts = {"now": self.generator.state_dict(), "mean": self.mean, "best": self.best}
        parts |= {f"optimiser.{number}": each for number, each in self.optimiser.state_dict()["state"].items()}
        tensors = {
            f"{part}/{name}": np.atleast_1d(value.numpy())
            for part, each in parts.items()
            for name, value in each.items()
        }
        header = {
            "manifest": manifest,
            "history": [asdict(each) for each in self.history],
            "asked": self.batches.budget.asked,
            "seconds": self._seconds,
        }
        write_file(path, _CHECKPOINT, _CHECKPOINT_VERSION, header, tensors)

    @property
    def _seconds(self) -> float:
        """Of a limited time, what is used: a training that goes on has the rest."""
        return 0.0 if self.deadline.seconds is None else self.deadline.used

    def resume(self, path: Path | None, manifest: dict[str, Any]) -> None:
        """Take up a stopped training; one of other texts, another model, other vectors or settings is refused."""
        if path is None or not path.exists():
            return
        file = read_file(path, _CHECKPOINT, _CHECKPOINT_VERSION)
        if file.header.get("manifest") != json.loads(json.dumps(manifest)):
            raise InputError(f"{path} is a training with other texts, model, vectors or settings; remove it first")
        history, asked = file.field("history", list), file.field("asked", dict)
        self.deadline = self.deadline.after(file.number("seconds"))
        try:
            parts: dict[str, dict[str, Tensor]] = {}
            for key, value in file.tensors.items():
                part, name = key.split("/")
                tensor = torch.from_numpy(value.copy())
                parts.setdefault(part, {})[name] = tensor.reshape(()) if name == "step" else tensor
            now, self.mean, self.best = (parts.pop(part) for part in ("now", "mean", "best"))
            state = {int(part.removeprefix("optimiser.")): each for part, each in parts.items()}
            for weights in (self.best, self.mean, now):
                self.generator.load_state_dict(weights)
            shapes = dict(enumerate(each.shape for each in self.generator.parameters()))
            if any({name: each[key].shape for name, each in state.items()} != shapes for key in _MOMENTS):
                raise ValueError("the optimiser's state is another one's")
            self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": state})
            self.history = [Pass(**{name: float(value) for name, value in each.items()}) for each in history]
            self.batches.resume(len(history), {name: int(number) for name, number in asked.items()})
        except (RuntimeError, TypeError, ValueError, KeyError, AttributeError) as error:
            raise file.fail(f"it does not fit the training ({str(error).splitlines()[0]})") from None


def divergence(weights: Tensor, targets: Tensor, temperature: float) -> Tensor:
    """T² · KL of the automaton's outputs from the model's at a temperature T, prefix by prefix; (…, classes) -> (…,)

    Where the model is sure, its outputs at T = 1 tell next to nothing of its class weights; at a higher temperature
    they do (knowledge distillation). T² keeps the size of the slopes.
    """
    target = (targets.clamp_min(_FLOOR).log() / temperature).log_softmax(-1)
    predicted = (weights / temperature).log_softmax(-1)
    return temperature**2 * (target.exp() * (target - predicted)).sum(-1)


@torch.no_grad()
def measured(generator: Generator, ids: Ragged[np.int32], targets: NDArray[np.float32]) -> tuple[float, float]:
    """CR and JSD on whole texts. targets: (texts, C)"""
    parts = ids.chunks(_TOKENS_AT_ONCE)
    predicted = np.concatenate([generator(part, part.offsets[1:] - 1).double().softmax(-1).numpy() for part in parts])
    return float(np.mean(predicted.argmax(1) == targets.argmax(1))), float(jensen_shannon(predicted, targets).mean())


def _cosine_decay(done: float) -> float:
    """The learning rate's course: it falls along a cosine."""
    return max(_SLOWEST, 0.5 * (1 + math.cos(math.pi * done)))


def _learning_rate_boost(steps: int) -> float:
    """By how much a training of so few steps learns faster."""
    return min(_FASTEST, max(1.0, math.sqrt(_LONG / steps)))


def _batch_tokens(shape: Linear, ids: Ragged[np.int32]) -> int:
    """Long texts need more tokens to a batch, lest it hold only a few of them; few texts make small batches."""
    usual = shape.batch * math.cbrt(ids.lengths.mean())
    return max(1, round(min(usual, len(ids.values) / _LEAST_STEPS)))


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
