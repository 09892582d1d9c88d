"""The log of an MCP server's stderr."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TextIO

from kotef.redaction import redactor
from kotef.sandbox import Log

MOST: Final = 5_000_000
"""Bytes of one log."""
_CHUNK: Final = 65_536
_DRAIN: Final = 64
"""Chunks read after the end; more than a pipe holds, fewer than a survivor could feed us for ever."""


@asynccontextmanager
async def log_without_secrets(path: Path) -> AsyncIterator[TextIO]:
    """What to give a program as its stderr: what it says there is in a file at `path`, known secrets hidden."""
    loop, shown, log = asyncio.get_running_loop(), redactor().stream(), Log(path, MOST)
    reading, writing = os.pipe()
    os.set_blocking(reading, False)

    def take() -> bool:
        """Read once; False when there is nothing more, now or ever."""
        try:
            chunk = os.read(reading, _CHUNK)
        except BlockingIOError:
            return False
        log.add(shown.feed(chunk))
        return bool(chunk)

    loop.add_reader(reading, take)
    try:
        with os.fdopen(writing, "w") as given:
            yield given
    finally:
        loop.remove_reader(reading)
        for _ in range(_DRAIN):
            if not take():
                break
        os.close(reading)
        log.add(shown.end())
        log.close()
