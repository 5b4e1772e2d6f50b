"""How a model that reads ids was trained to read texts: words, classes, padding, truncation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError
from wfalens.messages import quoted, reason_of
from wfalens.models.contract import checked_prior
from wfalens.models.preprocessing_options import PreprocessingOptions
from wfalens.storage import write_atomically
from wfalens.text.corpus import named_classes
from wfalens.text.encoder import RIGHT, SIDES, TextEncoder
from wfalens.text.tokenizers import Tokenizer
from wfalens.text.vocabulary import PADDING_WORD, UNKNOWN_WORD, Vocabulary
from wfalens.validation import check_choice

VERSION = 1
METADATA = "wfalens.preprocessing"  # the entry of a model's own file that holds it


@dataclass(frozen=True, kw_only=True)
class Preprocessing(PreprocessingOptions):
    """The words and classes of a model that is stored elsewhere, and what few models need beside them.

    Args:
        words: in the order of the model's ids.
        class_names: in the order of the model's outputs.
        padding_side: the side on which texts are filled up to a fixed width: right or left; None: not known.
        truncation_side: the side on which a text that is too long loses words: right or left.
        tokenizer: how a text becomes words: a name, or a callable.

    Examples:
        >>> from wfalens import Preprocessing
        >>> preprocessing = Preprocessing(words=("<pad>", "<unk>", "the", "film"), class_names=("bad", "good"))
        >>> preprocessing.write("model.json")
        >>> Preprocessing.read("model.json") == preprocessing
        True
    """

    words: tuple[str, ...]
    class_names: tuple[str, ...]
    padding_side: str | None = None
    truncation_side: str = RIGHT
    tokenizer: str | Tokenizer = "basic_english"

    def __post_init__(self) -> None:
        super().__post_init__()
        named_classes(self.class_names)
        if len(set(self.words)) != len(self.words):
            raise InputError("a word stands twice among the model's words")
        if self.padding_side is not None:
            check_choice("padding_side", self.padding_side, SIDES)
        if not self.closed and self.unknown not in self.words:
            raise InputError(
                f"{quoted(str(self.unknown))} is not among the model's words; name the one that stands for unknown "
                "words (unknown), or say that there are none (closed)"
            )
        if self.padding is not None and self.padding not in self.words:
            raise InputError(f"{quoted(self.padding)} is not among the model's words; name the one that pads, or none")
        if self.initial_output is not None:
            checked_prior(self.initial_output, len(self.class_names))
        _ = self.encoder  # refuses an unknown tokenizer or a wrong length

    @classmethod
    def of(cls, encoder: TextEncoder, class_names: tuple[str, ...], **more: Any) -> Preprocessing:
        """The preprocessing of a model that reads the ids of an encoder.

        Args:
            encoder: its words, tokenizer, cut-off length and cutting side are taken
            class_names: in the order of the model's outputs
            more: other entries, such as `padding_side="left"`

        Examples:
            >>> Preprocessing.of(encoder, ("neg", "pos")).class_names
            ('neg', 'pos')
        """
        return cls(
            words=encoder.vocabulary.words,
            class_names=named_classes(class_names),
            tokenizer=encoder.tokenizer,
            max_length=encoder.max_length,
            truncation_side=encoder.truncation_side,
            closed=encoder.closed,
            **more,
        )

    def read_as(self, padding_side: str | None = None, **entries: Any) -> Preprocessing:
        """The same with other entries, where they are given."""
        given = {"padding_side": padding_side, **entries}
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    @property
    def encoder(self) -> TextEncoder:
        words = Vocabulary.of_words(self._known)
        return TextEncoder(words, self.tokenizer, self.max_length, self.truncation_side, self.closed)

    @property
    def word_ids(self) -> NDArray[np.int64]:
        """The model's id of every word of the encoder's vocabulary."""
        place = {word: number for number, word in enumerate(self.words)}
        unknown = 0 if self.closed else place[str(self.unknown)]
        padding = place.get(PADDING_WORD, unknown) if self.padding is None else place[self.padding]
        return np.array([padding, unknown, *(place[word] for word in self._known)], np.int64)

    @property
    def _known(self) -> list[str]:
        apart = {PADDING_WORD, UNKNOWN_WORD} | (set() if self.closed else {self.unknown, self.padding})
        return [word for word in self.words if word not in apart]

    def to_json(self) -> str:
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        content["tokenizer"] = self.encoder.tokenizer_name
        content["state"] = None if self.state is None else dict(self.state)
        return json.dumps({"version": VERSION, **content})

    @classmethod
    def from_json(cls, text: str, where: str, model: Path | None = None) -> Preprocessing:
        """Refused where it has a checksum, and the model or an entry has changed since it was written."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{where}: not JSON ({reason_of(error)})") from None
        if not isinstance(content, dict) or content.pop("version", VERSION) != VERSION:
            raise FormatError(f"{where}: not a preprocessing file of version {VERSION}")
        stored = content.pop("checksum", None)
        if stored is not None and model is not None and stored != _checksum(content, model):
            raise FormatError(
                f"{where}: it or {model.name} has changed since the model was described; describe it again, or remove "
                'the entry "checksum" if you changed it yourself',
                code="checksum",
            )
        known = {field.name: _KINDS[str(field.type)] for field in fields(cls)}
        for name in ("words", "class_names"):
            if name not in content:
                raise FormatError(f"{where}: the entry {name!r} is missing")
        for name, value in content.items():
            if name not in known:
                raise FormatError(f"{where}: unknown entry {quoted(name)}; known: {', '.join(known)}")
            fits, kind = known[name]
            if not fits(value):
                raise FormatError(f"{where}: the entry {name!r} is not {kind}")
        lists = {name: tuple(value) for name, value in content.items() if isinstance(value, list)}
        try:
            return cls(**{**content, **lists})
        except (ValueError, TypeError, OverflowError) as error:
            raise FormatError(f"{where}: {error}") from None

    @classmethod
    def read(cls, path: str | Path, model: Path | None = None) -> Preprocessing:
        """Read it from a file and check it.

        Args:
            path: a JSON file
            model: the file of the model, which is compared with the checksum

        Examples:
            >>> Preprocessing.of(encoder, ("neg", "pos")).write("model.json")
            >>> Preprocessing.read("model.json").tokenizer
            'basic_english'
        """
        try:
            return cls.from_json(Path(path).read_text("utf-8"), str(path), model)
        except UnicodeDecodeError:
            raise FormatError(f"{path}: not UTF-8 text") from None

    def write(self, path: str | Path, model: Path | None = None) -> None:
        """Write it as JSON, atomically.

        Args:
            path: the model's file name with the ending `.json`, so that it is found
            model: the model's file: a checksum of both is added

        Examples:
            >>> Preprocessing.of(encoder, ("neg", "pos")).write("model.json")
        """
        content = json.loads(self.to_json())
        if model is not None:
            content["checksum"] = _checksum(content, model)
        write_atomically(Path(path), json.dumps(content).encode())


