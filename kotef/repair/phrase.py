"""Words for a call on which edits disagree, as a person would write it."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from kotef.repair.source import FunctionNode, SwapUnit

LEFT: Final = " with arguments left as "
"""What is between the value of a call and the arguments that it changed; see `worker.trials`."""
_RAISES: Final = "raises "


@dataclass(frozen=True, slots=True)
class Phrase:
    """One call in words."""

    given: str
    """`With Account('bob', overdraft=500)`; empty for a plain function."""
    call: str
    """`may_pay(500)`."""


def phrase_of(unit: SwapUnit, literal: str) -> Phrase:
    """A call of this function with the literal of its arguments, `self` among them."""
    row: dict[str, Any] = _row(literal)
    if not unit.outer or "self" not in row:
        return Phrase("", f"{unit.node.name}({_arguments(unit.node, row, literal)})")
    owner = unit.outer[-1]
    attributes = row["self"] if isinstance(row["self"], dict) else {}
    arguments = _arguments(unit.node, row, literal)
    if unit.node.name == "__init__":
        return Phrase("", f"{owner.name}({arguments})")
    return Phrase(_receiver(owner, attributes), f"{unit.node.name}({arguments})")


def _row(literal: str) -> dict[str, Any]:
    try:
        row = ast.literal_eval(literal)
    except (ValueError, SyntaxError):  # it holds an infinity or a frozenset, or there is none
        return {}
    return row if isinstance(row, dict) else {}


def _arguments(function: FunctionNode, row: Mapping[str, Any], literal: str) -> str:
    """Those without a default by their place, the others by name; as recorded where they have no plain value."""
    if not row:
        return literal.strip("{}")
    defaults = _defaults(function)
    named = {argument.arg for argument in function.args.kwonlyargs} | set(defaults)
    parameters = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    names = [argument.arg for argument in parameters if argument.arg in row and argument.arg != "self"]
    return ", ".join(f"{name}={row[name]!r}" if name in named else repr(row[name]) for name in names)


def _defaults(function: FunctionNode) -> dict[str, ast.expr]:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    with_default = names[len(names) - len(function.args.defaults) :]
    return dict(zip(with_default, function.args.defaults, strict=True))


def _receiver(owner: ast.ClassDef, attributes: Mapping[str, Any]) -> str:
    """The object as its constructor would make it, and what differs from that."""
    made = next((node for node in owner.body if isinstance(node, FunctionNode) and node.name == "__init__"), None)
    if made is None:
        return _with_state(f"With {_article(owner.name)}", " of ", attributes)
    stored = _stored(made)
    names = [argument.arg for argument in made.args.args[1:]]
    if not all(stored.get(name) in attributes for name in names):
        return _with_state(f"With {_article(owner.name)}", " of ", attributes)

    defaults = _defaults(made)
    given = {name: attributes[stored[name]] for name in names}
    needed = {name: value for name, value in given.items() if not _is(defaults.get(name), value)}
    call = f"With {owner.name}({_arguments(made, needed, '{}')})"

    fixed = _constants(made)
    by_arguments = {stored[name] for name in names}
    changed = {
        name: value
        for name, value in attributes.items()
        if name not in by_arguments and not (name in fixed and fixed[name] == value)
    }
    return _with_state(call, " and ", changed)


def _with_state(front: str, joint: str, attributes: Mapping[str, Any]) -> str:
    state = ", ".join(f"{name} {value!r}" for name, value in attributes.items())
    return f"{front}{joint}{state}" if state else front


def _article(name: str) -> str:
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def _stored(made: FunctionNode) -> dict[str, str]:
    """Parameter → the attribute it is stored in as it is."""
    return {value.id: attribute for attribute, value in _assigned(made) if isinstance(value, ast.Name)}


def _constants(made: FunctionNode) -> dict[str, Any]:
    """Attribute → the plain value that the constructor gives it."""
    found: dict[str, Any] = {}
    for attribute, value in _assigned(made):
        with suppress(ValueError, TypeError):
            found[attribute] = ast.literal_eval(value)
    return found


def _assigned(made: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Attributes of `self` and what they are given."""
    for node in ast.walk(made):
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)], value=value):
                yield attribute, value
            case _:
                pass


def _is(default: ast.expr | None, value: Any) -> bool:
    try:
        return default is not None and bool(ast.literal_eval(default) == value)
    except (ValueError, TypeError):
        return False


def answers_of(results: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Short answers in place of the results, and the verb that goes with them: `return` or `leave`.

    The return value of a call is described alone if it distinguishes the results, else its side effects.
    """
    values = tuple(result.partition(LEFT)[0] for result in results)
    if len(set(values)) == len(set(results)):
        return values, "return"
    left = [_flat(_row(result.partition(LEFT)[2])) for result in results]
    if len(set(values)) == 1 and all(left):
        names = [name for name in left[0] if any(each.get(name) != left[0][name] for each in left[1:])]
        answers = tuple(", ".join(f"{name} {each.get(name, 'unset')}" for name in names) for each in left)
        if len(set(answers)) == len(set(results)):
            return answers, "leave"
    return tuple(results), "return"


def _flat(left: Mapping[str, Any]) -> dict[str, str]:
    """Arguments and the attributes of `self`, by name."""
    own = left.get("self")
    arguments = {name: repr(value) for name, value in left.items() if name != "self"}
    attributes = {name: repr(value) for name, value in own.items()} if isinstance(own, dict) else {}
    return {**arguments, **attributes}


def choice_of(answers: Sequence[str], verb: str) -> str:
    """`return True or False`, `return 5 or raise ValueError`."""
    choices: list[str] = []
    last = ""
    for answer in answers:
        if answer.startswith(_RAISES):
            own, text = "raise", answer.removeprefix(_RAISES)
        elif answer == "it does not finish":
            own, text = "not", "end"
        else:
            own, text = verb, answer
        choices.append(text if own == last else f"{own} {text}")
        last = own
    return " or ".join(choices)
