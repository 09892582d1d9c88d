"""An entry of the issue log, and its Markdown form."""

import re
import unicodedata
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from kotef.failures.history import FailureKind
from kotef.failures.outcomes import Outcome
from kotef.sdd.files import Problem

MAX_TEXT: Final = 4_000
"""Characters kept per text of an entry."""

MAX_SEEN: Final = 20
"""Newest later runs that an entry names; earlier ones are only counted."""

RUN_ID: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"

State = Literal["open", "resolved"]


def _kept(value: object) -> object:
    """A text as it can be stored: no lone surrogates (bytes of a file name that are no UTF-8), and not too long."""
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


Text = Annotated[str, BeforeValidator(_kept)]


class _Stored(BaseModel):
    """Frozen, with camelCase keys in JSON; keys a later version adds are ignored."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


class IssueFailure(_Stored):
    """One failed check: a `failures.history.FailureEntry` without fields that only the run needs."""

    visit: int
    command: Text
    """Empty: no command reported it, `detail` says what is wrong."""
    exit_code: int | None
    """None: our own timeout ended it; negative N: killed by signal N."""
    kind: FailureKind
    detail: Text = ""
    summary: Text = ""
    fingerprint: Text = ""
    """Equal for the same failure; empty in an entry of a version that did not keep it."""
    tests: tuple[Text, ...] = ()

    @property
    def words(self) -> str:
        """The failure in one line of Markdown: command, status, kind and summary; empty parts are left out."""
        status = "timeout" if self.exit_code is None else f"exit {self.exit_code}"
        kind = "/".join(word for word in (self.kind.replace("unknown", ""), plain(self.detail, 40)) if word)
        ran = (code_span(self.command), status) if self.command else ()
        detail = f": {code_span(joined(self.summary), 400)}" if self.summary.strip() else ""
        return f"{', '.join(word for word in (*ran, kind) if word)}{detail}"


class Sighting(_Stored):
    """A later run that ended like the run of the entry."""

    run_id: str = Field(pattern=f"^{RUN_ID}$")
    date: Text
    """UTC, ISO 8601; when that run ended."""
    reopened: bool = False
    """Whether the entry was resolved at that time."""


class IssueEntry(_Stored):
    """One run that did not succeed (or did not at first), and the later runs that ended the same.

    Source: the snitch, by code; `goal`, summaries, test ids and paths come from people, tools and models, and nothing
    in them can end or imitate an entry.
    """

    run_id: str = Field(pattern=f"^{RUN_ID}$")
    """The key: a log has one entry of a run, or names it in one `seen_again`, whatever happens."""
    date: Text
    """UTC, ISO 8601; when the run ended."""
    outcome: Outcome
    reason: Text
    """A machine word."""
    sentence: Text = ""
    """The reason for people."""
    state: State = "open"
    """`resolved` once a run on the same task ended verified, or a person said so."""
    resolved_by: Text = ""
    """The run that resolved it, or `a person`; empty while open."""
    resolved_at: Text = ""
    """UTC, ISO 8601."""
    goal: Text
    ticket: Text | None = None
    """Its id; None when only a goal was named."""
    checks: tuple[Text, ...] = ()
    """The commands that judged."""
    attempts: int
    max_attempts: int
    entries: tuple[IssueFailure, ...] = ()
    """The newest failures, oldest first."""
    last_error_kinds: tuple[Text, ...] = ()
    last_command: Text = ""
    """Empty when no command failed."""
    files_changed: tuple[Text, ...] = ()
    files_read: tuple[Text, ...] = ()
    """Files that a model read; empty without a model."""
    run_dir: Text
    """Relative to the workspace root where it is inside; logs are in it."""
    patches: tuple[Text, ...] = ()
    follow_up: Text
    """The next step for a person, in one sentence."""
    resume: Text = ""
    """The command that continues the run; empty if none does."""
    notes: tuple[Text, ...] = ()
    seen_again: tuple[Sighting, ...] = Field(default=(), max_length=MAX_SEEN)
    """The newest runs that ended the same, oldest first."""
    seen_before: int = 0
    """Number of earlier runs that ended the same."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The run of the entry and the named runs that ended the same."""
        return (self.run_id, *(sighting.run_id for sighting in self.seen_again))


class IssueLog(BaseModel):
    """The entries of a log in order, and problems of unreadable ones."""

    model_config = ConfigDict(frozen=True)

    entries: tuple[IssueEntry, ...] = ()
    problems: tuple[Problem, ...] = ()


_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def one_line(text: str, limit: int) -> str:
    """One line of printable text: terminal sequences, control, format and bidirectional characters become spaces."""
    visible = (" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in _ANSI.sub(" ", text))
    line = " ".join("".join(visible).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def joined(text: str) -> str:
    """Lines as one, distinguished: by `; ` where the line before ends without a mark of its own."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    parts = (line if line.endswith((".", ":", ";", ",", "!", "?")) else f"{line};" for line in lines[:-1])
    return " ".join((*parts, *lines[-1:]))


def plain(text: str, limit: int) -> str:
    """One line in which no tag, comment, link or image can begin."""
    return one_line(text, limit).replace("<", "&lt;").replace("](", "]&#40;")


def code_span(text: str, limit: int = 300) -> str:
    """One line as a code span, whatever backticks are in it; empty for no text."""
    line = one_line(text, limit)
    ticks = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}" if line else ""
