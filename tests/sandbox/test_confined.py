"""What a command can and cannot do, at every level this machine has."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.belongings import REPOSITORIES, belongings, furnish
from support.confined import shell

from kotef.sandbox.sandbox import Level, Sandbox

Make = Callable[..., Sandbox]

LEVELS: list[Level] = ["bwrap", "landlock"]
each_level = pytest.mark.parametrize("level", LEVELS)


@each_level
def test_the_workspace_can_be_written_and_what_is_outside_cannot(
    level: Level, make: Make, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    done = shell(f"echo new > made.txt; echo no > {outside}; rm -rf {tmp_path}/outside.txt", make(level), project)

    assert (project / "made.txt").read_text() == "new\n"
    assert outside.read_text() == "mine", done.stderr


@each_level
def test_a_home_is_hidden_and_its_keys_with_it(level: Level, make: Make, project: Path) -> None:
    key = Path(os.environ["HOME"], ".ssh", "id_ed25519")
    key.parent.mkdir()
    key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nCANARY\n")

    done = shell(f"cat {key}; cat ~/.ssh/*; ls -a ~", make(level), project)

    assert "CANARY" not in done.stdout + done.stderr
    assert ".ssh" not in done.stdout


@each_level
def test_kotefs_environment_cannot_be_read(
    level: Level, make: Make, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-in-the-environment")
    done = shell("cat /proc/*/environ | tr '\\0' '\\n'", make(level), project)

    assert "sk-canary" not in done.stdout
    assert f"{os.getpid()}" not in done.stdout


@each_level
def test_kotef_cannot_be_signalled(level: Level, make: Make, project: Path) -> None:
    done = shell(
        f"kill -0 {os.getpid()} || echo refused; kill -0 -{os.getpgid(0)} || echo refused", make(level), project
    )

    assert done.stdout.split() == ["refused", "refused"]


@each_level
def test_a_port_outside_cannot_be_reached(level: Level, make: Make, project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        words = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        done = shell(f'{sys.executable} -c "{words}"', make(level), project)

    assert done.exit_code == 1
    assert "OSError" in done.stderr or "ConnectionRefusedError" in done.stderr


@each_level
def test_with_network_it_can(level: Level, make: Make, project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        words = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        done = shell(f'{sys.executable} -c "{words}"', make(level, network=True), project)

    assert done.exit_code == 0, done.stderr


def test_a_suite_that_listens_on_loopback_works_in_bwrap(make: Make, project: Path) -> None:
    done = shell(f"{sys.executable} -c '{_LISTENS}'", make("bwrap"), project)

    assert (done.exit_code, done.stdout.strip()) == (0, "heard"), done.stderr


def test_a_suite_that_listens_on_loopback_fails_by_name_at_the_landlock_level(make: Make, project: Path) -> None:
    from kotef.classification import classify

    command = f"{sys.executable} -c '{_LISTENS}'"
    done = shell(command, make("landlock"), project)

    assert classify(command, done.exit_code, done.stdout, done.stderr).detail == "network_denied", done.stderr


_LISTENS = """
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).sendall(b"heard")
print(server.accept()[0].recv(9).decode())
"""


@each_level
def test_temporary_files_work_and_stay_from_one_command_to_the_next(level: Level, make: Make, project: Path) -> None:
    sandbox = make(level)
    first = shell('f=$(mktemp) && echo kept > "$f" && echo "$f"', sandbox, project)
    again = shell(f"cat {first.stdout.strip()}", sandbox, project)

    assert again.stdout == "kept\n"
    assert not Path("/tmp", Path(first.stdout.strip()).name).exists()


@each_level
def test_git_and_sdd_cannot_be_written_in_bwrap(level: Level, make: Make, project: Path) -> None:
    for name in (".git", ".sdd"):
        (project / name).mkdir()
        (project / name / "config").write_text("as it was")
    done = shell(
        "for d in .git .sdd; do echo changed > $d/config; mv $d x-$d; touch $d/new; done", make(level), project
    )

    for name in (".git", ".sdd"):
        if level == "bwrap":
            assert (project / name / "config").read_text() == "as it was", done.stderr
            assert sorted(path.name for path in (project / name).iterdir()) == ["config"]


def test_the_git_directory_of_a_worktree_is_as_safe_and_git_works_in_it(
    make: Make, project: Path, tmp_path: Path
) -> None:
    import subprocess

    def git(*words: str, cwd: Path = project) -> None:
        subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    git("worktree", "add", str(tmp_path / "tree"))
    (tmp_path / "tree" / "app.py").write_text("print('changed')\n")

    done = shell("git diff --stat; git commit -am no", make("bwrap", tmp_path / "tree"), tmp_path / "tree")

    assert "app.py" in done.stdout
    assert "Read-only file system" in done.stderr
    assert done.exit_code


def test_bwrap_makes_git_folders_of_repositories_inside_read_only(make: Make, project: Path) -> None:
    furnish(project)
    before = {path: facts for path, facts in belongings(project).items() if path.endswith("/.git")}
    script = "git -C $r add -A; git -C $r stash -u; git -C $r branch no; echo x > $r/.git/config; rm -rf $r/.git"
    done = shell(f"for r in {' '.join(REPOSITORIES)}; do {script}; done; git -C inner status", make("bwrap"), project)

    assert {path: facts for path, facts in belongings(project).items() if path.endswith("/.git")} == before
    assert "Read-only file system" in done.stderr
    assert "On branch main" in done.stdout


def test_environment_files_and_private_keys_look_empty_in_bwrap(make: Make, project: Path) -> None:
    (project / "sub").mkdir()
    for name in (".env", "sub/.env.production", "server.key"):
        (project / name).write_text("-----BEGIN PRIVATE KEY-----\nCANARY\n")
    (project / ".env.example").write_text("SHOWN=1\n")
    (project / "certificate.pem").write_text("-----BEGIN CERTIFICATE-----\nPUBLIC\n")
    (project / "fixture.key").write_text("-----BEGIN PRIVATE KEY-----\nTRACKED\n")

    sandbox = make("bwrap", public=["fixture.key"])
    done = shell("cat .env sub/.env.production server.key; cat .env.example *.pem fixture.key", sandbox, project)

    assert "CANARY" not in done.stdout
    assert "SHOWN" in done.stdout
    assert "PUBLIC" in done.stdout
    assert "TRACKED" in done.stdout
    assert not done.stderr, "an empty file, not an error"
    assert "CANARY" in (project / ".env").read_text()


@each_level
def test_a_granted_folder_can_be_read_and_not_written(level: Level, make: Make, project: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "data.txt").write_text("data\n")

    done = shell(f"cat {shared}/data.txt; echo x > {shared}/data.txt", make(level, reads=[shared]), project)

    assert done.stdout == "data\n"
    assert (shared / "data.txt").read_text() == "data\n"


@each_level
def test_nothing_a_command_starts_outlives_it(level: Level, make: Make, project: Path) -> None:
    shell("setsid -f sleep 4321.1; (trap '' TERM; sleep 4321.2; :) & nohup sleep 4321.3 &", make(level), project)

    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if b"4321." in line]


@each_level
def test_no_program_gets_more_rights_than_it_has(level: Level, make: Make, project: Path) -> None:
    done = shell("grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs)' /proc/self/status", make(level), project)

    facts = dict(line.split(":\t") for line in done.stdout.splitlines())
    assert {int(facts[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")} == {0}
    assert facts["NoNewPrivs"] == "1"


@each_level
def test_mounting_over_the_sandbox_is_refused(level: Level, make: Make, project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("mine")
    tries = (
        f"mount -o remount,rw /; unshare -rm sh -c 'mount -o remount,rw,bind / && echo no > {tmp_path}/outside'",
        f"unshare -rm sh -c 'umount -l {tmp_path}; echo no > {tmp_path}/outside'",
    )
    for command in tries:
        shell(command, make(level), project)

    assert (tmp_path / "outside").read_text() == "mine"
