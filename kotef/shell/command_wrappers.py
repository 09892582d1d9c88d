"""The tools that a command line really runs, without its wrappers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final, Literal, NamedTuple

from kotef.shell.command_links import SHELL_NAME, links, shell_input

Purpose = Literal["test", "lint", "types", "format", "build", "run", "read", "other"]

TOOLS: Final[dict[Purpose, str]] = {
    "test": "pytest py.test unittest nose2 nose trial behave doctest jest vitest mocha ava tap tape jasmine "
    "karma cypress playwright ctest rspec minitest phpunit pest bats gotestsum nextest surefire testthat busted prove "
    "coverage stestr lit",
    "lint": "ruff flake8 pylint pycodestyle pydocstyle pyflakes bandit vulture eslint oxlint tslint standard xo "
    "stylelint biome shellcheck golangci-lint staticcheck golint revive rubocop hadolint yamllint markdownlint "
    "markdownlint-cli2 cppcheck clang-tidy checkstyle ktlint detekt codespell pre-commit actionlint sqlfluff phpcs "
    "phpstan psalm swiftlint typos commitlint deptry import-linter lint-imports semgrep",
    "types": "mypy dmypy pyright basedpyright pyre pytype ty tsc vue-tsc flow svelte-check",
    "format": "black isort prettier gofmt goimports rustfmt clang-format shfmt autopep8 yapf dprint gofumpt",
    "build": "gcc g++ cc c++ clang clang++ ld gfortran ocamlc ocamlopt nim scalac dune zig cabal stack "
    "javac kotlinc rustc make-build cmake ninja meson bazel webpack rollup "
    "esbuild vite next msbuild swiftc ghc compileall py_compile build docker podman buildah hatchling",
    "read": "cat echo printf grep rg tail head less sed awk git ls find wc diff tee sort uniq cut tr true jq xargs",
}
TOOL_PURPOSES: Final[dict[str, Purpose]] = {tool: purpose for purpose, row in TOOLS.items() for tool in row.split()}

SUBCOMMANDS: Final[dict[str, dict[str, Purpose]]] = {
    "go": {"test": "test", "vet": "lint", "fmt": "format", "build": "build", "install": "build", "run": "run"},
    "cargo": {
        "test": "test",
        "nextest": "test",
        "clippy": "lint",
        "fmt": "format",
        "build": "build",
        "check": "build",
        "run": "run",
    },
    "ruff": {"format": "format"},
    "dotnet": {"test": "test", "build": "build", "format": "format", "run": "run"},
    "swift": {"test": "test", "build": "build", "run": "run"},
    "mix": {"test": "test", "compile": "build", "credo": "lint", "format": "format"},
    "deno": {"test": "test", "lint": "lint", "check": "types", "fmt": "format", "run": "run"},
    "bun": {"test": "test", "build": "build"},
    "zig": {"test": "test", "build": "build"},
    "meson": {"test": "test"},
    "ninja": {"test": "test", "check": "test"},
    "cmake": {"test": "test", "check": "test"},
    "bazel": {"test": "test", "coverage": "test", "run": "run"},
    "cabal": {"test": "test"},
    "stack": {"test": "test"},
    "dune": {"test": "test", "runtest": "test"},
    "node": {"--test": "test", "--check": "lint"},
    "vite": {"dev": "run", "preview": "run"},
    "manage.py": {"test": "test"},
    "flutter": {"test": "test", "analyze": "lint", "build": "build"},
    "dart": {"test": "test", "analyze": "lint", "format": "format"},
}
"""Tools whose first word after the options says what they do."""

STARTERS: Final = frozenset(
    {
        *("make", "gmake", "just", "task", "rake", "invoke", "ant", "sbt", "lein", "composer"),
        *("npm", "pnpm", "yarn", "bun", "turbo", "nx", "lerna"),
        *("tox", "nox", "poe", "hatch", "pdm", "rye"),
        *("mvn", "mvnw", "gradle", "gradlew"),
    }
)
"""Programs that run a target named by the project; the target's name is the only hint the command gives."""

PREFIXES: Final[dict[str, int]] = {
    "env": 0, "time": 0, "nice": 0, "nohup": 0, "exec": 0, "command": 0, "sudo": 0, "stdbuf": 0, "xvfb-run": 0,
    "npx": 0, "bunx": 0, "uvx": 0, "pipx run": 1, "uv run": 1, "poetry run": 1, "pdm run": 1, "hatch run": 1,
    "rye run": 1, "pipenv run": 1, "pnpm exec": 1, "pnpm dlx": 1, "npm exec": 1, "yarn exec": 1, "yarn run": 1,
    "bundle exec": 1, "conda run": 1, "uv tool run": 2, "coverage run": 1, "npm x": 1, "busybox": 0,
}  # fmt: skip
"""Words in front of the real command, with how many words follow the first."""

