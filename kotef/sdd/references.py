"""Commands and paths that a passage of the specification names."""

import re
from collections.abc import Iterable
from typing import Final

from kotef.sdd.markdown import FencedBlock, Line

Complaint = tuple[int, str]
"""Line number and problem."""

MAX_COMMANDS: Final = 100
"""Most commands read from one passage; more are probably a mistake."""

_SHELLS: Final = frozenset({"", "sh", "bash", "zsh", "shell", "console", "terminal", "shell-session", "text", "txt"})
_PROMPT: Final = re.compile(r"\s*[$%❯]\s+")
_COMMENT: Final = re.compile(r"""((?:[^'"\\#]|\\.|'[^']*'|"(?:\\.|[^"\\])*"|(?<=\S)\#)*+)\#""", re.VERBOSE)
_GOES_ON: Final = re.compile(r"(?:&&|\|\|?)\s*$")
_HERE_DOCUMENT: Final = re.compile(r"<<-?\s*['\"]?\w")
_PREPARES: Final = re.compile(r"(?:cd|export|source|\.)\s+\S|[A-Za-z_]\w*=\S*$")
_SPAN: Final = re.compile(r"(?<!`)(?P<ticks>`++)(?P<inner>(?:(?!(?P=ticks)).){1,400})(?P=ticks)")
_FIRST_WORD: Final = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+)*(?:\./)?[A-Za-z_][\w./+-]*")
_SMALL_WORDS: Final = frozenset({"and", "or", "must", "should", "be", "is", "are", "pass", "passes", "green", "clean"})
_ASIDE: Final = re.compile(r" [—–→-]+ | ?[(:]")
_PATH: Final = re.compile(r"!?[^\s`'\"(){}<>|,;:$]*(?:\{[^\s`'\"(){}<>|;:$]*\}[^\s`'\"(){}<>|,;:$]*)*")


def fenced_commands(fences: Iterable[FencedBlock]) -> tuple[tuple[str, ...], list[Complaint]]:
    """The command lines in these blocks, each once, in order; and problems of other blocks or lines.

    Comments and prompts (`$ `) are left out; with a prompt anywhere in a block, only lines with one are commands.
    A line that ends in a backslash, `&&` or a pipe continues in the next. `cd`, `export`, `source` and assignments are
    no checks by themselves: they are put before every later command of their block, since each runs by itself.
    """
    commands: dict[str, None] = {}
    complaints: list[Complaint] = []
    for fence in fences:
        language = fence.info.split()[0].casefold().strip("{}.") if fence.info else ""
        if language not in _SHELLS:
            text = f"a block of {language[:20]} contains no commands; mark it `sh` if it does"
            complaints.append((fence.number, text))
            continue
        before = ""
        for number, command in _command_lines(fence.lines):
            if len(commands) == MAX_COMMANDS:
                complaints.append(
                    (number, f"only the first {MAX_COMMANDS} commands are read; put the rest into a script")
                )
                return tuple(commands), complaints
            if _HERE_DOCUMENT.search(command):
                complaints.append((number, "a here-document cannot be a check; put it into a script"))
            elif _PREPARES.match(command) and "&&" not in command and ";" not in command:
                before += f"{command} && "
            else:
                commands[before + command] = None
    return tuple(commands), complaints


def _command_lines(lines: Iterable[Line]) -> list[tuple[int, str]]:
    """Number and text of each command, lines that continue joined."""
    texts = [(line.number, line.text.strip()) for line in lines]
    prompts = any(_PROMPT.match(text) for _, text in texts)
    found: list[tuple[int, list[str]]] = []
    unfinished = False
    for number, line in texts:
        written = line
        prompt = _PROMPT.match(written)
        if prompts and not prompt and not unfinished:
            continue
        if prompt:
            written = written[prompt.end() :]
        elif unfinished:
            written = written.removeprefix("> ")
        text = _without_comment(written)
        if not text:
            unfinished = False
            continue
        if not unfinished or not found:
            found.append((number, []))
        found[-1][1].append(text.removesuffix("\\").rstrip())
        unfinished = text.endswith("\\") or bool(_GOES_ON.search(text))
    return [(number, command) for number, parts in found if (command := " ".join(parts).strip())]


def _without_comment(text: str) -> str:
    comment = _COMMENT.match(text)
    return (comment[1] if comment else text).strip()


def quoted_commands(lines: Iterable[Line]) -> tuple[str, ...]:
    """The command lines in backticks in list items and table rows, each once.

    A single word counts only where it is alone, behind a label perhaps (`Types: `mypy``): prose quotes branches,
    options and files as well, and a check that is not a command would break every run.
    """
    found: dict[str, None] = {}
    for line in lines:
        if line.kind == "text" and line.text.startswith("|"):
            passages = line.text.split("|")
        elif line.kind == "item":
            passages = [re.sub(r"^[^:`]{0,60}:", "", line.text)]
        else:
            continue
        for passage in passages:
            alone = not (set(re.findall(r"\w+", _SPAN.sub(" ", passage).casefold())) - _SMALL_WORDS)
            spans = [span["inner"].strip() for span in _SPAN.finditer(passage)]
            found |= dict.fromkeys(span for span in spans if _is_command(span, alone=alone))
    return tuple(found)


def _is_command(span: str, *, alone: bool) -> bool:
    if not _FIRST_WORD.match(span) or span.endswith((")", ":")):
        return False
    if " " in span:
        return True
    return alone and (span.startswith("./") or not ("." in span or "/" in span))


def named_paths(lines: Iterable[Line]) -> tuple[tuple[str, ...], list[Complaint]]:
    """Paths and globs that items, paragraphs and code lines name, each once; and items and code that name none.

    A path holds no white space; a comment behind one in code is left out.
    """
    found: dict[str, None] = {}
    complaints: list[Complaint] = []
    for line in lines:
        if line.kind == "code":
            text = line.text.split("#")[0].strip()
            paths = [text] if text and _PATH.fullmatch(text) else []
        elif line.kind in ("item", "text"):
            text = line.text
            paths = paths_in(text)
        else:
            continue
        if not paths and line.kind != "text" and text:
            complaints.append((line.number, "names no path; write one without white space, best in backticks"))
        found |= dict.fromkeys(paths)
    return tuple(found), complaints


def paths_in(text: str) -> list[str]:
    """The paths or globs one line names: in backticks anywhere, and between commas or `and` up to an aside.

    Next to something in backticks, a bare word has to look like a path.
    """
    quoted = [path for span in _SPAN.finditer(text) if (path := span["inner"].strip()) and _PATH.fullmatch(path)]
    plain = _ASIDE.split(" ".join(_SPAN.sub(",", text).split()), maxsplit=1)[0]
    parts = (part.strip(" `'\"") for part in re.split(r"[,;]| (?:and|or) ", plain))
    bare = (re.sub(r"^(\*\*|__)(.*)\1$", r"\2", part).rstrip(".") or part for part in parts)
    sure = [path for path in bare if path and _PATH.fullmatch(path) and (not quoted or re.search("[/.*]", path))]
    return quoted + sure


def is_inside(path: str) -> bool:
    """Whether a path or glob is relative and names nothing above its start."""
    return not path.startswith(("/", "~", "\\")) and ".." not in re.split(r"[/\\]", path)
