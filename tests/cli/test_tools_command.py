"""`kotef tools` and `kotef skills` say what a model may use here, for people and for programs."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from kotef.cli.main import main
from kotef.tools.registry import BY_NAME, CORE, NAMES


def told(*arguments: str) -> tuple[str, str]:
    done = CliRunner().invoke(main, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def test_every_tool_is_listed_with_what_it_costs() -> None:
    rows = json.loads(told("tools", "--json")[0])
    assert [row["name"] for row in rows] == list(NAMES)
    assert set(rows[0]) == {"name", "kind", "tier", "needs", "description", "tokens"}
    for row in rows:
        known = BY_NAME[row["name"]]
        assert (row["kind"], row["tier"], row["needs"]) == (known.kind, known.tier, known.needs)
        compact = json.dumps(known.schema, separators=(",", ":"))
        assert abs(row["tokens"] - len(compact) / 4) <= 1


def test_a_tier_lists_its_own_by_option_or_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [row["name"] for row in json.loads(told("tools", "--tier", "Core", "--json")[0])] == list(CORE)
    monkeypatch.setenv("KOTEF_TOOLS", "CORE")
    out, _ = told("tools")
    assert [line.split()[0] for line in out.splitlines()[1:-1]] == list(CORE)
    assert out.splitlines()[-1].startswith("about 2")
    assert len(json.loads(told("tools", "--tier", "all", "--json")[0])) == len(NAMES), "what is asked for here counts"


def test_the_list_says_how_a_model_gets_apply_patch() -> None:
    out, _ = told("tools")
    assert '`[models."NAME"] apply_patch = true`' in out
    assert "config.toml" in out
    assert "apply_patch = true" not in told("tools", "--tier", "core")[0]


@pytest.mark.parametrize("words", [("agents",), ("skills",), ("mcp",), ("mcp", "doctor"), ("tools",), ("prompt",)])
def test_the_help_shows_examples(words: tuple[str, ...]) -> None:
    out, _ = told(*words, "--help")
    shown = out.split("Examples:\n", 1)[1]
    assert shown.lstrip().startswith(f"kotef {' '.join(words)}") or "kotef mcp doctor" in shown


def test_the_help_tells_what_gives_each_need() -> None:
    out, _ = told("tools", "--help")
    needs = {row.needs for row in BY_NAME.values()} - {None}
    assert needs
    assert all(f"{need}" in out.split("is provided by")[1] for need in needs)


def test_the_prompt_tells_of_what_keeps_the_coder_from_working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("prompt", "coder", "go", "--root", str(tmp_path))
    _, err = told(*words, "--agent", "planner")
    assert "kotef: warning: the coder `model` cannot work: none of its tools edits a file (" in err
    assert "), in the role planner; it is skipped (" in err
    monkeypatch.setenv("KOTEF_TOOLS", "core")
    assert "at KOTEF_TOOLS=core; it is skipped" in told(*words, "--json")[1]
    monkeypatch.setenv("KOTEF_TOOLS", "most")
    assert told(*words)[1].startswith("kotef: warning: KOTEF_TOOLS=most: no such tier")
    monkeypatch.delenv("KOTEF_TOOLS")
    assert told(*words)[1] == ""


def test_an_unknown_tier_lists_all_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOTEF_TOOLS", "most")
    out, err = told("tools", "--json")
    assert len(json.loads(out)) == len(NAMES)
    assert err == (
        "kotef: warning: KOTEF_TOOLS=most: no such tier (the tiers are core, standard, all); all tools are offered\n"
    )


def test_skills_are_listed_with_where_they_are_from_and_broken_ones_with_why(tmp_path: Path) -> None:
    user = Path(os.environ["XDG_CONFIG_HOME"]) / "kotef" / "skills"
    for place, name in ((tmp_path / ".sdd/skills", "release"), (user, "release"), (user, "review")):
        (place / name).mkdir(parents=True)
        (place / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: \x1b[31mHow to {name}.\n---\n")
    (tmp_path / ".agents/skills/broken").mkdir(parents=True)
    out, _ = told("skills", "--root", str(tmp_path))
    assert out.splitlines() == [
        f"{'release':<24} .sdd/skills",
        "    [31mHow to release.",
        f"{'review':<24} {user}",
        "    [31mHow to review.",
        f"{'release':<24} {user}: not used, because another skill of that name takes precedence",
        "broken: .agents/skills/broken/SKILL.md:1: there is no SKILL.md; every folder here must be a skill",
    ]
    facts = json.loads(told("skills", "--root", str(tmp_path), "--json")[0])
    assert [(one["name"], one["from"]) for one in facts["skills"]] == [
        ("release", ".sdd/skills"),
        ("review", str(user)),
    ]
    assert facts["hidden"] == [{"name": "release", "from": str(user)}]
    assert facts["problems"][0]["path"] == ".agents/skills/broken/SKILL.md"


def test_where_there_is_no_skill_it_says_how_one_is_made(tmp_path: Path) -> None:
    out, _ = told("skills", "--root", str(tmp_path))
    user = Path(os.environ["XDG_CONFIG_HOME"]) / "kotef" / "skills"
    assert out == f"no skills here; a skill is a folder with a SKILL.md in .sdd/skills, .agents/skills or {user}\n"
