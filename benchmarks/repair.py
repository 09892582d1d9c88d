"""How many small slips does the search repair, how many of them rightly, and how fast?

Every folder below DIR that holds program.py, reference.py, test_program.py and inputs.py is a problem (see
benchmarks/repair/README.md for the layout). The search sees the program and its tests only; of its three best patches
the first that passes the tests in a fresh process is compared with the reference on 200 random inputs.

  correct     the patched program gives the results of the reference
  wrong       it passes the tests and yet differs
  refused     no patch passed the tests in a fresh process
  nothing     no candidate passed within the time
  declined    the search said that it cannot

  plausible   correct + wrong
  accepted    of these, those that the search hands over without a question to a person (`kotef run` ends `verified`);
              the others end `blocked`, with the question; precision is that of the accepted
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from problems import COMMAND, ENVIRONMENT, Problem, compare, fault_of, find_problems, is_green, lay_out

CONFIRMED = 3
"""Patches that are tried in a fresh process, as in the search coder."""
Verdict = Literal["correct", "wrong", "refused", "nothing", "declined"]


@dataclass(frozen=True)
class Result:
    """What became of one problem."""

    name: str
    half: str
    style: str
    verdict: Verdict
    accepted: bool
    """Whether nothing is asked of a person."""
    passed: int
    """Candidates that passed all tests in memory."""
    tried: int
    seconds: float
    """Wall seconds of the search."""
    cpu: float
    """CPU seconds of the search, all its processes."""
    first: float | None
    """CPU seconds until the first candidate passed."""
    rationale: str
    diff: str
    differs: dict[str, str] | None
    reason: str
    """Why the search declined."""


def main() -> None:
    """Measure, or check the set."""
    options = read_options()
    problems = find_problems(options.directories, options.half, options.only)
    if not problems:
        sys.exit("no problem found: a folder needs program.py, reference.py, test_program.py and inputs.py")
    if unknown := set(options.only or ()) - {problem.folder.name for problem in problems}:
        sys.exit(f"no such program in this set: {', '.join(sorted(unknown))}")
    if options.check_set:
        sys.exit(check_set(problems))
    progress = sys.stderr if options.json else sys.stdout
    results = []
    for number, problem in enumerate(problems, 1):
        results.append(asyncio.run(attempt(problem, seconds=options.seconds, jobs=options.jobs)))
        print(f"[{number:3}/{len(problems)}] {as_line(results[-1])}", file=progress, flush=True)
    halves = sorted({result.half for result in results})
    groups = {half: [result for result in results if result.half == half] for half in halves}
    if options.json:
        summaries = {half: summary(group) for half, group in groups.items()}
        print(json.dumps({"summary": summaries, "programs": [asdict(result) for result in results]}, indent=1))
        return
    for half, group in groups.items():
        print(f"\n{half}, {options.seconds:g} CPU seconds each, {options.jobs} job(s)")
        print("\n".join(f"  {name:34} {shown(value)}" for name, value in summary(group).items()))
    print_styles(results)


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directories", nargs="*", type=Path, metavar="DIR", help="where to look (benchmarks/repair)")
    parser.add_argument(
        "--set", dest="half", default="all", choices=["tuning", "aside", "all"], help="which half (all)"
    )
    parser.add_argument("--seconds", type=float, default=15, help="CPU seconds per program, shared by the jobs (15)")
    parser.add_argument("--jobs", type=int, default=1, help="cores for one search (1)")
    parser.add_argument("--only", action="append", metavar="NAME", help="this program; may be given several times")
    parser.add_argument("--json", action="store_true", help="print JSON, patches included; progress goes to stderr")
    parser.add_argument("--check-set", action="store_true", help="only prove that the programs are fit to measure with")
    return parser.parse_args()


async def attempt(problem: Problem, *, seconds: float, jobs: int) -> Result:
    """Search with the budget, confirm in a fresh process, compare with the reference."""
    from kotef.repair import question_of, repair

    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch)
        lay_out(problem, (problem.folder / "program.py").read_bytes(), project)
        found = await repair(
            project,
            command=COMMAND,
            failing=(),
            python=sys.executable,
            env=ENVIRONMENT,
            seconds=seconds / jobs,
            jobs=jobs,
            protected=lambda path: path != "program.py",
        )
        patch = next((p for p in found.patches[:CONFIRMED] if is_green(problem, p.files["program.py"])), None)
        differs = compare(problem, patch.files["program.py"]) if patch else None
    verdict: Verdict
    if patch:
        verdict = "wrong" if differs else "correct"
    elif found.patches:
        verdict = "refused"
    else:
        verdict = "declined" if found.declined else "nothing"
    return Result(
        name=problem.folder.name,
        half=problem.half,
        style=problem.style,
        verdict=verdict,
        accepted=question_of(found) is None,
        passed=found.plausible,
        tried=found.tried,
        seconds=found.seconds,
        cpu=found.cpu_seconds,
        first=found.first_cpu_seconds,
        rationale=patch.rationale if patch else "",
        diff=patch.diff if patch else "",
        differs=differs,
        reason=found.declined,
    )


def check_set(problems: Sequence[Problem]) -> int:
    """Prove for each problem that it can be measured with; the exit status."""
    began = time.monotonic()
    faulty = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (problem, fault) in enumerate(zip(problems, pool.map(fault_of, problems), strict=True), 1):
            faulty += bool(fault)
            print(f"[{number:3}/{len(problems)}] {problem.half}/{problem.folder.name}: {fault or 'ok'}", flush=True)
    print(f"{len(problems)} programs, {faulty} unfit, {time.monotonic() - began:.0f} s")
    return 1 if faulty else 0


def summary(results: Sequence[Result]) -> dict[str, Any]:
    """The figures of one half; a share of nothing is None."""
    plausible = [result for result in results if result.verdict in ("correct", "wrong")]
    correct = [result for result in plausible if result.verdict == "correct"]
    accepted = [result for result in plausible if result.accepted]
    right = sum(result.verdict == "correct" for result in accepted)
    firsts = [result.first for result in plausible if result.first is not None]
    tried, wall, cpu = (sum(figures) for figures in zip(*((r.tried, r.seconds, r.cpu) for r in results), strict=True))
    return {
        "programs": len(results),
        "plausible": len(plausible),
        "correct": len(correct),
        "correct of all": share(len(correct), len(results)),
        "accepted": len(accepted),
        "accepted and correct": right,
        "accepted and correct of all": share(right, len(results)),
        "precision of the accepted": share(right, len(accepted)),
        "precision if nothing were asked": share(len(correct), len(plausible)),
        "candidates per second": share(tried, wall),
        "candidates per second and core": share(tried, cpu),
        "seconds, median": statistics.median(result.seconds for result in results),
        "seconds, worst": max(result.seconds for result in results),
        "first plausible, CPU s, median": statistics.median(firsts) if firsts else None,
        "first plausible, CPU s, worst": max(firsts, default=None),
        "first plausible within 10 CPU s": share(sum(first <= 10 for first in firsts), len(firsts)),
    }


def share(part: float, whole: float) -> float | None:
    """Their ratio, or None of nothing."""
    return part / whole if whole else None


def print_styles(results: Iterable[Result]) -> None:
    """One line per style, both halves together."""
    by_style: dict[str, list[Verdict]] = {}
    for result in results:
        by_style.setdefault(result.style, []).append(result.verdict)
    print(f"\n  {'style':34} programs  plausible  correct")
    for style, verdicts in sorted(by_style.items()):
        correct = verdicts.count("correct")
        print(f"  {style:34} {len(verdicts):8}  {correct + verdicts.count('wrong'):9}  {correct:7}")


def as_line(result: Result) -> str:
    """One result on one line; the patch itself is in the JSON only, for half of the set is nobody's to read."""
    first = "" if result.first is None else f", first after {result.first:.1f} CPU s"
    asked = "" if result.accepted else ", asks"
    speed = shown(share(result.tried, result.cpu))
    what = f"{result.tried} tried in {result.seconds:.1f} s ({result.cpu:.1f} CPU s, {speed} a second and core)"
    return (
        f"{result.verdict:8}  {result.half}/{result.name}: {what}{first}{asked}{result.reason and ': '}{result.reason}"
    )


def shown(value: float | None) -> str:
    """A figure of three digits, or a dash."""
    return "-" if value is None else f"{value:.3g}" if isinstance(value, float) and value < 100 else f"{value:.0f}"


if __name__ == "__main__":
    main()
