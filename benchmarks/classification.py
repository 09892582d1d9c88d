"""How often is a failure understood, joined with its like, kept apart from others, and how fast?

FILES hold one record a line (benchmarks/failures/README.md says what is in it). For each file:

  right        records whose kind is the expected one or one of the accepted others; `passed` is a kind of its own
  facts        of what a summary must hold (the test, the error, the place): the share that is there
  joined       pairs of runs of one failure that got one fingerprint
  apart        pairs of a failure and its near miss that got two

With --outside FOLDER the outputs that lie in public repositories are measured instead (benchmarks/failures/outside/):
FOLDER holds a clone of each of them, named owner+name; the texts are read at the commits that the manifests name.

Then the speed in CPU time: milliseconds a record, MB/s of an 8 MB log made of all of them, the slowest stress call.
"""

import argparse
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import outside_corpus

from kotef.classification import Diagnosis, classify

HERE = Path(__file__).parent / "failures"
OUTSIDE = (HERE / "outside" / "tuning.jsonl", HERE / "outside" / "aside.jsonl")
KINDS = ("test_failure", "lint_failure", "runtime_error", "tooling_error", "unknown", "passed")
SHORT = {kind: kind.partition("_")[0] for kind in KINDS}
MEGABYTE = 1_000_000
Record = dict[str, Any]

