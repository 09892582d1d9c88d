"""Location of one test's code in a file of a language with brackets."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from kotef.integrity.ids import name_part
from kotef.integrity.probes.oracles.tokens import Dialect, TokenText

Region = tuple[int, int]
"""Index of the first token, and the one behind the last."""

_MAKES_TESTS: Final = re.compile(
    r"(?:\w+\.)?(?:describe|suite|context|test|it|specify)(?:\.(?:only|concurrent|serial|sequential|parallel))?"
)


def region_of(tokens: TokenText, names: Sequence[str]) -> Region | None:
    """The tokens of the test with this name, groups around it first; None if it is not surely found."""
    if not names:
        return None
    found = list(_FINDERS[tokens.dialect](tokens, names))
    if len(found) == 1:
        return found[0]
    if tokens.dialect == "c" and not found and any(_function(tokens, "main")):
        return 0, len(tokens.tokens)
    return None


def helpers_of(tokens: TokenText, region: Region) -> Iterator[Region]:
    """The bodies of functions of the same file that the test calls as statements."""
    before = {"rust": ("fn",), "go": ("func",), "javascript": ("function",), "typescript": ("function",)}
    if tokens.dialect not in {"c", *before}:
        return
    seen: set[str] = set()
    for at in range(*region):
        is_call = tokens.is_word(at) and tokens.is_sign(at + 1, "(") and not tokens.is_sign(at - 1, ".", "::", "->")
        name = tokens.text(at)
        if not is_call or name in seen or tokens.is_word(at - 1):
            continue
        seen.add(name)
        found = list(_function(tokens, name, *before.get(tokens.dialect, ())))
        if len(found) == 1 and not found[0][0] <= region[0] < found[0][1]:
            yield found[0]


def title_of(tokens: TokenText, at: int) -> str | None:
    """The text of a literal as an id has it; None if it is put together at run time."""
    text = tokens.text(at)
    if tokens.tokens[at].kind != "text" or "${" in text:
        return None
    inner = text[1:-1]
    return name_part(re.sub(r"\\(.)", r"\1", inner))


def test_calls(tokens: TokenText) -> Iterator[tuple[int, str]]:
    """The bracket and the title of each call that makes a test or a suite of JavaScript."""
    for at in range(len(tokens.tokens) - 1):
        if not tokens.is_sign(at, "(") or tokens.tokens[at + 1].kind != "text":
            continue
        title = title_of(tokens, at + 1)
        if title is not None and _MAKES_TESTS.fullmatch(callee(tokens, at)):
            yield at, title


def callee(tokens: TokenText, opening: int) -> str:
    """What is called by the bracket: words with dots, colons, arrows and `!` between them, without blanks."""
    return "".join(tokens.text(at) for at in range(callee_start(tokens, opening), opening))


def callee_start(tokens: TokenText, opening: int) -> int:
    """Index of the first token of what is called."""
    at = opening
    if tokens.is_sign(at - 1, "!") and tokens.is_word(at - 2):
        at -= 1
    while (tokens.is_word(at - 1) and not tokens.is_word(at)) or (
        tokens.is_sign(at - 1, ".", "::", "->", "?.") and tokens.is_word(at)
    ):
        at -= 1
    return at


def _javascript(tokens: TokenText, names: Sequence[str]) -> Iterator[Region]:
    calls = list(test_calls(tokens))
    wanted = [name_part(name) for name in names]
    for opening, title in calls:
        if title != wanted[-1]:
            continue
        around = [name for other, name in calls if other < opening < tokens.partner[other]]
        if around == wanted[:-1]:
            yield opening, tokens.partner[opening]


def _function(tokens: TokenText, name: str, *before: str) -> Iterator[Region]:
    """The bodies of functions of this name."""
    for at in range(len(tokens.tokens)):
        if not tokens.is_word(at, name) or not tokens.is_sign(at + 1, "("):
            continue
        if before and not tokens.is_word(at - 1, *before):
            continue
        if tokens.is_sign(at - 1, ".", "->", "="):
            continue
        closing = tokens.partner[at + 1]
        body = next(
            (n for n in tokens.inside(closing + 1, len(tokens.tokens)) if tokens.is_sign(n, "{", ";", "=", ")")), -1
        )
        if tokens.is_sign(body, "{"):
            yield body + 1, tokens.partner[body]


def _go(tokens: TokenText, names: Sequence[str]) -> Iterator[Region]:
    yield from _function(tokens, names[0].partition("/")[0], "func")


def _rust(tokens: TokenText, names: Sequence[str]) -> Iterator[Region]:
    found = list(_function(tokens, names[-1], "fn"))
    if len(found) > 1 and len(names) > 1:
        found = [region for region in found if _module_around(tokens, region) == names[-2]]
    yield from found


def _module_around(tokens: TokenText, region: Region) -> str:
    block = tokens.enclosing[region[0] - 1]
    return tokens.text(block - 1) if block >= 0 and tokens.is_word(block - 2, "mod") else ""


def _method(tokens: TokenText, names: Sequence[str]) -> Iterator[Region]:
    name = re.split(r"[(\[{]", names[-1])[0].strip()
    yield from _function(tokens, name)
    yield from _function(tokens, f"`{name}`")


def _c(tokens: TokenText, names: Sequence[str]) -> Iterator[Region]:
    last = names[-1]
    group, _, name = last.rpartition(".")
    if group:
        yield from (body for at, body in _macros(tokens, r"TEST(?:_F|_P)?") if _words_in(tokens, at) == [group, name])
        return

    for at, body in _macros(tokens, r"(?:TEST_CASE|SCENARIO|START_TEST|Test|TEST)"):
        titles = [title_of(tokens, at + 1) or tokens.text(at + 1), tokens.text(tokens.partner[at] - 1)]
        if last in titles:
            yield body
    yield from _function(tokens, last)


def _macros(tokens: TokenText, name: str) -> Iterator[tuple[int, Region]]:
    """Calls with a body behind them: where their bracket opens, and the inside of the body."""
    for at in range(len(tokens.tokens)):
        if tokens.is_sign(at, "(") and re.fullmatch(name, callee(tokens, at)):
            body = tokens.partner[at] + 1
            if tokens.is_sign(body, "{"):
                yield at, (body + 1, tokens.partner[body])


def _words_in(tokens: TokenText, opening: int) -> list[str]:
    """The first word of each argument."""
    return [tokens.text(start) for start, _ in tokens.arguments(opening)]


_FINDERS: Final[dict[Dialect, Callable[[TokenText, Sequence[str]], Iterator[Region]]]] = {
    "javascript": _javascript,
    "typescript": _javascript,
    "go": _go,
    "rust": _rust,
    "java": _method,
    "kotlin": _method,
    "php": _method,
    "c": _c,
}
