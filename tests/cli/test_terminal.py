"""What a person sees and types at a real terminal: the live view, the questions of -i, Ctrl-C, and the plain ways."""

import io
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest
from rich.console import Console
from support.loop import BUG, CHECK, DONE, FIX, FIXED, TEST, UNITTEST, UNITTEST_TEST, Agent, Ran, git, plan
from support.openai_server import OpenAIServer, call, calls, paced
from support.terminal import Terminal

from kotef.cli.screen import Screen
from kotef.cli.screen.prompts import TerminalPrompts
from kotef.deps import Option

VIEWS = [calls(call("view_file", path=path)) for path in ("a.txt", "b.txt", "c.txt")]
Start = Callable[..., Terminal]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for name, text in {"calc.py": BUG, "test_calc.py": TEST, "a.txt": "", "b.txt": "", "c.txt": ""}.items():
        (root / name).write_text(text)
    git(root, "init", "-q")
    return root


@pytest.fixture
def start(project: Path) -> Iterator[Start]:
    """`start(agent, *arguments, columns=…, **env)`: `kotef run` at a terminal."""
    servers: list[OpenAIServer] = []

    def go(
        agent: Agent,
        *arguments: str,
        columns: int = 100,
        env: Mapping[str, str] | None = None,
        command: Sequence[str] = (),
        check: str = CHECK,
        cold: bool = False,
    ) -> Terminal:
        server = OpenAIServer(agent)
        server.__enter__()
        servers.append(server)
        where = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        line = command or ["run", "make add add", "--check", check, "--coder", "model", *arguments]
        return Terminal(line, project, columns=columns, env={**where, **(env or {})}, cold=cold)

    yield go
    for server in servers:
        server.__exit__()


def ran(root: Path, status: int) -> Ran:
    return Ran(status, "", "", root)


@pytest.mark.examples(1)
@pytest.mark.parametrize("cold", [False, True], ids=["loaded", "from the start of the interpreter"])
def test_a_run_as_a_person_sees_it(project: Path, start: Start, cold: bool) -> None:
    (project / "test_calc.py").write_text(UNITTEST_TEST)
    agent = Agent(coder=[*VIEWS, calls(call("run_command", command="sleep 3")), FIX, DONE])
    with start(agent, check=UNITTEST, cold=cold) as screen:
        screen.see(
            lambda shown: (
                any("view_file 3 times: a.txt, b.txt, c.txt ✓" in line for line in shown)
                and any("↳ run_command sleep 3 … 0:" in line for line in shown)
                and "attempt 1 of 3 · coder · run_command sleep 3" in shown[-1]
                and " of 2M tokens · 0:" in shown[-1]
                and shown[-1].endswith(" of 60 min")
            )
        )
        assert screen.end() == 0
    shown = screen.text
    assert shown.count("    -    return a - b\n    +    return a + b\n") == 1, "when the edit is made, and not again"
    assert "    ✗ test_calc.py::Add::test_add: AssertionError: -1 != 5 (test_calc.py:8)" in shown
    assert "attempt 1: before → after" in shown
    assert " of 60 min" not in shown, "of the live view nothing stays behind"
    assert {"green", "red"} <= screen.colours


def test_the_words_of_a_model_are_seen_while_they_arrive_and_folded_afterwards(project: Path, start: Start) -> None:
    words = "I look at the sum first, then at the test.\n" + "\n".join(f"Point {number}." for number in range(9))
    looking = paced(calls(call("view_file", path="a.txt"), content=words), 0.1)
    with start(Agent(coder=[looking, FIX, DONE])) as screen:
        screen.see(lambda shown: "  › I look at the sum" in "\n".join(shown) and "attempt 1 of 3" in shown[-1])
        assert "Point 8" not in screen.text
        assert screen.end() == 0
    assert "  › I look at the sum first, then at the test.\n    Point 0.\n    Point 1.\n" in screen.text
    assert "7 more lines (-v shows them)" in screen.text


def test_quiet_leaves_checks_attempts_and_the_ending(project: Path, start: Start) -> None:
    with start(Agent(coder=[*VIEWS, FIX, DONE]), "--quiet") as screen:
        assert screen.end() == 0
    assert "verified at attempt 1 of 3" in screen.text
    assert "baseline: python test_calc.py: exit 1" in screen.text
    assert not [word for word in ("↳", "›", "return a + b") if word in screen.text]


QUESTION = "Is the discount taken before the tax or after it?"


