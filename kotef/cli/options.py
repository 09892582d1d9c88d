"""Which options do several commands share?"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def where(command: F) -> F:
    """The option that says which workspace is meant."""
    return click.option(
        "--root",
        type=click.Path(file_okay=False),
        help="The workspace.  [default: the git top level, else the current directory]",
    )(command)


JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else.")
