"""The files that `kotef init` writes for a new specification."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.errors import SpecError
from kotef.files import resolve_inside, write_below

_PROJECT: Final = """\
# Project

What this project is for, who uses it, and what it must never do.{language}

## Definition of Done

- Every quality gate of `architect.md` passes.
- What changed is covered by a test.

## Stop rules

- Stop and ask when two requirements contradict each other.

## Risks

- Name here what would be expensive to get wrong.
"""

_ARCHITECT: Final = """\
# Architecture

The parts, what each one answers for, and which way they may depend on each other.

## Quality gates

One command per line, run from the root of the repository; each must exit with 0.

```sh
{checks}
```
"""

_BEST_PRACTICES: Final = """\
# Best practices

How code is written here: names, errors, tests. Point to a file that shows it well.
"""

PLACEHOLDER: Final = "Say in a sentence or two what should be different when this is done."
"""The placeholder objective of a ticket made from the template."""

_TICKET: Final = """\
# Ticket: 01 What this ticket is about

Spec version: 1
Context: project.md, architect.md
Dependencies: none

## Objective & DoD

{objective}

**Definition of Done**

- [ ] All checks pass

## Implementation Sketch

Where the change belongs, and what it should reuse.

## Steps

1. Write a test that fails.
2. Make it pass.

## Affected Files / Modules

- `README.md`

## Tests

```sh
{checks}
```

## Risks & Edge Cases

- What could break, and who would notice.

## Non-Goals

- What this ticket leaves alone.
"""

TEMPLATE: Final = ".sdd/backlog/tickets/template.md"
"""The template of a ticket, which `kotef run` does not offer."""

_NO_CHECK: Final = "# no check was found; write the command that proves this project works"
_NOT_INSTALLED: Final = "# not installed when this was written; detected once it is: {check}"
_NO_TEST: Final = "false  # replace this with the command that shows whether the ticket is done"


class SkeletonResult(BaseModel):
    """Paths relative to the workspace root, in the order they were looked at."""

    model_config = ConfigDict(frozen=True)

    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Existing files, which were left unchanged."""


def write_skeleton(
    root: Path, checks: Sequence[str], *, language: str = "", not_installed: Sequence[str] = ()
) -> SkeletonResult:
    """Write a first `.sdd/` with these check commands; a file that exists is never overwritten.

    What is `not_installed` is named in a comment: a command that cannot start is no gate. `language` is named in
    `project.md`; empty leaves it out. What is written reads back
    without a problem, and `read_spec` finds exactly these checks.

    Raises `SpecError` when `.sdd` is not a directory, `NoSpaceError` and `WorkspaceError` when it cannot be written.
    """
    folder = root / ".sdd"
    if (folder.is_symlink() or folder.exists()) and not folder.is_dir():
        raise SpecError(".sdd", "is not a directory", hint="move it away, then `kotef init`")
    texts = {
        ".sdd/project.md": _PROJECT.format(language=f" It is written in {language}." if language else ""),
        ".sdd/architect.md": _ARCHITECT.format(checks=_block(checks, not_installed)),
        ".sdd/best_practices.md": _BEST_PRACTICES,
        ".sdd/.gitignore": "runs/\n",
        TEMPLATE: _TICKET.format(objective=PLACEHOLDER, checks="\n".join(checks) or _NO_TEST),
    }
    written, kept = [], []
    for path, text in texts.items():
        file = root / path
        if file.is_symlink() or file.exists():
            kept.append(path)
        else:
            resolve_inside(root, path, write=False)
            write_below(root, path, text.encode())
            written.append(path)
    return SkeletonResult(written=tuple(written), kept=tuple(kept))


def _block(checks: Sequence[str], not_installed: Sequence[str]) -> str:
    """The gates, one command a line."""
    later = [_NOT_INSTALLED.format(check=check) for check in not_installed]
    return "\n".join((*(checks or ([] if later else [_NO_CHECK])), *later))
