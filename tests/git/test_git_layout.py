"""A repository that was hostile before the start leads kotef's own git to no program and to no other place."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kotef.errors import WorkspaceError
from kotef.git.commands import git, inspect, run_git
from kotef.tools import overview
from kotef.workspace import Snapshots

UserGit = Callable[..., str]


@pytest.fixture
def private(root: Path) -> Path:
    """Somebody's other repository, with a commit."""
    place = root.parent / "private"
    place.mkdir()
    (place / "a.py").write_text("def diary(): ...\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "PRIVATE"]):
        subprocess.run(["git", *words], cwd=place, check=True)
    return place


@pytest.fixture
def committed(root: Path, user_git: UserGit) -> Path:
    (root / "a.py").write_text("def ours(): ...\n")
    user_git("add", ".")
    user_git("commit", "-m", "first")
    return root


def test_a_working_tree_that_is_said_to_lie_elsewhere_does_not(
    committed: Path, user_git: UserGit, private: Path
) -> None:
    user_git("config", "core.worktree", str(private))
    plain = subprocess.run(["git", "diff"], cwd=committed, capture_output=True, text=True, check=True).stdout
    assert "diary" in plain, "the trap works: plain git steps into it"
    facts = inspect(committed)
    assert (facts.toplevel, facts.dirty) == (committed.resolve(), False)
    assert git(["diff"], cwd=committed, user_config=True) == b""
    snapshots = Snapshots.open(committed)
    assert snapshots.paths(snapshots.take()) == {"a.py"}
    assert snapshots.read(snapshots.take(), "a.py") == b"def ours(): ...\n"


def test_a_pointer_into_another_repository_is_refused(root: Path, private: Path) -> None:
    (root / "x").mkdir()
    (root / "x" / ".git").write_text(f"gitdir: {private}/.git\n")
    (root / "y").mkdir()
    (root / "y" / ".git").symlink_to(private / ".git")
    for place in (root / "x", root / "y"):
        assert "PRIVATE" in subprocess.run(["git", "log"], cwd=place, capture_output=True, text=True, check=True).stdout
        with pytest.raises(WorkspaceError, match="does not know this working tree"):
            inspect(place)
        with pytest.raises(WorkspaceError, match="does not know this working tree"):
            git(["log"], cwd=place)


def test_a_common_directory_of_another_repository_is_refused(committed: Path, private: Path) -> None:
    (committed / ".git" / "commondir").write_text(f"{private}/.git\n")
    assert (
        "PRIVATE"
        in subprocess.run(["git", "log", "main"], cwd=committed, capture_output=True, text=True, check=True).stdout
    )
    with pytest.raises(WorkspaceError, match="another repository"):
        git(["log", "main"], cwd=committed)


def test_links_to_the_refs_of_another_repository_are_refused(committed: Path, private: Path) -> None:
    (committed / ".git" / "objects" / "info" / "alternates").write_text(f"{private}/.git/objects\n")
    assert git(["log", "--format=%s"], cwd=committed) == b"first\n", "objects of a clone by reference are fine"
    (committed / ".git" / "refs" / "heads" / "theirs").symlink_to(private / ".git" / "refs" / "heads" / "main")
    assert (
        "PRIVATE"
        in subprocess.run(["git", "log", "theirs"], cwd=committed, capture_output=True, text=True, check=True).stdout
    )
    with pytest.raises(WorkspaceError, match="is a link to"):
        git(["log", "theirs"], cwd=committed)


@pytest.mark.parametrize("name", ["HEAD", "index", "config"])
def test_a_pipe_in_the_place_of_gits_files_holds_nothing_up(committed: Path, name: str) -> None:
    (committed / ".git" / name).unlink()
    os.mkfifo(committed / ".git" / name)
    with pytest.raises(WorkspaceError, match="neither a file nor a directory"):
        inspect(committed)


def test_worktrees_submodules_and_separate_directories_that_are_known_work(
    committed: Path, user_git: UserGit, private: Path
) -> None:
    user_git("worktree", "add", "-q", str(committed.parent / "tree"))
    assert inspect(committed.parent / "tree").branch == "tree"
    user_git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(private), "sub")
    assert inspect(committed / "sub").toplevel == (committed / "sub").resolve()
    (committed.parent / "apart").mkdir()
    subprocess.run(
        ["git", "init", "-q", f"--separate-git-dir={committed.parent}/apart.git"],
        cwd=committed.parent / "apart",
        check=True,
    )
    with pytest.raises(WorkspaceError, match="if it is yours: git config -f ") as error:
        inspect(committed.parent / "apart")
    said = str(error.value).partition("if it is yours: ")[2].removesuffix(")")
    subprocess.run(said.split(), check=True)
    assert inspect(committed.parent / "apart").is_repo, "the way out that was named is one"


