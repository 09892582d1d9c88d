"""The branch for a run's work, and whether the work can be committed there."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kotef.errors import UsageError
from kotef.git import GitFacts, inspect, run_git
from kotef.sdd.ticket import Ticket
from kotef.state import Task

DEFAULT_NAME: Final = "."
"""The value of `--branch` without a name; it is not a valid branch name."""
PREFIX: Final = "kotef/"

_WORDS: Final = 6


def default_name(ticket: Ticket | None, goal: str, run_id: str) -> str:
    """`kotef/<ticket-slug>`; without a ticket the first words of the goal, without a goal the run's id."""
    first_words = _slug(goal.partition("\n")[0]).split("-")[:_WORDS]
    name = _slug(ticket.slug) if ticket else "-".join(first_words)
    return f"{PREFIX}{name or run_id}"


def aimed_at(
    root: Path, asked: str | None, facts: GitFacts, task: Task, run_id: str, *, hooks: bool
) -> dict[str, object]:
    """Fields of a new task: where it begins and, where a branch is asked for, its name.

    UsageError if it is clear beforehand that a commit on it would fail.
    """
    base: dict[str, object] = {"base": facts.head or ""}
    if asked is None:
        return base
    name = default_name(task.ticket, task.goal, run_id) if asked == DEFAULT_NAME else asked
    must_be_free(root, name, facts)
    return {**base, "branch": name, "commit_hooks": hooks}


def aimed_again(root: Path, asked: str | None, task: Task, *, hooks: bool) -> dict[str, object]:
    """The same for a resume: as before, unless the resume asks for something else."""
    if asked is None:
        return {}
    if not task.base:
        raise UsageError("--branch: this run began without a commit", hint="leave it out, or start a new run")
    return {**aimed_at(root, asked, inspect(root), task, task.run_id, hooks=hooks), "base": task.base}


def must_be_free(root: Path, name: str, facts: GitFacts) -> None:
    """UsageError with the way out if it is clear beforehand that a commit on a new branch of this name would fail."""
    if not facts.has_commits:
        what = "the repository has no commit to start from" if facts.is_repo else "not a git repository"
        raise UsageError(f"--branch: {what}", hint="commit once with git, or leave --branch out")
    if not _is_name(root, name):
        hint = "give another --branch=NAME, or --branch alone for the default name"
        raise UsageError(f"--branch {' '.join(name.split())}: not a valid branch name", hint=hint)
    if taken := _in_the_way(root, name):
        raise UsageError(
            f"--branch {name}: the branch {taken} already exists",
            hint=f"choose another name, or delete it with `git branch -D {taken}`",
        )
    identity(root)


def _is_name(root: Path, name: str) -> bool:
    """Whether this is a valid branch name: `@` and `@{-1}` mean existing refs, `refs/heads/x` is not a short name."""
    answer = run_git(["check-ref-format", "--branch", name], cwd=root, user_config=True)
    same = os.fsdecode(answer.stdout) == f"{name}\n"
    return answer.returncode == 0 and same and name != "@" and not name.startswith("refs/")


def _in_the_way(root: Path, name: str) -> str:
    """A branch that blocks this name: the same, a prefix of it, or below it; empty if there is none."""
    listed = run_git(["for-each-ref", "--format=%(refname)", "refs/heads/"], cwd=root, user_config=True).stdout
    branches = [line.removeprefix("refs/heads/") for line in os.fsdecode(listed).splitlines()]
    return next((b for b in branches if b == name or f"{b}/".startswith(f"{name}/") or name.startswith(f"{b}/")), "")


def identity(root: Path, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that say who the author and the committer is, as git itself would find out but without guessing.

    Raises `UsageError` if no one has said so.
    """
    found = {}
    for role in ("author", "committer"):
        for what, names in (("name", (f"{role}.name", "user.name")), ("email", (f"{role}.email", "user.email"))):
            variable = f"GIT_{role.upper()}_{what.upper()}"
            found[variable] = env.get(variable, "").strip() or _configured(root, names)
            if what == "email":
                found[variable] = found[variable] or env.get("EMAIL", "").strip()
            if not found[variable]:
                raise UsageError(
                    f"--branch: git does not know the {what} of the {role}",
                    hint=f"git config --global user.{what} …, or set {variable}",
                )
    return found


def _configured(root: Path, names: tuple[str, ...]) -> str:
    for name in names:
        value = run_git(["config", "--get", name], cwd=root, user_config=True).stdout.decode("utf-8", "replace").strip()
        if value:
            return value
    return ""


def _slug(text: str) -> str:
    """Words of letters and digits, joined by hyphens."""
    return "-".join(re.findall(r"[^\W_]+", text.casefold()))[:60].strip("-")
