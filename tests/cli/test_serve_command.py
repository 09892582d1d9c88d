"""`kotef serve` shows the runs of a workspace to this machine, and to nobody else."""

import http.client
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.run_dirs import HOSTILE, RUN, made_run

from kotef.cli.report_server import serving


@contextmanager
def served(root: Path) -> Iterator[int]:
    with serving(root, 0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server.server_port
        server.shutdown()


def ask(port: int, path: str, *, method: str = "GET", host: str = "") -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, dict(answer.headers)


def test_the_index_leads_to_the_page_of_each_run(tmp_path: Path) -> None:
    made_run(tmp_path)
    with served(tmp_path) as port:
        status, index, headers = ask(port, "/")
        assert (status, f'<a href="/runs/{RUN}">' in index) == (200, True)
        assert "bounded_attempts_exceeded" in index
        assert "TEN takes ten percent off" in index
        assert headers["X-Frame-Options"] == "DENY"
        assert "Content-Security-Policy" in index
        status, page, _ = ask(port, f"/runs/{RUN}")
        assert (status, "all 3 attempts failed verification" in page) == (200, True)
        assert HOSTILE not in page
        assert ask(port, "/", host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example"])
def test_a_request_for_another_host_is_not_answered(tmp_path: Path, host: str) -> None:
    made_run(tmp_path)
    with served(tmp_path) as port:
        status, text, _ = ask(port, f"/runs/{RUN}", host=host)
        assert status == 421
        assert "TEN" not in text


@pytest.mark.parametrize("path", ["/runs/..", "/runs/../../../etc/passwd", "/runs/%2e%2e%2fx", "/x", "/runs/", "//x"])
def test_nothing_else_is_served(tmp_path: Path, path: str) -> None:
    made_run(tmp_path)
    with served(tmp_path) as port:
        assert ask(port, path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_is_taken(tmp_path: Path, method: str) -> None:
    with served(tmp_path) as port:
        assert ask(port, "/", method=method)[0] == 501


def test_head_has_no_body_and_an_empty_workspace_says_so(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        assert ask(port, "/", method="HEAD")[:2] == (200, "")
        assert "No run here yet" in ask(port, "/")[1]


def test_the_command_says_where_it_listens_and_stops_at_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kotef", "serve", "--port", "0", "--root", str(tmp_path)]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.readline()
    port = int(said.rpartition(":")[2].split("/")[0])
    assert f"http://127.0.0.1:{port}/" in said
    assert ask(port, "/")[0] == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    process.stdout.close()


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    from support.loop import kotef

    with served(tmp_path) as port:
        done = kotef(tmp_path, "serve", "--port", str(port))
    assert done.code == 2
    assert f"--port {port}: Address already in use" in done.stderr
