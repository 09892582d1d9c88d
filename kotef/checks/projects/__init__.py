"""One module per kind of project: which checks its files imply, and what is missing to run them."""

from kotef.checks.model import Role

Found = tuple[str, str, Role]
"""Name, command line and role of a check."""
