"""Commit of verified work on a new branch, without touching HEAD, index or files."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from kotef.errors import KotefError
from kotef.git import git_error, hooks_place, run_git, signing_settings
from kotef.redaction import redactor
from kotef.runs.branch import identity
from kotef.runs.commit_rules import CommitContent, RefusedError, ask, blob, must_be_committable, work_of
from kotef.runs.result import ResultBranch
from kotef.sdd.issue import one_line
from kotef.state import AgentState, Task
from kotef.workspace import Snapshots

SUBJECT: Final = 72
"""Characters of the first line of a message, as git and its hosts show it."""
_HOOK_SECONDS: Final = 600


def commit_work(state: AgentState, root: Path, snapshots: Snapshots) -> ResultBranch:
    """Commit a verified run on the branch its task names. Never raises: the result names the obstacle."""
    made = ResultBranch(name=state["task"].branch, base=state["task"].base)
    if 0 not in state["snapshots"]:
        return made.model_copy(update={"refused": "the snapshots of the run are lost"})
    try:
        work = work_of(state, root, snapshots)
        must_be_committable(work)
        return made.model_copy(update={"commit": _commit(work)})
    except (RefusedError, KotefError, OSError, subprocess.SubprocessError) as error:
        return made.model_copy(update={"refused": redactor().text(str(error))})


def message_of(task: Task) -> str:
    """A title of at most 72 characters, the checks that verified it, and trailers for the run and its coder."""
    subject = task.ticket.title if task.ticket and task.ticket.title else task.goal.partition("\n")[0]
    title = one_line(subject or f"Make {task.checks[0].command} pass", SUBJECT)
    ticket = f"Ticket: {one_line(task.ticket.path, 200)}\n\n" if task.ticket else ""
    checks = "".join(f"\n- {one_line(check.command, 200)}" for check in task.checks)
    who = f"Kotef-Model: {one_line(task.model, 200)}" if task.model else f"Kotef-Coder: {one_line(task.coder, 200)}"
    trailers = f"Kotef-Run: {task.run_id}\n{who}\n"
    return redactor().text(f"{title}\n\n{ticket}Verified by:\n{checks}\n\n{trailers}")


def _commit(work: CommitContent) -> str:
    root, task = work.root, work.task
    with tempfile.TemporaryDirectory(prefix="kotef-commit-") as scratch:
        index = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        ask(["read-tree", task.base], root, env=index)
        ask(["update-index", "-z", "--index-info"], root, env=index, stdin=b"".join(_lines(work)))
        tree = ask(["write-tree"], root, env=index).decode().strip()
        if tree == ask(["rev-parse", f"{task.base}^{{tree}}"], root).decode().strip():
            raise RefusedError("nothing differs after git has normalised the files")
        message = Path(scratch) / "message"
        message.write_text(message_of(task), encoding="utf-8")
        if task.commit_hooks:
            _run_hooks(root, index, message)
            if ask(["write-tree"], root, env=index).decode().strip() != tree:
                raise RefusedError("the pre-commit hook changed what would be committed, and the change was not judged")
        return _on_branch(root, task, tree, message)


def _lines(work: CommitContent) -> Iterator[bytes]:
    """The changes in the format of `update-index --index-info`; paths start at the repository's top."""
    prefix = ask(["rev-parse", "--show-prefix"], work.root).removesuffix(b"\n")
    for path, mode, content in work.contents():
        name = "0" * len(work.task.base) if content is None else blob(work.root, path, mode, content)
        yield f"{mode} {name}\t".encode() + prefix + os.fsencode(path) + b"\0"


def _on_branch(root: Path, task: Task, tree: str, message: Path) -> str:
    sign, programs = signing_settings(root)
    command = ["commit-tree", tree, "-p", task.base, *(["-S"] if sign else []), "-F", str(message)]
    done = run_git(command, cwd=root, env=identity(root), user_config=True, config=programs if sign else {})
    if done.returncode:
        error = git_error(done, command, root)
        raise RefusedError(f"it cannot be signed, as commit.gpgsign wants: {error}" if sign else str(error))
    commit, ref = done.stdout.decode().strip(), f"refs/heads/{task.branch}"
    # the empty old value: there must be no such branch, also where someone made one meanwhile
    update = ["update-ref", "-m", f"kotef: {task.run_id}", ref, commit, ""]
    done = run_git(update, cwd=root, user_config=True)
    if done.returncode:
        if made := _made_before(root, task, tree, ref):
            return made
        raise RefusedError(f"the branch cannot be created: {git_error(done, update, root)}")
    return commit


def _made_before(root: Path, task: Task, tree: str, ref: str) -> str:
    """The commit of this run, if it was killed after it had made its branch; else empty."""
    form = "--format=%H%n%T%n%P%n%(trailers:key=Kotef-Run,valueonly)"
    fields = run_git(["log", "-1", form, ref], cwd=root, user_config=True).stdout.decode("utf-8", "replace").split("\n")
    commit, *same = [*fields, "", "", ""][:4]
    return commit if same == [tree, task.base, task.run_id] else ""


def _run_hooks(root: Path, index: Mapping[str, str], message: Path) -> None:
    """Run pre-commit and commit-msg as `git commit` would; one that fails ends it."""
    place = hooks_place(root)
    top = os.fsdecode(ask(["rev-parse", "--show-toplevel"], root).removesuffix(b"\n"))
    environment = {**os.environ, **identity(root), **index, "GIT_EDITOR": ":"}
    for hook, *given in (["pre-commit"], ["commit-msg", str(message)]):
        if not os.access(place / hook, os.X_OK):
            continue
        done = subprocess.run(
            [place / hook, *given],
            cwd=top,
            env=environment,
            capture_output=True,
            check=False,
            timeout=_HOOK_SECONDS,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip()).decode("utf-8", "replace").splitlines()
            why = one_line(lines[-1], 300) if lines else f"exit {done.returncode}"
            raise RefusedError(f"the hook {hook} refused it: {why}")
