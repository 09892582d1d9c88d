"""Trial of the checks: whether the program of each starts here, in its environment and under the sandbox in use.

Detection believes files; what it finds is tried before it is required. One rule holds everywhere: `doctor` shows the
table, `init` writes down what starts, `check` and `run` require it. A check that a person named is required whether it
starts or not.
"""

import asyncio
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kotef.checks.detect import CONFIGURATION
from kotef.checks.install_lines import NODE, PYTHON, install_line, words_after_assignments
from kotef.checks.missing_plugins import configuration_question, missing_of
from kotef.checks.missing_program import missing_program
from kotef.checks.project_config import readable_text
from kotef.checks.projects.declared_commands import assignments_of
from kotef.checks.projects.environments import packages_in_src, requirements
from kotef.checks.toolchain_versions import questions, running_version, sentence_of
from kotef.checks.types import Check
from kotef.sandbox import OFF, Sandbox, fresh_room, run_process
from kotef.shell import commands_behind, unwrap, words_of

SECONDS: Final = 60.0
"""A program that has not printed its version by then counts as started: it is slow, not missing."""
_DEEPEST: Final = 4
"""Scripts that call scripts which are followed."""
_AT_ONCE: Final = 2
"""Programs tried at the same time."""
_NUMBER: Final = re.compile(r"(?<![\w.])v?\d+\.\d+[\w.+-]*|(?<=go)\d+\.\d+[\w.]*")
_VERSION: Final[dict[str, str]] = {
    "go": "version",
    "zig": "version",
    "java": "-version",
    "bazel": "version",
}
"""Programs that print their version by another word than `--version`."""
_WITHOUT_CONFIGURATION: Final[dict[str, tuple[str, ...]]] = {
    "pytest": ("-c", os.devnull, "--noconftest"),
    "py.test": ("-c", os.devnull, "--noconftest"),
    "flake8": ("--isolated",),
}
"""Programs that load the project's configuration before they print their version, and how they are kept from it.

A configuration or a conftest that is broken is for the check itself to show: the program is there.
"""
_RUN_WITHIN: Final = (
    *([tool, "run"] for tool in ("uv", "poetry", "pdm", "pipenv", "hatch", "pixi")),
    ["bundle", "exec"],
)
"""What is in front of a program to run it in an environment."""
_SUBCOMMANDS: Final = frozenset({"cargo clippy", "cargo nextest"})
"""Programs of their own behind one that may be there without them."""
_NOT_STARTED: Final = frozenset({"./gradlew", "./mvnw", "gradlew", "mvnw"})
"""Wrappers that download before they print a version: only what they need is looked for."""
_STANDARD: Final = frozenset({"unittest", "doctest", "compileall", "py_compile"})
"""Modules of Python itself."""
_ERROR: Final = re.compile(r"\W*(?:error|fatal|err!)\b", re.IGNORECASE)
"""The line of a program that did not start which says why, where advice follows it."""
_CD: Final = re.compile(r"cd ([\w./@+-]+|'[^']+') && ")
"""In front of the command of a package."""
_PREFIX: Final = re.compile(r'PATH="([^":]*):\$PATH" ')

_NEEDS: Final = """\
import importlib.metadata as m, importlib.util as u, os, sys
root, count = os.path.realpath('.'), int(sys.argv[1])
gone = []
for name in sys.argv[2:2 + count]:
    try: m.version(name)
    except m.PackageNotFoundError: gone.append(name)
if gone: sys.exit('has no ' + ', '.join(gone))
for name in sys.argv[2 + count:]:
    try: found = u.find_spec(name)
    except Exception: found = None
    if found is None: sys.exit('cannot import ' + name)
    place = os.path.realpath(found.origin or next(iter(found.submodule_search_locations or ['/'])))
    if not place.startswith(root + os.sep):
        sys.exit('imports ' + name + ' from ' + os.path.dirname(place) + ', not from this workspace')
"""
"""Whether an interpreter that is not the project's own can import what the project needs, and the project itself."""


