"""A ticket is read as its author meant it, however it was typed; what cannot be read is named with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.example_count import example_count

from kotef.sdd.markdown import read_markdown, tick
from kotef.sdd.ticket import MAX_ITEMS, MAX_TEXT, Ticket, open_lines, read_ticket

PATH = ".sdd/backlog/tickets/open/07-parse-crlf.md"

TICKET = """\
# Ticket: 07 Parser survives CRLF

Spec version: 1.2
Context: see `architect.md`
Dependencies: 01, 03-lexer.md

Allow test edits: `tests/test_parser.py`, tests/data/**

## Objective & DoD

The parser accepts every line ending.

- also a lone CR

**Definition of Done**

- [ ] `pytest -q` passes
  on every line ending
  - [x] the lexer is untouched
    - [ ] really

## Implementation Sketch

Normalise while reading.

## Steps

1. Write a test
   - for CRLF
2. Make it pass

## Affected Files / Modules

- `src/parser.py` — reading
- src/lexer.py, src/tokens.py (new)

## Tests

```sh
# the parser only
$ pytest -q tests/test_parser.py \\
    -x
$ ruff check .   # style
1 passed
```

## Risks & Edge Cases

- BOM

## Non\u2011Goals

- encodings
"""


def of(text: str, path: str = PATH) -> Ticket:
    return read_ticket(path, text)


def section(title: str, body: str) -> str:
    return f"# Ticket: 1 T\n\n## Objective\n\nX\n\n- [ ] d\n\n## {title}\n\n{body}\n"


def said(ticket: Ticket) -> list[tuple[int, str]]:
    return [(problem.line, problem.text) for problem in ticket.problems]


def test_every_part_of_a_ticket_is_read() -> None:
    ticket = of(TICKET)

    assert (ticket.id, ticket.slug, ticket.title) == ("07", "parse-crlf", "Parser survives CRLF")
    assert (ticket.spec_version, ticket.context) == ("1.2", "see `architect.md`")
    assert ticket.dependencies == ("01", "03")
    assert ticket.objective == "The parser accepts every line ending.\n\n- also a lone CR"
    assert [(line.text, line.checked, line.line, line.level) for line in ticket.done] == [
        ("`pytest -q` passes on every line ending", False, 17, 0),
        ("the lexer is untouched", True, 19, 1),
        ("really", False, 20, 2),
    ]
    assert ticket.sketch == "Normalise while reading."
    assert ticket.steps == ("Write a test; for CRLF", "Make it pass")
    assert ticket.affected == ("src/parser.py", "src/lexer.py", "src/tokens.py")
    assert ticket.tests == ("pytest -q tests/test_parser.py -x", "ruff check .")
    assert (ticket.risks, ticket.non_goals) == ("- BOM", "- encodings")
    assert ticket.allow_test_edits == ("tests/test_parser.py", "tests/data/**")
    assert ticket.problems == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("## ", "### "),
        lambda text: text.replace("## ", "##"),
        lambda text: text.replace("- [", "* [").replace("1. ", "1) "),
        lambda text: text.replace("- [", "+ ["),
        lambda text: text.replace("    - [ ]", "\t\t- [ ]").replace("  - [x]", "\t- [X]"),
        lambda text: text.replace("**Definition of Done**", "**Definition of Done:**"),
        lambda text: text.replace("**Definition of Done**", "__DoD__:"),
        lambda text: text.replace("**Definition of Done**", "### Definition of Done"),
        lambda text: text.replace("**Definition of Done**", "Definition of done:"),
        lambda text: text.replace("**Definition of Done**\n\n", ""),
        lambda text: text.replace("## Steps", "**Steps**").replace("## Tests", "__Tests__:"),
        lambda text: text.replace("Spec version:", "- **Spec version**:").replace(
            "Dependencies:", "* **dependencies:**"
        ),
        lambda text: text.replace("Dependencies: 01, 03-lexer.md", "**Dependencies**:\n- [01](01-a.md)\n- ticket 03"),
        lambda text: text.replace("```sh", "~~~~console").replace("\n```", "\n~~~~"),
        lambda text: text.replace("Non\u2011Goals", "non-goals:").replace(
            "Risks & Edge Cases", "6. Risks and edge-cases"
        ),
        lambda text: text.replace("## Objective & DoD", "<!-- write\n- [ ] here -->\n## 1. Objective & DoD ##"),
        lambda text: text.replace("# Ticket: 07 Parser survives CRLF\n", "Ticket: Parser survives CRLF\n====\n"),
    ],
)
def test_the_way_it_is_typed_does_not_matter(change) -> None:
    expected, ticket = of(TICKET), of(change(TICKET))

    assert ticket.problems == ()
    for name in ("title", "dependencies", "steps", "affected", "tests", "allow_test_edits", "spec_version"):
        assert getattr(ticket, name) == getattr(expected, name)
    assert [(line.text, line.checked, line.level) for line in ticket.done] == [
        (line.text, line.checked, line.level) for line in expected.done
    ]
    assert ticket.objective.split() == expected.objective.split()
    assert ticket.non_goals
    assert ticket.risks
    assert ticket.sketch


def test_what_is_missing_is_named_and_the_file_name_stands_in_for_the_title() -> None:
    ticket = of("just a thought\n")

    assert ticket.title == "parse crlf"
    assert ticket.objective == "just a thought"
    assert [text.split(";")[0] for _, text in said(ticket)] == [
        "has no Definition of Done",
        "has no `## Tests` block with commands",
        "has no objective",
        "has no title",
    ]


def test_an_unclosed_fence_is_named_and_swallows_no_later_section() -> None:
    ticket = of(section("Tests", "```sh\npytest -q\n\n## Risks\n\n- none of these is a command"))

    assert ticket.tests == ("pytest -q",)
    assert ticket.risks == "- none of these is a command"
    assert said(ticket) == [(11, "this fence is never closed; close it with a line of ```")]


def test_a_line_without_a_box_counts_but_cannot_be_ticked() -> None:
    ticket = of("# T\n## Objective\nX\n**Definition of Done**\nAll of:\n- [ ] a\n- b\n- Docs:\n  - [ ] c\n")

    assert [line.text for line in ticket.done] == ["a", "b", "c"]
    assert (7, "this line has no box and will not be ticked; write `- [ ]`") in said(ticket)


def test_boxes_in_code_and_in_comments_are_no_lines_of_the_definition_of_done() -> None:
    ticket = of("# T\n## DoD\n```\n- [ ] no\n```\n<!-- - [ ] no -->\n- [ ] yes\n")

    assert [line.text for line in ticket.done] == ["yes"]


@pytest.mark.parametrize(
    "text", ["[ ] bare", "-[ ] tight", "- [] empty", "1. [ ] numbered", "   * [ ] deep", "\t+ [  ] wide"]
)
def test_every_kind_of_open_box_is_read_and_ticked(text: str) -> None:
    (line,) = of(f"# T\n## DoD\n{text}\n").done
    assert not line.checked

    (line,) = of(tick(f"# T\n## DoD\n{text}\n", [3])).done
    assert line.checked


def test_a_link_is_no_box() -> None:
    assert of("# T\n## DoD\n- [x](http://a.b)\n- [ ] yes").done[0].text == "[x](http://a.b)"
    assert not of("# T\n## DoD\n- [x](http://a.b)\n- [ ] yes").done[0].checked


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("none", ()),
        ("n/a", ()),
        ("-", ()),
        ("", ()),
        ("None.", ()),
        ("1, 2;3", ("1", "2", "3")),
        ("#04 and #05", ("04", "05")),
        ("Ticket 04 (done)", ("04",)),
        ("[04](../closed/04-a.md), `05-b.md`", ("04", "05")),
        ("02\u201304", ("02", "03", "04")),
        ("01: the lexer", ("01",)),
        ("closed/01-lexer.md", ("01",)),
        ("must come after ticket 12", ("12",)),
        ("lexer-rework", ("lexer-rework",)),
        ("07a", ("07a",)),
    ],
)
def test_dependencies_are_read_however_they_are_named(written: str, read: tuple[str, ...]) -> None:
    ticket = of(f"# T\nDependencies: {written}\n\n## Objective\nX\n")

    assert ticket.dependencies == read
    assert not [text for _, text in said(ticket) if "names no ticket" in text]


def test_a_dependency_that_is_no_ticket_is_named() -> None:
    ticket = of("# T\n\nDependencies: 01, a fast network\n")

    assert ticket.dependencies == ("01",)
    assert (3, "'a fast network' names no ticket; write numbers such as `01, 02`") in said(ticket)


@pytest.mark.parametrize(
    ("block", "commands"),
    [
        ("```\npytest\n```", ("pytest",)),
        ("```sh\npytest &&\nruff check\n```", ("pytest && ruff check",)),
        ("```sh\ncat x |\n  sort\n```", ("cat x | sort",)),
        (
            "```sh\ncd web\nexport A=1\nnpm test\nnpm run lint\n```",
            ("cd web && export A=1 && npm test", "cd web && export A=1 && npm run lint"),
        ),
        ("```sh\ncd web && npm test\n```", ("cd web && npm test",)),
        ("```sh\nA=1 pytest\n```", ("A=1 pytest",)),
        ("```console\n$ pytest -q\n3 passed\n$ make lint\n```", ("pytest -q", "make lint")),
        ("```sh\necho '# no comment' \"#\" a#b # comment\n```", ("echo '# no comment' \"#\" a#b",)),
        ("```sh\npytest\npytest\n```", ("pytest",)),
        ("- first:\n\n  ```sh\n  pytest -q\n  ```\n\nand\n\n~~~\nmake\n~~~", ("pytest -q", "make")),
    ],
)
def test_the_tests_block_holds_command_lines(block: str, commands: tuple[str, ...]) -> None:
    ticket = of(section("Tests", block))

    assert ticket.tests == commands
    assert ticket.problems == ()


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ("```python\nassert True\n```", (11, "a block of python contains no commands; mark it `sh` if it does")),
        ("```sh\ncat <<EOF\n```", (12, "a here-document cannot be a check; put it into a script")),
        ("run `pytest`", (9, "names no command; put them into a fenced block")),
    ],
)
def test_what_is_no_command_is_named(block: str, complaint: tuple[int, str]) -> None:
    ticket = of(section("Tests", block))

    assert ticket.tests == ()
    assert complaint in said(ticket)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("allow test edits: a.py, b.py", ("a.py", "b.py")),
        ("- **Allow test edits**: `a.py` and `b.py`", ("a.py", "b.py")),
        ("`ALLOW TEST EDITS: a.py`", ("a.py",)),
        ("**Allow test edits:** a.py", ("a.py",)),
        ("Allow-test-edits:\n\n- a.py\n- `**/conftest.py`\n\nmore", ("a.py", "**/conftest.py")),
        ("allow test edits: **/conftest.py", ("**/conftest.py",)),
        ("allow test edits: none", ()),
        ("```\nallow test edits: a.py\n```", ()),
        ("we do not allow test edits: a.py", ()),
    ],
)
def test_allowed_test_edits_are_read_from_the_header_and_the_body(written: str, read: tuple[str, ...]) -> None:
    assert of(f"# T\n\n{written}\n\n## Objective\nX\n").allow_test_edits == read
    assert of(section("Risks", written)).allow_test_edits == read


@pytest.mark.parametrize("path", ["/etc/passwd", "../other/test_x.py", "tests/../../x", "~/x"])
def test_allowed_test_edits_never_lead_out_of_the_workspace(path: str) -> None:
    ticket = of(f"# T\nallow test edits: {path}\n")

    assert ticket.allow_test_edits == ()
    assert (2, f"'{path}' is not a path inside the workspace; it is ignored") in said(ticket)


def test_bold_words_in_prose_begin_no_section() -> None:
    ticket = of(section("Steps", "- **Tests**: write one\n- **Risks** are low\n\n**Tests** matter"))

    assert ticket.steps == ("**Tests**: write one", "**Risks** are low")
    assert ticket.risks == ""


def test_a_ticket_is_bounded() -> None:
    boxes = "".join(f"- [ ] line {number}\n" for number in range(MAX_ITEMS + 5))
    ticket = of(f"# T\n## Objective\n{'x' * (MAX_TEXT + 5)}\n## DoD\n{boxes}")

    assert len(ticket.objective) == MAX_TEXT
    assert len(ticket.done) == MAX_ITEMS
    assert (1, "done: only the first 100 are read; make two tickets of it") in said(ticket)


def test_open_lines_are_those_without_a_tick() -> None:
    assert [line.text for line in open_lines(of(TICKET))] == ["`pytest -q` passes on every line ending", "really"]
    assert open_lines(None) == ()


@pytest.mark.parametrize("name", ["07-a.md", "07a.MD", "a-b.md", "7 a.md", "07.md", "2024-01-02 x.md"])
def test_id_and_slug_come_from_the_file_name(name: str) -> None:
    expected = {
        "07-a.md": ("07", "a"),
        "07a.MD": ("07a", "07a"),
        "a-b.md": ("a-b", "a-b"),
        "7 a.md": ("7", "a"),
        "07.md": ("07", "07"),
        "2024-01-02 x.md": ("2024", "01-02 x"),
    }
    ticket = of("", f".sdd/backlog/open/{name}")
    assert (ticket.id, ticket.slug) == expected[name]


PIECES = st.sampled_from(
    [
        "# Ticket: 07 T",
        "## Objective & DoD",
        "**Definition of Done**",
        "- [ ] a",
        "  - [x] b",
        "```",
        "~~~~",
        "```sh",
        "<!--",
        "-->",
        "## Tests",
        "pytest -q \\",
        "$ x",
        "Dependencies: 1–3, x",
        "allow test edits:",
        "- a.py",
        "===",
        "\t- b",
        "",
        "`" * 5,
    ]
)


