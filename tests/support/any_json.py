"""Which JSON can a model send? Anything: what fits the schema of a tool, what nearly does, and what no one thought of."""

from typing import Any

from hypothesis import strategies as st

TEXTS = (
    "",
    "calc.py",
    "test_calc.py",
    "new/deep/file.txt",
    "../outside",
    "/etc/passwd",
    ".sdd/tickets",
    "calc.py\0",
    "a\nb\r\n",
    "\x1b[31mred\x1b[2J",
    "\ud800 half",
    "\u202eevil",
    "{{ 7 * 7 }}",
    "</repository>",
    "[bold]x[/bold]",
    "x" * 5_000,
    "é" * 300,
    "*" * 200,
    "(" * 300,
    "core",
    "add",
)
COMMANDS = (
    "true",
    "echo hi",
    "exit 3",
    "printf '\\033[31mred\\n'",
    "no-such-program",
    "python -m unittest -q",
    "\0",
    "",
)


def texts() -> st.SearchStrategy[str]:
    """Texts that programs stumble over, and any."""
    return st.sampled_from(TEXTS) | st.text(max_size=20)


def any_json(*, depth: int = 6) -> st.SearchStrategy[Any]:
    """Any value; JSON has no bounds for its numbers and its depth."""
    numbers = st.integers() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)
    leaves = st.none() | st.booleans() | numbers | texts()
    names = st.sampled_from(("path", "command", "name", "names", "edits", "search", "x")) | st.text(max_size=4)
    return st.recursive(
        leaves, lambda one: st.lists(one, max_size=3) | st.dictionaries(names, one, max_size=3), max_leaves=depth
    )


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What a JSON schema allows, as far as the schemas of kotef's tools go."""
    if ways := schema.get("anyOf") or schema.get("oneOf"):
        return st.one_of([fitting(way) for way in ways])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "object":
            needed = {name: fitting(part) for name, part in schema.get("properties", {}).items()}
            asked = set(schema.get("required", ()))
            optional = {name: part for name, part in needed.items() if name not in asked}
            return st.fixed_dictionaries({name: needed[name] for name in asked}, optional=optional)
        case "array":
            return st.lists(fitting(schema.get("items", {})), max_size=3)
        case "integer":
            return st.integers(-2, 2_000) | st.integers()
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 60)
        case "boolean":
            return st.booleans()
        case "string":
            return texts()
        case _:
            return any_json()


def arguments(name: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Arguments for a tool: fitting, with one of them anything, or anything at all."""
    parameters = dict(schema)
    if "command" in parameters.get("properties", {}):
        parameters["properties"] = parameters["properties"] | {"command": {"enum": list(COMMANDS)}}
    good = fitting(parameters)
    names = st.sampled_from([*parameters.get("properties", {}), "extra"])
    spoilt = st.builds(lambda given, key, value: {**given, key: value}, good, names, any_json())
    return st.one_of(good, spoilt, spoilt, any_json())