def test_the_first_line_of_a_question_stays_on_a_small_screen() -> None:
    """The diffs of the answers share what the question and the prompt leave of it."""
    page = io.StringIO()
    paper = Console(file=page, force_terminal=True, width=80, height=24, color_system=None, highlight=False)
    prompts = TerminalPrompts(paper, nullcontext)
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1,30 +1,30 @@\n" + "-old\n" * 30 + "+new\n" * 30
    options = [Option(f"answer {number}", diff) for number in range(3)]
    room = prompts._room(QUESTION, options)
    paper.print(QUESTION)
    for number, option in enumerate(options, 1):
        paper.print(f"  {number}. {option.answer}")
        prompts._show_diff(option.diff, room)
    lines = page.getvalue().splitlines()
    assert len(lines) + 2 <= 24, "and the prompt below them"
    assert lines[0] == QUESTION
    assert sum("more lines" in line for line in lines) == 3


def test_a_question_in_wide_characters_stays_on_a_small_screen() -> None:
    page = io.StringIO()
    paper = Console(file=page, force_terminal=True, width=80, height=24, color_system=None, highlight=False)
    prompts = TerminalPrompts(paper, nullcontext)
    question = "割引は税の前ですか、後ですか？" * 15
    assert prompts._room(question, [Option("前", "")]) <= 24 - 6 - 1 - 3, "six lines of 80 columns hold 225 characters"


def test_nothing_is_drawn_while_a_line_is_printed_above_the_view() -> None:
    """Else rich erases as many lines as the view had before, and one of them stays behind."""
    screen = Screen(screen=Console(file=io.StringIO(), force_terminal=True, width=80))
    free: list[bool] = []
    with screen.watching():
        view = screen._live
        assert view is not None
        printed = screen.screen.print

        def printing(*objects: object, **options: object) -> None:
            other = threading.Thread(target=lambda: free.append(view._lock.acquire(blocking=False)))
            other.start()
            other.join()
            printed(*objects, **options)

        screen.screen.print = printing
        screen._tell("a line")
        screen.screen.print = printed
    assert free == [False]


