"""Export of traces without delaying a run."""

import logging
import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from kotef import __version__
from kotef.redaction import server_of_url, shown_url

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

SECONDS: Final = 2.0
"""How long the end of a run waits for what is not sent yet."""
DEFAULT: Final = "http://localhost:4318"
NEEDS_EXTRA: Final = "{name} is set, but traces need an extra that is not installed: pip install 'kotef[otel]'"
_CONTENT: Final = frozenset({"true", "span_only", "span_and_event"})
_OFF: Final = frozenset({"", "none"})
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


class Wish(NamedTuple):
    """The trace settings of the environment."""

    endpoint: str = ""
    """Where traces go; empty: nowhere."""
    content: bool = False
    """Whether texts of people, models and tools are in them."""
    refused: str = ""
    """Why a wish cannot be met, in one line."""


def wish(env: Mapping[str, str] = os.environ) -> Wish:
    """The standard variables; nothing is sent unless one of them names an exporter or an endpoint."""
    exporter = env.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    named = next((name for name in _ENDPOINTS if env.get(name)), "")
    is_enabled = exporter not in _OFF or (not exporter and bool(named))
    if not is_enabled or env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return Wish()
    if exporter not in ("", "otlp"):
        return Wish(refused=f"OTEL_TRACES_EXPORTER={exporter}: kotef sends traces as otlp only, so none are sent")
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if (protocol := env.get(name, "").strip()) and protocol != "http/protobuf":
            return Wish(refused=f"{name}={protocol}: kotef speaks http/protobuf only, so no traces are sent")
    if not _is_installed():
        return Wish(refused=NEEDS_EXTRA.format(name="OTEL_TRACES_EXPORTER" if exporter else named))
    if named and not _is_address(env[named]):
        return Wish(
            refused=f"{named}={shown_url(env[named])}: it is not an http or https address, so no traces are sent"
        )
    content = env.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").strip().lower() in _CONTENT
    return Wish(server_of_url(env[named] if named else DEFAULT), content)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _is_installed() -> bool:
    """Whether all that `Collector` needs can be imported: parts of it come with other packages, too."""
    try:
        import opentelemetry.exporter.otlp.proto.http.trace_exporter
        import opentelemetry.sdk.trace.export  # noqa: F401
    except ImportError:
        return False
    return True


class Collector:
    """The way of the spans of one run to where the environment says."""

    def __init__(self) -> None:
        """Nothing is sent yet; what the library has to complain about is asked for by `close`."""
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        quiet = logging.getLogger("opentelemetry")
        quiet.propagate = False
        quiet.addHandler(logging.NullHandler())
        named = Resource.create().attributes.get("service.name")
        own = {} if named and not str(named).startswith("unknown_service") else {"service.name": "kotef"}
        self._exporter = _Counting(OTLPSpanExporter())
        resource = Resource.create({**own, "service.version": __version__})
        self.provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self.provider.add_span_processor(BatchSpanProcessor(_as_exporter(self._exporter)))

    def close(self) -> str:
        """Send the rest within `SECONDS`; why not all was sent, in one line, or nothing."""
        done = threading.Event()

        def end() -> None:
            self.provider.shutdown()
            done.set()

        threading.Thread(target=end, daemon=True, name="kotef-traces").start()
        if not done.wait(SECONDS):
            self._exporter.shutdown()  # what waits to try again waits no more
            return f"it did not accept them within {SECONDS:g} s"
        if not self._exporter.lost:
            return ""
        return f"{self._exporter.lost} spans were lost" if self._exporter.sent else "it accepted none of them"


class _Counting:
    """An exporter that counts what it sends and what it does not."""

    def __init__(self, exporter: "SpanExporter") -> None:
        self.exporter = exporter
        self.sent = self.lost = 0

    def export(self, spans: "Sequence[ReadableSpan]") -> "SpanExportResult":
        """Export spans, and count lost ones."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        try:
            result = self.exporter.export(spans)
        except Exception:  # noqa: BLE001  a trace never costs a run, whatever a library raises
            result = SpanExportResult.FAILURE
        good = result is SpanExportResult.SUCCESS
        self.sent, self.lost = self.sent + good * len(spans), self.lost + (not good) * len(spans)
        return result

    def shutdown(self) -> None:
        """See the wrapped exporter."""
        self.exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """See the wrapped exporter."""
        return self.exporter.force_flush(timeout_millis)


def _as_exporter(counting: _Counting) -> Any:
    """It is one by its methods; its class cannot be, because the library is imported where it is needed."""
    return counting


def parent_of(env: Mapping[str, str] = os.environ) -> "Context | None":
    """The trace a CI job began, as TRACEPARENT names it."""
    if not env.get("TRACEPARENT"):
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier = {name.lower(): env[name] for name in ("TRACEPARENT", "TRACESTATE") if name in env}
    return TraceContextTextMapPropagator().extract(carrier)
