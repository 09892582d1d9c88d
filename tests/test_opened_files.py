"""Files are opened in one module. Every other module that opens files is listed here, with what it opens and why.

`kotef.files.safe_open` opens names that a repository, a command or a model can choose: without links, with a size
limit, and without blocking. A new row in `ELSEWHERE` is a design decision, like a new layer.
"""

import ast
import re
from pathlib import Path

import pytest
from support.source_trees import product_nodes

PACKAGE = Path(__file__).parent.parent / "kotef"
ONE_PLACE = "files/safe_open.py"
OF_PATHS = frozenset(
    re.findall(
        r"\w+",
        """
        chmod copy2 copyfile copytree fdopen fwalk glob hardlink_to iglob iterdir lchmod link_to listdir makedirs mkdir
        mkdtemp mkfifo mknod mkstemp open open_code read_bytes read_text removedirs rename rglob rmdir rmtree scandir
        symlink symlink_to touch unlink utime write_bytes write_text
        """,
    )
)
"""Names of functions and methods that open, list or change files, on whatever object they are called."""
NO_FILES = frozenset({"Snapshots", "session", "webbrowser"})
"""Objects with an `open` of their own, which opens no file."""
OF_MODULES = {
    "os": frozenset({"chown", "link", "remove", "renames", "replace", "truncate", "walk"}),
    "shutil": frozenset({"chown", "copy", "copymode", "copystat", "make_archive", "move", "unpack_archive"}),
    "tempfile": frozenset({"NamedTemporaryFile", "TemporaryDirectory", "TemporaryFile", "SpooledTemporaryFile"}),
}
"""The same, for names with another meaning elsewhere (`str.replace`, `ast.walk`)."""

STATE = "the state directory: private to kotef, outside of the workspace"
USER = "the user's configuration and home, which no repository writes"
NAMED = "a file that the person or the CI service named"
TEMPORARY = "a private temporary folder that this module makes"
SANDBOX = "the private home, caches and folders of the sandbox, below the state directory"
PACKAGED = "files of the package itself"
KERNEL = "/proc, /sys, /dev"
GIT = "below a `.git` that `git_layout` has checked: it may be elsewhere (worktrees), and its links are kept as links"
DESCRIPTOR = "names in a directory that `safe_open` opened, or a descriptor"
INSTALLED = "installed environments, found by patterns, outside and inside of the workspace"

OF_RUNS = frozenset(
    re.findall(
        r"\S+",
        """
        cli/screen/live.py coders/git_guard.py context/request_prefixes.py middleware/failure_reminder.py
        nodes/approval.py nodes/restore_best.py nodes/coder.py nodes/restore_protected_files.py nodes/snitch.py
        nodes/verifier.py runs/dead_runs.py runs/events.py runs/finish.py runs/event_tail.py runs/loop.py
        runs/exports/importer.py runs/prune.py runs/public_record.py replay/workspace_copy.py replay/record_types.py
        replay/recorder.py replay/rejudgement.py replay/comparison.py report/page_data.py
        report/failure_locations.py report/logs.py runs/setup.py runs/store.py runs/attempt_trees.py runs/elapsed_time.py
        mcp_server/background_run.py tools/background.py mcp_client/sessions.py workspace/ignored_backup.py sandbox/output.py
        workspace/last_tree.py workspace/file_swap_journal.py tools/stash.py
        """,
    )
)
"""These open the files of a run: its state, or the private copy of a foreign record. `safe_open` opens records."""