def test_files_that_look_like_a_bare_repository_are_files(root: Path, private: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", "."], cwd=root, check=True)
    (root / "config").write_text(f"[core]\n\tbare = false\n\tworktree = {private}\n")
    assert not inspect(root).is_repo
    snapshots = Snapshots.open(root)
    assert "HEAD" in snapshots.paths(snapshots.take())


def test_names_of_the_index_that_lead_out_are_not_followed(committed: Path, private: Path) -> None:
    """Git refuses to add them; an index that came with the repository may hold them all the same."""
    index = committed / ".git" / "index"
    (committed / "xx_private_a.py").write_text("")
    subprocess.run(["git", "add", "."], cwd=committed, check=True)
    index.write_bytes(_signed(index.read_bytes().replace(b"xx_private_a.py", b"../private/a.py")))
    listed = run_git(["ls-files", "-c"], cwd=committed).stdout.decode()
    assert "../private/a.py" in listed, "the trap works: git says so"
    snapshots = Snapshots.open(committed)
    assert not any(path.startswith("..") for path in snapshots.paths(snapshots.take()))
    assert "diary" not in overview.overview(committed, ".")


def _signed(content: bytes) -> bytes:
    import hashlib

    return content[:-20] + hashlib.sha1(content[:-20], usedforsecurity=False).digest()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("format.pretty", "%G?", ["log"]),
        ("gpg.openpgp.program", "{program}", ["log", "--format=%G?"]),
        ("alias.status", "!{program}", ["status"]),
        ("diff.submodule", "diff", ["diff"]),
        ("submodule.sub.update", "!{program}", ["status"]),
        ("core.alternateRefsCommand", "{program}", ["log", "--all"]),
        ("include.path", "more", ["status"]),
        ("interactive.diffFilter", "{program}", ["diff"]),
        ("core.editor", "{program}", ["log"]),
    ],
)
def test_no_setting_of_a_repository_runs_a_program(
    committed: Path, user_git: UserGit, name: str, value: str, words: list[str]
) -> None:
    program, canary = committed.parent / "program", committed.parent / "canary"
    program.write_text(f"#!/bin/sh\ntouch {canary}\n")
    program.chmod(0o755)
    (committed / ".git" / "more").write_text(f"[core]\n\tfsmonitor = {program}\n[diff]\n\texternal = {program}\n")
    commit = git(["cat-file", "commit", "HEAD"], cwd=committed).decode()
    signed = commit.replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n", 1)
    made = git(["hash-object", "-t", "commit", "-w", "--stdin"], cwd=committed, stdin=signed.encode()).decode().strip()
    user_git("update-ref", "refs/heads/main", made)
    user_git("config", "gpg.program", str(program))
    user_git("config", name, value.format(program=program))
    (committed / "a.py").write_text("changed\n")
    run_git(words, cwd=committed)
    run_git(words, cwd=committed, user_config=True)
    assert not canary.exists()


@pytest.mark.parametrize("place", [".gitignore", ".gitattributes", ".git/info/exclude"])
def test_a_pipe_that_would_block_git_is_named_at_once(committed: Path, place: str) -> None:
    (committed / place).parent.mkdir(exist_ok=True)
    (committed / place).unlink(missing_ok=True)
    os.mkfifo(committed / place)
    with pytest.raises(WorkspaceError, match="remove it"):
        inspect(committed)


def test_git_gets_all_of_a_long_input_however_long_it_takes(committed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kotef.git.commands._PATIENCE", 0.0)
    monkeypatch.setattr("kotef.git.commands._SECONDS", 30.0)
    names = b"".join(b"%040d\n" % number for number in range(20_000))
    listed = run_git(["cat-file", "--batch-check"], cwd=committed, stdin=names).stdout
    assert listed.count(b" missing\n") == 20_000


def test_a_pipe_in_a_subfolder_is_found_while_git_waits(committed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kotef.git.commands._PATIENCE", 0.2)
    (committed / "a" / "b").mkdir(parents=True)
    (committed / "a" / "b" / "new.txt").touch()
    os.mkfifo(committed / "a" / "b" / ".gitignore")
    started = time.monotonic()
    with pytest.raises(WorkspaceError, match=r"a/b/\.gitignore: is a pipe"):
        inspect(committed)
    assert time.monotonic() - started < 20
