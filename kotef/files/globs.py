"""Globs: the one translation of them, and whether a path matches."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, Final

MAX_GLOB: Final = 500
"""Characters of the longest glob that a model may give."""
_SECONDS: Final = 0.5
"""Wall seconds one name is compared; with many stars there are more ways to match than could ever be tried."""

_TOKEN: Final = re.compile(r"\*\*/|\*\*+|\*|\?|\[[!^]?(?:\][^]/]*|[^]/]+)\]|[{},]|[^*?\[{},]+|\[")


class GlobError(Exception):
    """A glob that is not matched; the message says why."""


def matches_globs(path: str, globs: Sequence[str]) -> bool:
    """Whether one of the globs matches the whole workspace-relative path, case included.

    `*` and `?` stay within one part of the path, `**` spans any number of parts (also none), `[…]` and `[!…]` are sets
    of characters. A glob that matches a directory matches everything in it.
    """
    return _compiled(tuple(globs)).fullmatch(path.removeprefix("./")) is not None


def matches_glob(name: str, glob: str) -> bool:
    """Whether a relative path matches the glob of a model; one without `/` is compared with the last part of the path.

    As `matches_globs`, with `{a,b}` as in a shell, and a directory is not everything in it. A glob with a bracket that
    makes no sense matches only itself. Raises `GlobError` for one that is too long or takes too long.
    """
    if len(glob) > MAX_GLOB:
        raise GlobError(f"the glob has {len(glob)} characters; at most {MAX_GLOB} are allowed")
    plain = glob.removeprefix("./")
    try:
        found = _pattern(plain).fullmatch(name if "/" in plain else posixpath.basename(name), timeout=_SECONDS)
    except TimeoutError as error:
        raise GlobError("the glob takes too long; use one with fewer stars") from error
    return found is not None


@lru_cache(maxsize=64)
def _compiled(globs: tuple[str, ...]) -> re.Pattern[str]:
    cleaned = (glob.strip().removeprefix("./").rstrip("/") for glob in globs)
    either = "|".join("".join(_translated(glob, braces=False)) for glob in cleaned if glob)
    return re.compile(rf"(?:{either})(?:/.*)?" if either else r"(?!)", re.DOTALL)


@cache
def _pattern(glob: str) -> Any:
    import regex  # type: ignore[import-untyped]  # for its time limit: `re` cannot be stopped where a pattern explodes

    try:
        return regex.compile("".join(_translated(glob, braces=True)), regex.DOTALL)
    except (regex.error, RecursionError):
        return regex.compile(re.escape(glob))


def _translated(glob: str, *, braces: bool) -> Iterator[str]:
    """The glob as pieces of a regular expression."""
    depth = 0
    for token in _TOKEN.findall(glob):
        match token:
            case "**/":
                yield "(?:.+/)?"
            case "*":
                yield "[^/]*"
            case "?":
                yield "[^/]"
            case "{" if braces:
                depth += 1
                yield "(?:"
            case "}" if braces:
                depth -= 1
                yield ")"
            case "," if depth:
                yield "|"
            case _ if token.startswith("**"):
                yield ".*"
            case _ if token.startswith("[") and len(token) > 1:
                yield _character_set(token[1:-1])
            case _:
                yield re.escape(token)


def _character_set(inside: str) -> str:
    """A set of characters, with what a regular expression would read differently escaped."""
    is_negated = inside[0] in "!^"
    characters = re.sub(r"([\\^\[\]&~|])", r"\\\1", inside[1:] if is_negated else inside)
    return f"[^/{characters}]" if is_negated else f"[{characters}]"
