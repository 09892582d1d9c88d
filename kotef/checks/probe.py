"""Result of one probe of the judge: whether it still says no where no is right."""

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

ProbeName = Literal[
    "old tests",
    "wrong answers",
    "counter-proof",
    "canary",
    "harmless edit",
    "expected data",
    "names",
    "comments",
    "surroundings",
    "chance",
]
ProbeValue = Literal["fine", "alarm", "not_probed"]

JUDGE_DEAF: Final = "judge_deaf"
"""Detail of a refusal: a wrong expectation, or a test that must fail, was called green."""
NOT_BY_THE_CHANGE: Final = "not_by_the_change"
"""Detail of a refusal: what turned green stays green without the change, or does not without what came with it."""


class ProbeResult(BaseModel):
    """What one probe found about one check."""

    model_config = ConfigDict(frozen=True)

    name: ProbeName
    check: str
    value: ProbeValue
    told: str
    """For people: `4 of 4 wrong answers refused`, `red again without the change`, or why it was not probed."""
    evidence: tuple[str, ...] = ()
    """For an alarm, the lines that show it, `path:line: text`; where a test does not reach its assertion, its place."""
    complete: bool = False
    """Whether of each target a wrong answer was refused."""
    proves_life: bool = False
    """Whether the judge was heard to say no to something wrong; also a counter-proof of a check without tests."""


def not_probed(name: ProbeName, check: str, why: str, *, evidence: tuple[str, ...] = ()) -> ProbeResult:
    """A probe that could not be made."""
    return ProbeResult(name=name, check=check, value="not_probed", told=why, evidence=evidence)


def is_alive(probes: Sequence[ProbeResult]) -> bool:
    """Whether one of them proves that the judge can still say no."""
    return any(probe.value == "fine" and probe.proves_life for probe in probes)


def is_caused(probes: Sequence[ProbeResult]) -> bool:
    """Whether one of them proves that the change, and nothing beside it, made it green."""
    return any(probe.value == "fine" and probe.name == "counter-proof" for probe in probes)


def line_of(probes: Sequence[ProbeResult]) -> str:
    """One line for people: what was tried, and what was not."""
    if not probes:
        return ""
    fine = list(dict.fromkeys(probe.told for probe in probes if probe.value == "fine"))
    missed = list(dict.fromkeys(f"{probe.name} ({probe.told})" for probe in probes if probe.value == "not_probed"))
    alarms = [probe.told for probe in probes if probe.value == "alarm"]
    parts = [*alarms, *fine]
    line = f"judge probed: {', '.join(parts)}" if parts else "judge not probed"
    return line + (f"; not probed: {', '.join(missed)}" if missed else "")
