from program import paragraphs


def test_one_with_an_end():
    assert paragraphs("a\nb\n") == [["a", "b"]]


def test_empty():
    assert paragraphs("") == []


def test_no_final_newline():
    assert paragraphs("a\nb") == [["a", "b"]]


def test_two():
    assert paragraphs("a\n\nb\n") == [["a"], ["b"]]


def test_many_blank_lines():
    assert paragraphs("a\n\n\n\nb\n") == [["a"], ["b"]]


def test_lines_are_trimmed():
    assert paragraphs("  a \n b\n") == [["a", "b"]]


def test_only_blank_lines():
    assert paragraphs("\n \n\n") == []
