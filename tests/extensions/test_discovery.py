"""Only distributions of kotef's own environment count, and nothing of a workspace ever does."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.extension_packages import TOOL, ExtensionPackages

from kotef.errors import ExtensionError, UsageError
from kotef.extensions import ExtensionSettings, discovery, installed_extensions, load_extensions
from kotef.extensions.discovery import GROUPS

ALL = ExtensionSettings(("all",))
TRAP = "from pathlib import Path\n\nPath({mark!r}).touch()\n\n"


def titles(root: Path) -> list[str]:
    return [each.title for each in installed_extensions(root)]


def problems(root: Path) -> list[str]:
    return [each.problem for each in installed_extensions(root)]


def test_each_kind_is_listed_with_its_origin_and_nothing_is_imported(root: Path, packages: ExtensionPackages) -> None:
    packages.add_team()
    assert titles(root) == [
        "check verify (kotef-team 1.0)",
        "coder ownfix (kotef-team 1.0)",
        "fixer plus-sign (kotef-team 1.0)",
        "guard no-rewrites (kotef-team 1.0)",
        "tool count_lines (kotef-team 1.0)",
    ]
    assert not any(name.startswith("team_kotef") for name in sys.modules)


def test_other_groups_and_broken_metadata_are_none(root: Path, packages: ExtensionPackages) -> None:
    place = packages.metadata("other", "1", {"tools": {"mine": "other:Mine"}})
    (place / "entry_points.txt").write_text("[console_scripts]\nmine = other:main\n[kotef]\nmine = other:Mine\n")
    broken = packages.metadata("broken", "1", {})
    (broken / "entry_points.txt").write_bytes(b"\xff\xfe[kotef.tools\n= =\n")
    (packages.metadata("bare", "1", {"tools": {"bare": "bare:Bare"}}) / "METADATA").unlink()
    assert titles(root) == ["tool bare (bare-1.dist-info ?)"]


@pytest.mark.parametrize("kind", ["dist-info", "egg-info"])
def test_metadata_in_the_workspace_or_on_the_search_path_is_not_looked_at(
    root: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Neither the current directory, nor a `.venv` of the workspace, nor what PYTHONPATH names."""
    for folder in (root, root / ".venv" / "lib" / "python3" / "site-packages", root / "src"):
        place = packages.metadata("trap", "1", {"tools": {"trap": "trap:Trap"}}, folder)
        place.rename(place.with_suffix(f".{kind}"))
    monkeypatch.chdir(root)
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.syspath_prepend(str(root / "src"))
    assert titles(root) == []


def test_an_environment_in_the_workspace_is_listed_and_never_loaded(
    tmp_path: Path, packages: ExtensionPackages
) -> None:
    """kotef itself is installed in the project's environment, which commands of a run may write."""
    packages.add_team()
    root = packages.folder.parent
    assert all("inside of the workspace" in each for each in problems(root))
    found = load_extensions(root, ALL)
    assert not found.loaded
    assert len(found.notices) == 5
    assert not any(name.startswith("team_kotef") for name in sys.modules)
    with pytest.raises(ExtensionError, match="inside of the workspace"):
        load_extensions(root, ExtensionSettings(("verify",)))
    assert tmp_path.exists()


def test_metadata_that_links_into_the_workspace_is_refused(root: Path, packages: ExtensionPackages) -> None:
    real = packages.metadata("trap", "1", {"tools": {"trap": "trap:Trap"}}, root)
    (packages.folder / real.name).symlink_to(real)
    assert "inside of the workspace" in problems(root)[0]


