"""An environment of its own for kotef, in which pip installs packages without the network."""

import os
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """\
#!/bin/sh
exec {python} {arguments} "$@"
"""


class OwnEnvironment:
    """A virtual environment that sees the packages of the one the tests run in; what is installed into it is apart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, symlinks=True, with_pip=False)
        self.python = folder / "bin" / "python"
        packages = next(folder.glob("lib/python*/site-packages"))
        line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
        (packages / "tests.pth").write_text(line)
        self.commands = folder / "commands"
        self.commands.mkdir()
        for name, arguments in (("kotef", '-c "from kotef.__main__ import run; run()"'), ("pip", "-m pip")):
            script = self.commands / name
            script.write_text(SCRIPT.format(python=self.python, arguments=arguments))
            script.chmod(0o755)

    def variables(self, path: str) -> dict[str, str]:
        """What makes `kotef` and `pip` those of this environment; `python` stays what it is."""
        offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        return {**offline, "PATH": os.pathsep.join((str(self.commands), path)), "PYTHONPATH": ""}


def can_build() -> str:
    """Why no package can be built here without the network; empty if one can."""
    from importlib.util import find_spec

    missing = [name for name in ("pip", "hatchling") if find_spec(name) is None]
    return f"{' and '.join(missing)} not installed in {sys.prefix}" if missing else ""
