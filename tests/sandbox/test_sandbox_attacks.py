"""What a command does that wants out: each trick at each level it concerns, with a canary that must stay as it is."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.confined import shell

from kotef.sandbox.confinement import confine
from kotef.sandbox.environment import child_environment
from kotef.sandbox.landlock import abi
from kotef.sandbox.sandbox import Level, Sandbox

Make = Callable[..., Sandbox]

LEVELS: list[Level] = ["bwrap", "landlock"]
each_level = pytest.mark.parametrize("level", LEVELS)


def python(code: str, sandbox: Sandbox, cwd: Path) -> str:
    """What a script prints, run in the sandbox."""
    (cwd / "attack.py").write_text(code)
    done = shell(f"{sys.executable} attack.py", sandbox, cwd)
    assert done.exit_code == 0, done.stderr
    return done.stdout


@each_level
def test_no_setting_of_the_kernel_can_be_written_not_even_by_its_owner(level: Level, make: Make, project: Path) -> None:
    """`core_pattern` names a program that the kernel runs outside of every sandbox."""
    # `test -w` asks the kernel and changes nothing
    found = shell(
        "find /proc/sys /proc/mtrr /proc/sysrq-trigger /proc/irq /sys -type f -writable 2>/dev/null",
        make(level),
        project,
    )
    tried = shell(": >> /proc/sys/kernel/core_pattern", make(level), project)

    if level == "bwrap":  # Landlock refuses at the opening, `access` knows nothing of it
        assert found.stdout == ""
    assert tried.exit_code


@each_level
def test_no_disk_and_no_memory_of_the_machine_can_be_read(level: Level, make: Make, project: Path) -> None:
    devices = [path for path in Path("/dev").iterdir() if path.is_block_device() or path.name in {"mem", "kmsg", "kvm"}]
    if not devices or os.geteuid():
        pytest.skip("this user sees no device worth reading")
    words = "; ".join(f"head -c 1 {path} >/dev/null 2>&1 && echo {path}" for path in devices)

    assert shell(words, make(level), project).stdout == ""


@each_level
def test_no_descriptor_of_kotef_reaches_a_command(level: Level, make: Make, project: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("CANARY")
    sandbox = make(level)
    with key.open() as held:
        os.set_inheritable(held.fileno(), True)
        done = shell(f"ls /proc/$$/fd; cat <&{held.fileno()}", sandbox, project)

    assert set(done.stdout.split()) <= {"0", "1", "2", "255"}  # the last is bash's own
    assert "CANARY" not in done.stdout


@each_level
def test_calls_that_no_namespace_knows_are_refused(level: Level, make: Make, project: Path) -> None:
    """The keyring of the session, io_uring, the host of a virtual machine, calls in the numbers of x32."""
    said = python(
        """
import ctypes, os, platform, socket
libc = ctypes.CDLL(None, use_errno=True)
keyctl, add_key = (250, 248) if platform.machine() == "x86_64" else (219, 217)
tries = {
    "keyctl": (keyctl, 0, -3, 0),
    "add_key": (add_key, b"user", b"name", b"content", 7, -3),
    "io_uring": (425, 8, ctypes.create_string_buffer(200)),
    "x32": ((0x40000000 | 39) if platform.machine() == "x86_64" else 999,),
}
for name, call in tries.items():
    if libc.syscall(*call) >= 0 or ctypes.get_errno() != 38:
        print(name, "is possible")
for family in (17, 38, 40):  # packets, the kernel's ciphers, the host
    try:
        socket.socket(family, socket.SOCK_STREAM)
        print("family", family, "is possible")
    except OSError:
        pass
""",
        make(level),
        project,
    )

    assert said == ""


@each_level
def test_a_service_that_listens_in_the_file_system_cannot_be_reached(
    level: Level, make: Make, project: Path, tmp_path: Path
) -> None:
    """Such as the server of a terminal multiplexer, which runs what it is told."""
    from kotef.sandbox.services import reachable_services

    place = tmp_path / "s"
    reachable_services.cache_clear()
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(place))
            server.listen()
            said = python(
                f"""
