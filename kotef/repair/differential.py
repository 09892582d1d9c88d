"""Arguments on which edits that pass the same tests give different results."""

import ast
import asyncio
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any, Final, NamedTuple

from kotef.repair.arguments import around, generated
from kotef.repair.budget import wall_seconds
from kotef.repair.candidates import Candidate
from kotef.repair.fault_localization import runs
from kotef.repair.phrase import Phrase, answers_of, phrase_of
from kotef.repair.preflight import SearchGround
from kotef.repair.session import WorkerAnswer, WorkerSession
from kotef.repair.source import SwapUnit
from kotef.repair.types import Disagreement
from kotef.repair.variants import Variant, variants
from kotef.repair.wire_format import units_of

COMPARED: Final = 16
"""Passing edits that are shown, and compared with each other."""
_FUNCTIONS: Final = 5
_ASKED: Final = 8
"""Failing tests, and other tests, of which variants are made."""
_VARIANTS: Final = 200
_SEED: Final = 7
_RECORDED: Final = 24
_CALL: Final = 0.2
"""CPU seconds one call may take."""
_NUMBER: Final = re.compile(r"(?<![\w.])\d{1,9}(?:\.\d{1,9})?(?![\w.])")
_ADDRESS: Final = re.compile(r"\b0x[0-9a-f]{6,16}\b|(?<![\d.])(?:1[34]\d{13}|9[345]\d{12})(?![\d.])")
"""Where an object lies in memory, as `repr` and as `id` tell it on 64 bits: it differs from process to process."""


class Function(NamedTuple):
    """A function that both the tests and the edits run."""

    path: str
    line: int
    name: str
    calls: tuple[str, ...]
    """Arguments the tests gave, each the literal of a dict."""
    unit: SwapUnit | None = None
    """Its definition, for the words of a question."""


class Compared(NamedTuple):
    """What came of asking several candidates the same."""

    asked: int
    """Questions that all of them answered, alike or not."""
    differing: list[Disagreement]
    """Shortest first."""


async def disagreements(
    session: WorkerSession, ground: SearchGround, rivals: Sequence[Candidate], *, seconds: float
) -> Compared:
    """What distinguishes edits that all pass; `seconds` are shared by them."""
    if len(rivals) < 2:
        return Compared(0, [])
    units = [units_of(candidate, ground.sources) for candidate in rivals]
    tests = {variant: ground.tests[variant.test] for variant in _variants(ground, rivals)}
    each = max(0.1, seconds / (1 + len(rivals)))
    return await compare(session, units, _functions(ground, rivals), tests, each=each, constants=_constants(rivals))


def _constants(rivals: Sequence[Candidate]) -> list[float]:
    """The numbers that the edits put in, smallest first; those of all of them distinguish nothing."""
    numbers = [set(map(float, _NUMBER.findall(edit.text))) for rival in rivals for edit in rival.edits]
    constants = {each for of_one in numbers for each in of_one if any(each not in other for other in numbers)}
    return [int(number) if number.is_integer() else number for number in sorted(constants)]


def _functions(ground: SearchGround, rivals: Sequence[Candidate]) -> list[Function]:
    """The edited functions first, then others of the same files, as far as their arguments are known."""
    calls = ground.traces.calls
    edited = Counter(unit for candidate in rivals for unit in candidate.units if unit is not None)
    paths = {edit.path for candidate in rivals for edit in candidate.edits}
    others = [unit for path in sorted(paths) for unit in ground.sources[path].units if unit not in edited]
    units = [*(unit for unit, _ in edited.most_common()), *others]
    known = [unit for unit in units if calls.get(_key(unit))]
    return [
        Function(unit.path, unit.first_line, unit.node.name, calls[_key(unit)], unit) for unit in known[:_FUNCTIONS]
    ]


def _variants(ground: SearchGround, rivals: Sequence[Candidate]) -> Iterator[Variant]:
    """Variants of the failing tests and of others that run edited functions; none if plain arguments tell enough.

    A function that was seen with plain arguments is compared on others like them, which keep to what it is for better
    than a changed test does.
    """
    edited = {unit for candidate in rivals for unit in candidate.units if unit is not None}
    if edited and all(ground.traces.calls.get(_key(unit)) and not unit.outer for unit in edited):
        return iter(())

    lines = ground.traces.lines
    near = [test for test in ground.others if any(runs(lines.get(test, {}), unit) for unit in edited)]
    chance = random.Random(_SEED)  # noqa: S311 - the same variants each time
    chosen = [*ground.failing[:_ASKED], *chance.sample(near, min(len(near), _ASKED))]
    return islice(_by_turns(chosen, ground, chance), _VARIANTS)


def _by_turns(tests: Sequence[int], ground: SearchGround, chance: random.Random) -> Iterator[Variant]:
    """A variant of each test, then a second of each, and so on."""
    known = [(test, ground.test_units.get(test)) for test in tests]
    each = [variants(unit, test, chance) for test, unit in known if unit is not None]
    for turn in zip_longest(*each):
        yield from (variant for variant in turn if variant is not None)


def _key(unit: SwapUnit) -> str:
    return f"{unit.path}:{unit.first_line}:{unit.node.name}"


