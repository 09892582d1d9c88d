"""Names that Python's built-in types and standard modules offer."""

import builtins
from functools import cache
from importlib import import_module
from types import GeneratorType
from typing import Final

_MODULES: Final = """
    abc argparse array ast asyncio base64 bisect calendar cmath collections collections.abc configparser contextlib
    concurrent.futures copy csv dataclasses datetime decimal difflib email.message enum fnmatch fractions functools
    getpass glob gzip hashlib heapq hmac html http.client importlib.util inspect io ipaddress itertools json keyword
    locale logging logging.handlers math mimetypes numbers operator os os.path pathlib pickle platform pprint queue
    random re secrets shlex shutil signal socket sqlite3 statistics stat string struct subprocess sys tempfile textwrap
    threading time timeit traceback types typing unicodedata unittest unittest.mock urllib.error urllib.parse
    urllib.request uuid warnings weakref xml.etree.ElementTree zipfile zlib zoneinfo
"""
MODULES: Final = frozenset(_MODULES.split())
"""Modules of the standard library that are everybody's, on every platform, and have no effect when imported."""

_HOMES: Final = {
    "Path": "pathlib",
    "defaultdict Counter OrderedDict deque namedtuple ChainMap": "collections",
    "dataclass field asdict astuple replace": "dataclasses",
    "partial reduce lru_cache cache wraps total_ordering cached_property singledispatch cmp_to_key": "functools",
    "chain product permutations combinations accumulate islice groupby starmap zip_longest takewhile dropwhile"
    " pairwise": "itertools",
    "Any Optional Union List Dict Tuple Set FrozenSet Callable Iterable Iterator Generator Sequence Mapping"
    " MutableMapping NamedTuple TypedDict Protocol TypeVar Generic Literal Final ClassVar cast overload TYPE_CHECKING"
    " NoReturn": "typing",
    "ABC abstractmethod": "abc",
    "Enum IntEnum Flag IntFlag auto unique": "enum",
    "Decimal ROUND_HALF_UP ROUND_HALF_EVEN": "decimal",
    "Fraction": "fractions",
    "timedelta timezone": "datetime",
    "sqrt ceil floor gcd lcm isclose isnan prod hypot": "math",
    "heappush heappop heapify nlargest nsmallest": "heapq",
    "bisect_left bisect_right insort": "bisect",
    "itemgetter attrgetter": "operator",
    "contextmanager suppress ExitStack closing": "contextlib",
    "StringIO BytesIO": "io",
    "deepcopy": "copy",
    "dedent": "textwrap",
    "randint shuffle": "random",
    "uuid4": "uuid",
    "Thread Lock": "threading",
    "ThreadPoolExecutor ProcessPoolExecutor as_completed": "concurrent.futures",
    "TemporaryDirectory NamedTemporaryFile": "tempfile",
    "ArgumentParser": "argparse",
    "SimpleNamespace MappingProxyType": "types",
    "urlparse urlencode urljoin": "urllib.parse",
    "ascii_letters ascii_lowercase ascii_uppercase": "string",
    "ZoneInfo": "zoneinfo",
}  # fmt: skip
HOMES: Final = {name: module for names, module in _HOMES.items() for name in names.split()}
"""Names that mean one thing to every reader, and where they are imported from."""


@cache
def members(module: str) -> frozenset[str]:
    """What a module of `MODULES` offers; empty for any other, which is not imported."""
    return frozenset(dir(import_module(module))) if module in MODULES else frozenset()


@cache
def attributes(type_name: str) -> frozenset[str]:
    """What instances of a type have, by the name in `'list' object has no attribute …`; empty for unknown ones."""
    module, _, name = type_name.rpartition(".")
    if type_name == "generator":
        return frozenset(dir(GeneratorType))
    home = import_module(module) if module in MODULES else builtins
    known = getattr(home, name, None) if module in MODULES or not module else None
    return frozenset(dir(known)) if isinstance(known, type) else frozenset()


OF_EVERY_TYPE: Final = frozenset(
    name for kind in (str, bytes, int, float, list, tuple, dict, set, BaseException, GeneratorType, property)
    for name in dir(kind)
)  # fmt: skip
"""Attribute names that some builtin type has: a rename in the project must not take them for its own."""
