"""Lessons about endpoints, kept beside a run so that a resumed one does not pay for them again."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from kotef.files import read_regular, write_atomic
from kotef.models.dialects import ChoiceForm
from kotef.models.endpoint_memory import EndpointMemories, EndpointMemory
from kotef.models.responses_request import ModelApi

FILE: Final = "endpoints.json"
"""Name of the file in the state of a run."""
_LARGEST: Final = 1024 * 1024
"""Bytes of the file."""


class EndpointLessons(BaseModel):
    """What one model at one endpoint takes and refuses; the fields are those of `EndpointMemory`.

    Source: written by kotef. The dialect is not part of it: the server gives itself away with its first answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str
    """A digest of the base URL, which may contain a password."""
    model: str
    api: ModelApi
    without: frozenset[str]
    renamed: dict[str, str]
    refused_fields: frozenset[str]
    needed_fields: frozenset[str]
    bare: bool
    forms: tuple[ChoiceForm, ...] | None
    choice_refused: bool
    call_id: str
    alternates: bool
    signed: bool
    keywords: frozenset[str]
    prompted: bool
    fixed: dict[str, Any]
    learnt: tuple[str, ...]


_LESSONS: Final = TypeAdapter(tuple[EndpointLessons, ...])
_NAMES: Final = tuple(name for name in EndpointLessons.model_fields if name not in {"endpoint", "model", "learnt"})


class LessonStore:
    """The file of a run."""

    def __init__(self, path: Path) -> None:
        """`path` need not exist; one that cannot be read or written only costs the lessons."""
        self._path = path
        self._known = {(one.endpoint, one.model): one for one in _read(path)}

    def recall(self, base_url: str, model: str, memory: EndpointMemory) -> None:
        """Put what an earlier process learnt into a memory; what the user has chosen since stays."""
        known = self._known.get((_digest(base_url), model))
        for name in _NAMES if known else ():
            if name != "api" or not memory.has_fixed_api:
                setattr(memory, name, _own(getattr(known, name)))
        memory.learnt[:] = known.learnt if known else ()

    def keep(self, memories: Mapping[tuple[str, str], EndpointMemory]) -> None:
        """Write what is known now."""
        for (base_url, model), memory in memories.items():
            facts: dict[str, Any] = {name: getattr(memory, name) for name in (*_NAMES, "learnt")}
            lessons = EndpointLessons(endpoint=_digest(base_url), model=model, **facts)
            self._known[lessons.endpoint, model] = lessons
        try:
            write_atomic(self._path, _LESSONS.dump_json(tuple(self._known.values())))
        except OSError:
            return  # a resumed run learns them again


def keep_lessons(memories: EndpointMemories, path: Path) -> None:
    """Start with the lessons of the file, and write each new one into it."""
    memories.store = LessonStore(path)


def _read(path: Path) -> tuple[EndpointLessons, ...]:
    try:
        return _LESSONS.validate_json(read_regular(path, largest=_LARGEST))
    except (OSError, ValidationError):
        return ()


def _digest(base_url: str) -> str:
    return sha256(base_url.rstrip("/").encode("utf-8", "replace")).hexdigest()[:16]


def _own(value: Any) -> Any:
    """The value in the type in which a memory changes it."""
    match value:
        case frozenset():
            return set(value)
        case dict():
            return dict(value)
        case _:
            return value
