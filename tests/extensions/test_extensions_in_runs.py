"""The five kinds of extensions in whole runs: active, off in CI unless named, judged as anything else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.extension_packages import ExtensionPackages
from support.loop import CHECK, DONE, FIX, PYTEST, UNITTEST_TEST, Agent, Ran, edit, git, kotef, one_bug, write
from support.openai_server import OpenAIServer, call, calls

from kotef.cli.main import main

GOAL = "make add add"
ONCE = ("--check", CHECK, "--max-attempts", "1")
FAILS = "raise ValueError('a defect of the team')"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The tiny project with one bug."""
    return one_bug(tmp_path / "project")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """`run(root, agent, *arguments)`: `kotef run` against a server that answers as the agent does."""

    def go(root: Path, agent: Any, *arguments: str) -> Ran:
        with OpenAIServer(agent) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("KOTEF_MODEL", "scripted")
            return kotef(root, "run", *arguments, "--coder", "model")

    return go


def answers(ran: Ran) -> list[str]:
    """What the model was answered to its tool calls."""
    last = ran.events
    return [str(event["note"]) for event in last if event["event"] == "tool_finished" and not event["ok"]]


def named(ran: Ran, kind: str) -> list[dict[str, Any]]:
    return [event for event in ran.events if event["event"] == kind]


def test_a_tool_of_an_extension_is_offered_and_answers(project: Path, packages: ExtensionPackages, run) -> None:
    packages.add_team("tools")
    agent = Agent(coder=[calls(call("count_lines", path="calc.py")), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    assert "count_lines" in agent.requests("coder")[0].tools
    assert "2 lines" in agent.requests("coder")[1].text
    assert [one["entryPoint"] for one in ran.result["extensions"]] == ["team_kotef.tools:CountLines"]


def test_what_was_active_is_in_the_events_the_result_and_the_report(
    project: Path, packages: ExtensionPackages, run
) -> None:
    packages.add_team("tools", "guards")
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, *ONCE)
    titles = ["guard no-rewrites (kotef-team 1.0)", "tool count_lines (kotef-team 1.0)"]
    assert [event["active"] for event in named(ran, "extensions")] == [titles]
    assert ran.result["extensions"][0] == {
        "kind": "guard",
        "name": "no-rewrites",
        "distribution": "kotef-team",
        "version": "1.0",
        "entryPoint": "team_kotef.guards:NoRewrites",
    }
    assert f"| extensions | {', '.join(titles)} |" in (ran.run_dir / "report.md").read_text()
    assert f"extensions: {', '.join(titles)}" in ran.stdout
    assert ", ".join(titles) in kotef(project, "report", "--format", "html").stdout


def test_a_run_without_an_extension_says_nothing_of_them(project: Path, packages: ExtensionPackages, run) -> None:
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, *ONCE)
    assert not named(ran, "extensions")
    assert ran.result["extensions"] == []
    assert packages.folder.is_dir()


