"""The failure history of a run, and the attempts spent."""

from collections.abc import Iterable
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

FailureKind = Literal["test_failure", "lint_failure", "runtime_error", "tooling_error", "unknown"]

KEPT: Final = 20
"""Entries kept, the newest; `spent` has every visit, so the count of attempts is never bounded away."""

MAX_SUMMARY: Final = 400
MAX_TESTS: Final = 20


class FailureEntry(BaseModel):
    """One check that failed during one verification (or a review that refused).

    Source: written by the verifier, and by the planner for a refused review. `kind`, `detail` and `summary`
    are heuristic and may be wrong; `exit_code` is what the operating system reported.
    """

    model_config = ConfigDict(frozen=True)

    visit: int = Field(ge=0)
    """The run of the coder that this verification judged; 0 is the baseline."""
    check: str
    """Name of the check, unique within the task; with `visit` the key of the entry."""
    command: str
    """The command line as run, from the workspace root; empty when none reported this: `check` names the reason then
    (`verdict`, `put_back`, `review`)."""
    exit_code: int | None
    """Exit status, 0-255; None when our own timeout ended it; negative N: killed by signal N, as in `subprocess`.
    0 without a command."""
    kind: FailureKind
    detail: str = ""
    """A machine word for the situation (`assertion`, `command_not_found`, `no_tests`, `put_back`, …)."""
    summary: str = Field(max_length=MAX_SUMMARY)
    """One to three lines, at most 400 characters; full output is in the run directory."""
    fingerprint: str
    """Equal for the same failure whatever the line numbers, times and paths; see `classification.fingerprints`."""
    tests: tuple[str, ...] = Field(default=(), max_length=MAX_TESTS)
    """Ids of failing tests, at most 20, first to last as the runner reported them."""
    log: str | None = None
    """The full output, relative to the run directory."""


class FailureHistory(BaseModel):
    """All failed attempts of this run; `entries` keeps the newest `KEPT`, `attempts` counts all."""

    model_config = ConfigDict(frozen=True)

    spent: frozenset[int] = frozenset()
    """Visits that were spent: their verification, or their review, failed. The baseline is never spent."""
    entries: tuple[FailureEntry, ...] = ()

    @property
    def attempts(self) -> int:
        """Visits that failed; a visit counts once however often it is recorded."""
        return len(self.spent)

    @property
    def last(self) -> tuple[FailureEntry, ...]:
        """The entries of the newest visit on record, in the order of the checks."""
        newest = max((entry.visit for entry in self.entries), default=0)
        return tuple(entry for entry in self.entries if entry.visit == newest)

    @property
    def last_error_kinds(self) -> tuple[FailureKind, ...]:
        """Kinds of the newest visit's failures, without repetition; `unknown` says nothing and is left out."""
        return tuple(dict.fromkeys(entry.kind for entry in self.last if entry.kind != "unknown"))

    @property
    def last_commands(self) -> tuple[str, ...]:
        """Commands that failed in the newest visit, without repetition; none where only the verdict had reasons."""
        return tuple(dict.fromkeys(entry.command for entry in self.last if entry.command))

    def with_failures(self, failed: Iterable[FailureEntry]) -> Self:
        """This history plus one more failed verification; applying it twice changes nothing."""
        merged = {(entry.visit, entry.check): entry for entry in self.entries}
        spent = set(self.spent)
        forgotten = self.entries[0].visit if len(self.entries) == KEPT else -1
        for entry in failed:
            if entry.visit > 0:
                spent.add(entry.visit)
            if entry.visit > forgotten or (entry.visit, entry.check) in merged:  # else there was no room for it before
                merged[entry.visit, entry.check] = entry
        kept = sorted(merged.values(), key=lambda entry: entry.visit)[-KEPT:]
        return self.model_copy(update={"spent": frozenset(spent), "entries": tuple(kept)})


def merge_failures(history: FailureHistory, failed: Iterable[FailureEntry]) -> FailureHistory:
    """Reducer of the `failure_history` channel: one update is one verification; none failed, no change."""
    return history.with_failures(failed)