class Trial(NamedTuple):
    """What became of trying one check."""

    check: Check
    starts: bool
    version: str = ""
    """What the program says of itself: `pytest 8.3.4`; empty if it was not asked."""
    why: str = ""
    """Why it does not start; empty when it does."""
    install: str = ""
    """The command that helps; empty if none is known."""

    @property
    def sentence(self) -> str:
        """What is not installed, why that is known, and what helps, for a person."""
        return f"{self.check.name} (`{self.check.command}`) is not installed: {self.why}; {way_out(self.install)}"


def way_out(install: str) -> str:
    """What helps where a check does not start: the command, where one is known."""
    return f"install it: {install}" if install else f"install it, or name another command in {CONFIGURATION}"


class TrialResult(NamedTuple):
    """What of the checks is required, and what is left out."""

    checks: tuple[Check, ...]
    left_out: tuple[Trial, ...] = ()
    """Detected checks that cannot start."""

    @property
    def notices(self) -> tuple[str, ...]:
        """One line for each check that is left out; none where `broken` says it already."""
        return () if self.broken else tuple(f"{trial.sentence}; it is not required" for trial in self.left_out)

    @property
    def broken(self) -> str:
        """Which environment is missing, where no check, or none with tests, is left for want of it; else empty."""
        missing = [trial for trial in self.left_out if trial.check.role == "test"]
        tested = any(check.role == "test" and check.origin != "extension" for check in self.checks)
        if tested or not (missing or (self.left_out and not self.checks)):
            return ""
        return f"no check can be run here: {'; '.join(trial.sentence for trial in missing or self.left_out)}"


def required(trials: Sequence[Trial]) -> TrialResult:
    """What starts, and what someone named; the rest is left out."""
    kept = tuple(trial.check for trial in trials if trial.starts or trial.check.origin != "detected")
    return TrialResult(kept, tuple(trial for trial in trials if trial.check not in kept))


async def try_checks(
    checks: Sequence[Check], *, root: Path, env: Mapping[str, str], sandbox: Sandbox = OFF, start: bool = True
) -> tuple[Trial, ...]:
    """Each check with whether its program starts.

    Nothing of the project is run but its own environment's programs, and what pytest loads to know its options.
    `start` False looks for the programs and starts none: for where nothing confines what a repository brings.
    """
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(check: Check) -> Trial:
        async with gate:
            return await _try(check, root, env, sandbox, start=start)

    return tuple(await asyncio.gather(*(one(check) for check in checks)))


async def _try(check: Check, root: Path, env: Mapping[str, str], sandbox: Sandbox, *, start: bool) -> Trial:
    """Try one check; for a check with `cd`, its command is tried in that folder."""
    elsewhere = _CD.match(check.command)
    folder = words_of(elsewhere[1])[0] if elsewhere else ""
    if elsewhere is None or not (root / folder).is_dir():
        return await _try_here(check, root, env, sandbox, start=start)
    inner = check.model_copy(update={"command": check.command[elsewhere.end() :]})
    found = await _try_here(inner, root / folder, env, sandbox, start=start, above=root)
    install = f"{elsewhere[0]}{found.install}" if found.install and not found.install.startswith("see ") else ""
    return found._replace(check=check, install=install or found.install)


async def _try_here(
    check: Check, root: Path, env: Mapping[str, str], sandbox: Sandbox, *, start: bool, above: Path | None = None
) -> Trial:
    if absent := _absent(check.command, root, env, above or root):
        why, install = absent
        return Trial(check, starts=False, why=why, install=install)
    probe = _probe(check, root)
    if not start or not probe:
        return Trial(check, starts=True)
    with fresh_room(sandbox) as room:
        done = await run_process(probe, cwd=root, env=env, timeout=SECONDS, idle_timeout=None, sandbox=room)
    if done.exit_code not in (0, None):
        lines = [line for line in (done.stderr.strip() or done.stdout.strip()).splitlines() if line.strip()]
        error_line = next((line for line in lines if _ERROR.match(line)), lines[-1] if lines else "")
        why = error_line.strip()[:200] or f"exit status {done.exit_code}"
        return Trial(check, starts=False, why=_named(check, why), install=_install(check, root))
    version = _version(check, done.stdout or done.stderr, root)
    question = configuration_question(words_after_assignments(check.command), root)
    if question and check.role == "test":
        with fresh_room(sandbox) as room:
            done = await run_process(question, cwd=root, env=env, timeout=SECONDS, idle_timeout=None, sandbox=room)
        if done.exit_code not in (0, None) and (missing := missing_of(done.stderr + done.stdout, root)):
            install = _install(check, root, wanted=missing.distribution) if missing.distribution else ""
            return Trial(check, starts=False, version=version, why=missing.why, install=install)
    return Trial(check, starts=True, version=version)


