"""A workspace with the kinds of files that people have, and a list of everything that must not get lost."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

WORLD = """
set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c
repository() { git init -q -b main "$1"; echo one > "$1/a.txt"; mkdir -p "$1/pkg"; echo two > "$1/pkg/b.txt"
  git -C "$1" add .; git -C "$1" commit -qm first; }
umask 022
repository ../origin
repository .
mkdir -p src ro shared empty/a/b empty/c
echo app > src/app.py; echo run > src/run.sh; chmod 755 src/run.sh
echo key > secret.key; chmod 600 secret.key
echo const > ro/const.txt; chmod 444 ro/const.txt
chmod 2775 shared; echo s > shared/s.txt; chmod 664 shared/s.txt
printf '.env\\n*.db\\nbuild/\\nvendor/\\nhere\\n' > .gitignore
git add .; git commit -qm second
git -c protocol.file.allow=always submodule --quiet add "$PWD/../origin" sub; git commit -qm sub
git worktree add -q wt
echo changed >> sub/a.txt; echo new > sub/untracked.txt; chmod 600 sub/untracked.txt
echo changed >> wt/a.txt; echo new > wt/untracked.txt
repository inner
git -C inner commit -q --allow-empty -m unpushed; echo x > inner/a.txt; git -C inner stash -q
git -C inner branch other HEAD~1
echo '*.log' > inner/.gitignore; echo log > inner/x.log; echo changed >> inner/pkg/b.txt
git -C inner add .gitignore
repository inner/deep; echo changed >> inner/deep/a.txt
mkdir vendor build; repository vendor/lib; echo work > vendor/lib/work.txt
git clone -q "$PWD/../origin" vendor/pure
echo notes > notes.txt; ln -s src/app.py link; ln -s nowhere dangling; ln -s src folder; ln -s .env here
echo SECRET=1 > .env; chmod 600 .env; echo rows > local.db; echo o > build/out.o; mkdir build/empty
chmod 555 ro
"""
"""A shell script that makes a workspace with the kinds of files that people have."""

REPOSITORIES = ("sub", "wt", "inner", "inner/deep", "vendor/lib")
CLEAN = "vendor/pure"
"""A clone that git ignores and that contains nothing but pushed commits."""


def furnish(root: Path) -> bool:
    """Make the files in `root`, which need not be empty; returns whether extended attributes work here."""
    subprocess.run(["sh", "-c", WORLD], cwd=root, check=True, capture_output=True)
    try:
        for path in ("notes.txt", ".env", "src"):
            os.setxattr(root / path, "user.note", b"mine")
    except (AttributeError, OSError):
        return False
    return True


def belongings(root: Path) -> dict[str, object]:
    """Path → type, mode, content, link target, attributes; also refs and index of the repositories inside."""
    return dict(_belongings(root))


def _belongings(root: Path) -> Iterator[tuple[str, object]]:
    for place, folders, names in os.walk(root):
        here = Path(place)
        if here != root and (here / ".git").exists():
            yield f"{here.relative_to(root)}/.git", _git(here)
        folders[:] = [name for name in folders if name not in {".git", ".sdd", "__pycache__"}]
        if here == root / CLEAN:
            folders.clear()  # kotef only records that this repository existed
            continue
        for path in (here / name for name in (*folders, *names) if name != ".git"):
            yield str(path.relative_to(root)), _held(path)


def _held(path: Path) -> tuple[str, object, object]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return oct(mode), path.readlink(), {}
    attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)} if hasattr(os, "listxattr") else {}
    return oct(mode), path.read_bytes() if stat.S_ISREG(mode) else "", attributes


def _git(repository: Path) -> tuple[str, ...]:
    asked = ("for-each-ref", "symbolic-ref HEAD", "ls-files --stage", "rev-list --objects --all")
    git = ["git", "-C", str(repository)]
    done = [subprocess.run([*git, *each.split()], check=False, capture_output=True, text=True) for each in asked]
    return tuple(each.stdout for each in done)