STRESS = {
    "8 MB of pytest": "tests/test_a.py::test_b FAILED\n___ test_b ___\nE   assert 1 == 2\n" * 130_000,
    "8 MB of blanks": " " * (8 * MEGABYTE),
    "8 MB of line ends": "\n" * (8 * MEGABYTE),
    "8 MB of tracebacks": 'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x\n' * 95_000,
    "8 MB of complaints": "src/a.c:1:2: error: undeclared\n" * 260_000,
    "8 MB of JSON": '{"filename":"a.py","location":{"row":1},"code":"F401","message":"unused"},\n' * 105_000,
    "8 MB of broken JSON": '{"a":[' * 1_300_000,
    "8 MB of escapes": "\x1b[31mred\x1b[0m\r" * 600_000,
    "8 MB of words of failure": "FAILED ERROR error: failed Error: No module named 'x' at a.b:1 (x) [x] in 1s\n"
    * 105_000,
    "one line of 4 MB": "x" * (4 * MEGABYTE),
    "one line of 4 MB, a path": "/a" * (2 * MEGABYTE),
    "one line of 4 MB, dots": "a.b:1 " * (4 * MEGABYTE // 6),
    "one line of 4 MB, brackets": "[{(" * (4 * MEGABYTE // 3),
    "one line of 4 MB, progress": "10%\r" * MEGABYTE,
    "one line of 4 MB, digits": "1 " * (2 * MEGABYTE),
}


@dataclass
class Score:
    """What came out for one file."""

    file: str
    records: int = 0
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(expected, given): how many; an accepted other kind counts as the expected one."""
    facts: Counter[bool] = field(default_factory=Counter)
    joined: Counter[bool] = field(default_factory=Counter)
    apart: Counter[bool] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """What missed, one line each, for `--show`."""

    @property
    def right(self) -> float:
        """Share of records whose kind is right."""
        return share(Counter({True: self._hits(), False: self.records - self._hits()}))

    def _hits(self) -> int:
        return sum(count for (expected, given), count in self.confusion.items() if expected == given)

    @property
    def worst(self) -> tuple[str, float]:
        """The kind that is missed most, and how many of it are right."""
        rates = {kind: self.rate(kind) for kind in KINDS if any(expected == kind for expected, _ in self.confusion)}
        return min(rates.items(), key=lambda rate: rate[1], default=("none", 1.0))

    def rate(self, kind: str) -> float:
        """Share of the records of one kind that are right."""
        total = sum(count for (expected, _), count in self.confusion.items() if expected == kind)
        return self.confusion[kind, kind] / total if total else 1.0

    def as_json(self) -> dict[str, Any]:
        """Shares between 0 and 1, None where there was nothing to count."""
        return {
            "file": self.file,
            "records": self.records,
            "right": self.right,
            "worst_kind": dict(zip(("kind", "right"), self.worst, strict=True)),
            "facts": share(self.facts),
            "joined": share(self.joined),
            "apart": share(self.apart),
            "confusion": {row: {column: self.confusion[row, column] for column in KINDS} for row in KINDS},
        }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="default: both halves of the collection")
    parser.add_argument("--outside", metavar="FOLDER", type=Path, help="clones of the repositories in failures/outside")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--show", action="store_true", help="also what missed; never for the half that is put aside")
    parser.add_argument("--no-stress", action="store_true", help="leave the slow inputs out")
    options = parser.parse_args()
    try:
        read = records_asked(options.files, options.outside)
    except (OSError, ValueError, KeyError) as error:
        parser.error(f"cannot read the records: {error!r}")
    scores = [score(file.name, records) for file, records in read.items()]
    milliseconds, rate = speed([record for records in read.values() for record in records])
    stress = [] if options.no_stress else sorted(stress_calls(), key=lambda call: -call[1])
    if options.json:
        print(
            json.dumps(
                {
                    "files": [one.as_json() for one in scores],
                    "milliseconds_per_record": milliseconds,
                    "megabytes_per_second": rate,
                    "stress": dict(stress),
                }
            )
        )
        return 0
    for one in scores:
        print(table(one))
        if options.show and "aside" not in one.file:
            print("\n".join(one.wrong))
    print(f"{milliseconds:.1f} ms a record, {rate:.0f} MB/s of a long log")
    if stress:
        print(f"slowest stress call: {stress[0][1]:.3f} s ({stress[0][0]})")
    return 0


def records_asked(files: Sequence[Path], outside: Path | None) -> dict[Path, list[Record]]:
    """The records of each file; of the manifests of the outside corpus where a folder of clones is given."""
    if outside is not None:
        return {file: list(outside_corpus.records_of(file, outside)) for file in files or OUTSIDE}
    return {file: list(records_of(file)) for file in files or (HERE / "tuning.jsonl", HERE / "aside.jsonl")}


def records_of(file: Path) -> Iterator[Record]:
    """The records of a file; a line that is none raises ValueError, one that lacks a field KeyError."""
    for line in filter(None, file.read_text("utf-8").split("\n")):
        record: Record = json.loads(line)
        for name in ("id", "command", "exit_code", "stdout", "stderr", "kind", "facts", "group", "family"):
            record[name]  # named by the KeyError
        yield record


def diagnose(record: Record) -> Diagnosis:
    """What kotef makes of a record."""
    return classify(
        record["command"], record["exit_code"], record["stdout"], record["stderr"], record.get("timed_out", False)
    )


def score(name: str, records: Sequence[Record]) -> Score:
    """Kinds, facts and fingerprints of all records of one file."""
    result = Score(name, len(records))
    found = {record["id"]: diagnose(record) for record in records}
    for record in records:
        diagnosis = found[record["id"]]
        accepted = [kind or "passed" for kind in (record["kind"], *record.get("alt", []))]
        given = diagnosis.kind or "passed"
        result.confusion[accepted[0], accepted[0] if given in accepted else given] += 1
        if given not in accepted:
            result.wrong.append(f"kind   {record['id']}: {accepted[0]} expected, {given}/{diagnosis.detail} given")
        for fact in record["facts"]:
            there = holds(diagnosis.summary, fact)
            result.facts[there] += 1
            if not there:
                result.wrong.append(f"fact   {record['id']}: {fact['any']} not in {diagnosis.summary!r}")
    for one, other, same in pairs(records):
        equal = found[one["id"]].fingerprint == found[other["id"]].fingerprint
        (result.joined if same else result.apart)[equal == same] += 1
        if equal != same:
            result.wrong.append(f"{'joined' if same else 'apart '} {one['id']} and {other['id']}")
    return result


def pairs(records: Iterable[Record]) -> Iterator[tuple[Record, Record, bool]]:
    """Pairs of one group, which are the same failure, and pairs of a base and its near miss, which are not."""
    families: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record["kind"] is not None:
            families[record["family"]].append(record)
    for family in families.values():
        for one, other in combinations(family, 2):
            if one["group"] == other["group"]:
                yield one, other, True
            elif {one["id"].partition("~")[0]} == {other["id"].partition("~")[0]}:
                yield one, other, False


def holds(summary: str, fact: dict[str, Any]) -> bool:
    """Whether the summary tells the fact; blanks and case do not matter, and a place may be written in three ways."""
    forms = list(fact["any"])
    for place in fact["any"] if fact["t"] == "loc" else ():
        if match := re.fullmatch(r"(.+):(\d+)", place):
            forms += [f'{match[1]}", line {match[2]}', f"{match[1]}({match[2]}"]
    return any(squash(form) in squash(summary) for form in forms)


def squash(text: str) -> str:
    """Without blanks, in lower case."""
    return "".join(text.split()).lower()


def share(counts: Counter[bool]) -> float:
    """The part that is true; 1.0 of nothing."""
    total = counts[True] + counts[False]
    return counts[True] / total if total else 1.0


def table(one: Score) -> str:
    """The figures and the confusion table of one file."""
    kind, rate = one.worst
    lines = [
        f"{one.file}: {one.records} records, {one.right:.1%} of the kinds right, worst {kind} {rate:.1%}",
        (
            f"  {share(one.facts):.1%} of {one.facts.total()} facts in the summaries, "
            f"{share(one.joined):.1%} of {one.joined.total()} equal pairs joined, "
            f"{share(one.apart):.1%} of {one.apart.total()} near misses apart"
        ),
        f"  {'expected':14}" + "".join(f"{SHORT[name]:>9}" for name in KINDS) + "    right",
    ]
    for row in KINDS:
        counts = "".join(f"{one.confusion[row, column] or '.':>9}" for column in KINDS)
        lines.append(f"  {row:14}{counts}   {one.rate(row):6.1%}")
    return "\n".join(lines) + "\n"


def speed(records: Sequence[Record]) -> tuple[float, float]:
    """CPU milliseconds a record, and MB of one long log a second; the patterns are compiled by now."""
    start = time.process_time()
    for record in records:
        diagnose(record)
    each = (time.process_time() - start) / max(len(records), 1)
    log = "\n".join(record["stdout"] + record["stderr"] for record in records) or "nothing\n"
    log *= 8 * MEGABYTE // len(log) + 1
    start = time.process_time()
    classify("make ci", 2, log, "")
    return each * 1000, len(log) / MEGABYTE / max(time.process_time() - start, 1e-9)


def stress_calls() -> Iterator[tuple[str, float]]:
    """(input, CPU seconds) of each nasty input, as the output of a test run and of an unknown program."""
    for name, text in STRESS.items():
        for command in ("pytest -q", "./x"):
            start = time.process_time()
            classify(command, 1, text, text[: MEGABYTE // 10])
            yield f"{name}, {command}", time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
