"""Files of the project are told from its root, whatever the depth and name of the directory it lies in."""

import pytest

from kotef.classification.locations import from_root


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('File "/w/tests/test_a.py", line 3', 'File "tests/test_a.py", line 3'),
        ("at f (file:///w/a.js:3:5)", "at f (a.js:3:5)"),
        ("/w/a.c:3: error; /w/b.c:4: note", "a.c:3: error; b.c:4: note"),
        ("no file of it: /home/w/a.c:3, /ww/a.c:3, ./w/a.c:3, /w: gone", None),
    ],
)
def test_only_what_lies_below_the_root_is_told_from_there(text: str, told: str | None) -> None:
    assert from_root(text, "/w") == from_root(text, "/w/") == (told or text)
