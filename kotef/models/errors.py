"""Errors of model calls: what went wrong, whether to retry, and when."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from kotef.errors import ModelFault
from kotef.models.dialects import OVERFLOW
from kotef.models.json_values import parsed, plain_value
from kotef.models.refusals import Refusal
from kotef.redaction import redactor

MAX_TRIES: Final = 4
"""HTTP requests for one answer, the first included."""

MAX_RETRY_AFTER: Final = 60.0
"""Seconds of `Retry-After` that are waited for; an endpoint that asks for more is given up at once."""

MAX_BACKOFF: Final = 30.0
"""Seconds of the longest wait the endpoint did not ask for."""

MAX_DETAIL: Final = 300
"""Characters of an endpoint's own words that go into a message."""

SHORTEST_KEY: Final = 8
"""Characters of an API key that is worth hiding."""

_UNSUPPORTED: Final = re.compile(r"requires --jinja|not supported|does not support|unsupported", re.IGNORECASE)

_ROUTED: Final = re.compile(r"no endpoints? (?:was |were )?(?:found|available)", re.IGNORECASE)
"""A router that is there, without an endpoint that takes such a request."""
_RESPONSES_ONLY: Final = re.compile(r"only supported in v1/responses|not a chat model", re.IGNORECASE)

_URL_HINT: Final = "check OPENAI_BASE_URL; it usually ends in /v1"


class AnswerError(Exception):
    """An answer arrived, but it is `nonsense` or `truncated`; `detail` says how."""

    def __init__(self, fault: ModelFault, detail: str) -> None:
        super().__init__(detail)
        self.fault: ModelFault = fault
        self.detail = detail


class ReportedError(AnswerError):
    """An error object in the place of an answer, with HTTP status 200."""

    def __init__(self, body: object) -> None:
        self.body = plain_value(body)
        super().__init__("server_error", words_of(self.body))


@dataclass(frozen=True)
class Fault:
    """One failed try."""

    fault: ModelFault
    detail: str
    """One line, at most `MAX_DETAIL` characters; may still hold what the endpoint echoed, the key included."""
    hint: str = ""
    again: bool = False
    """Whether the same request may succeed when sent again."""
    wait: float | None = None
    """Seconds the endpoint asked to wait; None if it asked for nothing."""
    overflow: bool = False
    """The request is longer than the context window."""


