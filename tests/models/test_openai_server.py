"""The scripted server itself: what other tests rest on."""

import json
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from support import openai_server as serve
from support.openai_server import OpenAIServer


def post(server: OpenAIServer, **body: Any) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{server.base_url}/chat/completions", json.dumps({"messages": []} | body).encode()
    )
    with urllib.request.urlopen(request) as response:
        answer: dict[str, Any] = json.loads(response.read())
        return answer


def test_a_script_that_runs_out_says_so() -> None:
    with OpenAIServer([serve.text("one")]) as server:
        assert post(server)["choices"][0]["message"]["content"] == "one"
        assert not server.overrun
        with pytest.raises(HTTPError) as caught:
            post(server)
        with caught.value as response:
            assert "the script has 1 replies; this is request 2" in response.read().decode()
        assert server.overrun
        assert server.calls == 2


def test_a_script_can_be_a_function_of_the_request() -> None:
    with OpenAIServer(lambda request, n: serve.text(f"{n}: {request.text}")) as server:
        post(server)
        answer = post(server, messages=[{"role": "user", "content": "hi"}])
    assert answer["choices"][0]["message"]["content"] == "1: user\nhi"


def test_stopping_does_not_wait_for_a_slow_reply() -> None:
    started = time.monotonic()
    with ThreadPoolExecutor() as pool:
        with OpenAIServer([serve.slow(serve.text("x"), 120)]) as server:
            reply = pool.submit(post, server)
            server.wait_for_calls(1)
        with suppress(ConnectionError):  # the reply goes out at once, or the closed connection cuts it off
            assert reply.result(60)["choices"]
    assert time.monotonic() - started < 60


def test_it_runs_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "replies.json"
    script.write_text(
        json.dumps([{"calls": [{"name": "view", "arguments": {"path": "a"}}], "tokens": [3, 4]}, {"content": "done"}])
    )
    command = [sys.executable, serve.__file__, "--script", str(script), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip().removeprefix("OPENAI_BASE_URL=")
        request = urllib.request.Request(f"{url}/chat/completions", b'{"messages": []}')
        with urllib.request.urlopen(request) as response:
            answer = json.loads(response.read())
        process.terminate()
    assert answer["choices"][0]["message"]["tool_calls"][0]["function"] == {
        "name": "view",
        "arguments": '{"path": "a"}',
    }
    assert answer["usage"]["total_tokens"] == 7
