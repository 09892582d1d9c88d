"""Outcomes of a run, and the exit status of each."""

from typing import Final, Literal

Outcome = Literal[
    "verified",
    "unverified",
    "bounded_attempts_exceeded",
    "stuck",
    "budget_exceeded",
    "environment_broken",
    "blocked",
    "model_unavailable",
    "interrupted",
    "crashed",
]
"""The one ending of a run; The planner decides all but `interrupted`, and `crashed`, a defect of kotef."""

EXIT_STATUS: Final[dict[Outcome, int]] = {
    "verified": 0,
    "unverified": 0,
    "crashed": 1,
    "bounded_attempts_exceeded": 3,
    "stuck": 3,
    "budget_exceeded": 4,
    "environment_broken": 5,
    "blocked": 6,
    "model_unavailable": 7,
    "interrupted": 130,
}
"""Exit status of each outcome (0-255); a signal makes `interrupted` 128 plus its number.

2 is not an outcome: nothing was run.
"""

RESUMABLE: Final[frozenset[Outcome]] = frozenset(
    {"budget_exceeded", "environment_broken", "model_unavailable", "interrupted", "crashed"}
)
"""Endings a resume continues from as they are; `bounded_attempts_exceeded` and `stuck` need more attempts as well."""
