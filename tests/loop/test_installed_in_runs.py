"""Whole runs in which a coder changes installed environments: the checks use the state before the run."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.confined import need
from support.loop import DONE, FIX, UNITTEST, Agent, Ran, calls, git
from support.openai_server import call

from kotef.sandbox import Level

Run = Callable[..., Ran]

LIES = "import sys\nfrom unittest import case\ncase.TestCase.assertEqual = lambda *_: None\n"
"""Makes each test of `unittest` pass."""
SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
EVERY = pytest.mark.parametrize("level", ["bwrap", "landlock", "off"])
VENV_CHECK = ".venv/bin/python -m unittest -v"


@pytest.fixture
def project(unittest_project: Path) -> Path:
    """The tests here are about runners: their ids, their lines, their files."""
    return unittest_project


def lies(path: str, text: str = LIES) -> list[object]:
    """The coder writes a file with a command, which may be refused."""
    return [calls(call("run_command", command=f"mkdir -p $(dirname {path}); cat > {path} <<'END'\n{text}END\ntrue"))]


@pytest.fixture
def environment(project: Path) -> Path:
    import venv

    venv.create(project / ".venv", with_pip=False, symlinks=True)
    (project / ".gitignore").write_text("__pycache__/\n.venv/\nnode_modules/\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "ignore")
    return project / ".venv"


@pytest.mark.examples(3)
@EVERY
@pytest.mark.parametrize("name", ["sitecustomize.py", "x.pth", "unittest/__init__.py"])
def test_what_a_command_writes_into_an_environment_is_put_back_and_named(
    level: Level, name: str, environment: Path, project: Path, run: Run
) -> None:
    if level != "off":
        need(level, project)
    text = "import case; " + LIES if name.endswith(".pth") else LIES
    agent = Agent(coder=[*lies(f".venv/{SITE}/{name}", text), DONE])
    done = run(project, agent, "fix add", "--check", VENV_CHECK, *_once(level))

    assert done.result["outcome"] != "verified"
    assert not (environment / SITE / name).exists()
    if level != "bwrap":
        assert "--allow-install" in str(done.result), "the way out is named"


@pytest.mark.examples(1)
@EVERY
def test_a_fix_is_verified_although_an_environment_was_put_back(
    level: Level, environment: Path, project: Path, run: Run
) -> None:
    if level != "off":
        need(level, project)
    changed = calls(call("run_command", command=f"echo '# more' >> .venv/pyvenv.cfg; touch .venv/{SITE}/new.py; true"))
    was = (environment / "pyvenv.cfg").read_bytes()
    done = run(project, Agent(coder=[changed, FIX, DONE]), "fix add", "--check", VENV_CHECK, *_once(level))

    assert done.result["outcome"] == "verified", done.stdout
    assert (environment / "pyvenv.cfg").read_bytes() == was
    assert not (environment / SITE / "new.py").exists()


def test_a_cache_that_cannot_be_removed_spoils_the_green(
    environment: Path, project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(root: Path, path: str) -> None:
        raise PermissionError(13, "Permission denied", str(root / path))

    monkeypatch.setattr("kotef.nodes.restore_environments.remove_within", refused)
    written = calls(
        call("run_command", command=f"mkdir -p .venv/{SITE}/__pycache__; touch .venv/{SITE}/__pycache__/x.pyc")
    )
    done = run(project, Agent(coder=[written, FIX, DONE]), "fix add", "--check", VENV_CHECK, *_once("off"))

    assert done.result["outcome"] != "verified"
    assert f".venv/{SITE}/__pycache__" in str(done.result)


@pytest.mark.examples(1)
@EVERY
def test_an_environment_created_by_the_run_is_not_used(level: Level, project: Path, run: Run) -> None:
    if level != "off":
        need(level, project)
    (project / ".gitignore").write_text("__pycache__/\n.venv/\nnode_modules/\n")
    make = f'python3 -m venv --without-pip .venv && printf %s "{LIES}" > .venv/{SITE}/sitecustomize.py'
    agent = Agent(coder=[calls(call("run_command", command=make)), DONE])
    check = f"if [ -d .venv ]; then {VENV_CHECK}; else {UNITTEST}; fi"
    done = run(project, agent, "fix add", "--check", check, *_once(level))

    assert done.result["outcome"] != "verified"
    assert "--allow-install" in str(done.result)
    assert not (project / ".venv").exists()


def test_kotefs_own_tools_refuse_to_edit_an_environment(environment: Path, project: Path, run: Run) -> None:
    path = f".venv/{SITE}/sitecustomize.py"
    agent = Agent(coder=[calls(call("write_file", path=path, content=LIES)), DONE])
    done = run(project, agent, "fix add", "--check", VENV_CHECK, *_once("bwrap"))

    assert done.result["outcome"] != "verified"
    assert not (project / path).exists()
    assert any("--allow-install" in str(request) for request in agent.requests("coder"))


@pytest.mark.parametrize("level", ["bwrap", "landlock"])
def test_with_allow_install_the_checks_use_what_commands_installed(
    level: Level, environment: Path, project: Path, run: Run
) -> None:
    """The intended use: a ticket that adds a dependency."""
    need(level, project)
    package = calls(call("run_command", command=f"echo 'def plus(a, b): return a + b' > .venv/{SITE}/plus.py"))
    using = calls(call("run_command", command="echo 'from plus import plus as add' > calc.py"))
    agent = Agent(coder=[package, using, DONE])
    done = run(project, agent, "use plus", "--check", VENV_CHECK, "--allow-install", *_once(level))

    assert done.result["outcome"] == "verified", done.stdout
    assert (environment / SITE / "plus.py").exists()


def test_an_environment_that_the_checks_install_into_stays_writable_with_a_notice(
    environment: Path, project: Path, run: Run
) -> None:
    """As tox does, or `npm ci && npm test`."""
    check = f"date > .venv/{SITE}/stamp.py.txt && {VENV_CHECK}"
    done = run(project, Agent(coder=[FIX, DONE]), "fix add", "--check", check, *_once("bwrap"))
    assert done.result["outcome"] == "verified", done.stdout
    again = run(project, Agent(coder=[DONE]), "fix add", "--check", check, *_once("bwrap"))

    assert ".venv" in done.stdout
    assert "commands can write there" in done.stdout
    assert "commands can write there" in again.stdout, "also if the baseline is reused"


def _once(level: str) -> tuple[str, ...]:
    return ("--sandbox", level, "--max-attempts", "1")
