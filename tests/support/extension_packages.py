"""Distributions with entry points for kotef, made without pip: modules and metadata in a folder on the search path."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from kotef.extensions import discovery

TOOL = """
from pydantic import BaseModel


class Arguments(BaseModel):
    path: str


class CountLines:
    seam = 1
    description = "Count the lines of a file."
    arguments = Arguments
    changes = False

    async def call(self, workspace, arguments):
        text = workspace.files.read(arguments.path)
        return "no such file" if text is None else f"{len(text.splitlines())} lines"
"""
GUARD = """
class NoRewrites:
    seam = 1

    def refusal(self, call):
        return "team rule: change files with edit_file" if call.tool == "write_file" else ""
"""
CHECK = """
from kotef.extensions import DetectedCheck


class Verify:
    seam = 1

    def checks(self, files):
        if files.exists("tools/verify"):
            yield DetectedCheck("tools verify", "sh tools/verify", "test", "tools/verify")
"""
CODER = """
class OwnFix:
    seam = 1

    def declines(self, task):
        return "" if task.workspace.files.exists("script/fix") else "the project has no script/fix"

    async def work(self, task):
        await task.workspace.run("sh script/fix")
        return "ran `sh script/fix`"
"""
FIXER = r"""
import re

from kotef.extensions import FixProposal, SourceEdit


class Add:
    seam = 1
    errors = ("NameError",)

    def propose(self, complaint, project):
        raised = project.raised(complaint)
        match = re.match(r"name 'plus' is not defined", complaint.message)
        if raised and match:
            source, line = raised
            at = source.text.index("plus(a, b)")
            yield FixProposal((SourceEdit(source.path, at, at + 10, "a + b"),), f"{source.path}:{line}: plus is +")
"""
MODULES = {"tools": TOOL, "guards": GUARD, "checks": CHECK, "coders": CODER, "fixers": FIXER}
POINTS = {
    "tools": {"count_lines": "CountLines"},
    "guards": {"no-rewrites": "NoRewrites"},
    "checks": {"verify": "Verify"},
    "coders": {"ownfix": "OwnFix"},
    "fixers": {"plus-sign": "Add"},
}


class ExtensionPackages:
    """A folder for packages, which stands for the one of kotef's own environment."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        monkeypatch.setattr(discovery, "environment_folders", lambda: (folder,))
        monkeypatch.syspath_prepend(str(folder))
        self._before = set(sys.modules)

    def forget(self) -> None:
        """Take what was imported from it out of the interpreter."""
        for name in set(sys.modules) - self._before:
            if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(self.folder)):
                del sys.modules[name]

    def metadata(self, name: str, version: str, points: dict[str, dict[str, str]], folder: Path | None = None) -> Path:
        """The `.dist-info` of a distribution: group → name → `module:object`."""
        place = (folder or self.folder) / f"{name.replace('-', '_')}-{version}.dist-info"
        place.mkdir(parents=True)
        (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = [
            f"[kotef.{group}]\n" + "".join(f"{point} = {value}\n" for point, value in each.items())
            for group, each in points.items()
        ]
        (place / "entry_points.txt").write_text("\n".join(lines))
        return place

    def add(self, kind: str, source: str, *, point: str, attribute: str, name: str = "kotef-own") -> None:
        """A distribution of one module with one extension; `kind` is the group without `kotef.`."""
        module = f"{name}_{kind}_{point}".replace("-", "_")
        (self.folder / f"{module}.py").write_text(dedent(source))
        self.metadata(f"{name}", "2.0", {kind: {point: f"{module}:{attribute}"}})

    def add_team(self, *kinds: str) -> None:
        """`kotef-team` 1.0 with an extension of each of these kinds; of all five where none is named."""
        package = self.folder / "team_kotef"
        package.mkdir()
        (package / "__init__.py").write_text("")
        points: dict[str, dict[str, str]] = {}
        for kind in kinds or tuple(MODULES):
            (package / f"{kind}.py").write_text(MODULES[kind].lstrip())
            points[kind] = {point: f"team_kotef.{kind}:{name}" for point, name in POINTS[kind].items()}
        self.metadata("kotef-team", "1.0", points)
