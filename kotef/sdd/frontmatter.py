"""Front matter: the fields between the two `---` at the head of a Markdown file."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

_KEY: Final = re.compile(r"([A-Za-z][\w-]*):(?:[ \t]+(.*))?")
_BLOCK: Final = re.compile(r"[|>][-+]?\d?")
_ENDS: Final = ("---", "...")


class FrontmatterError(Exception):
    """A file has no head, or its head cannot be read; the message is one line."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        """Counted from 1."""


class Frontmatter(NamedTuple):
    """A file with a head."""

    fields: Mapping[str, str]
    """Values on one line each, except those written with `|`."""
    body: str
    """The text after the head."""


def read_frontmatter(text: str) -> Frontmatter:
    """The fields `name: value` of a head, and what follows it. Raises `FrontmatterError`.

    It is the part of YAML that such heads are written in: plain and quoted values, and ones that continue over indented
    lines (`>` joins them with spaces, `|` keeps them). A plain value may hold anything, also `: `, which YAML refuses.
    Lists and nested fields are given as the text they are.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        raise FrontmatterError(1, "it does not begin with `---` and fields such as `name: …`")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in _ENDS), None)
    if end is None:
        raise FrontmatterError(1, "the `---` that ends its head is missing")
    fields: dict[str, str] = {}
    for number, key, value, more in _fields(lines[1:end]):
        if key in fields:
            raise FrontmatterError(number, f"the field {key} appears twice")
        fields[key] = _value(number, value, more)
    return Frontmatter(fields, "\n".join(lines[end + 1 :]).strip("\n"))


def _fields(lines: list[str]) -> Iterator[tuple[int, str, str, list[str]]]:
    """Line number, name, the value on that line, and the lines that continue with it."""
    found: tuple[int, str, str, list[str]] | None = None
    for number, line in enumerate(lines, 2):
        if found and (not line.strip() or line.startswith((" ", "\t", "- "))):
            found[3].append(line)
            continue
        if not line.strip() or line.startswith("#"):
            continue
        if found:
            yield found
        match = _KEY.fullmatch(line.rstrip())
        if match is None:
            raise FrontmatterError(number, f"{line.strip()[:60]!r} is not a field; write `name: value`")
        found = (number, match[1], match[2] or "", [])
    if found:
        yield found


def _value(number: int, first: str, more: list[str]) -> str:
    words = [line.strip() for line in more]
    if _BLOCK.fullmatch(first.strip()):
        return ("\n" if first.startswith("|") else " ").join(words).strip()
    text = " ".join(word for word in (first.strip(), *words) if word)
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in {"'", '"'}
    if not quoted:
        return text
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return str(json.loads(text))
    except ValueError as error:
        raise FrontmatterError(number, "the quoted text cannot be read; quote it with ' instead") from error