import socket
try:
    socket.socket(socket.AF_UNIX).connect({str(place)!r})
    print("reached")
except OSError as error:
    print(type(error).__name__)
""",
                make(level),
                project,
            )
    finally:
        reachable_services.cache_clear()

    assert said.strip() != "reached"


@each_level
@pytest.mark.parametrize("network", [False, True])
def test_an_abstract_socket_of_another_process_cannot_be_reached(
    level: Level, make: Make, project: Path, *, network: bool
) -> None:
    if abi() < 6 and (network or level == "landlock"):
        pytest.skip("the kernel cannot restrict abstract sockets")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0kotef-test-of-a-name")
        server.listen()
        said = python(
            "import socket\n"
            "try:\n"
            "    socket.socket(socket.AF_UNIX).connect('\\0kotef-test-of-a-name')\n"
            "    print('reached')\n"
            "except OSError as error:\n"
            "    print('refused')\n",
            make(level, network=network),
            project,
        )

    assert said == "refused\n"


def test_a_secret_stays_masked_when_a_folder_around_it_is_renamed(make: Make, project: Path) -> None:
    (project / "config" / "deep").mkdir(parents=True)
    (project / "config" / "deep" / ".env").write_text("KEY=CANARY\n")
    sandbox = make("bwrap")

    first = shell("mv config node_modules && mkdir -p config/deep && echo mine > config/deep/.env", sandbox, project)
    again = shell("cat node_modules/deep/.env; cat config/deep/.env", sandbox, project)

    assert (first.exit_code, again.exit_code) == (0, 0), first.stderr + again.stderr
    assert again.stdout == "mine\n"
    assert (project / "node_modules" / "deep" / ".env").read_text() == "KEY=CANARY\n"


def test_a_secret_is_masked_under_each_of_its_names(make: Make, project: Path) -> None:
    (project / "settings").mkdir()
    (project / "settings" / "live").write_text("KEY=CANARY-1\n")
    (project / ".env").symlink_to("settings/live")
    (project / ".env.production").write_text("KEY=CANARY-2\n")
    os.link(project / ".env.production", project / "copy.txt")
    (project / ".env.test").symlink_to(".env.example")
    (project / ".env.example").write_text("KEY=shown\n")

    done = shell("cat .env settings/live .env.production copy.txt .env.test", make("bwrap"), project)

    assert done.stdout == "KEY=shown\n", done.stderr


def test_a_masked_file_can_neither_be_renamed_nor_linked_nor_removed(make: Make, project: Path) -> None:
    (project / ".env").write_text("KEY=CANARY\n")
    shell("mv .env shown; ln .env shown; rm -f .env; cp --reflink=always .env shown", make("bwrap"), project)
    done = shell("cat shown", make("bwrap"), project)

    assert "CANARY" not in done.stdout
    assert (project / ".env").read_text() == "KEY=CANARY\n"


def test_what_comes_to_be_after_the_start_is_kept_as_well(make: Make, project: Path) -> None:
    """Kotef makes `.sdd` when the run starts, after its commands were confined."""
    sandbox = make("bwrap")
    (project / ".sdd").mkdir()
    (project / ".sdd" / "issues.md").write_text("as it was")

    done = shell("echo changed > .sdd/issues.md; mv .sdd x; touch .sdd/new", sandbox, project)

    assert (project / ".sdd" / "issues.md").read_text() == "as it was", done.stderr
    assert [path.name for path in (project / ".sdd").iterdir()] == ["issues.md"]


@each_level
def test_a_link_in_the_place_of_a_kept_folder_shows_nothing(
    level: Level, make: Make, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "HEAD").write_text("CANARY")
    sandbox = make(level)
    shell(f"ln -s {tmp_path}/hidden .sdd; ln -s {tmp_path}/hidden .git; ln -s /proc/1/root up", sandbox, project)

    done = shell(f"cat .sdd/HEAD .git/HEAD {tmp_path}/hidden/HEAD up{tmp_path}/hidden/HEAD", sandbox, project)

    assert "CANARY" not in done.stdout


@each_level
def test_a_later_run_meets_nothing_that_an_earlier_one_left_in_the_home(
    level: Level, make: Make, project: Path
) -> None:
    """And kotef follows no link that stands in the place of a folder, when it makes the home anew."""
    home = Path(os.environ["HOME"])
    settings = Path(os.environ["XDG_CONFIG_HOME"], "git")
    settings.mkdir(parents=True)
    (settings / "ignore").write_text("mine\n")
    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "tool").write_text("mine\n")
    planted = (
        f"rm -rf ~/.config ~/.local; ln -s {home}/.config ~/.config; ln -s {home}/.local ~/.local; "
        "mkdir -p ~/lib; echo planted > ~/.gitconfig; echo planted > ~/lib/sitecustomize.py; "
        "echo planted > $TMPDIR/left; mkdir ~/closed; touch ~/closed/file; chmod 0 ~/closed"
    )
    first = make(level)
    shell(planted, first, project)
    assert first.confinement
    _leave(first.confinement.room)

    done = shell("cat ~/.gitconfig; ls -A ~ $TMPDIR; cat ~/.config/git/ignore ~/.local/bin/tool", make(level), project)

    assert "planted" not in done.stdout
    assert "left" not in done.stdout
    assert done.stdout.count("mine") == 2, "the home has its own settings and programs"
    assert not (home / ".config" / "git" / "ignore").is_symlink()
    assert (home / ".local" / "bin" / "tool").read_text() == "mine\n"
    assert not first.confinement.room.exists()


def _leave(room: Path) -> None:
    """As if the process that holds the room had ended."""
    from kotef.sandbox import private_home as rooms

    os.close(rooms._HELD.pop(room))


def test_two_runs_at_once_do_not_clear_each_others_rooms(make: Make, project: Path) -> None:
    first, second = make("bwrap"), make("bwrap")

    assert shell("echo kept > $TMPDIR/file", first, project).exit_code == 0
    assert "file" not in shell("ls $TMPDIR", second, project).stdout
    assert shell("cat $TMPDIR/file", first, project).stdout == "kept\n"


def _stranger(project: Path, home: str, *, editable: str = "/") -> dict[str, str]:
    """Makes a virtual environment in the workspace; returns the environment in which it is active."""
    packages = project / ".venv" / "lib" / "python3.11" / "site-packages"
    (packages / "x.dist-info").mkdir(parents=True)
    (project / ".venv" / "pyvenv.cfg").write_text(f"home = {home}\n")
    (packages / "x.pth").write_text(f"{editable}\n")
    url = {"url": f"file://{editable}", "dir_info": {"editable": True}}
    (packages / "x.dist-info" / "direct_url.json").write_text(json.dumps(url))
    env = child_environment(os.environ) | {"VIRTUAL_ENV": str(project / ".venv")}
    return env | {"PATH": f"{project}/.venv/bin:{env['PATH']}"}


HOMES = ("", "/", "/.", "/bin", "/bin/", "/bin/.", "/bin/../bin", "/.ssh", "/.ssh/bin", "/work/bin", "/link/bin")


@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("below", HOMES)
def test_a_virtual_environment_in_the_workspace_opens_no_folder_by_what_is_written_in_it(
    below: str, tracked: bool, project: Path, tmp_path: Path
) -> None:
    """An attacker writes the workspace: a home, link or login that it names gives access to none of their files."""
    home = Path(os.environ["HOME"])
    for name in ("bin", "lib/python3.11", ".ssh/bin", "work/bin", "work/.ssh", "other"):
        (home / name).mkdir(parents=True)
    for program in ("bin/python3", ".ssh/bin/python3", "work/bin/python3"):
        (home / program).write_text("#!/bin/sh\n")
        (home / program).chmod(0o755)
    (home / "lib" / "python3.11" / "os.py").touch()
    (home / "work" / "pyproject.toml").touch()
    (home / "link").symlink_to(".")
    env = _stranger(project, f"{home}{below}", editable=f"{home}{below}")
    public = {".venv/pyvenv.cfg", "app.py"} if tracked else {"app.py"}

    readable = confine(project, tmp_path / "state" / "kotef" / "abc" / "sandbox", env, public=public).readable

    assert not [path for path in readable if path.is_relative_to(home)]
    assert not [path for path in readable if home.is_relative_to(path)]


@pytest.mark.parametrize("part", ["bin", "lib"])
def test_a_forged_interpreter_in_the_workspace_gives_no_access_through_links(
    part: str, project: Path, tmp_path: Path
) -> None:
    home = Path(os.environ["HOME"])
    other = tmp_path / "interpreter"
    for place in (home / ".ssh", other):
        for name in ("bin/python3", "lib/python3.11/os.py"):
            if place == other or name.startswith(part):
                (place / name).parent.mkdir(parents=True)
                (place / name).touch(mode=0o755)
    (other / part).rename(other / "own")
    (other / part).symlink_to(home / ".ssh" / part)
    scratch = tmp_path / "state" / "kotef" / "abc" / "sandbox"

    assert not any(
        "ssh" in str(path) for path in confine(project, scratch, _stranger(project, f"{other}/bin")).readable
    )


def test_only_the_interpreter_that_an_environment_names_is_readable_not_its_neighbours(
    project: Path, tmp_path: Path
) -> None:
    place = Path(os.environ["HOME"]) / "pythons" / "3.11"
    for name in ("bin/python3", "lib/python3.11/os.py", "secrets/key"):
        (place / name).parent.mkdir(parents=True)
        (place / name).touch(mode=0o755)
    env = _stranger(project, f"{place}/bin")

    readable = confine(project, tmp_path / "state" / "kotef" / "abc" / "sandbox", env).readable

    assert {path for path in readable if path.is_relative_to(place)} == {place / "bin", place / "lib"}


@each_level
def test_a_namespace_of_its_own_gives_a_command_no_more(
    level: Level, make: Make, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").write_text("mine")
    (project / ".env").write_text("KEY=CANARY\n")
    said = python(
        f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000 | 0x00020000) == 0:  # a user and a mount namespace
    libc.umount2(b"{project}/.env", 2)
    libc.umount2(b"/proc", 2)
    libc.mount(None, b"/", None, 32 | 4096, None)
for path, word in (("{project}/.env", None), ("{tmp_path}/outside", "no"), ("/proc/sys/kernel/core_pattern", "")):
    try:
        with open(path, "a" if word is not None else "r") as file:
            file.write(word) if word is not None else print(file.read())
            if word == "": print("opened")
    except OSError:
        pass
""",
        make(level),
        project,
    )

    assert (tmp_path / "outside").read_text() == "mine"
    assert "opened" not in said
    if level == "bwrap":
        assert "CANARY" not in said