async def toolchain_notes(root: Path, *, env: Mapping[str, str], sandbox: Sandbox = OFF) -> tuple[str, ...]:
    """A sentence for each toolchain that the repository asks for in another version than the one that runs here."""
    found: list[str] = []
    for wanted, line in questions(root, env):
        with fresh_room(sandbox) as room:
            done = await run_process(line, cwd=root, env=env, timeout=SECONDS, idle_timeout=None, sandbox=room)
        running = running_version(done.stdout or done.stderr) if done.exit_code == 0 else ""
        if running and not wanted.is_met_by(running):
            found.append(sentence_of(wanted, running))
    return tuple(found)


def _named(check: Check, why: str) -> str:
    """The reason, with the interpreter that gives it where that does not name itself."""
    program = words_after_assignments(check.command)[0]
    return f"{program} {why}" if why.startswith(("has no ", "cannot import ", "imports ")) else why


def _absent(command: str, root: Path, env: Mapping[str, str], above: Path) -> tuple[str, str] | None:
    """What is nowhere to be found: the program, one behind a starter, or a build folder; and what helps.

    Package managers look for programs in the folders up to `above` too.
    """
    if folder := _build_folder(command, root):
        return f"{folder[0]}/ is not configured", folder[1]
    prefix = _PREFIX.match(command)
    besides = [prefix[1].removeprefix("$PWD/")] if prefix else []
    if set(unwrap(command).tools) & NODE:
        levels = len(root.parts) - len(above.parts)
        besides += [f"{'../' * level}node_modules/.bin" for level in range(levels + 1)]
    line = _PREFIX.sub("", command)
    if program := missing_program(root, line, path=env.get("PATH"), besides=besides[:1] if prefix else ()):
        return f"{program} is not found", install_line(program, command, root)
    for behind in _behind(line, root):
        if program := missing_program(root, behind, path=env.get("PATH"), besides=besides):
            return f"`{line}` starts {program}, which is not found", install_line(program, command, root)
    return None


def _behind(command: str, root: Path) -> Iterator[str]:
    """The plain lines a make or just target or a package script begins with, and those behind these.

    What only a shell could know is left out.
    """

    def read(path: str) -> str | None:
        return readable_text(root, path) or None

    seen: set[str] = set()
    pending = [command]
    for _ in range(_DEEPEST):
        starters = [line for line in pending if set(unwrap(line).tools) & (NODE | {"make", "just"})]
        behind = [each for line in starters for each in commands_behind(line, read)]
        pending = [line for line in dict.fromkeys(behind) if line not in seen]
        seen.update(pending)
        yield from (line for line in pending if re.match(r"(?:\w+=[\w./-]* )*[\w./@+-]+(?: |$)", line))


def _build_folder(command: str, root: Path) -> tuple[str, str] | None:
    """The build folder that a command names and that is not there, and what makes it."""
    words = words_of(command)
    if "--test-dir" in words[:-1]:
        folder = words[words.index("--test-dir") + 1]
        if not (root / folder / "CMakeCache.txt").exists():
            return folder, f"cmake -S . -B {shlex.quote(folder)} && cmake --build {shlex.quote(folder)}"
    if words[:3] == ["meson", "test", "-C"] and not (root / words[3] / "meson-private").exists():
        return words[3], f"meson setup {shlex.quote(words[3])}"
    makefile = any((root / name).exists() for name in ("GNUmakefile", "makefile", "Makefile"))
    if words[:1] == ["make"] and len(words) == 2 and not makefile:  # noqa: PLR2004  `make TARGET`
        first = "" if (root / "configure").exists() else "autoreconf -i && "
        return ".", f"{first}./configure"
    return None


