"""Test runners of JavaScript from the registry, the newest that this Node can run and an older one: counts, ids, alone.

They are installed once, into ~/.cache/kotef-tests/javascript or the folder that KOTEF_TEST_CACHE names.
"""

import asyncio
import json
import os
from pathlib import Path

import pytest
from support.javascript import installed
from support.loop import DONE, Agent, edit, git

from kotef.checks.runner import run_check
from kotef.checks.single_test_command import alone, passed_alone
from kotef.checks.types import CommandResult
from kotef.sandbox import child_environment

pytestmark = pytest.mark.javascript

TITLES = """\
describe('suite', () => {
  test('one', () => {});
  test('two', () => { expect(1).toBe(2); });
  test.skip('three', () => {});
  test.each([1, 2])('each %i', (n) => { expect(n).toBe(1); });
  test('same', () => {});
  test('same', () => {});
});
test('plain', () => {});
"""
OF_TITLES = {
    "t/a.test.js::suite::one": "passed",
    "t/a.test.js::suite::two": "failed",
    "t/a.test.js::suite::three": "skipped",
    "t/a.test.js::suite::each 1": "passed",
    "t/a.test.js::suite::each 2": "failed",
    "t/a.test.js::suite::same": "passed",
    "t/a.test.js::suite::same (2)": "passed",
    "t/a.test.js::plain": "passed",
    "t/b.test.js": "error",
}
MOCHA = """\
const assert = require('assert');
describe('suite', () => {
  it('one', () => {});
  it('two', () => { assert.equal(1, 2); });
  it.skip('three', () => {});
});
describe('broken', () => { before(() => { throw new Error('x'); }); it('never', () => {}); });
"""
OF_MOCHA = {
    "t/a.test.js::suite::one": "passed",
    "t/a.test.js::suite::two": "failed",
    "t/a.test.js::suite::three": "skipped",
    "t/a.test.js::broken": "error",
}
AVA = """\
import test from 'ava';
test('one', t => t.pass());
test('two', t => t.is(1, 2));
test.skip('three', t => t.pass());
test.todo('four');
test.failing('five', t => t.fail());
"""
OF_AVA = {
    "t/a.test.js::one": "passed",
    "t/a.test.js::two": "failed",
    "t/a.test.js::three": "skipped",
    "t/a.test.js::four": "skipped",
    "t/a.test.js::five": "xfailed",
    "t/b.test.js": "error",
}
TAP = """\
const t = require('tap');
t.test('one', (t) => { t.ok(true, 'is fine'); t.end(); });
t.test('two', (t) => { t.equal(1, 2, 'is the same'); t.end(); });
t.test('three', { skip: 'no' }, (t) => { t.end(); });
"""
OF_TAP = {
    "t/a.test.js::one::is fine": "passed",
    "t/a.test.js::two::is the same": "failed",
    "t/a.test.js::three": "skipped",
    "t/b.test.js": "error",
}
PLAYWRIGHT = """\
const { test, expect } = require('@playwright/test');
test.describe('suite', () => {
  test('one', () => {});
  test('two', () => { expect(1).toBe(2); });
  test.skip('three', () => {});
});
test('five', () => { test.fail(); expect(1).toBe(2); });
"""
OF_PLAYWRIGHT = {
    "t/a.test.js::suite::one": "passed",
    "t/a.test.js::suite::two": "failed",
    "t/a.test.js::suite::three": "skipped",
    "t/a.test.js::five": "xfailed",
}
DENO = """\
Deno.test('one', () => {});
Deno.test('two', () => { throw new Error('no'); });
Deno.test.ignore('three', () => {});
Deno.test('prints', () => { console.log('one ... FAILED (1ms) of them'); });
Deno.test('outer', async (t) => { await t.step('inner', () => { throw new Error('no'); }); });
"""
OF_DENO = {
    "t/a.test.js::one": "passed",
    "t/a.test.js::two": "failed",
    "t/a.test.js::three": "skipped",
    "t/a.test.js::prints": "passed",
    "t/a.test.js::outer": "failed",
    "t/b.test.js": "error",
}
OF_MOCHA_BY_LINES = {
    "suite::one": "passed",
    "suite::two": "failed",
    "suite::three": "skipped",
    'broken::"before all" hook': "failed",
}
VITEST = f"import {{ describe, expect, test }} from 'vitest';\n{TITLES}"
THROWS = "throw new Error('x');\n"
RUNNERS = {
    "jest@27": ("jest", "commonjs", TITLES, THROWS, OF_TITLES),
    "jest@30": ("jest", "commonjs", TITLES, THROWS, OF_TITLES),
    "vitest@1": ("vitest run", "module", VITEST, THROWS, OF_TITLES),
    "vitest@4": ("vitest run", "module", VITEST, THROWS, OF_TITLES),
    "bun@1": ("bun test", "commonjs", TITLES, THROWS, OF_TITLES),
    "deno@2": ("deno test", "module", DENO, THROWS, OF_DENO),
    "mocha@5": ("mocha t/a.test.js", "commonjs", MOCHA, "", OF_MOCHA_BY_LINES),
    "mocha@7": ("mocha t/a.test.js", "commonjs", MOCHA, "", OF_MOCHA_BY_LINES),
    "mocha@9": ("mocha t/a.test.js", "commonjs", MOCHA, "", OF_MOCHA),
    "mocha@12": ("mocha t/a.test.js", "commonjs", MOCHA, "", OF_MOCHA),
    "ava@4": ("ava", "module", AVA, THROWS, OF_AVA),
    "ava@7": ("ava", "module", AVA, THROWS, OF_AVA),
    "tap@21": ("tap --disable-coverage t", "commonjs", TAP, THROWS, OF_TAP),
    "@playwright/test@1.40": ("playwright test", "commonjs", PLAYWRIGHT, "", OF_PLAYWRIGHT),
    "@playwright/test@1": ("playwright test", "commonjs", PLAYWRIGHT, "", OF_PLAYWRIGHT),
}