ELSEWHERE = dict.fromkeys(OF_RUNS, STATE) | {
    "runs/exports/archive.py": f"{NAMED}; a bundle of git in {STATE}",
    "runs/exports/writer.py": f"{NAMED}; {STATE}",
    "checks/baselines.py": f"baselines in {STATE}; only names of {INSTALLED}",
    "checks/projects/environment_stores.py": f"only names of {INSTALLED}, in {USER}",
    "checks/projects/environments.py": f"only names of {INSTALLED}",
    "checks/projects/pytest_command.py": f"only names of {INSTALLED}",
    "checks/toolchain_versions.py": f"names of installed versions, and nvm's aliases, in {USER}",
    "checks/runner.py": TEMPORARY,
    "checks/runners/go_rows.py": f"a program for `go test -exec` in {TEMPORARY}",
    "checks/runners/plugins/__init__.py": f"plug-ins, {PACKAGED}, copied into {TEMPORARY}",
    "checks/runners/plugins/goexec.py": f"runs in the project's process; its report goes into {TEMPORARY}",
    "checks/runners/plugins/sitecustomize.py": f"runs in the project's process; its report goes into {TEMPORARY}",
    "extensions/discovery.py": "metadata of distributions in the folders of the interpreter that runs kotef",
    "sandbox/go_cache.py": "runs inside the sandbox, as the go command would write its own cache",
    "cli/commands/classify.py": NAMED,
    "cli/commands/demo.py": f"only whether the folder that the person named is empty; {TEMPORARY}",
    "cli/commands/show.py": STATE,
    "cli/demo_scenes.py": f"examples, {PACKAGED}, copied into {TEMPORARY}, or into an empty folder that the person named",
    "cli/github.py": NAMED,
    "cli/mcp_doctor.py": TEMPORARY,
    "cli/screen/prompts.py": TEMPORARY,
    "cli/screen/console.py": KERNEL,
    "cli/ticket_file.py": NAMED,
    "coders/command/coder.py": f"a folder for objects of git in {SANDBOX}",
    "repair/worker/fork_pool.py": f"{TEMPORARY}; {KERNEL}",
    "repair/worker/restrictions.py": KERNEL,
    "repair/scratch.py": TEMPORARY,
    "repair/session.py": TEMPORARY,
    "repair/subprocess_search.py": f"copies of the workspace in {TEMPORARY}; links and special files are not copied",
    "context/template_cache.py": PACKAGED,
    "runs/base_branch.py": f"{STATE}; contents come from git's objects, never through a path",
    "runs/commit.py": TEMPORARY,
    "runs/config.py": USER,
    "runs/external_agents.py": f"{USER}; what is copied from there into {SANDBOX}",
    "runs/effective_settings.py": USER,
    "runs/logins.py": USER,
    "report/html.py": PACKAGED,
    "runs/roles.py": f"{USER}; {PACKAGED}",
    "mcp_client/log.py": DESCRIPTOR,
    "mcp_client/server_process.py": f"a folder for downloads of servers in {STATE}",
    "nodes/differences.py": STATE,
    "workspace/activity.py": STATE,
    "workspace/file_metadata.py": DESCRIPTOR,
    "files/folder_copy.py": DESCRIPTOR,
    "workspace/installed_environments.py": f"only names of {INSTALLED}",
    "workspace/nested_repositories.py": f"{GIT}; copies in {STATE}; only names in the workspace, links not followed",
    "workspace/remainder.py": STATE,
    "workspace/restoration.py": STATE,
    "workspace/protected_environments.py": f"only names of {INSTALLED}; {DESCRIPTOR}",
    "sandbox/caller.py": f"{KERNEL}, only of a command's thread",
    "sandbox/metadata.py": f"{KERNEL}; {DESCRIPTOR}",
    "sandbox/metadata_calls.py": KERNEL,
    "sandbox/seed.py": SANDBOX,
    "middleware/effect_log.py": "the ledger of a run; a path that `resolve_inside` has checked, of which a hash is kept",
    "sandbox/checkout.py": f"a copy of the workspace in {TEMPORARY}; {INSTALLED}",
    "workspace/file_entry.py": DESCRIPTOR,
    "git/commands.py": "the input of git, in a temporary file without a name",
    "git/history.py": GIT,
    "git/layout.py": f"only names, to find files that git would wait for, and {GIT}",
    "git/objects.py": GIT,
    "git/state.py": GIT,
    "workspace/lock.py": STATE,
    "git/patches.py": TEMPORARY,
    "files/paths.py": f"{STATE}; names in an open directory; logs of a run",
    "sandbox/process.py": DESCRIPTOR,
    "sandbox/confinement.py": SANDBOX,
    "sandbox/landlock.py": "opens what a command may touch without reading it (`O_PATH`)",
    "sandbox/limits.py": KERNEL,
    "sandbox/masks.py": "only names, links not followed",
    "sandbox/levels.py": TEMPORARY,
    "sandbox/private_home.py": SANDBOX,
    "sandbox/services.py": KERNEL,
    "sandbox/tool_folders.py": f"{DESCRIPTOR} that follows no link, in {STATE}; only names of {INSTALLED}",
    "sandbox/toolchains.py": f"{INSTALLED}; {USER}; {SANDBOX}",
    "sandbox/level_trial.py": "runs inside the sandbox, on the paths it is given",
    "workspace/loose_objects.py": f"snapshots in {STATE}",
    "workspace/snapshots.py": f"snapshots in {STATE}; in the workspace it only unlinks names",
    "files/transfer.py": f"{DESCRIPTOR}; {STATE}",
    "workspace/process_tree.py": KERNEL,
    "workspace/tree_store.py": f"snapshots, and a bundle of them, in {STATE}",
    "workspace/untracked_scan.py": "only names, links not followed; behind a link, names and stat results",
}


