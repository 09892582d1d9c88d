"""Honest tests in other languages: each oracle made wrong turns them red, and so does a halted one."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kotef.integrity.probes.oracles import WrongAnswer, wrong_answers

JAVASCRIPT = """\
const test = require("node:test");
const assert = require("node:assert");
const isDeep = (a, b) => { try { assert.deepStrictEqual(a, b); return true; } catch { return false; } };
const check = (ok) => { if (!ok) throw new Error("no"); };
const matchers = (value, turned) => ({
  toBe: (other) => check(Object.is(value, other) !== turned),
  toEqual: (other) => check(isDeep(value, other) !== turned),
  toBeTruthy: () => check(Boolean(value) !== turned),
  toBeCloseTo: (other) => check((Math.abs(value - other) < 0.01) !== turned),
  toContain: (other) => check(value.includes(other) !== turned),
  to: { equal: (other) => check(Object.is(value, other) !== turned) },
});
const expect = (value) => ({ ...matchers(value, false), not: matchers(value, true) });
const sut = (v) => v;

test("forms", async () => {
  const expected = 12;
  const pattern = /[(]"/;  // a bracket and a quote that are no brackets
  assert.equal(sut(3), 3);
  assert.strictEqual("text", sut("text"), "said");
  assert.deepEqual(sut([1, "b", { c: true }]), [1, "b", { c: true }]);
  assert.deepStrictEqual(sut({ a: [0x1f] }), { a: [0x1f] });
  assert.strictEqual(sut(12), expected);
  assert.strictEqual(sut(`a`), `a`);
  assert.strictEqual(await sut(-2.5), -2.5);
  for (const v of [1, "s", true, 2n, NaN, Infinity, null, undefined, [], {}]) assert.strictEqual(sut(v), v);
  assert.deepEqual(sut([pattern.source]), [pattern.source]);
  assert(sut(4) === 4 && sut(5) === 5);
  assert.ok(sut(true));
  assert.ok(!sut(false), "said");
  assert.notEqual(sut(1), 2);
  assert.throws(() => { throw new TypeError("x"); }, TypeError);
  assert.match("abc", /b/);
  await assert.rejects(async () => { throw new Error("x"); });
  expect(sut(7)).toBe(7);
  expect(sut({ a: [1] })).toEqual({ a: [1] });
  expect(sut("a b")).to.equal("a b");
  const other = sut("word");
  expect(sut("word")).toBe(other);
  expect(sut(1)).toBeTruthy();
  expect(sut(1)).not.toBe(2);
  expect(sut(0.3)).toBeCloseTo(0.3);
  expect([1, 2]).toContain(
    2
  );
});
"""
GO = """\
package forms

import (
\t"errors"
\t"reflect"
\t"testing"
)

func TestForms(t *testing.T) {
\tif got := add(1, 2); got != 3 {
\t\tt.Errorf("got %d", got)
\t}
\twant := 5
\tif got := add(2, 3); got != want {
\t\tt.Fatalf("add(2, 3) = %d, want %d", got, want)
\t}
\tif name() != "a name" || add(0, 0) != 0 {
\t\tt.Fatal("no")
\t}
\tif !reflect.DeepEqual([]string{name()}, []string{"a name"}) {
\t\tt.Error("no")
\t}
\tlist := []int{1, 2}
\tif !reflect.DeepEqual(list, []int{1, 2}) {
\t\tt.Fail()
\t}
\tif 'x' != name2()[0] {
\t\tt.Error("no")
\t}
\tvar err error = errors.New("x")
\tif err == nil {
\t\tt.Fatal("no error")
\t}
\tif ok := add(1, 1) == 2; !ok {
\t\tpanic("no")
\t}
\tcases := []struct{ a, want int }{{1, 2}, {3, 4}}
\tfor _, c := range cases {
\t\tt.Run("sub", func(t *testing.T) {
\t\t\tif got := add(c.a, 1); got != c.want {
\t\t\t\tt.Errorf("got %d", got)
\t\t\t}
\t\t})
\t}
}
"""
RUST = """\
#[test]
fn forms() {
    let expected = 12u8;
    assert_eq!(add(10, 2), expected);
    assert_eq!(add(1, 2), 3, "said {}", 1);
    assert_eq!(Some(5), Some(add(2, 3)));
    assert_eq!(vec![1, 2], vec![1, add(1, 1)]);
    assert_eq!("a'b".to_string(), String::from("a'b"));
    assert_eq!('x', "x".chars().next().unwrap());
    assert_eq!(r#"a "b""#, "a \\"b\\"");
    assert!((0.5f64 - 0.5).abs() < 1e-9);
    assert!(add(1, 1) == 2 && true);
    assert!(matches!(Some(1), Some(_)));
    assert_ne!(add(1, 1), 3);
    assert_eq!(add(1, 1), add(2, 0));
    let held: Result<&'static str, ()> = Ok("yes");
    assert_eq!(held, Ok("yes"));
    for each in 1..3 { assert_eq!(add(each, 0), each); }
}
"""
C = """\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ADD_FAILURE() exit(1)
#define TEST_FAIL() exit(1)
#define EXPECT_EQ(a, b) do { if ((a) != (b)) exit(1); } while (0)
#define EXPECT_NE(a, b) do { if ((a) == (b)) exit(1); } while (0)
#define EXPECT_STREQ(a, b) do { if (strcmp((a), (b))) exit(1); } while (0)
#define EXPECT_TRUE(a) do { if (!(a)) exit(1); } while (0)
#define EXPECT_FALSE(a) do { if (a) exit(1); } while (0)
#define EXPECT_NEAR(a, b, c) do { if ((a) - (b) > (c) || (b) - (a) > (c)) exit(1); } while (0)
#define TEST_ASSERT_EQUAL_INT(a, b) do { if ((a) != (b)) exit(1); } while (0)
static int add(int a, int b) { return a + b; }
int main(void) {
    int want = 6;
    assert(add(1, 2) == 3);
    assert(add(1, 2) == 3 && 'x' == "x"[0]);
    assert(strcmp("ab", "a" "b") == 0);
    assert(!strcmp("ab", "ab"));
    assert(add(1, 2));
    if (add(0, 0)) assert(add(0, 0) == 7);
    EXPECT_EQ(add(3, 3), want);
    EXPECT_EQ(0x1F, add(30, 1));
    EXPECT_EQ(add(1, 1), add(2, 0));
    EXPECT_STREQ("text", "text");
    EXPECT_TRUE(add(1, 0));
    EXPECT_FALSE(add(0, 0));
    EXPECT_NEAR(0.25, add(0, 0), 0.5);
    TEST_ASSERT_EQUAL_INT(4, add(2, 2));
    return 0;
}
"""


def answers(path: str, text: str, test: str, seed: int = 1) -> list[WrongAnswer]:
    found = wrong_answers(path, text.encode(), f"{path}::{test}", seed=seed, read=lambda _: None)
    for answer in found:
        assert len(answer.content.splitlines()) == len(text.splitlines())
        assert answer.halted is None or len(answer.halted.splitlines()) == len(text.splitlines())
        assert b"kotef" not in answer.content
    return list(found)


def variants(found: list[WrongAnswer], text: str) -> Iterator[tuple[str, str, str]]:
    """Name, content and what is shown of it, for the honest file and all changed ones."""
    yield "Honest", text, ""
    for number, answer in enumerate(found):
        yield f"Wrong{number}", answer.content.decode(), f"{answer.kind}: {answer.was} -> {answer.now}"
        if answer.halted is not None:
            yield f"Halted{number}", answer.halted.decode(), f"halted: {answer.was}"


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


HOME = Path.home()  # before a test gets another
CACHES = {"GOCACHE": HOME / ".cache/go-build", "RUSTUP_HOME": HOME / ".rustup", "CARGO_HOME": HOME / ".cargo"}


def run(command: list[str], folder: Path) -> str:
    env = {**os.environ, **{name: str(path) for name, path in CACHES.items() if path.is_dir()}}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("seed", [1])
def test_javascript(tmp_path: Path, seed: int) -> None:
    needs("node")
    found = answers("a.test.js", JAVASCRIPT, "forms", seed)
    assert len(found) == 23
    assert {answer.kind for answer in found} == {"literal", "wrapped", "condition", "tolerance"}
    names = []
    shown = {}
    for name, text, what in variants(found, JAVASCRIPT):
        (tmp_path / f"{name}.cjs").write_text(text.replace('test("forms"', f'test("{name}"'))
        names.append(name)
        shown[name] = what
    (tmp_path / "all.cjs").write_text("".join(f'require("./{name}.cjs");\n' for name in names))
    output = run(["node", "--test-reporter=tap", "all.cjs"], tmp_path)
    for name in names:
        assert (f"not ok {names.index(name) + 1} - {name}" in output) == (name != "Honest"), (shown[name], output)


def test_go(tmp_path: Path) -> None:
    needs("go")
    found = answers("forms_test.go", GO, "TestForms/sub")
    assert len(found) == 9
    assert {answer.kind for answer in found} == {"literal", "condition"}
    (tmp_path / "go.mod").write_text("module example.com/forms\n\ngo 1.20\n")
    sut = 'package forms\n\nfunc add(a, b int) int { return a + b }\nfunc name() string { return "a name" }\nfunc name2() string { return "x" }\n'
    (tmp_path / "sut.go").write_text(sut)
    shown = {}
    for name, text, what in variants(found, GO):
        (tmp_path / f"{name.lower()}_test.go").write_text(text.replace("TestForms(", f"Test{name}("))
        shown[name] = what
    panics = [name for name, what in shown.items() if "panic" in what or "halted: if ok" in what or "if ok" in what]
    for name in shown:
        if name in panics:  # it ends the process of the others
            (tmp_path / f"{name.lower()}_test.go").unlink()
    output = run(["go", "test", "-vet=off", "-v", "."], tmp_path)
    for name, what in shown.items():
        if name not in panics:
            assert f"--- {'PASS' if name == 'Honest' else 'FAIL'}: Test{name} " in output, (what, output)


def test_rust(tmp_path: Path) -> None:
    needs("rustc")
    found = answers("src/lib.rs", RUST, "forms")
    assert len(found) == 14
    shown = {}
    text = "#![deny(warnings)]\n#![cfg(test)]\nfn add(a: u8, b: u8) -> u8 { a + b }\n"
    for name, content, what in variants(found, RUST):
        allowed = "#[allow(unused_comparisons)]" if "Halted" in name else ""
        text += f"{allowed}\nmod {name.lower()} {{ use super::add;\n{content}\n}}\n"
        shown[name] = what
    (tmp_path / "all.rs").write_text(text)
    built = run(["rustc", "--test", "--edition", "2021", "all.rs"], tmp_path)
    output = run(["./all"], tmp_path) if (tmp_path / "all").exists() else built
    for name, what in shown.items():
        status = "ok" if name == "Honest" else "FAILED"
        assert f"test {name.lower()}::forms ... {status}" in output, (what, output[-3000:])


def test_c(tmp_path: Path) -> None:
    needs("gcc")
    found = answers("test_add.c", C, "test_add")
    assert len(found) == 14
    prelude = C.partition("int main")[0]
    shown = {}
    text = prelude
    for name, content, what in variants(found, C):
        text += content.removeprefix(prelude).replace("int main(void)", f"static int main_{name}(void)")
        shown[name] = what
    tests = ", ".join(f"main_{name}" for name in shown)
    text += (
        f"int main(int n, char **v) {{ int (*all[])(void) = {{ {tests} }}; return n > 1 ? all[atoi(v[1])]() : 0; }}\n"
    )
    (tmp_path / "a.c").write_text(text)
    built = run(["gcc", "-Wall", "-Werror", "-o", "a", "a.c"], tmp_path)
    for number, (name, what) in enumerate(shown.items()):
        done = subprocess.run([str(tmp_path / "a"), str(number)], capture_output=True, check=False)
        is_red = name != "Honest" and "== 7" not in what
        assert (done.returncode != 0) == is_red, (what, built)


@pytest.mark.parametrize(
    ("path", "body", "now"),
    [
        ("ATest.java", 'assertEquals("said", true, sut());', 'assertEquals("said", false, sut());'),
        ("ATest.java", "assertEquals(0.5, sut(), 0.1);", "tolerance"),
        ("ATest.java", 'assertTrue("said", sut());', 'assertTrue("said", !(sut()));'),
        ("ATest.java", "assertThat(sut()).isTrue();", "assertThat(sut()).isFalse();"),
        ("ATest.java", "assertThat(sut(), is(true));", "assertThat(sut(), is(false));"),
        ("ATest.java", "assertThat(sut(), not(is(true)));", None),
        ("ATest.java", "assertEquals(a, sut());", None),
        ("ATest.kt", "assertEquals(true, sut())", "assertEquals(false, sut())"),
        ("ATest.php", "$this->assertSame(true, sut());", "$this->assertSame(false, sut());"),
        ("ATest.php", "$this->assertSame($a, sut());", "$this->assertNotSame($a, sut());"),
        ("a_test.cc", "REQUIRE(sut() == true);", "REQUIRE(sut() == false);"),
        ("a_test.cc", "ck_assert_int_eq(a, sut());", "ck_assert_int_ne(a, sut());"),
        ("a.test.ts", "expect(sut()).toBe(true);", "expect(sut()).toBe(false);"),
        ("a.test.ts", "expect(sut()).toBe(other);", "expect(sut()).not.toBe(other);"),
        (
            "a.test.js",
            "request(app).get('/').expect('X', true, done);",
            "request(app).get('/').expect('X', false, done);",
        ),
    ],
)
def test_other_forms(path: str, body: str, now: str | None) -> None:
    frames = {
        "java": "class ATest {{ @Test void adds() {{\n{0}\n}} }}",
        "kt": "class ATest {{ @Test fun adds() {{\n{0}\n}} }}",
        "php": "<?php class ATest {{ function adds() {{\n{0}\n}} }}",
        "cc": "static void adds(void) {{\n{0}\n}}",
        "ts": "it('adds', () => {{\n{0}\n}});",
        "js": "it('adds', (done) => {{\n{0}\n}});",
    }
    found = answers(path, frames[path.rpartition(".")[2]].format(body), "adds")
    assert [now if now == "tolerance" else answer.now for answer in found] == ([now] if now else [])


@pytest.mark.parametrize("body", ["if !s.Contains(1) {\n}", "a.Equal(b)", "ok := a.Equal(1)"])
def test_methods_that_only_look_like_assertions_stay(body: str) -> None:
    assert answers("a_test.go", f"func TestA(t *testing.T) {{\n{body}\n}}\n", "TestA") == []
