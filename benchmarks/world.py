"""Does `kotef check` say of public repositories what their maintainers' own commands say, and at what cost?

    python benchmarks/world.py benchmarks/world.toml --folder CHECKOUTS [--only NAME] [--fixes] [--setup] [--json]

The manifest lists repositories by address and commit, how the environment of each is made, and the command that a
maintainer runs. Each lies as a checkout in a folder of its name below --folder; with --setup what is missing there is
made first: the commit checked out, the setup commands run. Nothing is downloaded by this program itself.

  verdict   kotef check against the command by hand, green or red
  tests     how many ran: kotef, and the runner's own closing line by hand
  ids       how many of the tests that the runner names by hand have an id of kotef's
  cpu       CPU seconds of the check, without what kotef takes for a command that does nothing, over those by hand;
            the least of --rounds rounds each
  fix       (--fixes) the product's part of a commit of the project is taken back, its tests stay. What a run without
            a model ends with, and a run in which a scripted model makes the edit of that commit; and how often the
            tests were run for the baseline

The checkouts are changed for a fix and put back afterwards. The exit status is 1 when a verdict or a count differs.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from checkouts import (
    PATIENCE,
    Repository,
    by_hand,
    git,
    in_cpu_seconds,
    output_of,
    product_of,
    put_back,
    repository_of,
    set_up,
    taken_back,
)
from support.openai_server import OpenAIServer, Reply, Request, call, calls, text

KOTEF = (sys.executable, "-m", "kotef")
GOAL = "Make the failing tests pass."
RED = 3
"""Exit status of `kotef check`."""
CHEAP = 1.1
"""Times the CPU seconds by hand."""


@dataclass(frozen=True)
class Runner:
    """How the results of a test runner are read by hand, apart from kotef's own rows."""

    ran: str = ""
    """Pattern with the number of tests that ran; what several places say is added up. Without it, named tests count."""
    skipped: str = ""
    """Pattern with the number of skipped tests that `ran` counts too; a match that is no number stands for one."""
    closing: str = ""
    """Where this is given, only the last line that matches it is read for `ran`."""
    listing: str = ""
    """What follows the command so that the runner names each test; empty where the command does so already."""
    test: str = ""
    """Pattern of a line with the name of a test that ran; empty where the runner names none."""


@dataclass
class Fix:
    """What became of one commit that was taken back."""

    commit: str
    red: bool
    """By hand, after it was taken back."""
    alone: str = ""
    """Outcome of the run without a model."""
    edited: str = ""
    """Outcome of the run with the edit from a scripted model."""
    executions: int = 0
    """How often the tests were run for the baseline."""


@dataclass
class Row:
    """What was seen of one repository."""

    name: str
    language: str
    checks: list[str] = field(default_factory=list)
    """Commands that kotef detected and required."""
    tests: list[str] = field(default_factory=list)
    """Of these, those that run tests."""
    by_hand: str = ""
    verdict: str = ""
    detail: str = ""
    ran_by_hand: int | None = None
    ran: int | None = None
    named: int = 0
    """Tests that the runner names by hand."""
    known: int = 0
    """Of these, those with an id of kotef's."""
    evidence: str = ""
    cpu_by_hand: float = 0.0
    cpu: float = 0.0
    fixes: list[Fix] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        """Whether verdict and count are those by hand."""
        return self.verdict == self.by_hand and (self.ran or 0) == (self.ran_by_hand or 0)


def main() -> None:
    """Measure each repository, and print a line for it."""
    options = read_options()
    manifest = tomllib.loads(options.manifest.read_text(encoding="utf-8"))
    runners = {name: Runner(**fields) for name, fields in manifest["runner"].items()}
    repositories = [repository_of(entry) for entry in manifest["repository"]]
    if unknown := set(options.only or ()) - {repository.name for repository in repositories}:
        sys.exit(f"not in the manifest: {', '.join(sorted(unknown))}")
    rows = []
    for repository in repositories:
        if options.only and repository.name not in options.only:
            continue
        checkout = options.folder / repository.name
        if options.setup:
            set_up(repository, checkout)
        if not (checkout / ".git").exists():
            print(f"{repository.name:20} no checkout in {options.folder}", file=sys.stderr)
            continue
        rows.append(measured(repository, runners[repository.runner], checkout, options))
        print(as_line(rows[-1]), file=sys.stderr if options.json else sys.stdout, flush=True)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        print_summary(rows)
    sys.exit(0 if rows and all(row.agrees for row in rows) else 1)


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="TOML, see benchmarks/world.toml")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="where the checkouts lie")
    parser.add_argument("--only", action="append", metavar="NAME", help="this repository; may be given several times")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="measure CPU seconds so often (1)")
    parser.add_argument("--fixes", action="store_true", help="also take commits back, and run kotef on that")
    parser.add_argument("--setup", action="store_true", help="make the checkouts' environments where they are missing")
    parser.add_argument("--json", action="store_true", help="print JSON; progress goes to stderr")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if options.rounds < 1:
        parser.error("--rounds is at least 1")
    return options


