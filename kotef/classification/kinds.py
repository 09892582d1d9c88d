"""Kinds of failures, and which of them the environment causes."""

from dataclasses import dataclass
from typing import Final, Literal

FailureKind = Literal["test_failure", "lint_failure", "runtime_error", "tooling_error", "unknown"]
"""The literals of `history.FailureKind`, which needs pydantic and is not imported here; a test holds them equal."""

MAX_SUMMARY: Final = 400
MAX_TESTS: Final = 20

ENVIRONMENT_FAULTS: Final = frozenset(
    {
        "command_not_found",
        "hidden_program",
        "not_executable",
        "missing_runner",
        "missing_plugin",
        "network_denied",
        "no_space",
        "no_permission",
        "out_of_memory",
    }
)
"""Details that blame the machine. `missing_module` is not one: the module may be what the task is to create."""


@dataclass(frozen=True, slots=True)
class OutputFinding:
    """What one reader of the output concluded, before it is shortened for people and hashed for comparison."""

    kind: FailureKind | None
    """None: an answer with a status other than 0, such as that of a search that found nothing."""
    detail: str
    lines: tuple[str, ...]
    """What a person should see first, best first; any length, shortened later."""
    essence: tuple[str, ...]
    """What makes this failure this failure, in any order; numbers that move are taken out later."""
    tests: tuple[str, ...] = ()
