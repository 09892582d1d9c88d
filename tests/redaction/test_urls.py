"""What of an address is shown?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.redaction.urls import server_of_url, shown_url


@pytest.mark.parametrize(
    ("url", "plain", "server"),
    [
        ("https://me:pw@host:1/v1?key=1#x", "https://host:1/v1", "https://host:1"),
        ("http://localhost:8080/v1", "http://localhost:8080/v1", "http://localhost:8080"),
        ("http://me:pw@[::1", "http://[::1", "http://[::1"),
        ("https://me:p@ssw0rd@host/v1", "https://host/v1", "https://host"),
        ("https://me:p/w@host/v1", "https://host/v1", "https://host"),
        ("https://me:p?w#@host/v1", "https://host/v1", "https://host"),
        ("https://me:p://w@host", "https://host", "https://host"),
        ("me:pw@host/v1", "host/v1", "host"),
        ("", "", ""),
    ],
)
def test_no_login_and_no_query_is_shown(url: str, plain: str, server: str) -> None:
    assert (shown_url(url), server_of_url(url)) == (plain, server)


@given(st.text(), st.text())
def test_of_any_text_nothing_before_its_last_at_is_shown_but_a_scheme(before: str, after: str) -> None:
    assert shown_url(f"https://{before}@{after}") == shown_url(f"https://{after}") or "@" in after
