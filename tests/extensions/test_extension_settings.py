"""Extensions are off in CI unless named, by the user's configuration or the environment, and never by a repository."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.extension_packages import TOOL, ExtensionPackages

from kotef.cli.main import main
from kotef.runs.config import ExtensionTable, UserConfig, config_path
from kotef.runs.repository import Settings
from kotef.runs.run_settings import run_settings


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def extensions(root: Path) -> dict[str, bool]:
    """Name → whether it is active, as `kotef doctor --json` says."""
    found = json.loads(invoke("doctor", "--root", str(root), "--json").stdout)["extensions"]
    return {each["name"]: each["active"] for each in found}


@pytest.mark.parametrize(
    ("environment", "enable", "expected"),
    [
        ({}, None, (("all",), "default")),
        ({"CI": "true"}, None, ((), "default")),
        ({"CI": "1"}, None, ((), "default")),
        ({"CI": "false"}, None, (("all",), "default")),
        ({"CI": "true"}, ("a",), (("a",), "user")),
        ({}, (), ((), "user")),
        ({"CI": "true", "KOTEF_EXTENSIONS": "b, c,"}, ("a",), (("b", "c"), "environment")),
        ({"KOTEF_EXTENSIONS": "none"}, ("a",), ((), "environment")),
        ({"KOTEF_EXTENSIONS": "all", "CI": "1"}, None, (("all",), "environment")),
        ({"KOTEF_EXTENSIONS": " "}, ("a",), (("a",), "user")),
    ],
)
def test_who_says_what_is_active(
    environment: dict[str, str], enable: tuple[str, ...] | None, expected: tuple[tuple[str, ...], str]
) -> None:
    config = UserConfig(extensions=ExtensionTable(enable=enable))
    assert run_settings({}, config, Settings(), env=environment)["extensions.enable"] == expected


def test_what_is_switched_off_adds_up() -> None:
    config = UserConfig(extensions=ExtensionTable(disable=("a", "b")))
    asked = {"KOTEF_DISABLE_EXTENSIONS": "c,a"}
    assert run_settings({}, config, Settings(), env=asked)["extensions.disable"] == (("c", "a", "b"), "environment")
    assert run_settings({}, config, Settings(), env={})["extensions.disable"] == (("a", "b"), "user")


def test_doctor_lists_each_with_its_origin_and_whether_it_is_active(
    root: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.add_team("tools", "guards")
    shown = invoke("doctor", "--root", str(root)).stdout
    line = "ok      extension tool count_lines  kotef-team 1.0  team_kotef.tools:CountLines  active"
    assert line in shown.splitlines()
    monkeypatch.setenv("CI", "true")
    assert extensions(root) == {"count_lines": False, "no-rewrites": False}
    monkeypatch.setenv("KOTEF_EXTENSIONS", "no-rewrites")
    assert extensions(root) == {"count_lines": False, "no-rewrites": True}
    assert "note    extension tool count_lines  kotef-team 1.0" in invoke("doctor", "--root", str(root)).stdout


def test_doctor_says_which_extension_keeps_a_run_from_beginning(root: Path, packages: ExtensionPackages) -> None:
    packages.add("guards", "import nowhere_at_all", point="broken", attribute="Broken")
    packages.add("tools", "import nowhere_at_all", point="limp", attribute="Limp", name="kotef-limp")
    (root / "Makefile").write_text("test:\n\ttrue\n")
    done = invoke("doctor", "--root", str(root))
    assert done.exit_code == 5
    lines = {line.split()[3]: line for line in done.stdout.splitlines() if " extension " in line}
    assert lines["broken"].startswith("missing ")
    assert lines["limp"].startswith("note ")
    assert all("KOTEF_DISABLE_EXTENSIONS=" in line for line in lines.values())


def test_doctor_names_what_is_named_and_not_installed(
    root: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.add_team("tools")
    monkeypatch.setenv("KOTEF_EXTENSIONS", "count_lines,other")
    done = invoke("doctor", "--root", str(root))
    assert done.exit_code == 5
    assert "missing extensions.enable: other is not installed beside kotef (installed: count_lines)" in done.stdout
    ran = invoke("run", "--root", str(root), "do it", "--check", "true")
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)


def test_config_show_says_what_is_switched_on_and_by_whom(root: Path, packages: ExtensionPackages) -> None:
    packages.add_team("checks")
    config_path().parent.mkdir(parents=True)
    config_path().write_text('[extensions]\nenable = ["verify"]\n')
    (root / "tools").mkdir()
    (root / "tools" / "verify").write_text("true\n")
    shown = json.loads(invoke("config", "show", "--root", str(root), "--json").stdout)["settings"]
    found = {each["name"]: (each["value"], each["origin"]) for each in shown}
    assert found["extensions.enable"] == (["verify"], f"{config_path()}:2")
    assert found["extensions.disable"] == ([], "default")
    assert found["checks.tools verify"] == ("sh tools/verify", "extension tools/verify, kotef-team 1.0")


def test_config_show_survives_a_broken_extension(root: Path, packages: ExtensionPackages) -> None:
    packages.add("checks", "1 / 0", point="broken", attribute="Broken")
    shown = invoke("config", "show", "--root", str(root))
    assert shown.exit_code == 0
    assert "check broken (kotef-own 2.0) cannot be loaded: ZeroDivisionError" in shown.stdout


@pytest.mark.parametrize("setting", ['enable = ["all"]', 'disable = ["no-rewrites"]'])
def test_a_repository_chooses_no_extension_even_if_it_is_trusted(
    root: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    packages.add_team("guards")
    (root / ".sdd").mkdir()
    (root / ".sdd" / "kotef.toml").write_text(f"[extensions]\n{setting}\n")
    monkeypatch.setenv("KOTEF_EXTENSIONS", "none" if "enable" in setting else "all")
    assert extensions(root) == {"no-rewrites": "disable" in setting}
    shown = invoke("config", "show", "--root", str(root), "--trust").stdout
    assert "is ignored: extensions are chosen by the user's configuration or the environment" in shown


def test_an_extension_that_is_off_is_not_imported(
    root: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = root / "imported"
    packages.add("tools", f"open({str(mark)!r}, 'w').close()\n{TOOL}", point="mine", attribute="CountLines")
    monkeypatch.setenv("CI", "true")
    assert extensions(root) == {"mine": False}
    assert not mark.exists()
    monkeypatch.delenv("CI")
    assert extensions(root) == {"mine": True}
    assert mark.exists()


def test_a_run_with_a_broken_guard_ends_before_it_begins_in_one_line(root: Path, packages: ExtensionPackages) -> None:
    packages.add("guards", "import nowhere_at_all", point="broken", attribute="Broken")
    ran = invoke("run", "--root", str(root), "do it", "--check", "true", "--coder", "fixers")
    assert (ran.exit_code, ran.stderr.count("\n")) == (5, 1), ran.stderr
    assert "the guard broken (kotef-own 2.0) cannot be loaded" in ran.stderr
    assert not (root / ".sdd").exists()