def failures(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """What a model call may raise, and `more`; `diagnose` has an answer to each.

    A function, because importing these classes is slow: `except` asks only once something is raised.
    """
    import httpx2
    import openai

    http = (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError)
    return AnswerError, openai.OpenAIError, *http, OSError, RecursionError, UnicodeError, *more


def diagnose(error: Exception) -> Fault:
    """What one of `failures()` means."""
    import httpx2
    import openai

    match error:
        case ReportedError():
            return _reported(error)
        case AnswerError():
            hint = _URL_HINT if error.fault == "nonsense" else ""
            return Fault(error.fault, error.detail, hint=hint, again=True)
        case openai.APIResponseValidationError():
            return Fault("nonsense", _line(str(error)), hint=_URL_HINT, again=True)
        case openai.APIStatusError():
            return diagnose_status(error.status_code, plain_value(error.body), error.response.headers)
        case openai.APIConnectionError() if isinstance(error.__cause__, httpx2.HTTPError | httpx2.InvalidURL):
            return diagnose(error.__cause__)
        case httpx2.ReadTimeout():
            return Fault("silent", "no answer in time", again=True)
        case openai.APITimeoutError() | httpx2.TimeoutException():
            what = "no connection in time" if isinstance(error, httpx2.ConnectTimeout) else "no answer in time"
            return Fault("timeout", what, again=True)
        case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
            return Fault("unreachable", _line(str(error)), hint=_URL_HINT)
        case httpx2.DecodingError():
            return Fault("nonsense", _line(str(error)), again=True)
        case httpx2.ReadError() | httpx2.RemoteProtocolError():
            return Fault("truncated", _line(str(error)) or "the connection broke", again=True)
        case openai.APIConnectionError() | httpx2.TransportError() | OSError():
            hint = "check OPENAI_BASE_URL and that the server runs"
            return Fault("unreachable", _line(str(error)) or "the connection broke", hint=hint, again=True)
        case _:
            return Fault("nonsense", _line(f"{type(error).__name__}: {error}"))


def refusal_of(error: Exception) -> Refusal | None:
    """What an endpoint answered instead of an answer, whole; None where it said nothing."""
    import openai

    if isinstance(error, ReportedError):
        return Refusal(_status_in(error.body) or 400, {"error": error.body})
    if not isinstance(error, openai.APIStatusError):
        return None
    text = error.response.text
    try:
        body = plain_value(parsed(text))
    except ValueError:
        body = text
    return Refusal(error.status_code, body[0] if isinstance(body, list) and body else body)


def _status_in(body: object) -> int | None:
    code = body.get("code") if isinstance(body, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else None  # noqa: PLR2004 - HTTP's own classes


def diagnose_status(status: int, body: object, headers: Mapping[str, str] | None = None) -> Fault:
    """What an HTTP status other than 2xx means; `body` is JSON or text."""
    detail = _line(f"HTTP {status}: {words_of(body)}")
    wait = retry_after((headers or {}).get("retry-after"), datetime.now(UTC))
    again = wait is None or wait <= MAX_RETRY_AFTER
    if is_overflow(status, body):
        return Fault("bad_request", detail, overflow=True)
    match status:
        case 401 | 403:
            return Fault("unauthorized", detail, hint="check OPENAI_API_KEY")
        case 404 if _RESPONSES_ONLY.search(str(body)[:4000]):
            return Fault("bad_request", detail, hint='set api = "responses" for this model')
        case 404 if _ROUTED.search(str(body)[:4000]):
            return Fault("bad_request", detail)
        case 404 | 405:
            return Fault("unreachable", detail, hint="check the model's name and OPENAI_BASE_URL")
        case 408:
            return Fault("timeout", detail, again=again, wait=wait)
        case 429 if "insufficient_quota" in str(body):
            return Fault("rate_limited", detail, hint="the account's quota is used up")
        case 429:
            hint = "" if again else f"the endpoint asks to wait {wait:.0f} s"
            return Fault("rate_limited", detail, hint=hint, again=again, wait=wait)
        case 409:
            return Fault("server_error", detail, again=again, wait=wait)
        case _ if 300 <= status < 400:  # noqa: PLR2004 - HTTP's own classes
            return Fault("unreachable", f"HTTP {status}: a redirect, which is not followed", hint=_URL_HINT)
        case _ if status < 500 or _UNSUPPORTED.search(str(body)[:4000]):  # noqa: PLR2004 - as above
            return Fault("bad_request", detail)
        case _:
            return Fault("server_error", detail, again=again, wait=wait)


def is_overflow(status: int, body: object) -> bool:
    """Whether an error says that the request is longer than the context window, in any server's words.

    Only 400, 413, 422 and 5xx can say so: a rate limit speaks of tokens too.
    """
    could_be = status in {400, 413, 422} or status >= 500  # noqa: PLR2004 - HTTP's own classes
    return could_be and OVERFLOW.search(str(body)[:4000]) is not None


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait from a `Retry-After` header, a number or an HTTP date; None if there is none to be read."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            then = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        seconds = ((then if then.tzinfo else then.replace(tzinfo=UTC)) - now).total_seconds()
    return max(seconds, 0.0) if seconds == seconds else None  # noqa: PLR0124 - "nan" is a number to float()


def backoff(tries: int, base: float) -> float:
    """Seconds to wait after `tries` failed tries: doubled each time, up to half more or less so that clients spread."""
    return min(base * 2.0 ** min(tries - 1, 16), MAX_BACKOFF) * random.uniform(0.5, 1.5)  # noqa: S311 - no secret


def redacted(fault: Fault, key: str) -> Fault:
    """The fault without the API key, which some endpoints echo; a shorter key is a dummy, and may be a common word."""
    if len(key) < SHORTEST_KEY:
        return fault
    return replace(fault, detail=fault.detail.replace(key, "[secret:OPENAI_API_KEY]"))


def parts_of(base_url: str) -> SplitResult:
    """The parts of a URL; of one that cannot be read, only a path."""
    try:
        return urlsplit(base_url)
    except ValueError:
        return SplitResult("", "", base_url.rpartition("@")[2], "", "")


def words_of(body: object) -> str:
    """The message in an error body of whatever shape."""
    match body:
        case {"error": error} if error:
            return words_of(error)
        case [first, *_]:
            return words_of(first)
        case {"message": str(message)} | {"detail": str(message)}:
            return _line(message)
        case str() if body.lstrip()[:1] == "<":
            return "an HTML page"
        case None | "" | b"":
            return "no message"
        case _:
            return _line(str(body))


def _reported(error: ReportedError) -> Fault:
    """An error in a stream has no status of its own, but most servers repeat it in the body."""
    status = _status_in(error.body) or 500
    if is_overflow(400, error.body):
        status = 400
    return diagnose_status(status, error.body)


def _line(text: Any) -> str:
    """Printable text on one line, bounded."""
    words = " ".join(redactor().text(str(text)[: MAX_DETAIL * 40])[: MAX_DETAIL * 4].split())
    return "".join(char if char.isprintable() else "?" for char in words)[:MAX_DETAIL]
