"""What does `kotef serve` answer, and whom?"""

import webbrowser
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from kotef.cli.browser import may_open
from kotef.cli.run_list import row_of
from kotef.cli.screen import console, plain
from kotef.cli.workspace_option import workspace_of
from kotef.errors import KotefError, UsageError
from kotef.runs import store
from kotef.runs.config import config_path, read_config
from kotef.runs.report.html import as_html, index_page
from kotef.runs.secret_sources import hide
from kotef.workspace.lock import at_work
from kotef.workspace.redaction import know, redactor
from kotef.workspace.secrets import Redactor

HOST: Final = "127.0.0.1"
_NAMES: Final = (HOST, "localhost", "[::1]")
"""What a browser on this machine may call us; a page of another name that resolves to us is not answered."""
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def serve_command(root: str | None, port: int, *, show: bool) -> None:
    """`kotef serve`; returns when a person stops it."""
    place = workspace_of(root)
    hide(place, read_config(config_path()))
    with serving(place, port) as server:
        address = f"http://{HOST}:{server.server_port}/"
        screen = console()
        screen.print(f"runs of {plain(str(place))}: {address}  (Ctrl-C stops it)")
        if show and may_open():
            webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def serving(root: Path, port: int) -> ThreadingHTTPServer:
    """The server, which listens already. UsageError where the port cannot be had."""
    try:
        return _Server((HOST, port), partial(_PageHandler, root, redactor()))
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}", hint="name another one, or 0 for a free one") from error


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


class _PageHandler(BaseHTTPRequestHandler):
    """Two pages, made anew for each request: the index, and the report of one run."""

    server_version = "kotef"
    sys_version = ""
    timeout = 30

    def __init__(self, root: Path, hidden: Redactor, *args: Any) -> None:
        """One for each connection, in a thread of its own."""
        self.root, self.hidden = root, hidden
        super().__init__(*args)

    def do_GET(self) -> None:
        """A page, or a line that says why not."""
        if not self._for_us():
            self._say(421, "this is answered on this machine alone, as 127.0.0.1 or localhost")
            return
        path = urlsplit(self.path).path
        try:
            if path == "/":
                self._send(200, self._index())
            elif path.startswith("/runs/"):
                self._send(200, self._report(unquote(path.removeprefix("/runs/"))))
            else:
                self._say(404, "there is no such page")
        except KotefError as error:
            self._say(404, str(error))

    def do_HEAD(self) -> None:
        """The same without the page; every other method is refused by the class above."""
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  named by the class above
        """A page that reloads itself would fill the terminal."""

    def _for_us(self) -> bool:
        assert isinstance(self.server, HTTPServer)  # noqa: S101  made above, of that class
        port = self.server.server_port
        return self.headers.get("Host", "").lower() in {f"{name}:{port}" for name in _NAMES}

    def _index(self) -> str:
        holder = at_work(self.root)
        rows = [row_of(run, holder) for run in store.every(self.root)]
        return index_page(self.hidden.whole(rows[::-1]), self.root.name)

    def _report(self, wanted: str) -> str:
        """Of a run by its whole name: what is asked for is compared, and never becomes a path."""
        know(self.hidden)  # for this thread, which is another's than the one that made it known
        run = next((run for run in store.every(self.root) if run.run_id == wanted), None)
        if run is None:
            raise UsageError(f"no run is called {wanted}", hint="the index lists them")
        return as_html(run, at_work=at_work(self.root) == run.run_id)

    def _say(self, status: int, text: str) -> None:
        self._send(status, f"{self.hidden.text(plain(text))}\n", kind="text/plain")

    def _send(self, status: int, text: str, *, kind: str = "text/html") -> None:
        content = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            with suppress(ConnectionError):  # the reader left
                self.wfile.write(content)