@example_count(150)
@given(st.lists(st.one_of(PIECES, st.text(max_size=30)), max_size=40), st.sampled_from(["\n", "\r\n", "\r"]))
def test_any_text_is_a_ticket_and_ticking_changes_only_boxes(pieces: list[str], newline: str) -> None:
    text = newline.join(pieces)
    ticket = of(text)
    lines = [line for line in ticket.done if not line.checked]
    ticked = tick(text, [line.line for line in lines])

    assert all(problem.line >= 1 and "\n" not in problem.text for problem in ticket.problems)
    after = of(ticked)
    boxless = {problem.line for problem in ticket.problems if "has no box" in problem.text}
    assert [line.text for line in after.done] == [line.text for line in ticket.done]
    assert all(line.checked or line.line in boxless for line in after.done)
    assert tick(ticked, [line.line for line in lines]) == ticked
    assert ticked.replace("x", "").replace(" ", "") == text.replace("x", "").replace(" ", "")


@example_count(100)
@given(st.text(max_size=200))
def test_reading_loses_no_line(text: str) -> None:
    lines = read_markdown(text).lines
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize(
    "text",
    [
        "```a\n## x\n",
        "`",
        "- [" + " " * 20000,
        "(",
        "a" + " " * 20000 + "b",
        "<!--\n",
        "<!--\n" * 4_000 + "--> x\n",
        "[",
        "- [ ] a\n  - b\n",
        "x\n",
        "\\",
        "**",
        "-- ",
        "~~~~\n~~~\n",
        "$ x \\\n",
        "x &&\n",
        "- Group:\n",
        "](",
        "# ",
        "{",
        "a=",
        "|",
        "||",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts_are_read_in_linear_time(text: str) -> None:
    text *= max(1, 20_000 // len(text))
    whole = "\n".join(
        [
            f"Dependencies: {text}",
            f"allow test edits: {text}",
            f"## Objective\n{text}",
            f"## Affected\n- {text}",
            f"## Tests\n```\n{text}\n```",
        ]
    )
    with bounded_cpu():
        of(text * 3)
        of(whole)
