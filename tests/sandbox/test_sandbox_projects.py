"""Wherever a project lies and whatever its tests open, they work in bwrap."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.confined import shell

from kotef.sandbox.rooms import filling_room, fresh_room
from kotef.sandbox.sandbox import Sandbox

Make = Callable[..., Sandbox]


def _project(root: Path) -> Path:
    root.mkdir(parents=True)
    (root / "app.py").write_text("print('app')\n")
    return root


def _git(*words: str, cwd: Path) -> None:
    subprocess.run(["git", "-c", "protocol.file.allow=always", *words], cwd=cwd, check=True, capture_output=True)


def _works(sandbox: Sandbox, root: Path) -> None:
    done = shell('python3 app.py && echo made > made.txt && cat made.txt && cd "$PWD"', sandbox, root)
    assert (done.exit_code, done.stdout) == (0, "app\nmade\n"), done.stderr
    assert (root / "made.txt").read_text() == "made\n"


def test_a_project_in_the_temporary_folder_of_the_system(make: Make) -> None:
    import tempfile

    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        root = _project(Path(place, "project"))
        _works(make("bwrap", root), root)


def test_a_project_in_the_home_sees_nothing_beside_it(make: Make) -> None:
    home = Path(os.environ["HOME"])
    root = _project(home / "code" / "project")
    (home / "code" / "other").mkdir()
    _works(sandbox := make("bwrap", root), root)

    assert shell(f"ls {home} {home}/code", sandbox, root).stdout.split() == [
        f"{home}:",
        "code",
        f"{home}/code:",
        "project",
    ]


@pytest.mark.parametrize("name", ["with spaces", "дерево-木", "line\nbreak", "quote'\"$HOME;*", "-rf", "%s{}\\"])
def test_a_project_whose_name_is_odd(make: Make, tmp_path: Path, name: str) -> None:
    root = _project(tmp_path / "places" / name)
    _works(make("bwrap", root), root)


def test_a_project_reached_through_a_link(make: Make, project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project)
    _works(make("bwrap", tmp_path / "link"), tmp_path / "link")


def test_a_folder_of_a_repository_sees_the_rest_of_it(make: Make, project: Path) -> None:
    """Packages beside it, and git; it can write neither."""
    _git("init", cwd=project)
    root = _project(project / "packages" / "one")
    (project / "packages" / "two").mkdir()
    (project / "packages" / "two" / "two.py").write_text("TWO = 2\n")
    (project / ".env").write_text("KEY=CANARY\n")
    sandbox = make("bwrap", root)
    done = shell(
        "git rev-parse --is-inside-work-tree; cat ../two/two.py ../../.env; echo no > ../two/two.py; git commit -qm no",
        sandbox,
        root,
    )

    assert done.stdout == "true\nTWO = 2\n", done.stderr
    assert (project / "packages" / "two" / "two.py").read_text() == "TWO = 2\n"
    _works(sandbox, root)


def test_a_submodule(make: Make, project: Path, tmp_path: Path) -> None:
    library = _project(tmp_path / "library")
    for place in (library, project):
        _git("init", cwd=place)
        _git("add", ".", cwd=place)
        _git("commit", "-m", "first", cwd=place)
    _git("submodule", "add", str(library), "lib", cwd=project)
    _git("commit", "-m", "second", cwd=project)

    for root in (project, project / "lib"):
        sandbox = make("bwrap", root)
        done = shell("git status --porcelain && git log --oneline; git commit --allow-empty -qm no", sandbox, root)
        assert "first" in done.stdout, done.stderr
        assert done.exit_code
        _works(sandbox, root)


OPENED = {
    "loopback": "server = socket.create_server(('127.0.0.1', 0)); socket.create_connection(server.getsockname())",
    "loopback by name": "server = socket.create_server(('localhost', 0)); "
    "socket.create_connection(('localhost', server.getsockname()[1]))",
    "ipv6 loopback": "server = socket.create_server(('::1', 0), family=socket.AF_INET6); "
    "socket.create_connection(server.getsockname()[:2])",
    "datagrams": "one = socket.socket(type=socket.SOCK_DGRAM); one.bind(('127.0.0.1', 0)); "
    "one.sendto(b'x', one.getsockname()); assert one.recv(1) == b'x'",
    "unix socket": "path = os.path.join(tempfile.mkdtemp(), 's'); server = socket.socket(socket.AF_UNIX); "
    "server.bind(path); server.listen(); socket.socket(socket.AF_UNIX).connect(path)",
    "event loop": "import asyncio; asyncio.run(asyncio.sleep(0))",
    "processes": "import multiprocessing; assert multiprocessing.get_context('fork').Pool(2).map(abs, [-1]) == [1]",
    "manager": "import multiprocessing; assert list(multiprocessing.get_context('fork').Manager().list([1])) == [1]",
    "semaphores": "import multiprocessing; multiprocessing.BoundedSemaphore(2).acquire()",
    "shared memory": "from multiprocessing.shared_memory import SharedMemory; "
    "one = SharedMemory(create=True, size=9); one.close(); one.unlink()",
    "terminal": "import pty; pid, fd = pty.fork(); pid or os.execvp('tty', ['tty']); "
    "assert b'/dev/pts' in os.read(fd, 99)",
    "temporary files": "[f(prefix='a') for f in (tempfile.mkdtemp, tempfile.mkstemp)]; open('/tmp/a', 'w'); "
    "open('/var/tmp/b', 'w'); os.mkfifo(os.path.join(tempfile.mkdtemp(), 'f'))",
    "home": "from pathlib import Path; (Path.home() / '.tool').mkdir(); (Path.home() / '.tool' / 'x').write_text('x')",
    "user": "import getpass, pwd; getpass.getuser(); pwd.getpwuid(os.getuid()); socket.gethostname()",
    "signals": "import signal; signal.signal(signal.SIGUSR1, lambda *_: print(end='')); os.kill(os.getpid(), 10)",
    "threads": "import threading; t = threading.Thread(target=print, kwargs={'end': ''}); t.start(); t.join()",
    "executable": "path = os.path.join(tempfile.mkdtemp(), 'run'); open(path, 'w').write('#!/bin/sh\\n'); "
    "os.chmod(path, 0o755); assert os.system(path) == 0",
}


@pytest.mark.parametrize("opens", OPENED.values(), ids=OPENED)
def test_a_test_that_opens(opens: str, make: Make, project: Path) -> None:
    (project / "check.py").write_text(f"import os, socket, tempfile\n{opens}\n")
    done = shell(f"{sys.executable} check.py", make("bwrap"), project)

    assert done.exit_code == 0, done.stderr


def test_commits_in_temporary_repositories(make: Make, project: Path) -> None:
    """As whoever the person's git says they are; the login in the same file is left out."""
    config = Path(os.environ["HOME"], ".gitconfig")
    config.write_text(
        "[user]\n\tname = Test\n\temail = test@localhost\n"
        '[url "https://me:canary@forge.example/"]\n\tinsteadOf = https://forge.example/\n'
    )
    done = shell(
        "d=$(mktemp -d) && git init -q $d && cd $d && git commit -q --allow-empty -m first && git log --format=%an; "
        "cat ~/.gitconfig",
        make("bwrap"),
        project,
    )

    assert done.stdout.startswith("Test\n"), done.stderr
    assert "canary" not in done.stdout


