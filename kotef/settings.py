"""Limits, prices and profiles of a run: the unit, default and origin of each limit."""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from kotef.shell import Policy, Role

MAX_ATTEMPTS: Final = 3
"""Failed verifications allowed unless `--max-attempts` says otherwise (1 to 20)."""


Probing = Literal["off", "fast", "full"]
"""`fast` makes fewer answers wrong and leaves chance out."""


class Limits(BaseModel):
    """The limits of a run. Checkpointed with the task, so that a resume keeps them."""

    model_config = ConfigDict(frozen=True)

    max_attempts: int = Field(default=MAX_ATTEMPTS, ge=1, le=20)
    """Failed verifications; enforced by `decide` and nowhere else."""
    max_tokens: int = Field(default=2_000_000, ge=1)
    """Input plus output tokens of the whole run."""
    max_calls: int = Field(default=300, ge=1)
    """Model calls of the whole run, failed ones included."""
    max_cost: float | None = Field(default=None, gt=0)
    """In the currency of `[prices]`; None: no limit."""
    max_time: float = Field(default=3600.0, gt=0)
    """Wall seconds of the whole run, the time before a resume included."""
    max_call_time: float = Field(default=900.0, gt=0)
    """Wall seconds of one answer of a model, however steadily it comes, retries included."""
    max_commands: int = Field(default=500, ge=1)
    """Commands that the coder runs in the whole run, plus the checks of each verification."""
    max_written: int = Field(default=200_000_000, ge=1)
    """Bytes the coder writes in the whole run: its file tools, and the growth of what git does not ignore."""
    max_steps: int = Field(default=200, ge=0, le=200)
    """Model calls of one visit of the coder, a closing summary aside; 0: one answer, in words only."""
    max_tool_calls: int = Field(default=100, ge=1, le=100)
    """Tool calls of one visit of the coder, up to a closing summary."""
    continues: int = Field(default=2, ge=0, le=2)
    """How often a visit continues by itself from the summary that closes its tool budget, with as many calls again."""
    context_window: int | None = Field(default=None, ge=512)
    """Tokens the coder's model reads at once; None: as its settings, its profile or its server says, else 32,768."""
    command_timeout: float = Field(default=600.0, gt=0)
    """Wall seconds of one command."""
    idle_timeout: float = Field(default=120.0, gt=0)
    """Seconds one command may stay silent."""
    reruns: int = Field(default=1, ge=0, le=10)
    """How often a test that fails unexpectedly is run again, alone, before it is believed; 0: never."""
    probes: Probing = "full"
    """Whether, and how far, to test after the checks pass that they can still fail."""
    probe_time: float = Field(default=60.0, gt=0)
    """Seconds that all probes of one green may take, or three times the checks' own time, whichever is more."""


class Price(BaseModel):
    """The price of a model per million tokens, in the currency of `--max-cost`."""

    model_config = ConfigDict(frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    """Input tokens read from the endpoint's cache; None: as `input`."""

    def of(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """The cost of one call; `tokens_cached` is a part of `tokens_in`."""
        cached = self.input if self.cached is None else self.cached
        fresh = tokens_in - tokens_cached
        return (fresh * self.input + tokens_cached * cached + tokens_out * self.output) / 1_000_000


class Tariff(Price):
    """The price of a model, with that of the one that may take over for it."""

    stand_in: Price | None = None
    """None: not known, so what it answers costs nothing here."""


ProfileName = Literal["strict", "fast", "smoke", "yolo"]


class Profile(BaseModel):
    """One row of the profile table: checks, limits, and permissions of commands."""

    model_config = ConfigDict(frozen=True)

    meaning: str
    roles: frozenset[Role]
    """Roles of *detected* checks that run; a check someone named always runs."""
    limits: Limits
    installs: Policy
    """Commands that install packages."""
    other_commands: Policy
    """Commands that are neither known to be harmless nor known to be dangerous."""


ALL_ROLES: Final[frozenset[Role]] = frozenset({"test", "lint", "types", "build", "other"})

PROFILES: Final[dict[ProfileName, Profile]] = {
    "strict": Profile(
        meaning="every detected check, no installs; the default",
        roles=ALL_ROLES,
        limits=Limits(),
        installs="refused",
        other_commands="allowed",
    ),
    "fast": Profile(
        meaning="tests and linters, a quarter of the budget, shorter timeouts",
        roles=frozenset({"test", "lint"}),
        limits=Limits(
            probes="fast", max_tokens=500_000, max_calls=100, max_time=1200, command_timeout=300, idle_timeout=60
        ),
        installs="refused",
        other_commands="allowed",
    ),
    "smoke": Profile(
        meaning="tests only, one attempt: does this setup work at all?",
        roles=frozenset({"test"}),
        limits=Limits(
            probes="fast", max_attempts=1, max_tokens=200_000, max_calls=40, max_time=600, command_timeout=120
        ),
        installs="refused",
        other_commands="ask",
    ),
    "yolo": Profile(
        meaning="every check, five attempts, installs and any command allowed; success is judged as strictly",
        roles=ALL_ROLES,
        limits=Limits(max_attempts=5),
        installs="allowed",
        other_commands="allowed",
    ),
}
"""No profile ever assumes success: the verdict has no profile."""
