"""`kotef demo`: how runs end, shown on a machine without a key."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import click


@click.command()
@click.option(
    "--case", type=click.Choice(["solved", "impossible", "cheat", "deaf"]), help="Show only this one.  [default: all]"
)
@click.option("--keep", type=click.Path(file_okay=False), metavar="DIR", help="Keep the workspaces in DIR.")
@click.option("--open", "show", is_flag=True, help="Keep them, and open the report of each in a browser.")
def demo(case: str | None, keep: str | None, show: bool) -> None:
    """Show four outcomes on small example repositories; no key, no model, no network.

    \b
    Examples:
      kotef demo
      kotef demo --case cheat --keep /tmp/cheat

    One task is fixed by a search. One cannot be done by any honest edit and ends with its entry in .sdd/issues.md. In
    the last two a script plays a model. One deletes the failing test, which is put back before judging. The other
    returns an object that is equal to everything, which a wrong expected value in the test reveals. The graph, git,
    pytest and every file are real. Exit status 0 if all end as expected, else 1.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.demo_scenes import SCENES, play
    from kotef.cli.outputs import show_page
    from kotef.cli.screen import console
    from kotef.errors import UsageError
    from kotef.failures.outcomes import EXIT_STATUS
    from kotef.files import state_dir
    from kotef.report import PAGE_NAME
    from kotef.runs import store

    wanted = Path(keep) if keep else None
    if wanted is not None and wanted.exists() and any(wanted.iterdir()):
        raise UsageError(f"--keep {wanted}: not empty", hint="name a new or empty directory")

    screen = console()
    scenes = [scene for scene in SCENES if case in (None, scene.case)]
    who = " or ".join(dict.fromkeys("a script" if scene.cheats else "a search" for scene in scenes))
    screen.print(f"No key, no model, no network: {who} edits, pytest judges, and every file is real.\n")
    # the examples' `python -m pytest` must find the interpreter that kotef runs on, which has a pytest
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))

    home = Path(tempfile.mkdtemp(prefix="kotef-demo-")) if wanted is None else wanted.resolve()
    kept = home if show or wanted is not None else None
    try:
        results = [play(scene, home / scene.case, kept=kept is not None) for scene in scenes]
    finally:
        if kept is None:
            for scene in scenes:
                shutil.rmtree(state_dir(home / scene.case), ignore_errors=True)
            shutil.rmtree(home, ignore_errors=True)

    if show:
        for scene in scenes:
            show_page(store.find(home / scene.case, None).record / PAGE_NAME)
    if kept is not None:
        screen.print(f"The workspaces are in {kept}: read .sdd/issues.md and .sdd/runs/ there.")
    else:
        screen.print("The workspaces were removed; `kotef demo --keep DIR` keeps them.")
    screen.print("Next: `kotef doctor` in your own repository shows what `kotef run` needs there.")
    as_expected = [result.outcome in scene.ends for result, scene in zip(results, scenes, strict=True)]
    sys.exit(0 if all(as_expected) else EXIT_STATUS["crashed"])
