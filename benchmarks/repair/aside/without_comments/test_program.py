from program import code_lines, without_comments


def test_no_comment():
    assert without_comments("x = 1") == "x = 1"


def test_comment():
    assert without_comments("x = 1  # one") == "x = 1"


def test_only_a_comment():
    assert without_comments("# all of it") == ""


def test_in_double_quotes():
    assert without_comments('x = "#1"  # one') == 'x = "#1"'


def test_in_single_quotes():
    assert without_comments("x = '#'#'") == "x = '#'"


def test_quote_in_quotes():
    assert without_comments("""x = "it's #1" # yes""") == """x = "it's #1\""""


def test_open_quote():
    assert without_comments("x = '# never closed") == "x = '# never closed"


def test_lines():
    assert code_lines("a\n# b\n\nc # d\n") == 2
