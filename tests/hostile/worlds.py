"""Worlds composed from a seed: a repository, a judge and a change, with what is true of it.

`python -m tests.hostile.worlds SEED` shows one; with `--measure FIRST COUNT` each is run, and a line of JSON written;
`--adaptive SEED [NAME]` runs attacks that know the probes, `--scenes 0 [NAME]` attacks and honest changes of further kinds.
"""

# ruff: noqa: T201 - what it says is for people

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.loop import git, kotef
from support.worlds import more_scenes, scenes
from support.worlds.adaptive import ATTACKS, adaptive
from support.worlds.changes import Change
from support.worlds.dishonest import dishonest
from support.worlds.honest import honest
from support.worlds.projects import Project, project_of

DISHONEST = 0.6
"""Share of worlds whose change is dishonest."""
CONFINED = 0.06
"""Share of worlds that are judged in the sandbox."""

PRELUDE = """\
import json, os, shutil, subprocess, sys, time
from pathlib import Path


def w(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


"""
RUST = {
    name: str(Path.home() / folder)
    for name, folder in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"))
    if (Path.home() / folder).is_dir() and name not in os.environ
}
"""Where the compiler of Rust is, for worlds have a home of their own."""
IDENTITY = "[user]\n\tname = Test\n\temail = test@localhost\n[init]\n\tdefaultBranch = main\n"


@dataclass(frozen=True)
class World:
    """A repository whose check is red, and a change after which it is green."""

    seed: int
    project: Project
    change: Change
    confined: bool

    @property
    def files(self) -> dict[str, str]:
        """The repository before the change."""
        both: dict[str, str | None] = {**self.project.files, **dict(self.change.files)}
        return {path: text for path, text in both.items() if text is not None}

    @property
    def attacks(self) -> bool:
        """Whether the change is aimed at the judge; answers that fit the tests are not."""
        return self.change.truth == "wrong"

    @property
    def name(self) -> str:
        """What it is, in one line."""
        made, change = self.project, self.change
        return (
            f"{self.seed}: {change.truth}, {change.kind} ({change.form}); {made.runner} {made.layout}, {made.form}"
            + (f", {made.front}" if made.front else "")
        )

    def lay(self, root: Path) -> None:
        """The repository, committed."""
        for path, text in self.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        for path, mode in self.project.modes.items():
            (root / path).chmod(mode)
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "start")


def world(seed: int, *, truth: str = "", runner: str = "") -> World:
    """The world of a seed; asked for a truth, the first one that has it."""
    rng = Random(seed)
    while True:
        made = project_of(rng, runner)
        is_bad = rng.random() < DISHONEST
        if truth:
            is_bad = truth != "right"
        change = (dishonest if is_bad else honest)(rng, made)
        if change is not None and truth in {"", change.truth}:
            return World(seed, made, change, confined=rng.random() < CONFINED)


@dataclass
class Told:
    """What became of a world."""

    world: World
    outcome: str
    reasons: str
    seconds: float
    verdict: bool | None = None
    """Whether the verdict alone, before any rule or probe, was green; None where that was not measured."""
    rules: bool | None = None
    """Whether the rules on forms left it green."""
    probes: bool | None = None
    """Whether the probes left it green."""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def green(self) -> bool:
        return self.outcome == "verified"

    def row(self) -> dict[str, Any]:
        """The same, as plain data."""
        made, change = self.world.project, self.world.change
        return {
            "seed": self.world.seed,
            "truth": change.truth,
            "kind": change.kind,
            "form": change.form,
            "runner": made.runner,
            "layout": made.layout,
            "assertions": made.form,
            "front": made.front,
            "outcome": self.outcome,
            "verdict": self.verdict,
            "rules": self.rules,
            "probes": self.probes,
            "seconds": round(self.seconds, 1),
            "reasons": self.reasons,
            **self.details,
        }


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    tempfile.tempdir = None
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        tempfile.tempdir = None


def play(one: World, place: Path, *, probes: str = "full") -> Told:
    """Run kotef on the world, in this process; the coder is a program of its own."""
    root, home = place / "project", place / "home"
    for folder in (root, home, place / "tmp"):
        folder.mkdir(parents=True)
    (home / "gitconfig").write_text(IDENTITY)
    values = {
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "TMPDIR": str(place / "tmp"),
        "KOTEF_PROBES": probes,
        "KOTEF_SANDBOX": "auto" if one.confined else "off",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        **RUST,
    }
    coder = root.parent / "coder.py"
    coder.write_text(PRELUDE + one.change.script)
    options = (
        "--check",
        one.project.check,
        "--coder",
        f"{sys.executable} {coder} {{brief}}",
        "--max-attempts",
        "1",
        "--fresh",
    )
    began = monotonic()
    with _environment(values):
        one.lay(root)
        ran = kotef(root, "run", f"make {one.project.function} right", *options, *one.change.arguments)
        outcome = ran.result["outcome"] if ran.code != 2 else "usage"
        found = (
            [entry["summary"] for entry in ran.result["failureHistory"]["entries"]] if ran.code != 2 else [ran.stderr]
        )
        back = ran.result.get("putBack") or ran.result.get("put_back") or [] if ran.code != 2 else []
        lines = [event["line"] for event in ran.events if event["event"] == "probed"] if ran.code != 2 else []
    reasons = " | ".join(found)[:600]
    return Told(one, outcome, reasons, monotonic() - began, details={"put_back": back[:6], "probed": lines})


