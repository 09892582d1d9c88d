from program import post_count, reply_depth

LEAF = ("ok", [])


def test_no_replies():
    assert reply_depth(LEAF) == 0


def test_one_reply():
    assert reply_depth(("q", [LEAF])) == 1


def test_two_beside_each_other():
    assert reply_depth(("q", [LEAF, LEAF])) == 1


def test_chain():
    assert reply_depth(("q", [("a", [("b", [LEAF])])])) == 3


def test_the_deepest_counts():
    assert reply_depth(("q", [LEAF, ("a", [LEAF]), LEAF])) == 2


def test_count_alone():
    assert post_count(LEAF) == 1


def test_count_all():
    assert post_count(("q", [LEAF, ("a", [LEAF])])) == 4
