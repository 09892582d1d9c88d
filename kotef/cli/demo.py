"""What do kotef's two endings look like, on a machine without a model?"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from langchain_core.messages import AIMessage

from kotef.cli.running import say_result
from kotef.cli.screen import Screen, console, plain
from kotef.context.prompts import PACKAGE, Prompts
from kotef.errors import UsageError
from kotef.failures.outcomes import Outcome
from kotef.models.scripted import ScriptedChatModel, calls, says
from kotef.runs import store
from kotef.runs.prepare import Request, prepare
from kotef.runs.result import Result
from kotef.runs.start import Models, Setting, start

NAME = "scripted"


@dataclass(frozen=True, slots=True)
class Scene:
    """One example repository, what the scripted model does in it, and how it must end."""

    example: str
    about: str
    ends: Outcome
    plans: tuple[AIMessage, ...]
    edits: tuple[AIMessage, ...]


def _plan(step: str, file: str, hypothesis: str = "") -> AIMessage:
    steps = [{"description": step, "files": [file], "addresses": ""}]
    return calls("PlanAnswer", hypothesis=hypothesis, steps=steps, blocked="")


def _visit(path: str, search: str, replace: str, words: str) -> tuple[AIMessage, ...]:
    """Look, edit, run the checks, finish: what the scripted coder does in one visit."""
    return (
        calls("view_file", path=path),
        calls("edit_file", path=path, edits=[{"search": search, "replace": replace}]),
        calls("run_checks"),
        says(words),
    )


CART = "shop/cart.py"
FORMAT = "clock/format.py"
SCENES = (
    Scene(
        example="discount",
        about="a task that is fixed at the second attempt",
        ends="verified",
        plans=(
            _plan("Take off ten percent instead of one", CART),
            _plan("Round the discount up", CART, "ten does not divide 999: the discount was rounded down"),
        ),
        edits=(
            *_visit(CART, "return total // 100", "return total // 10", "TEN now takes off a tenth."),
            *_visit(CART, "return total // 10\n", "return -(-total // 10)\n", "The tenth is rounded up now."),
        ),
    ),
    Scene(
        example="contradiction",
        about="a task that no honest edit can do: two tests want the opposite of each other",
        ends="bounded_attempts_exceeded",
        plans=(
            _plan("Pad the hours to two digits", FORMAT),
            _plan("Pad with a space instead", FORMAT, "padding with a zero broke test_an_hour"),
            _plan("Pad from ten hours on", FORMAT, "padding always broke something"),
        ),
        edits=(
            *_visit(FORMAT, "{hours}:", "{hours:02}:", "Hours are padded with a zero."),
            *_visit(FORMAT, "{hours:02}:", "{hours:2}:", "Hours are padded with a space."),
            *_visit(FORMAT, "{hours:2}:", "{hours}:", "Hours are padded only where they need it."),
        ),
    ),
)


def demo_command(keep: Path | None) -> int:
    """`kotef demo`; 0 when both scenes ended as they must."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UsageError(f"--keep {keep}: not empty", hint="name a new or an empty directory")
    screen = console()
    screen.print("The model is scripted: its answers are fixed. The graph, git, pytest and every file are real.\n")
    # the examples' `python -m pytest` must find the interpreter that kotef runs on, which has a pytest
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    home = Path(tempfile.mkdtemp(prefix="kotef-demo-")) if keep is None else keep.resolve()
    try:
        results = [_play(scene, home / scene.example) for scene in SCENES]
    finally:
        if keep is None:
            shutil.rmtree(home, ignore_errors=True)
    if keep is not None:
        screen.print(f"\nBoth workspaces are in {keep}: read .sdd/issues.md and .sdd/runs/ there.")
    as_expected = [result.outcome == scene.ends for result, scene in zip(results, SCENES, strict=True)]
    screen.print("\nNext: `kotef doctor` in a repository of yours tells what it needs for `kotef run`.")
    return 0 if all(as_expected) else 1


def _play(scene: Scene, root: Path) -> Result:
    """Copy the example, make it a git repository, work on its ticket, and show what came of it."""
    screen = console()
    screen.print(f"── {scene.example}: {scene.about}", style="bold")
    _copy(scene.example, root)
    run = store.create(root)
    prepared = prepare(
        Request(ticket="01"), root, run_id=run.run_id, coder=NAME, model=NAME, planner_model=NAME, base_url=""
    )
    models = Models(
        coder=ScriptedChatModel(replies=list(scene.edits)),
        planner=ScriptedChatModel(replies=list(scene.plans)),
        coder_name=NAME,
    )
    view = Screen(max_attempts=prepared.task.limits.max_attempts)
    setting = Setting(root, lambda _: models, Prompts(), watchers=(view,), notices=prepared.notices)
    with view.watching():
        result = start(run, prepared.task, setting)
    say_result(result)
    if scene.ends == "verified":
        _show(
            "git diff",
            subprocess.run(
                ["git", "diff", "-U0", "--", ":!.sdd"], cwd=root, capture_output=True, text=True, check=True
            ).stdout,
        )
    else:
        entry = (root / ".sdd" / "issues.md").read_text(encoding="utf-8")
        seen = [line for line in entry.splitlines() if not line.startswith("<!--")]
        _show(".sdd/issues.md, as Markdown shows it", "\n".join(seen))
    return result


def _copy(example: str, root: Path) -> None:
    inside = PACKAGE / "examples"
    source = (inside if inside.is_dir() else PACKAGE.parent / "examples") / example
    shutil.copytree(source, root, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", "runs"))
    who = ("-c", "user.name=kotef demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", f"The {example} example")):
        _git(command, root)


def _git(arguments: Sequence[str], root: Path) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def _show(title: str, text: str) -> None:
    screen = console()
    screen.print(f"\n{title}:", style="bold")
    for line in plain(text).splitlines():
        screen.print(f"  {line}")
    screen.print("")