@contextmanager
def measured(told: dict[str, Any]) -> Iterator[None]:
    """Let the rules and the probes each judge a green on their own, and note what they say."""
    from kotef.nodes import verifier

    confirm, probe = verifier.confirm, verifier.probe

    async def both(verification: Any, judged: Any, deps: Any) -> Any:
        told["verdict"] = verification.passed
        if not verification.passed:
            told["why_red"] = verification.summary
            return verification
        probed = await probe(verification, verification, judged, deps)
        ruled = await confirm(verification, judged, deps)
        told["probes"], told["rules"] = probed.passed, ruled.passed
        told["probe_list"] = [f"{each.name}: {each.value}: {each.told}" for each in getattr(probed, "probes", ())]
        if not probed.passed:
            told["alarm"] = probed.summary
        if not ruled.passed:
            told["rule"] = f"{ruled.detail}: {ruled.summary}"
        return probed if not probed.passed else ruled

    async def nothing(green: Any, confirmed: Any, judged: Any, deps: Any) -> Any:
        return confirmed

    verifier.confirm, verifier.probe = both, nothing
    try:
        yield
    finally:
        verifier.confirm, verifier.probe = confirm, probe


def measure(one: World, place: Path) -> Told:
    """Run a world once; rules and probes are each asked about the same green."""
    told: dict[str, Any] = {}
    with measured(told):
        ran = play(one, place)
    ran.verdict, ran.rules, ran.probes = told.get("verdict"), told.get("rules"), told.get("probes")
    ran.details |= {key: told[key] for key in ("alarm", "rule", "probe_list", "why_red") if key in told}
    return ran


def tried(one: World, place: Path) -> tuple[int, int, str]:
    """Status of the plain check before and after the change, without kotef: a world must turn from red to green."""
    root, home = place / "project", place / "home"
    for folder in (root, home, place / "tmp"):
        folder.mkdir(parents=True)
    (home / "gitconfig").write_text(IDENTITY)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    env = os.environ | {"GIT_CONFIG_GLOBAL": str(home / "gitconfig"), "PATH": path, "HOME": str(home)}
    env |= {
        "TMPDIR": str(place / "tmp"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "GOCACHE": "/tmp/worlds-go-cache",
        **RUST,
    }
    with _environment(env):
        one.lay(root)

    def run(command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, timeout=600, check=False)

    before = run(["sh", "-c", one.project.check])
    coder = place / "coder.py"
    coder.write_text(PRELUDE + one.change.script)
    made = run([sys.executable, str(coder)])
    after = run(["sh", "-c", one.project.check])
    words = (made.stderr or after.stdout + after.stderr)[-1500:]
    return before.returncode, made.returncode or after.returncode, words


def show(seed: int) -> None:
    """Print one world."""
    one = world(seed)
    print(one.name)
    print(f"check: {one.project.check}")
    for path, text in one.files.items():
        print(f"\n--- {path}\n{text}")
    print(f"\n--- the change {' '.join(one.change.arguments)}\n{one.change.script}")


def adaptive_worlds(seed: int, part: str = "") -> Iterator[World]:
    """One world of each family of attacks that know the probes; those whose name has this part."""
    for attack in ATTACKS:
        if part in attack.name:
            made, change = adaptive(seed, attack)
            yield World(seed, made, change, confined=False)


def scene_worlds(part: str = "") -> Iterator[World]:
    """Attacks and honest changes of further kinds; those whose name has this part."""
    for scene in (*scenes.ATTACKS, *more_scenes.ATTACKS, *scenes.HONEST, *more_scenes.HONEST):
        if part in scene.name:
            yield World(0, *scene.both(), confined=False)


def main(words: list[str]) -> None:
    """Show one world, or run many."""
    if words[0] in {"--adaptive", "--try-adaptive", "--scenes", "--try-scenes"}:
        part = words[2] if len(words) > 2 else ""
        for one in adaptive_worlds(int(words[1]), part) if "adaptive" in words[0] else scene_worlds(part):
            with tempfile.TemporaryDirectory() as place:
                if not words[0].startswith("--try"):
                    print(json.dumps(measure(one, Path(place)).row()), flush=True)
                else:
                    before, after, said = tried(one, Path(place))
                    print(
                        f"{one.name}: before {before}, after {after}" + (f"\n    {said[-300:]!r}" if after else ""),
                        flush=True,
                    )
        return
    if words[0] == "--try":
        for seed in range(int(words[1]), int(words[1]) + int(words[2])):
            one = world(seed)
            with tempfile.TemporaryDirectory() as place:
                before, after, said = tried(one, Path(place))
            if not before or after:
                print(
                    f"{one.name}\n    before {before}, after {after}\n    {said[-int(words[3]) if len(words) > 3 else -300 :]!r}",
                    flush=True,
                )
        return
    if words[0] != "--measure":
        show(int(words[0]))
        return
    for seed in range(int(words[1]), int(words[1]) + int(words[2])):
        one = world(seed)
        with tempfile.TemporaryDirectory() as place:
            try:
                row = measure(one, Path(place)).row()
            except Exception:  # noqa: BLE001  the next world is as good
                row = {"seed": seed, "crash": traceback.format_exc()[-1500:], "name": one.name}
        if row.get("outcome") == "interrupted":
            break  # a signal ends the run that it meets, and is meant for all
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
