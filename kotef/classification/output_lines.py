"""The lines of a command's output that are examined, in plain form."""

import re
from dataclasses import dataclass
from typing import Final

HEAD: Final = 64 * 1024
TAIL: Final = 192 * 1024
"""Characters of each stream that are read: usage and start-up errors are first, verdicts last."""
MAX_LINES: Final = 6000
"""Lines of both streams together, a third of them from the front."""
MAX_LINE: Final = 1000

# ECMA-48 and ECMA-35: CSI and its parameters, control strings up to BEL or ST (hyperlinks, titles), all other escapes.
ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?|\x1b[\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)?|\x1b(?:[#%(-/][0-~]|[0-Z\\^_c])"
)
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff]")
SURROGATES = re.compile(r"[\ud800-\udfff]")


PREFIXES: Final = (
    # docker compose: `web-1  | `
    re.compile(r"[A-Za-z][\w.-]{0,60}[-_]\d{1,3} {1,20}\| ?"),
    # concurrently, npm-run-all, ant: `[test] `; a level in brackets is part of the message
    re.compile(r" {0,12}\[(?!(?i:error|info|warn|warning|debug|fatal)\])[A-Za-z][\w:@/.-]{0,40}\] ?"),
    # turbo: `api:test: `
    re.compile(r"[\w@/-]{1,60}:(?!(?:error|warning|note|info|fatal):)[A-Za-z][\w:-]{0,40}: ?"),
    # pnpm -r: `packages/api test: `
    re.compile(r"[\w@/.-]{1,60} [a-z][\w:-]{0,30}(?:: (?=.)|\$ )"),
    # logs of CI services: a time
    re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]{0,10}Z? ?"),
    # Taskcluster: `[task TIME] `, and the level that a harness puts behind a time
    re.compile(r"\[[a-z]{1,20} \d{4}-\d\d-\d\d[T ][\d:.]{1,20}Z?\] {0,4}(?:\d\d:\d\d:\d\d +[A-Z]{4,8} - {0,2})?"),
    # BuildKit: `#12 3.456 `
    re.compile(r"#\d{1,4} \d{1,6}\.\d{1,3} "),
)
"""What programs that run others put in front of every line."""
PREFIXED: Final = 0.6
"""Share of the lines that must carry one kind of prefix before it is taken off."""
MIN_PREFIXED: Final = 3


@dataclass(frozen=True, slots=True)
class Output:
    """Plain lines of stdout, then of stderr: no escapes, no control characters, no trailing blanks, bounded."""

    lines: tuple[str, ...]
    border: int
    """Index of the first line of stderr."""
    text: str
    """The same lines joined, for cheap "is this literal anywhere?" questions."""

    @property
    def stdout(self) -> tuple[str, ...]:
        """The lines of stdout."""
        return self.lines[: self.border]

    @property
    def stderr(self) -> tuple[str, ...]:
        """The lines of stderr."""
        return self.lines[self.border :]


def read_output(stdout: str, stderr: str) -> Output:
    """Clean and bound both streams; time depends on the windows, not on the length of the input."""
    out, err = plain_lines(stdout), plain_lines(stderr)
    return Output(lines=(*out, *err), border=len(out), text="\n".join((*out, *err)))


def plain_lines(text: str) -> list[str]:
    """The lines of one stream as a person saw them at the end: of a progress line only its last state."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    lines = _cleaned(text)
    if len(lines) > MAX_LINES // 2:
        lines = [*lines[: MAX_LINES // 6], *lines[-MAX_LINES // 3 :]]
    return _shortened(_without_prefix(lines))


def all_lines(text: str) -> list[str]:
    """The same, except for a long output every line of it: for what counts tests one by one."""
    return _shortened(_without_prefix(_cleaned(text)))


def _cleaned(text: str) -> list[str]:
    text = ESCAPES.sub("", text).replace("\r\n", "\n")
    text = SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
    return [CONTROLS.sub("", _last_state(line)).rstrip() for line in text.split("\n")]


def _shortened(lines: list[str]) -> list[str]:
    return [line if len(line) <= MAX_LINE else f"{line[:700]} … {line[-250:]}" for line in lines]


def _without_prefix(lines: list[str]) -> list[str]:
    """The lines as the inner program printed them; a prefix on few of them is part of what was said."""
    texts = [line for line in lines if line]
    for prefix in PREFIXES:
        carrying = sum(1 for line in texts if prefix.match(line))
        if carrying >= MIN_PREFIXED and carrying >= PREFIXED * len(texts):
            return [prefix.sub("", line, count=1) if prefix.match(line) else line for line in lines]
    return lines


def _last_state(line: str) -> str:
    """What is left of a line that was rewritten with carriage returns."""
    if "\r" not in line:
        return line
    return line.rstrip("\r").rpartition("\r")[2]
