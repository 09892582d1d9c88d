"""Functions that are wrong, with what would be right, and arguments that tell the two apart."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True)
class Domain:
    """A small field of work: one function, wrong at first."""

    modules: tuple[str, ...]
    functions: tuple[str, ...]
    params: tuple[str, ...]
    right: str
    """An expression, in Python."""
    wrong: str
    draw: Callable[[Random], tuple[Any, ...]]
    js: tuple[str, str] = ("", "")
    """Right and wrong in JavaScript; empty where it is not offered."""
    go: tuple[str, str] = ("", "")
    is_float: bool = False


def _words(rng: Random, least: int = 2, most: int = 4) -> list[str]:
    pool = ("Red", "fox", "Under", "the", "old", "Bridge", "near", "Lake", "seven", "Oaks", "Mill", "Road")
    return [rng.choice(pool) for _ in range(rng.randint(least, most))]


DOMAINS = (
    Domain(
        ("prices", "billing", "invoice"),
        ("total", "gross", "amount_due"),
        ("prices", "percent"),
        "sum(prices) * (100 + percent) // 100",
        "sum(prices) * percent // 100",
        lambda rng: ([rng.randint(1, 90) for _ in range(rng.randint(1, 4))], rng.randint(1, 25)),
        js=(
            "Math.floor(prices.reduce((a, b) => a + b, 0) * (100 + percent) / 100)",
            "Math.floor(prices.reduce((a, b) => a + b, 0) * percent / 100)",
        ),
    ),
    Domain(
        ("slugs", "urls", "naming"),
        ("slug", "to_slug", "permalink"),
        ("title",),
        '"-".join(title.lower().split())',
        '"_".join(title.split())',
        lambda rng: (" ".join(_words(rng)),),
        js=("title.toLowerCase().split(' ').join('-')", "title.split(' ').join('_')"),
    ),
    Domain(
        ("batches", "paging", "slices"),
        ("chunks", "pages", "in_groups"),
        ("items", "size"),
        "[items[start : start + size] for start in range(0, len(items), size)]",
        "[items[start : start + size] for start in range(0, len(items) - size, size)]",
        lambda rng: ([rng.randint(1, 99) for _ in range(rng.randint(3, 7))], rng.randint(2, 3)),
        js=(
            "Array.from({length: Math.ceil(items.length / size)}, (_, i) => items.slice(i * size, i * size + size))",
            "Array.from({length: Math.floor(items.length / size) - 1}, (_, i) => items.slice(i * size, i * size + size))",
        ),
    ),
    Domain(
        ("ranges", "sensor", "dial"),
        ("clamp", "limited", "bounded"),
        ("value", "low", "high"),
        "max(low, min(value, high))",
        "min(low, max(value, high))",
        lambda rng: (rng.randint(-90, 90), rng.randint(-40, -1), rng.randint(1, 40)),
        js=("Math.max(low, Math.min(value, high))", "Math.min(low, Math.max(value, high))"),
        go=("max(low, min(value, high))", "min(low, max(value, high))"),
    ),
    Domain(
        ("tallies", "census", "votes"),
        ("tally", "counts", "histogram"),
        ("words",),
        "{word: words.count(word) for word in words}",
        "{word: 1 for word in words}",
        lambda rng: ([rng.choice(("a", "b", "cd", "e")) for _ in range(rng.randint(4, 8))],),
    ),
    Domain(
        ("averages", "climate", "grades"),
        ("mean", "average", "midpoint"),
        ("numbers",),
        "sum(numbers) / len(numbers)",
        "sum(numbers) // len(numbers) + 0.0",
        lambda rng: ([rng.randint(1, 50) + rng.choice((0.0, 0.25, 0.5)) for _ in range(rng.randint(2, 5))],),
        is_float=True,
    ),
    Domain(
        ("people", "badges", "roster"),
        ("initials", "short_name", "monogram"),
        ("name",),
        '"".join(part[0].upper() for part in name.split())',
        "name[:2]",
        lambda rng: (" ".join(_words(rng, 2, 3)),),
        js=("name.split(' ').map(part => part[0].toUpperCase()).join('')", "name.slice(0, 2)"),
    ),
    Domain(
        ("durations", "timer", "clockwork"),
        ("minutes", "as_minutes", "span"),
        ("hours", "rest"),
        "hours * 60 + rest",
        "hours + rest",
        lambda rng: (rng.randint(1, 30), rng.randint(0, 59)),
        js=("hours * 60 + rest", "hours + rest"),
        go=("hours*60 + rest", "hours + rest"),
    ),
    Domain(
        ("areas", "floors", "tiles"),
        ("area", "surface", "covered"),
        ("width", "height"),
        "width * height",
        "width + height",
        lambda rng: (rng.randint(3, 60), rng.randint(3, 60)),
        js=("width * height", "width + height"),
        go=("width * height", "width + height"),
    ),
)


@dataclass(frozen=True)
class Case:
    """Arguments, and what is right for them."""

    args: tuple[Any, ...]
    expected: Any

    @property
    def call(self) -> str:
        """The arguments as they stand in a call, in Python."""
        return ", ".join(repr(arg) for arg in self.args)

    @property
    def json_call(self) -> str:
        """The arguments as they stand in a call, in JavaScript and Go."""
        return ", ".join(json.dumps(arg) for arg in self.args)


def value_of(domain: Domain, expression: str, args: tuple[Any, ...]) -> Any:
    """What an expression of the domain says for these arguments."""
    return eval(expression, dict(zip(domain.params, args, strict=True)))


def cases_of(domain: Domain, rng: Random, count: int) -> list[Case]:
    """Cases for which the wrong function is wrong, all different."""
    found: list[Case] = []
    while len(found) < count:
        args = domain.draw(rng)
        expected = value_of(domain, domain.right, args)
        told_apart = expected != value_of(domain, domain.wrong, args)
        if told_apart and all(case.args != args and case.expected != expected for case in found):
            found.append(Case(args, expected))
    return found
