"""The build cache that the go command gets inside the sandbox: the room's own, and the person's to read."""

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.confined import shell

from kotef.sandbox import go_cache
from kotef.sandbox.sandbox import Level, Sandbox

Make = Callable[..., Sandbox]
Requests = list[dict[str, Any]]

contents = st.binary(max_size=40)


def coded(name: bytes) -> str:
    return base64.b64encode(name).decode()


def put(action: bytes, body: bytes) -> dict[str, Any]:
    return {"Command": "put", "ActionID": coded(action), "OutputID": coded(sha256(body).digest()), "Body": body}


def get(action: bytes) -> dict[str, Any]:
    return {"Command": "get", "ActionID": coded(action)}


def answers(requests: Requests, *folders: Path) -> Requests:
    """What the program answers, after its first line, when it is asked as the go command asks."""
    lines = []
    for number, request in enumerate(requests, 1):
        body = request.pop("Body", None)
        lines.append(json.dumps({"ID": number, **request, **({"BodySize": len(body)} if body else {})}))
        lines += ["", json.dumps(coded(body))] if body else []
    words = [sys.executable, "-I", "-S", go_cache.__file__, *map(str, folders)]
    done = subprocess.run(words, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    first, *others = [json.loads(line) for line in done.stdout.splitlines()]
    assert first == {"ID": 0, "KnownCommands": ["get", "put", "close"]}
    return others


@given(st.dictionaries(st.binary(min_size=32, max_size=32), contents, min_size=1, max_size=3))
def test_what_was_put_is_found_by_a_later_process(
    tmp_path_factory: pytest.TempPathFactory, kept: Mapping[bytes, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    answers([put(action, body) for action, body in kept.items()], folder)
    found = answers([get(action) for action in kept], folder)
    assert [Path(each["DiskPath"]).read_bytes() for each in found] == list(kept.values())
    assert [each["Size"] for each in found] == [len(body) for body in kept.values()]


def test_the_second_folder_is_read_and_never_written(tmp_path: Path) -> None:
    action, other = b"a" * 32, b"b" * 32
    answers([put(action, b"from the person")], tmp_path / "own")
    before = sorted((tmp_path / "own").rglob("*"))
    found, kept = answers([get(action), put(other, b"new")], tmp_path / "room", tmp_path / "own")
    assert Path(found["DiskPath"]).read_bytes() == b"from the person"
    assert Path(kept["DiskPath"]).is_relative_to(tmp_path / "room")
    assert sorted((tmp_path / "own").rglob("*")) == before


@pytest.mark.parametrize("damage", ["no data", "short data", "torn entry", "words", "other action", "no folder"])
def test_a_damaged_entry_is_a_miss(tmp_path: Path, damage: str) -> None:
    action, folder = b"a" * 32, tmp_path / "cache"
    (kept,) = answers([put(action, b"content")], folder)
    entry, data = next(folder.rglob("*-a")), Path(kept["DiskPath"])
    match damage:
        case "no data":
            data.unlink()
        case "short data":
            data.write_bytes(b"con")
        case "torn entry":
            entry.write_bytes(entry.read_bytes()[:80])
        case "words":
            entry.write_bytes(b"v1 x y z w\n")
        case "other action":
            entry.write_bytes(entry.read_bytes().replace(action.hex().encode(), b"c" * 64))
        case _:
            shutil.rmtree(folder)
    assert answers([get(action)], folder) == [{"ID": 1, "Miss": True}]


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (said, closed) = answers([put(b"a" * 32, b"content"), {"Command": "close"}], tmp_path / "file")
    assert "Not a directory" in said["Err"]
    assert closed == {"ID": 2}


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
@pytest.mark.parametrize("level", ["bwrap", "landlock"])
def test_go_finds_what_the_person_built(
    level: Level, make: Make, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "go.mod").write_text("module example.com/a\n")
    (project / "a.go").write_text("package a\n\nfunc One() int { return 1 }\n")
    own = tmp_path / "own"
    monkeypatch.setenv("GOCACHE", str(own))
    subprocess.run(["go", "build", "./..."], cwd=project, check=True)
    before = {path: path.stat().st_size for path in own.rglob("*") if path.is_file()}
    built = shell("go build -x ./... 2>&1", make(level), project)
    assert built.exit_code == 0
    assert "compile" not in built.stdout
    (project / "a.go").write_text("package a\n\nfunc One() int { return 2 }\n")
    assert "compile" in shell("go build -x ./... 2>&1", make(level), project).stdout
    assert {path: path.stat().st_size for path in own.rglob("*") if path.is_file()} == before
