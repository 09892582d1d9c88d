"""An agent that kotef did not write, as the coder: the same loop, the same verdict."""

import contextlib
import json
import os
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.confined import need
from support.loop import CHECK, DONE, FIX, PYTEST, Agent, Ran, git, kotef, plan, unchanged
from support.openai_server import OpenAIServer

ROOT = Path(__file__).parents[2]
NAIVE = f"{sys.executable} {ROOT}/examples/agents/naive.py {{brief}}"
GOAL = "make add add"
FIXES = "from pathlib import Path\nPath('calc.py').write_text('def add(a, b):\\n    return a + b\\n')\n"


def agent(tmp_path: Path, code: str, name: str = "agent.py") -> str:
    """A program that is handed the brief; its command line."""
    file = tmp_path / name
    file.write_text(f"import os, sys\nfrom pathlib import Path\nbrief = Path(sys.argv[1]).read_text()\n{code}")
    return f"{sys.executable} {file} {{brief}}"


def run(project: Path, command: str, *more: str) -> Ran:
    return kotef(project, "run", GOAL, "--check", CHECK, "--coder", command, *more)


def brief_of(ran: Ran, visit: int = 1) -> str:
    return (ran.run_dir / f"visit-{visit}.brief.md").read_text()


def test_a_program_edits_and_the_checks_judge(project: Path, tmp_path: Path) -> None:
    with unchanged(project, "calc.py"):
        ran = run(project, agent(tmp_path, FIXES + "print('I changed one line.')"))
    assert (ran.code, ran.result["outcome"], ran.result["winner"]) == (0, "verified", "command")
    assert ran.result["attempts"][0]["said"] == "I changed one line."
    assert ran.result["usage"]["cost"] is None, "a program that does not tell is not taken for free"
    assert "the cost of this attempt is unknown" in ran.stdout
    assert "coder command gets the network" in ran.stdout
    assert not ran.server


def test_the_brief_tells_what_fails_what_judges_and_what_not_to_do(project: Path, tmp_path: Path) -> None:
    ran = run(project, agent(tmp_path, FIXES))
    told = brief_of(ran)
    for fact in (GOAL, CHECK, "test_add", "Do not commit", "Put back: test_calc.py", "Attempt 1 of 3"):
        assert fact in told, fact
    assert f"- {ran.result['checks'][0]['name']}: `{CHECK}`" in told


def test_a_program_can_say_that_it_cannot_be_done_honestly(project: Path, tmp_path: Path) -> None:
    said = "**report_contradiction: test_add | Two and three are five in one place only.\\nWhich one?**"
    ran = run(project, agent(tmp_path, f"print(brief)\nprint('I looked.')\nprint('{said}')"))
    assert (ran.code, ran.result["reason"]) == (6, "reported_contradiction")
    assert ran.result["contradiction"]["why"] == "Two and three are five in one place only.\nWhich one?"
    assert ran.result["failureHistory"]["attempts"] == 0
    assert "Two and three are five in one place only. Which one?" in " ".join(ran.stdout.split())


def test_a_wrong_claim_of_a_program_is_named_and_ends_nothing(project: Path, tmp_path: Path) -> None:
    ran = run(project, agent(tmp_path, FIXES + "print('report_contradiction: test_nothing | I do not like it.')"))
    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert "is not accepted: test_nothing passes" in " ".join(ran.stdout.split())


def test_a_failed_attempt_is_told_to_the_next(project: Path, tmp_path: Path) -> None:
    code = "if 'Attempt 1' in brief:\n    Path('calc.py').write_text('def add(a, b):\\n    return a * b\\n')\n"
    code += f"else:\n    {FIXES.splitlines()[1]}\n"
    ran = run(project, agent(tmp_path, code))
    assert (ran.code, ran.result["failureHistory"]["attempts"]) == (0, 1)
    told = brief_of(ran, 2)
    assert "What each attempt changed" in told
    assert "calc.py" in told.split("What each attempt changed")[1]


