"""Construction and probing of the model for a configured endpoint."""

from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import SecretStr

from kotef.errors import ModelError, UsageError
from kotef.models.endpoint_memory import EndpointMemories
from kotef.models.model_settings import ModelSettings
from kotef.redaction import shown_url

if TYPE_CHECKING:
    from kotef.models.openai import StrictChatOpenAI

OPENAI_URL: Final = "https://api.openai.com/v1"
"""Where a key without a base URL leads."""

NO_KEY: Final = "none"
"""Sent to an endpoint that needs no key; the client insists on one."""

DEADLINE_SECONDS: Final = 900.0
"""Seconds one call may take, retries included."""

UNLISTED: Final = frozenset({400, 404, 405, 501})
"""Answers of an endpoint that is there, but has no list of models."""

LOOKUP_SECONDS: Final = 5.0
"""Seconds an endpoint may take to list its models."""


NO_SETTINGS: Final = ModelSettings()
"""Those of a model that the user's configuration does not name."""

Tell = Callable[..., None]
"""Called with the name of an event and its facts."""


def silent(event: str, /, **facts: Any) -> None:
    """Report nothing."""


@dataclass(frozen=True)
class Endpoint:
    """Who is asked: enough for `make_model`."""

    name: str
    """The model; empty until `discover_model` has named it."""
    base_url: str
    """With scheme, without a slash at the end."""
    api_key: SecretStr | None
    """None for a server that needs none."""
    settings: ModelSettings = NO_SETTINGS
    """What the user knows of the model."""

    def __hash__(self) -> int:
        """Hash of the endpoint and model; the settings follow from them."""
        return hash((self.name, self.base_url))


@dataclass(frozen=True)
class EndpointReport:
    """What `kotef doctor` says of an endpoint."""

    ok: bool
    verdict: str
    """One line; the way out is in it when `ok` is false."""
    doubt: bool = False
    """It answers, but something may be wrong all the same; a run can be tried."""


def resolve(env: Mapping[str, str], *, model: str | None = None, base_url: str | None = None) -> Endpoint | None:
    """The endpoint of options and environment (KOTEF_MODEL, OPENAI_BASE_URL, OPENAI_API_KEY); options win.

    None: neither a base URL nor a key is known, so there is no one to ask. Raises UsageError for a base URL that is
    none, and where only a key is given without the name of a model: OpenAI has a hundred, and prices to match.
    """
    name = (model or env.get("KOTEF_MODEL", "")).strip()
    url = (base_url or env.get("OPENAI_BASE_URL", "")).strip().rstrip("/")
    key = env.get("OPENAI_API_KEY", "").strip()
    if not url and not key:
        return None
    if url and not url.lower().startswith(("http://", "https://")):
        raise UsageError(
            f"{shown_url(url)}: not a base URL", hint="OPENAI_BASE_URL looks like http://localhost:8080/v1"
        )
    if not url and not name:
        raise UsageError("no model is named", hint="give --model or set KOTEF_MODEL")
    return Endpoint(name, url or OPENAI_URL, SecretStr(key) if key else None)


def make_model(
    name: str,
    *,
    base_url: str | None,
    api_key: str | None,
    temperature: float | None = None,
    deadline: float = DEADLINE_SECONDS,
    stand_in: str = "",
    emit: Tell = silent,
    settings: ModelSettings | None = None,
    memories: EndpointMemories | None = None,
) -> "StrictChatOpenAI":
    """The model object of an endpoint; a local server needs only `base_url`.

    `temperature` None leaves it to the settings, else to the endpoint; `stand_in` is the model that takes over when
    this one fails; `memories` are shared by the models of a run.
    """
    from kotef.models.openai import READ_SECONDS, StrictChatOpenAI

    settings = settings or ModelSettings()
    parameters = settings.parameters(temperature)
    temperature = parameters.pop("temperature", None)
    return StrictChatOpenAI(
        model=name,
        base_url=base_url or OPENAI_URL,
        api_key=SecretStr(api_key or NO_KEY),
        temperature=temperature,
        deadline=deadline,
        stand_in=stand_in,
        emit=emit,
        extra_body=parameters or None,
        headers=settings.headers,
        query=settings.query,
        dialect=settings.dialect,
        api=settings.api,
        read_timeout=settings.silence or READ_SECONDS,
        memories=memories or EndpointMemories(),
    )