def test_a_guard_refuses_a_call_before_it_has_an_effect(project: Path, packages: ExtensionPackages, run) -> None:
    packages.add_team("guards")
    agent = Agent(coder=[write("calc.py", "def add(a, b):\n    return a + b\n"), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    assert answers(ran) == ["team rule: change files with edit_file"]
    assert "team rule: change files with edit_file" in agent.requests("coder")[1].text


LOOSE_GUARD = """
class Loose:
    seam = 1

    def refusal(self, call):
        call.arguments["path"] = "calc.py"
        return ""
"""


def test_a_guard_can_change_nothing_of_a_call_and_allow_nothing(
    project: Path, packages: ExtensionPackages, run
) -> None:
    """It is shown a copy; a protected file stays protected, whatever a guard says."""
    packages.add("guards", LOOSE_GUARD, point="loose", attribute="Loose")
    before = (project / "test_calc.py").read_text()
    agent = Agent(coder=[edit("test_calc.py", "add(2, 3), 5", "add(2, 3), -1"), DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 3
    assert "is protected" in "".join(answers(ran))
    assert (project / "test_calc.py").read_text() == before


@pytest.mark.examples(2)
@pytest.mark.parametrize("body", [FAILS, "raise SystemExit(0)", "return None", "return 7"])
def test_a_guard_that_fails_refuses_and_names_its_distribution(
    project: Path, packages: ExtensionPackages, run, body: str
) -> None:
    source = f"class Bad:\n    seam = 1\n\n    def refusal(self, call):\n        {body}\n"
    packages.add("guards", source, point="bad", attribute="Bad")
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, *ONCE)
    assert ran.result["outcome"] == "bounded_attempts_exceeded", "refused, and no crash"
    said = answers(ran)[0]
    assert "the guard bad (kotef-own 2.0)" in said
    assert "KOTEF_DISABLE_EXTENSIONS=bad switches it off" in said
    assert "\n" not in said


WRITER = """
from pydantic import BaseModel

from kotef.extensions import RefusalError


class Arguments(BaseModel):
    path: str


class Writer:
    seam = 1
    description = "Write a file."
    arguments = Arguments
    changes = {changes}

    async def call(self, workspace, arguments):
        {body}
"""


def writer(packages: ExtensionPackages, body: str, *, changes: bool = True) -> None:
    packages.add("tools", WRITER.format(body=body, changes=changes), point="writer", attribute="Writer")


@pytest.mark.examples(2)
@pytest.mark.parametrize(
    "body", [FAILS, "raise SystemExit(3)", "return 7", "return None", "arguments.nothing", "raise KeyError('x\\ny')"]
)
def test_a_tool_that_fails_is_one_failed_call(project: Path, packages: ExtensionPackages, run, body: str) -> None:
    writer(packages, body)
    agent = Agent(coder=[calls(call("writer", path="a.txt")), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, "the run continues"
    assert "the tool writer (kotef-own 2.0)" in agent.requests("coder")[1].text
    assert "KOTEF_DISABLE_EXTENSIONS=writer switches it off" in agent.requests("coder")[1].text
    assert not (ran.run_dir / "traceback.txt").exists()


def test_a_tool_writes_as_an_editor_does_and_protected_files_are_refused(
    project: Path, packages: ExtensionPackages, run
) -> None:
    writer(packages, "workspace.write(arguments.path, 'def add(a, b):\\n    return a + b\\n'); return 'written'")
    before = (project / "test_calc.py").read_text()
    paths = ["test_calc.py", "../outside.py", "calc.py"]
    agent = Agent(coder=[*(calls(call("writer", path=path)) for path in paths), DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    assert (project / "test_calc.py").read_text() == before
    assert not (project.parent / "outside.py").exists()
    assert "is protected" in agent.requests("coder")[1].text
    assert "outside" in agent.requests("coder")[2].text
    assert ran.result["changed"] == ["calc.py"]
    assert [one["path"] for one in ran.events if one["event"] == "edited"] == ["calc.py"]


@pytest.mark.parametrize("act", ["workspace.write('calc.py', '')", "await workspace.run('rm calc.py')"])
def test_a_tool_that_says_it_changes_nothing_cannot(project: Path, packages: ExtensionPackages, run, act: str) -> None:
    writer(packages, f"return {act}", changes=False)
    agent = Agent(coder=[calls(call("writer", path="a.txt")), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    assert "`changes = False` can neither write nor run commands" in agent.requests("coder")[1].text


def test_the_policy_holds_for_commands_of_a_tool(project: Path, packages: ExtensionPackages, run) -> None:
    writer(packages, "return (await workspace.run('pip install nothing')).output")
    agent = Agent(coder=[calls(call("writer", path="a.txt")), FIX, DONE])
    assert run(project, agent, GOAL, *ONCE).code == 0
    assert "not run: " in agent.requests("coder")[1].text


def test_a_coder_of_an_extension_takes_its_place_in_a_chain(project: Path, packages: ExtensionPackages) -> None:
    packages.add_team("coders")
    (project / "script").mkdir()
    (project / "script" / "fix").write_text("sed -i 's/a - b/a + b/' calc.py\n")
    git(project, "add", "-A")
    ran = kotef(project, "run", GOAL, *ONCE, "--coder", "fixers,ownfix:30s")
    assert (ran.code, ran.result["winner"]) == (0, "ownfix"), ran.stdout
    assert ran.result["edit"]["rationale"] == "ran `sh script/fix`"
    assert ran.result["usage"]["commands"] >= 1


def test_an_edit_of_a_coder_is_judged_as_any_other(project: Path, packages: ExtensionPackages) -> None:
    """It bends the test: the test is put back, and the run is not verified."""
    packages.add_team("coders")
    (project / "script").mkdir()
    (project / "script" / "fix").write_text("sed -i 's/2, 3), 5/2, 3), -1/' test_calc.py\n")
    ran = kotef(project, "run", GOAL, *ONCE, "--coder", "ownfix")
    assert (ran.code, ran.result["done"]) == (3, False)
    assert "5)" in (project / "test_calc.py").read_text()


CODER = """
from kotef.extensions import RefusalError


class Own:
    seam = 1

    def declines(self, task):
        {declines}

    async def work(self, task):
        {work}
"""


@pytest.mark.examples(3)
@pytest.mark.parametrize(
    ("declines", "work"),
    [
        (FAILS, "return ''"),
        ("return None", "return ''"),
        ("return ''", FAILS),
        ("return ''", "raise SystemExit(1)"),
        ("return ''", "return 3"),
        ("task.workspace.write('calc.py', '')", "return ''"),
    ],
)
def test_a_coder_that_fails_found_nothing(project: Path, packages: ExtensionPackages, declines: str, work: str) -> None:
    packages.add("coders", CODER.format(declines=declines, work=work), point="own", attribute="Own")
    ran = kotef(project, "run", GOAL, *ONCE, "--coder", "own")
    assert (ran.code, ran.result["outcome"]) == (3, "stuck"), ran.stdout
    (declined,) = named(ran, "declined")
    assert "the coder own (kotef-own 2.0)" in declined["why"]
    assert "KOTEF_DISABLE_EXTENSIONS=own" in declined["why"]


def test_what_a_coder_changed_before_it_failed_is_judged(project: Path, packages: ExtensionPackages) -> None:
    fix = "task.workspace.write('calc.py', 'def add(a, b):\\n    return a + b\\n')"
    packages.add("coders", CODER.format(declines="return ''", work=f"{fix}; {FAILS}"), point="own", attribute="Own")
    ran = kotef(project, "run", GOAL, *ONCE, "--coder", "own")
    assert ran.code == 0
    assert "what it had changed is judged" in ran.stdout


def test_an_unknown_coder_is_a_usage_error_that_lists_those_of_extensions(
    project: Path, packages: ExtensionPackages
) -> None:
    packages.add_team("coders")
    ran = kotef(project, "run", GOAL, *ONCE, "--coder", "fixers,ownfx")
    assert ran.code == 2
    assert "'ownfx' is not understood" in ran.stderr
    assert "ownfix" in ran.stderr.replace("ownfx", "")


def test_a_fixer_of_an_extension_fixes(project: Path, packages: ExtensionPackages) -> None:
    packages.add_team("fixers")
    (project / "calc.py").write_text("def add(a, b):\n    return plus(a, b)\n")
    (project / "test_calc.py").write_text(UNITTEST_TEST)
    ran = kotef(project, "run", GOAL, "--check", PYTEST, "--max-attempts", "1", "--coder", "fixers")
    assert (ran.code, ran.result["winner"]) == (0, "fixers"), ran.stdout
    assert ran.result["edit"]["rationale"] == "calc.py:2: plus is +"


FIXER = """
from kotef.extensions import FixProposal, SourceEdit


class Bad:
    seam = 1
    errors = ["NameError"]

    def propose(self, complaint, project):
        {body}
"""


@pytest.mark.examples(3)
@pytest.mark.parametrize(
    "body",
    [
        FAILS,
        "yield 7",
        "yield FixProposal((SourceEdit('calc.py', 9, 1, ''),), 'x')",
        "yield FixProposal(({},), 'x')",
        "raise SystemExit(0)",
        "return 3",
    ],
)
def test_a_fixer_that_fails_proposes_nothing_more(project: Path, packages: ExtensionPackages, body: str) -> None:
    packages.add(
        "fixers", FIXER.format(body=body.replace("{}", "{{}}")).replace("{{}}", "{}"), point="bad", attribute="Bad"
    )
    (project / "calc.py").write_text("def add(a, b):\n    return plus(a, b)\n")
    ran = kotef(project, "run", GOAL, *ONCE, "--coder", "fixers")
    assert (ran.code, ran.result["outcome"]) == (3, "stuck"), ran.stdout
    (notice,) = (event["text"] for event in named(ran, "notice") if "fixer bad" in event["text"])
    assert "(kotef-own 2.0)" in notice
    assert notice.endswith("it proposes nothing more in this run")


def test_a_fixer_never_edits_a_test(project: Path, packages: ExtensionPackages) -> None:
    body = "yield FixProposal((SourceEdit('test_calc.py', 0, 0, 'plus = 1\\n'),), 'x')"
    packages.add("fixers", FIXER.format(body=body), point="bad", attribute="Bad")
    (project / "calc.py").write_text("def add(a, b):\n    return plus(a, b)\n")
    (project / "test_calc.py").write_text(UNITTEST_TEST)
    before = (project / "test_calc.py").read_text()
    ran = kotef(project, "run", GOAL, "--check", PYTEST, "--max-attempts", "1", "--coder", "fixers")
    assert ran.code == 3
    assert (project / "test_calc.py").read_text() == before
    assert not named(ran, "trying")


def verified_by(ran: Ran) -> list[str]:
    return [check["command"] for check in ran.result["checks"]]


def test_checks_of_extensions_come_on_top_of_those_of_the_project(
    project: Path, packages: ExtensionPackages, run
) -> None:
    packages.add_team("checks")
    (project / "tools").mkdir()
    (project / "tools" / "verify").write_text("grep -q 'a + b' calc.py\n")
    (project / ".sdd").mkdir()
    (project / ".sdd" / "kotef.toml").write_text(f'checks = ["{CHECK}"]\n')
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "tools")
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, "--max-attempts", "1")
    assert ran.code == 0, ran.stdout
    assert verified_by(ran) == [CHECK, "sh tools/verify"]
    checked = kotef(project, "check", "--no-compare", "--json")
    assert [one["command"] for one in json.loads(checked.stdout)["checks"]] == [CHECK, "sh tools/verify"]


def test_a_repository_cannot_make_a_check_of_an_extension_advisory(project: Path, packages: ExtensionPackages) -> None:
    """The same command in its own file, not required."""
    packages.add_team("checks")
    (project / "tools").mkdir()
    (project / "tools" / "verify").write_text("exit 1\n")
    (project / ".sdd").mkdir()
    entries = 'checks = ["true", { command = "sh tools/verify", required = false }]\n'
    (project / ".sdd" / "kotef.toml").write_text(entries)
    checked = kotef(project, "check", "--no-compare", "--json")
    assert checked.code == 3
    found = {one["command"]: one["required"] for one in json.loads(checked.stdout)["checks"]}
    assert found == {"true": True, "sh tools/verify": True}


def test_a_check_of_an_extension_does_not_stand_for_tests_that_cannot_start(
    project: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.add_team("checks")
    (project / "test_calc.py").unlink()
    (project / "go.mod").write_text("module x\n")
    (project / "x_test.go").write_text("package x\n")
    (project / "tools").mkdir()
    (project / "tools" / "verify").write_text("exit 0\n")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if (Path("/usr/bin/go")).exists():
        pytest.skip("go is on the shortest search path")
    checked = kotef(project, "check", "--no-compare")
    assert checked.code == 5
    assert "go" in checked.stderr


def test_a_resume_says_which_extensions_have_changed(
    project: Path, packages: ExtensionPackages, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.add_team("tools", "guards")
    assert run(project, Agent(coder=[DONE]), GOAL, *ONCE).code == 3
    monkeypatch.setenv("KOTEF_EXTENSIONS", "count_lines")
    with OpenAIServer(Agent(coder=[FIX, DONE])) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        ran = kotef(project, "resume", "--last", "--max-attempts", "2", "--base-url", server.base_url)
    assert ran.code == 0, ran.stdout + ran.stderr
    said = (
        "the extensions have changed since the run last worked: it continues without guard no-rewrites (kotef-team 1.0)"
    )
    assert said in ran.stdout
    assert [one["name"] for one in ran.result["extensions"]] == ["count_lines"]


@pytest.mark.parametrize("switched", ["all", "none"])
def test_a_replay_plays_what_extensions_answered(
    project: Path, packages: ExtensionPackages, run, monkeypatch: pytest.MonkeyPatch, switched: str
) -> None:
    packages.add_team("tools", "guards")
    rewrite = write("calc.py", "def add(a, b):\n    return a + b\n")
    agent = Agent(coder=[calls(call("count_lines", path="calc.py")), rewrite, FIX, DONE])
    assert run(project, agent, GOAL, *ONCE).code == 0
    monkeypatch.setenv("KOTEF_EXTENSIONS", switched)
    played = json.loads(kotef(project, "replay", "--json").stdout)
    if switched == "all":
        assert (played["same"], played["divergences"]) == (True, []), played
    else:
        assert "extensions that the run used are not active here" in str(played["notices"])


def test_a_replay_does_not_start_the_coder_of_an_extension(
    project: Path, packages: ExtensionPackages, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.add_team("coders")
    (project / "script").mkdir()
    mark = project.parent / "mark"
    (project / "script" / "fix").write_text(f"echo x >> {mark}\nsed -i 's/a - b/a + b/' calc.py\n")
    assert kotef(project, "run", GOAL, *ONCE, "--coder", "ownfix").code == 0
    monkeypatch.setenv("KOTEF_EXTENSIONS", "none")
    played = json.loads(kotef(project, "replay", "--json").stdout)
    assert played["same"], played
    assert mark.read_text() == "x\n"


def test_tools_of_extensions_are_listed(project: Path, packages: ExtensionPackages) -> None:
    packages.add_team("tools")
    rows = json.loads(CliRunner().invoke(main, ["tools", "--json"]).stdout)
    (own,) = (row for row in rows if row["name"] == "count_lines")
    assert (own["kind"], own["tier"]) == ("reader", "all")
    assert own["description"] == "Count the lines of a file. (kotef-team 1.0)"
    assert project.exists()
