"""Detection of tampering in JavaScript and TypeScript, by words.

Read by words and not as a language: what is hidden a little is not seen.
"""

import re
from collections.abc import Iterator
from posixpath import dirname, join, normpath
from typing import Final

JAVASCRIPT_SUFFIXES: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")

_ASSERT: Final = r"(?:require\(\s*['\"](?:node:)?(?:assert|test)(?:/strict)?['\"]\s*\)|\bassert|\bexpect)"
_BOUND: Final = re.compile(
    r"\b(?:(?:const|let|var)\s+(?P<name>\w+)\s*=\s*require\(|import\s+(?:\*\s*as\s+)?(?P<other>\w+)\s+from)"
    r"\s*['\"](?:node:)?(?:assert|test|chai|vitest|@jest/globals)(?:/strict)?['\"]"
)
_CHANGED: Final = (
    r"(?:{asserts})(?:\.strict)?(?:\.\w+|\[[^\]\n]+\])\s*=(?![=>])"
    r"|\b(?:Object|Reflect)\.(?:assign|definePropert(?:y|ies)|setPrototypeOf|set)\(\s*(?:{asserts})(?=[\s,.)])"
)
"""With `asserts`, the names of what tests assert with."""
_ANYWHERE: Final = (
    (
        re.compile(r"(?:require\(|from|import\(|import)\s*['\"](?:node:test|@jest/globals|vitest)['\"]"),
        "loads the runner",
    ),
    (re.compile(r"\bprocess\.exitCode\s*=\s*0\b"), "sets the status of the test run"),
    (
        re.compile(r"\bprocess\.(?:exit|reallyExit|abort|emit|stdout\.write)\s*=(?![=>])"),
        "changes how the test run ends",
    ),
    (re.compile(r"\bprocess\.(?:reallyExit|abort)\s*\("), "ends the process that runs the tests"),
    (re.compile(r"\bprocess\.kill\(\s*process\.pid"), "ends the process that runs the tests"),
    (
        re.compile(r"\brequire\.cache\b|\b[Mm]odule\._(?:load|cache|extensions|resolveFilename)\b"),
        "changes what is loaded",
    ),
    (
        re.compile(r"\bprocess\.env\.(?:KOTEF_REPORTS\w*|NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST\w*)\b"),
        "looks for something that only a test run has",
    ),
)
_RELATIVE: Final = re.compile(r"(?:\brequire\(|\bfrom|\bimport\(|\bimport)\s*['\"](\.{1,2}/[^'\"\n]+)['\"]")
_ON_IMPORT: Final = re.compile(r"(?<!=> )(?<!=>)\bprocess\.exit\(\s*0?\s*\)")
_TOKENS: Final = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`"
    r"|(?P<open>[{(\[])|(?P<close>[})\]])",
    re.DOTALL,
)


def constructs(text: str) -> Iterator[tuple[int, str]]:
    """Line and words of each construct, comments left out; an exit counts where loading the module comes to it."""
    code, inside = _without_comments(text)
    bound = [rf"\b{match['name'] or match['other']}\b" for match in _BOUND.finditer(code)]
    changed = re.compile(_CHANGED.replace("{asserts}", "|".join([_ASSERT, *bound])))
    for number, content in enumerate(code.split("\n"), 1):
        for pattern, what in ((changed, "changes what the tests assert with"), *_ANYWHERE):
            if match := pattern.search(content):
                yield number, f"`{match[0].strip()}` {what}"
    for match in () if text.startswith("#!") else _ON_IMPORT.finditer(code):
        if not any(start < match.start() < end for start, end in inside):
            message = f"`{match[0]}` ends the process with success while the module is loaded"
            yield code.count("\n", 0, match.start()) + 1, message


def required_files(path: str, text: str) -> Iterator[str]:
    """Workspace paths at which a module may find those that it loads by a relative name, there or not."""
    for name in _RELATIVE.findall(text):
        base = normpath(join(dirname(path), name))
        yield base
        yield from (f"{base}{suffix}" for suffix in JAVASCRIPT_SUFFIXES)
        yield from (f"{base}/index{suffix}" for suffix in JAVASCRIPT_SUFFIXES)


def _without_comments(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text with blanks for comments, and where its outermost brackets open and close."""
    pieces: list[str] = []
    inside: list[tuple[int, int]] = []
    depth = at = opened = 0
    for token in _TOKENS.finditer(text):
        is_comment = token["comment"] is not None
        pieces += [text[at : token.start()], re.sub(r"[^\n]", " ", token[0]) if is_comment else token[0]]
        at = token.end()
        if token["open"]:
            opened = token.start() if not depth else opened
            depth += 1
        elif token["close"] and depth:
            depth -= 1
            inside += [] if depth else [(opened, at)]
    return "".join([*pieces, text[at:]]), [*inside, *([(opened, len(text))] if depth else [])]
