from program import split_escaped, unescaped


def test_plain():
    assert unescaped("abc") == "abc"


def test_newline():
    assert unescaped("a\\nb") == "a\nb"


def test_two():
    assert unescaped("\\t\\t") == "\t\t"


def test_backslash():
    assert unescaped("a\\\\b") == "a\\b"


def test_other_letters_stand_for_themselves():
    assert unescaped("\\q") == "q"


def test_lone_backslash():
    assert unescaped("end\\") == "end\\"


def test_split():
    assert split_escaped("a,b,,c", ",") == ["a", "b", "", "c"]


def test_escaped_mark():
    assert split_escaped("a\\,b,c", ",") == ["a,b", "c"]
