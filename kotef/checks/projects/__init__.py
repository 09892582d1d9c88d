"""One module per kind of project: which checks its files imply, and what is missing to run them."""

from typing import NamedTuple

from kotef.shell import Role


class DetectedCheck(NamedTuple):
    """A check that files of the project imply."""

    name: str
    command: str
    role: Role
    source: str = ""
    """The file, and where it helps the section or target, that says so."""