def test_code_in_the_workspace_is_not_executed(
    root: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `pip install --editable` of the workspace: metadata outside, code inside."""
    mark = root / "executed"
    (root / "trap.py").write_text(TRAP.format(mark=str(mark)) + TOOL)
    packages.metadata("trap", "1", {"tools": {"trap": "trap:CountLines"}})
    monkeypatch.syspath_prepend(str(root))
    (notice,) = load_extensions(root, ALL).notices
    assert "the tool trap (trap 1) cannot be loaded: ImportError: the module trap is in the workspace" in notice
    assert not mark.exists()


@pytest.mark.parametrize("where", ["package", "module", "dependency", "deep"])
def test_a_file_of_the_workspace_does_not_stand_in_for_a_module_of_the_extension(
    root: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """The workspace comes first on the search path, with modules of the extension's names."""
    mark = root / "executed"
    trap = TRAP.format(mark=str(mark))
    packages.add_team("tools")
    (packages.folder / "team_dependency.py").write_text("")
    (packages.folder / "team_kotef" / "__init__.py").write_text("import team_dependency\n")
    match where:
        case "package":
            (root / "team_kotef").mkdir()
            (root / "team_kotef" / "__init__.py").write_text(trap)
        case "module":
            (root / "team_kotef.py").write_text(trap)
        case "dependency":
            (root / "team_dependency.py").write_text(trap)
        case "deep":
            (root / "tools.py").write_text(trap)
            (packages.folder / "team_kotef" / "tools.py").unlink()
            (packages.folder / "team_kotef" / "tools.py").symlink_to(root / "tools.py")
    monkeypatch.syspath_prepend(str(root))
    found = load_extensions(root, ALL)
    assert not mark.exists()
    assert len(found.loaded) == (0 if where == "deep" else 1), found.notices
    for name in ("team_dependency",):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("python", [("-m", "kotef"), ("-c", "from kotef.__main__ import run; run()")])
def test_a_hostile_directory_loads_nothing(tmp_path: Path, python: tuple[str, ...]) -> None:
    """`python -m kotef` puts the current directory first on the search path."""
    root = tmp_path / "hostile"
    root.mkdir()
    mark = root / "executed"
    for name in ("trap", "click", "pydantic", "site", "sitecustomize", "sqlite3", "langgraph"):
        (root / f"{name}.py").write_text(TRAP.format(mark=str(mark)))
    for kind in ("dist-info", "egg-info"):
        place = root / f"trap-1.{kind}"
        place.mkdir()
        (place / "METADATA").write_text("Metadata-Version: 2.1\nName: trap\nVersion: 1\n")
        (place / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: trap\nVersion: 1\n")
        points = "".join(f"[{group}]\ntrap = trap:Trap\n" for group in GROUPS)
        (place / "entry_points.txt").write_text(points)
    done = subprocess.run(
        [sys.executable, *python, "doctor", "--json"], cwd=root, capture_output=True, text=True, check=False, timeout=60
    )
    assert '"extensions": []' in done.stdout, done.stderr
    assert not mark.exists()


@pytest.mark.parametrize(
    ("kind", "name"),
    [("tools", "edit_file"), ("coders", "search"), ("coders", "aider"), ("coders", "command"), ("fixers", "syntax")],
)
def test_the_names_of_kotef_are_taken(root: Path, packages: ExtensionPackages, kind: str, name: str) -> None:
    packages.add(kind, TOOL, point=name, attribute="CountLines")
    (notice,) = load_extensions(root, ALL).notices
    assert f"{name} (kotef-own 2.0)" in notice
    assert "kotef has a" in notice


@pytest.mark.parametrize("name", ["Upper", "a b", "all", "none", "x" * 41, "ünï", "-x", "a.b"])
def test_a_name_that_no_command_line_could_hold_is_refused(root: Path, packages: ExtensionPackages, name: str) -> None:
    packages.metadata("odd", "1", {"guards": {name: "odd:Odd"}})
    assert "its name must be lower-case letters" in problems(root)[0]


def test_two_distributions_with_one_name_are_both_refused(root: Path, packages: ExtensionPackages) -> None:
    packages.metadata("one", "1", {"tools": {"same": "one:A"}})
    packages.metadata("two", "2", {"tools": {"same": "two:A"}})
    assert problems(root) == [
        "two 2 has a tool of this name too; uninstall one of them",
        "one 1 has a tool of this name too; uninstall one of them",
    ]


def test_metadata_in_the_workspace_keeps_no_other_extension_from_being_active(
    tmp_path: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workspace that holds a folder of the environment: a home with `~/.local`, say."""
    root = tmp_path / "home"
    inside = root / ".local"
    packages.add_team("guards")
    packages.metadata("kotef-team", "1.0", {"guards": {"no-rewrites": "team_kotef.guards:NoRewrites"}}, inside)
    packages.metadata("trap", "1", {"guards": {"no-rewrites": "trap:Trap"}}, inside)
    monkeypatch.setattr(discovery, "environment_folders", lambda: (inside, packages.folder))
    assert [(each.title, each.in_workspace) for each in installed_extensions(root)] == [
        ("guard no-rewrites (kotef-team 1.0)", False),
        ("guard no-rewrites (trap 1)", True),
    ]
    assert load_extensions(root, ALL).names("guard") == ("no-rewrites",)


BROKEN = {
    "import": ("import nowhere_at_all", "ModuleNotFoundError"),
    "syntax": ("def", "SyntaxError"),
    "exit": ("raise SystemExit(0)", "SystemExit"),
    "raises": ("raise ValueError('two\\nlines')", "ValueError: two lines"),
    "attribute": ("", "AttributeError"),
    "type": ("CountLines = 7", "has no `seam = 1`"),
    "seam": ("class CountLines:\n    seam = 2", "is for version 2 of the seam"),
    "bare": ("class CountLines:\n    seam = 1", "has no `description`, a text"),
    "constructor": ("class CountLines:\n    def __init__(self, x): ...", "TypeError"),
    "property": (
        "class CountLines:\n    seam = 1\n    @property\n    def description(self): raise OSError('no')",
        "OSError: no",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_loaded_is_left_out_with_one_line(root: Path, packages: ExtensionPackages, case: str) -> None:
    source, expected = BROKEN[case]
    packages.add("tools", source, point="mine", attribute="CountLines")
    found = load_extensions(root, ALL)
    assert not found.loaded
    (notice,) = found.notices
    assert expected in notice
    assert notice.startswith("the tool mine (kotef-own 2.0) ")
    assert "KOTEF_DISABLE_EXTENSIONS=mine switches it off" in notice
    assert len(notice.splitlines()) == 1


@pytest.mark.parametrize("kind", ["guards", "checks"])
def test_a_run_does_not_begin_without_its_guards_and_checks(root: Path, packages: ExtensionPackages, kind: str) -> None:
    packages.add(kind, "import nowhere_at_all", point="mine", attribute="Mine")
    with pytest.raises(ExtensionError, match=r"mine \(kotef-own 2\.0\) cannot be loaded: ModuleNotFoundError"):
        load_extensions(root, ALL)
    assert not load_extensions(root, ExtensionSettings(("all",), ("mine",))).loaded


def test_what_someone_named_and_cannot_be_loaded_is_an_error(root: Path, packages: ExtensionPackages) -> None:
    packages.add("tools", "import nowhere_at_all", point="mine", attribute="Mine")
    with pytest.raises(ExtensionError, match="tool mine"):
        load_extensions(root, ExtensionSettings(("mine",)))


def test_a_name_that_is_not_installed_is_an_error_that_lists_what_is(root: Path, packages: ExtensionPackages) -> None:
    packages.add_team("tools")
    with pytest.raises(UsageError, match=r"count_linse is not installed beside kotef \(installed: count_lines\)"):
        load_extensions(root, ExtensionSettings(("count_linse",)))


@pytest.mark.parametrize(
    ("enable", "disable", "active"),
    [
        (("all",), (), 5),
        ((), (), 0),
        (("count_lines",), (), 1),
        (("kotef-team",), (), 5),
        (("Kotef_Team",), (), 5),
        (("all",), ("count_lines", "verify"), 3),
        (("count_lines",), ("count_lines",), 0),
        (("all",), ("kotef-team",), 0),
        (("all",), ("all",), 0),
        (("all",), ("nothing-of-that-name",), 5),
    ],
)
def test_names_of_extensions_and_of_distributions_switch_on_and_off(
    root: Path, packages: ExtensionPackages, enable: tuple[str, ...], disable: tuple[str, ...], active: int
) -> None:
    packages.add_team()
    assert len(load_extensions(root, ExtensionSettings(enable, disable)).loaded) == active


def test_only_the_kinds_that_are_asked_for_are_imported(root: Path, packages: ExtensionPackages) -> None:
    packages.add_team("tools")
    packages.add("guards", "raise ValueError", point="broken", attribute="Broken")
    assert load_extensions(root, ALL, kinds=frozenset({"tool"})).names("tool") == ("count_lines",)
