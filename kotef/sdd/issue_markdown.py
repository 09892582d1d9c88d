"""Markdown of an issue entry: written for people, and read back exactly."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, get_args

from pydantic import ValidationError

from kotef.failures.history import FailureKind
from kotef.failures.plural import counted
from kotef.sdd.files import Problem
from kotef.sdd.issue import RUN_ID, IssueEntry, IssueLog, code_span, one_line, plain


class Span(NamedTuple):
    """The place of an entry in the text, without its last newline."""

    run_id: str
    start: int
    end: int
    body: str
    """The text between its first and its last line."""
    stored: str
    """JSON of values that the body does not contain exactly; empty if the entry has no end."""


_MARK: Final = re.compile(
    rf"^<!-- kotef:(?:issue (?P<begins>{RUN_ID})"
    rf"|end (?P<ends>{RUN_ID}) (?P<stored>\{{[^<>\r\n]*\}})) -->(?=[ \t]*\r?$)",
    re.MULTILINE,
)
_CONFLICT: Final = re.compile(r"^(?:<{7}|>{7})(?= |\r?$)", re.MULTILINE)
_HEADING: Final = re.compile(r"## (?P<date>.*?) · ")
_FACT: Final = re.compile(r"- \*\*(?P<label>[\w ]+)\*\*: (?P<fact>.*)")
_FAILURE: Final = re.compile(
    r"- visit (?P<visit>-?\d+): (?:(?P<command>`.*?), (?:exit (?P<exit>-?\d+)|timeout)(?:, |(?=:)|$))?"
    r"(?P<kind>[^`:]*)(?:: (?P<summary>`.*))?"
)
_CODE: Final = re.compile(r"(?P<ticks>`+)(?P<text>(?!`).*?(?<!`))(?P=ticks)(?!`)")
_KINDS: Final = frozenset(get_args(FailureKind))
_HASH: Final = 4
"""Characters kept of each line's hash, which distinguish kotef's lines from a person's."""


def render(entry: IssueEntry) -> str:
    """The entry as Markdown that `parse_issues` reads back exactly; ends with a newline.

    One line a fact, and no character in it that could start a line, a tag, a link or a terminal sequence. The comment
    that ends the entry holds a few characters of a hash of each line, and what the lines do not say exactly, as JSON:
    ASCII without `<`, `>` and `--`.
    """
    lines = list(_readable(entry))
    stored = {"lines": "".join(line_hash(line) for line in lines), **_unsaid(entry, lines)}
    text = json.dumps(stored, ensure_ascii=True, separators=(",", ":"))
    for character in ("<", ">", "--"):
        text = text.replace(character, "".join(f"\\u{ord(letter):04x}" for letter in character))
    begin, end = f"<!-- kotef:issue {entry.run_id} -->", f"<!-- kotef:end {entry.run_id} {text} -->"
    return "\n".join([begin, *lines, end, ""])


def line_hash(line: str) -> str:
    """The beginning of the line's hash in Base64, without the end of the line."""
    digest = hashlib.sha256(line.removesuffix("\r").encode("utf-8", "surrogateescape")).digest()
    return base64.b64encode(digest[:6]).decode()[:_HASH]


def written_hashes(span: Span) -> list[str] | None:
    """Hashes of the lines as kotef wrote them; None in an entry of an older version."""
    text = _stored(span).get("lines")
    if not isinstance(text, str):
        return None
    return [text[at : at + _HASH] for at in range(0, len(text), _HASH)]


def _readable(entry: IssueEntry) -> Iterator[str]:
    state = "" if entry.state == "open" else " · resolved"
    yield f"## {plain(entry.date, 40)} · {entry.outcome}{state} · {plain(entry.goal, 80) or 'no goal'}"
    yield ""
    for label, fact in _facts(entry).items():
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


def _facts(entry: IssueEntry) -> dict[str, str]:
    """Label → fact, in the order they are written; an empty one is left out."""
    return {
        "Run": f"{code_span(entry.run_id)}, {entry.state}",
        "Goal": plain(entry.goal, 600),
        "Ticket": plain(entry.ticket or "", 80),
        "Outcome": entry.outcome if entry.reason == entry.outcome else f"{entry.outcome} ({plain(entry.reason, 80)})",
        "Why": plain(entry.sentence, 400),
        "Attempts": f"{entry.attempts} of {entry.max_attempts}",
        "Checks": _code_list(entry.checks),
        "Last error kinds": ", ".join(plain(kind, 40) for kind in entry.last_error_kinds),
        "Last failing command": code_span(entry.last_command),
        "Files changed": _code_list(entry.files_changed),
        "Files read": _code_list(entry.files_read),
        "Logs": code_span(entry.run_dir),
        "Patches": _code_list(entry.patches),
        "Next": plain(entry.follow_up, 1000),
        "Resume": code_span(entry.resume),
        "Resolved": f"by {code_span(entry.resolved_by)}, {plain(entry.resolved_at, 40)}" if entry.resolved_by else "",
    }


