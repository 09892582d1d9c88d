"""Oracles of one test in a language with brackets, each with the edits that make it wrong."""

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from kotef.integrity.probes.oracles.assertion_table import CHAIN_CLOSE, CHAIN_EQUAL, FAILURES, FORMS, AssertionForm
from kotef.integrity.probes.oracles.enum_members import EnumSource
from kotef.integrity.probes.oracles.near_values import random_word
from kotef.integrity.probes.oracles.regions import Region, callee, callee_start, helpers_of, region_of
from kotef.integrity.probes.oracles.token_edits import Near, TokenEdits
from kotef.integrity.probes.oracles.token_literals import literals_in, moved_number, number_of
from kotef.integrity.probes.oracles.tokens import Dialect, TokenText, dialect_of
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit, WrongAnswer, wrong_answer
from kotef.integrity.probes.source_text import line_breaks
from kotef.source import SourceText, TextEdit

_SCRIPT: Final = frozenset({"javascript", "typescript"})
_GO_FAILS: Final = re.compile(r"\w+(?:\.T\(\))?\.(?:Errorf?|Fatalf?|Fail|FailNow)|panic|log\.Fatalf?")
_GO_EQUAL: Final = re.compile(r"(?:reflect\.DeepEqual|\w+\.Equal)")
_GO_IS: Final = re.compile(r"errors\.Is")


def token_answers(
    path: str, content: bytes, names: Sequence[str], chance: random.Random, enums: EnumSource
) -> Iterator[WrongAnswer]:
    """Each oracle of one test; none where the language of the file is not known."""
    dialect = dialect_of(path)
    source = SourceText.of_bytes(content)
    tokens = TokenText.of(dialect, source.text) if source and dialect else None
    region = region_of(tokens, names) if tokens else None
    if dialect is None or source is None or tokens is None or region is None:
        return
    for oracle in _oracles_of(source, tokens, region, chance, enums):
        answer = wrong_answer(path, source, oracle)
        changed = SourceText.of_bytes(answer.content) if answer else None
        if answer is not None and changed is not None and TokenText.of(dialect, changed.text) is not None:
            yield answer


def _oracles_of(
    source: SourceText, tokens: TokenText, region: Region, chance: random.Random, enums: EnumSource
) -> Iterator[OracleEdit]:
    """Those of the test, and of the helpers beside it."""
    is_whole_file = region == (0, len(tokens.tokens))
    for each in (region, *(() if is_whole_file else helpers_of(tokens, region))):
        yield from TokenOracles(source, tokens, each, chance, enums=enums).all()


def token_region(content: bytes, dialect: Dialect, names: Sequence[str]) -> str | None:
    """The text of one test; None if it is not surely found."""
    source = SourceText.of_bytes(content)
    tokens = TokenText.of(dialect, source.text) if source else None
    region = region_of(tokens, names) if tokens else None
    if source is None or tokens is None or region is None or region[0] >= region[1]:
        return None
    return source.text[tokens.tokens[region[0]].start : tokens.tokens[region[1] - 1].end]


def same_edits(
    source: SourceText, tokens: TokenText, names: Sequence[str], chance: random.Random, *, near: Near
) -> Iterator[TextEdit]:
    """Edits that write the literals that a test expects as `near` does."""
    region = region_of(tokens, names)
    oracles = TokenOracles(source, tokens, region, chance, near=near).all() if region else ()
    for oracle in oracles:
        if oracle.kind == "literal":
            yield from oracle.edits


