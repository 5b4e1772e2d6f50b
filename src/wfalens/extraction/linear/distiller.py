"""Training of linear automata: gradient descent until the automaton says what the model says."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.automaton.linear import LinearWFA
from wfalens.corpus.sources.blocks import Source
from wfalens.corpus.sources.files import TextFiles
from wfalens.corpus.vectors import WordVectors
from wfalens.divergence import jensen_shannon
from wfalens.errors import InputError, WfalensError
from wfalens.extraction.completion.probing import choose_representatives
from wfalens.extraction.completion.queries import Ledger, query_limit
from wfalens.extraction.forecast import most_probing, most_training, say_forecast, within
from wfalens.extraction.holding import divided
from wfalens.extraction.lessons import Lessons
from wfalens.extraction.linear.distillation import Distillation
from wfalens.extraction.linear.generator import Generator
from wfalens.extraction.linear.inputs import word_inputs
from wfalens.extraction.perturbation import batches
from wfalens.extraction.provenance import about_corpus
from wfalens.models.causality import check_causal
from wfalens.models.contract import StepwiseClassifier
from wfalens.models.traces import last_outputs, prior_of
from wfalens.passes.run import DEFAULT_SAMPLE, Run
from wfalens.passes.survey import survey_corpus
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged
from wfalens.storage import read_file, write_file

_WARM_UP = 100  # steps
_SHORT = 9  # words
_BATCHES, _PREFIXES = 1, 1 << 32  # random streams beside those of the lessons
_CHECKPOINT, _CHECKPOINT_VERSION = "wfa-training", 1
_MOMENTS = ("exp_avg", "exp_avg_sq")  # what AdamW remembers of every parameter


@dataclass(frozen=True)
class Pass:
    """What one epoch reached: the mean divergence in training, CR and JSD on held-out texts."""

    loss: float
    cr: float
    jsd: float


def extract_linear(
    shape: Distillation,
    vectors: WordVectors | None,
    queries: int | None,
    seed: int,
    model: StepwiseClassifier,
    source: Source,
    run: Run,
    about: dict[str, Any],
    checkpoint: Path | None,
    progress: Progress,
) -> LinearWFA:
    """A linear extraction from end to end: of files, the automaton is trained on a sample of their texts."""
    with run.opened(source, about, DEFAULT_SAMPLE if isinstance(source, TextFiles) else None, progress) as session:
        survey = survey_corpus(session, model.encoder, seed)
        ids = survey.sample.ids
        if len(ids) == 0:
            raise InputError(f"{source.name}: there is no text with a word in it to extract from")
        check_causal(model, ids)
        survey.tally.say_cut(progress, model.encoder.max_length)
        survey.tally.say_left_out(progress)
        if checkpoint is None and run.parts is not None:
            checkpoint = run.parts / "training"
        return distil(
            model,
            ids,
            shape,
            vectors=vectors,
            ledger=Ledger(query_limit(queries, model)),
            seed=seed,
            checkpoint=checkpoint,
            provenance={"corpus": about_corpus(source, survey, survey.tally), **about},
            progress=progress,
        )


def distil(
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    shape: Distillation,
    *,
    vectors: WordVectors | None = None,
    ledger: Ledger | None = None,
    seed: int = 0,
    checkpoint: Path | None = None,
    provenance: dict[str, Any],
    progress: Progress = SILENT,
) -> LinearWFA:
    """Train an automaton against `model` on texts and on perturbed copies of them.

    A tenth of the texts is held out; the epoch with the lowest divergence there is kept. With a `checkpoint`, training
    that was stopped goes on after its last whole epoch, and ends as if it had never been stopped; the file is removed
    at the end. The `ledger` limits what the model is asked (default: no limit), and what was asked stands in the
    provenance.
    """
    ledger = ledger or Ledger()
    if len(ids) < 2:
        raise InputError("training needs at least two texts")
    tests, fit = divided(ids, seed)
    words, classes = len(model.encoder.vocabulary), len(model.class_names)
    counts = np.bincount(fit.values, minlength=words)
    rng = np.random.default_rng([seed, _PREFIXES])
    chosen = choose_representatives(fit, np.zeros(len(fit.values), np.int32), shape.prefixes, rng)
    representatives = replace(chosen, per_state=len(chosen.state))  # the empty prefix stands for the same state
    ledger.texts += len(tests.values)
    most = most_probing(model, len(chosen.state), words, int(fit.lengths.max()))
    most += most_training(shape.epochs, shape.tokens, fit)
    say_forecast(model, fit, len(tests.values), within(ledger, most), progress)
    inputs = word_inputs(model, representatives, vectors, counts, ledger, progress)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        generator = Generator(shape, inputs, classes)
    wanted = last_outputs(model, tests)
    optimiser = torch.optim.AdamW(generator.parameters(), lr=shape.learning_rate, betas=(0.9, 0.99))
    run = _Training(generator, prior_of(model), optimiser, Lessons(model, fit, shape, seed, ledger))
    manifest = {
        "shape": asdict(shape),
        "seed": seed,
        "model": model.fingerprint,
        "texts": _digest(ids.values, ids.offsets),
        "queries": ledger.limit,
    }
    if vectors is not None:
        manifest["vectors"] = [vectors.source, _digest(vectors.matrix)]
    run.resume(checkpoint, manifest)
    progress.start("training the automaton", shape.epochs)
    progress.advance(len(run.history))
    while len(run.history) < shape.epochs and not run.has_settled:
        epoch = len(run.history)
        own = np.random.default_rng([seed, epoch, _BATCHES])  # does not depend on where training was stopped
        lesson = run.lessons.numbered(epoch)
        loss = run.learn(lesson.texts, lesson.outputs.values, epoch, own)
        run.note(Pass(loss, *measured(generator, tests, wanted)))
        run.save(checkpoint, manifest)
        progress.advance(1, f"CR {run.history[-1].cr:.3f}, JSD {run.history[-1].jsd:.4f}")
    progress.finish()
    generator.load_state_dict(run.best)
    wfa = LinearWFA.of_texts(
        ids,
        encoder=model.encoder,
        class_names=model.class_names,
        factors=generator.finished(),
        provenance=provenance
        | {
            "training": [asdict(each) for each in run.history],
            "held_out": len(tests),
            "queries": ledger.to_json(),
        },
    )
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return wfa


class _Training:
    """A training under way: the network, its optimiser, its history and its best epoch."""

    def __init__(
        self,
        generator: Generator,
        prior: NDArray[np.floating],
        optimiser: torch.optim.Optimizer,
        lessons: Lessons,
    ) -> None:
        self.generator, self.optimiser, self.lessons = generator, optimiser, lessons
        self.prior = torch.from_numpy(prior.astype(np.float32))  # the model's output before any word; (C,)
        self.history: list[Pass] = []
        self.best = _copy(generator)

    @property
    def has_settled(self) -> bool:
        scores = [each.jsd for each in self.history]
        return len(scores) - int(np.argmin(scores or [0])) > self.generator.shape.patience

    def note(self, reached: Pass) -> None:
        if not math.isfinite(reached.loss):
            raise WfalensError("training diverged; lower the learning rate")
        if reached.jsd < min((each.jsd for each in self.history), default=math.inf):
            self.best = _copy(self.generator)
        self.history.append(reached)

    def learn(self, ids: Ragged[np.int32], wanted: NDArray[np.float32], epoch: int, rng: np.random.Generator) -> float:
        """One pass over texts and the model's outputs on their prefixes; -> mean divergence. wanted: (tokens, C)"""
        shape, outputs, total = self.generator.shape, Ragged(wanted, ids.offsets), 0.0
        found = batches(ids.lengths, _batch_tokens(shape, ids), rng)
        rate = shape.learning_rate * min(1.0, math.sqrt(_SHORT / ids.lengths.mean()))
        for number, batch in enumerate(found):
            texts = ids.take(batch)
            real = np.arange(texts.lengths.max())[:, None] < texts.lengths  # (time, texts)
            target = np.empty((*real.T.shape, wanted.shape[1]), np.float32)
            target[real.T] = outputs.take(batch).values
            weights = self.generator(_by_time(texts))[torch.from_numpy(real)]
            words = divergence(weights, torch.from_numpy(target.swapaxes(0, 1)[real])).sum()
            nothing = divergence(self.generator.before_any_word(), self.prior)  # the empty prefix of every text
            loss = (words + len(texts) * nothing) / (len(texts.values) + len(texts))
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            norm = nn.utils.clip_grad_norm_(self.generator.parameters(), 1.0)
            done = (epoch + number / len(found)) / shape.epochs
            warm = min(1.0, (epoch * len(found) + number + 1) / _WARM_UP)
            for group in self.optimiser.param_groups:
                group["lr"] = rate * warm * max(1e-3, 0.5 * (1 + math.cos(math.pi * done)))
            if torch.isfinite(norm):
                self.optimiser.step()
            total += float(loss.detach()) * len(texts.values)
        return total / len(ids.values)

    def save(self, path: Path | None, manifest: dict[str, Any]) -> None:
        if path is None:
            return
        state = self.optimiser.state_dict()["state"]
        tensors = {f"now.{name}": value.numpy() for name, value in self.generator.state_dict().items()}
        tensors |= {f"best.{name}": value.numpy() for name, value in self.best.items()}
        tensors |= {
            f"optimiser.{number}.{name}": np.atleast_1d(value.numpy())
            for number, each in state.items()
            for name, value in each.items()
        }
        header = {"manifest": manifest, "history": [asdict(each) for each in self.history]}
        header["asked"] = self.lessons.ledger.asked
        write_file(path, _CHECKPOINT, _CHECKPOINT_VERSION, header, tensors)

    def resume(self, path: Path | None, manifest: dict[str, Any]) -> None:
        """Take up a stopped training; one of other texts, another model, other vectors or settings is refused."""
        if path is None or not path.exists():
            return
        file = read_file(path, _CHECKPOINT, _CHECKPOINT_VERSION)
        if file.header.get("manifest") != json.loads(json.dumps(manifest)):
            raise InputError(f"{path} is a training with other texts, model, vectors or settings; remove it first")
        history, asked = file.field("history", list), file.field("asked", dict)
        try:
            state: dict[int, dict[str, Tensor]] = {}
            for name, value in file.tensors.items():
                if name.startswith("optimiser."):
                    _, number, key = name.split(".")
                    tensor = torch.from_numpy(value.copy())
                    state.setdefault(int(number), {})[key] = tensor.reshape(()) if key == "step" else tensor
            now, self.best = (
                {
                    name.removeprefix(prefix): torch.from_numpy(value.copy())
                    for name, value in file.tensors.items()
                    if name.startswith(prefix)
                }
                for prefix in ("now.", "best.")
            )
            for weights in (self.best, now):
                self.generator.load_state_dict(weights)
            shapes = dict(enumerate(each.shape for each in self.generator.parameters()))
            if any({name: each[key].shape for name, each in state.items()} != shapes for key in _MOMENTS):
                raise ValueError("the optimiser's state is another one's")
            self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": state})
            self.history = [Pass(**{name: float(value) for name, value in each.items()}) for each in history]
            self.lessons.go_on(len(history), {name: int(number) for name, number in asked.items()})
        except (RuntimeError, TypeError, ValueError, KeyError, AttributeError) as error:
            raise file.fail(f"it does not fit the training ({str(error).splitlines()[0]})") from None


