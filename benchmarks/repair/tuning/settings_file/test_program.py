import pytest
from program import settings_file


def test_empty():
    assert settings_file("") == {}


def test_without_section():
    assert settings_file("a=1") == {"": {"a": "1"}}


def test_section():
    assert settings_file("[x]\na=1\nb=2") == {"x": {"a": "1", "b": "2"}}


def test_comments():
    assert settings_file("# no\n; no\n[x]") == {"x": {}}


def test_blanks():
    assert settings_file("[ x ]\n  size = 10 ") == {"x": {"size": "10"}}


def test_equals_sign_in_value():
    assert settings_file("f=a=b") == {"": {"f": "a=b"}}


def test_section_twice():
    assert settings_file("[x]\na=1\n[y]\n[x]\nb=2") == {"x": {"a": "1", "b": "2"}, "y": {}}


def test_nonsense():
    with pytest.raises(ValueError):
        settings_file("what")
