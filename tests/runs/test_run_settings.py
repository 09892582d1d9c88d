"""Every setting has one precedence of origins, and every command the same answer."""

from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from kotef.cli.main import main
from kotef.errors import UsageError
from kotef.runs import sandbox_setup
from kotef.runs.config import ExtensionTable, SandboxSettings, UserConfig, _spoken
from kotef.runs.repository import Settings
from kotef.runs.run_settings import MODEL_SETTINGS, OPTIONS, VARIABLES, SettingOrigin, run_settings
from kotef.sandbox import OFF
from kotef.sdd.spec import Spec
from kotef.settings import PROFILES, Limits
from kotef.state import Task

ORIGINS: dict[str, tuple[SettingOrigin, ...]] = {
    "model": ("option", "environment", "run", "user", "repository"),
    "base_url": ("option", "environment", "run", "user", "repository"),
    "coder": ("option", "environment", "run", "repository"),
    "planner_model": ("option", "environment", "run"),
    "fallback_model": ("option", "environment", "run", "user"),
    "agent": ("option",),
    "tools": ("environment",),
    "extensions.enable": ("environment", "user"),
    "sandbox.level": ("option", "environment", "run", "repository", "user"),
    "env.pass": ("run", "repository"),
    "setup.commands": ("run", "repository"),
    **{
        f"limits.{name}": ("option", *(("environment",) if name == "probes" else ()), "run", "profile")
        for name in Limits.model_fields
        if getattr(PROFILES["smoke"].limits, name) != getattr(Limits(), name)
    },
}
"""Setting → who can say it, the strongest first; the rest of the limits have no value of their own in a profile."""
LEVELS = ("strict", "bwrap", "landlock", "off", "auto")
PROBES = ("off", "full")
RUN_FIELDS = {"sandbox.level": "sandbox", "env.pass": "passed", "setup.commands": "setup"}
REPOSITORY_FIELDS = {"sandbox.level": "level", "env.pass": "passed", "setup.commands": "setup"}


def value_of(name: str, origin: SettingOrigin) -> Any:
    """What this origin says; another value for each."""
    place = ORIGINS[name].index(origin)
    if name == "sandbox.level":
        return LEVELS[place]
    if name == "tools":
        return "core"
    if name in ("env.pass", "setup.commands", "extensions.enable"):
        return (f"OF_{origin}",)
    if name == "limits.probes":
        return PROBES[place % 2]
    if name.startswith("limits."):
        return place + 7
    return f"http://of-{origin}.test" if name == "base_url" else f"of-{origin}"


def said(name: str, chosen: tuple[SettingOrigin, ...]) -> dict[str, Any]:
    """Arguments of `run_settings` in which these origins say something."""
    task = Task(run_id="r", goal="g", spec=Spec(), checks=(), limits=Limits())
    given, env, users, theirs, kept = dict[str, Any](), dict[str, str](), {}, {}, {}
    for origin in chosen:
        value = None if origin == "profile" else value_of(name, origin)
        match origin:
            case "option":
                given[OPTIONS[name]] = value
            case "environment":
                env[VARIABLES[name]] = value[0] if isinstance(value, tuple) else value
            case "run" if name.startswith("limits."):
                kept["limits"] = Limits().model_copy(update={name.removeprefix("limits."): value})
            case "run":
                kept[RUN_FIELDS.get(name, name)] = value
            case "user" if name == "sandbox.level":
                users["sandbox"] = SandboxSettings(level=value)
            case "user" if name == "extensions.enable":
                users["extensions"] = ExtensionTable(enable=value)
            case "user":
                users[name] = value
            case "repository":
                theirs[REPOSITORY_FIELDS.get(name, name)] = value
    return {
        "given": given,
        "config": UserConfig(**users),
        "theirs": Settings(**theirs),
        "env": env,
        "profile": "smoke" if "profile" in chosen else "strict",
        "task": task.model_copy(update=kept) if "run" in chosen else None,
    }


