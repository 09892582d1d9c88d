"""Selection of the coder chain, and of the model endpoint of each role."""

import asyncio
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kotef.coders.chain import WITH_MODEL, WITHOUT_MODEL, parse_chain
from kotef.deps import Emit, Models
from kotef.errors import ModelError, UsageError
from kotef.models.endpoint_memory import EndpointMemories
from kotef.models.factory import Endpoint, discover_model, make_model, resolve
from kotef.models.model_settings import ModelSettings
from kotef.models.price_table import kept_price
from kotef.runs.config import UserConfig, config_path
from kotef.runs.roles import endpoint_of
from kotef.runs.run_settings import RunSettings
from kotef.sdd.agents import Company, Role
from kotef.settings import Price, Tariff

if TYPE_CHECKING:
    from kotef.models.openai import StrictChatOpenAI

NO_MODEL_GAIN = "a model (OPENAI_API_KEY or OPENAI_BASE_URL) can do tasks that need more than small edits"
NO_MODEL = "no model: set OPENAI_API_KEY, or OPENAI_BASE_URL (--base-url) for a local server"


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """The chain of coders, and the endpoints of its models."""

    chain: str
    endpoint: Endpoint | None
    """The run's endpoint; None if no coder of the chain needs a model."""
    coder: Endpoint | None = None
    planner: Endpoint | None = None
    reviewer: Endpoint | None = None
    stand_in: str = ""
    """The model of the run's endpoint that takes over; empty: none does."""
    company: Company = field(default_factory=Company)
    notices: tuple[str, ...] = ()

    @property
    def edits(self) -> bool:
        """Whether kotef's own model edits; with a program it only plans."""
        return any(link.name == "model" for link in parse_chain(self.chain, extensions=None))

    def fields(self) -> dict[str, Any]:
        """The fields of the task."""
        return {
            "coder": self.chain,
            "model": self.coder.name if self.coder else "",
            "planner_model": self.planner.name if self.planner else "",
            "base_url": self.endpoint.base_url if self.endpoint else "",
            "fallback_model": self.stand_in,
            "roles": self.company,
        }

    def need_prices(self, max_cost: float | None, config: UserConfig) -> None:
        """UsageError if a limit in money is set and a model has no price."""
        for name in self._names() if max_cost is not None else ():
            if self._price_of(name, config) is None:
                hint = f'add [prices."{name}"] input = 2.0, output = 8.0 (per million tokens) to {config_path()}'
                raise UsageError(f"--max-cost: the price of {name} is not known", hint=hint)

    def models(self, config: UserConfig) -> Callable[[Emit], Models]:
        """Makes the models of a run; roles with the same endpoint and settings share one."""
        if self.coder is None or self.planner is None or self.reviewer is None:
            return lambda _: Models()
        company, coder, planner, reviewer = self.company, self.coder, self.planner, self.reviewer

        def make(emit: Emit) -> Models:
            made: dict[tuple[Endpoint, float | None], StrictChatOpenAI] = {}
            memories = EndpointMemories()

            def model(endpoint: Endpoint, role: Role) -> "StrictChatOpenAI":
                key = endpoint, role.temperature
                if key not in made:
                    made[key] = _model(endpoint, role.temperature, self._stand_in(endpoint), emit, memories)
                return made[key]

            return Models(
                coder=model(coder, company.coder),
                planner=model(planner, company.planner),
                reviewer=model(reviewer, company.reviewer),
                coder_price=self._price(coder, config),
                planner_price=self._price(planner, config),
                reviewer_price=self._price(reviewer, config),
            )

        return make

    def _stand_in(self, endpoint: Endpoint) -> str:
        """The fallback for a model: a different model at the same endpoint."""
        same = self.endpoint is not None and endpoint.base_url == self.endpoint.base_url
        return self.stand_in if same and endpoint.name != self.stand_in else ""

    def _names(self) -> Iterator[str]:
        for endpoint in (self.coder, self.planner, self.reviewer):
            if endpoint:
                yield endpoint.name
                yield from [self.stand_in] if self._stand_in(endpoint) else []

    def _price_of(self, name: str, config: UserConfig) -> Price | None:
        places = [one.base_url for one in (self.coder, self.planner, self.reviewer) if one and one.name == name]
        run = [self.endpoint.base_url] if self.endpoint else []
        return price_of(name, next(iter([*places, *run]), ""), config)

    def _price(self, endpoint: Endpoint, config: UserConfig) -> Price | None:
        price, stand_in = price_of(endpoint.name, endpoint.base_url, config), self._stand_in(endpoint)
        if price is None or not stand_in:
            return price
        return Tariff(**price.model_dump(), stand_in=price_of(stand_in, endpoint.base_url, config))


