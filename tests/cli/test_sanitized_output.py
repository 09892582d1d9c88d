"""Output contains no characters that steer a terminal or that are invisible."""

import json
import sys
import unicodedata

import pytest

from kotef.cli.screen import plain, say_json
from kotef.cli.screen.sanitize import escaped

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_plain_text_loses_exactly_the_unsafe_characters() -> None:
    kept = [char for char in EVERY if char in "\n\t" or unicodedata.category(char) not in UNSEEN]

    assert plain("".join(EVERY)) == "".join(kept)


def test_json_escapes_unsafe_characters_without_changing_the_value(capsys: pytest.CaptureFixture[str]) -> None:
    whole = [char for char in EVERY if unicodedata.category(char) != "Cs"]
    said = json.dumps({"all": "".join(whole)}, ensure_ascii=False)

    shown = escaped(said)

    assert not [char for char in shown if unicodedata.category(char) in UNSEEN - {"Cs"} and char not in "\n\t"]
    assert json.loads(shown) == {"all": "".join(whole)}
    say_json({"lone": "\ud800", "line": "\x7f\x9b\u202e\u2028\U000e0041"})
    assert capsys.readouterr().out.isascii()
