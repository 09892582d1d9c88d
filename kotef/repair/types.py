"""Types of a search's results."""

from dataclasses import dataclass, field
from typing import Literal

Ending = Literal["found", "exhausted", "budget", "cannot run"]
"""How a search ended: something passes; everything there is to try was tried; its CPU seconds, or the wall time that
bounds them, are used up; or it cannot be run here, whatever time it has."""


@dataclass(frozen=True, slots=True)
class Patch:
    """One plausible edit: every failing test passes and no passing test broke, in memory.

    The real check on the written files may still say otherwise.
    """

    path: str
    """Workspace-relative; of an edit in two files, the one with the more suspicious line."""
    files: dict[str, bytes]
    """Path → whole new content, as it was byte for byte except for the edit."""
    diff: str
    """Unified, with `a/` and `b/`."""
    operator: str
    """Name of the operator, or of both joined by ` + `."""
    rationale: str
    """One line: "in `discount` (shop/cart.py:7): `100` → `10`"."""
    score: float
    """0 to 1, higher is likelier; for comparison among patches of one search only."""
    covering_tests: int
    """How many tests run the edited lines."""
    doubt: str
    """Why it is rarely right (a call removed, a condition made constant, two edits at once, …); empty for most."""


@dataclass(frozen=True, slots=True)
class Hints:
    """What a search learnt even if it found nothing, for whoever tries next."""

    suspicious: tuple[tuple[str, int, float, str, str], ...] = ()
    """Path, line, suspicion 0 to 1, the line, and the types its variables had; the ten worst."""
    near_misses: tuple[tuple[str, int, int], ...] = ()
    """Diff, failing tests it makes pass, failing tests in all; the five best."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One call on which patches that all pass the tests give different results."""

    call: str
    """The call as code: `total(cents=999, code='TEN')`."""
    where: str
    """`in test_till.py::test_two, with `5` in place of `6``; empty for a call of its own."""
    results: tuple[str, ...]
    """One per patch compared, in the order of `SearchResult.patches`: the value's literal, or `raises ValueError`."""
    given: str = ""
    """What the call is made on: `With Account('bob', overdraft=500)`; empty for a plain function."""
    verb: str = "be"
    """What a question asks of the call: `return`, `leave`, or `be` for an expression of a test."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The outcome of one search."""

    patches: tuple[Patch, ...] = ()
    """Best first, at most sixteen."""
    plausible: int = 0
    """How many passed in all; those that are the same program in other words count as one."""
    compared: int = 0
    """How many of the patches, from the first on, were asked the same questions; 0 if nothing could be asked."""
    close: int = 0
    """How many of the patches, from the first on, are about as plausible as the first."""
    tried: int = 0
    """Candidates that were run."""
    ending: Ending = "exhausted"
    """Why it tried no more before anything passed; `found` once something has."""
    singles: int = 0
    """Single edits that were handed out to be tried."""
    space: int = 0
    """Single edits that there are, as far as they were counted; 0 if they were not."""
    counted: bool = True
    """Whether `space` is all of them; otherwise there are more."""
    unread: tuple[str, ...] = ()
    """Files that would have been searched but cannot be parsed: `old.py (line 3: invalid syntax)`."""
    left_out: tuple[str, ...] = ()
    """F-strings on suspected lines whose parts have no known place in the file: `shop.py:7`."""
    waited: bool = False
    """Whether the wall time ended it, with CPU seconds left: the tests wait for something, or the machine is busy."""
    seconds: float = 0.0
    """Wall time."""
    cpu_seconds: float = 0.0
    """CPU time of the search and everything it started."""
    first_cpu_seconds: float | None = None
    """CPU time until the first edit passed; None if none did."""
    declined: str = ""
    """One line why nothing could be searched; empty otherwise."""
    hints: Hints = field(default_factory=Hints)
    disagreements: tuple[Disagreement, ...] = ()
    """Where the likeliest patches differ; empty when they were seen to agree, or could not be compared."""
    mode: Literal["fork", "subprocess"] = "fork"
    """`subprocess`: every candidate was a run of the check command, so far fewer were tried."""
    slow_because: str = ""
    """Why the mode is `subprocess`; empty otherwise."""

    @property
    def late(self) -> bool:
        """Whether its budget ended the search before anything passed: with more of it, something might have."""
        return self.ending == "budget"

    def rivals(self, chosen: Patch) -> tuple[tuple[Patch, ...], tuple[Patch, ...]]:
        """Patches seen to behave otherwise than the chosen one, and those never compared; what agrees is neither."""
        own = self.patches.index(chosen)
        differing, unknown = [], []
        for number, patch in enumerate(self.patches):
            if number == own:
                continue
            if max(own, number) >= self.compared:
                unknown.append(patch)
            elif any(each.results[number] != each.results[own] for each in self.disagreements):
                differing.append(patch)
        return tuple(differing), tuple(unknown)