def project(root: Path, modules: Path, files: dict[str, str], kind: str, **scripts: str) -> Path:
    manifest = {"name": "a", "type": kind, "scripts": scripts}
    for path, text in {"package.json": json.dumps(manifest), **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "node_modules").symlink_to(modules)
    return root


def checked(root: Path, command: str) -> CommandResult:
    env = child_environment(os.environ)
    return asyncio.run(run_check(command, root=root, env=env, timeout=300, idle_timeout=None))


@pytest.mark.parametrize("package", RUNNERS)
def test_each_test_is_known_directly_and_behind_npm_and_one_is_run_alone(package: str, tmp_path: Path) -> None:
    command, kind, text, other, expected = RUNNERS[package]
    files = {"t/a.test.js": text} | ({"t/b.test.js": other} if other else {})
    root = project(tmp_path, installed(package), files, kind, test=command)
    for line in (f"npx {command}", "npm test"):
        result = checked(root, line)
        assert result.tests == expected
        assert result.failed == sum(status in {"failed", "error"} for status in expected.values())
    wanted = tuple(test for test in expected if test.endswith("::one"))
    single = alone(f"npx {command}", wanted, exists=lambda path: (root / path).exists())
    if package.startswith("tap"):
        assert single is None
        return
    assert single
    again = checked(root, single)
    assert passed_alone(wanted, again) == wanted
    assert [test for test, how in (again.tests or {}).items() if how != "skipped" and "::" in test] == [*wanted]


CHAINS = [
    ("c8 mocha t", ("mocha@11", "c8")),
    ("nyc mocha t", ("mocha@11", "nyc")),
    ("cross-env X=1 mocha t", ("mocha@11", "cross-env")),
    ("node -e 1 && mocha t", ("mocha@11",)),
    ("npm run build && npm run unit", ("mocha@11",)),
    ("npx mocha t --reporter dot", ("mocha@11",)),
    ("run-s build unit", ("mocha@11", "npm-run-all")),
    ("pnpm run build && pnpm run unit", ("mocha@11", "pnpm@9")),
    ("yarn --silent run unit", ("mocha@11", "yarn@1")),
]


@pytest.mark.parametrize(("script", "packages"), CHAINS, ids=[script for script, _ in CHAINS])
def test_wrappers_and_chains_hide_no_test(script: str, packages: tuple[str, ...], tmp_path: Path) -> None:
    files = {"t/a.test.js": MOCHA}
    root = project(tmp_path, installed(*packages), files, "commonjs", test=script, build="node -e 1", unit="mocha t")
    result = checked(root, "npm test")
    assert result.tests == OF_MOCHA
    assert not result.passed


def test_a_parallel_run_of_mocha_is_counted_and_never_read_in_part(tmp_path: Path) -> None:
    files = {f"t/{name}.js": MOCHA.replace("broken", name) for name in "abc"}
    result = checked(project(tmp_path, installed("mocha@11"), files, "commonjs"), "npx mocha --parallel t")
    assert (result.tests, result.failed) == (None, 6)


THREE = {
    "jest@30": ("jest", "commonjs", "", "expect(calc.{name}).toBe({number})"),
    "vitest@4": ("vitest run", "module", "import {{ test, expect }} from 'vitest';", "expect(calc.{name}).toBe({number})"),
    "mocha@12": ("mocha t", "module", "import assert from 'assert';", "assert.equal(calc.{name}, {number})"),
    "ava@7": ("ava", "module", "import ava from 'ava';", "t.is(calc.{name}, {number})"),
}  # fmt: skip
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4}


@pytest.mark.parametrize("package", THREE)
def test_a_run_that_goes_from_three_failing_to_one_keeps_that_attempt(package: str, tmp_path: Path, run) -> None:
    command, kind, head, assertion = THREE[package]
    modules = installed(package)
    calc = "".join(f"{name}: {4 if name == 'four' else 0},\n" for name in NUMBERS)
    loads = "const calc = require('../calc.js');" if kind == "commonjs" else "import calc from '../calc.js';"
    calls = {"ava@7": "ava('gives {name}', t => {body});", "mocha@12": "it('gives {name}', () => {body});"}
    line = calls.get(package, "test('gives {name}', () => {body});")
    tests = "\n".join(
        line.format(name=name, body="{ " + assertion.format(name=name, number=number) + "; }")
        for name, number in NUMBERS.items()
    )
    files = {
        ".gitignore": "node_modules\n",
        "calc.js": f"{'module.exports =' if kind == 'commonjs' else 'export default'} {{\n{calc}}};\n",
        "t/a.test.js": f"{head.replace('{{', '{').replace('}}', '}')}\n{loads}\n{tests}\n",
    }
    root = project(tmp_path / "project", modules, files, kind, test=command)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    fixes = [edit("calc.js", f"{name}: 0", f"{name}: {NUMBERS[name]}") for name in ("one", "two")]
    agent = Agent(coder=[*fixes, DONE, edit("calc.js", "four: 4", "four: 5"), DONE])
    ran = run(root, agent, "make every test pass", "--check", "npm test", "--max-attempts", "2")

    assert (ran.code, ran.result["treeVisit"]) == (3, 1), ran.stdout
    assert len(ran.result["fixed"]) == 2
    assert ran.result["broken"] == ["t/a.test.js::gives four"]
    assert "t/a.test.js::gives three" in ran.stdout + json.dumps(ran.result)
