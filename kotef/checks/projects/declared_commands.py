"""The test command that a repository declares itself: make and just targets, tox, nox, scripts."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from posixpath import normpath
from typing import Final, NamedTuple

from kotef.checks.project_config import readable_text
from kotef.checks.projects.python_tasks import OF_COVERAGE, tasks
from kotef.checks.projects.test_programs import targets_of_test_programs
from kotef.shell import commands_behind, programs_of, unwrap, words_of

MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which GNU make looks for them."""
_JUSTFILES: Final = ("justfile", "Justfile", ".justfile")
_TARGET: Final = re.compile(r"^((?:[\w./-]+ +)*[\w./-]+) *::?(?![=:])", re.MULTILINE)
_RECIPE: Final = re.compile(r"^@?([\w-]+)(?: [^:\n]*)?:(?!=)", re.MULTILINE)
_TARGETS: Final = ("test", "tests", "check")
_NAMED: Final = (
    re.compile(r"(?:run[-_]?)(?:all[-_]?)?tests?|(?:unit[-_]?tests?|tests?[-_]units?|check[-_]unit)"),
    re.compile(r"(?:all[-_]?tests?|tests?[-_]?all|check[-_]?all|selftest|testsuite)"),
    re.compile(r"\w[\w-]*[-_]tests?"),
    re.compile(r"(?:tests?|check)[-_][\w-]*\w"),
)
"""Names of targets that say test, the likeliest first."""
_NOT_TESTS: Final = re.compile(
    r"clean|install|release|publish|upload|lint|format|fmt|style|types?|cov|bench|perf|fuzz|valgrind|docker|build|deps?"
    r"|dist|docs?|data|update|gen|watch|debug|sanit|memcheck|windows|win32|headers?|license|syntax|spell|links"
)
"""What else in its name says that a target is not a plain run of the tests."""
_SCRIPTS: Final = ("scripts/test", "script/test", "bin/test", "scripts/test.sh", "script/test.sh", "run_tests.sh")
_BESIDE_TESTS: Final = re.compile(
    r"docker|docker-compose|podman|kubectl|vagrant|terraform|ansible(?:-playbook)?|ssh|scp|rsync|curl|wget|aws|gcloud"
    r"|apt|apt-get|brew|sudo|tox|nox|virtualenv|hatch"
)
"""Programs in a test target that need more than this workspace: containers, other machines, environments."""
_INSTALLS: Final = re.compile(
    r"\b(?:pip3?|npm|yarn|pnpm|poetry|uv|pdm|bundle|composer|pipenv)(?:@\S+)?(?: \S+)? (?:install|sync|ci|add|audit)\b"
    r"|-m venv\b"
    r"|\brunserver\b|&\s*$"
)
_NESTED: Final = 4
"""Variables of make inside of others that are followed."""
_VARIABLE: Final = re.compile(r"^(?:export )?(\w+) *(?:::?|\?)?= *([^\n#]*)", re.MULTILINE)
_USED: Final = re.compile(r"\$[({](\w+)[)}]")
_PUT_IN: Final = re.compile(r"(?:[\w ./~:=@,+*-]|\$[({]\w+[)}])*")
"""What a variable of make may hold to be read in its place."""
_CD: Final = re.compile(r"cd +([\w./@+-]+) *&& *")
_COVERAGE: Final = re.compile(r"(?:\bpython[\d.]* -m )?\bcoverage (?:run|erase)(?: +-(?!m )\S+)* -m ")
_ARGUMENTS: Final = re.compile(r"\$[({](?:tests?|\w*args|\w*flags|\w*opts)(?:[)}]|$)", re.IGNORECASE)
"""Variables with which a person adds arguments to a target; usually empty."""
_PLUGIN_OPTION: Final = re.compile(
    r" --cov(?:[ =][^\s-]\S*)?(?=\s|$)| --cov-(?:report|config|fail-under|context)(?:=\S*| [^\s-]\S*)"
    r"| --(?:no-)?cov[\w-]*(?=\s|$)"
    r"| -n ?(?:auto|logical|\d+)(?= |$)"
    r"| --(?:numprocesses|dist|reruns|reruns-delay|junit-?xml|html)(?:=\S+| [^\s-]\S*)"
)
"""Options of pytest that measure, spread or report the tests, and need plug-ins; they choose no test."""
_ASSIGNMENTS: Final = re.compile(r"(?:[A-Za-z_]\w*=[\w./:@%+,-]* +)+")
_WITHIN: Final = re.compile(
    r"(?:uv|poetry|pdm|pipenv|rye|pixi) run (?:--(?:frozen|locked|no-sync|all-extras|all-groups|dev) )*(?!-)"
)


