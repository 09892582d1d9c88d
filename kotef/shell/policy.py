"""The command policy: whether a command line may run, needs a person's approval, or is refused.

A table of names and a reading of the shell's grammar. It is not a sandbox: a script, an alias, a build file or a clever
quotation does what it likes, and only the sandbox around the process can stop that. It spares honest models the
commands that would cost a person their work, and tells them why.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Final, Literal, Protocol

from kotef.shell.command_links import shell_input
from kotef.shell.command_names import (
    ABROAD,
    ALWAYS_REFUSED,
    BUILTINS,
    FETCHERS,
    GIT_LISTS,
    GIT_READS,
    HARMLESS,
    HARMLESS_WITH,
    INSTALLS,
    INTERPRETERS,
    PUBLISHES,
    WAITS,
    WRAPPERS,
)
from kotef.shell.syntax import DYNAMIC, SHELLS, Simple, UnreadableCommandError, simple_commands

Policy = Literal["allowed", "ask", "refused"]

_GRAVITY: Final[dict[Policy, int]] = {"allowed": 0, "ask": 1, "refused": 2}
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_QUIET_DEVICES: Final = re.compile(r"/dev/(null|zero|stdout|stderr|tty|fd/\d+|shm/.+)")
_PLACES: Final = frozenset({"-C", "--cwd", "--dir", "--directory", "--prefix", "--project", "--filter", "-w"})
"""Options of package managers and builders that take a place as their next word."""
_ALL: Final = frozenset({(), ("*",), (".*",), (".[!.]*",), ("{*,.*}",)})
"""What is left of a path that means everything in a directory."""
_DEPTH: Final = 8
"""Shells within shells that are read."""

Class = Literal["harmless", "install", "other", "ask", "refused"]


class CommandProfile(Protocol):
    """The rows of a profile that speak of commands; see `kotef.settings.Profile`."""

    @property
    def installs(self) -> Policy:
        """Commands that install packages."""
        ...

    @property
    def other_commands(self) -> Policy:
        """Commands that are neither known to be harmless nor known to be dangerous."""
        ...


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is to be done with a command line, and why; the reason is for the model and names the way out."""

    policy: Policy
    reason: str = ""
    """Empty when it is allowed."""
    profile: bool = False
    """Whether only the profile says so, and not the table of what is never right."""

    @property
    def may_be_asked(self) -> bool:
        """Whether a person at the terminal may allow it."""
        return self.policy == "ask" or (self.policy == "refused" and self.profile)


@dataclass(frozen=True, slots=True)
class _CommandFinding:
    """What one simple command is, before the profile has its say."""

    kind: Class
    reason: str = ""


_HARMLESS: Final = _CommandFinding("harmless")
_OTHER: Final = _CommandFinding("other")


def decide_command(command: str, profile: CommandProfile, *, root: Path | None = None) -> Ruling:
    """The gravest ruling on any simple command of the line; what cannot be read is refused, as anything may be in it.

    With `root`, absolute paths inside and outside the workspace are distinguished.
    """
    try:
        rulings = [_rule(finding, profile) for finding in _judge_line(command, root, 0)]
    except UnreadableCommandError as error:
        return Ruling("refused", f"the command line cannot be read: {error}; write it more simply")
    return max(rulings, key=lambda one: (_GRAVITY[one.policy], not one.may_be_asked), default=Ruling("allowed"))


def _rule(finding: _CommandFinding, profile: CommandProfile) -> Ruling:
    """What the profile makes of one finding."""
    match finding.kind:
        case "harmless":
            return Ruling("allowed")
        case "refused" | "ask":
            return Ruling(finding.kind, finding.reason.replace(DYNAMIC, "$…"))
        case "install":
            policy, reason = (
                profile.installs,
                f"{finding.reason} installs packages; a person has to allow that (--allow-install)",
            )
        case "other":
            policy, reason = profile.other_commands, "this profile does not know the command as harmless"
    return Ruling(policy, "" if policy == "allowed" else reason, profile=policy != "allowed")


def _judge_line(line: str, root: Path | None, depth: int) -> list[_CommandFinding]:
    if depth > _DEPTH:
        raise UnreadableCommandError("shells are nested too deeply")
    return [finding for simple in simple_commands(line) for finding in _judge(simple, root, depth)]


def _judge(simple: Simple, root: Path | None, depth: int) -> list[_CommandFinding]:
    """Findings on one simple command, what it starts in turn included."""
    words = _unwrapped(simple.words)
    found = [_judge_redirection(target) for target in simple.writes]
    if not words:
        return found
    name = PurePosixPath(words[0]).name
    if DYNAMIC in words[0]:
        return [*found, _CommandFinding("ask", "the name of the command is known only when it runs; write it out")]
    if name in SHELLS or name in {"eval", "source", "."}:
        return [*found, *_judge_shell(name, words[1:], simple, root, depth)]
    if name == "find":
        found += _judge_find(words, root, depth)
    found.append(_judge_words(name, words[1:], simple, root))
    return found


