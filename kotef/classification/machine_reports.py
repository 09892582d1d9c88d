"""Failing tests and complaints in JSON, XML and CI service messages."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from kotef.classification.diagnostics import Diagnostic
from kotef.classification.locations import places, shorten
from kotef.classification.output_lines import plain_lines
from kotef.classification.test_failures import MAX_FAILING, FailingTest, error_of

MAX_DOCUMENT: Final = 16_000_000
"""Characters of one JSON document that is still read; larger ones are classified by their plain text."""
MAX_NODES: Final = 200_000
"""Objects of a document that are looked at."""
MAX_ROWS: Final = 300
MAX_XML: Final = 1_000_000
"""Characters of XML that are searched."""


@dataclass(frozen=True, slots=True)
class Report:
    """What structured output says: failing tests and complaints, both empty for plain text."""

    tests: tuple[FailingTest, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def report_of(*streams: str) -> Report:
    """The report of the first stream that holds one."""
    for text in streams:
        document = _document(text)
        report = _from_json(document) if document is not None else _from_xml(text)
        if report.tests or report.diagnostics:
            return report
    return Report()


def unwrapped(text: str) -> str:
    """The text that a stream of JSON lines carries; any other text as it is.

    `go test -json` puts every line of the plain output into an event's `Output`, `cargo --message-format json` the
    plain form of a complaint into `rendered`.
    """
    if '"Action":' not in text[:4000] and '"reason":' not in text[:4000]:
        return text
    parts = []
    for line in text[:MAX_DOCUMENT].split("\n"):
        match _loads(line) if line.startswith("{") else None:
            case {"Action": "output", "Output": str(said)}:
                parts.append(said)
            case {"Action": str()}:
                pass
            case {"reason": "compiler-message", "message": {"rendered": str(said)}}:
                parts.append(f"{said}\n")
            case {"reason": "compiler-artifact" | "build-script-executed" | "build-finished"}:
                pass
            case _:
                parts.append(f"{line}\n")
    return "".join(parts)


# JSON


def _loads(text: str) -> Any:
    """The document, or None if it is none; depth is the interpreter's limit."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


OPENING: Final = re.compile(r"^(?:\{\s{0,20}[\"}]|\[\s{0,20}[\[{\]])", re.MULTILINE)
"""The beginning of an object, or of a list of them; `[INFO]` is neither."""
MAX_TRIES: Final = 3


def _document(text: str) -> Any:
    """The JSON of a stream: all of it, what follows a headline (`> eslint -f json`), or one document a line."""
    if len(text) > MAX_DOCUMENT:
        return None
    for start in islice(OPENING.finditer(text[:MAX_XML]), MAX_TRIES):
        try:
            document, end = json.JSONDecoder().raw_decode(text, start.start())
        except (ValueError, RecursionError):
            continue
        rest = text[end : end + MAX_XML].split("\n")[1 : MAX_ROWS + 1]
        more = [_loads(line) for line in rest if line.startswith("{")]
        return [document, *more] if more else document
    return None


PATHS: Final = ("filename", "filePath", "file_path", "file_name", "file", "path", "source", "uri", "abspath")
LINES: Final = ("line", "row", "start_line", "startLine", "line_start", "line_number", "line_no", "start_line_no")
MESSAGES: Final = ("message", "text", "msg", "description", "issue_text", "Text", "title")
CODES: Final = (
    *("ruleId", "rule", "code", "check_id", "cop_name", "symbol"),
    *("message-id", "test_id", "category", "check_name"),
)
LEVELS: Final = ("severity", "level", "type", "kind", "issue_severity")
WITHIN: Final = (
    *("location", "locations", "range", "start", "caret", "physicalLocation", "artifactLocation", "region"),
    *("Pos", "span", "spans", "extra", "position", "positions"),
)
"""Where tools keep what belongs to a complaint: ruff, shellcheck, rubocop, gcc, pyright, pylint, eslint, SARIF, …"""
NAMES: Final = ("fullName", "fullTitle", "full_description", "nodeid", "fullname", "name", "title")
BAD: Final = frozenset({"failed", "failure", "error", "broken", "fail", "timedOut"})


def _from_json(document: Any) -> Report:
    """Walk the document; a path further up holds for what is below it."""
    tests: dict[str, FailingTest] = {}
    found: dict[Diagnostic, None] = {}
    started: dict[Any, str] = {}
    for node, path in _objects(document):
        if len(tests) >= MAX_FAILING or len(found) >= MAX_ROWS:
            break
        test = _failing(node) or _ended(node, started)
        if test is not None:
            tests.setdefault(test.name, test)
            continue
        complaint = _complaint(node, path)
        if complaint is not None:
            found.setdefault(complaint)
    return Report(tuple(tests.values()), tuple(found) if not tests else ())


