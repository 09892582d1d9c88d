"""view_file, list_dir, find_files and write_file on real files."""

import os
from pathlib import Path

import pytest

from kotef.errors import NoSpaceError
from kotef.tools import files, workspace_files
from kotef.tools.errors import ToolFault
from kotef.tools.files import list_dir, view_file, write_file
from kotef.tools.guard import EditGuard
from kotef.tools.search import find_files


def test_a_view_numbers_its_lines_and_says_how_to_see_the_rest(root: Path) -> None:
    assert view_file(root, "src/cart.py", start=4, lines=2) == (
        "src/cart.py: lines 4-5 of 8\n4\tdef total(items):\n5\t    result = 0\n[3 more lines: start=6]"
    )
    assert view_file(root, "README.md") == "README.md: lines 1-1 of 1\n1\t# Shop"


def test_a_view_beyond_the_end_names_the_length(root: Path) -> None:
    with pytest.raises(ToolFault, match="has 8 lines; start=9 is beyond") as caught:
        view_file(root, "src/cart.py", start=9)
    assert caught.value.kind == "exec_error"


def test_one_of_something_is_said_so(root: Path) -> None:
    (root / "one").mkdir()
    (root / "one" / "two.txt").write_text("a\nb\n")
    assert view_file(root, "one/two.txt", lines=1).endswith("[1 more line: start=2]")
    assert list_dir(root, "one").startswith("one: 1 entry\n")


def test_an_empty_file_is_no_fault(root: Path) -> None:
    (root / "src/__init__.py").touch()
    assert view_file(root, "src/__init__.py") == "src/__init__.py: empty file"


def test_encoding_and_line_ends_are_told(root: Path) -> None:
    (root / "old.txt").write_bytes("größe\r\nb\r\n".encode("latin-1"))
    first, *lines = view_file(root, "old.txt").splitlines()
    assert first == "old.txt: lines 1-2 of 2, not UTF-8, shown as latin-1, CRLF line ends"
    assert lines == ["1\tgröße", "2\tb"]


def test_long_lines_and_long_views_are_bounded(root: Path) -> None:
    (root / "long.txt").write_text("\n".join("x" * 5000 for _ in range(300)))
    view = view_file(root, "long.txt")
    assert "… [3000 more characters]" in view
    assert len(view) < files.MAX_VIEW + 3 * files.MAX_LINE
    assert "more lines: start=" in view.splitlines()[-1]


def test_binary_and_huge_files_are_told_and_not_shown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "logo.png").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(ToolFault, match=r"logo.png is binary \(6 bytes\)"):
        view_file(root, "logo.png")
    monkeypatch.setattr(workspace_files, "MAX_BYTES", 3)
    with pytest.raises(ToolFault, match=r"sed -n '1,200p' README\.md"):
        view_file(root, "README.md")


def test_viewing_a_directory_lists_it(root: Path) -> None:
    with pytest.raises(ToolFault, match="src is a directory") as caught:
        view_file(root, "src")
    assert "cart.py" in caught.value.message


@pytest.mark.parametrize("asked", ["src/crat.py", "cart.py", "lib/cart.py"])
def test_a_missing_file_is_answered_with_the_closest_name(root: Path, asked: str) -> None:
    with pytest.raises(ToolFault, match=r"no such file; did you mean .*src/cart\.py") as caught:
        view_file(root, asked)
    assert caught.value.kind == "exec_error"


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/passwd", ".env", "link/passwd"])
def test_what_is_not_the_models_to_read_is_denied(root: Path, path: str) -> None:
    (root.parent / "outside.txt").write_text("secret")
    (root / "link").symlink_to("/etc")
    with pytest.raises(ToolFault) as caught:
        view_file(root, path)
    assert caught.value.kind == "permission_denied"


def test_what_is_no_path_is_an_argument_to_mend(root: Path, guard: EditGuard) -> None:
    for act in (lambda: view_file(root, "a\0b"), lambda: write_file(root, "a\0b", "x", guard=guard)):
        with pytest.raises(ToolFault, match=r"a\\0b: a path cannot contain a NUL character") as caught:
            act()
        assert caught.value.kind == "schema_reject"


