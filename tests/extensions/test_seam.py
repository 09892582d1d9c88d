"""What packages of others rely on: a change here is a new version of the seam."""

import inspect
from dataclasses import fields
from pathlib import Path

from kotef import extensions
from kotef.extensions import (
    SEAM,
    CheckExtension,
    CoderExtension,
    CoderTask,
    CommandOutput,
    DetectedCheck,
    ExtensionWorkspace,
    FixerExtension,
    FixProposal,
    GuardedCall,
    GuardExtension,
    Project,
    ProjectFiles,
    PythonText,
    SourceEdit,
    ToolExtension,
    seam,
)

PROTOCOLS = {
    CheckExtension: {"seam", "checks"},
    CoderExtension: {"seam", "declines", "work"},
    FixerExtension: {"seam", "errors", "propose"},
    GuardExtension: {"seam", "refusal"},
    ToolExtension: {"seam", "description", "arguments", "changes", "call"},
}


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_the_first_version_asks_for_this_and_gives_this() -> None:
    assert SEAM == 1
    assert {kind: public(kind) for kind in PROTOCOLS} == PROTOCOLS
    assert public(ExtensionWorkspace) == {"write", "run"}
    assert public(ProjectFiles) == {"root", "exists", "size", "read"}
    assert [each.name for each in fields(GuardedCall)] == ["tool", "arguments", "files"]
    assert [each.name for each in fields(CoderTask)] == ["goal", "steps", "failing", "summaries", "tests", "workspace"]
    assert CommandOutput._fields == ("exit_code", "output")
    assert DetectedCheck._fields == ("name", "command", "role", "source")
    assert [each.name for each in fields(SourceEdit)] == ["path", "start", "end", "text"]
    assert [each.name for each in fields(FixProposal)] == ["edits", "rationale"]
    for name in ("path", "text", "lines", "nodes", "tree", "span", "segment"):
        assert name == "path" or hasattr(PythonText("a.py", ""), name), "what fixers of packages read"
    assert public(Project) >= {"source", "editable", "raised", "with_word"}


def test_every_name_for_packages_is_exported_and_explained() -> None:
    for name in seam.__all__:
        found = getattr(extensions, name)
        assert name == "SEAM" or inspect.getdoc(found)
    assert set(seam.__all__) <= set(extensions.__all__)


def test_files_outside_secrets_and_links_are_not_read(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    (tmp_path / "outside.txt").write_text("outside")
    (root / "in.txt").write_text("a\r\nb\r\n")
    (root / "data.bin").write_bytes(b"\0\1")
    (root / ".env").write_text("TOKEN=1")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    files = ProjectFiles(root)
    assert (files.read("in.txt"), files.size("in.txt"), files.exists("in.txt")) == ("a\nb\n", 6, True)
    for path in (
        "../outside.txt",
        str(tmp_path / "outside.txt"),
        "link.txt",
        ".env",
        "none.txt",
        "a\0b",
        "data.bin",
        "",
    ):
        assert files.read(path) is None, path
    assert files.exists(".")
