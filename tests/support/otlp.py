"""A collector of OpenTelemetry traces on loopback: it reads OTLP over HTTP as the protocol has it, and keeps the spans."""

import gzip
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Span:
    """One span as it arrived."""

    def __init__(self, span: Any, resource: dict[str, Any]) -> None:
        self.name: str = span.name
        self.id: bytes = span.span_id
        self.parent_id: bytes = span.parent_span_id
        self.trace: str = span.trace_id.hex()
        self.kind: int = span.kind
        self.error: bool = span.status.code == 2
        self.began, self.ended = span.start_time_unix_nano, span.end_time_unix_nano
        self.attributes = {one.key: _value(one.value) for one in span.attributes}
        self.events = {one.name: {each.key: _value(each.value) for each in one.attributes} for one in span.events}
        self.resource = resource


class Collector:
    """`with` starts it on a free port; `silent` takes connections and never answers."""

    def __init__(self, *, status: int = 200, silent: bool = False) -> None:
        self.status, self.silent = status, silent
        self.spans: list[Span] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def named(self, name: str) -> list[Span]:
        """Spans of that name, by their start."""
        return sorted((span for span in self.spans if span.name == name), key=lambda span: span.began)

    def parent(self, span: Span) -> Span:
        return next(one for one in self.spans if one.id == span.parent_id)

    def path(self, span: Span) -> list[str]:
        """Names from the root of the trace down to this span."""
        return [*(self.path(self.parent(span)) if span.parent_id else []), span.name]

    def take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        body = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
        self.paths.append(path)
        self.headers.append(headers)
        self.bodies.append(body)
        if headers.get("content-type") != "application/x-protobuf" or self.status != 200:
            return
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            resource = {one.key: _value(one.value) for one in group.resource.attributes}
            self.spans += [Span(span, resource) for scope in group.scope_spans for span in scope.spans]

    def __enter__(self) -> Self:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.do_POST()

            def do_PATCH(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(int(headers.get("content-length") or 0))
                if collector.silent:
                    collector.over.wait(30)
                collector.take(self.path, headers, body)
                self.send_response(collector.status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: object) -> None: ...

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: object) -> None: ...

        self._http = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._http.shutdown()
        self._http.server_close()


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind) if kind else None
    return [_value(one) for one in found.values] if kind == "array_value" else found


def timed(act: Any) -> tuple[Any, float]:
    """What `act` gives, and the seconds it took."""
    began = time.monotonic()
    return act(), time.monotonic() - began
