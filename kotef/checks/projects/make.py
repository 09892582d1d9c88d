"""Which targets of a Makefile are checks?"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from kotef.checks.files import text_of
from kotef.checks.model import Role
from kotef.checks.projects import Found

_FILES: Final = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which GNU make looks for them."""
_TARGET: Final = re.compile(r"^((?:[\w./-]+ +)*[\w./-]+) *::?(?![=:])", re.MULTILINE)


def checks(root: Path, *, have: Collection[Role]) -> Iterator[Found]:
    """`make test` or else `make check`, and `make lint` where nothing else lints."""
    text = next((text for name in _FILES if (text := text_of(root, name))), "")
    targets = {target for names in _TARGET.findall(text) for target in names.split()}
    if target := next((name for name in ("test", "tests", "check") if name in targets), ""):
        yield f"make {target}", f"make {target}", "test"
    if "lint" in targets and "lint" not in have:
        yield "make lint", "make lint", "lint"
