"""The texts that an automaton was extracted from, found again, so that its rival, a bag of words, learns from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wfalens.cli.legacy.inputs import Reader
from wfalens.errors import InputError
from wfalens.text.datasets.catalogue import DATASETS, data_folder, is_available

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.text.corpus import Corpus

_MOST_TEXTS = 30_000  # that the bag of words learns from; more only cost time
_MOST_READ = 1_000_000  # texts of a corpus that is read for this


@dataclass(frozen=True)
class Reference:
    """Texts to fit the bag of words on, or the reason why there are none."""

    corpus: Corpus | None
    missing: str = ""

    @classmethod
    def given(
        cls,
        spec: str,
        reader: Reader,
    ) -> Reference:
        """The texts that a user names."""
        return cls(reader.corpus(spec, "train"))


def extraction_texts(
    wfa: WFA,
    reader: Reader,
    beside: tuple[Path, ...] = (),
    seed: int = 0,
) -> Reference:
    """The extraction texts that the provenance names: a data set, or a file in one of the folders `beside`, here or in
    the data folder. They must have as many texts and words as were read then."""
    made_from = wfa.provenance.get("corpus")
    if not isinstance(made_from, dict) or not made_from.get("name"):
        return Reference(None, "the automaton does not say which texts it was extracted from")
    name = str(made_from["name"])
    if int(made_from.get("texts") or 0) > _MOST_READ:
        return Reference(None, f"{name} has too many texts to be read again for it")
    try:
        spec = _found_again(name, reader, beside)
        corpus = None if spec is None else reader.corpus(spec, "train", labels=False)
    except InputError as error:
        return Reference(None, f"{name} cannot be read ({error})")
    if corpus is None:
        return Reference(None, f"{name}, the texts of the extraction, is not here")
    _, ids = wfa.encoder.encode(corpus.texts).nonempty()
    if (len(ids), len(ids.values)) != (made_from.get("texts"), made_from.get("tokens")):
        then = f"{made_from.get('texts')} texts with {made_from.get('tokens')} words"
        now = f"{len(ids)} texts with {len(ids.values)}"
        return Reference(None, f"{name} has changed since the extraction ({then} then, {now} now)")
    return Reference(corpus.sample(_MOST_TEXTS, seed))


def _found_again(name: str, reader: Reader, beside: tuple[Path, ...]) -> str | None:
    """What to read: a data set by its name and split, or the path of a file."""
    if name.partition(":")[0] in DATASETS:
        return name if is_available(name.partition(":")[0], reader.data) else None
    folder = data_folder(reader.data)
    places = [*beside, Path(), *([] if folder is None else [folder])]
    return next((str(place / name) for place in places if (place / name).exists()), None)
