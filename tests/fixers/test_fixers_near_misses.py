"""What the fixers must leave alone: each of these looks like something the table answers, and is not."""

import pytest
from support.mending import Bench

NEAR_MISSES = {
    "two names equally close": "== shop.py\ndef f(field, files):\n    return fiels\n== test_it.py\nfrom shop import f\nf(1, 2)\n",
    "another digit": "== shop.py\ndef f(x1, value2):\n    return value1\n== test_it.py\nfrom shop import f\nf(1, 2)\n",
    "a single letter": "== shop.py\ndef f(i):\n    return j\n== test_it.py\nfrom shop import f\nf(1)\n",
    "one word of two is another": "== shop.py\ndef f(min_size):\n    return max_size\n== test_it.py\nfrom shop import f\nf(1)\n",
    "another first letter": "== shop.py\ndef decode(x):\n    return encode(x)\n== test_it.py\nfrom shop import decode\ndecode(1)\n",
    "a class for a variable": "== shop.py\nclass Item:\n    pass\n\n\ndef f():\n    return item\n== test_it.py\nfrom shop import f\nf()\n",
    "the plural of a builtin": "== shop.py\ndef f():\n    return inputs\n== test_it.py\nfrom shop import f\nf()\n",
    "a word like a builtin": "== shop.py\ndef f():\n    return form\n== test_it.py\nfrom shop import f\nf()\n",
    "a builtin with an underscore": "== shop.py\ndef f():\n    return type_\n== test_it.py\nfrom shop import f\nf()\n",
    "bound only below": "== shop.py\ndef f():\n    print(totl)\n    total = 1\n    return total\n== test_it.py\nfrom shop import f\nf()\n",
    "bound in another function": "== shop.py\ndef f():\n    return totl\n\n\ndef g():\n    total = 1\n    return total\n== test_it.py\nfrom shop import f\nf()\n",
    "bound for the type checker only": "== shop.py\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from pathlib import Path\n\n\ndef f():\n    return Path()\n== test_it.py\nfrom shop import f\nf()\n",
    "raised by a test": "== shop.py\nvalue = 1\n== test_it.py\nfrom shop import value\nprint(valeu)\n",
    "raised by a helper of tests": "== tests/helper.py\ndef f(value):\n    return valeu\n== test_it.py\nfrom tests.helper import f\nf(1)\n",
    "raised by an installed package": "== site-packages/lib.py\ndef f(value):\n    return valeu\n== test_it.py\nimport sys\nsys.path.append('site-packages')\nfrom lib import f\nf(1)\n",
    "an attribute of None": "== shop.py\ndef f():\n    return None\n\n\ndef g():\n    return f().items\n== test_it.py\nfrom shop import g\ng()\n",
    "str has encode, not decode": "== shop.py\ndef f(x):\n    return x.decode()\n== test_it.py\nfrom shop import f\nf('a')\n",
    "two classes of one name": "== a.py\nclass Cart:\n    items = 1\n== shop.py\nclass Cart:\n    items = 1\n\n\ndef f():\n    return Cart().itmes\n== test_it.py\nfrom shop import f\nf()\n",
    "a definition that other tests use": "== shop.py\nclass Cart:\n    def reciept(self):\n        return 1\n== test_other.py\nfrom shop import Cart\nCart().reciept()\n== test_it.py\nfrom shop import Cart\nCart().receipt()\n",
    "a definition that means several things": "== shop.py\nclass Cart:\n    def reciept(self, reciept):\n        return reciept\n== test_it.py\nfrom shop import Cart\nCart().receipt(1)\n",
    "a definition that a string names": "== shop.py\nclass Cart:\n    def reciept(self):\n        return getattr(self, 'reciept')\n== test_it.py\nfrom shop import Cart\nCart().receipt()\n",
    "a private name for a public one": "== shop.py\nclass Cart:\n    def __init__(self):\n        self._items = []\n== test_it.py\nfrom shop import Cart\nCart().items\n",
    "a package that is not installed": "== shop.py\nimport ujson\n== test_it.py\nimport shop\n",
    "a package that is nearly one of Python's": "== shop.py\nimport jsonn\n== test_it.py\nimport shop\n",
    "a circle of imports": "== a.py\nfrom b import two\none = 1\n== b.py\nfrom a import one\ntwo = 2\n== test_it.py\nimport a\n",
    "a package whose module imports it": "== shop/__init__.py\n== shop/cart.py\nimport shop\n\n\ndef pay():\n    return shop\n== test_it.py\nfrom shop import pay\n",
    "a has_key of another file": "== table.py\nclass Table:\n    def has_key(self, key):\n        return True\n== shop.py\ndef f(x):\n    return x.has_key(1)\n== test_it.py\nfrom shop import f\nf({})\n",
    "a name that two modules define": "== a.py\ndef discount():\n    pass\n== b.py\ndef discount():\n    pass\n== shop.py\ndef f():\n    return discount()\n== test_it.py\nfrom shop import f\nf()\n",
    "a name that only tests define": "== tests/helper.py\ndef discount():\n    pass\n== shop.py\ndef f():\n    return discount()\n== test_it.py\nfrom shop import f\nf()\n",
    "a name whose module imports the file": "== prices.py\nfrom shop import pay\n\n\ndef discount():\n    return pay\n== shop.py\ndef pay():\n    return discount()\n== test_it.py\nfrom shop import pay\npay()\n",
    "a module without that function": "== shop.py\ndef f():\n    return string.shorten('a')\n== test_it.py\nfrom shop import f\nf()\n",
    "a variable that is named like a module": "== shop.py\ndef f():\n    return copy + 1\n== test_it.py\nfrom shop import f\nf()\n",
    "a key from elsewhere": "== shop.py\ndef f(key):\n    return {'apple': 1}[key]\n== test_it.py\nfrom shop import f\nf('appel')\n",
    "a key that is stored, but not yet": "== shop.py\nPRICES = {'apples': 1}\n\n\ndef put():\n    PRICES['apple'] = 1\n\n\ndef f():\n    return PRICES['apple']\n== test_it.py\nfrom shop import f\nf()\n",
    "two keys equally close": "== shop.py\ndef f():\n    return {'field': 1, 'files': 2}['fiels']\n== test_it.py\nfrom shop import f\nf()\n",
    "a keyword that is passed already": "== shop.py\ndef f(colour):\n    return colour\n\n\ndef g():\n    return f(colour=1, color=2)\n== test_it.py\nfrom shop import g\ng()\n",
    "two functions of one name": "== a.py\ndef f(color):\n    return color\n== shop.py\ndef f(colour):\n    return colour\n\n\ndef g():\n    return f(color=2)\n== test_it.py\nfrom shop import g\ng()\n",
    "one argument too many for a method with self": "== shop.py\nclass Cart:\n    def total(self):\n        return 1\n== test_it.py\nfrom shop import Cart\nCart().total(1)\n",
    "an instance under another name": "== shop.py\nclass Cart:\n    rate = 1\n\n    def total(me):\n        return me.rate\n== test_it.py\nfrom shop import Cart\nCart().total(1)\n",
    "a static method": "== shop.py\nclass Cart:\n    @staticmethod\n    def total():\n        return 1\n== test_it.py\nfrom shop import Cart\nCart().total(1)\n",
    "self in a function": "== shop.py\ndef total():\n    return self.rate\n== test_it.py\nfrom shop import total\ntotal()\n",
    "a method's name in a function": "== shop.py\nclass Cart:\n    def tax(self):\n        return 1\n\n\ndef total():\n    return tax()\n== test_it.py\nfrom shop import total\ntotal()\n",
    "a local of a method that is not yet set": "== shop.py\nclass Cart:\n    rate = 1\n\n    def total(self, on):\n        if on:\n            rate = 2\n        return rate\n== test_it.py\nfrom shop import Cart\nCart().total(0)\n",
    "a counter of the module": "== shop.py\nrate = 1\n\n\ndef total():\n    rate += 2\n    return rate\n== test_it.py\nfrom shop import total\ntotal()\n",
    "an iteritems of the project's own": "== shop.py\nclass Table:\n    def iteritems(self):\n        return {}.iteritems()\n== test_it.py\nfrom shop import Table\nTable().iteritems()\n",
    "division": "== shop.py\ndef half(x):\n    return x / 2\n== test_it.py\nfrom shop import half\nassert [1, 2][half(2)]\n",
    "an assignment where a comparison is meant": "== shop.py\ndef f(x):\n    if x = 1:\n        return 2\n== test_it.py\nimport shop\n",
    "a body of one or two lines": "== shop.py\ndef f(x):\n    if x:\n    x += 1\n    x += 2\n    return x\n== test_it.py\nimport shop\n",
    "a body at the end of a file": "== shop.py\nx = 1\nfor y in range(3):\nx += 1\nx += 2\n== test_it.py\nimport shop\n",
    "a line between two levels": "== shop.py\ndef f(x):\n    if x:\n        y = 1\n      z = 2\n    return x\n== test_it.py\nimport shop\n",
    "tabs that could be four or eight": "== shop.py\ndef f(x):\n    if x:\n        y = 1\n\tx = 2\n    return x\n== test_it.py\nimport shop\n",
    "brackets that group": "== shop.py\ndef f(a, b, c):\n    return (a + b * c\n== test_it.py\nimport shop\n",
    "an opening bracket that is missing": "== shop.py\ndef f(a, b, c):\n    return a + b) * c\n== test_it.py\nimport shop\n",
    "a string without an end": "== shop.py\nprint('a)\n== test_it.py\nimport shop\n",
    "the third part of raise": "== shop.py\nraise ValueError, 'x', None\n== test_it.py\nimport shop\n",
    "unpacking in parameters": "== shop.py\ndef f((a, b)):\n    return a\n== test_it.py\nimport shop\n",
    "a number with a zero in front": "== shop.py\nx = 010\n== test_it.py\nimport shop\n",
    "a conflict that was not resolved": "== shop.py\n<<<<<<< ours\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n== test_it.py\nimport shop\n",
    "a failing assertion": "== shop.py\ntotal = 1\n== test_it.py\nfrom shop import total\nassert total == 2\n",
}