class TokenOracles(TokenEdits):
    """The oracles of one region."""

    def all(self) -> Iterator[OracleEdit]:
        """Each oracle, in the order of the source."""
        tokens, dialect = self.tokens, self.tokens.dialect
        for at in range(*self.region):
            if dialect == "go" and tokens.is_word(at, "if"):
                yield from self._of_if(at)
            elif tokens.is_sign(at, "(") and tokens.partner[at] <= self.region[1]:
                called = callee(tokens, at)
                if dialect in _SCRIPT and called == "expect":
                    yield from self._of_chain(at)
                elif dialect in _SCRIPT and called.endswith(".expect"):
                    yield from self._of_request(at)
                else:
                    yield from self._of_call(at, called)

    # -- calls

    def _of_call(self, opening: int, called: str) -> Iterator[OracleEdit]:
        form = next(
            (row for row in FORMS if self.tokens.dialect in row.dialects and row.called.fullmatch(called)), None
        )
        if form is None or not self._is_assertion(opening, called):
            return
        found = self._of_form(form, opening, called)
        if found is not None:
            yield OracleEdit(found.kind, found.edits, tuple(self._halt(form, opening, called)))

    def _is_assertion(self, opening: int, called: str) -> bool:
        """Whether the call is surely of a library that asserts, and what it says is not turned by another call."""
        tokens = self.tokens
        start = callee_start(tokens, opening)
        if tokens.dialect == "go":
            begun = tokens.tokens[start].start
            front = self.source.text[self.source.text.rfind("\n", 0, begun) + 1 : begun]
            return "stretchr/testify" in self.source.text and not front.strip()
        if tokens.dialect in {"java", "kotlin"} and re.search(r"\b(?:is|equalTo)$", called):
            around = tokens.enclosing[opening]
            return around >= 0 and re.search(r"\bassertThat$", callee(tokens, around)) is not None
        return True

    def _of_form(self, form: AssertionForm, opening: int, called: str) -> OracleEdit | None:
        arguments = self.tokens.arguments(opening)
        if form.is_true:
            arguments = self._without_message(arguments)
            return self._of_truth(*arguments[0]) if arguments else None

        values = self._values(form, arguments)
        if values and form.limit is not None:
            return self._of_tolerance(form, values, arguments)
        if values and self._has_delta(arguments):
            with_limit = AssertionForm(form.dialects, form.called, form.values, limit=2)
            return self._of_tolerance(with_limit, values, arguments)

        found = self._literal_of(values) or self._definition_of(values, (opening, self.tokens.partner[opening]))
        found = found or self._built_of(values) or self._member_of(values)
        if found is None and self.tokens.dialect == "javascript" and len(values) > 1:
            found = self._wrapped(values[1])
        return found or self._turned(form, opening, called)

    def _without_message(self, arguments: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The value that is true: of Java and Kotlin, whose message is on either side, what is not a text."""
        if self.tokens.dialect not in {"java", "kotlin"} or len(arguments) < 2:  # noqa: PLR2004 - value and message
            return arguments
        values = [(start, end) for start, end in arguments if self.tokens.tokens[end - 1].kind != "text"]
        return values if len(values) == 1 else []

    def _values(self, form: AssertionForm, arguments: list[Region]) -> list[Region]:
        """The arguments that are compared; a message may be in front of them in older JUnit."""
        first = 0
        if self.tokens.dialect == "go" and arguments and not self._is_test_handle(arguments[0]):
            first = -1
        if self.tokens.dialect == "java" and len(form.values) > 1 and len(arguments) > 2:  # noqa: PLR2004
            is_new = "org.junit.jupiter" in self.source.text
            first = 1 if not is_new and self.tokens.tokens[arguments[0][0]].kind == "text" else 0
        chosen = [value + first for value in form.values]
        return [arguments[at] for at in chosen] if chosen and max(chosen) < len(arguments) else []

    def _is_test_handle(self, argument: Region) -> bool:
        text = "".join(self.tokens.text(at) for at in range(*argument))
        return re.fullmatch(r"t|tt|tb|b|\w+\.T\(\)", text) is not None

    def _has_delta(self, arguments: list[Region]) -> bool:
        """Whether a third argument of JUnit is a tolerance: a number that is written as one."""
        is_jvm = self.tokens.dialect in {"java", "kotlin"}
        return is_jvm and len(arguments) == 3 and number_of(self.tokens, *arguments[2]) is not None  # noqa: PLR2004

    def _of_tolerance(self, form: AssertionForm, values: list[Region], arguments: list[Region]) -> OracleEdit | None:
        """A number moved out of its tolerance; nothing if the tolerance is computed."""
        limit: float | None = 1
        if form.limit is not None and form.limit >= 0:
            limit = number_of(self.tokens, *arguments[form.limit]) if len(arguments) > form.limit else None
        if limit is None:
            return None
        for start, end in values:
            for at in literals_in(self.tokens, start, end):
                if text := moved_number(self.tokens, at, limit, self.chance):
                    return self._replaced("tolerance", at, text)
        return None

    def _turned(self, form: AssertionForm, opening: int, called: str) -> OracleEdit | None:
        """The opposite name, where it is surely known to the compiler."""
        if form.opposite is None or not form.opposite[1]:
            return None
        one, other = form.opposite
        name = re.split(r"\.|::|->", called)[-1].removesuffix("!")
        turned = name.replace(one, other) if one in name else name
        is_bare = "." not in called and self.tokens.dialect in {"java", "kotlin"}
        if turned == name or (is_bare and not re.search(rf"\b{turned}\b|import static [\w.]+\.\*", self.source.text)):
            return None
        at = opening - (2 if self.tokens.is_sign(opening - 1, "!") else 1)
        return self._replaced("condition", at, turned)

    # -- conditions

    def _of_truth(self, start: int, end: int) -> OracleEdit | None:
        """An expression that has to be true: a literal in an equality of it, or the whole turned."""
        if start >= end:
            return None
        parts = self.tokens.split(start, end, "&&")
        is_plain = not any(self.tokens.is_sign(at, "||", "?", "=>") for at in self.tokens.inside(start, end))
        for part in parts if is_plain else ():
            sides = self.tokens.split(*part, "==", "===")
            is_equality = len(sides) == 2 and not any(  # noqa: PLR2004 - two sides
                self.tokens.is_sign(at, "!=", "!==", "<", ">", "<=", ">=") for at in self.tokens.inside(*part)
            )
            found = self._of_string_comparison(part)
            if found is None and is_equality:
                found = self._literal_of(sides) or self._member_of(sides)
            if found is not None:
                return found
        return self._around("condition", (start, end), ("!(", ")"))

    def _of_string_comparison(self, part: Region) -> OracleEdit | None:
        """`strcmp(a, "b") == 0` and `!strcmp(a, "b")`."""
        start, end = part
        at = start + 1 if self.tokens.is_sign(start, "!") else start
        if not self.tokens.is_word(at, "strcmp") or not self.tokens.is_sign(at + 1, "("):
            return None
        rest = "".join(self.tokens.text(n) for n in range(self.tokens.partner[at + 1] + 1, end))
        if rest != ("" if at > start else "==0"):
            return None
        return self._literal_of(self.tokens.arguments(at + 1))

    # -- Go

    def _of_if(self, at: int) -> Iterator[OracleEdit]:
        """`if got != want {` with a failure in its block."""
        tokens = self.tokens
        block = next((n for n in tokens.inside(at + 1, self.region[1]) if tokens.is_sign(n, "{")), None)
        if block is None or not self._fails(block):
            return
        start, end = tokens.split(at + 1, block, ";")[-1]
        if start >= end:
            return
        oracle = self._of_difference(start, end, (at, tokens.partner[block])) or self._around(
            "condition", (start, end), ("!(", ")")
        )
        first, last = self._span((start, end))
        halt = (TextEdit(first, first, "("), TextEdit(last, last, ") || true"))
        yield OracleEdit(oracle.kind, oracle.edits, halt)

    def _fails(self, block: int) -> bool:
        """Whether the block fails the test before anything can leave it."""
        tokens = self.tokens
        for at in tokens.inside(block + 1, tokens.partner[block]):
            if tokens.is_word(at, "return", "continue", "break", "goto", "if", "for", "switch", "select"):
                return False
            if tokens.is_sign(at, "(") and _GO_FAILS.fullmatch(callee(tokens, at)):
                return True
        return False

    def _of_difference(self, start: int, end: int, use: Region) -> OracleEdit | None:
        """A condition that holds where something differs."""
        tokens = self.tokens
        if any(tokens.is_sign(at, "&&") for at in tokens.inside(start, end)) or "cmp.Diff" in self._text(use[0], end):
            return None
        for part in tokens.split(start, end, "||"):
            sides = tokens.split(*part, "!=")
            if len(sides) == 2:  # noqa: PLR2004 - two sides
                found = self._literal_of(sides) or self._definition_of(sides, use) or self._built_of(sides)
                found = found or self._member_of(sides)
            elif tokens.is_sign(part[0], "!") and tokens.is_sign(part[1] - 1, ")"):
                found = self._of_unequal_call(part, use)
            else:
                found = None
            if found is not None:
                return found
        return None

    def _of_unequal_call(self, part: Region, use: Region) -> OracleEdit | None:
        """`!reflect.DeepEqual(got, want)`, and `!errors.Is(err, target)` with an error that nothing wraps."""
        tokens = self.tokens
        opening = tokens.partner[part[1] - 1]
        called, values = callee(tokens, opening), tokens.arguments(opening)
        if callee_start(tokens, opening) != part[0] + 1:
            return None
        if _GO_IS.fullmatch(called) and len(values) == 2:  # noqa: PLR2004 - two errors
            start, end = self._span(values[1])
            return OracleEdit("wrapped", (TextEdit(start, end, f'errors.New("{random_word(self.chance)}")'),))
        if not _GO_EQUAL.fullmatch(called):
            return None
        return self._literal_of(values) or self._definition_of(values, use) or self._built_of(values)

    # -- JavaScript chains

    def _of_chain(self, opening: int) -> Iterator[OracleEdit]:
        """`expect(value).to.equal(other)`: the matcher is the last call of the chain."""
        tokens = self.tokens
        words, matcher = self._chain(opening)
        if not words:
            return
        after = tokens.tokens[tokens.partner[opening]].end
        found: OracleEdit | None = None
        if "not" not in words and matcher is not None:
            arguments = tokens.arguments(matcher)[:1]
            if words[-1] in CHAIN_EQUAL:
                found = self._literal_of(arguments) or self._member_of(arguments)
                is_value = words[-1] not in {"toHaveLength", "lengthOf", "toMatchObject"}
                if found is None and arguments and is_value and tokens.dialect == "javascript":
                    found = self._wrapped(arguments[0])
            elif words[-1] in CHAIN_CLOSE and arguments:
                found = self._of_tolerance(AssertionForm(frozenset(), re.compile(""), (0,), limit=-1), arguments, [])
        if found is None and not {"not", "resolves", "rejects", "throws"} & set(words):
            found = OracleEdit("condition", (TextEdit(after, after, ".not"),))
        if found is not None:
            first = tokens.tokens[opening - 1].start
            failure = self._script_failure(self.source.text[first:after])
            yield OracleEdit(found.kind, found.edits, (TextEdit(first, after, failure),))

    def _chain(self, opening: int) -> tuple[list[str], int | None]:
        """The words behind `expect(…)`, and the bracket of the first call among them."""
        tokens = self.tokens
        at = tokens.partner[opening] + 1
        words: list[str] = []
        while tokens.is_sign(at, ".") and tokens.is_word(at + 1):
            words.append(tokens.text(at + 1))
            at += 2
            if tokens.is_sign(at, "("):
                return words, at
        return words, None

    def _of_request(self, opening: int) -> Iterator[OracleEdit]:
        """`.expect(200, "body", done)` of requests in tests: the last literal is an expected value."""
        arguments = self.tokens.arguments(opening)
        for argument in reversed(arguments):
            found = self._literal_of([argument])
            if found is not None:
                yield found
                return

    # -- a failure in the place of the assertion

    def _halt(self, form: AssertionForm, opening: int, called: str) -> Iterator[TextEdit]:
        tokens, dialect = self.tokens, self.tokens.dialect
        if called.startswith("."):
            return
        start, closing = tokens.tokens[callee_start(tokens, opening)].start, tokens.tokens[tokens.partner[opening]]
        whole = self.source.text[start : closing.end]
        is_statement = tokens.is_sign(tokens.partner[opening] + 1, ";") and tokens.is_sign(
            callee_start(tokens, opening) - 1, ";", "{", "}", ")"
        )
        if dialect in _SCRIPT:
            yield TextEdit(start, closing.end, self._script_failure(whole))
        elif dialect == "rust":
            yield TextEdit(start, closing.end, f"{{ if 1 > 0 {{ panic!() }} {whole}; }}")
        elif dialect == "go" and len(form.values) + 1 <= len(tokens.arguments(opening)):
            handle = self._text(*tokens.arguments(opening)[0])
            if re.fullmatch(r"t|tt|tb", handle):
                yield TextEdit(closing.end, closing.end, f"; {handle}.FailNow()")
        elif dialect in {"java", "c", "php"} and is_statement:
            yield from self._failing_block(start, tokens.partner[opening] + 1, whole, called)

    def _failing_block(self, start: int, semicolon: int, whole: str, called: str) -> Iterator[TextEdit]:
        dialect = self.tokens.dialect
        if self.tokens.is_word(semicolon + 1, "else"):
            return
        failure = {"java": "if (1 > 0) throw new AssertionError();", "php": "$this->fail();"}.get(dialect)
        if dialect == "c":
            row = next((text for name, text in FAILURES if name.match(called)), None)
            failure = f"{row.format(called=called)};" if row else None
        if failure is not None:
            yield TextEdit(start, self.tokens.tokens[semicolon].end, f"{{ {failure} {whole}; }}")

    def _script_failure(self, replaced: str) -> str:
        type_of = " as any" if self.tokens.dialect == "typescript" else ""
        word = random_word(self.chance)
        return f'((() => {{ throw new Error("{word}"); }})(){type_of}{line_breaks(replaced)})'