@pytest.mark.parametrize("name", ORIGINS)
def test_the_strongest_origin_that_says_something_decides(name: str) -> None:
    for size in range(len(ORIGINS[name]) + 1):
        for chosen in combinations(ORIGINS[name], size):
            arguments = said(name, chosen)
            found = run_settings(**arguments)[name]
            assert found.origin == (chosen[0] if chosen else "default"), (chosen, found)
            if chosen and chosen[0] != "profile":
                assert found.value == value_of(name, chosen[0]), chosen


def test_every_setting_is_resolved_and_every_origin_says_one() -> None:
    found = run_settings({}, UserConfig(), Settings(), env={}).found
    rest = {
        "sandbox.network",
        "sandbox.read",
        "extensions.disable",
        *(f"limits.{name}" for name in Limits.model_fields),
    }
    assert set(found) == {*ORIGINS, *rest}
    assert {origin for origins in ORIGINS.values() for origin in origins} | {"default"} == set(get_args(SettingOrigin))
    assert set(OPTIONS) | set(VARIABLES) <= set(found)
    assert set(MODEL_SETTINGS) <= set(found)


def test_the_network_is_only_ever_added_by_a_flag_and_folders_add_up() -> None:
    users = UserConfig(sandbox=SandboxSettings(network=True, read=("/a", "/b")))
    theirs = Settings(network=False, reads=("/c", "/a"))
    resolved = run_settings({"reads": ("/d",)}, users, theirs, env={})
    assert resolved.sandbox == ("auto", False, ("/d", "/a", "/b", "/c"))
    assert resolved["sandbox.network"].origin == "repository"
    assert run_settings({"network": True}, UserConfig(), theirs, env={})["sandbox.network"] == (True, "option")


@pytest.mark.parametrize("variable", ["KOTEF_SANDBOX", "KOTEF_PROBES"])
def test_a_value_of_the_environment_that_no_option_takes_is_refused(variable: str) -> None:
    with pytest.raises(UsageError, match=f"{variable}=most: no such"):
        run_settings({}, UserConfig(), Settings(), env={variable: "most"})


LEVEL_OF = {"environment": "strict", "repository": "bwrap", "user": "landlock"}
STRONGEST = ("environment", "repository", "user")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".sdd").mkdir(parents=True)
    for variable in ("KOTEF_SANDBOX", "KOTEF_PROBES"):
        monkeypatch.delenv(variable, raising=False)
    return root


def set_up(root: Path, home: Path, chosen: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these origins names a level of its own; the repository is trusted."""
    if "environment" in chosen:
        monkeypatch.setenv("KOTEF_SANDBOX", LEVEL_OF["environment"])
    lines = {name: f'[sandbox]\nlevel = "{LEVEL_OF[name]}"\n' for name in chosen}
    (root / ".sdd" / "kotef.toml").write_text('checks = ["true"]\n' + lines.get("repository", ""))
    (home / "kotef").mkdir(parents=True)
    trusted = f'[trusted]\n"{root}" = "{_spoken(root)}"\n'
    (home / "kotef" / "config.toml").write_text(lines.get("user", "") + trusted)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))


@pytest.mark.parametrize(
    "chosen", [chosen for size in range(4) for chosen in combinations(STRONGEST, size)], ids="+".join
)
def test_every_command_asks_for_the_same_sandbox(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: tuple[str, ...]
) -> None:
    asked: list[str] = []

    def choose(wanted: str, *_: object, **__: object) -> tuple[object, str]:
        asked.append(wanted)
        return OFF, ""

    set_up(project, tmp_path / "config", chosen, monkeypatch)
    monkeypatch.setattr(sandbox_setup, "choose_level", choose)
    expected = LEVEL_OF[chosen[0]] if chosen else "auto"
    shown = printed(project, "config", "show", "--json")
    assert f'"name": "sandbox.level", "value": "{expected}"' in " ".join(shown.split())
    for words in (["check"], ["doctor"], ["run", "nothing", "--coder", "fixers", "--max-attempts", "1"]):
        asked.clear()
        printed(project, *words)
        assert set(asked) == {expected}, words


def printed(root: Path, *words: str) -> str:
    done = CliRunner().invoke(main, [*words, "--root", str(root)])
    assert not (done.exception and not isinstance(done.exception, SystemExit)), done.exception
    return done.stdout
