"""Which lines of a command's output are looked at, and in what plain form?"""

import re
from dataclasses import dataclass
from typing import Final

HEAD: Final = 64 * 1024
TAIL: Final = 192 * 1024
"""Characters of each stream that are read: usage and start-up errors stand first, verdicts last."""
MAX_LINES: Final = 6000
"""Lines of both streams together, a third of them from the front."""
MAX_LINE: Final = 1000

# ECMA-48: CSI and its parameters, OSC up to BEL or ST (hyperlinks, titles), and two-character escapes.
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]?|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)?|[()][A-Z0-9]|[@-Z\\^_])")
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
SURROGATES = re.compile(r"[\ud800-\udfff]")


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


def read(stdout: str, stderr: str) -> Output:
    """Clean and bound both streams; time depends on the windows, not on the length of the input."""
    out, err = plain_lines(stdout), plain_lines(stderr)
    return Output(lines=(*out, *err), border=len(out), text="\n".join((*out, *err)))


def plain_lines(text: str) -> list[str]:
    """The lines of one stream as a person saw them at the end: of a progress line only its last state."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    text = ESCAPES.sub("", text).replace("\r\n", "\n")
    text = SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
    lines = [CONTROLS.sub("", _last_state(line)).rstrip() for line in text.split("\n")]
    if len(lines) > MAX_LINES // 2:
        lines = [*lines[: MAX_LINES // 6], *lines[-MAX_LINES // 3 :]]
    return [line if len(line) <= MAX_LINE else f"{line[:700]} … {line[-250:]}" for line in lines]


def _last_state(line: str) -> str:
    """What is left of a line that was rewritten with carriage returns."""
    if "\r" not in line:
        return line
    return line.rstrip("\r").rpartition("\r")[2]