def measured(repository: Repository, runner: Runner, checkout: Path, options: argparse.Namespace) -> Row:
    """Everything that is asked of one repository."""
    row = Row(repository.name, repository.language)
    with put_back(checkout):
        report = checked(checkout)
        hand = by_hand(repository.command, checkout)
        note(row, report, hand, checkout)
        row.ran_by_hand = ran_of(runner, output_of(hand))
        if runner.test:
            listed = by_hand(repository.listing or repository.command + runner.listing, checkout)
            named = re.findall(runner.test, output_of(listed), re.MULTILINE)
            row.named, row.known = len(set(named)), known_of(set(named), report)
            row.ran_by_hand = row.ran_by_hand if runner.ran else len(named)
        row.cpu_by_hand, row.cpu = cpu_of(repository, row, checkout, options.rounds)
    if options.fixes:
        row.fixes = [with_fix(repository, commit, checkout) for commit in repository.fix]
    return row


def cpu_of(repository: Repository, row: Row, checkout: Path, rounds: int) -> tuple[float, float]:
    """CPU seconds by hand, and of a check of the same tests without what any check costs; the least of the rounds."""
    hand, kotef, nothing = [], [], []
    for _ in range(rounds):
        hand.append(in_cpu_seconds(lambda: by_hand(repository.command, checkout)))
        if row.tests:
            kotef.append(in_cpu_seconds(lambda: checked(checkout, *(f"--check={command}" for command in row.tests))))
            nothing.append(in_cpu_seconds(lambda: checked(checkout, "--check=true")))
    return min(hand), max(0.0, min(kotef, default=0.0) - min(nothing, default=0.0))


def note(row: Row, report: Mapping[str, Any], hand: "subprocess.CompletedProcess[bytes]", checkout: Path) -> None:
    """What the check said beside the same commands by hand."""
    required = [check for check in report.get("checks", []) if check["required"]]
    tests = [check for check in required if check["role"] == "test"]
    others = [check["command"] for check in required if check["role"] != "test"]
    statuses = [hand.returncode, *(by_hand(command, checkout).returncode for command in others)]
    row.by_hand = "red" if any(statuses) else "green"
    row.verdict = "red" if report.get("exitCode") == RED else "broken"
    if report.get("green"):
        row.verdict = "green"
    row.detail = report.get("detail") or ""
    row.tests, row.checks = [check["command"] for check in tests], [check["command"] for check in required]
    row.ran = sum(check["testsRun"] or 0 for check in tests) if tests else None
    row.evidence = ",".join(sorted({check["evidence"] for check in tests}))


def ran_of(runner: Runner, output: str) -> int | None:
    """The runner's own count; None where it tells none."""
    if runner.closing:
        closing = [line for line in output.splitlines() if re.search(runner.closing, line)]
        output = closing[-1] if closing else ""
    found = list(re.finditer(runner.ran, output, re.MULTILINE)) if runner.ran else []
    skipped = re.findall(runner.skipped, output, re.MULTILINE) if runner.skipped else []
    if not found:
        return None
    ran = sum(int(number) for match in found for number in match.groups() if number)
    return ran - sum(int(number) if number.isdigit() else 1 for number in skipped)


def known_of(named: Collection[str], report: Mapping[str, Any]) -> int:
    """How many of the names are those of tests in a report of kotef's; an id may have a place in front."""
    ids = [test for check in report.get("checks", []) for test in check["tests"] or ()]
    known = {test[at:] for test in ids for at in (0, *(match.end() for match in re.finditer("::", test)))}
    return sum(name in known for name in named)


def checked(checkout: Path, *arguments: str) -> dict[str, Any]:
    """What `kotef check --json` says; empty where it says nothing that can be read."""
    words = [*KOTEF, "check", "--json", "--no-compare", "--reruns=0", "--root", str(checkout), *arguments]
    done = subprocess.run(words, capture_output=True, cwd=checkout, timeout=PATIENCE, check=False)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [""]
        return {"exitCode": done.returncode, "detail": said[-1]}
    return found