def _unwrapped(words: Sequence[str]) -> list[str]:
    """The words without assignments and without commands that only run another one, such as `env` and `timeout`."""
    rest = list(words)
    while rest:
        if _ASSIGNMENT.match(rest[0]):
            rest = rest[1:]
            continue
        name = PurePosixPath(rest[0]).name
        if name == "command" and rest[1:2] in (["-v"], ["-V"]):
            break  # only looks the other one up
        wrapper = next((prefix for prefix in WRAPPERS if tuple([name, *rest[1:]][: len(prefix)]) == prefix), None)
        if wrapper is None:
            break
        with_value, positional = WRAPPERS[wrapper]
        inner = _after_options(rest[len(wrapper) :], with_value)[positional:]
        if not inner:
            break
        rest = inner
    return rest


def _after_options(words: Sequence[str], with_value: Iterable[str] = ()) -> list[str]:
    """What follows the leading options; options in `with_value` take the next word with them."""
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option == "--":
            break
        if option in with_value and rest:
            rest.pop(0)
    return rest


def _judge_redirection(target: str) -> _CommandFinding:
    if target.startswith("/dev/") and not _QUIET_DEVICES.fullmatch(target):
        return _CommandFinding("refused", f"writing to {target} is refused: it is a device")
    return _HARMLESS if _QUIET_DEVICES.fullmatch(target) else _OTHER


def _judge_shell(name: str, args: list[str], simple: Simple, root: Path | None, depth: int) -> list[_CommandFinding]:
    """A shell, or `eval`, or `source`: what it would read is judged where it can be seen."""
    if _fetches(simple):
        return [
            _CommandFinding("refused", f"piping a download into {name} is refused; download it to a file and read that")
        ]
    if name == "eval":
        return _judge_script(" ".join(args), root, depth)
    if name not in SHELLS:
        return [_OTHER]
    read = shell_input(args)
    if read.line is not None:
        return _judge_script(read.line, root, depth) if read.line else [_OTHER]
    if simple.script:
        return _judge_script(simple.script, root, depth)
    if simple.feed and not read.file:
        return [
            _CommandFinding("ask", f"the commands that {name} would read from the pipe are unknown; write them out")
        ]
    return [_OTHER]


def _judge_script(script: str, root: Path | None, depth: int) -> list[_CommandFinding]:
    """What a shell is given to read; parts that are only known when it runs may be commands as well."""
    unknown = [_CommandFinding("ask", "a script that is built when it runs; write it out")] if DYNAMIC in script else []
    return [*unknown, *_judge_line(script, root, depth + 1)]


def _fetches(simple: Simple) -> bool:
    return any(PurePosixPath(words[0]).name in FETCHERS for fed in simple.feed if (words := _unwrapped(fed.words)))


def _judge_find(words: Sequence[str], root: Path | None, depth: int) -> list[_CommandFinding]:
    """What `find` would run or delete."""
    found: list[_CommandFinding] = []
    for at, word in enumerate(words):
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            inner = list(words[at + 1 :])
            ends = [position for position, end in enumerate(inner) if end in {";", "+"}]
            found += _judge(Simple(words=inner[: ends[0]] if ends else inner), root, depth + 1)
        elif word in {"-delete", "-fprint", "-fprintf", "-fls"}:
            found.append(_OTHER)
            starts = list(takewhile(lambda start: not start.startswith("-"), words[1:]))
            untested = at == len(words) - 1 == len(starts) + 1  # -delete stands right after the places to start from
            lost = [
                start
                for start in starts or ["."]
                if _is_outside(start, root) and (untested or start not in {".", "./"})
            ]
            if word == "-delete" and lost:
                found.append(
                    _CommandFinding("refused", f"deleting below {lost[0]} is refused: it does not belong to the run")
                )
    return found


def _judge_words(name: str, args: list[str], simple: Simple, root: Path | None) -> _CommandFinding:
    """The table, row by row; the first that speaks decides."""
    problem = _said(name, args)
    if reason := ALWAYS_REFUSED.get(problem[0]):
        return _CommandFinding("refused", f"{problem[0]} is refused: {reason}")
    if name in INTERPRETERS and _fetches(simple) and _after_options(args) in ([], ["-"]):
        return _CommandFinding(
            "refused", f"piping a download into {name} is refused; download it to a file and read that"
        )
    if name.startswith("mkfs") or (name == "dd" and any(arg.startswith("of=/dev/") for arg in args)):
        return _CommandFinding("refused", f"{name} on a device is refused")
    if name in WAITS and not WAITS[name] & set(args):
        return _CommandFinding("refused", f"{name} is interactive; use view_file, edit_file, cat or sed")
    if name == "tail" and any(re.fullmatch(r"-[a-zA-Z]*[fF]\w*|--follow(=.*)?", arg) for arg in args):
        return _CommandFinding("refused", "tail that follows a file never ends; omit -f")
    if name in {"kill", "pkill", "killall"}:
        return _judge_kill(name, args)
    if name in {"rm", "rmdir", "unlink", "shred", "chmod", "chown", "chgrp"}:
        return _judge_removal(name, args, root)
    if name == "git":
        return _judge_git(args)
    if row := next((row for row in PUBLISHES if problem[: len(row)] == row), None):
        return _CommandFinding("refused", f"`{' '.join(row)}` is refused: {ABROAD}")
    if row := next((row for row in INSTALLS if problem[: len(row)] == row), None):
        return _CommandFinding("install", f"`{' '.join(row)}`")
    return _HARMLESS if _is_harmless(name, problem, args) else _OTHER