WITH_VALUE: Final = frozenset(
    {
        *("-C", "-e", "-f", "-k", "-n", "-p", "-s", "-u", "-w"),
        *("--dir", "--directory", "--env", "--env-file", "--extra", "--file", "--filter", "--from", "--group"),
        *("--package", "--prefix", "--project", "--python", "--signal", "--with", "--with-requirements", "--workspace"),
    }
)
"""Options of wrappers that take the next word."""

TARGETS: Final[tuple[tuple[Purpose, str], ...]] = (
    ("types", r"type-?check|types|mypy|pyright|tsc"),
    ("lint", r"lint|clippy|vet|flake8|ruff|eslint|style|static|analy[sz]e"),
    ("format", r"fmt|format|prettier|black"),
    ("test", r"tests?|unit|check|verify|spec|e2e|integration|coverage|cov|pytest|jest|py3?\d*"),
    ("build", r"build|compile|package|bundle|dist|all|assemble|install|binary|release"),
    ("run", r"run|start|serve|dev|exec|bootRun"),
)
"""What the name of a target usually means, first match wins; separators are anything that is not a letter."""

PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?|py")
ASSIGNMENT = re.compile(r"\w+=")
DURATION = re.compile(r"[\d.]+[smhd]?")

ECHOES: Final = re.compile(
    r"(?:> |\$ |\+{1,3} |nox > |[\w.-]+: commands\[\d+\][^>]{0,200}> |\[command\])(?P<command>\S.*)"
)
"""How npm and pnpm (`> `), yarn (`$ `), `set -x` (`+ `), nox and tox announce what they run."""

NAMED: Final[tuple[tuple[Purpose, str], ...]] = (
    ("lint", r"lint|check|style|sniff|audit|analy[sz]e|vet$|critic$"),
    ("types", r"typecheck|-tc$"),
    ("format", r"(?:^|[-_])fmt|fmt$|format(?:ter)?$"),
    ("test", r"(?:^|[-_])tests?$|^test(?!$)|spec$|tester$"),
    ("build", r"(?:^|[-_\d])(?:g?cc|c\+\+|ld|asm)\d*$|cc$|compiler?$|build(?:er)?$"),
)
"""What the name of an unknown program suggests: `puppet-lint`, `luacheck`, `armcc`."""

INTERPRETERS: Final = frozenset(
    {"perl", "lua", "luajit", "julia", "Rscript", "elixir", "groovy", "tclsh", "guile", "racket"}
)
"""Programs that run programs; those of other languages have that purpose anyway."""

ERRANDS: Final[dict[str, Purpose]] = {
    **dict.fromkeys(("lint", "check", "validate", "analyze", "analyse", "vet", "audit"), "lint"),
    **dict.fromkeys(("fmt", "format"), "format"),
    **dict.fromkeys(("typecheck", "tc"), "types"),
    **dict.fromkeys(("test", "tests", "spec"), "test"),
    **dict.fromkeys(("build", "compile", "make"), "build"),
    **dict.fromkeys(("run", "exec", "start", "serve", "server"), "run"),
}
"""What the first word after such a program asks of it: `buf lint`, `gleam build`."""

MAX_COMMAND: Final = 4000
MAX_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class CommandPurpose:
    """What a command line was meant to do."""

    tools: tuple[str, ...] = ()
    """Names of the programs, without directories, wrappers taken off; `cargo test` is `cargo`."""
    purposes: tuple[Purpose, ...] = ()
    """One per program."""
    modules: frozenset[str] = frozenset()
    """What `python -m` was given."""
    roles: tuple[Purpose, ...] = ()
    """One per program: its purpose, or what its name and its first word suggest."""
    own: bool = False
    """Whether a program that is given by its path, as a project's own scripts are, has no purpose that is known."""

    @property
    def purpose(self) -> Purpose:
        """The purpose of the whole line: that of its first program that has one, readers last."""
        return _telling(self.purposes)

    @property
    def role(self) -> Purpose:
        """The purpose, and if there is none what the names of the programs suggest: weaker evidence."""
        return self.purpose if self.purpose != "other" else _telling(self.roles)

    def after_tests(self) -> "CommandPurpose":
        """The programs behind the last test runner; all of them if none is behind it."""
        last = max((at for at, purpose in enumerate(self.purposes) if purpose == "test"), default=-1)
        rest = slice(last + 1, None)
        if not self.purposes[rest]:
            return self
        return replace(self, tools=self.tools[rest], purposes=self.purposes[rest], roles=self.roles[rest])


def _telling(purposes: Sequence[Purpose]) -> Purpose:
    """The first purpose that says something; only readers read."""
    main_purpose: Purpose | None = next((purpose for purpose in purposes if purpose not in {"other", "read"}), None)
    if main_purpose is not None:
        return main_purpose
    only_reads = bool(purposes) and all(purpose == "read" for purpose in purposes)
    return "read" if only_reads else "other"