def test_a_listing_is_sorted_and_folds_noise(root: Path) -> None:
    (root / "link").symlink_to("src")
    assert list_dir(root).splitlines() == [
        ".: 7 entries",
        ".env",
        ".sdd/",
        "README.md",
        "env/",
        "link@",
        "src/",
        "tests/",
        "[2 not listed: .git, node_modules]",
    ]
    assert "runs" in list_dir(root, ".sdd").splitlines()[-1]


def test_a_long_listing_is_bounded(root: Path) -> None:
    (root / "many").mkdir()
    for number in range(250):
        (root / f"many/f{number:03}").touch()
    lines = list_dir(root, "many").splitlines()
    assert len(lines) == 202
    assert lines[-1].startswith("[50 more")


def test_listing_a_file_or_nothing_is_a_fault(root: Path) -> None:
    with pytest.raises(ToolFault, match="use view_file"):
        list_dir(root, "README.md")
    with pytest.raises(ToolFault, match="no such file"):
        list_dir(root, "nowhere")


@pytest.mark.parametrize(
    ("glob", "path", "found"),
    [
        ("*.py", ".", ["src/cart.py", "tests/test_cart.py"]),
        ("**/*.py", "src", ["src/cart.py"]),
        ("src/*.py", "src", ["src/cart.py"]),
        ("src/**", ".", ["src/cart.py"]),
        ("*.{md,py}", ".", [".sdd/project.md", "README.md", "src/cart.py", "tests/test_cart.py"]),
        ("test_[a-c]*.py", ".", ["tests/test_cart.py"]),
        ("**/test_*.py", ".", ["tests/test_cart.py"]),
    ],
)
def test_files_are_found_by_glob_without_noise(root: Path, glob: str, path: str, found: list[str]) -> None:
    assert find_files(root, glob, path).splitlines() == found


def test_nothing_found_is_an_answer_and_many_are_bounded(root: Path) -> None:
    assert find_files(root, "*.rs") == "no file matches *.rs in ."
    for number in range(230):
        (root / f"f{number:03}.txt").touch()
    lines = find_files(root, "*.txt").splitlines()
    assert len(lines) == 201
    assert lines[-1].startswith("[30 more")
    with pytest.raises(ToolFault, match="is a file"):
        find_files(root, "*", "README.md")


def test_a_new_file_is_written_with_its_directories(root: Path, guard: EditGuard) -> None:
    written = write_file(root, "src/new/deep.py", "a = 1\r\nb = 2\n", guard=guard)
    assert written[:2] == ("src/new/deep.py", "created src/new/deep.py (2 lines)")
    assert (root / "src/new/deep.py").read_bytes() == b"a = 1\r\nb = 2\n", "nothing to follow: as it was given"


def test_a_rewrite_keeps_mode_mark_and_line_ends_and_tells_what_changed(root: Path, guard: EditGuard) -> None:
    path = root / "run.cmd"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    path.chmod(0o755)
    assert write_file(root, "run.cmd", "a\nc\nd\n", guard=guard).report == "wrote run.cmd: +2 -1 lines"
    assert path.read_bytes() == b"\xef\xbb\xbfa\r\nc\r\nd\r\n"
    assert path.stat().st_mode & 0o777 == 0o755


def test_writing_the_same_content_again_is_no_fault(root: Path, guard: EditGuard) -> None:
    assert "already" in write_file(root, "README.md", "# Shop\n", guard=guard).report


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of the code ...",
        "    // ... existing code ...",
        "/* … remains unchanged … */",
        "# rest of the file",
        "<!-- ... rest of the page ... -->",
        "... (rest of the function unchanged)",
        "# existing code here",
    ],
)
def test_a_rewrite_that_loses_code_to_a_placeholder_is_refused(root: Path, guard: EditGuard, line: str) -> None:
    before = (root / "src/cart.py").read_text()
    with pytest.raises(ToolFault, match="replaces code that would be lost"):
        write_file(root, "src/cart.py", f"import sys\n{line}\n", guard=guard)
    assert (root / "src/cart.py").read_text() == before


