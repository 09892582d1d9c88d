"""The sandbox holds for a normal user as for root, and says what is the matter with a workspace of somebody else's."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kotef.errors import SandboxError
from kotef.sandbox.confinement import confine
from kotef.sandbox.environment import child_environment
from kotef.sandbox.levels import choose_level, probe_level
from kotef.sandbox.sandbox import Level

NOBODY = 65534
LEVELS: list[Level] = ["bwrap", "landlock"]
each_level = pytest.mark.parametrize("level", LEVELS)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

TRIES = """
import asyncio, json, os, socket, sys
from pathlib import Path
from kotef.sandbox.environment import child_environment
from kotef.sandbox.process import run_process
from kotef.sandbox.confinement import confine
from kotef.sandbox.levels import probe_level
from kotef.sandbox.sandbox import Sandbox

place, level = Path(sys.argv[1]), sys.argv[2]
root, env = place / "project", child_environment(os.environ)
confinement = confine(root, place / "state" / "kotef" / "abc" / "sandbox", env)
probed = probe_level(level, confinement, env)
said = {"uid": os.geteuid(), "why_not": probed.why_not}
if probed.holds:
    sandbox = Sandbox(level, confinement)
    def shell(command):
        return asyncio.run(
            run_process(command, cwd=root, env=env, timeout=60, idle_timeout=None, sandbox=sandbox)
        )
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 2)"
        done = {
            "works": shell("echo made > made.txt && cat made.txt && mktemp"),
            "escape": shell(f"echo no > {place}/outside; rm -f {place}/outside; echo no > {place}/home/x"),
            "environ": shell("cat /proc/*/environ | tr '\\\\0' '\\\\n'"),
            "signals": shell(f"kill -0 {os.getpid()} || echo refused; kill -0 -{os.getpgid(0)} || echo refused"),
            "network": shell(f'{sys.executable} -c "{connect}"'),
            "git": shell("echo no > .git/config; mv .git x; echo no > .sdd/x"),
            "keys": shell("cat .env ~/.ssh/id_rsa $HOME/../home/.ssh/id_rsa " + str(place / "home/.ssh/id_rsa")),
            "metadata": shell(f"touch -d @7 made.txt; chmod 640 made.txt; chmod 777 {place}/mine; touch {place}/mine"),
            "rights": shell("grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs)' /proc/self/status"),
        }
    said |= {name: [one.exit_code, one.stdout, one.stderr] for name, one in done.items()}
print(json.dumps(said))
"""


@pytest.fixture
def theirs() -> Iterator[Path]:
    """A folder of a normal user: a home, a workspace, and a copy of kotef it may read."""
    place = Path(tempfile.mkdtemp(prefix="k", dir="/tmp"))
    (place / "home" / ".ssh").mkdir(parents=True)
    (place / "home" / ".ssh" / "id_rsa").write_text("CANARY-KEY\n")
    for name in ("project/.git", "project/.sdd"):
        (place / name).mkdir(parents=True)
    (place / "project" / ".git" / "config").write_text("as it was")
    (place / "project" / ".env").write_text("KEY=CANARY-ENV\n")
    (place / "outside").write_text("mine")
    (place / "mine").write_text("mine")
    (place / "mine").chmod(0o600)
    os.utime(place / "mine", (7, 7))
    (place / "tries.py").write_text(TRIES)
    package = Path(__file__).parents[2] / "kotef"
    for part in ("__init__.py", "errors.py", "lazy_exports.py", "files", "git", "redaction", "sandbox", "workspace"):
        copy = shutil.copytree if (package / part).is_dir() else shutil.copy
        (place / "kotef").mkdir(exist_ok=True)
        copy(package / part, place / "kotef" / part)
    for found in (place, *place.rglob("*")):
        os.chown(found, NOBODY, NOBODY, follow_symlinks=False)
    yield place
    shutil.rmtree(place)


def _python_of(user: int) -> str:
    """An interpreter that this user may run; kotef's own may lie in the home of root."""
    for name in ("python3.14", "python3.13", "python3.12", "python3.11", "python3"):
        for folder in ("/usr/local/bin", "/usr/bin"):
            words = [f"{folder}/{name}", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
            if Path(words[0]).exists() and subprocess.run(words, user=user, group=user, check=False).returncode == 0:
                return words[0]
    return ""


@as_root
@each_level
def test_a_normal_user_is_held_as_well(level: Level, theirs: Path) -> None:
    if not (python := _python_of(NOBODY)):
        pytest.skip("there is no Python 3.11 that another user may run")
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(theirs / "home"), "OPENAI_API_KEY": "sk-canary-env"}
    ran = subprocess.run(
        [python, "-B", "tries.py", str(theirs), level],
        cwd=theirs,
        env=env,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert said["uid"] == NOBODY
    if said["why_not"]:
        pytest.skip(f"{level} for a normal user: {said['why_not']}")

    assert said["works"][1].startswith("made\n"), said["works"]
    assert (theirs / "outside").read_text() == "mine"
    assert not (theirs / "home" / "x").exists()
    assert "sk-canary" not in said["environ"][1]
    assert said["signals"][1].split() == ["refused", "refused"]
    assert said["network"][0] == 1
    assert "CANARY-KEY" not in said["keys"][1]
    made, mine = ((theirs / name).stat() for name in ("project/made.txt", "mine"))
    assert (made.st_mode & 0o777, made.st_mtime) == (0o640, 7)
    assert (mine.st_mode & 0o777, mine.st_mtime) == (0o600, 7)
    facts = dict(line.split(":\t") for line in said["rights"][1].splitlines())
    assert int(facts["CapEff"], 16) == int(facts["CapPrm"], 16) == 0
    assert facts["NoNewPrivs"] == "1"
    if level == "bwrap":
        assert (theirs / "project" / ".git" / "config").read_text() == "as it was"
        assert not (theirs / "project" / ".sdd" / "x").exists()
        assert "CANARY-ENV" not in said["keys"][1]


@as_root
@each_level
def test_a_workspace_of_somebody_else_is_named_with_the_way_out(level: Level, project: Path, tmp_path: Path) -> None:
    """As a container job has it: root runs, and the checkout is a user's."""
    os.chown(project, NOBODY, NOBODY)
    env = child_environment(os.environ)
    confinement = confine(project, tmp_path / "state" / "kotef" / "abc" / "sandbox", env)
    probed = probe_level(level, confinement, env)
    if not probed.deeds:
        pytest.skip(f"{level}: {probed.why_not}")

    assert "belongs to" in probed.why_not
    assert "65534" in probed.why_not
    with pytest.raises(
        SandboxError, match=r"run kotef as the owner of the workspace, or make root \(uid 0\) its owner"
    ):
        choose_level(level, confinement, env, ci=True)
