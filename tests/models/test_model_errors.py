import inspect
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.openai_server import OVERFLOWS

from kotef.models.errors import (
    MAX_DETAIL,
    AnswerError,
    ReportedError,
    backoff,
    diagnose,
    diagnose_status,
    failures,
    is_overflow,
    redacted,
    retry_after,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")

HTTP_FAULTS = {
    "HTTPError": "nonsense",
    "RequestError": "nonsense",
    "TransportError": "unreachable",
    "TimeoutException": "timeout",
    "ConnectTimeout": "timeout",
    "ReadTimeout": "silent",
    "WriteTimeout": "timeout",
    "PoolTimeout": "timeout",
    "NetworkError": "unreachable",
    "ConnectError": "unreachable",
    "ReadError": "truncated",
    "WriteError": "unreachable",
    "CloseError": "unreachable",
    "ProtocolError": "unreachable",
    "LocalProtocolError": "unreachable",
    "RemoteProtocolError": "truncated",
    "ProxyError": "unreachable",
    "UnsupportedProtocol": "unreachable",
    "DecodingError": "nonsense",
    "TooManyRedirects": "nonsense",
    "HTTPStatusError": "nonsense",
    "InvalidURL": "unreachable",
    "StreamError": "nonsense",
    "StreamConsumed": "nonsense",
    "StreamClosed": "nonsense",
    "ResponseNotRead": "nonsense",
    "RequestNotRead": "nonsense",
}
"""Every exception of the HTTP library that a request can raise, and what a person is told."""

NOT_OF_A_REQUEST = {"CookieConflict", "SSEError"}

CLIENT_FAULTS = {
    "BadRequestError": "bad_request",
    "UnprocessableEntityError": "bad_request",
    "AuthenticationError": "unauthorized",
    "OAuthError": "unauthorized",
    "PermissionDeniedError": "unauthorized",
    "NotFoundError": "unreachable",
    "ConflictError": "server_error",
    "RateLimitError": "rate_limited",
    "InternalServerError": "server_error",
    "APIStatusError": "server_error",
    "APITimeoutError": "timeout",
    "APIConnectionError": "unreachable",
    "APIError": "nonsense",
    "APIResponseValidationError": "nonsense",
    "OpenAIError": "nonsense",
}
"""Every exception of the openai client that a chat completion can raise."""

NOT_OF_A_CHAT = {
    "LengthFinishReasonError",
    "ContentFilterFinishReasonError",
    "InvalidWebhookSignatureError",
    "SubjectTokenProviderError",
    "WebSocketConnectionClosedError",
    "WebSocketQueueFullError",
}


def exceptions_of(module: Any) -> dict[str, type[Exception]]:
    """By `type`, not `isinstance`: that would make each lazy attribute of the client import what it stands for."""
    found = {name: member for name, member in vars(module).items() if issubclass(type(member), type)}
    return {
        name: kind
        for name, kind in found.items()
        if issubclass(kind, Exception) and not issubclass(kind, Warning) and kind.__name__[0] != "_"
    }


def made(kind: type[Exception]) -> Exception:
    if issubclass(kind, openai.APIStatusError):
        status = {"InternalServerError": 500, "APIStatusError": 500, "OAuthError": 401}.get(kind.__name__)
        response = httpx2.Response(status or kind.status_code, request=REQUEST)
        return (
            kind(response=response, body=None) if kind is openai.OAuthError else kind("x", response=response, body=None)
        )
    if kind is openai.APIResponseValidationError:
        return openai.APIResponseValidationError(httpx2.Response(200, request=REQUEST), None)
    if kind is openai.APIError:
        return openai.APIError("x", REQUEST, body=None)
    if issubclass(kind, openai.APIConnectionError):
        return kind(request=REQUEST)
    if kind is httpx2.HTTPStatusError:
        return httpx2.HTTPStatusError("x", request=REQUEST, response=httpx2.Response(200, request=REQUEST))
    if kind is openai.OpenAIError:
        return kind("x")
    takes = [one for one in inspect.signature(kind).parameters.values() if one.default is one.empty]
    return kind("x") if any(one.name in {"message", "args"} for one in takes) else kind()


@pytest.mark.parametrize("name", sorted(exceptions_of(httpx2).keys() - NOT_OF_A_REQUEST))
def test_every_exception_of_the_http_library_is_known(name: str) -> None:
    error = made(exceptions_of(httpx2)[name])
    assert isinstance(error, failures())
    assert diagnose(error).fault == HTTP_FAULTS[name]


@pytest.mark.parametrize("name", sorted(exceptions_of(openai).keys() - NOT_OF_A_CHAT))
def test_every_exception_of_the_client_is_known(name: str) -> None:
    error = made(exceptions_of(openai)[name])
    assert isinstance(error, failures())
    assert diagnose(error).fault == CLIENT_FAULTS[name]


def test_the_clients_connection_error_is_judged_by_its_cause() -> None:
    error = openai.APIConnectionError(request=REQUEST)
    error.__cause__ = httpx2.UnsupportedProtocol("Request URL is missing an 'http://' or 'https://' protocol.")
    assert not diagnose(error).again
    assert "missing" in diagnose(error).detail


@pytest.mark.parametrize(
    ("status", "again"),
    [
        *((status, False) for status in (400, 401, 403, 404, 405, 413, 422)),
        *((status, True) for status in (408, 409, 429, 500, 502, 503, 529)),
    ],
)
def test_which_statuses_are_tried_again(status: int, again: bool) -> None:
    assert diagnose_status(status, None).again is again


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", None),
        ("soon", None),
        ("", None),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(seconds=90), usegmt=True), 0.0),
        ("Tue, 01 Jan 2030 00:00:30 -0000", 30.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@given(st.text())
def test_no_retry_after_is_too_strange(value: str) -> None:
    seconds = retry_after(value, NOW)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(("value", "again"), [("60", True), ("61", False), ("inf", False)])
def test_more_than_a_minute_is_not_waited_for(value: str, again: bool) -> None:
    fault = diagnose_status(429, None, httpx2.Headers({"Retry-After": value}))
    assert (fault.fault, fault.again) == ("rate_limited", again)
    assert again or "asks to wait" in fault.hint


@pytest.mark.parametrize("kind", OVERFLOWS)
def test_four_servers_ways_of_saying_too_long(kind: str) -> None:
    status, body = OVERFLOWS[kind]
    assert is_overflow(status, body)
    assert diagnose_status(status, body).overflow
    assert not diagnose_status(status, body).again


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "the input length exceeds the context length",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (40000) exceeds the maximum number of tokens allowed (32768).",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "This model's maximum prompt length is 131072 but the request contains 166077 tokens.",
        "Invalid request: Your request exceeded model token limit: 8192",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        "litellm.ContextWindowExceededError: litellm.BadRequestError: prompt too big",
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    ],
)
def test_other_ways_of_saying_too_long(message: str) -> None:
    assert is_overflow(400, {"message": message})
    assert is_overflow(500, message)