def _objects(document: Any) -> Iterator[tuple[Mapping[str, Any], str]]:
    """(object, path that holds for it), outer ones first, in the order of the document; at most `MAX_NODES`."""
    waiting: list[tuple[Any, str]] = [(document, "")]
    seen = 0
    while waiting and seen < MAX_NODES:
        value, path = waiting.pop()
        seen += 1
        if isinstance(value, dict):
            path = _text(value, PATHS) or path
            yield value, path
            waiting += [(below, _path_of(key) or path) for key, below in reversed(value.items()) if _holds(below)]
        elif isinstance(value, list):
            waiting += [(below, path) for below in reversed(value) if _holds(below)]


def _holds(value: Any) -> bool:
    return isinstance(value, (dict, list)) and bool(value)


def _path_of(key: Any) -> str:
    """A key that is a file, as in reports that list complaints per file."""
    return key if isinstance(key, str) and re.fullmatch(r"[^\s:]{0,200}\w\.\w{1,8}", key) else ""


def _text(node: Any, keys: tuple[str, ...]) -> str:
    """The first of the keys that holds text; an object counts by its own `text` or `value`."""
    for key in keys:
        value = node.get(key)
        if isinstance(value, str) and value:
            return value
        within = [value.get(name) for name in ("text", "value", "file")] if isinstance(value, dict) else []
        if (inner := next((each for each in within if isinstance(each, str) and each), None)) is not None:
            return inner
    return ""


def _number(node: Any, keys: tuple[str, ...]) -> str:
    """The first of the keys that holds a line; `start.line` of language servers counts from 0."""
    for key in keys:
        value = node.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""


def _complaint(node: Mapping[str, Any], path: str) -> Diagnostic | None:
    """One complaint: it has a message, a rule or a level, and a line of its own or a file."""
    inner = list(_inner(node))
    message = _text(node, MESSAGES)
    code = _text(node, CODES) or str(node.get("code") or "")
    level = _text(node, LEVELS)
    line = next((number for each in (node, *inner) if (number := _number(each, LINES))), "")
    inner_path = next((own for each in inner if (own := _text(each, PATHS))), "")
    path = _text(node, PATHS[:-3]) or inner_path or path

    is_placed = path and (line or code)
    is_judged = code or level
    if not message or not is_placed or not is_judged:
        return None

    if "range" in node and line and "rule" in node:
        line = str(int(line) + 1)  # pyright reports as a language server does: lines count from 0
    return Diagnostic(path.removeprefix("file://"), line, _complaint_text(message, level, code), None)


def _complaint_text(message: str, level: str, code: str) -> str:
    """The first line of a message, with its level in front and its rule behind."""
    shown = f"{level}: " if level in {"error", "warning", "note", "info"} else ""
    if code.isdecimal() and len(code) == 4:  # noqa: PLR2004 - ShellCheck's rules
        code = f"SC{code}"
    rule = f" [{code}]" if code and code not in message else ""
    return f"{shown}{message.splitlines()[0]}{rule}"


def _inner(node: Mapping[str, Any], depth: int = 3) -> Iterator[Mapping[str, Any]]:
    """The objects that hold the place of a complaint, the first of each list."""
    for key in WITHIN:
        value = node.get(key)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, dict):
            yield value
            if depth:
                yield from _inner(value, depth - 1)


def _failing(node: Mapping[str, Any]) -> FailingTest | None:
    """A failing test of jest, vitest, Mocha, RSpec, pytest-json-report, Playwright."""
    name = _text(node, NAMES)
    status = next((node[key] for key in ("status", "outcome", "state") if isinstance(node.get(key), str)), "")
    is_red = status in BAD or ("fullTitle" in node and _holds(node.get("err")))  # Mocha gives no status
    is_group = bool(node.keys() & {"assertionResults", "tests", "examples"})
    if not name or not is_red or is_group:
        return None

    texts = [part for part in _strings(node) if part.strip() and part != name]
    block = [line for part in texts for line in plain_lines(part)]
    own = _text(node, ("file_path", "file"))
    line = _number(node, ("line_number", "line"))
    stated: tuple[str, ...] = ()
    if own:
        stated = (f"{shorten(own)}:{line}" if line else shorten(own),)
    return FailingTest(name, error_of(block), tuple(places(block)) or stated, "report")


def _ended(node: Mapping[str, Any], started: dict[Any, str]) -> FailingTest | None:
    """A failing test of a stream of events that name a test at its start and count it by `testID` at its end (Dart)."""
    match node:
        case {"test": {"id": int(number), "name": str(name)}}:
            started[number] = name
        case {"testID": int(number), "error": str(error)} if number in started:
            block = [*plain_lines(error), *plain_lines(str(node.get("stackTrace") or ""))]
            return FailingTest(started[number], error_of(block), tuple(places(block)), "report")
        case {"testID": int(number), "result": "error" | "failure"} if number in started:
            return FailingTest(started[number], "", (), "report")
    return None


