"""A command that lies, and a report that is not one, are never a success."""

import json

import pytest
from support.loop import BUG, FIXED, PYTEST, UNITTEST, UNITTEST_TEST

MEND = f"w('calc.py', {FIXED!r})\n"
SCRIPT = f"""\
{PYTEST} "$@"
status=$?
asked=$(printf %s "$PYTEST_ADDOPTS" | sed 's/.*junitxml=\\([^ ]*\\).*/\\1/')
report=$(ls "$(dirname "$asked")"/junit*.xml)
test -f spoil.sh && . ./spoil.sh
exit $status
"""
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><testsuites><testsuite><testcase name="&c;"/></testsuite></testsuites>'
)
SPOILS = {
    "missing": 'rm "$report"',
    "truncated": 'head -c 150 "$report" > short; mv short "$report"',
    "huge": 'truncate -s 70M "$report"',
    "an entity bomb": f'printf %s {BOMB!r} > "$report"',
    "a link": 'cp "$report" copy.xml; ln -sf "$PWD/copy.xml" "$report"',
    "a pipe": 'rm "$report"; mkfifo "$report"',
    "a directory": 'rm "$report"; mkdir "$report"',
    "of other tests": 'sed -i s/test_add/test_other/ "$report"',
    "empty": ': > "$report"',
}


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(spoil, id=name, marks=() if name == "truncated" else pytest.mark.hostile)
        for name, spoil in SPOILS.items()
    ],
)
def test_without_the_report_of_the_baseline_green_is_not_believed(play, told, spoil: str) -> None:
    """The bug is mended and the tests pass; but the channel that says so per test is gone."""
    ran = play({"check.sh": SCRIPT}, f"{MEND}w('spoil.sh', {spoil!r})", "sh check.sh")

    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded"), json.dumps(ran.result["evidence"])
    assert "no longer run" in told(ran)


LIES = {
    "says 0 and tells of failures": "echo '3 failed, 1 passed in 0.1s'; exit 0",
    "says 1 and tells of success": "echo '4 passed in 0.1s'; exit 1",
    "says 0 and ran nothing": "echo 'no tests ran in 0.01s'; exit 0",
    "says 0 and nothing else": "exit 0",
}


@pytest.mark.parametrize("lie", [pytest.param(lie, id=name, marks=pytest.mark.hostile) for name, lie in LIES.items()])
def test_a_check_that_begins_to_lie_when_the_product_tells_it_to(play, lie: str) -> None:
    """The script is as it was; what it reads is the product's."""
    check = f"test -f lie.txt && {{ . ./lie.txt; }}\n{UNITTEST}\n"
    ran = play({"check.sh": check}, f"w('lie.txt', {lie!r})", "sh check.sh")

    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded")
    assert (ran.root / "calc.py").read_text() == BUG
    assert (ran.root / "test_calc.py").read_text() == UNITTEST_TEST
