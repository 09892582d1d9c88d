"""Signing and hooks of git, read without running what the repository names."""

import os
from pathlib import Path
from typing import Final

from kotef.files import at_home
from kotef.git.commands import run_git

_PROGRAMS: Final = {
    "gpg.program": "gpg",
    "gpg.openpgp.program": "",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.defaultkeycommand": "",
}
"""Settings that name a program, and what git has where no one sets them."""
_USERS: Final = frozenset({"system", "global"})
"""Scopes that a repository cannot write."""


def signing_settings(root: Path) -> tuple[bool, dict[str, str]]:
    """Whether commits here are to be signed, and the settings that let git do it.

    Whether, and with which key, the repository may say; which program does it, only the user or the machine.
    """
    wanted, programs = "", dict(_PROGRAMS)
    for scope, name, value in _settings(root):
        if name == "commit.gpgsign" and scope != "command":
            wanted = value
        elif name in programs and scope in _USERS:
            programs[name] = value
    programs["gpg.openpgp.program"] = programs["gpg.openpgp.program"] or programs["gpg.program"]
    return wanted.lower() in {"true", "yes", "on", "1", "\0"}, programs


def hooks_place(root: Path) -> Path:
    """The folder of the hooks that `git commit` would run here."""
    values = [value for scope, name, value in _settings(root) if name == "core.hookspath" and scope != "command"]
    if values:
        return root / at_home(values[-1])
    common = run_git(["rev-parse", "--git-common-dir"], cwd=root, user_config=True).stdout
    return root / os.fsdecode(common).strip() / "hooks"


def _settings(root: Path) -> list[tuple[str, str, str]]:
    """Scope, name and value of every setting, in the order in which they hold; a NUL for one without a value."""
    listed = run_git(["config", "--show-scope", "-z", "--list"], cwd=root, user_config=True).stdout
    parts = os.fsdecode(listed).split("\0")
    found = []
    for scope, setting in zip(parts[::2], parts[1::2], strict=False):
        name, there, value = setting.partition("\n")
        found.append((scope, name.lower(), value if there else "\0"))
    return found
