from program import decode, form_fields


def test_empty():
    assert form_fields("") == {}


def test_one():
    assert form_fields("a=1") == {"a": ["1"]}


def test_two():
    assert form_fields("a=1&b=2") == {"a": ["1"], "b": ["2"]}


def test_repeated():
    assert form_fields("a=1&a=2") == {"a": ["1", "2"]}


def test_no_value():
    assert form_fields("flag&x=") == {"flag": [""], "x": [""]}


def test_equals_sign_in_a_value():
    assert form_fields("sum=1=1") == {"sum": ["1=1"]}


def test_encoded():
    assert form_fields("q=a+b%21") == {"q": ["a b!"]}


def test_decode_letters():
    assert decode("%41bc") == "Abc"
