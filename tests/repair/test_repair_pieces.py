"""The pieces of the search: spans, command lines, generated arguments, literals, the fence."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import project, search
from support.example_count import example_count

from kotef.repair.command import interpreter_of, invocation
from kotef.repair.differential import generated, spelled
from kotef.repair.fault_localization import ExecutionTrace, Traces, suspicion
from kotef.repair.source import PythonSource, fitted
from kotef.repair.worker.tracing import literal_of
from kotef.source import SourceEdit

HERE = Path(__file__).parent.parent.parent


def test_every_span_is_the_text_that_parses_to_its_node() -> None:
    code = "\ufeffdef f(é, b):\n    s = 'ü' + é  # ä\n    return [b.c(s)[1:], -b]\n"
    source = PythonSource("m.py", code.encode())
    for node in ast.walk(source.tree):
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice):
            assert ast.unparse(ast.parse(source.segment(node), mode="eval")) == ast.unparse(node)


@pytest.mark.parametrize(
    ("new", "whole", "expected"),
    [
        ("a + b", "x * y", "(a + b) * y"),
        ("a * b", "x + y", "a * b + y"),
        ("a if b else c", "f(x)", "f(a if b else c)"),
        ("a or b", "x and y", "(a or b) and y"),
        ("-a", "x ** y", "(-a) ** y"),
        ("a + b", "x.y", "(a + b).y"),
        ("a < b", "x == y", "(a < b) == y"),
        ("a, b", "f(x)", "f((a, b))"),
    ],
)
def test_a_replacement_gets_parentheses_exactly_where_it_needs_them(new: str, whole: str, expected: str) -> None:
    source = PythonSource("m.py", whole.encode())
    node = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Name) and node.id == "x")
    edit = SourceEdit("m.py", *source.span(node), fitted(new, source.parents[node], node))
    assert source.content_with((edit,)).decode() == expected


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        PythonSource("m.py", b"abc").content_with((SourceEdit("m.py", 0, 2, "x"), SourceEdit("m.py", 1, 3, "y")))


def test_a_method_stands_alone_inside_the_headers_of_its_classes() -> None:
    code = "if True:\n    class A:\n        class B:\n            @property\n            def f(self):\n                return self.__x\n"
    source = PythonSource("m.py", code.encode())
    alone = source.standalone(source.units[0], ())
    assert alone == "if 1:\n    class A:\n        class B:\n            def f(self):\n                return self.__x\n"
    ast.parse(alone)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("python -m pytest -q tests", ("-q", "tests")),
        ("PYTHONPATH=src pytest -x --lf -n 4 -k 'a or b'", ("-k", "a or b")),
        ("ruff check . && python3 -m pytest --cov=x --junitxml=r.xml t.py::test_a", ("t.py::test_a",)),
        ("python -m unittest discover", ("-o", "python_files=test*.py")),
        ("make test", ()),
    ],
)
def test_pytests_arguments_are_taken_from_the_command(command: str, arguments: tuple[str, ...]) -> None:
    assert invocation(command).arguments == arguments


@pytest.mark.parametrize("program", ["pytest", ".venv/bin/pytest -q", "A=1 py.test", "uv run pytest", "tox -q; pytest"])
def test_the_current_folder_is_on_the_path_of_a_module_and_not_of_a_script(program: str) -> None:
    assert not invocation(program).folder_on_path
    assert invocation(
        program.replace("pytest", "python -m pytest").replace("py.test", "python -m pytest")
    ).folder_on_path
    assert invocation("make test").folder_on_path, "nothing is known"


def test_variables_in_front_of_the_command_are_kept() -> None:
    assert invocation("A=1 B=x pytest").variables == {"A": "1", "B": "x"}


def test_the_interpreter_is_the_one_the_command_would_use(tmp_path: Path) -> None:
    env = {"PATH": "/nowhere"}
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    script = tmp_path / "bin" / "pytest"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\n")
    script.chmod(0o755)

    assert interpreter_of("uv run pytest", tmp_path, env) == str(own)
    assert interpreter_of("make test", tmp_path, env) == str(own)
    assert interpreter_of("pytest -q", tmp_path, {"PATH": str(script.parent)}) == sys.executable
    assert interpreter_of(".venv/bin/python -m pytest", tmp_path, env) == str(own)
    assert interpreter_of("python3.99 -m pytest", tmp_path, env) == "python3.99"
    assert interpreter_of("pytest", tmp_path / "bin", env) == "python3"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=8,
)  # fmt: skip


@example_count(60)
@given(VALUES)
def test_a_literal_makes_an_equal_value_or_there_is_none(value: object) -> None:
    text = literal_of(value)
    assert not text or ast.literal_eval(text) == value


def test_what_has_no_literal_has_none() -> None:
    assert literal_of(object()) == ""
    assert literal_of([1, object()]) == ""
    assert literal_of("x" * 1000) == ""


@example_count(40)
@given(
    st.lists(
        st.fixed_dictionaries({"n": st.integers(0, 50), "xs": st.lists(st.integers(0, 9), max_size=5).map(sorted)}),
        min_size=1,
        max_size=4,
    )
)
def test_generated_arguments_keep_what_the_recorded_ones_share(rows: list[dict[str, object]]) -> None:
    calls = [repr(row) for row in rows]
    made = [ast.literal_eval(text) for text in generated(calls)]
    for row in made:
        assert set(row) == {"n", "xs"}
        assert row["n"] >= 0
        assert all(item >= 0 for item in row["xs"])
        if any(len(given["xs"]) > 2 for given in rows):  # type: ignore[arg-type]
            assert row["xs"] == sorted(row["xs"])
    assert made == [ast.literal_eval(text) for text in generated(calls)], "the same each time"


def test_arguments_are_spelled_as_in_a_call() -> None:
    assert spelled("{'n': 1, 'name': 'x'}") == "n=1, name='x'"


def test_lines_that_only_failing_tests_run_are_the_most_suspicious() -> None:
    traces = Traces({0: {"m.py": frozenset({1, 2})}, 1: {"m.py": frozenset({1, 3})}, 2: {"m.py": frozenset({1})}})
    scores = suspicion(traces, [0], {0: ExecutionTrace("failed", 0, 0, ("E",), (("t.py", 1),), "")})
    assert scores["m.py"][2] == 1.0
    assert 0 < scores["m.py"][1] < 1
    assert 3 not in scores["m.py"]


def in_worker(root: Path, body: str) -> str:
    """Run code beside the worker's modules, in a fresh interpreter."""
    code = f"import sys\nsys.path.insert(0, {str(HERE)!r})\nsys.dont_write_bytecode = True\n{body}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_fence_refuses_writes_kills_and_processes_without_end(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "kept").write_text("x")
    body = f"""
import os, shutil, socket
from kotef.repair.worker.restrictions import Restrictions
fence = Restrictions({str(scratch)!r})
fence.close()
def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        print(type(error).__name__)
    else:
        print("allowed")
refused(open, {str(tmp_path / "kept")!r}, "w")
refused(os.remove, {str(tmp_path / "kept")!r})
refused(shutil.rmtree, {str(tmp_path)!r})
refused(os.rename, {str(scratch / "a")!r}, {str(tmp_path / "kept")!r})
refused(os.kill, -1, 0)
refused(socket.create_connection, ("192.0.2.1", 80), 0.1)
refused(lambda: open({str(scratch / "mine")!r}, "w").close())
refused(lambda: open({str(tmp_path / "kept")!r}).close())
for _ in range(70):
    pid = 1
    try:
        pid = os.fork()
    except PermissionError:
        print("no more")
        break
    if not pid:
        os._exit(0)
"""
    assert in_worker(tmp_path, body).split() == [
        *["PermissionError"] * 5,
        "ConnectionRefusedError",
        "allowed",
        "allowed",
        "no",
        "more",
    ]
    assert (tmp_path / "kept").read_text() == "x"


