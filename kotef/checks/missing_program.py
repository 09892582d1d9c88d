"""The program that a command line would start but that does not exist, found without running anything."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kotef.shell import programs_of

_WORDS: Final = """
cd export test [ [[ true false : . source echo set unset exit exec eval time command type ulimit umask wait trap read
printf pwd pushd popd shift return let local declare alias builtin getopts hash jobs kill ! { } if then else elif fi for
while until do done case esac in function select coproc
"""
"""What a shell knows by itself."""
_BUILT_IN: Final = frozenset(_WORDS.split())
_PLAIN: Final = re.compile(r"[\w@%+:,./-]+")
_FUNCTION: Final = re.compile(r"(?<![^\s;&|(){}])(?:function\s+([^\s;&|(){}]+)|([^\s;&|(){}]+)\s*\(\s*\))")
"""What the line itself gives a name, in either spelling."""
_INSTALLED: Final = re.compile(r"(?:\./)?(?:\.venv|venv|env|\.tox|\.nox|node_modules)/")


def missing_program(root: Path, command: str, *, path: str | None = None, besides: Sequence[str] = ()) -> str:
    """The first program in it that is nowhere to be found; empty when all are, or where only a shell could know.

    `path` is PATH, as in the environment of kotef itself where it is None; `besides` are folders of the workspace that
    are searched too.

    A path inside the workspace counts as found unless an installation would put it there: a task may make it.
    """
    places = [*(str(root / folder) for folder in besides), os.environ.get("PATH", "") if path is None else path]
    searched = os.pathsep.join(places)
    made = {name for names in _FUNCTION.findall(command) for name in names}
    return next((word for word in programs_of(command) if word not in made and _is_missing(root, word, searched)), "")


def _is_missing(root: Path, word: str, path: str) -> bool:
    if word in _BUILT_IN or not _PLAIN.fullmatch(word):
        return False
    if "/" not in word:
        return shutil.which(word, path=path) is None
    if Path(word).is_absolute() or _INSTALLED.match(word):
        return not (root / word).exists()
    return False