class DifferentialCall(NamedTuple):
    """One thing that was asked of several candidates."""

    call: str
    where: str
    before: str
    """What the program gives as it is; empty if it did not come to that."""
    results: tuple[str, ...]
    given: str = ""
    verb: str = "be"


async def compare(
    session: WorkerSession,
    units: Sequence[list[dict[str, Any]]],
    functions: Sequence[Function],
    tests: Mapping[Variant, str],
    *,
    each: float,
    constants: Sequence[float] = (),
) -> Compared:
    """Call functions, and run variants of tests, under each candidate; where two of them differ.

    `units` is one list per candidate, `tests` are variants with the id of their test, `each` is in CPU seconds, for one
    candidate. What raises or does not end counts only where the program as it is gives a value: outside what a function
    is for, errors prove nothing.
    """
    probes = [
        {"path": path, "line": line, "name": name, "arguments": list(dict.fromkeys(_arguments(calls, constants)))}
        for path, line, name, calls, _ in functions
    ]
    request = {"do": "probe", "functions": probes, "variants": [variant.asked() for variant in tests], "each": _CALL}
    limits = {"cpu": each, "wall": wall_seconds(each), "total": wall_seconds(each)}
    answers = await asyncio.gather(*(session.ask({**request, **limits, "units": made}) for made in ([], *units)))
    calls = list(_of_calls(functions, probes, answers))
    saw = [{word[1] for word in answer.words if word[0] == "saw"} for answer in answers[1:]]
    questions = [*calls, *_of_variants(tests, answers)]
    found = [
        Disagreement(question.call, question.where, results, question.given, question.verb)
        for question in questions
        if len(set(results := alike(question.results))) > 1
        and any(map(_is_value, question.results))
        and (_is_value(question.before) or all(map(_is_value, question.results)))
    ]
    return Compared(len(calls) + len(set.intersection(*saw)), sorted(found, key=_plainness))


def _arguments(calls: Sequence[str], constants: Sequence[float]) -> Iterator[str]:
    """What a function is called with: as it was seen, with what may tell constants apart, and with the like of both."""
    recorded = calls[:_RECORDED]
    yield from recorded
    yield from around(recorded, constants)
    yield from generated(recorded)


def _plainness(question: Disagreement) -> tuple[bool, bool, int]:
    """What a person answers most easily comes first: what a call returns, in few words."""
    return bool(question.where), question.verb != "return", len(question.given) + len(question.call)


def _of_calls(
    functions: Sequence[Function], asked: Sequence[dict[str, Any]], answers: Sequence[WorkerAnswer]
) -> Iterator[DifferentialCall]:
    results = [{(word[1], word[2]): word[3] for word in answer.words if word[0] == "result"} for answer in answers]
    for number, function in enumerate(asked):
        for place, literal in enumerate(function["arguments"]):
            before, *candidates = (result.get((number, place), "") for result in results)
            if all(candidates):
                unit = functions[number].unit
                short, verb = answers_of(alike(candidates))
                plain = Phrase("", f"{function['name']}({spelled(literal)})")
                text = phrase_of(unit, literal) if unit is not None else plain
                yield DifferentialCall(text.call, "", before, short, text.given, verb)


def _of_variants(tests: Mapping[Variant, str], answers: Sequence[WorkerAnswer]) -> Iterator[DifferentialCall]:
    """The first question of each variant on which candidates differ; those before it were answered alike."""
    seen = [{word[1]: word[2] for word in answer.words if word[0] == "saw"} for answer in answers]
    for number, (variant, test) in enumerate(tests.items()):
        before, *candidates = (saw.get(number, []) for saw in seen)
        for place, answered in enumerate(zip(*candidates, strict=False)):
            labels, values = zip(*answered, strict=True)
            if len(set(map(_worth, values))) > 1 or len(set(labels)) > 1:
                known = before[place][1] if place < len(before) else ""
                label = next(filter(None, labels), "")
                if label:
                    where = f"in {test}, with {variant.description}" if variant.description else f"in {test}"
                    yield DifferentialCall(label, where, known, tuple(values))
                break


def alike(results: Sequence[str]) -> tuple[str, ...]:
    """The answers, equal ones spelt as the first of them: `0`, `False` and `0.0` pass the same assertions."""
    first: dict[object, str] = {}
    return tuple(first.setdefault(_worth(result), result) for result in results)


def _worth(result: str) -> object:
    """What answers are compared by: the value of a number; of a text all but the addresses of objects in it."""
    bare = _ADDRESS.sub("@", result)
    if bare != result:
        return bare
    try:
        value = ast.literal_eval(result)
        return value if isinstance(value, (int, float, complex)) else result
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return result


def _is_value(result: str) -> bool:
    return bool(result) and not result.startswith(("raises ", "it does not finish"))


def spelled(literal: str) -> str:
    """`{'a': 1}` as the arguments of a call: `a=1`."""
    tree = ast.parse(literal, mode="eval").body
    assert isinstance(tree, ast.Dict)
    pairs = zip(tree.keys, tree.values, strict=True)
    return ", ".join(f"{ast.literal_eval(key)}={ast.unparse(value)}" for key, value in pairs if key is not None)