@pytest.mark.parametrize("files", NEAR_MISSES.values(), ids=NEAR_MISSES.keys())
def test_a_near_miss_gets_no_fix(files: str, bench: Bench) -> None:
    bench.write(files)
    output = bench.refuses()
    assert "Error" in output, "the check fails as the case says"


def test_a_file_that_may_not_be_edited_is_left(bench: Bench) -> None:
    bench.write("== shop.py\ndef f(name):\n    return nmae\n== test_it.py\nfrom shop import f\nf(1)\n")
    _, output = bench.check()
    assert bench.fix(output) is not None
    bench.forbidden = {"shop.py"}
    assert list(bench.proposals(output)) == []


def test_a_rename_that_would_need_a_forbidden_file_is_not_proposed(bench: Bench) -> None:
    """All sites or none: the second user of the function may not be edited."""
    bench.write(
        "== shop.py\ndef totl():\n    return 1\n== other.py\nfrom shop import totl\n== test_it.py\nfrom shop import total\n"
    )
    _, output = bench.check()
    assert [sorted(fix.files) for fix in bench.proposals(output)] == [["other.py", "shop.py"]]
    bench.forbidden = {"other.py"}
    assert list(bench.proposals(output)) == []


def test_only_the_same_receiver_is_respelt_where_the_name_means_something_else_too(bench: Bench) -> None:
    """`total` is another class's; the misspelt `self.totl` is not `other.totl`."""
    bench.write(
        "== shop.py\nclass Bill:\n    totl = 3\n\n\nclass Cart:\n    total = 1\n\n    def sum(self, other):\n"
        "        return self.totl + other.totl\n\n\nclass Note:\n    totl = 1\n\n    def sum(self):\n        return self.totl\n"
        "== test_it.py\nfrom shop import Bill, Cart\nassert Cart().sum(Bill()) == 4\n"
    )
    (made,) = bench.mend()
    assert made.fixer == "misspelt-attribute"
    assert "return self.total + other.totl\n" in bench.text("shop.py")
    assert bench.check()[0] == 0


def test_a_name_that_another_scope_binds_is_left_there(bench: Bench) -> None:
    """`nmae` is a real parameter of the second function."""
    bench.write(
        "== shop.py\ndef f(name):\n    return nmae\n\n\ndef g(nmae):\n    return nmae\n"
        "== test_it.py\nfrom shop import f, g\nassert f(1) == g(1)\n"
    )
    bench.mend()
    assert bench.text("shop.py") == "def f(name):\n    return name\n\n\ndef g(nmae):\n    return nmae\n"
