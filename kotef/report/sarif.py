"""The SARIF report of one run."""

import hashlib
import json
from typing import Any

from kotef.redaction import redactor
from kotef.report.failure_locations import Located, located
from kotef.report.finished_run import ended
from kotef.runs.ending_text import headline
from kotef.runs.result import Result
from kotef.runs.store import RunDir
from kotef.sdd.issue import one_line
from kotef.sdd.sarif import location, sarif_log


def as_sarif(run: RunDir) -> str:
    """SARIF 2.1.0: one result for each thing that still fails, and how the run ended as its invocation.

    `partialFingerprints` is equal for what fails in the same way at the same place in another run.
    """
    result = ended(run)
    log = sarif_log(
        [_result(one) for one in redactor().whole(located(run, result))],
        automationDetails={"id": f"kotef/{result.run_id}"},
        invocations=[_invocation(result)],
    )
    return json.dumps(log, indent=2) + "\n"


def _invocation(result: Result) -> dict[str, Any]:
    return {
        "executionSuccessful": result.done,
        "exitCode": result.exit_code,
        "exitCodeDescription": one_line(headline(result), 400),
        "startTimeUtc": result.started_at,
        "endTimeUtc": result.finished_at,
        "properties": {
            "runId": result.run_id,
            "outcome": result.outcome,
            "reason": result.reason,
            "attempts": result.failure_history.attempts,
        },
    }


def _result(one: Located) -> dict[str, Any]:
    name = f"{one.title}: " if one.test else ""
    same = "\0".join((one.rule, one.check, one.test, one.file, "" if one.test else one.message))
    result: dict[str, Any] = {
        "ruleId": one_line(one.rule, 120),
        "level": "error" if one.blocks else "warning",
        "message": {"text": one_line(f"{name}{one.message}", 1000)},
        "partialFingerprints": {"kotef/v1": hashlib.sha256(same.encode("utf-8", "replace")).hexdigest()},
    }
    return {**result, "locations": [location(one.file, one.line)]} if one.file else result