def divergence(weights: Tensor, wanted: Tensor) -> Tensor:
    """KL of the automaton's outputs from the model's, prefix by prefix; (…, classes) -> (…,)"""
    return (torch.xlogy(wanted, wanted) - wanted * weights.log_softmax(-1)).sum(-1)


@torch.no_grad()
def measured(generator: Generator, ids: Ragged[np.int32], wanted: NDArray[np.float32]) -> tuple[float, float]:
    """CR and JSD on whole texts. wanted: (texts, C)"""
    said = np.empty(wanted.shape)
    for batch in batches(ids.lengths, 4 * _batch_tokens(generator.shape, ids), np.random.default_rng(0)):
        texts = ids.take(batch)
        weights = generator(_by_time(texts))
        said[batch] = weights[texts.lengths - 1, np.arange(len(texts))].double().softmax(-1).numpy()
    return float(np.mean(said.argmax(1) == wanted.argmax(1))), float(jensen_shannon(said, wanted).mean())


def _by_time(texts: Ragged[np.int32]) -> Tensor:
    # -> (time, texts)
    return torch.from_numpy(np.ascontiguousarray(texts.padded().T)).long()


def _batch_tokens(shape: Distillation, ids: Ragged[np.int32]) -> int:
    """Long texts need more tokens to a batch, lest it hold only a few of them."""
    return max(1, round(shape.batch * math.sqrt(ids.lengths.mean())))


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}


def _digest(*arrays: NDArray[Any]) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]