def _code_list(texts: Sequence[str]) -> str:
    return ", ".join(code_span(text) for text in texts)


def _unsaid(entry: IssueEntry, lines: Sequence[str]) -> dict[str, Any]:
    """The values that cannot be read from these lines, usually fingerprints of failures."""
    values, values_of_lines = entry.model_dump(mode="json", by_alias=True), _values_of_lines(lines)
    failures, told_failures = values.pop("entries"), values_of_lines.pop("entries")
    unsaid = {name: value for name, value in values.items() if name != "runId" and values_of_lines.get(name) != value}
    if len(failures) != len(told_failures):
        return unsaid | {"entries": failures}
    more = [
        {name: value for name, value in failure.items() if name not in line_values or line_values[name] != value}
        for failure, line_values in zip(failures, told_failures, strict=True)
    ]
    return unsaid | ({"failures": more} if any(more) else {})


def _values_of_lines(lines: Sequence[str]) -> dict[str, Any]:
    """The values of these lines, by JSON name; a missing fact has an empty value."""
    values: dict[str, Any] = {alias: _empty(name) for name, alias in _ALIASES.items()}
    values.pop("runId")
    heading = next((found for line in lines if (found := _HEADING.match(line))), None)
    values["date"] = _unescaped(heading["date"]) if heading else ""
    labels: set[str] = set()
    for line in lines:
        if found := _FACT.fullmatch(line):
            label = found["label"]
            if label in labels and label not in _REPEATED:
                continue  # of two lines with one label the first counts
            labels.add(label)
            if read := _READ.get(label):
                read(values, found["fact"])
        elif found := _FAILURE.fullmatch(line):
            values["entries"].append(_failure(found))
        elif line.startswith("  - `") and values["entries"]:
            values["entries"][-1]["tests"] += _codes(line[4:])
    return values


def _failure(found: re.Match[str]) -> dict[str, Any]:
    kind, _, detail = found["kind"].partition("/")
    known = kind in _KINDS
    exit_code = None if found["command"] is not None else 0
    if found["exit"]:
        exit_code = int(found["exit"])
    return {
        "visit": int(found["visit"]),
        "command": _code(found["command"] or ""),
        "exitCode": exit_code,
        "kind": kind if known else "unknown",
        "detail": _unescaped(detail if known else found["kind"]),
        "summary": _code(found["summary"] or "").replace("; ", "\n"),
        "fingerprint": "",
        "tests": [],
    }


def _unescaped(text: str) -> str:
    """The text with escapes of `plain` removed."""
    return text.replace("]&#40;", "](").replace("&lt;", "<")


def _codes(text: str) -> list[str]:
    """The texts of all code spans."""
    return [_code(found[0]) for found in _CODE.finditer(text)]


def _code(text: str) -> str:
    """The text of a code span, as `code_span` wrote it."""
    found = _CODE.fullmatch(text)
    if not found:
        return ""
    inner = found["text"]
    padded = inner[1:2] == "`" or inner[-2:-1] == "`"
    return inner[1:-1] if padded and inner[:1] == inner[-1:] == " " else inner


_ALIASES: Final = {name: str(field.alias) for name, field in IssueEntry.model_fields.items()}
_REPEATED: Final = frozenset({"Note", "Seen again"})


def _empty(name: str) -> Any:
    """The value of a fact without a line, as in an entry without it."""
    field = IssueEntry.model_fields[name]
    default = "" if field.is_required() else field.default
    return [] if isinstance(default, tuple) else default


def _text_of(name: str) -> Callable[[dict[str, Any], str], None]:
    return lambda values, fact: values.update({name: _unescaped(fact)})


def _code_of(name: str) -> Callable[[dict[str, Any], str], None]:
    return lambda values, fact: values.update({name: _code(fact)})


def _codes_of(name: str) -> Callable[[dict[str, Any], str], None]:
    return lambda values, fact: values.update({name: _codes(fact)})


def _read_state(values: dict[str, Any], fact: str) -> None:
    values["state"] = fact.rpartition(", ")[2]


def _read_outcome(values: dict[str, Any], fact: str) -> None:
    outcome, _, reason = fact.partition(" (")
    values["outcome"], values["reason"] = outcome, _unescaped(reason.removesuffix(")")) if reason else outcome


