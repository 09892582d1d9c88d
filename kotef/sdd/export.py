"""Issue entries as SARIF and as issues of a tracker."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from kotef.classification import places
from kotef.sdd.duplicate_issues import identity, task_of
from kotef.sdd.issue import IssueEntry, IssueFailure, code_span, one_line
from kotef.sdd.sarif import location, sarif_log

_REFERENCE: Final = re.compile(r"([@#](?=\w)|\w:(?=//\S))")
_SPANS: Final = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_TEST_FILE: Final = re.compile(r"[\w@+./-]+\.\w{1,8}$")


def to_sarif(entries: Iterable[IssueEntry]) -> dict[str, Any]:
    """A SARIF 2.1.0 log with one result per entry: open ones are errors, resolved ones have passed.

    A result lies where a summary names `path:line` inside the workspace, else at the file of a failing test, else
    nowhere. `partialFingerprints` is equal for entries that stand for the same failure (`repeats.identity`).
    """
    return sarif_log([_result(entry) for entry in entries])


def _rule(entry: IssueEntry) -> str:
    """The rule id, such as `test_failure/assertion`; without a failure the reason of the run."""
    if not entry.entries:
        return one_line(f"{entry.outcome}/{entry.reason}", 120)
    newest = entry.entries[-1]
    return one_line(f"{newest.kind}/{newest.detail}" if newest.detail else newest.kind, 120)


def _result(entry: IssueEntry) -> dict[str, Any]:
    is_open = entry.state == "open"
    summary = one_line(entry.entries[-1].summary, 400) if entry.entries else one_line(entry.sentence, 400)
    text = f"{one_line(entry.goal, 200) or 'no goal'}: {entry.outcome}. {summary or 'no failure on record'}"
    same = identity(entry) or ("run", entry.run_id)
    result: dict[str, Any] = {
        "ruleId": _rule(entry),
        "kind": "fail" if is_open else "pass",
        "level": "error" if is_open else "none",
        "message": {"text": f"{text}\nNext: {one_line(entry.follow_up, 1000)}"},
        "partialFingerprints": {"kotef/v1": hashlib.sha256("\0".join(same).encode()).hexdigest()},
        "occurrenceCount": 1 + len(entry.seen_again) + entry.seen_before,
        "properties": {
            "runId": entry.run_id,
            "state": entry.state,
            "outcome": entry.outcome,
            "ticket": entry.ticket,
            "date": entry.date,
        },
    }
    if where := next(_locations(entry), None):
        result["locations"] = [location(*where)]
    return result


def _locations(entry: IssueEntry) -> Iterator[tuple[str, int]]:
    """Path and line (0: unknown) of each place the failures name inside the workspace, the newest failure first."""
    for failure in reversed(entry.entries):
        for place in places(failure.summary.splitlines()):
            path, _, line = place.rpartition(":")
            if _is_inside(path) and int(line) > 0:
                yield path, int(line)
    for failure in reversed(entry.entries):
        for test in failure.tests:
            path = test.partition("::")[0]
            if _TEST_FILE.match(path) and "/" in path and _is_inside(path):
                yield path, 0


def _is_inside(path: str) -> bool:
    return not (
        path.startswith(("/", "~", "…")) or re.match(r"[A-Za-z]:", path) or "\\" in path or ".." in path.split("/")
    )


def to_github(entry: IssueEntry) -> str:
    """The entry as the body of an issue on GitHub. Outside text in it mentions no one and refers to no issue."""
    task = "ticket " + code_span(entry.ticket, 80) if entry.ticket is not None else "goal"
    goal = code_span(entry.goal, 600) or ("the checks: " + ", ".join(map(code_span, entry.checks)))
    reason = f" ({code_span(entry.reason)})" if entry.reason != entry.outcome else ""
    facts = {
        "Outcome": code_span(entry.outcome) + reason,
        "Why": inert(entry.sentence, 400),
        "Attempts": f"{entry.attempts} of {entry.max_attempts}",
        "Last failing command": code_span(entry.last_command),
        "Files changed": ", ".join(code_span(path) for path in entry.files_changed[:20]),
        "Run": f"{code_span(entry.run_id)}, {code_span(entry.date, 40)}, {entry.state}",
        "Seen again": ", ".join(f"{code_span(seen.run_id)} ({code_span(seen.date, 40)})" for seen in entry.seen_again),
        "Logs": code_span(entry.run_dir),
    }
    lines = [f"kotef could not finish this {task}: {goal}", "", f"**Next**: {inert(entry.follow_up, 1000)}", ""]
    lines += [f"- **{label}**: {fact}" for label, fact in facts.items() if fact]
    if entry.entries:
        lines += ["", "### Last failures, newest last", ""]
        lines += [line for failure in entry.entries for line in _failure(failure)]
    return "\n".join(lines) + "\n"


def _failure(failure: IssueFailure) -> Iterator[str]:
    when = f"attempt {failure.visit}" if failure.visit else "before the run"
    yield f"- {when}: {failure.words}"
    yield from (f"  - {code_span(test)}" for test in failure.tests)


def inert(text: str, limit: int) -> str:
    """One line of Markdown; outside its code spans no tag, link, image, mention or reference to an issue can begin."""
    line, parts, at = one_line(text, limit), [], 0
    for span in _SPANS.finditer(line):
        parts += [_escaped(line[at : span.start()]), span[0]]
        at = span.end()
    return "".join([*parts, _escaped(line[at:])])


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;")  # an entity may stand for any character
    return _REFERENCE.sub(r"\1<!-- -->", text.replace("<", "&lt;").replace("](", "]&lpar;"))


def title(entry: IssueEntry) -> str:
    """The entry in one line of plain text, for a list or as the title of an issue."""
    what = f"ticket {entry.ticket}: " if entry.ticket is not None else ""
    goal = entry.goal or " ".join(task_of(entry)[1:])
    return one_line(f"{what}{goal or 'no goal'} ({entry.outcome})", 120)
