import sys
from pathlib import Path

import jinja2
import pytest

from kotef.context.prompts import environment, shipped
from kotef.context.template_cache import Compiled


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Python keeps byte code in this test."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "cache"


def render(text: str) -> str:
    templates = jinja2.Environment(loader=jinja2.DictLoader({"a": text}), bytecode_cache=Compiled(), autoescape=False)
    return templates.get_template("a").render(x=1)


def kept(place: Path) -> list[Path]:
    return list(place.rglob("*.jinja"))


def test_a_template_is_compiled_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert render("{{ x }}") == "1"
    assert len(kept(place)) == 1
    monkeypatch.setattr(jinja2.Environment, "_compile", None)
    assert render("{{ x }}") == "1", "nothing is compiled the second time"


def test_another_text_is_compiled_anew(place: Path) -> None:
    assert render("{{ x }}") == "1"
    assert render("{{ x }}!") == "1!"


@pytest.mark.parametrize("size", [0, 1, 20, 60])
def test_a_file_that_was_cut_is_made_anew(place: Path, size: int) -> None:
    render("{{ x }}")
    (one,) = kept(place)
    whole = one.read_bytes()
    one.write_bytes(whole[:size])
    assert render("{{ x }}") == "1"
    assert one.read_bytes() == whole


def test_where_python_keeps_no_byte_code_there_is_none_of_templates(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert render("{{ x }}") == "1"
    assert kept(place) == []


def test_a_place_that_cannot_be_written_costs_nothing_else(place: Path) -> None:
    place.write_text("a file where a directory should be")
    assert render("{{ x }}") == "1"


def test_a_prompt_of_a_repository_is_never_kept(tmp_path: Path) -> None:
    """What lies beside kotef's own byte code is made of kotef's own text."""
    assert environment(tmp_path, shipped()).bytecode_cache is None
    assert environment(shipped()).bytecode_cache is not None