WHY: Final = (
    *("failureMessages", "exception", "err", "error", "errors", "call", "crash", "longrepr"),
    *("message", "class", "stack", "backtrace"),
)


def _strings(node: Mapping[str, Any]) -> Iterator[str]:
    """The texts that tell why, most telling first."""
    for key in WHY:
        value = node.get(key)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str):
                yield each
            elif isinstance(each, dict):
                kind, message = each.get("class"), each.get("message")
                if isinstance(kind, str) and isinstance(message, str):
                    yield f"{kind}: {message.strip()}"
                yield from _strings(each)


# XML and messages for CI services


class _Attributes(dict[str, str]):
    """The attributes of one XML tag, entities decoded; a missing one is empty."""

    def __missing__(self, key: str) -> str:
        return ""


TAG: Final = re.compile(
    r"<(testsuite|testcase|failure|error|file|/testcase)\b"
    r"((?:[^<>\"']|\"[^\"]{0,20000}\"|'[^']{0,20000}'){0,200}+)>(?:<!\[CDATA\[)?([^<]{0,20000})",
    re.IGNORECASE,
)
RESULT: Final = re.compile(
    r"<([\w:.-]{1,60})\b((?:[^<>\"']|\"[^\"]{0,20000}\"|'[^']{0,20000}'){0,400}+)>(?:[^<]{0,400})"
)
"""An element of a report in a form of its own: NUnit, xUnit, TRX, Catch2, doctest."""
FAILED_RESULT: Final = re.compile(
    r"\b(?:result|outcome|status|success|\w+_success)\s?=\s?[\"'](?i:fail|failed|failure|error|false)[\"']"
)
ATTRIBUTE: Final = re.compile(r"([\w:-]{1,40})\s{0,4}=\s{0,4}(?:\"([^\"]*)\"|'([^']*)')")


def _from_xml(text: str) -> Report:
    """JUnit's and Checkstyle's forms, read by tag, for logs are cut and no parser takes half a document."""
    if "<testcase" not in text and "<checkstyle" not in text and "<testCase" not in text:
        return _from_results(text[-MAX_XML:]) if "<?xml" in text[:MAX_XML] else Report()
    tests: list[FailingTest] = []
    found: list[Diagnostic] = []
    case, path = _Attributes(), ""
    for match in TAG.finditer(text[-MAX_XML:]):
        tag, below = match[1].lower(), html.unescape(match[3])
        own = _Attributes((key, html.unescape(one or other)) for key, one, other in ATTRIBUTE.findall(match[2]))
        if tag == "testcase":
            case = own
        elif tag in {"file", "testsuite"}:
            path = own["name"]
        elif case:
            tests.append(_case(case, own, below, path))
            case = _Attributes()
        elif tag == "error" and path:
            rule = own["source"].rpartition(".")[2]
            found.append(Diagnostic(path, own["line"], f"{own['severity']}: {own['message']} [{rule}]", None))
    return Report(tuple(tests[:MAX_FAILING]), tuple(found[:MAX_ROWS]) if not tests else ())


def _from_results(text: str) -> Report:
    """Elements whose result is bad, named by themselves or by the last test case above them."""
    if not FAILED_RESULT.search(text):
        return Report()

    tests: dict[str, FailingTest] = {}
    case = ""
    for match in RESULT.finditer(text):
        if not _is_of_a_test(match[1].lower()):
            continue
        own = _Attributes((key, html.unescape(one or other)) for key, one, other in ATTRIBUTE.findall(match[2]))
        case = own["fullname"] or own["testName"] or own["name"] or case
        if case and FAILED_RESULT.search(match[2]):
            place = own["filename"] or own["file"]
            line = own["line"] or own["lineno"]
            found = (f"{shorten(place)}:{line}",) if place and line else ()
            tests.setdefault(case, FailingTest(case, "", found, "report"))
    return Report(tuple(islice(tests.values(), MAX_FAILING)))


def _is_of_a_test(tag: str) -> bool:
    """Whether an element is a test or one of its results, and not a group of tests."""
    is_group = re.search(r"suites?$|run$|assembly$", tag)
    return not is_group and re.search(r"test|case|section|result|expression", tag) is not None


def _case(case: _Attributes, why: _Attributes, below: str, suite: str) -> FailingTest:
    """A `<testcase>` with a `<failure>`: the message, else what is in it; a suite may be a file."""
    block = plain_lines(below)
    name = f"{case['classname']}.{case['name']}" if case["classname"] else case["name"]
    error = why["message"].strip().partition("\n")[0] or error_of(block)
    kind = why["type"]
    error = f"{kind}: {error}" if kind and kind not in error and "." not in kind else error
    line = re.match(r"line (\d+)", block[0]) if block else None
    stated = tuple(places(block)) or tuple(places([case["file"]]))
    if not stated and _path_of(suite):
        stated = (f"{suite}:{line[1]}" if line else suite,)
    return FailingTest(name, error, stated, "report")
