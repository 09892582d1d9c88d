"""MCP servers as a run has them: which are named, one session each, results bounded, failures told."""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import mcp_server

from kotef.errors import SpecError, UsageError
from kotef.mcp_client import sessions
from kotef.mcp_client.servers import Server, parse_servers, substituted
from kotef.mcp_client.sessions import MAX_TEXT, Servers, tool_name
from kotef.runs.config import UserConfig
from kotef.runs.mcp_config import NONE, find_servers, search_url, trusted_servers
from kotef.tools.errors import ToolFault
from kotef.tools.registry import offered
from kotef.tools.tool import ToolContext

TEXTS = st.text("ab${}:-_X", max_size=20)


def parsed(*, environment: dict[str, str] | None = None, **servers: Any) -> tuple[Server, ...]:
    return parse_servers(json.dumps({"mcpServers": servers}), ".mcp.json", environment or {})


def tiny(*arguments: str, **more: Any) -> Server:
    return Server(name="tiny", command=sys.executable, args=(str(mcp_server.__file__), *arguments), **more)


class Asking:
    """What a run does with its servers, on one event loop."""

    def __init__(self, servers: Servers, context: ToolContext) -> None:
        self.servers, self.context = servers, context

    async def call(self, name: str, /, **arguments: Any) -> str:
        rows = offered(features=["mcp"], more=await self.servers.rows())
        row = next(row for row in rows if row.name == name)
        answer = await row.bind(self.context).ainvoke(arguments)
        assert isinstance(answer, str)
        return answer


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def asking(tmp_path: Path, guard, said: list[str]) -> Callable[..., None]:
    """`asking(work, server, …)`: run `work(Asking)` with these servers, and end them."""

    def go(work: Callable[[Asking], Awaitable[None]], *servers: Server) -> None:
        async def never(*_: Any) -> Any:
            raise AssertionError

        context = ToolContext(tmp_path, guard, never, never, wrote=print, rule=never)

        async def whole() -> None:
            kept = Servers(servers, tmp_path, tmp_path / "logs", said.append)
            try:
                await work(Asking(kept, context))
            finally:
                await kept.aclose()

        asyncio.run(whole())

    return go


def test_a_server_s_tools_are_rows_with_its_name_before_theirs(asking) -> None:
    async def work(ask: Asking) -> None:
        rows = await ask.servers.rows()
        assert [row.name for row in rows] == [
            *("tiny__add", "tiny__echo", "tiny__environment", "tiny__fail", "tiny__flood"),
            *("tiny__pid", "tiny__quit", "tiny__touch_file", "tiny__wait"),
        ]
        assert {(row.kind, row.tier, row.needs) for row in rows} == {("runner", "all", "mcp")}
        names = [row.name for row in offered(features=["mcp"], more=rows)]
        assert names == sorted(names)
        assert not [row for row in offered("standard", ["mcp"], more=rows) if row.needs == "mcp"]
        assert await ask.call("tiny__add", a=2, b=3) == "5"

    asking(work, tiny())


def test_one_session_serves_every_visit_and_ends_with_the_run(asking, tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    async def work(ask: Asking) -> None:
        assert not notes.exists(), "started at the first use only"
        first = await asyncio.create_task(ask.call("tiny__pid"))
        assert await asyncio.create_task(ask.call("tiny__pid")) == first
        assert notes.read_text() == "started\n"

    asking(work, tiny(str(notes)))
    assert notes.read_text() == "started\nended\n"


def test_arguments_reach_the_server_whatever_they_are_called(asking) -> None:
    arguments = dict.fromkeys(("config", "context", "self", "name", "run_manager", "callbacks", "arguments"), 1)

    async def work(ask: Asking) -> None:
        assert json.loads(await ask.call("tiny__echo", **arguments)) == arguments

    asking(work, tiny())


def test_a_result_is_bounded(asking) -> None:
    async def work(ask: Asking) -> None:
        text = await ask.call("tiny__flood")
        assert MAX_TEXT * 0.9 < len(text) < MAX_TEXT + 200
        assert "characters left out" in text

    asking(work, tiny())


def test_a_tool_that_fails_and_a_server_that_ends_are_faults(asking) -> None:
    async def work(ask: Asking) -> None:
        for name, words in (("tiny__fail", "it cannot be done"), ("tiny__quit", "MCP server tiny")):
            with pytest.raises(ToolFault, match=words) as caught:
                await ask.call(name)
            assert caught.value.kind == "exec_error"
        with pytest.raises(ToolFault, match="tiny"):
            await ask.call("tiny__add", a=1, b=1)

    asking(work, tiny())


def test_a_call_that_takes_too_long_is_a_fault_that_says_how_long_and_where_that_is_set(asking) -> None:
    said = "MCP server tiny: wait gave no answer within 0.2 s, the server's `timeoutSeconds`; continue without it"

    async def work(ask: Asking) -> None:
        with pytest.raises(ToolFault, match=re.escape(said)):
            await ask.call("tiny__wait")

    asking(work, tiny(timeoutSeconds=0.2))


def test_a_call_may_take_a_minute_or_what_its_server_s_block_says() -> None:
    usual, asked = parsed(a={"command": "x"}, b={"command": "x", "timeoutSeconds": 300})
    assert (usual.timeout_seconds, asked.timeout_seconds) == (60, 300)


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (Server(name="talk-back", command="cat"), "talk-back did not start: "),
        (
            Server(name="gone", command="no-such-program"),
            "gone did not start: no-such-program is not on PATH; install it",
        ),
        (Server(name="gone", command="./no-such"), "gone did not start: there is no program ./no-such; install it"),
        (
            Server(name="bad", command=sys.executable, args=("-c", "import sys; sys.exit('need a token')")),
            "need a token; its tools are missing",
        ),
        (
            Server(name="echo", command=sys.executable, args=("-c", "print('hi')")),
            "echo did not start: it ended before it answered; its tools",
        ),
    ],
)
def test_a_server_that_does_not_start_costs_its_own_tools_only(
    asking, said: list[str], server: Server, words: str
) -> None:
    async def work(ask: Asking) -> None:
        assert await ask.call("tiny__add", a=1, b=1) == "2"

    asking(work, server, tiny())
    assert len(said) == 1
    assert words in said[0]


