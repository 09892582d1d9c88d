"""Does `kotef config show` tell each setting, where it comes from, and no secret?"""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from kotef.cli.main import main
from kotef.runs.effective_settings import line_of

REPOSITORY = """\
model = "theirs"
api_key = "sk-theirs-4711-4711"

[sandbox]
level = "strict"
network = true

[env]
pass = ["DATABASE_URL"]
"""
USERS = """\
# mine
model = "mine"

[sandbox]
read = ["/opt/data"]

[endpoints.big]
base_url = "https://user:pa55word@big.example/v1"
api_key_env = "BIG_KEY"

[prices."gpt.5"]
input = 2.0
output = 8.0
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace and a user, each with a configuration."""
    root, home = tmp_path / "project", tmp_path / "config"
    (root / ".sdd").mkdir(parents=True)
    (root / ".sdd" / "kotef.toml").write_text(REPOSITORY)
    (home / "kotef").mkdir(parents=True)
    (home / "kotef" / "config.toml").write_text(USERS)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.delenv("KOTEF_SANDBOX")
    return root


def shown(root: Path, *arguments: str) -> dict[str, dict[str, Any]]:
    done = CliRunner().invoke(main, ["config", "show", "--root", str(root), "--json", *arguments])
    assert done.exit_code == 0, done.output
    return {setting["name"]: setting for setting in json.loads(done.stdout)["settings"] if not setting["ignored"]}


def ignored(root: Path, *arguments: str) -> dict[str, str]:
    """Name → why, of what has no effect."""
    done = CliRunner().invoke(main, ["config", "show", "--root", str(root), "--json", *arguments])
    return {one["name"]: one["ignored"] for one in json.loads(done.stdout)["settings"] if one["ignored"]}


def test_each_setting_names_its_file_and_line(place: Path, tmp_path: Path) -> None:
    found = shown(place)
    file = tmp_path / "config" / "kotef" / "config.toml"
    assert (found["model"]["value"], found["model"]["origin"]) == ("mine", f"{file}:2")
    assert found["sandbox.read"]["origin"] == f"{file}:5"
    assert found['prices."gpt.5".output']["origin"] == f"{file}:13"
    assert found["limits.max_attempts"] == {
        "name": "limits.max_attempts",
        "value": 3,
        "origin": "default",
        "ignored": "",
    }


def test_the_environment_comes_first(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOTEF_MODEL", "named")
    monkeypatch.setenv("KOTEF_SANDBOX", "off")
    found = shown(place)
    assert (found["model"]["value"], found["model"]["origin"]) == ("named", "environment KOTEF_MODEL")
    assert (found["sandbox.level"]["value"], found["sandbox.level"]["origin"]) == ("off", "environment KOTEF_SANDBOX")


def test_an_untrusted_repository_can_only_narrow_and_the_rest_says_why(place: Path) -> None:
    found = shown(place)
    level = found["sandbox.level"]
    assert (level["value"], level["origin"], level["ignored"]) == ("strict", ".sdd/kotef.toml:5", "")
    assert "env.pass" not in found
    assert "not trusted" in ignored(place)["env.pass"]
    trusted = shown(place, "--trust")
    assert trusted["env.pass"]["value"] == ["DATABASE_URL"]
    assert list(ignored(place, "--trust")) == ["api_key"]
    assert trusted["env.pass"]["origin"] == ".sdd/kotef.toml:9"
    assert trusted["sandbox.network"]["value"] is True


def test_no_key_and_no_login_is_shown(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4711-0815")
    for arguments in (["--json"], []):
        done = CliRunner().invoke(main, ["config", "show", "--root", str(place), *arguments])
        assert done.exit_code == 0
        for secret in ("sk-planted-4711-0815", "pa55word", "sk-theirs-4711-4711"):
            assert secret not in done.output
    found = shown(place)
    assert found["api_key"]["value"] == "set"
    assert found["endpoints.big.api_key"]["value"] == "not set"
    assert "keys come from the environment" in ignored(place)["api_key"]


@pytest.mark.parametrize("url", ["https://me:p@ssw0rdXX@host/v1", "https://me:p/ssw0rdXX@host/v1"])
def test_a_password_with_signs_of_an_address_in_it_is_not_shown(place: Path, monkeypatch, url: str) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert shown(place)["base_url"]["value"] == "https://host/v1"
    assert "ssw0rdXX" not in CliRunner().invoke(main, ["config", "show", "--root", str(place)]).output


def test_what_has_no_effect_shows_a_value_only_where_it_is_known_to_hold_no_secret(place: Path) -> None:
    (place / ".sdd" / "kotef.toml").write_text(
        'base_url = "https://me:s3cretPw9x@host/v1"\ntoken = "planted-4711"\nmodel = "theirs"\n'
        '[openai]\nsecret = "planted-0815"\n[sandbox]\nnetwork = true\nodd = "planted-1234"\n'
    )
    for arguments in (["--json"], []):
        done = CliRunner().invoke(main, ["config", "show", "--root", str(place), *arguments])
        assert done.exit_code == 0
        for secret in ("s3cretPw9x", "planted-"):
            assert secret not in done.output
    done = CliRunner().invoke(main, ["config", "show", "--root", str(place), "--json"])
    found = {one["name"]: one["value"] for one in json.loads(done.stdout)["settings"] if one["ignored"]}
    assert found == {
        "base_url": "https://host/v1",
        "token": "set",
        "model": "theirs",
        "openai.secret": "set",
        "sandbox.network": True,
        "sandbox.odd": "set",
    }


def test_a_profile_names_what_it_sets(place: Path) -> None:
    found = shown(place, "--profile", "smoke")
    assert (found["limits.max_attempts"]["value"], found["limits.max_attempts"]["origin"]) == (1, "profile smoke")
    assert found["limits.max_steps"]["origin"] == "default"


def test_a_broken_configuration_is_one_line_with_the_place(place: Path, tmp_path: Path) -> None:
    (tmp_path / "config" / "kotef" / "config.toml").write_text("model = \n")
    done = CliRunner().invoke(main, ["config", "show", "--root", str(place)])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "config.toml" in done.stderr


def test_the_path_is_told_whether_or_not_there_is_a_file(place: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["config", "path"])
    assert done.stdout == f"{tmp_path / 'config' / 'kotef' / 'config.toml'}\n"


def test_a_person_reads_value_and_origin(place: Path) -> None:
    done = CliRunner().invoke(main, ["config", "show", "--root", str(place)])
    assert "repository: not trusted" in done.stdout
    assert "config.toml:2)" in done.stdout
    assert "is ignored:" in done.stdout


@given(st.text(), st.text())
def test_any_text_has_a_line_or_none(text: str, name: str) -> None:
    line = line_of(text, name)
    assert line is None or 1 <= line <= len(text.splitlines())