@each_level
def test_no_terminal_can_be_typed_into(level: Level, make: Make, project: Path) -> None:
    said = python(
        "import fcntl, os\n"
        "for path in ('/dev/tty', '/dev/console', '/proc/self/fd/0', '/dev/pts/0'):\n"
        "    try:\n"
        "        fcntl.ioctl(os.open(path, os.O_RDWR), 0x5412, b'x')\n"
        "        print(path)\n"
        "    except OSError:\n"
        "        pass\n",
        make(level),
        project,
    )

    assert said == ""


@each_level
def test_a_program_of_another_kind_than_the_filter_knows_is_refused(level: Level, make: Make, project: Path) -> None:
    """An i386 call has other numbers: 102 is every socket there is."""
    compiler = subprocess.run(
        ["sh", "-c", "command -v gcc"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if not compiler or os.uname().machine != "x86_64":
        pytest.skip("gcc on x86-64 is wanted")
    (project / "call.c").write_text(
        "#include <stdio.h>\nint main(void) { long r = 359; "
        '__asm__ volatile("int $0x80" : "+a"(r) : "b"(2), "c"(1), "d"(0) : "memory"); printf("%ld\\n", r); }\n'
    )
    done = shell("gcc -o call call.c && ./call", make(level), project)

    assert done.stdout.strip() in {"-38", ""}, done.stderr