def needs_more(lines: Sequence[str]) -> bool:
    """Whether commands need more than this workspace: a container, an installation, a server, another machine."""
    programs = {Path(program).name for line in lines for program in programs_of(line)}
    beside = any(_BESIDE_TESTS.fullmatch(program) for program in programs)
    return beside or any(_INSTALLS.search(line) for line in lines)


class Declared(NamedTuple):
    """A test command in the repository's own words."""

    command: str
    """How it is started: `make test`; empty if only its lines can be run."""
    lines: tuple[str, ...]
    """The commands behind it, variables as they are."""
    source: str

    @property
    def is_suited(self) -> bool:
        """Whether it needs only this workspace."""
        return not needs_more(self.lines)

    @property
    def folder(self) -> str:
        """Where that command is run, from the root; empty for the root, and if it is not a folder of the workspace."""
        found = _CD.match(self._line)
        place = normpath(found[1]) if found else "."
        return "" if place == "." or place.startswith(("/", "..")) else place

    @property
    def runner(self) -> str:
        """The one plain command that runs the tests, its folder left out; empty if there is more to it."""
        found = _CD.match(self._line)
        if found and normpath(found[1]) != "." and not self.folder:
            return ""
        line = _ARGUMENTS.sub("", _CD.sub("", self._line, count=1))
        line = _PLUGIN_OPTION.sub("", _COVERAGE.sub("python -m ", line)).strip()
        plain = not any(mark in line for mark in "$`|&;<>(){}\n")
        return line if plain and unwrap(line).purpose == "test" else ""

    @property
    def _line(self) -> str:
        """The one line that runs the tests, as it is declared; empty if there are several."""
        lines = [line for line in self.lines if unwrap(line).purpose != "read"]
        lines = [line for line in lines if not OF_COVERAGE.match(_bare(line))]
        if not self.command:
            lines = [line for line in lines if unwrap(line).purpose == "test"]
            lines = list({_COVERAGE.sub("python -m ", line): line for line in lines}.values())
        return lines[0] if len(lines) == 1 else ""


def declared(root: Path) -> Iterator[Declared]:
    """Every test command that is declared: what needs no tool of its own first."""
    yield from _targets(root, "make", MAKEFILES, _TARGET)
    yield from _targets(root, "just", _JUSTFILES, _RECIPE)
    for task in tasks(root):
        yield Declared("", task.lines, task.source)
    for path in _SCRIPTS:
        text = readable_text(root, path)
        if text.strip() and not text.startswith("\x7fELF"):
            lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
            kept = tuple(line for line in lines if line and not line.startswith(("#", "set ")))
            yield Declared(_start_of_script(path, text), kept, path)


def _start_of_script(path: str, text: str) -> str:
    """How a script is run: by bash or sh, or by the program that its first line names."""
    if re.match(r"#! ?\S*[ /]bash\b", text):
        return f"bash {path}"
    is_shell = not text.startswith("#!") or re.match(r"#! ?\S*(?:sh|env \w*sh)\b", text)
    return f"sh {path}" if is_shell else f"./{path}"


def named_after_tests(root: Path) -> list[Declared]:
    """Targets of the Makefile whose name only says test (`sds-test`, `test-unit`, `runtests`), the likeliest first.

    Where none does, those that build and run a program of tests under another name.
    """
    names = sorted(name for name in _names(root, MAKEFILES, _TARGET) if "." not in name and "/" not in name)
    ranked: list[str] = []
    for pattern in _NAMED:
        ranked += [name for name in names if pattern.fullmatch(name) and not _NOT_TESTS.search(name)]
    if not ranked and (file := next((name for name in MAKEFILES if readable_text(root, name)), "")):
        ranked = list(targets_of_test_programs(root, file))
    return list(_targets(root, "make", MAKEFILES, _TARGET, targets=tuple(dict.fromkeys(ranked))))


