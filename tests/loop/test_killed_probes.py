"""A run killed in any probe of its judge leaves the tree as its coder made it, and goes on to the same end."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from support.loop import BUG, DONE, FIXED, UNITTEST, UNITTEST_TEST, Agent, Ran, edit, git, write
from support.openai_server import OpenAIServer
from support.process import Done, kotef_process

MORE = UNITTEST_TEST.replace("2, 3", "20, 30").replace("5)", "50)")
JUDGE = """\
#!/bin/sh
number=$(($(ls {runs} | wc -l) + 1))
: > {runs}/$number
[ $number = {number} ] && sleep 20
exec {python} "$@"
"""


def killed_at(place: Path, number: int) -> tuple[Done, Ran | None]:
    """A run that is killed in the so many-th run of its judge and resumed; None where it ended before that."""
    root, runs, programs = place / "project", place / "runs", place / "bin"
    for folder in (root, runs, programs):
        folder.mkdir(parents=True)
    files = {"calc.py": BUG, "test_calc.py": UNITTEST_TEST, ".gitignore": "__pycache__/\n"}
    for name, text in files.items():
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    python = shutil.which("python")
    (programs / "python").write_text(JUDGE.format(runs=runs, number=number, python=python))
    (programs / "python").chmod(0o755)
    steps = [edit("calc.py", "a - b", "a + b"), write("test_more.py", MORE), DONE]
    agent = Agent(coder=lambda request, _: steps[min(2, sum(one["role"] == "assistant" for one in request.messages))])
    with OpenAIServer(agent) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted", "KOTEF_PROBES": "full"}
        env["PATH"] = os.pathsep.join((str(programs), os.environ["PATH"]))
        start = ["run", "make add add", "--coder", "model", "--check", UNITTEST, "--root", str(root)]
        done = kotef_process(start, env, place, kill_at=f"there:{runs / str(number)}")
        if done.returncode == 0:
            return done, None
        assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr
        again = kotef_process(["resume", "--last", "--root", str(root)], env, place)
    assert (again.returncode, (root / "calc.py").read_text()) == (0, FIXED), again.stdout + again.stderr
    assert (root / "test_calc.py").read_text() == UNITTEST_TEST
    assert git(root, "status", "--porcelain").split() == ["M", "calc.py", "??", "test_more.py"]
    assert (root / "test_more.py").read_text() == MORE
    return done, Ran(again.returncode, again.stdout, again.stderr, root)


def test_a_run_killed_in_its_first_probe_goes_on(tmp_path: Path) -> None:
    _, ran = killed_at(tmp_path, 3)

    assert ran is not None
    assert "judge probed" in ran.stdout


@pytest.mark.kill
def test_a_run_killed_in_each_of_its_probes_goes_on(tmp_path: Path) -> None:
    number = 3
    while killed_at(tmp_path / str(number), number)[1] is not None:
        number += 1

    assert number > 6, "a control, wrong answers, the counter-proof and chance each run the judge"
