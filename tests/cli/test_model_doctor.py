"""`kotef doctor --model NAME` asks the model, and says how it has to be asked; without it no tokens are spent."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.openai_server import OpenAIServer, Reply, Request, call, calls, status, text
from support.providers import PROVIDERS, ProviderModel, ProviderServer, chosen, format_of

from kotef.cli.main import main
from kotef.models.price_table import kept_price


class Obedient(ProviderModel):
    """Calls `ping` when asked to, and says a word of JSON in the form that binds it."""

    def reply(self, request: Request, provider: Any) -> Reply:
        """Its answer."""
        if "Call the tool `ping`" in request.text:
            results = "pong" in request.text
            return text("done") if results else calls(call("ping", word="hello"))
        if "ReadyAnswer" in request.tools and chosen(request) in {"named", "required"}:
            return calls(call("ReadyAnswer", word="ready"))
        if format_of(request) in provider.formats or "JSON schema" in request.text:
            return text('{"word": "ready"}')
        return text("ready")


def doctor(project: Path, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer, *options: str) -> dict[str, Any]:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(project.parent / "config"))
    done = CliRunner().invoke(main, ["doctor", "--root", str(project), "--json", *options])
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def lines(found: dict[str, Any]) -> str:
    return "\n".join(f"{line['state']} {line['text']}" for line in found["findings"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "test_x.py").write_text("def test_x():\n    assert True\n")
    return root


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "deepseek",
            [
                "sent back with its answers: reasoning_content",
                "structured output: json_mode works",
                "tools: called one",
            ],
        ),
        ("gemini", ["sent back with its answers: extra_content", "structured output: function_calling works"]),
        ("groq", ["dialect: groq (the server says so)", "sent back with its answers: only the standard fields"]),
        ("llama.cpp", ["dialect: llama.cpp (the server says so)", "structured output:"]),
        ("openrouter-without-tools", ["tools: not supported", "structured output: json_schema works"]),
    ],
)
def test_the_doctor_says_how_a_model_has_to_be_asked(
    name: str, said: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProviderServer(PROVIDERS[name], Obedient()) as server:
        found = doctor(project, monkeypatch, server, "--model", "scripted")
    assert all(line in lines(found) for line in said), lines(found)
    assert "price: not known" in lines(found)
    assert "context window" in lines(found)


def test_without_a_model_named_nothing_is_asked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer(PROVIDERS["gemini"], Obedient()) as server:
        found = doctor(project, monkeypatch, server)
    assert server.calls == 0
    assert "scripted will be used" in lines(found), "a name such as models/scripted is read"


def test_an_endpoint_without_a_list_of_models_is_not_red(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unlisted(OpenAIServer):
        list_status = 404

    with Unlisted(lambda request, n: text("ready")) as server:
        monkeypatch.setenv("KOTEF_MODEL", "m")
        found = doctor(project, monkeypatch, server)
        assert found["exitCode"] == 0
        assert "note model endpoint" in lines(found)
        assert "no list of models" in lines(found)
        assert "answers (" in lines(doctor(project, monkeypatch, server, "--model", "m"))


def test_a_model_that_does_not_answer_is_missing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KOTEF_CODER", "model")
    with OpenAIServer(lambda request, n: status(401, "no"), models=("m",)) as server:
        found = doctor(project, monkeypatch, server, "--model", "m")
    assert found["exitCode"] == 5
    assert "missing model endpoint" in lines(found)


def test_a_kept_table_knows_prices_by_the_address_of_the_endpoint() -> None:
    pytest.importorskip("genai_prices", reason="the extra `prices` is not installed")
    price = kept_price("gpt-4o", "https://api.openai.com/v1")
    assert price is not None
    assert price.output > price.input > 0
    assert kept_price("gpt-4o", "http://localhost:8080/v1") is None, "a server of one's own costs nothing that it knows"
    assert kept_price("no-such-model", "https://api.openai.com/v1") is None
