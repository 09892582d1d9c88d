"""apply_patch: the format is read strictly, fitted where it is unique, and applied wholly or not at all."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import WorkspaceError
from kotef.tools import apply_patch as patch_tool
from kotef.tools.apply_patch import apply_patch, rest, targets
from kotef.tools.errors import ToolFault
from kotef.tools.guard import EditGuard
from kotef.tools.patch_format import Hunk, PatchError, PatchSection, fit, parse, remaining, render
from kotef.tools.registry import BY_NAME
from kotef.tools.text import Text

OPEN = EditGuard(frozenset())


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def apply(root: Path, text: str, guard: Any = OPEN) -> tuple[str, list[str]]:
    wrote: list[str] = []
    return apply_patch(root, text, guard=guard, wrote=wrote.append), wrote


def refused(root: Path, text: str, guard: Any = OPEN) -> ToolFault:
    """The fault; no file may have changed."""
    before = files(root)
    with pytest.raises(ToolFault) as caught:
        apply(root, text, guard)
    assert files(root) == before
    return caught.value


def test_every_kind_of_section_in_one_patch(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return 1\n")
    (tmp_path / "old.py").write_text("x = 1\n")
    (tmp_path / "old.py").chmod(0o755)
    (tmp_path / "gone.py").write_text("")
    told, wrote = apply(
        tmp_path,
        patch(
            "*** Add File: sub/new.py",
            "+y = 2",
            "+",
            "*** Update File: a.py",
            "@@ def g():",
            "-    return 1",
            "+    return 2",
            "*** Update File: old.py",
            "*** Move to: moved.py",
            "-x = 1",
            "+x = 3",
            "*** Delete File: gone.py",
        ),
    )
    assert files(tmp_path) == {
        "a.py": b"def f():\n    return 1\n\n\ndef g():\n    return 2\n",
        "moved.py": b"x = 3\n",
        "sub/new.py": b"y = 2\n\n",
    }
    assert (tmp_path / "moved.py").stat().st_mode & 0o777 == 0o755
    assert wrote == ["sub/new.py", "a.py", "moved.py", "old.py", "gone.py"]
    assert told.splitlines()[0] == "added sub/new.py (2 lines)"
    assert "updated a.py: +1 -1 lines" in told
    assert "moved old.py to moved.py: +1 -1 lines" in told


@pytest.mark.parametrize(
    ("lines", "kind", "says"),
    [
        (("*** Update File: a.py", "-nowhere", "+x"), "exec_error", "a.py, hunk 1 of 1: search is not found"),
        (("*** Update File: a.py", "-same", "+x"), "exec_error", "its lines are at 1, 3"),
        (("*** Update File: a.py", "@@ def nowhere", "-same", "+x"), "exec_error", "no line `def nowhere`"),
        (("*** Update File: b.py", "-b", "+x"), "exec_error", "no such file"),
        (("*** Delete File: b.py",), "exec_error", "no such file"),
        (("*** Add File: a.py", "+x"), "exec_error", "already exists"),
        (("*** Delete File: link.py",), "exec_error", "link.py is a link to a.py"),
        (("*** Update File: link.py", "*** Move to: b.py"), "exec_error", "link.py is a link to a.py"),
        (("*** Add File: ../out.py", "+x"), "permission_denied", "leads out"),
        (("*** Add File: .sdd/project.md", "+x"), "permission_denied", ".sdd"),
        (("*** Delete File: test_a.py",), "permission_denied", "protected"),
        (("*** Update File: a.py", "*** Move to: test_a.py"), "permission_denied", "protected"),
        (("*** Update File: a.py", "+x", "*** Delete File: ./a.py"), "schema_reject", "a.py: changed by two"),
        (("*** Update File: a.py", "+x", "*** Delete File: a.py"), "schema_reject", "named in two"),
        (("*** Update File: a.py",), "schema_reject", "changes nothing"),
        (("*** Update File: a.py", "@@", " same"), "schema_reject", "has no line"),
        (("*** Update File: a.py", "same"), "schema_reject", "line 3: 'same' begins neither"),
        (("*** Add File: c.py", "x"), "schema_reject", "line 3: every line of an added file"),
        ((), "schema_reject", "names no file"),
    ],
)
def test_a_patch_that_is_refused_changes_nothing(tmp_path: Path, lines: Sequence[str], kind: str, says: str) -> None:
    (tmp_path / "a.py").write_text("same\nother\nsame\n")
    (tmp_path / "link.py").symlink_to("a.py")
    (tmp_path / "test_a.py").write_text("")
    first = ("*** Add File: first.py", "+would be written first") if lines else ()
    fault = refused(tmp_path, patch(*first, *lines), EditGuard(frozenset({"test_a.py"})))
    assert (fault.kind, says in fault.message.replace("line 5", "line 3")) == (kind, True), fault.message


def test_a_patch_that_is_cut_off_is_not_executed(tmp_path: Path) -> None:
    fault = refused(tmp_path, "*** Begin Patch\n*** Add File: a.py\n+half of it")
    assert "cut off" in fault.message


def test_a_write_that_fails_undoes_those_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("a\n")
    (tmp_path / "b.py").write_text("b\n")
    real = patch_tool.write_atomic

    def broken(path: Path, content: bytes, **options: Any) -> None:
        if path.name == "c.py":
            raise WorkspaceError(path, "is read-only")
        real(path, content, **options)

    monkeypatch.setattr(patch_tool, "write_atomic", broken)
    text = patch("*** Update File: a.py", "-a", "+A", "*** Delete File: b.py", "*** Add File: c.py", "+c")
    assert "is read-only; no file of the patch was changed" in refused(tmp_path, text).message


def test_line_ends_encoding_and_a_missing_last_newline_stay(tmp_path: Path) -> None:
    (tmp_path / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\nx\n")
    text = patch(
        *("*** Update File: dos.txt", " one", "-two", "+2", "+2b", " three", "*** End of File"),
        *("*** Update File: latin.txt", "@@ café", "-x", "+y"),
    )
    apply(tmp_path, text.replace("\n", "\r\n"))
    assert (tmp_path / "dos.txt").read_bytes() == b"one\r\n2\r\n2b\r\nthree"
    assert (tmp_path / "latin.txt").read_bytes() == b"caf\xe9\ny\n"


@pytest.mark.parametrize(
    ("before", "lines", "after"),
    [
        ("a\nb\nc\n", ("-b",), "a\nc\n"),
        ("a\nb", ("-b",), "a"),
        ("a", ("-a",), ""),
        ("", ("+a",), "a\n"),
        ("a\n", ("+b",), "a\nb\n"),
        ("a", ("+b",), "a\nb"),
        ("a\nb\n", ("@@ a", "+x"), "a\nx\nb\n"),
        ("a\nb\na\n", ("-a", "+z", "*** End of File"), "a\nb\nz\n"),
        ("f\nx\ng\nx\n", ("@@ f", "-x", "+1", "@@ g", "-x", "+2"), "f\n1\ng\n2\n"),
        ("a\n\nb\n", (" a", "", "-b", "+c"), "a\n\nc\n"),
        ("a\nb\n", ("@@ -9,2 +9,2 @@", " a", "-b", "+c", ""), "a\nc\n"),
        ("class A:\n    def f():\n        x\n    def g():\n        x\n", ("@@ class A", "@@ def g", "-        x", "+        y"), "class A:\n    def f():\n        x\n    def g():\n        y\n"),
        ("    a\n    b\n", (" a", "-b", "+c"), "    a\n    c\n"),
    ],
)  # fmt: skip
def test_where_hunks_go(tmp_path: Path, before: str, lines: Sequence[str], after: str) -> None:
    (tmp_path / "a").write_text(before)
    apply(tmp_path, patch("*** Update File: a", *lines))
    assert (tmp_path / "a").read_text() == after


LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n\r", exclude_categories=["Cs", "Cc"]), max_size=6)
NAME = st.text("abc/", min_size=1, max_size=5)


@st.composite
def hunks(draw: st.DrawFn) -> Hunk:
    signed = st.tuples(st.sampled_from(" +-"), LINE).map("".join)
    body = draw(st.lists(signed, min_size=1, max_size=4).filter(lambda lines: any(line[0] != " " for line in lines)))
    anchors = draw(st.lists(LINE.map(str.strip).filter(bool), max_size=2))
    return Hunk(tuple(anchors), tuple(body), draw(st.booleans()))


@st.composite
def sections(draw: st.DrawFn) -> tuple[PatchSection, ...]:
    names = draw(st.lists(NAME, min_size=1, max_size=6, unique=True))
    made: list[PatchSection] = []
    while names:
        kind, path = draw(st.sampled_from(["Add", "Update", "Delete"])), names.pop()
        match kind:
            case "Add":
                made.append(PatchSection("Add", path, content=tuple(draw(st.lists(LINE, max_size=3)))))
            case "Delete":
                made.append(PatchSection("Delete", path))
            case _:
                moved = names.pop() if names and draw(st.booleans()) else ""
                made.append(PatchSection("Update", path, moved, tuple(draw(st.lists(hunks(), min_size=1, max_size=2)))))
    return tuple(made)


@given(sections())
def test_what_is_rendered_is_read_back(made: tuple[PatchSection, ...]) -> None:
    assert parse(render(made)) == made


@given(st.text("*+-@ abEndBegiPtchFlDU:\n", max_size=80), st.booleans())
def test_any_text_is_read_or_refused(text: str, framed: bool) -> None:
    try:
        made = parse(patch(*text.split("\n")) if framed else text)
    except PatchError:
        return
    assert made
    assert parse(render(made)) == made


@given(st.lists(LINE, max_size=8), st.data())
def test_a_hunk_cut_from_two_texts_makes_one_of_the_other(before: list[str], data: st.DataObject) -> None:
    low = data.draw(st.integers(0, len(before)))
    high = data.draw(st.integers(low, len(before)))
    new = data.draw(st.lists(LINE, max_size=3))
    lines = [*(f" {line}" for line in before[:low]), *(f"-{line}" for line in before[low:high])]
    lines += [*(f"+{line}" for line in new), *(f" {line}" for line in before[high:])]
    if low == high and not new:
        return
    text = "".join(f"{line}\n" for line in before)
    after, notes, steps = fit(Text(text), [Hunk((), tuple(lines))])
    assert after.raw == "".join(f"{line}\n" for line in [*before[:low], *new, *before[high:]])
    assert (notes, steps) == ([], ("exact",))


class Killed(BaseException):
    """SIGKILL, as far as a call can tell."""


@example_count(60)
@given(st.integers(0, 6), st.integers(0, 6))
def test_a_patch_that_is_killed_between_files_and_resumed_ends_as_one_that_was_not(
    tmp_path_factory: pytest.TempPathFactory, first: int, second: int
) -> None:
    text = patch(
        *("*** Add File: n.py", "+n"),
        *("*** Update File: a.py", "-a", "+A"),
        *("*** Update File: m.py", "*** Move to: moved.py", "-m", "+M"),
        *("*** Delete File: d.py",),
    )

    def start(root: Path) -> Path:
        for name in "amd":
            (root / f"{name}.py").write_text(f"{name}\n")
        return root

    def digests(root: Path) -> dict[str, bytes | None]:
        paths = targets({"patch": text})
        return {path: (root / path).read_bytes() if (root / path).exists() else None for path in paths}

    whole, broken = start(tmp_path_factory.mktemp("whole")), start(tmp_path_factory.mktemp("broken"))
    apply(whole, text)
    before = digests(broken)
    for after in (first, second, 99):
        changed = [path for path, was in before.items() if digests(broken)[path] != was]
        arguments = rest({"patch": text}, changed) if changed else {"patch": text}
        written: list[str] = []

        def killed(path: str, left: int = after, written: list[str] = written) -> None:
            written.append(path)
            if len(written) > left:
                raise Killed

        try:
            if arguments is not None:
                apply_patch(broken, arguments["patch"], guard=OPEN, wrote=killed)
        except Killed:
            continue
    assert files(broken) == files(whole)


def test_only_a_row_that_can_be_half_done_has_a_rest() -> None:
    assert BY_NAME["write_file"].targets({"path": "a"}) == ("a",)
    assert BY_NAME["write_file"].rest({"path": "a"}, ["a"]) is None
    assert targets({"patch": "nonsense"}) == ()
    assert remaining(parse(patch("*** Delete File: a")), ["a"]) == ()


def test_the_schema_is_one_argument() -> None:
    schema = BY_NAME["apply_patch"].args.model_json_schema()
    assert list(schema["properties"]) == ["patch"]
    assert asyncio.iscoroutinefunction(BY_NAME["apply_patch"].act)
    assert len(json.dumps(schema)) < 300
