"""The secrets known in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from kotef.redaction.secrets import NOTHING, Redactor

_known: Final = ContextVar("known", default=NOTHING)


def redactor() -> Redactor:
    """What hides them: whoever writes, sends or shows something asks for it, so that no one can forget to pass it on.

    It holds for the context it was set in and for the tasks and threads of asyncio that are started there.
    """
    return _known.get()


def know(redactor: Redactor) -> None:
    """From here on these are known, until the `scope` ends."""
    _known.set(redactor)


@contextmanager
def scope() -> Iterator[None]:
    """Forget secrets that were registered within this block."""
    token = _known.set(_known.get())
    try:
        yield
    finally:
        _known.reset(token)
