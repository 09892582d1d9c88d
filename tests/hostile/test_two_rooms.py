"""No file that a command plants outside the product makes a check lie; each plant does fool the coder's own check."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.attacks import refuse_level
from support.loop import UNITTEST, Ran

BASE = f"{sys.base_prefix}/bin/python{sys.version_info[0]}.{sys.version_info[1]} -m unittest -q"
"""An interpreter that reads the user site packages; one in a virtual environment does not."""
LIES = "from unittest import case\ncase.TestCase.assertEqual = lambda *_: None\n"
NPM = f'{{"scripts": {{"test": "{UNITTEST}"}}}}\n'


@dataclass(frozen=True)
class Plant:
    """A file that a command leaves behind."""

    name: str
    files: dict[str, str]
    """Path → text; `~` in a path is the commands' home."""
    check: str = UNITTEST
    project: dict[str, str] = field(default_factory=dict)
    needs: str = ""
    quick: bool = False


def _plants() -> Iterator[Plant]:
    site = "$SITE"
    for name in ("usercustomize.py", "x.pth"):
        text = "import lies\n" if name.endswith(".pth") else LIES
        yield Plant(name, {f"{site}/{name}": text, f"{site}/lies.py": LIES}, BASE, quick=name == "usercustomize.py")
    for text in ("script-shell=/bin/true\n", "node-options=--require=/nowhere\nscript-shell=/bin/true\n"):
        yield Plant(f"npmrc {len(text)}", {"~/.npmrc": text}, "npm test", {"package.json": NPM}, "npm")
    shadow = {"~/.config/git/config": "[alias]\n\tproved = !true\n", "~/.gitconfig": "[alias]\n\tproved = !true\n"}
    for path, text in shadow.items():
        yield Plant(path, {path: text}, f"git proved || {UNITTEST}")
    for place in ("~/.bash_profile", "~/bin/prove", "$TMPDIR/prove", "$XDG_CACHE_HOME/prove"):
        yield Plant(
            place, {place: "exit 0\n"}, f'if [ -f "{place.replace("~", "$HOME")}" ]; then exit 0; fi; {UNITTEST}'
        )


PLANTS = list(_plants())


@pytest.mark.parametrize("level", ["bwrap", "landlock"])
@pytest.mark.parametrize(
    "plant", [pytest.param(one, marks=[] if one.quick else [pytest.mark.hostile], id=one.name) for one in PLANTS]
)
def test_a_planted_file_makes_no_check_lie(plant: Plant, level: str, play: Callable[..., Ran], tmp_path: Path) -> None:
    if why := refuse_level(level, tmp_path):
        pytest.skip(f"{level}: {why}")
    if plant.needs and not shutil.which(plant.needs):
        pytest.skip(f"{plant.needs} is not installed")
    written = "".join(
        f"w(os.path.expandvars(os.path.expanduser({path!r})), {text!r})\n" for path, text in plant.files.items()
    )
    site = "import site\nos.environ['SITE'] = site.getusersitepackages()\n"
    shown = f"status = subprocess.run({plant.check!r}, shell=True, capture_output=True).returncode\n"
    script = f"{site}{written}{shown}print('status', status)\nw('calc.py', open('calc.py').read() + '#\\n')\n"

    ran = play(plant.project, script, plant.check, "--sandbox", level)

    logs = "".join(path.read_text() for path in (ran.run_dir / "logs").glob("command-*"))
    assert "status 0" in logs, "the coder's own check is fooled"
    assert ran.result["outcome"] != "verified"
    judged = json.loads((ran.run_dir / "visit-1.json").read_text())
    assert [check["exit_code"] for check in judged["checks"]] != [0], "the check that judges is not"