def _said(name: str, args: Sequence[str]) -> tuple[str, ...]:
    """Name and plain words without options: `python3.12 -m pip -q install x` says `pip install x`."""
    if re.fullmatch(r"(python|pypy)[\d.]*|py", name):
        name = "python"
        if "-m" in args[:-1]:
            at = list(args).index("-m")
            name, args = args[at + 1], args[at + 2 :]
    name = "pip" if re.fullmatch(r"pip[\d.]+", name) else name
    values = {at + 1 for at, arg in enumerate(args) if arg in _PLACES}
    plain = [arg for at, arg in enumerate(args) if at not in values and not arg.startswith(("-", "+"))]
    return (name, *(plain if plain or name != "yarn" else ["install"]))


def _is_harmless(name: str, words: Sequence[str], args: Sequence[str]) -> bool:
    """Readers, builtins and test runners; nothing here is asked about."""
    if name in BUILTINS:
        return True
    if name == "sed":
        return not any(re.match(r"-[a-zA-Z]*i|--in-place", arg) for arg in args)
    if name in {"awk", "gawk", "mawk"}:
        return not any("system(" in arg or "|" in arg or ">" in arg for arg in args)
    if args and set(args) <= {"--version", "-V", "--help", "-h"}:
        return True
    return words[0] in HARMLESS or any(tuple(words[: len(row)]) == row for row in HARMLESS_WITH)


def _judge_kill(name: str, args: Sequence[str]) -> _CommandFinding:
    """Jobs of the same shell may be ended, processes that are someone else's may not."""
    targets = _after_options(args, {"-s", "-n"})
    if name == "kill" and ("-l" in args or (targets and all(re.fullmatch(r"%\w+|\$!", target) for target in targets))):
        return _HARMLESS
    if name == "kill" and any(DYNAMIC in target for target in targets):
        return _CommandFinding(
            "ask", "which process it would end is known only when it runs; write `kill $!` or `kill %1`"
        )
    return _CommandFinding(
        "refused", f"{name} is refused: the process may belong to someone else; end your own with `kill %1`"
    )


def _judge_removal(name: str, args: Sequence[str], root: Path | None) -> _CommandFinding:
    """Removing, or changing the mode of, what is not the run's to remove."""
    recursive = any(re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive", arg) for arg in args)
    for target in (arg for arg in args if not arg.startswith("-")):
        if DYNAMIC in target and recursive:
            return _CommandFinding("ask", f"what `{name}` would remove is known only when it runs; write the paths out")
        if _is_outside(target, root):
            return _CommandFinding(
                "refused", f"`{name} {target}` is refused: it is outside the workspace, or all of it"
            )
        if PurePosixPath(target).parts[:1] in {(".git",), (".sdd",)}:
            return _CommandFinding("refused", f"`{name} {target}` is refused: it contains the history or the task")
    return _OTHER


def _is_outside(target: str, root: Path | None) -> bool:
    """Whether a path is the workspace itself, above it, or somewhere else than in it or in /tmp."""
    if target.startswith(("~", "$HOME")):
        return True
    path = PurePosixPath(posixpath.normpath(re.sub(r"^\$PWD(?=/|$)", ".", target)))
    if path.is_absolute():
        if root is None or not path.is_relative_to(root):
            in_temporary = path.is_relative_to("/tmp") and path.parts[2:] not in _ALL  # noqa: S108 - judged, not used
            return not in_temporary or (root is not None and root.is_relative_to(path))
        path = path.relative_to(root)
    return path.parts[:1] == ("..",) or path.parts in _ALL


def _judge_git(args: Sequence[str]) -> _CommandFinding:
    """Reading is allowed; whatever writes the repository is refused, for kotef keeps the history itself."""
    rest = _after_options(args, {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"})
    if not rest:
        return _HARMLESS
    command, options = rest[0], rest[1:]
    if command in GIT_READS:
        return _HARMLESS
    if command in GIT_LISTS:
        first = next((option for option in options if not option.startswith("-")), "")
        words, flags = GIT_LISTS[command]
        given = {option.split("=")[0] for option in options if option.startswith("-")}
        if (first in words and (first or not options)) or given & flags:
            return _HARMLESS
    if command == "clone" or (command == "apply" and not {"--index", "--cached", "--3way", "-3"} & set(options)):
        return _OTHER
    return _CommandFinding(
        "refused",
        f"`git {command}` is refused: kotef keeps the history and the index itself; "
        "change files in place and read with git status, diff, log or show",
    )