def _checksum(content: Mapping[str, Any], model: Path) -> str:
    """Of a model's file and of how it reads texts."""
    entries = {name: value for name, value in content.items() if name not in ("version", "checksum")}
    digest = sha256(json.dumps(entries, sort_keys=True).encode())
    with model.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def preprocessing_of(path: Path, stored: Callable[[Path], str | None] | None = None) -> Preprocessing:
    """The file beside a model (model.json for model.h5), else what the model's own file holds."""
    beside = path.with_suffix(".json")
    if beside.is_file():
        return Preprocessing.read(beside, path)
    text = None if stored is None else stored(path)
    if text is None:
        raise InputError(
            f"{path} does not hold its words and classes; give preprocessing=…, or write them to {beside.name} beside "
            'it, for example {"words": ["<pad>", "<unk>", …], "class_names": ["ham", "spam"]}',
            code="preprocessing-needed",
        )
    return Preprocessing.from_json(text, f"{path} (metadata)")


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_numbers(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(type(item) in (int, float) for item in value))


def _is_names(value: object) -> bool:
    return value is None or (isinstance(value, dict) and _is_strings(list(value.values())))


_KINDS: dict[str, tuple[Callable[[object], bool], str]] = {  # by the type of a field: the values in JSON
    "tuple[str, ...]": (_is_strings, "a list of strings"),
    "tuple[float, ...] | None": (_is_numbers, "a list of numbers or null"),
    "Mapping[str, str] | None": (_is_names, "an object of names or null"),
    "str": (lambda value: isinstance(value, str), "a string"),
    "str | Tokenizer": (lambda value: isinstance(value, str), "a string"),
    "str | None": (lambda value: value is None or isinstance(value, str), "a string or null"),
    "int | None": (lambda value: value is None or type(value) is int, "a whole number or null"),
    "bool": (lambda value: type(value) is bool, "true or false"),
}
