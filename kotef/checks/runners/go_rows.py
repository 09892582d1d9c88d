"""go test: a program from kotef starts each test binary (`-exec`), also when make or a script runs go."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from kotef.checks.runners.plugin_reports import recorded
from kotef.checks.runners.plugins import copy_of
from kotef.checks.runners.row import Leavings, Runner, RunnerCommand, Statuses
from kotef.files import read_regular, read_within
from kotef.integrity import name_part

_STARTER: Final = """\
#!/bin/sh
case "$1" in
*.test)
    read -r python 2>/dev/null <{chosen}
    if [ -z "$python" ]; then
        for each in {python} /usr/bin/python3 python3; do
            if "$each" -I -S -c '' 2>/dev/null; then python=$each; echo "$each" >{chosen}; break; fi
        done
    fi
    if [ -n "$python" ]; then exec "$python" -I -S {program} {folder} "$@"; fi;;
esac
exec "$@"
"""
_NOT_BUILT: Final = re.compile(r"FAIL\t(\S+) \[(?:build|setup) failed\]$", re.MULTILINE)
_MODULE: Final = re.compile(rb"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)
_MAX_MODULE: Final = 1024 * 1024
_PATTERN: Final = re.compile(r"--?(?:test\.)?(?:run|skip|exec|json|failfast|c|o|args|bench|fuzz)(?:=.*)?")
_TAKES_VALUE: Final = re.compile(r"-(?!-?(?:v|race|short|cover|trimpath|a|n|x|msan|asan)$)[^=]*")
"""Options whose value may be the next word."""


def go_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """`-exec` in GOFLAGS, which other go commands ignore; nothing if the program could not be started."""
    before = env["GOFLAGS"] if "GOFLAGS" in env else _flags_in_settings(env)
    if "-exec" in before or re.search(r"\s", str(command.folder)) or _may_not_start(command.folder):
        return {}
    program = copy_of(command.folder, "goexec.py") / "goexec.py"
    starter = command.folder / "goexec.sh"
    quoted = {"python": sys.executable, "program": str(program), "folder": str(command.folder)}
    quoted["chosen"] = str(command.folder / "python")
    starter.write_text(_STARTER.format(**{name: shlex.quote(text) for name, text in quoted.items()}))
    starter.chmod(0o755)
    return {"GOFLAGS": f"{before} -exec={starter}".strip()}


def go_report(left: Leavings) -> Statuses | None:
    """The tests that the binaries recorded; a package that could not be built is an error."""
    tests = recorded(left.command.folder, left.command.root, ("go",))
    broken = dict.fromkeys(_unbuilt(f"{left.stdout}\n{left.stderr}", left.command.root))
    if tests is None and not broken:
        return None
    return {**(tests or {}), **dict.fromkeys(broken, "error")}


def go_single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """`-run` with the names, and the packages of the tests."""
    if arguments[:1] != ["test"] or any(_PATTERN.fullmatch(word) for word in arguments):
        return None
    pairs = [test.partition("::")[::2] for test in tests]
    if not all(name for _, name in pairs):
        return None
    flags = [word for word in arguments[1:] if word.startswith("-")]
    if any(_TAKES_VALUE.fullmatch(word) for word in flags):
        return None
    tops = dict.fromkeys(name.partition("/")[0] for _, name in pairs)
    places = dict.fromkeys(f"./{place}" if exists(place) else "." for place, _ in pairs)
    names = "|".join(map(re.escape, tops))
    return ["test", *flags, "-run", f"^({names})$", *places]


def _flags_in_settings(env: Mapping[str, str]) -> str:
    """GOFLAGS as `go env -w` keeps it, which the variable would hide."""
    usual = Path(env.get("XDG_CONFIG_HOME") or Path(env.get("HOME", "/"), ".config"), "go", "env")
    try:
        text = read_regular(Path(env.get("GOENV") or usual), largest=_MAX_MODULE).decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines()]
    return next((line.partition("=")[2] for line in reversed(lines) if line.startswith("GOFLAGS=")), "")


def _may_not_start(folder: Path) -> bool:
    """Whether the folder is on a file system mounted `noexec`."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_NOEXEC)
    except OSError:
        return True


def _unbuilt(output: str, root: Path) -> Iterator[str]:
    """Packages that failed before a test could run, with the place that their tests would have."""
    found = _NOT_BUILT.findall(output)
    if not found:
        return
    try:
        module = _MODULE.search(read_within(root, "go.mod", largest=_MAX_MODULE))
    except OSError:
        module = None
    name = module[1].decode(errors="replace") if module else ""
    for path in found:
        if path == name:
            yield name_part(re.sub(r"/v\d+$", "", path).rpartition("/")[2])
        else:
            yield name_part(path.removeprefix(f"{name}/") if name else path)


GO: Final = Runner(
    name="go test",
    ids="`folder::TestName/sub`, or its name in the root package; for a package that cannot be built, its folder",
    tools=frozenset({"go"}),
    environment=go_environment,
    report=go_report,
    single=go_single,
)