def opened(module: Path) -> list[str]:
    """The calls in a module that open, list or change files, with their lines."""
    nodes = product_nodes().get(module) or tuple(ast.walk(ast.parse(module.read_text())))
    imported = {
        alias.asname or alias.name: node.module or ""
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    calls = [node for node in nodes if isinstance(node, ast.Call) and _opens(node, imported)]
    return [f"{module.relative_to(PACKAGE)}:{call.lineno} {ast.unparse(call)[:90]}" for call in calls]


def _opens(call: ast.Call, imported: dict[str, str]) -> bool:
    match call.func:
        case ast.Name(id=name):
            known = imported.get(name, "builtins" if name == "open" else "")
            return known in {"builtins", "io", "os", *OF_MODULES} and (
                name in OF_PATHS or name in OF_MODULES.get(known, ())
            )
        case ast.Attribute(value=ast.Name(id=base), attr=name) if base in NO_FILES or name in OF_MODULES.get(base, ()):
            return base not in NO_FILES
        case ast.Attribute(attr="replace"):
            return _is_path(call)
        case ast.Attribute(attr=name):
            return name in OF_PATHS
        case _:
            return False


def _is_path(call: ast.Call) -> bool:
    """`Path.replace` takes one argument, `str.replace` two, `dataclasses.replace` names."""
    return isinstance(call.func, ast.Attribute) and len(call.args) == 1 and not call.keywords


MODULES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}


def test_a_module_opens_files_only_if_the_table_lists_it() -> None:
    others = MODULES.keys() - ELSEWHERE - {ONE_PLACE}
    calls = [call for name in sorted(others) for call in opened(MODULES[name])]
    assert not calls, "\n".join(["use kotef.files.safe_open instead:", *calls])


def test_each_row_is_still_needed() -> None:
    unneeded = [name for name in sorted(ELSEWHERE) if name not in MODULES or not opened(MODULES[name])]
    assert not unneeded


@pytest.mark.parametrize(
    "text",
    [
        "open(path)", "path.open()", "io.open(path)", "os.open(path, 0)", "path.read_text()", "path.write_bytes(b'')",
        "shutil.rmtree(path)", "shutil.move(a, b)", "os.replace(a, b)", "path.replace(other)", "os.walk(path)",
        "path.unlink()", "path.symlink_to(other)", "list(path.rglob('*'))", "tempfile.TemporaryDirectory()",
        "path.touch()", "path.rename(other)", "os.scandir()", "from shutil import rmtree\nrmtree(path)",
    ],
)  # fmt: skip
def test_the_scan_finds_each_way_to_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("test_opened_files.PACKAGE", tmp_path)
    (tmp_path / "x.py").write_text(text)
    assert opened(tmp_path / "x.py")


@pytest.mark.parametrize("text", ["'a'.replace('a', 'b')", "replace(value, name=1)", "ast.walk(tree)", "path.exists()"])
def test_the_scan_finds_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("test_opened_files.PACKAGE", tmp_path)
    (tmp_path / "x.py").write_text(text)
    assert not opened(tmp_path / "x.py")
