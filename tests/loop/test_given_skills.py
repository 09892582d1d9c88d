"""Skills that a user names: the coder gets them whole, as they were when the run began."""

import sys
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, FIX, Agent, kotef
from support.openai_server import status

GOAL = ("make add add", "--check", CHECK)


def skill(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(parents=True)
    file = folder / name / "SKILL.md"
    file.write_text(f"---\nname: {name}\ndescription: How it is done.\n---\n{text}\n")
    return file


@pytest.fixture
def own(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project.parent / "config"))
    return project.parent / "config" / "kotef" / "skills"


def test_each_request_of_the_coder_has_the_skill_and_says_whose_it_is(project: Path, own: Path, run) -> None:
    skill(project / ".sdd" / "skills", "sums", "Write plus with care.")
    (project / ".sdd" / "skills" / "sums" / "table.txt").write_text("1 + 1 = 2\n")
    skill(own, "mine", "Say what you did.")
    agent = Agent(coder=[FIX, DONE])
    ran = run(project, agent, *GOAL, "--skill", "sums", "--skill", "Mine", "--skill", "sums")
    assert ran.result["outcome"] == "verified", ran.stderr
    first = agent.requests("coder")[0].text
    assert first.count("Write plus with care.") == 1
    from_repository = first.partition("Skill sums: ")[2].partition("</repository>")[0]
    assert "<repository>\nWrite plus with care.\nIts files, in .sdd/skills/sums: table.txt" in from_repository
    from_user = first.partition("Skill mine: ")[2]
    assert from_user.splitlines()[1] == "Say what you did.", "what the user wrote is no data of the repository"
    assert "skill sums is from .sdd/skills/sums" in ran.stdout
    assert "skill mine is from your configuration" in ran.stdout


def test_a_resumed_run_works_by_the_text_it_began_with(project: Path, own: Path, run) -> None:
    file = skill(own, "mine", "Say what you did.")
    ran = run(project, Agent(coder=[status(401, "the key has been revoked")]), *GOAL, "--skill", "mine")
    assert ran.code == 7
    file.write_text("---\nname: mine\ndescription: Another.\n---\nSay nothing.\n")
    agent = Agent(coder=[FIX, DONE])
    again = run(project, agent, ran.run_dir.name, command="resume")
    assert again.result["outcome"] == "verified"
    assert "Say what you did." in agent.requests("coder")[0].text


def test_an_agent_finds_the_skill_in_its_brief(project: Path, own: Path) -> None:
    skill(own, "mine", "Say what you did.")
    program = project.parent / "agent.py"
    program.write_text(
        "import pathlib\np = pathlib.Path('calc.py')\np.write_text(p.read_text().replace('a - b', 'a + b'))\n"
    )
    ran = kotef(project, "run", *GOAL, "--skill", "mine", "--coder", f"{sys.executable} {program} {{brief}}")
    assert ran.result["outcome"] == "verified", ran.stderr
    assert "Say what you did." in (ran.run_dir / "visit-1.brief.md").read_text()


def test_a_skill_that_is_not_there_ends_the_run_before_it_begins(project: Path, own: Path) -> None:
    skill(own, "mine", "Say what you did.")
    ran = kotef(project, "run", *GOAL, "--skill", "yours", "--coder", "fixers")
    assert ran.code == 2
    assert "--skill yours: there is no such skill" in ran.stderr
    assert "mine" in ran.stderr
    assert not list((project / ".sdd").glob("runs/2*"))


def test_the_prompt_shows_it(project: Path, own: Path) -> None:
    skill(own, "mine", "Say what you did.")
    assert "Say what you did." in kotef(project, "prompt", "coder", "make add add", "--skill", "mine").stdout
