"""HTTP clients of endpoints: their connections, time-outs, headers and certificates."""

import ssl
from collections.abc import AsyncGenerator, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ipaddress import ip_address
from types import MappingProxyType
from typing import Any, Final

import openai

from kotef.models.errors import parts_of

CONNECT_SECONDS: Final = 10.0
LOGINS: Final = frozenset({"api-key", "x-api-key", "x-goog-api-key"})
"""Headers that let a request in; with one of these the key is not sent as well."""

Lifetime = AsyncGenerator[openai.AsyncOpenAI]

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


async def _without_key(request: Any) -> None:
    del request.headers["Authorization"]


async def _in_utf8(response: Any) -> None:
    """Read the body as JSON is written; a header can name an encoding that is none of texts."""
    response.encoding = "utf-8"


async def open_client(
    base_url: str,
    api_key: str,
    *,
    read_timeout: float,
    headers: Mapping[str, str] = _NONE,
    query: Mapping[str, str] = _NONE,
) -> Lifetime:
    """Yield a client, once; it closes with the generator, and the event loop closes its generators when it ends.

    Redirects are not followed: they turn a POST into a GET. Cookies are not kept: one can hold what no request can. A
    loopback address is never asked through a proxy, and costs no loading of certificates (tens of milliseconds) where
    it needs none: its context trusts no one.
    """
    local = _is_loopback(base_url)
    certificates = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if local and base_url.startswith("http://") else True
    timeout = openai.Timeout(read_timeout, connect=min(CONNECT_SECONDS, read_timeout))
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    http = openai.DefaultAsyncHttpxClient(
        timeout=timeout, follow_redirects=False, trust_env=not local, verify=certificates, cookies=no_cookies
    )
    signed = LOGINS & {name.casefold() for name in headers}
    http.event_hooks = {"request": [_without_key] if signed else [], "response": [_in_utf8]}
    client = openai.AsyncOpenAI(
        base_url=base_url,
        api_key=api_key,
        timeout=timeout,
        max_retries=0,
        http_client=http,
        default_headers=dict(headers),
        default_query=dict(query),
    )
    try:
        yield client
    finally:
        await client.close()


def _is_loopback(base_url: str) -> bool:
    host = parts_of(base_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
