"""Languages of the repository map, and how to recognise a definition in each."""

import re
from dataclasses import dataclass
from typing import Final

_NAME: Final = rb"([A-Za-z_$\x80-\xff][\w$\x80-\xff]*)"


@dataclass(frozen=True, slots=True)
class Language:
    """One language; a definition is found by its grammar where that is installed, else line by line."""

    name: str
    lines: re.Pattern[bytes]
    r"""Finds definitions without a grammar: a line, its `\n` before it included; the one group is the name."""
    module: str = ""
    """The package of its grammar for tree-sitter."""
    function: str = "language"
    """Which function of that package gives the grammar."""
    query: str = ""
    """Captures `@name` within `@class`, `@function`, …; node types are those of the grammar."""


def _lines(modifiers: str, keywords: str, between: str = r" +") -> re.Pattern[bytes]:
    """A definition that begins its line: words that may come before, then one that must, then the name."""
    before = rf"(?:(?:{modifiers})[ \t]+)*" if modifiers else ""
    return re.compile(rf"\n[ \t]*{before}(?:{keywords}){between}".encode() + _NAME)


def _query(kinds: dict[str, str], *more: str) -> str:
    """A query for nodes that have a field `name`: kind → node types, separated by spaces."""
    rows = [f"({node} name: (_) @name) @{kind}" for kind, nodes in kinds.items() for node in nodes.split()]
    return "\n".join([*rows, *more])


_ARROWS: Final = (
    "(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function"
)
_SCRIPT: Final = {
    "class": "class_declaration",
    "function": "function_declaration generator_function_declaration",
    "method": "method_definition",
}
_TYPED: Final = {
    **_SCRIPT,
    "class": "class_declaration abstract_class_declaration",
    "function": "function_declaration generator_function_declaration function_signature",
    "interface": "interface_declaration",
    "type": "type_alias_declaration enum_declaration",
}
_SCRIPT_LINES: Final = _lines(
    "export|default|declare|async|abstract|public|private|protected|static",
    "class|function|interface|enum|type|const|let",
    r"[ *]+",
)
_C_FUNCTIONS: Final = (
    "(function_definition declarator: (function_declarator declarator: (_) @name)) @function",
    "(function_definition declarator: (_ declarator: (function_declarator declarator: (_) @name))) @function",
    "(struct_specifier name: (_) @name body: (_)) @struct",
    "(enum_specifier name: (_) @name body: (_)) @enum",
    "(type_definition declarator: (type_identifier) @name) @type",
)
_C_LINES: Final = re.compile(
    rb"\n(?!return|else|typedef|if|for|while|switch)(?:(?:struct|enum|union|class|namespace) +"
    + _NAME
    + rb"[^;\n]*$|[A-Za-z_][\w \t*&:<>,~]*?[ \t*&:]([A-Za-z_~]\w*)\([^;\n]*$)",
    re.MULTILINE,
)
_OBJECTS: Final = (
    "public|private|protected|internal|static|final|abstract|sealed|partial|readonly|unsafe|data|open|override|case"
)

