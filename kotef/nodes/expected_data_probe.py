"""Probe for expected data: what turned a test green is the product, not another expectation in a file beside it."""

import re
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Final

from kotef.checks.probe import ProbeName, ProbeResult
from kotef.checks.types import RED
from kotef.files import matches_globs, read_within
from kotef.integrity import WrongAnswer, file_of_test, is_test_code, wrong_answers
from kotef.nodes.confirm_green import Judged
from kotef.nodes.probe_bench import Bench, ProbeUnit, status_in
from kotef.shell import judging_files

_NAME: Final[ProbeName] = "expected data"
_MOST: Final = 3000
"""Number of code files that are searched for the name of a data file."""
_LARGEST: Final = 1_000_000
"""Largest of them, in bytes."""
_DOCUMENTATION: Final = (".md", ".rst", ".adoc")
_CODE: Final = (".py", ".pyi", ".js", ".mjs", ".cjs", ".ts", ".go", ".rs", ".java", ".kt", ".c", ".h", ".cpp", ".php")


async def expected_data_probe(unit: ProbeUnit, bench: Bench, judged: Judged) -> ProbeResult | None:
    """The alarm where targets compare with a file that the run changed, and are green only with that change.

    A file that the product takes its answers from as well is not expected data: the code from before the run names it,
    or the test passes with another content, because both change. Nor is one that the task names, or documentation.
    None where no such file changed.
    """
    data = _changed_data(bench, judged)
    answers = _answers(unit, bench, data - _named_by_product(data, bench, judged))
    if not answers:
        return None
    with bench.with_contents({answer.path: answer.content for answer in answers.values()}):
        wrong = await bench.run(unit, "expected-data-wrong")
    failed_targets = [target for target in answers if status_in(wrong, target if unit.targets else "") == "failed"]
    if not failed_targets:
        return None
    paths = sorted({answers[target].path for target in failed_targets})
    with bench.as_before(paths):
        before = await bench.run(unit, "expected-data-before")
    lost = [target for target in failed_targets if status_in(before, target if unit.targets else "") in RED]
    if not lost:
        sentence = "green with expected data as before"
        return ProbeResult(name=_NAME, check=unit.check.name, value="fine", told=sentence)
    sentence = f"green only with other expected data: {', '.join(paths)}"
    evidence = (f"{lost[0]}: red with {answers[lost[0]].path} as it was; use --allow-edits if it may change",)
    return ProbeResult(name=_NAME, check=unit.check.name, value="alarm", told=sentence, evidence=evidence)


def _changed_data(bench: Bench, judged: Judged) -> frozenset[str]:
    """Earlier data files that the run changed, except those that the task names or opens."""
    known = bench.context.snapshots.paths(bench.before)
    kept = (path for path in judged.changed if path in known and path in bench.paths())
    return frozenset(
        path
        for path in kept
        if not path.endswith((*_CODE, *_DOCUMENTATION))
        and not matches_globs(path, judged.task.allow_edits)
        and path.rpartition("/")[2] not in judged.task.goal
    )


def _named_by_product(data: Collection[str], bench: Bench, judged: Judged) -> frozenset[str]:
    """Those of the files that code from before the run names, or whose folder it names; a large product names all."""
    code = [
        path for path in bench.context.snapshots.paths(bench.before) if path.endswith(_CODE) and not is_test_code(path)
    ]
    if not data or len(code) > _MOST:
        return frozenset(data)
    texts = [_text_before(path, bench, judged) for path in code]
    return frozenset(path for path in data if any(_naming(path).search(text) for text in texts))


def _naming(path: str) -> re.Pattern[str]:
    """The name of the file without its ending as a word, or its folder as a part of a path or a text of its own."""
    place = PurePosixPath(path)
    folder = place.parent.name
    inside = rf"|['\"/]{re.escape(folder)}['\"/]" if folder else ""
    return re.compile(rf"\b{re.escape(place.stem)}\b{inside}")


def _text_before(path: str, bench: Bench, judged: Judged) -> str:
    """A code file as it was before the run; empty if it cannot be read."""
    try:
        if path in judged.changed:
            content = bench.context.snapshots.read(bench.before, path) or b""
        else:
            content = read_within(bench.context.root, path, largest=_LARGEST, cut=True)
    except OSError:
        return ""
    return content.decode(errors="replace")


def _answers(unit: ProbeUnit, bench: Bench, data: Collection[str]) -> dict[str, WrongAnswer]:
    """For each target that compares with one of these files, wrong content for that file."""
    found: dict[str, WrongAnswer] = {}
    for target in (unit.targets or judging_files(unit.check.command)) if data else ():
        path = file_of_test(target, bench.paths(), bench.read)
        content = bench.read(path) if path else None
        if path is None or content is None:
            continue
        seed = bench.rng.getrandbits(32)
        made = wrong_answers(path, content, target, seed=seed, read=bench.read, data=data)
        first = next((answer for answer in made if answer.kind == "golden" and answer.path in data), None)
        if first is not None:
            found[target] = first
    return found