def has_target(root: Path, target: str) -> bool:
    """Whether the project's Makefile has a target of that name."""
    return target in _names(root, MAKEFILES, _TARGET)


def _targets(
    root: Path, tool: str, files: tuple[str, ...], pattern: re.Pattern[str], targets: tuple[str, ...] = _TARGETS
) -> Iterator[Declared]:
    names = _names(root, files, pattern)
    file = next((name for name in files if readable_text(root, name)), "")
    text = readable_text(root, file) if file else ""
    variables = _plain_variables(text) if tool == "make" else {}

    for target in targets:
        if target not in names:
            continue
        command = f"{tool} {target}"
        lines = commands_behind(command, lambda path: readable_text(root, path) or None)
        expanded = tuple(each for line in lines if (each := _expanded(line, variables)))
        is_program = tool == "make" and _only_builds(target, _recipe(text, target))
        started = f"{command} && ./{target}" if is_program else command
        yield Declared(started, expanded, f"{file}: {target}")


def _plain_variables(makefile: str) -> dict[str, str]:
    """The variables of a makefile whose value can be put in as it stands."""
    found = ((name, value.strip()) for name, value in _VARIABLE.findall(makefile))
    return {name: value for name, value in found if _PUT_IN.fullmatch(value)}


def _recipe(text: str, target: str) -> list[str]:
    """The lines of the target's own recipe."""
    found: list[str] = []
    inside = False
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            found += [line.lstrip("\t @-")] if inside else []
        elif line.strip():
            inside = any(target in names.split() for names in _TARGET.findall(line))
    return found


def _only_builds(target: str, lines: Sequence[str]) -> bool:
    """Whether the target makes a program of its name and nothing runs it."""
    program = rf"(?:\./)?(?:\$@|\$\(@\)|{re.escape(target)})(?![\w./-])"
    is_built = any(re.search(rf" -o *{program}", line) for line in lines)
    return is_built and not any(re.search(rf"(?:^|[;&|] *|= *\S* ){program}", line) for line in lines)


def _expanded(line: str, variables: Mapping[str, str]) -> str:
    """A line of a recipe with the makefile's plain variables put in; those that only make can know stay."""
    for _ in range(_NESTED):
        line = _USED.sub(lambda match: variables.get(match[1], match[0]), line)
    return line.strip()


def _bare(line: str) -> str:
    """Without the folder and the variables in front."""
    line = _CD.sub("", line, count=1)
    return line.removeprefix(assignments_of(line))


def _names(root: Path, files: tuple[str, ...], pattern: re.Pattern[str]) -> set[str]:
    text = next((text for name in files if (text := readable_text(root, name))), "")
    return {target for names in pattern.findall(text) for target in names.split()}


def assignments_of(line: str) -> str:
    """The variables set in front of a command, as they have to be typed; empty if there are none."""
    found = _ASSIGNMENTS.match(line)
    return found[0] if found else ""


def module_and_arguments(line: str) -> tuple[str, str]:
    """What `python -m` is given in a plain test command, and what follows; empty if it is not a module of Python.

    What is in front to run it in an environment (`uv run`) is left out, because the environment is found again.
    """
    words = words_of(_WITHIN.sub("", line.removeprefix(assignments_of(line))))
    if not words:
        return "", ""
    name = Path(words[0]).name
    if re.fullmatch(r"python[\d.]*", name) and words[1:2] == ["-m"] and len(words) > 2:  # noqa: PLR2004  after `-m`
        return words[2], shlex.join(words[3:])
    if name in {"pytest", "py.test"}:
        return "pytest", shlex.join(words[1:])
    return "", ""


def is_bare(line: str) -> bool:
    """Whether a plain test command starts `pytest` itself, which leaves the folder it is in off Python's path."""
    words = words_of(_WITHIN.sub("", line.removeprefix(assignments_of(line))))
    return bool(words) and Path(words[0]).name in {"pytest", "py.test"}