def test_a_server_is_given_up_after_its_own_start_time_and_reports_until_then(
    asking, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PROGRESS_SECONDS", 0.4)
    code = "import sys; print('downloading 3 of 9', file=sys.stderr, flush=True); sys.stdin.read()"

    async def work(ask: Asking) -> None:
        assert await ask.servers.rows() == []

    asking(work, Server(name="mute", command=sys.executable, args=("-c", code), startTimeoutSeconds=1.5))
    assert said[-1] == (
        "MCP server mute did not start: no answer within 1.5 s, the server's `startTimeoutSeconds`: "
        "downloading 3 of 9; its tools are missing"
    )
    assert len(said) > 1
    assert all(re.match(r"MCP server mute is starting, [01] of at most 1.5 s", line) for line in said[:-1])
    assert said[-2].endswith(": downloading 3 of 9")


def test_a_start_may_take_a_minute_or_what_its_server_s_block_says() -> None:
    usual, asked = parsed(a={"command": "x"}, b={"command": "x", "startTimeoutSeconds": 300})
    assert (usual.start_seconds, asked.start_seconds) == (60, 300)


def test_a_server_knows_certificates_and_proxies(asking, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"SSL_CERT_FILE": "/ca.pem", "NODE_EXTRA_CA_CERTS": "/ca.pem", "HTTPS_PROXY": "http://proxy:3128"}
    for name, value in known.items():
        monkeypatch.setenv(name, value)

    async def work(ask: Asking) -> None:
        assert {name: await ask.call("tiny__environment", name=name) for name in known} == known

    asking(work, tiny())


def test_a_server_is_not_given_the_secrets_of_kotef(asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    async def work(ask: Asking) -> None:
        assert await ask.call("tiny__environment", name="OPENAI_API_KEY") == "unset"
        assert await ask.call("tiny__environment", name="MODE") == "quiet"

    asking(work, tiny(env={"MODE": "quiet"}))


def test_a_server_works_in_the_workspace(asking, tmp_path: Path) -> None:
    async def work(ask: Asking) -> None:
        await ask.call("tiny__touch_file", path="new.txt")

    asking(work, tiny())
    assert (tmp_path / "new.txt").read_text() == "touched\n"


def test_a_configuration_is_read_as_other_clients_write_it() -> None:
    found = parsed(
        a={"command": "npx", "args": ["-y", "pkg"], "env": {"T": "${TOKEN}"}, "autoApprove": []},
        b={"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        c={"type": "sse", "url": "http://localhost:1/${PART:-sse}"},
        d={"type": "streamable-http", "url": "http://localhost:2"},
        e={"command": "x", "disabled": True},
        environment={"TOKEN": "t0k"},
    )
    assert [(server.name, server.type) for server in found] == [
        ("a", "stdio"),
        ("b", "http"),
        ("c", "sse"),
        ("d", "http"),
    ]
    assert found[0].env == {"T": "t0k"}
    assert found[1].headers == {"Authorization": "Bearer t0k"}
    assert found[2].url == "http://localhost:1/sse"
    args = parsed(f={"command": "x", "args": ["--token=${TOKEN}"]}, environment={"TOKEN": "t0k"})
    assert (args[0].args, args[0].shown) == (("--token=t0k",), "x --token=${TOKEN}")
    assert "t0k" not in "".join(server.shown for server in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", ".mcp.json: is not JSON"),
        ("[]", "has no object `mcpServers`"),
        ('{"mcpServers": {"a": 1}}', "server a is not an object"),
        ('{"mcpServers": {"a": {}}}', "it needs a command or a URL"),
        ('{"mcpServers": {"a b": {"command": "x"}}}', "server a b.name"),
        ('{"mcpServers": {"a__b": {"command": "x"}}}', "server a__b.name"),
        ('{"mcpServers": {"a": {"url": "ftp://x"}}}', "begins with http"),
        ('{"mcpServers": {"a": {"command": "x", "args": ["${NOT_SET}"]}}}', "server a: ${NOT_SET} is not set"),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "server a.args"),
        ('{"mcpServers": {"a": {"type": "carrier-pigeon", "command": "x"}}}', "server a.type"),
        ('{"mcpServers": {"a": {"command": "x", "timeoutSeconds": 0}}}', "server a.timeoutSeconds"),
        ('{"mcpServers": {"a": {"command": "x", "timeoutSeconds": "soon"}}}', "server a.timeoutSeconds"),
    ],
)
def test_what_is_wrong_with_a_configuration_is_named(text: str, words: str) -> None:
    with pytest.raises(SpecError, match=re.escape(words)):
        parse_servers(text, ".mcp.json", {})


@given(TEXTS, st.dictionaries(st.sampled_from(["X", "a", "b_X"]), TEXTS))
def test_substitution_replaces_in_every_text_or_names_what_is_not_set(text: str, environment: dict[str, str]) -> None:
    named = {name for name, default in re.findall(r"\$\{([Xab_]+)(:-)?", text) if f"${{{name}}}" in text}
    if missing := named - environment.keys():
        with pytest.raises(KeyError) as caught:
            substituted(text, environment)
        assert caught.value.args[0] in missing
    else:
        done = substituted(text, environment)
        assert substituted({"k": [text, 1, None]}, environment) == {"k": [done, 1, None]}
        assert "${" in text or done == text


@given(TEXTS)
def test_what_comes_out_of_a_variable_is_not_looked_at_again(value: str) -> None:
    assert substituted("<${X}>", {"X": value}) == f"<{value}>"
    assert substituted("<${X:-d}>", {}) == "<d>"


@given(st.text(min_size=1, max_size=100), st.text(min_size=1, max_size=100))
def test_every_tool_gets_a_name_that_endpoints_take(server: str, tool: str) -> None:
    name = tool_name(server, tool)
    assert 0 < len(name) <= 64
    assert all(char.isascii() and (char.isalnum() or char in "_-") for char in name)


def wrote(root: Path, name: str = ".mcp.json", **servers: Any) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(json.dumps({"mcpServers": servers}))


def test_the_project_s_own_file_stands_over_the_shared_one(tmp_path: Path) -> None:
    wrote(tmp_path, a={"command": "shared"}, b={"command": "shared"})
    wrote(tmp_path, ".sdd/mcp.json", b={"command": "own"})
    assert {server.name: server.command for server in find_servers(tmp_path).servers()} == {"a": "shared", "b": "own"}


def test_servers_are_trusted_by_word_or_while_the_files_are_the_same(tmp_path: Path) -> None:
    config = UserConfig()
    assert trusted_servers(tmp_path, config, asked=False) == (NONE, "")
    with pytest.raises(UsageError, match="neither"):
        trusted_servers(tmp_path, config, asked=True)
    wrote(tmp_path, a={"command": "x"})
    found, said = trusted_servers(tmp_path, config, asked=False)
    assert (found, said.partition(" is ignored")[0]) == (NONE, ".mcp.json")
    asked, said = trusted_servers(tmp_path, config, asked=True)
    assert ([server.name for server in asked.servers()], said) == (["a"], "")
    trusting = UserConfig(trusted_mcp={str(tmp_path): asked.fingerprint})
    assert trusted_servers(tmp_path, trusting, asked=False) == (asked, "")
    assert trusted_servers(tmp_path, config, asked=False, pinned=asked.fingerprint) == (asked, "")
    wrote(tmp_path, a={"command": "evil"})
    assert trusted_servers(tmp_path, trusting, asked=False)[0] == NONE
    found, said = trusted_servers(tmp_path, config, asked=False, pinned=asked.fingerprint)
    assert (found, said) == (NONE, ".mcp.json changed since the run began and is ignored")


def test_without_the_extra_one_line_tells_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    wrote(tmp_path, a={"command": "x"})
    with pytest.raises(UsageError) as caught:
        trusted_servers(tmp_path, UserConfig(), asked=True)
    assert str(caught.value) == "MCP servers need an extra that is not installed: pip install 'kotef[mcp]'"


def test_a_configuration_that_leads_out_of_the_workspace_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    wrote(tmp_path, "outside.json", a={"command": "x"})
    (root / ".mcp.json").symlink_to(tmp_path / "outside.json")
    with pytest.raises(SpecError, match="cannot be read"):
        find_servers(root)


@pytest.mark.parametrize(
    ("given_url", "web", "words"),
    [
        ("http://s", False, "needs --web"),
        ("ftp://s", True, "not an http"),
        ("s", True, "not an http"),
        ("http://", True, "not an http"),
    ],
)
def test_a_search_server_that_cannot_be_used_is_a_usage_error(given_url: str, web: bool, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        search_url(given_url, web=web)
    assert search_url("", web=web) == ""
