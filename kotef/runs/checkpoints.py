"""Saving and loading of a run's checkpoints."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import copy
from pathlib import Path
from typing import Any, Final

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from kotef.checks.verification import Verification
from kotef.failures.history import FailureHistory
from kotef.failures.visit_history import Visit
from kotef.redaction import redactor
from kotef.state import CoderTrial, Edits, Plan, Task, Usage

STORED: Final = [
    (model.__module__, model.__name__)
    for model in (Task, Plan, Edits, Verification, FailureHistory, Usage, CoderTrial, Visit)
]
"""The types that a checkpoint may contain besides messages; others are not instantiated."""


class _WithoutSecrets(JsonPlusSerializer):
    """Redacts everything that is written to disk, including errors of nodes."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The value as it is kept."""
        return super().dumps_typed(redactor().whole(repr(obj) if isinstance(obj, BaseException) else obj))


def prepared(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """The checkpointer prepared for a run: it knows the types of a checkpoint, and usually removes secrets."""
    if type(saver.serde) is not JsonPlusSerializer:
        return saver.with_allowlist(STORED)
    clone = copy(saver)
    clone.serde = _WithoutSecrets(allowed_msgpack_modules=STORED)
    return clone


@asynccontextmanager
async def checkpoints(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """The saver of one run. WAL with `synchronous=normal`: a kill loses nothing, a power cut at most the last step."""
    async with aiosqlite.connect(path) as connection:
        await connection.execute("PRAGMA journal_mode=wal")
        await connection.execute("PRAGMA synchronous=normal")
        yield AsyncSqliteSaver(connection, serde=_WithoutSecrets(allowed_msgpack_modules=STORED))


async def forget_conversations(saver: AsyncSqliteSaver, run_id: str) -> None:
    """Delete the coder's inner checkpoints of a finished run; a resume needs only those of the graph."""
    for table in ("checkpoints", "writes"):
        await saver.conn.execute(
            f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns LIKE 'coder:%'",  # noqa: S608  two names of ours
            (run_id,),
        )
    await saver.conn.commit()
    await saver.conn.execute("VACUUM")
