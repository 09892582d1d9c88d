"""Lines that name a place in a file and say something about it, in whatever form a tool writes them."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from kotef.classification.diagnostics import Diagnostic
from kotef.classification.output_lines import Output

MAX_TRIED: Final = 400
"""Lines that may hold a place and are looked at, half of them from the end."""
MAX_LENGTH: Final = 400
"""Characters of a line that are looked at."""

_FILE: Final = r"(?:[A-Za-z]:(?=[\\/]))?[\w@+~./\\-]{0,200}?(?:[\w@+~-]\.[A-Za-z]\w{0,9}|\b[A-Za-z]{1,20}[Ff]ile(?=:))"
PLACE: Final = re.compile(
    rf"""(?<![\w@+~./\\-])["'<\[(]?(?P<path>{_FILE})["'>\]]?"""
    r"""(?:\s?[:(\[|]\s?\[?|[,:]?\s{1,2}\(?(?:at\s|on\s|in\s)?[Ll]ine\s|,\s?|\s@\s|[#:]L|(?:\t| {3,20})(?=\d{1,6}\s))"""
    r"""(?P<line>\d{1,7})(?![\w.]*\.[A-Za-z])(?P<more>(?:[:.,-]\s?\d{1,7}|[,:]? col\w*\.? \d{1,6}){0,3})"""
)
"""`x.c:3:5`, `x.c(3,5)`, `"x.c", line 3`, `x.c:[3,5]`, `x.c line 3`, `x.c|3|`, columns of a table."""
REVERSED: Final = re.compile(rf"[Ll]ine (?P<line>\d{{1,7}})\b.{{0,40}}? (?:of|in) (?:file )?[\"']?(?P<path>{_FILE})")
POSITION: Final = re.compile(r"\b[Ll]ine:? ?\d{1,7}\b|\(\d{1,7}:\d{1,7}\)|^\s*\d{1,7}:\d{1,7}\s")
"""A place in a file that is not named: the tool was given one, or its standard input."""

SAID: Final = re.compile(
    r"(?i:(?<![\w-])(?:error|err|warning|warn|fatal|remark|severity|violation|deprecat\w+|unused|undefined|undeclared"
    r"|unexpected|expected|missing|invalid|mismatch\w*|should|must)\b)"
    r"|(?<![\w.])[EWCRF](?=[:|)\]])|(?<![\w-])[A-Z]{1,8}[-_]?\d{2,5}\b|[\[(]\w*(?:[-/_]\w+)+[\])]\s*$|\[\w+\]"
)
"""What a remark about code usually holds: a level, the code of a rule, or a word of judgement."""
FRAME: Final = re.compile(
    r"\s*(?:at |from |in |by |#\d+ |\d+: |\.\.\. |File \"[^\"]*\", line \d+, in |==\d+==|goroutine |In file included"
    r"|\S*make(?:\[\d+\])?: \*\*\*)|.*(?::in [`'\"]|\bin `)"
)
"""A line of a stack or of a chain of included files."""
CODE_FRAME: Final = re.compile(
    r"\s*(?:at [^\s:]+ \(|at (?:async |new )|from |by |#\d+ |\d+: |\.\.\. |==\d+==|goroutine |In file included"
    r"|\S*make(?:\[\d+\])?: \*\*\*)|.*(?::in [`'\"]|node_modules/)"
)
"""The same in the output of tools that look at code, some of which write `at PATH:LINE`."""
LOGGED: Final = re.compile(r"\s*\[?(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|[IWEF]\d{4} )")
HOST: Final = re.compile(r"[\d.]+|\w*https?|.*\.(?:com|org|net|io|dev|local|sock)")
BOX: Final = re.compile(r"^[\s│┃|┌╭╰└─━—▶→,`>=*-]+(?=[\w./\\\"'<\[(])|[\s:\]\[()│┃|─━-]+$")
PLACE_ONLY: Final = re.compile(r"\s*(?:on|in|at)\s+[,:(]")
"""What is left of a line whose words only introduce the place: `on main.tf line 3, in resource …`."""
HEADLINE: Final = re.compile(r"\s*(?:[×✖✗xX!⚠•*-]+\s)?(?i:\[?(?:error|warning|fatal)\b)|\s*\S.*:$")


def remarks_of(output: Output, *, about_code: bool = False) -> list[Diagnostic]:
    """Every remark with its place, errors first; empty for output that only reports stacks and logs.

    `about_code`: the command looks at code, so that a line `at PATH:LINE` is its way to name a place.
    """
    frame = CODE_FRAME if about_code else FRAME
    candidates = [
        (at, line) for at, line in enumerate(output.lines) if ("." in line or "ile:" in line) and _may_hold(line, frame)
    ]
    if len(candidates) > MAX_TRIED:
        candidates = [*candidates[: MAX_TRIED // 2], *candidates[-MAX_TRIED // 2 :]]
    found = [remark for at, line in candidates if (remark := _remark(output.lines, at, line[:MAX_LENGTH]))]
    return sorted(dict.fromkeys(found), key=lambda one: not re.search(r"(?i)\berror|\bfatal", one.message))


def _may_hold(line: str, frame: re.Pattern[str] = FRAME) -> bool:
    """Whether a line could name a place: it holds a digit and is neither a frame nor a line of a log."""
    return any(map(str.isdigit, line[:MAX_LENGTH])) and not (frame.match(line) or LOGGED.match(line))


def _remark(lines: Sequence[str], at: int, line: str) -> Diagnostic | None:
    match = PLACE.search(line) or REVERSED.search(line)
    if match is None or HOST.fullmatch(match["path"]):
        return None
    rest = f"{line[: match.start()]} {line[match.end() :]}"
    message = BOX.sub("", rest).strip(" \t:,;-|)]")
    if not re.search(r"[^\W\d_]{2}", message) or PLACE_ONLY.match(rest):
        message = _near(lines, at) or message
    return Diagnostic(match["path"], match["line"], " ".join(message.split()), None) if message else None


def _near(lines: Sequence[str], at: int) -> str:
    """The headline above a place that is alone, else the line below it."""
    for above in range(at - 1, max(-1, at - 4), -1):
        if HEADLINE.match(lines[above]) and len(lines[above].strip()) > len("error:"):
            return lines[above].strip()
    below = (line.strip() for line in lines[at + 1 : at + 6] if re.search(r"[^\W\d_]{3}", line))
    return next(below, "")


STRICT: Final = re.compile(rf"(?:[\w-]{{1,20}}: )?{_FILE}:\d{{1,7}}(?::\d{{1,7}})?:? +\S")


def plainly(output: Output) -> bool:
    """Whether some line is `path:line[:column]: text`, the form in which most tools agree."""
    return any(STRICT.match(line[:MAX_LENGTH]) for line in output.lines[:MAX_TRIED] if _may_hold(line))


def mostly(found: Sequence[Diagnostic], output: Output) -> bool:
    """Whether two thirds of what is at the left margin are such remarks: a list of them, not a mention."""
    margin = sum(1 for line in output.lines if line and not line[0].isspace())
    return 3 * len(found) >= 2 * margin


def listed(output: Output) -> bool:
    """Whether most lines name a line or a column, and no file."""
    found = sum(1 for _ in positions(output))
    return found > 1 and 2 * found >= sum(1 for line in output.lines if line)


def positions(output: Output) -> Iterator[str]:
    """Lines that tell a line or a column but no file."""
    return (line for line in output.lines[:MAX_TRIED] if POSITION.search(line[:MAX_LENGTH]) and _may_hold(line))
