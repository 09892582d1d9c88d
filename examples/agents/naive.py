"""The smallest agent that can be hired: no model, no library, one idea.

    kotef run --coder 'python examples/agents/naive.py {brief}'

It is given a file that tells the task in Markdown. It reads from it which tests fail, looks which functions they call,
and tries small changes of the numbers and operators there, one at a time, until the check passes. If none does, it puts
the file back as it was and says so. Whether the work is any good is not its business: kotef judges that.
"""

import ast
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

SECONDS = 120
SWAPS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*"}
COMPARED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}


def main(brief):
    text = Path(brief).read_text(encoding="utf-8")
    failing = re.findall(r"^ *- ([\w/.-]+\.py)::(?:\w+::)?(\w+)", text, re.MULTILINE)
    check = re.search(r"^Checks that judge\n- .*?: `(.+)`$", text, re.MULTILINE)
    if not failing or not check:
        print("I only know what to do about a failing Python test.")
        return 1
    for test_file, test in failing:
        for path, function in called_by(Path(test_file), test):
            print(f"{test} calls {function} in {path}")
            if repaired(path, function, check[1]):
                return 0
    print("Nothing I tried makes the check pass; the files are as they were.")
    return 1


def called_by(test_file, test):
    """Files and functions of the project that a test imports, and what these call in the same file."""
    tree = ast.parse(test_file.read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name: (Path(*node.module.split(".")).with_suffix(".py"), alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    body = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == test)
    found = [imported[name] for name in names_in(body) if name in imported and imported[name][0].is_file()]
    for path, function in found:
        inside = functions_of(path.read_text(encoding="utf-8"))
        found += [(path, name) for name in names_in(inside.get(function)) if name in inside and (path, name) not in found]
    return found


def names_in(node):
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name)] if node else []


def functions_of(source):
    return {node.name: node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}


def repaired(path, function, check):
    """Try each small change of the function, and keep the first with which the check passes."""
    before = kept = path.read_text(encoding="utf-8")
    try:
        for after in changes(before, functions_of(before).get(function)):
            path.write_text(after, encoding="utf-8")
            if passes(check):
                print("this change makes the check pass")
                kept = after
                return True
        return False
    finally:
        path.write_text(kept, encoding="utf-8")


def passes(check):
    """Whether it passes in time; a change can make it run for ever, so nothing of it stays alive."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = subprocess.Popen(check, shell=True, start_new_session=True, **quiet)
    try:
        return running.wait(SECONDS) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def changes(source, function):
    """The source with one number or one operator of the function changed."""
    lines = source.splitlines(keepends=True)
    nodes = list(ast.walk(function)) if function else []
    for node in sorted((one for one in nodes if hasattr(one, "lineno")), key=lambda one: one.lineno):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.lineno == node.end_lineno:
            for value in dict.fromkeys((node.value // 10, node.value * 10, node.value + 1, node.value - 1)):
                yield edited(lines, node.lineno, node.col_offset, node.end_col_offset, str(value))
    for node in nodes:
        if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
            yield from between(lines, node.left, node.right, SWAPS[type(node.op)])
        if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
            yield from between(lines, node.left, node.comparators[0], COMPARED[type(node.ops[0])])


def between(lines, left, right, operator):
    """What stands between two operands on one line, an operator and blanks, gives way to another operator."""
    if left.end_lineno == right.lineno and "(" not in lines[right.lineno - 1]:
        yield edited(lines, right.lineno, left.end_col_offset, right.col_offset, f" {operator} ")


def edited(lines, number, start, end, text):
    line = lines[number - 1].encode()
    new = (line[:start] + text.encode() + line[end:]).decode()
    return "".join([*lines[: number - 1], new, *lines[number:]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