def test_a_swapped_function_takes_effect_wherever_it_is_held_and_is_put_back(tmp_path: Path) -> None:
    project(
        tmp_path,
        {
            "m.py": "def f(n):\n    return n\n\nclass A:\n    @staticmethod\n    def g(n=1):\n        return n\n\nLIMIT = 1\n",
            "user.py": "from m import A, LIMIT, f\nheld = [f, A.g]\n",
        },
    )
    body = """
import os
sys.path.insert(0, os.getcwd())
import m, user
from kotef.repair.worker.hot_swap import NotSwappableError, Swapper
swapper = Swapper(os.getcwd())
f = {"path": "m.py", "source": "def f(n):\\n    return n + 1\\n", "trail": ["f"], "line": 1, "defaults": False}
g = {"path": "m.py", "source": "class A:\\n    def g(n=5):\\n        return n\\n", "trail": ["A", "g"], "line": 5, "defaults": True}
limit = {"path": "m.py", "assign": "LIMIT = 7", "names": ["LIMIT"]}
with swapper.applied([f, g, limit]):
    print(user.held[0](1), user.held[1](), user.LIMIT, m.LIMIT)
print(user.held[0](1), user.held[1](), user.LIMIT, m.LIMIT)
before = swapper.traces(["m.py"])
m.cache = {}
print(before == swapper.traces(["m.py"]))
swapper.apply({"path": "m.py", "module": "def f(n):\\n    return 9\\n\\nclass A:\\n    @staticmethod\\n    def g(n=1):\\n        return 8\\n\\nLIMIT = 3\\n"})
print(user.held[0](1), user.A.g(), user.LIMIT)
try:
    swapper.apply({**f, "line": 99})
except NotSwappableError as error:
    print(error)
"""
    assert in_worker(tmp_path, body).splitlines() == [
        "2 5 7 7",
        "1 1 1 1",
        "False",
        "9 8 3",
        "the function was never made",
    ]