def test_with_network_package_managers_have_somewhere_to_write(make: Make, project: Path) -> None:
    """What is downloaded goes beside what the home has, never into it."""
    home = Path(os.environ["HOME"])
    for name in (".cargo/registry", "go/pkg", ".nvm"):
        (home / name).mkdir(parents=True)
    with filling_room(make("bwrap", network=True)) as setup:
        done = shell("mkdir -p ~/.cargo/registry/x ~/go/pkg/x && test -L ~/.nvm", setup, project)

    assert done.exit_code == 0, done.stderr
    assert not (home / ".cargo" / "registry" / "x").exists()
    with fresh_room(make("bwrap")) as later:
        told = shell("ls ~/.cargo/registry ~/go/pkg; touch ~/go/pkg/no ~/.cargo/registry/x/no", later, project)
    assert told.stdout.count("x\n") == 2, "commands without network see what [setup] downloaded"
    assert told.stderr.count("Read-only") == 2, "and cannot write it"


def test_what_is_gone_since_the_start_keeps_no_command_from_running(make: Make, project: Path, tmp_path: Path) -> None:
    """A toolchain that was removed, the socket of a service that ended."""
    granted = tmp_path / "granted"
    granted.mkdir()
    sandbox = make("bwrap", reads=[granted])
    granted.rmdir()

    assert shell("echo works", sandbox, project).stdout == "works\n"


def test_a_toolchain_that_a_variable_moved_is_read_and_has_somewhere_to_write(
    make: Make, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As images of cargo and go have them: `/usr/local/cargo`, `/go`."""
    for name, folder in (("CARGO_HOME", "cargo/registry"), ("GOPATH", "gopath/pkg")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "had").touch()
        monkeypatch.setenv(name, str((tmp_path / folder).parent))
    command = "ls $CARGO_HOME/registry $GOPATH/pkg; touch $CARGO_HOME/lock $GOPATH/lock"
    done = shell(command, make("bwrap"), project)

    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("had\n") == 2
