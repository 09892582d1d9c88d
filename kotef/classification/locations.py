"""Places in the project (file and line) that a piece of output points to."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

# `File "x.py", line 3` (Python); `(x.js:3:22)`, `at x.js:3:22` (V8); `src/x.rs:3:5`, `x.c:3:5:` (compilers);
# `--> src/x.rs:3:5` (rustc, ruff, ty); `X.java:[3,5]` (javac through Maven); `x.pl line 3`, `x.sh: line 3`,
# `x.php on line 3`, `X.cs:line 3` (Perl, bash, PHP, .NET); `x.ts(3,5)` (tsc, MSBuild), because a call may look like it.
PLACE: Final = re.compile(
    r"""File "(?P<python>[^"\n]{1,300})", line (?P<python_line>\d{1,7})"""
    r"""|(?P<path>(?<![\w@+~./\\-])(?:file://)?(?:[A-Za-z]:(?=[\\/]))?[\w@+~./\\-]{1,300}?\.[A-Za-z]\w{0,7})"""
    r"""(?:(?::\[?|:line |(?:[:,]| on)? line )"""
    r"""|(?<=[./](?:ts|js|cs|vb|fs))\((?=\d+[,)])|(?<=[.](?:tsx|jsx|cpp|vue|kts))\((?=\d+[,)]))"""
    r"""(?P<line>\d{1,7})\b"""
)
LIBRARY_PATH: Final = re.compile(
    r"site-packages|dist-packages|node_modules|<frozen|<string>|node:|internal/|/lib/python|[/\\]Lib[/\\]|/rustc/|/rustlib/"
    r"|/usr/local/(?:go|lib)/|/pkg/mod/|\.cargo/registry|/usr/include|/usr/lib|/usr/share|java\.base"
    r"|/gems/|vendor/bundle|\.pnpm|_pytest"
    r"|\.rustup|webpack:|/nix/store|[/\\]\.?v?env[/\\]|[/\\]\.[tn]ox[/\\]|/bin/[\w-]+$"
)
FOREIGN_FRAME: Final = re.compile(
    r"\bat (?:java|javax|jdk|sun|com\.sun|org\.junit|org\.opentest4j|org\.apache\.maven|org\.gradle|kotlin|scala"
    r"|org\.assertj|org\.hamcrest|org\.mockito)[.\w]*[./]"
)
MAX_SHOWN: Final = 90


def places(lines: Iterable[str]) -> Iterator[str]:
    """`path:line` of every place in the lines that is not in a library, in order of appearance."""
    for line in lines:
        if ":" not in line and "(" not in line and "line " not in line:
            continue
        if FOREIGN_FRAME.search(line):
            continue
        for match in PLACE.finditer(line):
            path, number = match["python"] or match["path"], match["python_line"] or match["line"]
            if not LIBRARY_PATH.search(path):
                yield f"{shorten(path)}:{number}"


def from_root(text: str, root: str) -> str:
    """The text with every file below the absolute directory `root` relative to it."""
    bare = re.escape(root.rstrip("/\\"))
    return re.sub(rf"(?<![\w@+~./\\-])(?:file://)?{bare}[\\/]", "", text)


def shorten(path: str) -> str:
    """The path, or its last three parts if it is long."""
    path = path.removeprefix("file://").removeprefix("./")
    if len(path) <= MAX_SHOWN:
        return path
    return "…/" + "/".join(path.replace("\\", "/").split("/")[-3:])[-MAX_SHOWN:]
