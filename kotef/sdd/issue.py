"""An entry of the issue log, and its Markdown form."""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from kotef.failures.history import FailureKind
from kotef.failures.outcomes import Outcome
from kotef.failures.plural import counted
from kotef.sdd.files import Problem

MAX_TEXT: Final = 4_000
"""Characters kept of each text of an entry."""

MAX_SEEN: Final = 20
"""Later runs an entry names, the newest; those before them are only counted."""

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
    """One failed check, as `failures.history.FailureEntry` has it, without what only the run itself needs."""

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
        """What failed, how and of what kind, in one line of Markdown; what says nothing is left out."""
        status = "timeout" if self.exit_code is None else f"exit {self.exit_code}"
        kind = "/".join(word for word in (self.kind.replace("unknown", ""), plain(self.detail, 40)) if word)
        ran = (code_span(self.command), status) if self.command else ()
        said = f": {code_span(joined(self.summary), 400)}" if self.summary.strip() else ""
        return f"{', '.join(word for word in (*ran, kind) if word)}{said}"


class Sighting(_Stored):
    """A later run that ended just as the run of the entry did."""

    run_id: str = Field(pattern=f"^{RUN_ID}$")
    date: Text
    """UTC, ISO 8601; when that run ended."""
    reopened: bool = False
    """The entry was resolved when that run ended so."""


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
    """The run that did it, or `a person`; empty while open."""
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
    """What a model looked at; empty if none was asked."""
    run_dir: Text
    """Relative to the workspace root where it is inside; logs are in it."""
    patches: tuple[Text, ...] = ()
    follow_up: Text
    """What a person should do, in one sentence."""
    resume: Text = ""
    """The command line that continues; empty when nothing would."""
    notes: tuple[Text, ...] = ()
    seen_again: tuple[Sighting, ...] = Field(default=(), max_length=MAX_SEEN)
    """The newest runs that ended the same, oldest first."""
    seen_before: int = 0
    """How many others did before those."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The run of the entry and those that ended the same, as far as they are named."""
        return (self.run_id, *(sighting.run_id for sighting in self.seen_again))


class IssueLog(BaseModel):
    """The entries of a log in the order of the file, and what in it looks like an entry but cannot be read."""

    model_config = ConfigDict(frozen=True)

    entries: tuple[IssueEntry, ...] = ()
    problems: tuple[Problem, ...] = ()


class Span(NamedTuple):
    """Where an entry stands, from its first character to the last before the end of its line."""

    run_id: str
    start: int
    end: int
    stored: str
    """JSON of the entry; empty when the entry has a beginning only."""


_MARK: Final = re.compile(
    rf"^<!-- kotef:(?:issue (?P<begins>{RUN_ID})"
    rf"|end (?P<ends>{RUN_ID}) (?P<stored>\{{[^<>\r\n]*\}})) -->(?=[ \t]*\r?$)",
    re.MULTILINE,
)
_CONFLICT: Final = re.compile(r"^(?:<{7}|>{7})(?= |\r?$)", re.MULTILINE)
_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def render(entry: IssueEntry) -> str:
    """The entry as Markdown that `parse_issues` reads back exactly; ends with a newline.

    The readable part is for people and lossy: one line per fact, and no character in it that could start a line, a
    tag, a link or a terminal sequence. The exact values are JSON in the comment that ends the entry, ASCII without
    `<`, `>` and `--`.
    """
    stored = json.dumps(entry.model_dump(mode="json", by_alias=True), ensure_ascii=True)
    for character in ("<", ">", "--"):
        stored = stored.replace(character, "".join(f"\\u{ord(letter):04x}" for letter in character))
    begin, end = f"<!-- kotef:issue {entry.run_id} -->", f"<!-- kotef:end {entry.run_id} {stored} -->"
    return "\n".join([begin, *_readable(entry), end, ""])