def test_lines_types_and_arguments_are_watched(tmp_path: Path) -> None:
    project(
        tmp_path,
        {
            "m.py": "class P:\n    def __init__(self):\n        self.n = 1\n\ndef f(n, xs):\n    if n:\n        return xs\n    return P()\n"
        },
    )
    body = """
import os
sys.path.insert(0, os.getcwd())
import m
from kotef.repair.worker.tracing import Tracer, watcher
def relative(file):
    return os.path.basename(file)
kinds = [Tracer]
if hasattr(sys, "monitoring"):
    kinds.append(watcher)
for kind in kinds:
    seen = kind(relative, {"m.py"})
    seen.start()
    m.f(1, [2])
    seen.stop()
    first = seen.forget_lines()
    seen.start()
    m.f(0, [])
    seen.stop()
    second = seen.forget_lines()
    assert first == {"m.py": [6, 7]}, first
    assert second == {"m.py": [3, 6, 8]}, second
    assert seen.types["m.py:5:f"] == {"n": {"int"}, "xs": {"list"}}, seen.types
    assert seen.types["m.py:2:__init__"]["self.n"] == {"int"}
    assert seen.calls["m.py:5:f"] == ["{'n': 1, 'xs': [2]}", "{'n': 0, 'xs': []}"], seen.calls
print("fine")
"""
    assert in_worker(tmp_path, body) == "fine\n"


def test_the_worker_needs_the_standard_library_and_pytest_alone() -> None:
    inside = HERE / "kotef" / "repair" / "worker"
    for path in inside.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            for name in names:
                top = name.split(".")[0]
                own = name.startswith("kotef.repair.worker")
                assert own or top in {*sys.stdlib_module_names, "pytest", "_pytest"}, f"{path.name} imports {name}"
    assert os.access(inside / "main.py", os.R_OK)


