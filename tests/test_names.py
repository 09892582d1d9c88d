"""A module is named by a noun of the field or by the verb of its one function, and a class name exists once."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest
from support.source_trees import product_nodes

ROOT = Path(__file__).parent.parent / "kotef"
FILES = sorted(ROOT.rglob("*.py"))
MODULES = sorted({path.stem for path in FILES} | {path.parent.name for path in FILES})

NOUNS = {
    "apply": "the command `kotef apply`, whose module has its name",
    "quoting": "the field's word for what a shell and Markdown do to a text",
    "seed": "the caches that fill a room",
    "signing": "a feature of git",
    "tampering": "the field's word for changing what judges",
    "tracing": "the field's word for what `sys.settrace` does",
}
"""Words that end like a participle and are nouns, each with its reason."""

PARTICIPLES = frozenset(
    [
        "begun",
        "built",
        "done",
        "drawn",
        "found",
        "given",
        "gone",
        "heard",
        "held",
        "hidden",
        "kept",
        "known",
        "left",
        "lost",
        "made",
        "said",
        "seen",
        "sent",
        "shown",
        "sought",
        "spoken",
        "stood",
        "taken",
        "thought",
        "told",
        "understood",
        "unheld",
        "written",
    ]
)
"""Participles that end neither in -ing nor in -ed; before a noun they may stand (`seen_files`)."""

ADVERBS = frozenset(
    [
        "again",
        "alone",
        "anew",
        "apart",
        "aside",
        "away",
        "back",
        "behind",
        "beneath",
        "beside",
        "between",
        "beyond",
        "elsewhere",
        "here",
        "in",
        "inside",
        "near",
        "now",
        "often",
        "once",
        "outside",
        "soon",
        "then",
        "there",
        "thus",
        "together",
        "within",
    ]
)


def wrong(name: str) -> str:
    """Why a module may not have this name; empty where it may."""
    words = name.strip("_").split("_")
    adverbs = [word for word in words if word in ADVERBS and not (word == "near" and len(words) > 1)]
    if adverbs:
        return f"{adverbs[0]} is an adverb"
    last = words[-1]
    if last in NOUNS:
        return ""
    if last in PARTICIPLES or (last.endswith(("ing", "ed")) and not last.endswith(("eed", "string"))):
        return f"{last} is a participle, and no noun follows it"
    return f"{last} is an adverb" if last.endswith("ly") and last != "assembly" else ""


def test_a_module_is_named_by_a_noun_of_the_field() -> None:
    found = {name: reason for name in MODULES if (reason := wrong(name)) and not name.startswith("__")}
    assert not found, "take the word that an engineer would search for, or add it to NOUNS with its reason"


@pytest.mark.parametrize(
    "name", ["told", "behind", "putting_back", "standing_in", "unheld", "hired", "asked", "git_kept", "alone", "wholly"]
)
def test_a_participle_or_an_adverb_is_no_name(name: str) -> None:
    assert wrong(name)


@pytest.mark.parametrize("name", ["seen_files", "malformed_calls", "decide", "near_misses", "git_signing", "strings"])
def test_a_noun_may_have_an_adjective_and_a_verb_may_stand_alone(name: str) -> None:
    assert not wrong(name)


def test_every_exception_is_in_use() -> None:
    assert set(NOUNS) <= {word for name in MODULES for word in name.split("_")}


def test_a_class_name_exists_once() -> None:
    places = defaultdict(list)
    for path, nodes in product_nodes().items():
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path.relative_to(ROOT).as_posix())
    assert not {name: files for name, files in places.items() if len(files) > 1}