def unwrap(command: str, announced: Iterable[str] = ()) -> CommandPurpose:
    """Take wrappers, pipes and shells off `command`; `announced` are output lines that may name what a wrapper ran.

    The command's own words come first, so an announcement never overrules them.
    """
    found = list(_programs(command[:MAX_COMMAND], MAX_DEPTH))
    for line in announced:
        match = ECHOES.fullmatch(line)
        if match:
            found += [item for item in _programs(match["command"], 1) if item.purpose != "other"]
    return CommandPurpose(
        tools=tuple(each.name for each in found),
        purposes=tuple(each.purpose for each in found),
        modules=frozenset(each.name for each in found if each.module),
        roles=tuple(_role(each) for each in found),
        own=any(each.by_path and each.purpose == "other" for each in found),
    )


class Program(NamedTuple):
    """One simple command of a line, its wrappers taken off."""

    name: str
    purpose: Purpose
    module: bool = False
    """Whether it was given to `python -m`."""
    errand: str = ""
    """Its first word that is not an option."""
    by_path: bool = False


def _role(program: Program) -> Purpose:
    """What a program is for; of one that is not known, what its first word and its name suggest."""
    if program.purpose != "other":
        return program.purpose
    if program.name in INTERPRETERS or SHELL_NAME.fullmatch(program.name):
        return "run"
    errand = re.split("[:,]", program.errand)[0]  # `run-s lint:types`
    if errand in ERRANDS and not program.by_path:
        return ERRANDS[errand]
    name = program.errand if program.name in STARTERS else program.name
    guesses: list[Purpose] = [purpose for purpose, names in NAMED if re.search(names, name)]
    return guesses[0] if guesses else "other"


def _programs(command: str, depth: int) -> Iterator[Program]:
    """Yield each simple command of a line."""
    for link in links(command):
        inner = _strip(list(link.words))
        if not inner:
            continue
        name = PurePosixPath(inner[0]).name.removesuffix(".exe")
        script = next((word for word in inner[1:] if not word.startswith(("-", "+"))), "")
        line = shell_input(inner[1:]).line if depth and SHELL_NAME.fullmatch(name) else None
        if line is not None:
            yield from _programs(line, depth - 1)
        elif PYTHON.fullmatch(name) and "-m" in inner[:-1]:
            rest = inner[inner.index("-m") + 1 :]
            yield Program(rest[0], _purpose(rest[0].split(".")[0], rest[1:]), module=True)
        elif PYTHON.fullmatch(name) and PurePosixPath(script).name == "manage.py":
            yield Program("manage.py", _purpose("manage.py", inner[2:]))
        else:
            yield Program(name, _purpose(name, inner[1:]), errand=script, by_path="/" in inner[0])


def _strip(words: list[str]) -> list[str]:
    """Take assignments, `uv run`-like prefixes and their options off the front."""
    while words:
        name = PurePosixPath(words[0]).name
        if ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif name == "timeout":
            words = _skip_options(words[1:])
            words = words[1:] if words and DURATION.fullmatch(words[0]) else words
        else:
            count = _prefix_length([name, *words[1:3]])
            if not count:
                return words
            words = _skip_options(words[count:])
    return words


def _prefix_length(words: list[str]) -> int:
    """How many words of a known prefix stand here, 0 for none."""
    for length in (3, 2, 1):
        if " ".join(words[:length]) in PREFIXES and len(words) > length - 1:
            return length
    return 0


def _skip_options(words: list[str]) -> list[str]:
    """Drop options of a wrapper; the first bare word is the command it runs."""
    while words and words[0].startswith("-"):
        if words[0] in {"-m", "--module"}:
            return ["python", *words]
        words = words[2:] if words[0] in WITH_VALUE else words[1:]
    return words


def _purpose(name: str, arguments: list[str]) -> Purpose:
    """What a program with these arguments is for."""
    words = [word for word in arguments if not word.startswith("-")]
    table = SUBCOMMANDS.get(name)
    if table:
        for word in arguments[:4]:
            if word in table:
                return table[word]
    if name.removesuffix(".cmd").removesuffix(".sh") in STARTERS:
        if words:
            return _target_purpose(words)
        return "build" if name in {"make", "gmake"} else "other"
    if name in {"node", "deno", "ruby", "php", "java"} or PYTHON.fullmatch(name):
        return "run"
    return TOOL_PURPOSES.get(name, "other")


def _target_purpose(words: list[str]) -> Purpose:
    """What `make X`, `npm run X` or `tox -e X` is likely to do."""
    for word in reversed(words):
        if word in {"run", "run-script"}:
            continue
        for purpose, names in TARGETS:
            if re.search(rf"(?<![a-zA-Z])(?:{names})(?![a-zA-Z])", word):
                return purpose
    return "other"
