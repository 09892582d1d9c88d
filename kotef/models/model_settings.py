"""Settings of one model: what a user knows of it, and how it is to be asked."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from kotef.models.dialects import BY_NAME
from kotef.models.responses_request import ModelApi
from kotef.settings import Price

SAMPLING: Final = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "max_tokens",
    "presence_penalty",
    "frequency_penalty",
    "reasoning_effort",
)
"""Settings that are parameters of a request by the same name."""


class ModelSettings(BaseModel):
    """`[models."NAME"]`: what a user knows of one model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    apply_patch: bool = False
    """Whether it is offered apply_patch: models that were trained on that format use it well, others do not."""
    window: int | None = Field(default=None, ge=512)
    """Tokens it reads at once, input and output together; None: its profile or its server is asked."""
    prices: Price | None = None
    """Per million tokens; None: `[prices."NAME"]`."""
    dialect: str = ""
    """The dialect of its endpoint; empty: found out from what the server says and refuses."""
    api: ModelApi | None = None
    """The API by which it is asked; None: chat completions, unless its server says that it has only the other."""
    silence: float | None = Field(default=None, gt=0)
    """Seconds its endpoint may stay silent before it is asked again; None: 600, less where an answer has less time."""
    reasoning_effort: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of each request, as its provider documents them."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    """Further headers of each request; their values are secrets."""
    query: dict[str, SecretStr] = Field(default_factory=dict)
    """Parameters of the address of each request, such as Azure's `api-version`."""

    @field_validator("dialect")
    @classmethod
    def _known(cls, name: str) -> str:
        if name and name not in BY_NAME:
            msg = f"{name} is not a dialect; the dialects are {', '.join(BY_NAME)}"
            raise ValueError(msg)
        return name

    @field_validator("extra_body")
    @classmethod
    def _not_the_request(cls, extra: dict[str, Any]) -> dict[str, Any]:
        ours = sorted(extra.keys() & {"model", "messages", "tools", "tool_choice", "stream", "input"})
        if ours:
            msg = f"{ours[0]} is kotef's own"
            raise ValueError(msg)
        return extra

    def parameters(self, temperature: float | None = None) -> dict[str, Any]:
        """Parameters of each request; a role's own temperature goes before the model's."""
        found = {name: value for name in SAMPLING if (value := getattr(self, name)) is not None}
        own = {} if temperature is None else {"temperature": temperature}
        return {**found, **own, **self.extra_body}
