"""Checks judged in a copy of the workspace, with ignored files as they were before a run, or as they are."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kotef.checks.types import Check, CommandResult
from kotef.deps import NO_COPY
from kotef.errors import UsageError, WorkspaceError
from kotef.files import copy_in, remove_within
from kotef.git import inspect
from kotef.replay import CommandKey
from kotef.runs.copy_bench import changed_since, overlay
from kotef.runs.executor import RecordedExecutor
from kotef.sandbox import BaseCheckout, base_checkout
from kotef.workspace import Snapshots, activity_of, new_or_changed_files, read_remainder, remainder_folder

_LISTED = "files that git ignores"


@dataclass(frozen=True, slots=True)
class CopiedSurroundings:
    """Implements `deps.IgnoredFiles`; everything goes through the tape, so that a replay finds the same."""

    executor: RecordedExecutor
    snapshots: Snapshots

    async def differing(self, before: str, name: str) -> tuple[str, ...] | None:
        """See `IgnoredFiles`."""

        async def look() -> CommandResult:
            found = self._differing(before)
            return CommandResult(command=_LISTED, exit_code=0, passed=found is not None, stdout="\n".join(found or ()))

        result = await self.executor.tape.command(CommandKey("check", f"{name}-ignored", _LISTED), look)
        return tuple(filter(None, result.stdout.split("\n"))) if result.passed else None

    async def run(self, check: Check, name: str, before: str | None) -> CommandResult:
        """See `IgnoredFiles`."""

        async def judge() -> CommandResult:
            try:
                return await self.executor.run_in(check, name, lambda: self._copy(before))
            except (WorkspaceError, UsageError, OSError) as error:
                why = f"no copy: {error}"[:100]
                return CommandResult(
                    command=check.command,
                    exit_code=None,
                    passed=False,
                    kind="tooling_error",
                    detail=NO_COPY,
                    summary=why,
                )

        return await self.executor.tape.command(CommandKey("check", name, check.command), judge)

    def _differing(self, before: str) -> tuple[str, ...] | None:
        return new_or_changed_files(self.snapshots, before, activity_of(self.executor.config.run.path))

    @contextmanager
    def _copy(self, before: str | None) -> Iterator[BaseCheckout]:
        """The workspace as it is, in a copy; ignored files as they were with the tree `before`."""
        root, facts = self.executor.config.root, inspect(self.executor.config.root)
        if facts.toplevel is None or not facts.head:
            raise WorkspaceError(".", "has no commit", hint="commit it")
        with base_checkout(root, facts.toplevel, facts.head, self.executor.rooms.judging) as place:
            overlay(root, place.copy, changed_since(root, "HEAD"))
            if before is not None:
                self._take_back(place.copy, before)
            yield place

    def _take_back(self, copy: Path, before: str) -> None:
        """Restore the earlier ignored files in the copy; files without a kept copy are left out."""
        snapshots = self.snapshots
        record, kept = read_remainder(snapshots, before), remainder_folder(snapshots, before)
        for path in self._differing(before) or ():
            with suppress(OSError):
                remove_within(copy, path)
            if record is not None and path in record.copied:
                copy_in(kept / path, copy, path)