def _read_attempts(values: dict[str, Any], fact: str) -> None:
    if found := re.fullmatch(r"(\d+) of (\d+)", fact):
        values["attempts"], values["maxAttempts"] = int(found[1]), int(found[2])


def _read_kinds(values: dict[str, Any], fact: str) -> None:
    values["lastErrorKinds"] = [_unescaped(kind) for kind in fact.split(", ")]


def _read_resolved(values: dict[str, Any], fact: str) -> None:
    by, _, when = fact.removeprefix("by ").rpartition(", ")
    values["resolvedBy"], values["resolvedAt"] = _code(by), _unescaped(when)


def _read_note(values: dict[str, Any], fact: str) -> None:
    values["notes"].append(_unescaped(fact))


def _read_seen(values: dict[str, Any], fact: str) -> None:
    if found := re.match(r"(\d+) more runs?, before these", fact):
        values["seenBefore"] = int(found[1])
        return
    run, _, when = fact.partition(", ")
    reopened = when.endswith(" (reopened)")
    date = _unescaped(when.removesuffix(" (reopened)"))
    values["seenAgain"].append({"runId": _code(run), "date": date, "reopened": reopened})


_READ: Final[Mapping[str, Callable[[dict[str, Any], str], None]]] = {
    "Run": _read_state,
    "Goal": _text_of("goal"),
    "Ticket": _text_of("ticket"),
    "Outcome": _read_outcome,
    "Why": _text_of("sentence"),
    "Attempts": _read_attempts,
    "Checks": _codes_of("checks"),
    "Last error kinds": _read_kinds,
    "Last failing command": _code_of("lastCommand"),
    "Files changed": _codes_of("filesChanged"),
    "Files read": _codes_of("filesRead"),
    "Logs": _code_of("runDir"),
    "Patches": _codes_of("patches"),
    "Next": _text_of("followUp"),
    "Resume": _code_of("resume"),
    "Resolved": _read_resolved,
    "Note": _read_note,
    "Seen again": _read_seen,
}
"""Label of a line → how its fact is read."""


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
            problem = f"a second entry of run {span.run_id}; the first one is used, delete the other"
        if problem:
            problems.append(Problem(path=path, line=line, text=problem))
        elif entry:
            entries[entry.run_id] = entry
    if conflict := _CONFLICT.search(text):
        unmerged = "a merge conflict is here; resolve it by hand; the entries around it are read"
        problems.append(Problem(path=path, line=text.count("\n", 0, conflict.start()) + 1, text=unmerged))
    return IssueLog(entries=tuple(entries.values()), problems=tuple(problems))


def spans(text: str) -> Iterator[Span]:
    """Every entry, including beginnings without an end."""
    begun: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if mark["begins"]:
            if begun:
                yield Span(begun["begins"], begun.start(), begun.end(), "", "")
            begun = mark
        elif begun and begun["begins"] == mark["ends"]:
            body = text[begun.end() : mark.start()]
            yield Span(mark["ends"], begun.start(), mark.end(), body, mark["stored"])
            begun = None
    if begun:
        yield Span(begun["begins"], begun.start(), begun.end(), "", "")


def read_span(span: Span) -> tuple[IssueEntry | None, str]:
    """The entry in a span, or its problem."""
    if not span.stored:
        return None, f"the entry of run {span.run_id} has no end; see its run directory"
    if not _stored(span):
        return None, f"the entry of run {span.run_id} cannot be read: its values are not a JSON object"
    try:
        entry = IssueEntry.model_validate(_values(span))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "its values"
        return None, f"the entry of run {span.run_id} cannot be read: {place}: {one_line(first['msg'], 120)}"
    if entry.run_id != span.run_id:
        return None, f"the entry of run {span.run_id} contains the values of another run"
    return entry, ""


def _stored(span: Span) -> dict[str, Any]:
    """The JSON of the last line; empty if it is invalid."""
    try:
        values = json.loads(span.stored)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _values(span: Span) -> dict[str, Any]:
    """The values of the entry: from its lines, overridden by the JSON; in an older version all are in the JSON."""
    stored = _stored(span)
    if "lines" not in stored:
        return stored
    values = _values_of_lines([line.removesuffix("\r") for line in span.body.split("\n")])
    failures = stored.get("failures")
    if isinstance(failures, list):
        entries = values["entries"] + [{}] * (len(failures) - len(values["entries"]))
        values["entries"] = [
            line_values | more for line_values, more in zip(entries, failures, strict=False) if isinstance(more, dict)
        ]
    return (
        values | {"runId": span.run_id} | {name: stored[name] for name in stored if name not in ("lines", "failures")}
    )