REMOVALS = {
    "temporary directory": "    with tempfile.TemporaryDirectory() as place:\n        open(place + '/a', 'w').close()\n"
    "        os.makedirs(place + '/b/c')\n",
    "tree with a link out of it": "    place = tempfile.mkdtemp()\n    os.symlink(os.getcwd(), place + '/out')\n"
    "    shutil.rmtree(place)\n",
    "path of pathlib": "    place = pathlib.Path(tempfile.mkdtemp()) / 'a'\n    place.mkdir()\n    place.rmdir()\n",
    "move": "    place = tempfile.mkdtemp()\n    os.mkdir(place + '/a')\n    shutil.move(place + '/a', place + '/b')\n"
    "    shutil.rmtree(place)\n",
    "descriptor": "    place = os.open(tempfile.mkdtemp(), os.O_RDONLY)\n    os.mkdir('a', dir_fd=place)\n"
    "    os.close(os.open('a/f', os.O_CREAT | os.O_WRONLY, dir_fd=place))\n    os.rename('a/f', 'g', src_dir_fd=place, dst_dir_fd=place)\n"
    "    os.rmdir('a', dir_fd=place)\n    os.unlink('g', dir_fd=place)\n",
}


@pytest.mark.examples(2)
@pytest.mark.parametrize("removal", list(REMOVALS.values()), ids=list(REMOVALS))
def test_tests_that_remove_what_they_made_are_searched(tmp_path: Path, removal: str) -> None:
    files = {
        "m.py": "def up(n):\n    return n - 1\n",
        "test_m.py": "import os, pathlib, shutil, tempfile\nfrom m import up\n\ndef test_up():\n"
        f"{removal}    assert up(3) == 4\ndef test_more(): assert up(8) == 9\n",
    }
    found = search(project(tmp_path / "p", files))
    assert found.declined == ""
    assert b"n + 1" in found.patches[0].files["m.py"]


def test_the_fence_judges_paths_by_the_directory_they_are_relative_to(tmp_path: Path) -> None:
    """Each call is made once with a descriptor inside and once with one outside, from a working directory inside."""
    inside, outside = tmp_path / "scratch", tmp_path / "outside"
    for place in (inside, outside):
        (place / "folder").mkdir(parents=True)
        (place / "empty").mkdir()
        for name in ("one", "two", "three"):
            (place / name).write_text(name)
    (outside / "way in").symlink_to(inside)
    body = f"""
import os, shutil
from kotef.repair.worker.restrictions import Restrictions
fence = Restrictions({str(inside)!r})
os.chdir({str(inside)!r})
calls = {{
    "open": lambda at: os.close(os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=at)),
    "chmod": lambda at: os.chmod("one", 0o600, dir_fd=at),
    "chmod of a descriptor": lambda at: os.chmod(os.open("one", os.O_RDONLY, dir_fd=at), 0o600),
    "utime": lambda at: os.utime("one", dir_fd=at),
    "rename": lambda at: os.rename("one", "uno", src_dir_fd=at, dst_dir_fd=at),
    "link": lambda at: os.link("two", "due", src_dir_fd=at, dst_dir_fd=at),
    "symlink": lambda at: os.symlink("two", "deux", dir_fd=at),
    "mkdir": lambda at: os.mkdir("made", dir_fd=at),
    "remove": lambda at: os.remove("three", dir_fd=at),
    "rmdir": lambda at: os.rmdir("empty", dir_fd=at),
}}
ours, theirs = (os.open(place, os.O_RDONLY) for place in ({str(inside)!r}, {str(outside)!r}))
link = os.path.join({str(outside)!r}, "way in")
fence.close()
for name, call in [*calls.items(), ("link itself", lambda at: os.remove(link) if at == theirs else None)]:
    said = []
    for at in (ours, theirs):
        try:
            call(at)
            said.append("allowed")
        except PermissionError:
            said.append("refused")
    print(name, *said)
print(os.open in os.supports_dir_fd)
"""
    before = sorted(path.name for path in outside.iterdir())
    done = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, cwd=HERE, check=False)
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    assert len(lines) == 11
    assert [line for line in lines if not line.endswith("allowed refused")] == []
    assert last == "True"
    assert sorted(path.name for path in outside.iterdir()) == before