def with_fix(repository: Repository, commit: str, checkout: Path) -> Fix:
    """Take the product's part of a commit back, and run kotef on that: without a model, and with the right edit."""
    patch = git(checkout, "diff", f"{commit}^", commit, "--", *product_of(checkout, commit)).stdout
    fix = Fix(commit, red=False)
    with put_back(checkout):
        right = taken_back(checkout, patch)
        fix.red = by_hand(repository.command, checkout).returncode != 0
        fix.alone = run(checkout, "--coder", "fixers,search")
    with put_back(checkout):
        right = taken_back(checkout, patch)
        with OpenAIServer(lambda request, _: answer(request, right)) as server:
            os.environ |= {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
            fix.edited = run(checkout, "--coder", "model", "--model", "scripted")
        fix.executions = executions(checkout)
    return fix


def answer(request: Request, right: Mapping[str, str]) -> Reply:
    """What a model that knows the edit says."""
    if "write_file" not in json.dumps(request.body.get("tools") or []):
        return calls(
            call("PlanAnswer", hypothesis="", steps=[{"description": "edit", "files": list(right)}], blocked="")
        )
    turn = sum(message["role"] == "tool" for message in request.messages)
    if turn == 0:
        return calls(*(call("view_file", path=path) for path in right))
    if turn == len(right):
        return calls(*(call("write_file", path=path, content=content) for path, content in right.items()))
    return text("Done.")


def run(checkout: Path, *arguments: str) -> str:
    """How a run ends: its outcome, and the reason where it did not succeed."""
    words = [*KOTEF, "run", GOAL, "--json", "--root", str(checkout), *arguments]
    done = subprocess.run(words, capture_output=True, cwd=checkout, timeout=PATIENCE, check=False)
    try:
        result = json.loads(done.stdout)
    except ValueError:
        return f"exit {done.returncode}"
    return result["outcome"] if done.returncode == 0 else f"{result['outcome']} ({result['reason']})"


def executions(checkout: Path) -> int:
    """How often the tests were run before the first edit."""
    events = [json.loads(line) for file in checkout.glob(".sdd/runs/*/events.jsonl") for line in file.open()]
    started = [event["check"] for event in events if event["event"] == "check_started" and event["visit"] == 0]
    return max((started.count(check) for check in started), default=0)


def as_line(row: Row) -> str:
    """One repository."""
    same = "same" if row.agrees else "DIFFERS"
    ratio = f"{row.cpu / row.cpu_by_hand:.2f}x" if row.cpu and row.cpu_by_hand else "-"
    told = f"{row.verdict} {row.ran if row.ran is not None else '-'}"
    hand = f"{row.by_hand} {row.ran_by_hand if row.ran_by_hand is not None else '-'}"
    ids = f"{row.known}/{row.named}" if row.named else "-"
    lines = [
        f"{row.name:16} {row.language:7} {same:8} {told:13} by hand {hand:13} ids {ids:11} {row.evidence:7}"
        f" cpu {row.cpu_by_hand:6.2f} s {ratio:6} {'; '.join(row.checks)} {row.detail}".rstrip()
    ]
    lines += [
        f"    {fix.commit[:10]} {'red' if fix.red else 'not red'}; alone: {fix.alone}; edited: {fix.edited};"
        f" baseline ran the tests {fix.executions}x"
        for fix in row.fixes
    ]
    return "\n".join(lines)


def print_summary(rows: Sequence[Row]) -> None:
    """What holds for how many."""
    same = sum(row.verdict == row.by_hand for row in rows)
    counted = sum((row.ran or 0) == (row.ran_by_hand or 0) for row in rows)
    per_test = sum(row.evidence in {"report", "lines"} for row in rows)
    ratios = sorted(row.cpu / row.cpu_by_hand for row in rows if row.cpu and row.cpu_by_hand)
    fixes = [fix for row in rows for fix in row.fixes]
    print(
        f"\n{len(rows)} repositories: verdict as by hand {same}, count as by hand {counted}, tests by name {per_test}"
    )
    if ratios:
        cheap = sum(ratio <= CHEAP for ratio in ratios)
        print(
            f"CPU over by hand: median {ratios[len(ratios) // 2]:.2f}x, at most {CHEAP:g}x in {cheap} of {len(ratios)}"
        )
    if fixes:
        alone = sum(fix.alone == "verified" for fix in fixes)
        edited = sum(fix.edited == "verified" for fix in fixes)
        once = sum(fix.executions == 1 for fix in fixes)
        print(f"{len(fixes)} fixes: verified without a model {alone}, with the edit {edited}; one baseline in {once}")


if __name__ == "__main__":
    main()
