"""Redaction of addresses for display."""

import re
from typing import Final

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def shown_url(url: str) -> str:
    """An address without login, query and fragment, whatever text it is.

    A login is all up to the last `@`: a password may hold `@`, `/`, `?` or `#` as it was typed.
    """
    scheme = _SCHEME.match(url)
    start = scheme[0] if scheme else ""
    rest = url.removeprefix(start).rpartition("@")[2]
    return start + re.split("[?#]", rest, maxsplit=1)[0]


def server_of_url(url: str) -> str:
    """Its scheme, host and port alone."""
    plain = shown_url(url)
    scheme = _SCHEME.match(plain)
    start = scheme[0] if scheme else ""
    return start + plain.removeprefix(start).partition("/")[0]