def test_a_program_that_fails_is_judged_all_the_same_and_its_last_words_are_told(project: Path, tmp_path: Path) -> None:
    code = "sys.stderr.write('\\x1b[31mno credit left\\x1b[0m\\n')\nsys.exit(7)\n"
    ran = run(project, agent(tmp_path, code))
    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded")
    assert ran.result["stoppedBy"] == "program_failed"
    assert [one["whyStopped"] for one in ran.result["attempts"]] == ["command exited with 7: no credit left"] * 3
    assert "no credit left" in brief_of(ran, 2)
    assert "no credit left" in ran.stdout


def test_what_it_did_before_it_failed_counts(project: Path, tmp_path: Path) -> None:
    ran = run(project, agent(tmp_path, FIXES + "sys.exit(1)"))
    assert (ran.code, ran.result["outcome"]) == (0, "verified")


def test_an_edited_test_is_put_back_and_does_not_count(project: Path, tmp_path: Path) -> None:
    with unchanged(project):
        ran = run(project, agent(tmp_path, "Path('test_calc.py').unlink()\n"))
    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded")


def test_what_it_commits_is_taken_back(project: Path, tmp_path: Path) -> None:
    before = git(project, "rev-parse", "HEAD")
    ran = run(project, agent(tmp_path, FIXES + "os.system('git commit -qam mine')"))
    assert ran.code == 0
    assert git(project, "rev-parse", "HEAD") == before
    assert git(project, "status", "--porcelain", "calc.py").strip() == "M calc.py"


def test_the_cheap_coder_goes_first(project: Path, tmp_path: Path) -> None:
    (project / "calc.py").write_text("def add(first, second):\n    return frist + second\n")
    command = agent(tmp_path, "Path('asked').touch()")
    ran = run(project, f"fixers,{command}")
    assert (ran.code, ran.result["winner"]) == (0, "fixers")
    assert not (project / "asked").exists()


def test_a_program_takes_over_from_a_search_that_found_nothing(project: Path, tmp_path: Path) -> None:
    (project / "calc.py").write_text("def add(*_):\n    return {'no': 'idea'}\n")
    ran = run(project, f"search:3s,{agent(tmp_path, FIXES)}")
    assert (ran.code, ran.result["winner"]) == (0, "command")
    assert "search: " in ran.stdout