@pytest.mark.parametrize("status", [200, 401, 403, 404, 429])
def test_a_rate_limit_that_speaks_of_tokens_is_no_overflow(status: int) -> None:
    assert not is_overflow(status, "maximum context length")
    assert not is_overflow(400, "Rate limit reached: tokens per min (TPM): Limit 10000")


def test_an_error_in_a_stream_is_judged_by_the_status_it_repeats() -> None:
    assert diagnose(ReportedError({"message": "no", "code": 429})).fault == "rate_limited"
    assert diagnose(ReportedError({"message": "no", "code": 400})).fault == "bad_request"
    assert diagnose(ReportedError({"message": "no", "code": "weird"})).fault == "server_error"
    assert diagnose(ReportedError(OVERFLOWS["openai"][1]["error"])).overflow


@given(
    st.one_of(
        st.text(),
        st.dictionaries(st.sampled_from(["error", "message", "detail"]), st.text() | st.none()),
        st.lists(st.text()),
    )
)
def test_a_detail_is_one_printable_bounded_line(body: Any) -> None:
    detail = diagnose_status(500, body).detail
    assert detail.isprintable()
    assert len(detail) <= MAX_DETAIL


def test_pages_and_empty_bodies_are_named_not_quoted() -> None:
    assert diagnose_status(502, "<html>long page</html>").detail == "HTTP 502: an HTML page"
    assert diagnose_status(502, "").detail == "HTTP 502: no message"


def test_the_key_is_taken_out_of_what_the_endpoint_echoes() -> None:
    fault = redacted(diagnose(AnswerError("nonsense", "key sk-12345678 is bad")), "sk-12345678")
    assert fault.detail == "key [secret:OPENAI_API_KEY] is bad"
    assert redacted(diagnose(AnswerError("nonsense", "there is none")), "none").detail == "there is none"


@given(st.integers(1, 2000), st.floats(0.001, 10))
def test_a_wait_is_bounded(tries: int, base: float) -> None:
    assert 0 < backoff(tries, base) <= 45
