"""The table of assertion forms of languages with brackets: which calls compare what with what."""

import re
from dataclasses import dataclass
from typing import Final

from kotef.integrity.probes.oracles.tokens import Dialect

_SCRIPT: Final = frozenset[Dialect]({"javascript", "typescript"})
_JVM: Final = frozenset[Dialect]({"java", "kotlin"})
_C: Final = frozenset[Dialect]({"c"})
_GO: Final = frozenset[Dialect]({"go"})
_RUST: Final = frozenset[Dialect]({"rust"})
_PHP: Final = frozenset[Dialect]({"php"})


@dataclass(frozen=True, slots=True)
class AssertionForm:
    """One kind of call that asserts."""

    dialects: frozenset[Dialect]
    called: re.Pattern[str]
    """The whole callee, as `assert.equal` or `EXPECT_EQ`."""
    values: tuple[int, ...] = ()
    """Arguments of which one is the expected value; a single one that has to be true where `is_true`."""
    is_true: bool = False
    limit: int | None = None
    """The argument that says how far apart the values may be; -1 for a small tolerance that is not an argument."""
    opposite: tuple[str, str] | None = None
    """A part of the callee, and what turns the assertion in its place."""


def _form(
    dialects: frozenset[Dialect],
    called: str,
    *values: int,
    is_true: bool = False,
    limit: int | None = None,
    opposite: tuple[str, str] | None = None,
) -> AssertionForm:
    return AssertionForm(dialects, re.compile(called), values, is_true, limit, opposite)


def _turned(dialects: frozenset[Dialect], front: str, one: str, other: str) -> list[AssertionForm]:
    """Two names of which one passes where the other fails, whatever their arguments."""
    return [
        _form(dialects, front + re.escape(one), opposite=(one, other)),
        _form(dialects, front + re.escape(other), opposite=(other, one)),
    ]


_ASSERT: Final = r"(?:chai\.)?assert(?:\.strict)?\."
_T: Final = r"(?:t|test)\."
_JUNIT: Final = r"(?:Assert\.|Assertions\.|TestCase\.|this\.)?"
_TESTIFY: Final = r"(?:assert|require|s|suite|a|r)\."
_PHPUNIT: Final = r"(?:\$this->|self::|static::)"