async def discover_model(endpoint: Endpoint, *, seconds: float = LOOKUP_SECONDS) -> Endpoint:
    """The endpoint with the first model it lists (a local server has one), unless it has a name already.

    Raises ModelError when it cannot be asked or lists none.
    """
    if endpoint.name:
        return endpoint
    names = await list_models(endpoint, seconds=seconds)
    if not names:
        raise ModelError(
            "bad_request",
            "it lists no model",
            endpoint=shown_url(endpoint.base_url),
            hint="give --model or set KOTEF_MODEL",
        )
    return replace(endpoint, name=names[0])


async def list_models(endpoint: Endpoint, *, seconds: float = LOOKUP_SECONDS) -> list[str]:
    """Names of the models the endpoint offers, in its order; asked once. Raises ModelError."""
    from kotef.models.errors import diagnose, failures, redacted, refusal_of
    from kotef.models.http_client import open_client
    from kotef.models.openai import plain_values

    key = endpoint.api_key.get_secret_value() if endpoint.api_key else NO_KEY
    try:
        opened = open_client(
            endpoint.base_url,
            key,
            read_timeout=seconds,
            headers=plain_values(endpoint.settings.headers),
            query=plain_values(endpoint.settings.query),
        )
        async with aclosing(opened) as lifetime:
            client = await anext(lifetime)
            body = (await client.models.with_raw_response.list()).text
        return _model_names(body)
    except failures() as error:
        fault, refusal = redacted(diagnose(error), key), refusal_of(error)
        failure = ModelError(fault.fault, fault.detail, endpoint=shown_url(endpoint.base_url), hint=fault.hint)
        failure.unlisted = refusal is not None and refusal.status in UNLISTED
    raise failure


async def probe(endpoint: Endpoint, *, seconds: float = LOOKUP_SECONDS) -> EndpointReport:
    """Is the endpoint reachable, is the key accepted, is the model there? Asks for the list of models, no tokens."""
    where = f"model endpoint at {shown_url(endpoint.base_url)}"
    try:
        names = await list_models(endpoint, seconds=seconds)
    except ModelError as error:
        if not error.unlisted or not endpoint.name:
            return EndpointReport(ok=False, verdict=str(error))
        ask = f"`kotef doctor --model {endpoint.name}` tests it"
        return EndpointReport(ok=True, doubt=True, verdict=f"{where}: answers, but has no list of models; {ask}")
    if not endpoint.name:
        if not names:
            return EndpointReport(
                ok=False, verdict=f"{where}: answers, but lists no model (give --model or set KOTEF_MODEL)"
            )
        return EndpointReport(ok=True, verdict=f"{where}: answers; no model is named, {names[0]} will be used")
    if endpoint.name.removeprefix("models/") in names or f"{endpoint.name}:latest" in names:
        return EndpointReport(ok=True, verdict=f"{where}: answers, and has {endpoint.name}")
    some = ", ".join(names[:5]) or "none"
    return EndpointReport(
        ok=True, doubt=True, verdict=f"{where}: answers, but does not list {endpoint.name} (it lists {some})"
    )


def _model_names(body: str) -> list[str]:
    """The names in a list of models; what is not a printable text is none."""
    from kotef.models.errors import AnswerError
    from kotef.models.json_values import parsed

    try:
        names = [model["id"] for model in parsed(body)["data"]]
    except (ValueError, KeyError, TypeError):
        what = "an HTML page" if body.lstrip()[:1] == "<" else "something else"
        raise AnswerError("nonsense", f"{what} instead of a list of models") from None
    return [name.removeprefix("models/") for name in names if isinstance(name, str) and name.isprintable()]
