"""grep gives the same answer with ripgrep and without."""

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest

from kotef.files import matches_glob
from kotef.tools import search
from kotef.tools.errors import ToolFault
from kotef.tools.search import grep


@pytest.fixture(params=["python", "ripgrep"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both engines; a machine without ripgrep tests the one it has."""
    if request.param == "ripgrep" and shutil.which("rg") is None:
        pytest.skip("ripgrep is not installed")
    if request.param == "python":
        monkeypatch.setattr(search.shutil, "which", lambda _: None)
    return request.param


@pytest.mark.usefixtures("engine")
class TestBothEngines:
    def test_hits_name_path_line_and_text(self, root: Path) -> None:
        assert grep(root, r"tot\w+\(").splitlines() == [
            "src/cart.py:4: def total(items):",
            "tests/test_cart.py:4: def test_total():",
            "tests/test_cart.py:5:     assert total([]) == 0",
        ]

    def test_noise_environments_and_secrets_are_not_searched_but_dot_files_are(self, root: Path) -> None:
        assert grep(root, "total", glob="*.md") == ".sdd/project.md:1: # total"
        assert "TOTAL_KEY" not in grep(root, "total", ignore_case=True)
        assert "node_modules" not in grep(root, "total")
        assert "env/" not in grep(root, "total")

    def test_path_glob_and_case_narrow_the_search(self, root: Path) -> None:
        assert grep(root, "TOTAL", "src", ignore_case=True) == "src/cart.py:4: def total(items):"
        assert grep(root, "total", "src/cart.py") == "src/cart.py:4: def total(items):"
        assert grep(root, "^import", glob="*.py") == "src/cart.py:1: import os"
        assert grep(root, "total", glob="test_*.{py,js}").count("tests/test_cart.py") == 3
        assert grep(root, "total", "tests", glob="**/*.py").count("\n") == 2

    def test_nothing_found_is_an_answer(self, root: Path) -> None:
        assert grep(root, "zebra") == "no line matches zebra in ."
        assert grep(root, "total", glob="*.rs") == "no line matches total in . (*.rs)"

    def test_hits_and_their_width_are_bounded(self, root: Path) -> None:
        (root / "many.txt").write_text("".join(f"needle {'x' * 5000}\n" for _ in range(150)))
        lines = grep(root, "needle").splitlines()
        assert len(lines) == 101
        assert lines[-1].startswith("[more than 100 hits")
        assert max(map(len, lines)) < 400

    def test_a_pattern_that_cannot_be_read_suggests_the_literal_one(self, root: Path) -> None:
        with pytest.raises(ToolFault, match=r"cannot be read: .* use total\\\(") as caught:
            grep(root, "total(")
        assert caught.value.kind == "schema_reject"
        assert len(grep(root, r"total\(").splitlines()) == 3

    def test_look_around_works(self, root: Path) -> None:
        assert grep(root, r"(?<=def )total") == "src/cart.py:4: def total(items):"

    def test_a_pattern_may_begin_with_a_dash(self, root: Path) -> None:
        (root / "opt.txt").write_text("--flag\n")
        assert grep(root, "--flag") == "opt.txt:1: --flag"

    def test_binary_files_and_links_are_skipped(self, root: Path) -> None:
        (root / "b.bin").write_bytes(b"needle\0\n")
        (root / "out.txt").symlink_to("/etc/passwd")
        (root.parent / "out").mkdir()
        (root.parent / "out/x.txt").write_text("needle\nroot:\n")
        (root / "dir").symlink_to(root.parent / "out")
        assert "no line" in grep(root, "needle|root:")

    def test_odd_names_and_windows_line_ends(self, root: Path) -> None:
        (root / "a:1: b.txt").write_bytes("nädel\r\n".encode())
        assert grep(root, "nädel$") == "a:1: b.txt:1: nädel"

    def test_a_missing_path_and_one_outside_are_faults(self, root: Path) -> None:
        with pytest.raises(ToolFault, match="no such file"):
            grep(root, "x", "nowhere")
        with pytest.raises(ToolFault) as caught:
            grep(root, "x", "..")
        assert caught.value.kind == "permission_denied"
        with pytest.raises(ToolFault, match="pattern is empty"):
            grep(root, "")


def test_a_pattern_that_explodes_is_stopped(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search.shutil, "which", lambda _: None)
    monkeypatch.setattr(search, "MAX_SECONDS", 0.3)
    (root / "bad.txt").write_text("a" * 1900 + "b\n")
    started = time.monotonic()
    with pytest.raises(ToolFault, match=r"takes too long on line 1 of bad\.txt"):
        grep(root, r"(a|aa)+$", "bad.txt")
    assert time.monotonic() - started < 30, "it would take longer than anybody lives"


def test_a_search_that_takes_too_long_tells_what_it_found(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search.shutil, "which", lambda _: None)
    clock = iter(range(1000))
    monkeypatch.setattr(search.time, "monotonic", lambda: next(clock))
    assert "[stopped after 10 s" in grep(root, "o")


def test_ripgrep_is_ended_when_its_time_is_up(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "rg"
    slow.write_text("#!/bin/sh\nprintf './README.md\\0001:# Shop\\n'\nexec /bin/sleep 300\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(search, "MAX_SECONDS", 0.3)
    started = time.monotonic()
    assert grep(root, "Shop").splitlines()[0] == "README.md:1: # Shop"
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("*.py", "a/b/c.py", "a.pyc"),
        ("src/*.py", "src/a.py", "src/b/a.py"),
        ("src/**/*.py", "src/a.py", "lib/a.py"),
        ("src/**", "src/a/b", "srcs/a"),
        ("**/x", "x", "ax"),
        ("a?.txt", "ab.txt", "a/.txt"),
        ("*.{a,b}", "x.b", "x.c"),
        ("a,b", "a,b", "a"),
        ("[!a]b", "cb", "ab"),
        ("[]]", "]", "["),
        ("[z-a]", "[z-a]", "z"),
        ("{a", "{a", "a"),
        ("a.b", "a.b", "axb"),
    ],
)
def test_globs_mean_what_they_mean_in_a_shell(glob: str, yes: str, no: str) -> None:
    assert matches_glob(yes, glob)
    assert not matches_glob(no, glob)


@pytest.mark.parametrize("glob", ["*a" * 30 + "x", "{" * 5000, "*" * 501, "**/" * 100 + "x"])
def test_no_glob_takes_longer_than_it_may(root: Path, glob: str) -> None:
    """Stars have more ways to match than could be tried; the run would stand still, for nothing else can go on."""
    (root / ("a" * 200)).touch()
    began = time.monotonic()
    with suppress(ToolFault):
        search.find_files(root, glob)
    with suppress(ToolFault):
        search.grep(root, "total", glob=glob)
    assert time.monotonic() - began < 15