_TABLE: Final = (
    (
        "py pyi",
        Language(
            "Python",
            _lines("async", "def|class"),
            "tree_sitter_python",
            query=_query({"class": "class_definition", "function": "function_definition"}),
        ),
    ),
    (
        "js jsx mjs cjs",
        Language("JavaScript", _SCRIPT_LINES, "tree_sitter_javascript", query=_query(_SCRIPT, _ARROWS)),
    ),
    (
        "ts mts cts",
        Language(
            "TypeScript",
            _SCRIPT_LINES,
            "tree_sitter_typescript",
            "language_typescript",
            _query(_TYPED, _ARROWS),
        ),
    ),
    (
        "tsx",
        Language("TypeScript", _SCRIPT_LINES, "tree_sitter_typescript", "language_tsx", _query(_TYPED, _ARROWS)),
    ),
    (
        "go",
        Language(
            "Go",
            re.compile(rb"\n(?:func +(?:\([^)\n]*\) *)?|type +)" + _NAME),
            "tree_sitter_go",
            query=_query({"function": "function_declaration", "method": "method_declaration", "type": "type_spec"}),
        ),
    ),
    (
        "rs",
        Language(
            "Rust",
            _lines(
                r"pub(?:\([^)\n]*\))?|async|unsafe|const|default", "fn|struct|enum|trait|union|type|mod|macro_rules!"
            ),
            "tree_sitter_rust",
            query=_query(
                {
                    "function": "function_item function_signature_item",
                    "struct": "struct_item union_item",
                    "enum": "enum_item",
                    "trait": "trait_item",
                    "type": "type_item",
                    "module": "mod_item",
                    "macro": "macro_definition",
                }
            ),
        ),
    ),
    (
        "java",
        Language(
            "Java",
            _lines(_OBJECTS, "class|interface|enum|record|@interface"),
            "tree_sitter_java",
            query=_query(
                {
                    "class": "class_declaration record_declaration",
                    "interface": "interface_declaration annotation_type_declaration",
                    "enum": "enum_declaration",
                    "method": "method_declaration constructor_declaration",
                }
            ),
        ),
    ),
    ("c h", Language("C", _C_LINES, "tree_sitter_c", query="\n".join(_C_FUNCTIONS))),
    (
        "cc cpp cxx hh hpp hxx",
        Language(
            "C++",
            _C_LINES,
            "tree_sitter_cpp",
            query="\n".join(
                (
                    *_C_FUNCTIONS,
                    "(class_specifier name: (_) @name body: (_)) @class",
                    "(namespace_definition name: (_) @name) @namespace",
                )
            ),
        ),
    ),
    (
        "rb",
        Language(
            "Ruby",
            _lines("", r"def(?: +self\.)?|class|module", r"(?: +|(?<=\.))"),
            "tree_sitter_ruby",
            query=_query({"class": "class", "module": "module", "method": "method singleton_method"}),
        ),
    ),
    (
        "php",
        Language(
            "PHP",
            _lines(_OBJECTS, "function|class|interface|trait|enum", r" +&?"),
            "tree_sitter_php",
            "language_php",
            _query(
                {
                    "class": "class_declaration",
                    "interface": "interface_declaration",
                    "trait": "trait_declaration",
                    "enum": "enum_declaration",
                    "function": "function_definition",
                    "method": "method_declaration",
                }
            ),
        ),
    ),
    (
        "cs",
        Language(
            "C#",
            _lines(_OBJECTS, "class|interface|enum|record|struct"),
            "tree_sitter_c_sharp",
            query=_query(
                {
                    "class": "class_declaration record_declaration",
                    "interface": "interface_declaration",
                    "struct": "struct_declaration",
                    "enum": "enum_declaration",
                    "method": "method_declaration constructor_declaration",
                }
            ),
        ),
    ),
    ("kt kts", Language("Kotlin", _lines(_OBJECTS, "fun|class|interface|object|typealias"))),
    ("scala", Language("Scala", _lines(_OBJECTS, "def|class|trait|object|type"))),
    ("swift", Language("Swift", _lines(_OBJECTS, "func|class|struct|enum|protocol|extension|actor"))),
    ("lua", Language("Lua", _lines("local", "function"))),
    ("ex exs", Language("Elixir", _lines("", "defmodule|defp?|defmacro"))),
    ("sh bash", Language("Shell", re.compile(rb"\n(?:function +)?([A-Za-z_][\w-]*) *\( *\)"))),
)

BY_ENDING: Final = {ending: language for endings, language in _TABLE for ending in endings.split()}
"""The part of a file's name after its last dot, in small letters → its language."""


def language_of(path: str) -> Language | None:
    """The language of a file by the ending of its name; None for what the map does not look into."""
    return BY_ENDING.get(path.rpartition(".")[2].lower())
