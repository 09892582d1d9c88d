from program import unindent


def test_no_margin():
    assert unindent("a\nb") == "a\nb"


def test_common_margin():
    assert unindent("  a\n  b") == "a\nb"


def test_deeper_lines_stay_deeper():
    assert unindent("  a\n    b") == "a\n  b"


def test_first_line_deeper():
    assert unindent("    a\n b") == "   a\nb"


def test_blank_lines_do_not_count():
    assert unindent("  a\n\n  b") == "a\n\nb"


def test_blanks_only():
    assert unindent("   \n ") == "\n"


def test_one_line():
    assert unindent("     x y") == "x y"