def price_of(model: str, base_url: str, config: UserConfig) -> Price | None:
    """The user's price of a model, else that of a kept table; None: not known."""
    return config.price(model) or kept_price(model, base_url)


def select_models(
    settings: RunSettings, config: UserConfig, company: Company, *, extensions: Collection[str] = ()
) -> ModelSelection:
    """The chain asked for, else the default for what is configured, with the company that works on it.

    `extensions` are the names of further coders. UsageError when it needs a model and none is known, or when a role
    asks for an endpoint that is not configured.
    """
    model, url, chain = (settings.value(name) for name in ("model", "base_url", "coder"))
    planner_model = settings.value("planner_model")
    links = parse_chain(chain, extensions=extensions) if chain is not None else ()
    wants_model = "model" in [link.name for link in links] if chain is not None else None
    named = model or planner_model
    if not wants_model and named and any(link.command for link in links):
        wants_model, model = None, named  # it plans; a key alone is the program's
    endpoint = None if wants_model is False else resolve(os.environ, model=model, base_url=url)
    if endpoint is None:
        if wants_model:
            hint = f"--coder {WITHOUT_MODEL} needs neither; `kotef doctor` shows what is missing"
            raise UsageError(NO_MODEL, hint=hint)
        notices = () if chain else (f"no model is configured: {WITHOUT_MODEL} work without one; {NO_MODEL_GAIN}",)
        return ModelSelection(chain or WITHOUT_MODEL, None, company=company, notices=notices)
    endpoint = _named(endpoint)
    coder = endpoint_of(company.coder, endpoint, config, os.environ)
    planner = endpoint_of(company.planner, endpoint, config, os.environ)
    if planner_model:
        planner = replace(planner, name=planner_model)
    asks_alone = company.reviewer.model or company.reviewer.base_url
    reviewer = endpoint_of(company.reviewer, endpoint, config, os.environ) if asks_alone else planner
    stand_in = settings.value("fallback_model") or ""
    endpoint, coder, planner, reviewer = (with_settings(each, config) for each in (endpoint, coder, planner, reviewer))
    return ModelSelection(chain or WITH_MODEL, endpoint, coder, planner, reviewer, stand_in, company)


def with_settings(endpoint: Endpoint, config: UserConfig) -> Endpoint:
    """The endpoint with what the user knows of its model."""
    return replace(endpoint, settings=config.models.get(endpoint.name, ModelSettings()))


def _named(endpoint: Endpoint) -> Endpoint:
    if endpoint.name:
        return endpoint
    try:
        return asyncio.run(discover_model(endpoint))
    except ModelError as error:
        hint = "start the server, or give --model"
        raise UsageError(f"no model is named, and the endpoint cannot list its models: {error}", hint=hint) from error


def _model(
    endpoint: Endpoint, temperature: float | None, stand_in: str, emit: Emit, memories: EndpointMemories
) -> "StrictChatOpenAI":
    return make_model(
        endpoint.name,
        base_url=endpoint.base_url,
        api_key=endpoint.api_key.get_secret_value() if endpoint.api_key else None,
        temperature=temperature,
        stand_in=stand_in,
        emit=emit,
        settings=endpoint.settings,
        memories=memories,
    )