FORMS: Final[tuple[AssertionForm, ...]] = (
    # JavaScript and TypeScript
    *(
        _form(_SCRIPT, rf"(?:{_ASSERT}|{_T}){name}", 0, 1, opposite=(name, other) if other else None)
        for name, other in (
            ("equal", "notEqual"), ("strictEqual", "notStrictEqual"), ("deepEqual", "notDeepEqual"),
            ("deepStrictEqual", "notDeepStrictEqual"), ("is", "not"), ("same", ""), ("strictSame", ""), ("eql", ""),
        )
    ),
    *(
        _form(_SCRIPT, rf"(?:{_ASSERT}|{_T}){name}", opposite=(name, other))
        for name, other in (
            ("notEqual", "equal"), ("notStrictEqual", "strictEqual"), ("notDeepEqual", "deepEqual"),
            ("notDeepStrictEqual", "deepStrictEqual"), ("not", "is"),
        )
    ),
    _form(_SCRIPT, rf"{_ASSERT}(?:closeTo|approximately)", 0, 1, limit=2),
    _form(_SCRIPT, rf"(?:console\.)?assert|{_ASSERT}ok|{_T}(?:ok|assert|truthy)", 0, is_true=True),
    *_turned(_SCRIPT, _ASSERT, "throws", "doesNotThrow"),
    *_turned(_SCRIPT, _ASSERT, "rejects", "doesNotReject"),
    *_turned(_SCRIPT, _ASSERT, "match", "doesNotMatch"),
    *_turned(_SCRIPT, _T, "true", "false"),
    *_turned(_SCRIPT, _T, "throws", "notThrows"),
    _form(_SCRIPT, r".*\.should(?:\.\w+)*\.(?:equal|eql|exactly|eq)", 0),
    # Go, testify
    *(
        _form(_GO, _TESTIFY + name, 1, 2, opposite=(name, other))
        for name, other in (("Equal", "NotEqual"), ("EqualValues", "NotEqualValues"), ("Exactly", "NotEqual"))
    ),
    _form(_GO, f"{_TESTIFY}InDelta", 1, 2, limit=3),
    *_turned(_GO, _TESTIFY, "True", "False"),
    *_turned(_GO, _TESTIFY, "NoError", "Error"),
    *_turned(_GO, _TESTIFY, "Nil", "NotNil"),
    *_turned(_GO, _TESTIFY, "Contains", "NotContains"),
    *_turned(_GO, _TESTIFY, "Panics", "NotPanics"),
    # Rust
    _form(_RUST, r"(?:\w+::)*assert_eq!", 0, 1, opposite=("assert_eq", "assert_ne")),
    _form(_RUST, r"(?:\w+::)*assert_ne!", opposite=("assert_ne", "assert_eq")),
    _form(_RUST, r"(?:\w+::)*assert!", 0, is_true=True),
    # Java and Kotlin
    _form(_JVM, rf"{_JUNIT}assertEquals", 0, 1, opposite=("assertEquals", "assertNotEquals")),
    _form(_JVM, rf"{_JUNIT}assert(?:ArrayEquals|IterableEquals|LinesMatch)", 0, 1),
    _form(_JVM, rf"{_JUNIT}assertTrue", 0, is_true=True),
    *_turned(_JVM, _JUNIT, "assertTrue", "assertFalse"),
    *_turned(_JVM, _JUNIT, "assertNull", "assertNotNull"),
    *_turned(_JVM, _JUNIT, "assertSame", "assertNotSame"),
    *(
        _form(_JVM, rf"\.{name}", 0, opposite=(name, other))
        for name, other in (("isEqualTo", "isNotEqualTo"), ("hasSize", ""), ("isSameAs", "isNotSameAs"))
    ),
    *_turned(_JVM, r"\.", "isTrue", "isFalse"),
    *_turned(_JVM, r"\.", "isNull", "isNotNull"),
    _form(_JVM, r"(?:Matchers\.|CoreMatchers\.)?(?:is|equalTo)", 0),
    # C and C++
    *(
        _form(_C, rf"{strength}_{one}", *values, opposite=(f"_{one}", f"_{other}"))
        for strength in ("EXPECT", "ASSERT")
        for one, other, values in (
            ("EQ", "NE", (0, 1)), ("NE", "EQ", ()), ("STREQ", "STRNE", (0, 1)), ("STRNE", "STREQ", ()),
            ("STRCASEEQ", "STRCASENE", (0, 1)), ("TRUE", "FALSE", ()), ("FALSE", "TRUE", ()), ("LT", "GE", ()),
            ("GE", "LT", ()), ("LE", "GT", ()), ("GT", "LE", ()),
        )
    ),
    _form(_C, r"(?:EXPECT|ASSERT)_(?:FLOAT|DOUBLE)_EQ", 0, 1, limit=-1),
    _form(_C, r"(?:EXPECT|ASSERT)_NEAR", 0, 1, limit=2),
    _form(_C, r"(?:REQUIRE|CHECK)", 0, is_true=True, opposite=None),
    *_turned(_C, "", "REQUIRE_FALSE", "REQUIRE"),
    *_turned(_C, "", "CHECK_FALSE", "CHECK"),
    _form(_C, r"assert|ck_assert|cr_assert|assert_true|TEST_CHECK|(?:TEST|CU)_ASSERT(?:_TRUE)?", 0, is_true=True),
    _form(_C, r"ck_assert_u?int_eq", 0, 1, opposite=("_eq", "_ne")),
    _form(_C, r"ck_assert_(?:str|ptr)_eq", 0, 1, opposite=("_eq", "_ne")),
    _form(_C, r"TEST_ASSERT_EQUAL_(?:FLOAT|DOUBLE)", 0, 1, limit=-1),
    _form(_C, r"TEST_ASSERT_EQUAL(?:_(?:U?INT(?:8|16|32|64)?|STRING|CHAR|HEX\d*|PTR))?(?:_MESSAGE)?", 0, 1),
    *_turned(_C, "", "TEST_ASSERT_NULL", "TEST_ASSERT_NOT_NULL"),
    _form(_C, "TEST_ASSERT_FALSE", opposite=("_FALSE", "_TRUE")),
    *(
        _form(_C, rf"assert_{what}_equal", 0, 1, opposite=("_equal", "_not_equal")) for what in ("int", "string")
    ),
    _form(_C, "assert_false", opposite=("_false", "_true")),
    *_turned(_C, "", "assert_null", "assert_non_null"),
    _form(_C, r"CU_ASSERT(?:_STRING)?_EQUAL", 0, 1, opposite=("_EQUAL", "_NOT_EQUAL")),
    _form(_C, r"cr_assert_(?:str_)?eq", 0, 1),
    # PHP
    *(
        _form(_PHP, rf"{_PHPUNIT}{one}", *values, opposite=(one, other))
        for one, other, values in (
            ("assertSame", "assertNotSame", (0, 1)), ("assertEquals", "assertNotEquals", (0, 1)),
            ("assertCount", "assertNotCount", (0,)), ("assertTrue", "assertFalse", ()),
            ("assertFalse", "assertTrue", ()), ("assertNull", "assertNotNull", ()),
            ("assertNotNull", "assertNull", ()),
        )
    ),
)  # fmt: skip

FAILURES: Final = (
    (re.compile(r"EXPECT_|ASSERT_"), "ADD_FAILURE()"),
    (re.compile(r"REQUIRE|CHECK"), "{called}(1 == 2)"),
    (re.compile(r"TEST_ASSERT"), "TEST_FAIL()"),
    (re.compile(r"ck_assert"), "ck_assert(0)"),
    (re.compile(r"CU_ASSERT"), "CU_ASSERT(0)"),
    (re.compile(r"cr_assert"), "cr_assert(0)"),
    (re.compile(r"assert_"), "assert_true(0)"),
    (re.compile(r"assert"), "__builtin_trap()"),  # an `assert` that is compiled away would fail to fail
)
"""In C and C++: a call that fails as the assertion would, by the beginning of its name."""

CHAIN_EQUAL: Final = frozenset(
    "toBe toEqual toStrictEqual equal equals eql eq deepEqual toHaveLength lengthOf toMatchObject".split()  # noqa: SIM905
)
CHAIN_CLOSE: Final = frozenset({"toBeCloseTo", "closeTo", "approximately"})
"""Ends of `expect(…)` chains of JavaScript."""
