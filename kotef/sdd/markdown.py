"""A line-by-line parser for hand-written Markdown files."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

Kind = Literal["heading", "item", "text", "blank", "fence", "code"]


class Line(NamedTuple):
    """One line and its kind; a closed HTML comment on its own lines counts as blank."""

    number: int
    """Counted from 1."""
    kind: Kind
    text: str
    """heading: the title; item: what follows bullet and box; fence: the info string, empty on the closing line;
    code: the line without the indentation of its fence; else the line without white space around it."""
    indent: int = 0
    """Columns of white space before it, tabs to multiples of four; of a heading, its level (1 to 6)."""
    checked: bool | None = None
    """Whether the item's box is ticked; None without a box."""
    raw: str = ""
    """The line as written."""
    closing: bool = False
    """True for the last line of a fence."""


class Document(NamedTuple):
    """All lines of a text, and unclosed fences."""

    lines: tuple[Line, ...]
    unclosed: tuple[int, ...]
    """Lines that open an unclosed fence; it ends before the next heading."""


class FencedBlock(NamedTuple):
    """One fenced block."""

    number: int
    """Line of the opening fence."""
    info: str
    lines: tuple[Line, ...]


class MarkdownSection(NamedTuple):
    """Everything under one name, even if the name occurs several times."""

    number: int
    """Line of its (first) label."""
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The lines as written, without blank lines around them."""
        return "\n".join(line.raw for line in self.lines).strip()


class _Label(NamedTuple):
    name: str
    level: int
    rest: str


UNCLOSED: Final = "this fence is never closed; close it with a line of ```"
"""The problem text for a line of `Document.unclosed`."""

PREAMBLE: Final = ""
"""Name of the section of everything before the first label."""
_OTHER: Final = "?"
_BOLD: Final = 7
"""Level of a label that is not a heading: below all headings, so that each of them ends it."""

_EOL: Final = re.compile(r"\r\n|\n|\r")
_HEADING: Final = re.compile(r" {0,3}(?P<marks>#{1,6})(?!#)\s*(?P<title>\S.*)$")
_UNDERLINE: Final = re.compile(r" {0,3}=+\s*")
_RULE: Final = re.compile(r"\s*([-*_])(?:[ \t]*\1){2,}\s*")
_FENCE: Final = re.compile(r"(?P<indent>\s*)(?:[-*+]\s+)?(?P<marks>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
_BOX: Final = r"\[(?P<mark>[ \t]*+[xX✓✔]?[ \t]*+)\](?=\s|$)"
_ITEM: Final = re.compile(
    rf"""(?P<indent>\s*)
    (?: (?:[-*+•]|\d{{1,9}}[.)]) (?:\s+|(?=\[)|$) (?:{_BOX})?  # a bullet or a number, and perhaps a box
      | {_BOX.replace("mark", "bare")} )                      # a box alone
    (?P<text>.*)$""",
    re.VERBOSE,
)
_LABEL: Final = re.compile(
    r"(?P<marks>\*\*|__)(?P<name>[^*]{1,60}?)(?P<colon>\s*:)?\s*(?P=marks)(?P<after>\s*:)?(?P<rest>.*)$"
)
_PLAIN_LABEL: Final = re.compile(r"(?P<name>[^\W\d_][^:*`]{0,40}?)\s*:(?P<rest>.*)$")


def read_markdown(text: str) -> Document:
    """Classify the lines of a text. Total: works for any text, in linear time.

    More forgiving than CommonMark where people are: no blank line is needed around a list or a heading, no space
    behind the marks of a heading, a list may be nested by any indentation, a box needs no bullet.
    """
    raws = _EOL.split(text.removeprefix("\ufeff"))
    lines: list[Line] = []
    unclosed: list[int] = []
    hopeless: dict[str, int] = {}
    at = 0
    while at < len(raws):
        if (fence := _FENCE.match(raws[at])) and not (fence["marks"][0] == "~" and "~" in fence["info"]):
            end, closed = _end_of_fence(raws, at, fence["marks"], hopeless)
            if not closed:
                unclosed.append(at + 1)
            lines += _fenced(raws, at, end, fence, closed=closed)
            at = end + 1 if closed else end
        elif comment := _end_of_comment(raws, at, hopeless):
            lines += [Line(number + 1, "blank", "", raw="") for number in range(at, comment)]
            at = comment
        elif (line := _plain(raws[at], at + 1)).kind == "text" and _UNDERLINE.fullmatch("".join(raws[at + 1 : at + 2])):
            lines += [line._replace(kind="heading", indent=1), Line(at + 2, "blank", "")]
            at += 2
        else:
            lines.append(line)
            at += 1
    return Document(tuple(lines), tuple(unclosed))


def _plain(raw: str, number: int) -> Line:
    if not raw.strip() or _RULE.fullmatch(raw):
        return Line(number, "blank", "", raw=raw)
    if heading := _HEADING.match(raw):
        return Line(number, "heading", heading["title"].rstrip().rstrip("#").rstrip(), len(heading["marks"]), raw=raw)
    if item := _ITEM.match(raw):
        mark = item["bare"] if item["mark"] is None else item["mark"]
        checked = None if mark is None else bool(mark.strip())
        return Line(number, "item", item["text"].strip(), _columns(item["indent"]), checked, raw)
    return Line(number, "text", raw.strip(), _columns(raw[: len(raw) - len(raw.lstrip())]), raw=raw)


def _columns(space: str) -> int:
    return len(space.expandtabs(4))


def _end_of_fence(raws: Sequence[str], at: int, marks: str, hopeless: dict[str, int]) -> tuple[int, bool]:
    """Index of the closing line, or of the first line behind a fence that nothing closes.

    `hopeless` remembers from which length on no fence of a character is closed any more, so that a text of nothing
    but opening fences is not searched to its end for each of them.
    """
    mark, length = marks[0], len(marks)
    if length < hopeless.get(mark, length + 1):
        for index in range(at + 1, len(raws)):
            found = raws[index].strip()
            if len(found) >= length and found == mark * len(found):
                return index, True
        hopeless[mark] = length
    for index in range(at + 1, len(raws)):
        heading = _HEADING.match(raws[index])
        if heading and len(heading["marks"]) > 1:
            return index, False
    return len(raws), False


def _fenced(raws: Sequence[str], at: int, end: int, fence: re.Match[str], *, closed: bool) -> list[Line]:
    indent = _columns(fence["indent"])
    lines = [Line(at + 1, "fence", fence["info"].strip(), indent, raw=raws[at])]
    for index in range(at + 1, end):
        raw = raws[index]
        lead = len(raw) - len(raw.lstrip())
        lines.append(Line(index + 1, "code", raw[min(lead, len(fence["indent"])) :], indent, raw=raw))
    if closed:
        lines.append(Line(end + 1, "fence", "", indent, raw=raws[end], closing=True))
    return lines


def _end_of_comment(raws: Sequence[str], at: int, hopeless: dict[str, int]) -> int:
    """Index of the first line behind an HTML comment that begins here and ends a line; 0 when there is none.

    `hopeless` remembers up to where no comment can begin, so that no stretch is searched twice.
    """
    if not raws[at].lstrip().startswith("<!--") or at < hopeless.get("<!--", 0):
        return 0
    end = next((index for index in range(at, len(raws)) if "-->" in raws[index]), len(raws))
    if end < len(raws) and raws[end].rstrip().endswith("-->"):
        return end + 1
    hopeless["<!--"] = end
    return 0


def fences(lines: Iterable[Line]) -> list[FencedBlock]:
    """The fenced blocks among these lines, in order."""
    found: list[tuple[Line, list[Line]]] = []
    for line in lines:
        if line.kind == "code":
            found[-1][1].append(line)
        elif line.kind == "fence" and not line.closing:
            found.append((line, []))
    return [FencedBlock(opener.number, opener.text, tuple(code)) for opener, code in found]


def words(title: str) -> str:
    """A title as the words it is compared by: lower case, Latin letters only, without parentheses and without "and".

    So `**Risks & Edge Cases:**`, `3. Risks and edge cases` and `Non‑Goals` (however it is hyphenated) are found.
    """
    found = re.findall(r"[a-z]+", re.sub(r"\([^()]*\)", " ", title).casefold())
    return " ".join(word for word in found if word != "and")


def sections(
    lines: Sequence[Line], names: Mapping[str, str], *, header: Collection[str] = (), nested: Collection[str] = ()
) -> dict[str, MarkdownSection]:
    """The lines under each name that occurs, by name; `PREAMBLE` is always there.

    `names` maps the `words` of a label to its name. A label is a heading of any level or, for a name that no heading
    bears, a bold line; the rest of such a line belongs to the section. Names in `header` may also be written
    `Name: …` or `- Name: …` before the first heading, and then end at a blank line; those in `nested` may be a bold
    line or a bold item anywhere. A heading that is no label ends a section unless it is deeper.
    """
    headed = {_name(line.text, names) for line in lines if line.kind == "heading"}
    bold = (set(names.values()) - headed) | set(nested)
    found: dict[str, tuple[int, list[Line]]] = {PREAMBLE: (1, [])}
    name, level, at_top = PREAMBLE, _BOLD, True
    for line in lines:
        at_top = at_top and line.kind != "heading"
        label = _label(line, names, bold=bold, item=nested, header=header if at_top else ())
        if label:
            name, level = label.name, label.level
            found.setdefault(name, (line.number, []))
            if label.rest:
                found[name][1].append(Line(line.number, "text", label.rest, line.indent, raw=label.rest))
        elif line.kind == "heading" and line.indent <= level:
            name, level = _OTHER, line.indent
        elif line.kind == "blank" and at_top and name in header and found[name][1]:
            name, level = PREAMBLE, _BOLD
        else:
            found.setdefault(name, (line.number, []))[1].append(line)
    found.pop(_OTHER, None)
    return {name: MarkdownSection(number, tuple(under)) for name, (number, under) in found.items()}


def _name(title: str, names: Mapping[str, str]) -> str | None:
    return names.get(words(title)) or names.get(words(title.partition(":")[0]))


def _label(
    line: Line, names: Mapping[str, str], *, bold: Collection[str], item: Collection[str], header: Collection[str]
) -> _Label | None:
    """The label that a line is; None when it is not one. The collections say which names may be written how."""
    if line.kind == "heading":
        name = _name(line.text, names)
        return _Label(name, line.indent, line.text.partition(":")[2].strip()) if name else None
    if line.kind not in ("text", "item") or line.checked is not None:
        return None
    if found := _LABEL.match(line.text):
        name, rest = names.get(words(found["name"])), found["rest"].strip()
        is_label = name in header or name in (bold if line.kind == "text" else item)
        return (
            _Label(name, _BOLD, rest) if name and is_label and (not rest or found["colon"] or found["after"]) else None
        )
    if found := _PLAIN_LABEL.match(line.text):
        name, rest = names.get(words(found["name"])), found["rest"].strip()
        return _Label(name, _BOLD, rest) if name and (name in header or (name in item and not rest)) else None
    return None


def items(lines: Iterable[Line]) -> tuple[str, ...]:
    """The items of the outermost list level, each with what is nested in it, on one line; code is left out.

    Without a list, the paragraphs and deeper headings.
    """
    lines = [line for line in lines if line.kind not in ("fence", "code")]
    outermost = min((line.indent for line in lines if line.kind == "item"), default=None)
    found: list[list[str]] = []
    joined = False
    for line in lines:
        if outermost is None:
            starts = line.kind in ("item", "heading")
        else:
            starts = line.kind == "item" and line.indent <= outermost
        if line.kind == "blank":
            joined = False
        elif starts or (outermost is None and not joined):
            found.append([line.text])
            joined = line.kind != "heading"
        elif found and line.kind != "heading" and (joined or line.indent > (outermost or 0)):
            found[-1].append(f"; {line.text}" if line.kind == "item" else f" {line.text}")
            joined = True
    return tuple(text for parts in found if (text := "".join(parts).strip()))


def tick(text: str, numbers: Collection[int]) -> str:
    """This text with the open boxes on the lines of these numbers ticked, and not a character changed otherwise."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    parts = re.split(f"({_EOL.pattern})", text.removeprefix(mark))
    for number in numbers:
        item = _ITEM.match(parts[2 * number - 2]) if 0 < number <= (len(parts) + 1) // 2 else None
        group = next((name for name in ("mark", "bare") if item and item[name] is not None), None)
        if item and group and not item[group].strip():
            line = parts[2 * number - 2]
            parts[2 * number - 2] = f"{line[: item.start(group)]}x{line[item.end(group) :]}"
    return mark + "".join(parts)