def _readable(entry: IssueEntry) -> Iterator[str]:
    state = "" if entry.state == "open" else " · resolved"
    yield f"## {plain(entry.date, 40)} · {entry.outcome}{state} · {plain(entry.goal, 80) or 'no goal'}"
    yield ""
    facts = {
        "Run": f"{code_span(entry.run_id)}, {entry.state}",
        "Goal": plain(entry.goal, 600),
        "Ticket": plain(entry.ticket or "", 80),
        "Outcome": entry.outcome if entry.reason == entry.outcome else f"{entry.outcome} ({plain(entry.reason, 80)})",
        "Why": plain(entry.sentence, 400),
        "Attempts": f"{entry.attempts} of {entry.max_attempts}",
        "Last error kinds": ", ".join(plain(kind, 40) for kind in entry.last_error_kinds),
        "Last failing command": code_span(entry.last_command),
        "Files changed": ", ".join(code_span(path) for path in entry.files_changed),
        "Files read": ", ".join(code_span(path) for path in entry.files_read),
        "Logs": code_span(entry.run_dir),
        "Patches": ", ".join(code_span(path) for path in entry.patches),
        "Next": plain(entry.follow_up, 1000),
        "Resume": code_span(entry.resume),
        "Resolved": f"by {code_span(entry.resolved_by)}, {plain(entry.resolved_at, 40)}" if entry.resolved_by else "",
    }
    for label, fact in facts.items():
        if fact:
            yield f"- **{label}**: {fact}"
    for note in entry.notes:
        yield f"- **Note**: {plain(note, 4400)}"
    if entry.seen_before:
        yield f"- **Seen again**: {counted(entry.seen_before, 'more run')}, before these"
    for seen in entry.seen_again:
        reopened = " (reopened)" if seen.reopened else ""
        yield f"- **Seen again**: {code_span(seen.run_id)}, {plain(seen.date, 40)}{reopened}"
    if entry.entries:
        yield from ("", "Last failures, newest last:", "")
    for failure in entry.entries:
        yield f"- visit {failure.visit}: {failure.words}"
        for test in failure.tests:
            yield f"  - {code_span(test)}"
    yield ""


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


def parse_issues(text: str, path: str = ".sdd/issues.md") -> IssueLog:
    """Read the entries of a log; hand-written text between them is skipped, whatever it is.

    `path` is what problems are reported under. Of two entries of one run the first counts; of marks of a merge
    conflict the first is told.
    """
    entries: dict[str, IssueEntry] = {}
    problems: list[Problem] = []
    line, counted = 1, 0
    for span in spans(text):
        line, counted = line + text.count("\n", counted, span.start), span.start
        entry, problem = read_span(span)
        if entry and entry.run_id in entries:
            problem = f"a second entry of run {span.run_id}; the first counts, delete one"
        if problem:
            problems.append(Problem(path=path, line=line, text=problem))
        elif entry:
            entries[entry.run_id] = entry
    if conflict := _CONFLICT.search(text):
        unmerged = "a merge conflict is here; resolve it by hand, the entries around it count"
        problems.append(Problem(path=path, line=text.count("\n", 0, conflict.start()) + 1, text=unmerged))
    return IssueLog(entries=tuple(entries.values()), problems=tuple(problems))


def spans(text: str) -> Iterator[Span]:
    """Every entry, and every beginning that has no end of its own before the next beginning."""
    begun: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if mark["begins"]:
            if begun:
                yield Span(begun["begins"], begun.start(), begun.end(), "")
            begun = mark
        elif begun and begun["begins"] == mark["ends"]:
            yield Span(mark["ends"], begun.start(), mark.end(), mark["stored"])
            begun = None
    if begun:
        yield Span(begun["begins"], begun.start(), begun.end(), "")


def read_span(span: Span) -> tuple[IssueEntry | None, str]:
    """The entry in a span, or what is wrong with it."""
    if not span.stored:
        return None, f"the entry of run {span.run_id} has no end; see its run directory"
    try:
        entry = IssueEntry.model_validate_json(span.stored)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "its values"
        return None, f"the entry of run {span.run_id} cannot be read: {place}: {one_line(first['msg'], 120)}"
    if entry.run_id != span.run_id:
        return None, f"the entry of run {span.run_id} holds the values of another run"
    return entry, ""
