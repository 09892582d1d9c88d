"""How is a report tested without a run? With a run directory as kotef writes it, of any size."""

import json
from pathlib import Path
from typing import Any

from kotef.checks.types import Check
from kotef.checks.verification import CheckVerdict, Verification
from kotef.failures.history import FailureHistory
from kotef.runs.result import Result, ResultDone, ResultHistory, ResultUsage
from kotef.runs.store import RunDir, at
from kotef.sdd.spec import Spec
from kotef.settings import Limits
from kotef.state import Spent, Task

RUN = "20260131-101500-3fa2"
HOSTILE = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
ID = "tests/test_part_{part:02}.py::test_number_{number:04}"


def ids_of(tests: int) -> list[str]:
    """Ids as pytest writes them."""
    return [ID.format(part=number // 50, number=number) for number in range(tests)]


def made_run(root: Path, *, attempts: int = 3, tests: int = 6, ended: bool = True, **changed: Any) -> RunDir:
    """A run whose tests say something in each attempt: 0 still red, 1 back and forth, 2 fixed, 3 broken, 4 flaky.

    The last attempt adds a test of its own, `HOSTILE` by name. `changed` are fields of its result.
    """
    run = at(root, RUN)
    run.create()
    limits = Limits(max_attempts=max(attempts, 1))
    checks = (Check(name="pytest -q", command="python -m pytest -q", role="test", origin="option"),)
    task = Task(
        run_id=RUN, goal="TEN takes ten percent off\nand nothing else", checks=checks, limits=limits, spec=Spec()
    )
    run.write_task(task)
    ids = ids_of(tests)
    events = [{"event": "run_started", "run": RUN, "goal": task.goal}]
    for visit in range(attempts + 1):
        events += _visit(run, visit, attempts, ids)
    if ended:
        events += [{"event": "ended", "outcome": "bounded_attempts_exceeded", "reason": "", "sentence": ""}]
        run.write_result(result_of(attempts, **changed))
    lines = [json.dumps({"n": number, "t": 1769854500.0 + number, **line}) for number, line in enumerate(events, 1)]
    run.events.write_text("\n".join(lines) + "\n")
    return run


def result_of(attempts: int, **changed: Any) -> Result:
    """How it ended."""
    facts: dict[str, Any] = {
        "kotef_version": "0.1.0",
        "run_id": RUN,
        "outcome": "bounded_attempts_exceeded",
        "reason": "bounded_attempts_exceeded",
        "sentence": f"all {attempts} attempts failed verification",
        "done": False,
        "exit_code": 3,
        "goal": "TEN takes ten percent off",
        "ticket": "01",
        "coder": "model",
        "model": "some-model",
        "profile": "strict",
        "max_attempts": attempts,
        "visits": attempts,
        "failure_history": ResultHistory.of(FailureHistory(spent=frozenset(range(1, attempts + 1)))),
        "definition_of_done": (
            ResultDone(line=9, text="TEN takes off ten percent", proved_by="person", why="", tests=(), files=()),
            ResultDone(line=10, text="half works", proved_by="tests", why="passes now", tests=("t.py::a",), files=()),
        ),
        "usage": ResultUsage.of(Spent(tokens_in=4200, tokens_out=300, seconds=75.0, calls=6), priced=False),
        "started_at": "2026-01-31T10:15:00Z",
        "finished_at": "2026-01-31T10:16:15Z",
        "issue": ".sdd/issues.md",
        "resume": f"kotef resume {RUN} --max-attempts 5",
    }
    return Result(**(facts | changed))


def _visit(run: RunDir, visit: int, attempts: int, ids: list[str]) -> list[dict[str, Any]]:
    """Write what one visit leaves behind; its events."""
    last = visit == attempts
    red = {0, *({1} if visit % 2 == 0 else ()), *({2} if visit < 2 else ()), *({3, 4} if visit and last else ())}
    tests: dict[str, Any] = {name: "failed" if number in red else "passed" for number, name in enumerate(ids)}
    new = (f"tests/test_new.py::{HOSTILE}",) if last and visit else ()
    tests |= dict.fromkeys(new, "passed")
    failing = tuple(name for name, status in tests.items() if status == "failed")
    log = f"logs/visit-{visit}-pytest_-q.log"
    (run.path / log).write_text(
        "\n".join(f"line {number} of the output" for number in range(300))
        + f"\n\x1b[31mE   AssertionError: assert 990 == 900\x1b[0m {HOSTILE}\n2 failed in 0.1 s\n"
    )
    summary = f"{ids[0]} (tests/test_part_00.py:7)\nAssertionError: assert 990 == 900"
    check = CheckVerdict(
        name="pytest -q",
        command="python -m pytest -q",
        role="test",
        required=True,
        exit_code=1,
        passed=False,
        satisfied=False,
        advisory=False,
        kind="test_failure",
        summary=summary,
        evidence="report",
        executed=len(tests),
        red=failing[:200],
        failing=failing[:20],
        log=log,
    )
    put_back = (ids[5].partition("::")[0],) if last and visit and len(ids) > 5 else ()
    judged = Verification(
        visit=visit,
        tree="0" * 40,
        passed=False,
        detail="red",
        summary=f"pytest -q: {summary}"[:400],
        checks=(check,),
        tests=tests,
        flaky=(ids[4],) if last and visit and len(ids) > 4 else (),
        new_tests=new,
        put_back=put_back,
        seconds=1.0,
    )
    (run.path / f"visit-{visit}.json").write_text(judged.model_dump_json())
    told = {"visit": visit, "passed": False, "detail": "red", "summary": judged.summary, "fixed": [], "broken": []}
    verified = {"event": "verified", **told, "put_back": list(put_back), "left": []}
    checked = {"event": "check_started", "visit": visit, "check": "pytest -q", "command": "python -m pytest -q"}
    if not visit:
        return [checked, verified]
    (run.path / f"visit-{visit}.patch").write_text(PATCH.replace("# 0", f"# {visit}"))
    figures = {"tokens_in": 1000, "tokens_out": 100, "tokens_cached": 600, "cost": 0.0, "estimated": False}
    answer = {"event": "model_answer", "visit": visit, **figures, "model": "some-model-2026", "seconds": 1.5}
    plan = {"hypothesis": f"cause {visit}", "steps": ["divide by ten", HOSTILE], "source": "model"}
    tool = {"tool": "edit_file", "arguments": "shop/cart.py", "ok": True, "note": "", "seconds": 0.1}
    drift = {"role": "coder", "model": "some-model-2026", "changed": ["edit_file"]}
    edits = {"stopped_by": "tool_budget", "changed": ["shop/cart.py"], "detail": "40 calls", "summary": HOSTILE}
    return [
        {**answer, "node": "planner"},
        {"event": "planned", "visit": visit, **plan},
        {"event": "coder_started", "visit": visit, "coder": "model"},
        {"event": "prefix_drift", "visit": visit, **drift},
        {**answer, "node": "coder"},
        {"event": "tool_finished", "visit": visit, **tool},
        {"event": "coder_finished", "visit": visit, **edits},
        checked,
        verified,
    ]


PATCH = """\
diff --git a/shop/cart.py b/shop/cart.py
index 51c0b3f..c1142b4 100644
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -4,7 +4,8 @@ def to_pay(prices, code):
 def discount(total, code):
     \"\"\"The amount taken off `total` (cents) for a discount code.\"\"\"
     if code == "TEN":
-        return total // 100
+        # 0 <b>bold</b>
+        return total // 10
     if code == "HALF":
         return total // 2
     return 0
"""
