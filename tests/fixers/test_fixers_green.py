"""From a red Python process to a green one: at least one case for every row of the table."""

from typing import NamedTuple

import pytest
from support.mending import Bench

from kotef.fixers.table import FIXERS


class Case(NamedTuple):
    fixer: str
    files: str
    path: str
    before: str
    """Every place this stands in the file, and nothing else, …"""
    after: str
    """… becomes this."""


CASES = {
    "a parameter, at all sites": Case(
        "misspelt-name",
        "== shop.py\ndef greet(name):\n    if nmae:\n        return f'Hi {nmae}'\n    return name\n"
        "== test_it.py\nfrom shop import greet\nassert greet('Al') == 'Hi Al'\n",
        "shop.py",
        "nmae",
        "name",
    ),
    "a builtin": Case(
        "misspelt-name",
        "== shop.py\ndef size(items):\n    return lenn(items)\n"
        "== test_it.py\nfrom shop import size\nassert size([1]) == 1\n",
        "shop.py",
        "lenn",
        "len",
    ),
    "a constant of JSON": Case(
        "misspelt-name",
        "== shop.py\nFLAGS = {'on': true}\n== test_it.py\nfrom shop import FLAGS\nassert FLAGS['on'] is True\n",
        "shop.py",
        "true",
        "True",
    ),
    "a name of the module, written in the other style": Case(
        "misspelt-name",
        "== shop.py\nMAX_SIZE = 3\n\n\ndef fits(n):\n    return n <= maxSize\n"
        "== test_it.py\nfrom shop import fits\nassert fits(3)\n",
        "shop.py",
        "maxSize",
        "MAX_SIZE",
    ),
    "an attribute of a class of the project": Case(
        "misspelt-attribute",
        "== shop.py\nclass Cart:\n    def __init__(self):\n        self.items = []\n\n    def add(self, item):\n"
        "        self.itmes.append(item)\n        return len(self.itmes)\n"
        "== test_it.py\nfrom shop import Cart\nassert Cart().add(1) == 1\n",
        "shop.py",
        "itmes",
        "items",
    ),
    "an inherited method": Case(
        "misspelt-attribute",
        "== base.py\nclass Base:\n    def total(self):\n        return 3\n"
        "== shop.py\nfrom base import Base\n\n\nclass Cart(Base):\n    def twice(self):\n        return 2 * self.totla()\n"
        "== test_it.py\nfrom shop import Cart\nassert Cart().twice() == 6\n",
        "shop.py",
        "totla",
        "total",
    ),
    "a method of a builtin type": Case(
        "misspelt-attribute",
        "== shop.py\ndef shout(text):\n    return text.uper()\n"
        "== test_it.py\nfrom shop import shout\nassert shout('a') == 'A'\n",
        "shop.py",
        "uper",
        "upper",
    ),
    "a function of a standard module": Case(
        "misspelt-attribute",
        "== shop.py\nimport math\n\n\ndef root(x):\n    return math.sqrtt(x)\n"
        "== test_it.py\nfrom shop import root\nassert root(4) == 2\n",
        "shop.py",
        "sqrtt",
        "sqrt",
    ),
    "a function of a module of the project": Case(
        "misspelt-attribute",
        "== prices.py\ndef discount(x):\n    return x // 2\n"
        "== shop.py\nimport prices\n\n\ndef pay(x):\n    return x - prices.disconut(x)\n"
        "== test_it.py\nfrom shop import pay\nassert pay(4) == 2\n",
        "shop.py",
        "disconut",
        "discount",
    ),
    "a definition the tests spell otherwise": Case(
        "misspelt-attribute",
        "== shop.py\nclass Cart:\n    def reciept(self):\n        return 'ok'\n\n    def show(self):\n        return self.reciept()\n"
        "== test_it.py\nfrom shop import Cart\nassert Cart().receipt() == Cart().show() == 'ok'\n",
        "shop.py",
        "reciept",
        "receipt",
    ),
    "an imported name and its uses": Case(
        "misspelt-import",
        "== prices.py\ndef discount(x):\n    return x // 2\n"
        "== shop.py\nfrom prices import disconut\n\n\ndef pay(x):\n    return x - disconut(x)\n"
        "== test_it.py\nfrom shop import pay\nassert pay(4) == 2\n",
        "shop.py",
        "disconut",
        "discount",
    ),
    "a name imported from the standard library": Case(
        "misspelt-import",
        "== shop.py\nfrom collections import defualtdict as table\n\nSTOCK = table(int)\n"
        "== test_it.py\nfrom shop import STOCK\nassert STOCK['a'] == 0\n",
        "shop.py",
        "defualtdict",
        "defaultdict",
    ),
    "a function the tests import under another spelling": Case(
        "misspelt-import",
        "== shop.py\n__all__ = ['totl']\n\n\ndef totl(x):\n    return x and x[0] + totl(x[1:]) or 0\n"
        "== test_it.py\nfrom shop import total\nassert total([1, 2]) == 3\n",
        "shop.py",
        "totl",
        "total",
    ),
    "a module of the project": Case(
        "misspelt-module",
        "== prices.py\ndef discount(x):\n    return x // 2\n"
        "== shop.py\nimport pricse\n\n\ndef pay(x):\n    return x - pricse.discount(x)\n"
        "== test_it.py\nfrom shop import pay\nassert pay(4) == 2\n",
        "shop.py",
        "pricse",
        "prices",
    ),
    "a module of a package, relative": Case(
        "misspelt-module",
        "== shop/__init__.py\n== shop/prices.py\nHALF = 2\n== shop/cart.py\nfrom .prcies import HALF\n"
        "== test_it.py\nfrom shop.cart import HALF\nassert HALF == 2\n",
        "shop/cart.py",
        "prcies",
        "prices",
    ),
    "a key": Case(
        "misspelt-key",
        "== shop.py\nPRICES = {'apple': 3, \"pear\": 4}\n\n\ndef price():\n    return PRICES[\"appel\"] + PRICES['pear']\n"
        "== test_it.py\nfrom shop import price\nassert price() == 7\n",
        "shop.py",
        "appel",
        "apple",
    ),
    "a key the tests spell otherwise": Case(
        "misspelt-key",
        "== shop.py\ndef order():\n    made = {'adress': 'x'}\n    made['adress'] += 'y'\n    return made\n"
        "== test_it.py\nfrom shop import order\nassert order()['address'] == 'xy'\n",
        "shop.py",
        "adress",
        "address",
    ),
    "a keyword argument": Case(
        "misspelt-keyword",
        "== shop.py\ndef label(text, *, colour='red'):\n    return text + colour\n\n\ndef show():\n    return label('a', color='blue')\n"
        "== test_it.py\nfrom shop import show\nassert show() == 'ablue'\n",
        "shop.py",
        "color=",
        "colour=",
    ),
    "a keyword argument of a class": Case(
        "misspelt-keyword",
        "== shop.py\nclass Item:\n    def __init__(self, price):\n        self.price = price\n\n\ndef item():\n    return Item(pirce=3)\n"
        "== test_it.py\nfrom shop import item\nassert item().price == 3\n",
        "shop.py",
        "pirce",
        "price",
    ),
    "a parameter the tests pass by another spelling": Case(
        "misspelt-keyword",
        "== shop.py\ndef label(text, colur='red'):\n    return text + colur\n\n\ndef show():\n    return label('a', colur='b')\n"
        "== test_it.py\nfrom shop import label\nassert label('a', colour='b') == 'ab'\n",
        "shop.py",
        "colur",
        "colour",
    ),
    "a field of a dataclass the tests spell otherwise": Case(
        "misspelt-keyword",
        "== shop.py\nfrom dataclasses import dataclass\n\n\n@dataclass\nclass Item:\n    quantitty: int\n\n    def twice(self):\n        return 2 * self.quantitty\n"
        "== test_it.py\nfrom shop import Item\nassert Item(quantity=2).twice() == 4\n",
        "shop.py",
        "quantitty",
        "quantity",
    ),
    "a module of the standard library": Case(
        "missing-import",
        '== shop.py\n"""Prices."""\n\n\ndef root(x):\n    return math.sqrt(x)\n'
        "== test_it.py\nfrom shop import root\nassert root(4) == 2\n",
        "shop.py",
        '"""Prices."""\n',
        '"""Prices."""\n\nimport math\n',
    ),
    "a well-known name, beside others of its module": Case(
        "missing-import",
        "== shop.py\nfrom collections import Counter, deque\n\nQUEUE = deque()\nSTOCK = defaultdict(Counter)\n"
        "== test_it.py\nfrom shop import STOCK\nassert not STOCK['a']\n",
        "shop.py",
        "import Counter, deque",
        "import Counter, defaultdict, deque",
    ),
    "a function of the project": Case(
        "missing-import",
        "== shop/__init__.py\n== shop/prices.py\ndef discount(x):\n    return x // 2\n"
        "== shop/cart.py\ndef pay(x):\n    return x - discount(x)\n"
        "== test_it.py\nfrom shop.cart import pay\nassert pay(4) == 2\n",
        "shop/cart.py",
        "def pay",
        "from shop.prices import discount\n\n\ndef pay",
    ),
    "a module of the project that is used but not imported": Case(
        "missing-import",
        "== prices.py\ndef discount(x):\n    return x // 2\n== shop.py\nimport json\n\n\ndef pay(x):\n    return x - prices.discount(x)\n"
        "== test_it.py\nfrom shop import pay\nassert pay(4) == 2\n",
        "shop.py",
        "import json\n",
        "import json\n\nimport prices\n",
    ),
    "an import the project makes elsewhere": Case(
        "missing-import",
        "== other.py\nimport decimal as dec\n== shop.py\ndef price():\n    return dec.Decimal(1)\n"
        "== test_it.py\nfrom shop import price\nassert price() == 1\n",
        "shop.py",
        "def price",
        "import decimal as dec\n\n\ndef price",
    ),
    "the class datetime, not its module": Case(
        "missing-import",
        "== shop.py\ndef year():\n    return datetime(2020, 1, 1).year\n"
        "== test_it.py\nfrom shop import year\nassert year() == 2020\n",
        "shop.py",
        "def year",
        "from datetime import datetime\n\n\ndef year",
    ),
    "a submodule": Case(
        "missing-submodule",
        "== shop.py\nimport xml\n\n\ndef tag():\n    return xml.etree.ElementTree.fromstring('<a/>').tag\n"
        "== test_it.py\nfrom shop import tag\nassert tag() == 'a'\n",
        "shop.py",
        "import xml\n",
        "import xml\nimport xml.etree.ElementTree\n",
    ),
    "a name that lives in another module": Case(
        "moved-name",
        "== prices.py\n== rates.py\ndef discount(x):\n    return x // 2\n"
        "== shop.py\nfrom prices import discount\n\n\ndef pay(x):\n    return x - discount(x)\n"
        "== test_it.py\nfrom shop import pay\nassert pay(4) == 2\n",
        "shop.py",
        "from prices",
        "from rates",
    ),
    "a package that does not hand on a name": Case(
        "moved-name",
        '== shop/__init__.py\n"""A shop."""\n== shop/cart.py\ndef pay(x):\n    return x\n'
        "== test_it.py\nfrom shop import pay\nassert pay(4) == 4\n",
        "shop/__init__.py",
        '"""A shop."""\n',
        '"""A shop."""\n\nfrom shop.cart import pay\n',
    ),
    "an implicit relative import": Case(
        "sibling-module",
        "== shop/__init__.py\n== shop/prices.py\nHALF = 2\n== shop/cart.py\nimport prices\n\nHALF = prices.HALF\n"
        "== test_it.py\nfrom shop.cart import HALF\nassert HALF == 2\n",
        "shop/cart.py",
        "import prices\n",
        "from . import prices\n",
    ),
    "a method without parameters": Case(
        "missing-self-parameter",
        "== shop.py\nclass Cart:\n    def total():\n        return 3\n"
        "== test_it.py\nfrom shop import Cart\nassert Cart().total() == 3\n",
        "shop.py",
        "total()",
        "total(self)",
    ),
    "a method that lacks only self": Case(
        "missing-self-parameter",
        "== shop.py\nclass Cart:\n    def total(\n        rate,  # per item\n    ):\n        return 3 * rate\n"
        "== test_it.py\nfrom shop import Cart\nassert Cart().total(2) == 6\n",
        "shop.py",
        "        rate,  #",
        "        self, rate,  #",
    ),
    "self itself": Case(
        "missing-self",
        "== shop.py\nclass Cart:\n    def __init__(self):\n        self.n = 1\n\n    def total(*, rate=1):\n        return self.n * rate\n"
        "== test_it.py\nfrom shop import Cart\nCart.total(rate=3) if 'self' not in Cart.total.__code__.co_varnames else 0\nassert Cart().total() == 1\n",
        "shop.py",
        "total(*",
        "total(self, *",
    ),
    "a method called without self": Case(
        "missing-self",
        "== shop.py\nclass Cart:\n    def tax(self, x):\n        return x // 5\n\n    def total(this, x):\n        return x + tax(x) + [tax(y) for y in (5,)][0]\n"
        "== test_it.py\nfrom shop import Cart\nassert Cart().total(10) == 13\n",
        "shop.py",
        " tax(x) + [tax(y)",
        " this.tax(x) + [this.tax(y)",
    ),
    "an attribute counted up without self": Case(
        "missing-self-local",
        "== shop.py\nclass Cart:\n    def __init__(self):\n        self.count = 0\n\n    def add(self):\n        count += 1\n        return self.count\n"
        "== test_it.py\nfrom shop import Cart\nassert Cart().add() == 1\n",
        "shop.py",
        "        count += 1",
        "        self.count += 1",
    ),
    "xrange": Case(
        "python2-name",
        "== shop.py\ndef numbers():\n    return list(xrange(2)) + list(xrange(1))\n"
        "== test_it.py\nfrom shop import numbers\nassert numbers() == [0, 1, 0]\n",
        "shop.py",
        "xrange",
        "range",
    ),
    "iteritems": Case(
        "python2-attribute",
        "== shop.py\ndef pairs(d):\n    return [k for k, v in d.iteritems()]\n"
        "== test_it.py\nfrom shop import pairs\nassert pairs({'a': 1}) == ['a']\n",
        "shop.py",
        "iteritems",
        "items",
    ),
    "has_key": Case(
        "python2-attribute",
        "== shop.py\ndef has(d, k):\n    if not d.has_key(k):\n        return False\n    return d.has_key(k or 1) == True != ('q' in 'r' and d.has_key(('q' in 'r')))\n"
        "== test_it.py\nfrom shop import has\nassert has({'a': 1}, 'a') and not has({}, 'a')\n",
        "shop.py",
        "if not d.has_key(k):\n        return False\n    return d.has_key(k or 1) == True != ('q' in 'r' and d.has_key(('q' in 'r')))",
        "if k not in d:\n        return False\n    return ((k or 1) in d) == True != ('q' in 'r' and ('q' in 'r') in d)",
    ),
    "next as a method": Case(
        "python2-attribute",
        "== shop.py\ndef first(items):\n    return (item for item in items).next()\n"
        "== test_it.py\nfrom shop import first\nassert first([7]) == 7\n",
        "shop.py",
        "(item for item in items).next()",
        "next((item for item in items))",
    ),
    "a module that was renamed": Case(
        "python2-module",
        "== shop.py\nimport ConfigParser\nfrom Queue import Queue\n\nparser = ConfigParser.ConfigParser()\n"
        "== test_it.py\nfrom shop import parser\nassert parser\n",
        "shop.py",
        "import ConfigParser\nfrom Queue ",
        "import configparser as ConfigParser\nfrom queue ",
    ),
    "a file of Python 2": Case(
        "syntax",
        "== shop.py\nimport sys\n\ndef f(x):\n    try:\n        if x <> 1: raise ValueError, 'bad %s' % `x`\n"
        "    except (KeyError, ValueError), e:\n        print >>sys.stderr, 'no', e  # said\n        print\n        print 'a', 0777, 10L,\n"
        "        exec 'y = 2' in {}\n    return x\n"
        "== test_it.py\nfrom shop import f\nassert f(1) == 1 and f(2) == 2\n",
        "shop.py",
        "        if x <> 1: raise ValueError, 'bad %s' % `x`\n    except (KeyError, ValueError), e:\n"
        "        print >>sys.stderr, 'no', e  # said\n        print\n        print 'a', 0777, 10L,\n        exec 'y = 2' in {}\n",
        "        if x != 1: raise ValueError('bad %s' % repr(x))\n    except (KeyError, ValueError) as e:\n"
        "        print('no', e, file=sys.stderr)  # said\n        print()\n        print('a', 0o777, 10, end=\" \")\n        exec('y = 2', {})\n",
    ),
    "two exceptions that were meant as a tuple": Case(
        "syntax",
        "== shop.py\ndef f(x):\n    try:\n        return int(x)\n    except ValueError, TypeError:\n        return 0\n"
        "== test_it.py\nfrom shop import f\nassert f('x') == 0\n",
        "shop.py",
        "ValueError, TypeError",
        "(ValueError, TypeError)",
    ),
    "a colon": Case(
        "syntax",
        "== shop.py\ndef f(x):\n    if x == '#'  # a hash\n        return 1\n    else\n        return 2\n"
        "== test_it.py\nfrom shop import f\nassert f('#') == 1\n",
        "shop.py",
        "if x == '#'  # a hash\n        return 1\n    else\n",
        "if x == '#':  # a hash\n        return 1\n    else:\n",
    ),
    "a closing bracket before a colon": Case(
        "syntax",
        "== shop.py\ndef f(x):\n    for y in range(len(x):\n        return y\n"
        "== test_it.py\nfrom shop import f\nassert f([1]) == 0\n",
        "shop.py",
        "len(x):",
        "len(x)):",
    ),
    "a closing bracket of several lines": Case(
        "syntax",
        "== shop.py\nSIZES = max(\n    1,\n    2\nNAMES = ['a'\nBOTH = {'x': [1, 2}\n"
        "== test_it.py\nfrom shop import SIZES, NAMES, BOTH\nassert (SIZES, NAMES, BOTH) == (2, ['a'], {'x': [1, 2]})\n",
        "shop.py",
        "    2\nNAMES = ['a'\nBOTH = {'x': [1, 2}",
        "    2)\nNAMES = ['a']\nBOTH = {'x': [1, 2]}",
    ),
    "a bracket too many": Case(
        "syntax",
        "== shop.py\nSIZE = len(str(10)))\n== test_it.py\nfrom shop import SIZE\nassert SIZE == 2\n",
        "shop.py",
        ")))",
        "))",
    ),
    "a body that is not indented": Case(
        "syntax",
        "== shop.py\ndef f(x):\n    if x:\n    return 1\n    return 2\n== test_it.py\nfrom shop import f\nassert f(1) == 1 and f(0) == 2\n",
        "shop.py",
        "    return 1\n",
        "        return 1\n",
    ),
    "a whole function that is not indented": Case(
        "syntax",
        "== shop.py\ndef f(x):\ny = [\n  x,\n]\nreturn y\n== test_it.py\nfrom shop import f\nassert f(1) == [1]\n",
        "shop.py",
        "y = [\n  x,\n]\nreturn y\n",
        "    y = [\n      x,\n    ]\n    return y\n",
    ),
    "a line indented too much": Case(
        "syntax",
        "== shop.py\ndef f(x):\n    y = x\n      y += 1\n    return y\n== test_it.py\nfrom shop import f\nassert f(1) == 2\n",
        "shop.py",
        "      y += 1",
        "    y += 1",
    ),
    "a method one column off": Case(
        "syntax",
        "== shop.py\nclass A:\n    def f(self):\n        return 1\n\n   def g(self):\n        return 2\n"
        "== test_it.py\nfrom shop import A\nassert A().f() + A().g() == 3\n",
        "shop.py",
        "   def g",
        "    def g",
    ),
    "tabs among blanks": Case(
        "syntax",
        "== shop.py\ndef f(x):\n        y = '''\n\tkept'''\n\treturn x, y\n== test_it.py\nfrom shop import f\nassert f(1) == (1, '\\n\\tkept')\n",
        "shop.py",
        "\treturn",
        "        return",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_red_run_turns_green(case: Case, bench: Bench) -> None:
    bench.write(case.files)
    before = bench.text(case.path)
    made = bench.mend()
    assert [fix.fixer for fix in made][:1] == [case.fixer]
    assert bench.text(case.path) == before.replace(case.before, case.after)
    assert bench.check()[0] == 0
    assert {path for fix in made for path in fix.files} == {case.path}


def test_every_row_is_shown_to_mend_something() -> None:
    assert {case.fixer for case in CASES.values()} == {row.name for row in FIXERS}
