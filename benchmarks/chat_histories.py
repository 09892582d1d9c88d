"""Search/replace blocks of recorded chats, read from the `.aider.chat.history.md` of a repository.

A chat is a list of replies. A reply holds the blocks a model wrote, which of them did not match, and the commits that
followed before a person or a program wrote the next message.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

HISTORY = ".aider.chat.history.md"

_START = re.compile(r"<{5,9} SEARCH>?\s*$")
_MIDDLE = re.compile(r"={5,9}\s*$")
_END = re.compile(r">{5,9} REPLACE\s*$")
_COMMIT = re.compile(r"> Commit ([0-9a-f]{7,40})\b")
_FAILED = re.compile(r"(?:> )?## SearchReplace\w+: .* in (.+?)\s*$")
_BROKEN_OFF = re.compile(r"# aider chat started at|> Tokens: |> Applied edit to |#### |> Commit ")
_MOST_LINES = 2000
"""Of one block; what is longer was never closed."""


@dataclass(frozen=True)
class Block:
    """One search/replace block."""

    path: str
    search: str
    replace: str


@dataclass
class Reply:
    """One answer of a model, and what became of it."""

    blocks: list[Block] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Path and search of each block that did not match."""
    commits: list[str] = field(default_factory=list)

    def is_failed(self, block: Block) -> bool:
        """Whether the block was reported as one that did not match."""
        told = [_bare(search) for path, search in self.failed if PurePosixPath(path) == PurePosixPath(block.path)]
        return _bare(block.search) in told


def _bare(text: str) -> str:
    return "".join(text.split())


def git(repository: Path, *arguments: str) -> bytes:
    """What git prints. Raises `CalledProcessError`."""
    call = ["git", "-C", str(repository), *arguments]
    return subprocess.run(call, check=True, capture_output=True).stdout


def text_at(repository: Path, revision: str, path: str) -> str | None:
    """A file at a revision; None where it is not there, or is not text."""
    try:
        return git(repository, "cat-file", "blob", f"{revision}:{path}").decode("utf-8")
    except (subprocess.CalledProcessError, UnicodeDecodeError):
        return None


def longest_history(repository: Path) -> tuple[str, str, str] | None:
    """Commit, path and text of the longest version of each history that was ever committed, the longest of all."""
    log = git(
        repository, "log", "--all", "--format=%x00%H", "--raw", "--no-abbrev", "--no-renames", "--", f"*{HISTORY}"
    )
    found: list[tuple[int, str, str, str]] = []
    for entry in log.decode("utf-8", "replace").split("\0")[1:]:
        commit, *rows = entry.strip().split("\n")
        for row in filter(None, rows):
            facts, _, path = row.partition("\t")
            blob = facts.split()[3]
            if path.endswith(HISTORY) and set(blob) != {"0"}:
                with suppress(subprocess.CalledProcessError):  # a copy of a repository may lack its largest files
                    found.append((int(git(repository, "cat-file", "-s", blob)), commit, path, blob))
    if not found:
        return None
    _, commit, path, blob = max(found)
    return commit, path, git(repository, "cat-file", "blob", blob).decode("utf-8", "replace")


def replies(history: str) -> Iterator[Reply]:
    """The replies of a history that hold blocks, or commit something."""
    reply = Reply()
    lines = history.replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith(("#### ", "# aider chat started at")):
            if reply.blocks:
                yield reply
            reply = Reply()
        elif line.startswith(("> ", "## SearchReplace")):
            at = _program(reply, lines, at)
        elif _START.match(line):
            if reply.failed or reply.commits:  # an answer to what the program said, without a word of a person
                yield reply
                reply = Reply()
            taken, at = _block(lines, at, reply)
            reply.blocks += [taken] if taken else []
    if reply.blocks:
        yield reply


def _program(reply: Reply, lines: list[str], at: int) -> int:
    """Take what the program said at the line before `at`; returns the line to go on with."""
    line = lines[at - 1]
    if commit := _COMMIT.match(line):
        reply.commits.append(commit[1])
        return at
    failed = _FAILED.match(line)
    if not failed:
        return at
    quoted = []
    while at < len(lines) and not (quoted and _END.match(quoted[-1])):
        quoted.append(lines[at].removeprefix("> ").removesuffix("  "))
        at += 1
    middles = [nth for nth, each in enumerate(quoted) if _MIDDLE.match(each)]
    if middles:
        reply.failed.append((failed[1], "\n".join(quoted[1 : middles[0]])))
    return at


def _block(lines: list[str], at: int, reply: Reply) -> tuple[Block | None, int]:
    """The block whose first line is before `at`; None when it is never closed."""
    search: list[str] = []
    replace: list[str] = []
    part = search
    for end in range(at, min(at + _MOST_LINES, len(lines))):
        line = lines[end]
        if _END.match(line) and part is replace:
            path = _path(lines, at - 2) or (reply.blocks[-1].path if reply.blocks else "")
            return (Block(path, _joined(search), _joined(replace)) if path else None), end + 1
        if _MIDDLE.match(line) and part is search:
            part = replace
        elif _BROKEN_OFF.match(line):
            return None, at
        else:
            part.append(line)
    return None, at


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _path(lines: list[str], at: int) -> str:
    """The name of the file above a block: at most three lines up, perhaps within a fence."""
    for line in reversed(lines[max(at - 2, 0) : at + 1]):
        name = line.strip().removeprefix("```").strip("*`#: ")
        if _END.match(line) or line.startswith(("> ", "#### ")):
            return ""
        if re.fullmatch(r"[\w.\-/@+\[\]() ]*[\w\-\])]\.?[\w\-]+", name) and ("." in name or "/" in name):
            return name
    return ""