def test_a_model_takes_over_from_a_program_that_changed_nothing(project: Path, monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    mini = tmp_path / "bin" / "mini"
    mini.write_text("#!/bin/sh\nexit 3\n")
    mini.chmod(0o755)
    monkeypatch.setenv("PATH", f"{mini.parent}:{os.environ['PATH']}")
    script = Agent(coder=[FIX, DONE])
    with OpenAIServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KOTEF_MODEL", "scripted")
        ran = run(project, "mini,model")
    assert (ran.code, ran.result["winner"]) == (0, "model")
    assert "mini exited with 3" in script.requests("coder")[0].text


def test_a_model_that_is_named_plans_for_a_program(project: Path, monkeypatch, tmp_path: Path) -> None:
    script = Agent(planner=[plan("swap the sign")])
    with OpenAIServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KOTEF_MODEL", "scripted")
        ran = run(project, agent(tmp_path, FIXES))
    assert ran.code == 0
    assert "swap the sign" in brief_of(ran)
    assert script.asked == {"planner": 1, "coder": 0, "reviewer": 0}


def test_a_key_alone_is_the_programs_and_no_model_is_asked_for(project: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-some-key-of-a-person")
    ran = run(project, agent(tmp_path, FIXES))
    assert (ran.code, ran.result["model"]) == (0, "")


def test_it_gets_no_secret_but_the_named_and_nothing_shows_it(project: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MY_API_KEY", "kept-very-secret-4711")
    monkeypatch.setenv("OTHER_API_KEY", "never-passed-on-0815")
    code = FIXES + "print('I have', os.environ.get('MY_API_KEY'), os.environ.get('OTHER_API_KEY'))\n"
    ran = run(project, agent(tmp_path, code), "--coder-env", "MY_API_KEY")
    assert ran.code == 0
    assert "variables MY_API_KEY" in ran.stdout
    assert ran.result["attempts"][0]["said"] == "I have [secret:MY_API_KEY] None"
    kept = "".join(path.read_text(errors="replace") for path in ran.run_dir.rglob("*") if path.is_file())
    assert "kept-very-secret-4711" not in kept + ran.stdout
    assert "never-passed-on-0815" not in kept + ran.stdout


def test_a_key_in_a_settings_file_that_it_gets_is_shown_nowhere(project: Path, monkeypatch, tmp_path: Path) -> None:
    key = "zq8J2mWx91LkTt55"
    settings = Path(os.environ["HOME"]) / ".config" / "mini-swe-agent" / ".env"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"MSWEA_MODEL_NAME=openai/gpt-4o-mini\nOPENAI_API_KEY='{key}'\n")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    mini = tmp_path / "bin" / "mini"
    mini.parent.mkdir()
    mini.write_text(f"#!/bin/sh\necho openai/gpt-4o-mini with {key}\nexit 3\n")
    mini.chmod(0o755)
    monkeypatch.setenv("PATH", f"{mini.parent}:{os.environ['PATH']}")
    ran = run(project, "mini", "--max-attempts", "1")
    assert ran.code == 3
    kept = b"".join(path.read_bytes() for path in (project / ".sdd").rglob("*") if path.is_file())
    assert key not in ran.stdout + ran.stderr
    assert key.encode() not in kept
    assert b"openai/gpt-4o-mini with [secret:mini_login_0]" in kept


def test_a_secret_in_the_goal_does_not_reach_the_brief(project: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MY_API_KEY", "kept-very-secret-4711")
    ran = kotef(project, "run", f"{GOAL} kept-very-secret-4711", "--check", CHECK, "--coder", agent(tmp_path, FIXES))
    assert "[secret:MY_API_KEY]" in brief_of(ran)
    assert "4711" not in brief_of(ran)


def test_a_program_that_says_nothing_any_more_is_ended(project: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("kotef.coders.command.coder.IDLE", 0.3)
    ran = run(project, agent(tmp_path, FIXES + "import time; time.sleep(60)"))
    assert (ran.code, ran.result["stoppedBy"]) == (0, "program_timeout")
    assert "no output for 0.3 s" in ran.result["attempts"][0]["whyStopped"]


def test_it_is_not_started_when_the_time_left_is_too_short(project: Path, tmp_path: Path) -> None:
    ran = run(project, agent(tmp_path, "Path('started').touch()"), "--max-time", "8")
    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (4, "budget_exceeded", "max_time")
    assert not (project / "started").exists()


def test_its_time_ends_before_that_of_the_judging(project: Path, monkeypatch, tmp_path: Path) -> None:
    """Here but for one second all that is left is the judging's, however slow this machine is."""
    monkeypatch.setattr("kotef.coders.command.coder.LEAST", 0.5)
    monkeypatch.setattr("kotef.runs.executor.RecordedExecutor.reserve", lambda shop: shop.clock.left() - 1)
    code = "import time\nPath('left.txt').touch()\nwhile True:\n    print('thinking', flush=True); time.sleep(0.1)\n"
    ran = run(project, agent(tmp_path, code), "--max-time", "600")
    assert (ran.code, ran.result["reason"]) == (4, "max_time")
    assert "was stopped after 1 s: the rest is reserved for judging" in ran.result["sentence"]
    assert (ran.run_dir / "visit-1.json").exists(), "what it left was judged"
    assert ran.result["usage"]["seconds"] < 300


def test_nothing_it_started_outlives_it(project: Path, tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    child = f"import time; time.sleep(1.5); open({str(mark)!r}, 'w')"
    code = FIXES + f"import subprocess\nsubprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)\n"
    ran = run(project, agent(tmp_path, code))
    assert ran.code == 0
    time.sleep(1.6)
    assert not mark.exists()


def test_the_chain_is_in_the_task_and_a_resume_goes_on_with_it(project: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MY_NAME", "passed")
    code = f"if os.environ['MY_NAME'] == 'passed' and (Path({str(tmp_path)!r}) / 'now').exists():\n    "
    command = f"fixers,{agent(tmp_path, code + FIXES.splitlines()[1])}"
    first = run(project, command, "--max-attempts", "1", "--coder-env", "MY_NAME")
    assert first.code == 3
    assert json.loads((first.run_dir / "task.json").read_text())["coder"] == command
    (tmp_path / "now").touch()
    again = kotef(project, "resume", "--last", "--max-attempts", "2")
    assert (again.code, again.result["winner"]) == (0, "command"), again.stdout + again.stderr


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("nosuchagent {brief}", "nosuchagent cannot be found"),
        ("python agent.py", "`python agent.py` does not say where the brief goes"),
        ("fixers,modell", "'modell' is not understood"),
        ("aider,aider --model x", "a coder is named twice"),
        ("true {brief}\nrm -r /", "the command has several lines"),
        ("~nobody-has-this/agent {brief}", "~nobody-has-this/agent cannot be found"),
        (f"./{'x' * 300} {{brief}}", "cannot be found"),
    ],
)
def test_a_command_that_cannot_be_used_is_said_before_anything_runs(project: Path, command: str, problem: str) -> None:
    ran = run(project, command)
    assert ran.code == 2
    assert problem in ran.stderr
    assert not (project / ".sdd").exists()


@pytest.mark.examples(1)
@pytest.mark.parametrize("word", ["~nobody-has-this", f"/{'x' * 300}"])
def test_a_word_of_its_command_that_is_no_file_is_the_programs_own(project: Path, tmp_path: Path, word: str) -> None:
    ran = run(project, agent(tmp_path, FIXES).replace(" {brief}", f" {{brief}} {word}"))
    assert (ran.code, ran.result["winner"]) == (0, "command"), ran.stderr


def test_a_program_that_is_missing_declines_in_a_chain(project: Path) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return {'no': 'idea'}\n")
    ran = run(project, "fixers,nosuchagent {brief}")
    assert (ran.code, ran.result["outcome"]) == (3, "stuck")
    assert "nosuchagent is not installed here" in ran.result["sentence"]


def test_a_limit_in_money_needs_a_program_that_tells_its_cost(project: Path, tmp_path: Path) -> None:
    ran = run(project, agent(tmp_path, FIXES), "--max-cost", "1")
    assert ran.code == 2
    assert "--max-cost: command does not report its cost" in ran.stderr


@pytest.mark.parametrize("more", [("--coder-env", "NO_SUCH_NAME"), ("--coder", "fixers", "--coder-env", "HOME")])
def test_a_variable_that_cannot_be_passed_is_a_usage_error(project: Path, tmp_path: Path, more) -> None:
    ran = run(project, agent(tmp_path, FIXES), *more)
    assert ran.code == 2
    assert "--coder-env" in ran.stderr


def test_a_command_with_a_secret_in_it_is_refused(project: Path, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MY_API_KEY", "kept-very-secret-4711")
    ran = run(project, f"{agent(tmp_path, FIXES)} --key kept-very-secret-4711")
    assert (ran.code, "contains the value of a secret" in ran.stderr) == (2, True)


def test_a_repositorys_command_needs_trust(project: Path, tmp_path: Path) -> None:
    (project / ".sdd").mkdir()
    command = agent(tmp_path, FIXES + f"(Path({str(tmp_path)!r}) / 'started').touch()")
    (project / ".sdd" / "kotef.toml").write_text(f"coder = {json.dumps(command)}\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "settings")
    ran = kotef(project, "run", GOAL, "--check", CHECK)
    assert "coder is ignored: this repository is not trusted" in ran.stdout
    assert not (tmp_path / "started").exists()
    git(project, "checkout", "-q", "calc.py")
    ran = kotef(project, "run", GOAL, "--check", CHECK, "--trust")
    assert (ran.code, ran.result["winner"]) == (0, "command")
    assert (tmp_path / "started").exists()


def example(tmp_path: Path, name: str) -> Path:
    root = tmp_path / name
    shutil.copytree(ROOT / "examples" / name, root, ignore=shutil.ignore_patterns("runs", "__pycache__"))
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    return root


def test_the_naive_agent_repairs_the_discount(tmp_path: Path) -> None:
    root = example(tmp_path, "discount")
    ran = kotef(root, "run", "--ticket", "01", "--check", PYTEST, "--coder", NAIVE)
    assert (ran.code, ran.result["outcome"], ran.result["winner"]) == (0, "verified", "command")
    assert git(root, "diff", "--stat", "--", "*.py").count("|") == 1
    assert "total // 10\n" in (root / "shop" / "cart.py").read_text()


def test_the_naive_agent_fails_honestly_at_a_contradiction(tmp_path: Path) -> None:
    """Without leave to change the test it would not even be asked."""
    root = example(tmp_path, "contradiction")
    more = ("--max-attempts", "1", "--allow-edits", "tests/test_format.py")
    ran = kotef(root, "run", "--ticket", "01", "--check", PYTEST, "--coder", NAIVE, *more)
    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded")
    assert "Nothing I tried makes the check pass" in ran.result["attempts"][0]["whyStopped"]
    assert ran.issues[0]["attempts"] == 1
    assert not git(root, "diff", "--", "*.py")


def lives(group: int) -> bool:
    """Whether a process of this group is at work; one that has ended may stay until somebody asks how."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, of, *_ = entry.read_text().rpartition(")")[2].split()
            if int(of) == group and state not in "ZX":
                return True
    return False


def test_the_naive_agent_outlives_a_change_that_loops_and_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`b` never ends with `i += 0`, and no change makes it 9."""
    before = "def b():\n    i = 0\n    while i < 3:\n        i += 1\n    return i\n"
    (tmp_path / "m.py").write_text(before)
    (tmp_path / "test_m.py").write_text("from m import b\n\n\ndef test_b():\n    assert b() == 9\n")
    check = "echo $$ >> pids; python -B -c 'import test_m; test_m.test_b()'"
    (tmp_path / "brief.md").write_text(f"- test_m.py::test_b\n\nChecks that judge\n- tests: `{check}`\n")
    monkeypatch.chdir(tmp_path)
    naive = runpy.run_path(str(ROOT / "examples" / "agents" / "naive.py"))
    monkeypatch.setitem(naive["main"].__globals__, "SECONDS", 2)
    assert naive["main"]("brief.md") == 1
    assert (tmp_path / "m.py").read_text() == before
    groups, until = [int(pid) for pid in (tmp_path / "pids").read_text().split()], time.monotonic() + 30
    while any(lives(group) for group in groups):
        assert time.monotonic() < until, "what a check started is still there"
        time.sleep(0.05)


def test_in_a_sandbox_it_sees_its_home_files_and_no_others(project: Path, monkeypatch, tmp_path: Path) -> None:
    """Its settings are a copy, its login is shared, git's files cannot be written, and its index is its own."""
    need("bwrap", project)
    home = Path(os.environ["HOME"])
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("model = 'x'\n")
    (home / ".codex" / "auth.json").write_text('{"tokens": {"access_token": "a-login-token-4711"}}')
    (home / "private").write_text("private")
    bin_ = home / "tools"
    bin_.mkdir()
    code = f"""#!{sys.executable}
import os, sys
from pathlib import Path
home = Path(os.environ["HOME"])
assert sys.argv[1] == "exec", sys.argv
assert "--dangerously-bypass-approvals-and-sandbox" in sys.argv
assert "make add add" in sys.stdin.read()
(home / ".codex" / "config.toml").write_text("changed")
login = home / ".codex" / "auth.json"
assert "a-login-token-4711" in login.read_text()
login.write_text('{{"tokens": {{"access_token": "a-new-token-4712"}}}}')
for path in ({str(home / "private")!r}, home / "private"):
    assert not Path(path).exists()
for path in (".git/config", ".sdd/mine", sys.argv[0]):
    try:
        Path(path).write_text("mine")
        sys.exit(f"{{path}} could be written")
    except OSError:
        pass
Path("calc.py").write_text("def add(a, b):\\n    return a + b\\n")
print('{{"type":"item.completed","item":{{"type":"agent_message","text":"done with a-login-token-4711"}}}}')
print('{{"type":"turn.completed","usage":{{"input_tokens":900,"cached_input_tokens":100,"output_tokens":50}}}}')
"""
    (bin_ / "codex").write_text(code)
    (bin_ / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    monkeypatch.setenv("KOTEF_SANDBOX", "bwrap")
    ran = run(project, "codex")
    assert (ran.code, ran.result["winner"]) == (0, "codex"), ran.result["attempts"]
    assert (home / ".codex" / "config.toml").read_text() == "model = 'x'\n"
    assert "a-new-token-4712" in (home / ".codex" / "auth.json").read_text()
    assert "~/.codex/config.toml (a copy); ~/.codex/auth.json (shared)" in ran.stdout
    assert ".git and .sdd are read-only" in ran.stdout
    usage = ran.result["usage"]
    assert (usage["tokensIn"], usage["tokensOut"], usage["tokensCached"], usage["cost"]) == (900, 50, 100, None)
    assert ran.result["attempts"][0]["said"] == "done with [secret:codex_login_0]"


ODD = "open(b'n\\xff\"m.txt', 'w').close()\n"
"""Makes a file whose name is no UTF-8."""


def test_a_file_name_that_is_no_utf_8_costs_the_run_nothing(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    ran = run(project, agent(tmp_path, f"{ODD}if 'Attempt 2' in brief:\n    {FIXES.splitlines()[1]}\n"), "--branch")
    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert ran.result["changed"] == ["calc.py", 'n?"m.txt']
    assert 'n?"m.txt' in (ran.run_dir / "report.md").read_text()
    assert 'n?"m.txt' in brief_of(ran, 2)
    assert next(line["changed"] for line in ran.events if line["event"] == "coder_finished") == ['n?"m.txt']
    asked = ["git", "ls-tree", "-z", "--name-only", ran.result["branch"]["commit"]]
    committed = subprocess.run(asked, check=True, cwd=project, capture_output=True).stdout
    assert b'n\xff"m.txt' in committed.split(b"\0")


def test_a_file_name_that_is_no_utf_8_is_told_of_a_run_that_fails(project: Path, tmp_path: Path) -> None:
    ran = run(project, agent(tmp_path, ODD), "--json")
    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded")
    assert json.loads(ran.stdout) == ran.result
    assert len(ran.issues) == 1
    assert not (ran.run_dir / "traceback.txt").exists()
    assert kotef(project, "rejudge").code == 0


def test_a_file_name_that_is_no_utf_8_may_have_been_there_or_be_written_by_a_check(
    project: Path, tmp_path: Path
) -> None:
    with (project / ".gitignore").open("a") as file:
        file.write("/kept\n")
    (project / "kept").mkdir()
    for name in (b"test_n\xff.py", b"n\xff.py"):
        Path(os.fsdecode(bytes(project / "kept") + b"/" + name)).touch()
    check = f"touch $(printf 'n\\377.txt'); {CHECK}"
    events: list[str] = []
    for _ in range(2):
        ran = kotef(project, "run", GOAL, "--check", check, "--coder", agent(tmp_path, FIXES))
        assert (ran.code, ran.result["outcome"], ran.result["left"]) == (0, "verified", [])
        git(project, "checkout", "calc.py")
        Path(os.fsdecode(bytes(project) + b"/n\xff.txt")).unlink()
        events = [line["event"] for line in ran.events]
    assert "baseline_reused" in events