def test_the_plan_is_edited_in_the_editor_then_typed_then_approved(project: Path, start: Start, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/fix add/fix add by hand/' \"$1\"\n")
    editor.chmod(0o755)
    agent = Agent(coder=[FIX, DONE])
    with start(agent, "-i", env={"EDITOR": str(editor)}) as screen:
        screen.until("or quit (q)? ")
        assert (project / "calc.py").read_text() == BUG
        screen.type("e\n")
        screen.until("1. fix add by hand")
        screen.until("or quit (q)? ")
        screen.type("what\n")
        screen.until("or quit (q)? ")
        screen.type("A\n")
        assert screen.end() == 0, screen.text
    assert "fix add by hand" in agent.requests("coder")[0].text
    assert ran(project, 0).result["attempts"][0]["steps"] == ["fix add by hand"]


def test_without_an_editor_the_steps_are_typed_and_ctrl_c_at_the_question_stops_at_once(
    project: Path, start: Start
) -> None:
    with start(Agent(), "-i") as screen:
        screen.until("or quit (q)? ")
        screen.type("e\n")
        screen.until("1. ")
        screen.type("first\n")
        screen.until("2. ")
        screen.type("\n")
        screen.until("1. first")
        screen.until("or quit (q)? ")
        screen.type("\x03")
        assert screen.end() == 130, screen.text
    assert ran(project, 130).result["reason"] == "SIGINT"
    assert "stopping after" not in screen.text


@pytest.mark.examples(1)
@pytest.mark.parametrize("long", [False, True])
def test_every_word_of_a_plan_is_shown_once_before_it_is_approved(project: Path, start: Start, *, long: bool) -> None:
    steps = ["Fix the sum.\nThen delete tests/legacy", "look here " * (40 if long else 4) + "and rewrite setup.py"]
    with start(Agent(planner=[plan(*steps)]), "-i") as screen:
        screen.until("or quit (q)? ")
        shown = "".join(screen.text.split())
        screen.type("q\n")
        assert screen.end() == 130
    assert all("".join(step.split()) in shown for step in steps)
    assert shown.count("setup.py") == 1, "what was shown whole is not shown again"


def test_a_later_plan_is_not_called_the_first_edit(project: Path, start: Start) -> None:
    with start(Agent(coder=[DONE]), "--max-attempts", "1") as screen:
        assert screen.end() == 3
    with start(Agent(), command=["resume", "--last", "-i", "--max-attempts", "2"]) as screen:
        screen.until("Attempt 2 has not edited anything yet. Approve this plan (a)")
        assert "Nothing has been edited yet" not in screen.text
        screen.type("q\n")
        assert screen.end() == 130


def test_one_ctrl_c_lets_the_command_end_and_says_so_at_once(project: Path, start: Start) -> None:
    work = calls(call("run_command", command="touch begun.txt; sleep 2; touch done.txt"))
    with start(Agent(coder=[work, FIX, DONE])) as screen:
        screen.see(lambda _: (project / "begun.txt").exists())
        screen.type("\x03")
        screen.until("stopping after the current step; Ctrl-C again stops at once")
        assert not (project / "done.txt").exists()
        assert screen.end() == 130
    assert (project / "done.txt").exists()
    assert "resume: kotef resume" in screen.text


def test_a_closed_window_interrupts_the_run_with_its_result_and_its_entry(project: Path, start: Start) -> None:
    work = calls(call("run_command", command="touch begun.txt; sleep 60"))
    with start(Agent(coder=[work, FIX, DONE])) as screen:
        screen.see(lambda _: (project / "begun.txt").exists())
        status = screen.close_window()
    ended = ran(project, status)
    assert (status, ended.result["exitCode"], ended.result["reason"]) == (129, 129, "SIGHUP")
    assert [entry["outcome"] for entry in ended.issues] == ["interrupted"]


LONG = calls(call("run_command", command=f"sleep 3 # {'long ' * 30}"))


def view(shown: list[str]) -> list[str]:
    """The two lines of the live view; empty where other lines stand at the end of the screen."""
    return shown[-2:] if "↳ run_command sleep 3" in shown[-2] and shown[-1].startswith("attempt 1 of 3") else []


def test_on_a_narrow_terminal_every_line_of_the_view_fits_whatever_columns_is_exported(
    project: Path, start: Start
) -> None:
    (project / "test_calc.py").write_text(UNITTEST_TEST)
    with start(Agent(coder=[LONG, FIX, DONE]), columns=40, env={"COLUMNS": "100"}, check=UNITTEST) as screen:
        screen.see(lambda shown: bool(view(shown)))
        screen.until("… 0:02")
        assert sum(line.startswith("attempt 1 of 3 · ") for line in screen.text.splitlines()) == 1
        assert screen.end() == 0, screen.text
    assert " of 60 min" not in screen.text, "of the live view nothing stays behind"
    assert "    unittest -q: exit 1 → passed" in screen.text, "and there is no room for a table"


def test_an_error_is_wrapped_at_blanks_on_a_narrow_terminal(project: Path) -> None:
    with Terminal(["run", "x", "--coder", "somebody-whom-nobody-knows"], project, columns=40) as screen:
        assert screen.end() == 2
    shown = screen.text.split("\n")
    assert shown[0].startswith("kotef: error: ")
    assert len(shown) > 2
    told = " ".join(line.strip() for line in shown)
    assert "'somebody-whom-nobody-knows' is not understood" in told
    assert "coders are fixers, search, model" in told, "no word is cut"


def test_a_terminal_that_is_resized_is_used_in_its_whole_width(project: Path, start: Start) -> None:
    with start(Agent(coder=[LONG, FIX, DONE]), columns=100) as screen:
        screen.see(lambda shown: bool(view(shown)) and len(view(shown)[0]) > 70)
        screen.resize(40, 40)
        screen.see(lambda shown: bool(view(shown)) and view(shown)[0].endswith(tuple(f"… 0:0{n}" for n in range(9))))
        screen.resize(100, 40)
        screen.see(lambda shown: bool(view(shown)) and len(view(shown)[0]) > 70)
        assert screen.end() == 0, screen.text
    assert (project / "calc.py").read_text() == FIXED
    assert "tests run" in screen.text, "with the table that a wide screen has room for"


@pytest.mark.examples(1)
@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"CI": "1"}, {"NO_COLOR": "1"}], ids=lambda env: next(iter(env)))
def test_where_a_live_view_or_colours_are_not_wanted_there_are_none(
    project: Path, start: Start, env: Mapping[str, str]
) -> None:
    with start(Agent(coder=[FIX, DONE]), env=env) as screen:
        assert screen.end() == 0
    assert "verified at attempt 1 of 3" in screen.text
    if "NO_COLOR" in env:
        assert screen.colours == {"default"}
    else:
        assert b"\x1b[?25l" not in screen.written, "no cursor is hidden, so nothing is drawn over"