def _probe(check: Check, root: Path) -> str:
    """The command line that starts the check's program without doing its work; empty if none is known."""
    words = words_after_assignments(check.command)
    if words[:2] in _RUN_WITHIN:
        inner = words[2:]
        return shlex.join([*words[:2], *_asking(inner, root)]) if inner else ""
    question = _asking(words, root)
    if not question:
        return ""
    prefix = _PREFIX.match(check.command)
    line = f"{prefix[0] if prefix else assignments_of(check.command)}{shlex.join(question)}"
    own = PYTHON.fullmatch(words[0]) and "/" not in words[0]
    return f"{line} && {_needs(words[0], root)}" if own and check.origin == "detected" else line


def _asking(words: list[str], root: Path) -> list[str]:
    """The words that make a program print its version."""
    program = words[0]
    if program in _NOT_STARTED or Path(program).name in {"sh", "bash"} or program.startswith("./"):
        return []
    if PYTHON.fullmatch(program):
        if _is_of_django(words, root):
            return [program, "-m", "django", "--version"]
        if words[1:2] != ["-m"] or words[2] in _STANDARD:
            return [program, "--version"]
        return [program, "-m", words[2], "--version", *_WITHOUT_CONFIGURATION.get(words[2], ())]
    if " ".join(words[:2]) in _SUBCOMMANDS:
        return [*words[:2], "--version"]
    name = Path(program).name
    return [program, _VERSION.get(name, "--version"), *_WITHOUT_CONFIGURATION.get(name, ())]


def _is_of_django(words: Sequence[str], root: Path) -> bool:
    """Whether it is a script that Django has to be there for: `manage.py`, or a project's own runner."""
    script = next((word for word in words[1:2] if word.endswith(".py")), "")
    return bool(script) and bool(re.search(r"^\s*(?:import|from) django\b", readable_text(root, script), re.MULTILINE))


def _needs(python: str, root: Path) -> str:
    """What asks an interpreter of the machine whether it can import what the project needs."""
    wanted = requirements(root)
    packages = () if _finds_src(root) else packages_in_src(root)
    return shlex.join([python, "-c", _NEEDS, str(len(wanted)), *wanted, *packages])


def _finds_src(root: Path) -> bool:
    """Whether pytest's configuration, or a conftest, puts folders on the path, so that nothing has to be installed."""
    texts = [readable_text(root, name) for name in ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg")]
    conftests = [readable_text(root, name) for name in ("conftest.py", "tests/conftest.py", "test/conftest.py")]
    return any(re.search(r"^\s*pythonpath\s*=", text, re.MULTILINE) for text in texts) or any(
        "sys.path" in text for text in conftests
    )


def _version(check: Check, output: str, root: Path) -> str:
    """The first line that holds a number like a version, short, with the program's name."""
    line = next((line for line in output.splitlines() if _NUMBER.search(line)), "")
    found = _NUMBER.search(line)
    if found is None:
        return ""
    words = words_after_assignments(check.command)
    at = words.index("-m") + 1 if "-m" in words[:-1] else 0
    name = Path(words[at]).name
    name = "Python" if name in _STANDARD or PYTHON.fullmatch(name) else name
    name = "Django" if _is_of_django(words, root) else name
    return f"{name} {found[0].removeprefix('v')}"


def _install(check: Check, root: Path, *, wanted: str = "") -> str:
    """The install line of the check's program, or of a plug-in of it."""
    words = words_after_assignments(check.command)
    if wanted:
        return install_line(words[0], check.command, root, module=wanted)
    module = words[words.index("-m") + 1] if "-m" in words[:-1] else Path(words[0]).name
    module = "django" if _is_of_django(words, root) else module
    return install_line(words[0], check.command, root, module=module)