@pytest.mark.parametrize(
    "line",
    [
        "    ...",
        "# the rest is history",
        "# other parts, see below",
        "rest = 1  # ... of the sum",
        "# existing users keep their cart",
    ],
)
def test_honest_lines_are_no_placeholders(root: Path, guard: EditGuard, line: str) -> None:
    assert "wrote" in write_file(root, "src/cart.py", f"{line}\n", guard=guard).report


def test_a_placeholder_that_was_there_or_loses_nothing_stays(root: Path, guard: EditGuard) -> None:
    (root / "doc.md").write_text("... rest of the code ...\nold\n")
    for content in ("... rest of the code ...\n", "... rest of the code ...\n# ... existing code ...\n"):
        write_file(root, "doc.md", content, guard=guard)
        assert (root / "doc.md").read_text() == content


def test_a_character_the_encoding_lacks_is_named_and_nothing_is_written(root: Path, guard: EditGuard) -> None:
    (root / "old.txt").write_bytes(b"gr\xf6\xdfe\n")
    with pytest.raises(ToolFault, match=r"latin-1 and cannot encode the character U\+2192"):
        write_file(root, "old.txt", "größe → klein\n", guard=guard)
    with pytest.raises(ToolFault, match=r"U\+D83D"):
        write_file(root, "new.txt", "\ud83d", guard=guard)
    assert (root / "old.txt").read_bytes() == b"gr\xf6\xdfe\n"
    assert not (root / "new.txt").exists()


@pytest.mark.parametrize("path", [".git/config", ".sdd/project.md", "../x", "src", ".env", "key.pem"])
def test_places_of_others_are_never_written(root: Path, guard: EditGuard, path: str) -> None:
    with pytest.raises(ToolFault) as caught:
        write_file(root, path, "x", guard=guard)
    assert caught.value.kind == "permission_denied"


def test_protected_and_forbidden_paths_are_refused_with_the_way_out(root: Path) -> None:
    guard = EditGuard(protected=frozenset({"tests/test_cart.py"}), forbidden=("vendor/", "*.lock"))
    with pytest.raises(ToolFault, match=r"allow test edits:.*--allow-edits tests/test_cart.py") as caught:
        write_file(root, "tests/test_cart.py", "", guard=guard)
    assert caught.value.kind == "permission_denied"
    for path in ("vendor/a/b.js", "sub/uv.lock"):
        with pytest.raises(ToolFault, match=r"forbidden by KOTEF\.md"):
            write_file(root, path, "", guard=guard)
    assert write_file(root, "tests/test_new.py", "", guard=guard).path == "tests/test_new.py"
    assert (root / "tests/test_cart.py").read_text() != ""


def test_a_link_to_a_protected_file_is_protected_under_both_names(root: Path) -> None:
    (root / "alias.py").symlink_to("tests/test_cart.py")
    (root / "tests/helper.py").symlink_to("../src/cart.py")
    guard = EditGuard(protected=frozenset({"tests/test_cart.py", "tests/helper.py"}))
    for path in ("alias.py", "tests/helper.py", str(root / "tests/../tests/helper.py")):
        with pytest.raises(ToolFault, match="is protected"):
            write_file(root, path, "x", guard=guard)


def test_a_protected_name_is_known_however_the_workspace_is_called(root: Path) -> None:
    (root / "tests/helper.py").symlink_to("../src/cart.py")
    (root.parent / "short").symlink_to(root)
    with pytest.raises(ToolFault, match="is protected"):
        write_file(
            root.parent / "short",
            str(root.parent / "short/tests/helper.py"),
            "x",
            guard=EditGuard(frozenset({"tests/helper.py"})),
        )


def test_a_full_disk_is_not_the_models_fault(root: Path, guard: EditGuard, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoSpaceError):
        write_file(root, "README.md", "x", guard=guard)
    assert (root / "README.md").read_text() == "# Shop\n"
