"""Rules for network addresses that the model may reach."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import SplitResult, urlsplit

from kotef.tools.errors import ToolFault

_SPECIAL: Final = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "fec0::/10", "5f00::/16")))
"""Ranges of the IANA registries that `ipaddress` takes for public in some versions of Python."""
_NAT64: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE: Final = IPv6Network("::/96")
_LONGEST: Final = 2000


def is_public(address: str) -> bool:
    """Whether a numeric address belongs to the open internet; also False for what is not an address at all.

    Loopback, private, link-local, shared, reserved and multicast ranges are not public, as the IANA special-purpose
    registries have them (`ipaddress.is_global`), nor is an IPv6 address that leads to such an IPv4 address.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    inner = _carried(found) if isinstance(found, IPv6Address) else None
    return _is_open(found) and (inner is None or _is_open(inner))


def _is_open(address: IPv4Address | IPv6Address) -> bool:
    special = any(address.version == network.version and address in network for network in _SPECIAL)
    return address.is_global and not address.is_multicast and not special


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address a gateway would turn this one into."""
    if address.ipv4_mapped or address.sixtofour:
        return address.ipv4_mapped or address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if any(address in network for network in (*_NAT64, _COMPATIBLE)):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def checked(url: str) -> SplitResult:
    """A URL the model gave, taken apart. Raises `ToolFault` unless it is plain http or https with a host."""
    text = url.strip()
    try:
        parts = urlsplit(text)
        port_is_fine = parts.port != 0
    except ValueError as error:
        raise ToolFault("schema_reject", f"{url[:200]!r} is not a URL: {error}") from error
    if parts.scheme not in {"http", "https"}:
        raise ToolFault(
            "permission_denied", f"only http and https URLs are fetched, not {parts.scheme or 'a bare name'}:"
        )
    if not parts.hostname or not port_is_fine or len(text) > _LONGEST or not text.isprintable() or " " in text:
        raise ToolFault("schema_reject", f"{url[:200]!r} is not a URL that can be fetched")
    if parts.username is not None or parts.password is not None:
        raise ToolFault("permission_denied", "a URL with a login in it is not fetched; leave the login out")
    return parts
