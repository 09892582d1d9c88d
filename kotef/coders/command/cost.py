"""Usage and cost of an external agent, as far as its output reports them."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from kotef.settings import Price
from kotef.state import Spent

_AIDER_TOKENS: Final = re.compile(
    r"^Tokens: (N) sent(?:, N cache write)?(?:, (N) cache hit)?, (N) received".replace("N", r"[\d.,]+[kM]?"),
    re.MULTILINE,
)
_AIDER_COST: Final = re.compile(r"Cost: \$[\d.,]+ message, \$([\d.,]+) session")
_SCALE: Final = {"k": 1_000, "M": 1_000_000}


class ReportedCost(NamedTuple):
    """The account of a program; a claim, like everything it says."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    calls: int = 0
    cost: float | None = None
    """None: it names no money."""
    words: str = ""
    """Its last words, where its output is not text for people."""


def told_by(name: str, stdout: str, account: str) -> ReportedCost | None:
    """The account of the program `name`, from its output and the file it wrote; None if there is none to be read."""
    read = _READERS.get(name)
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return read(stdout, account) if read else None
    return None


def spent_by(told: ReportedCost | None, price: Price | None) -> Spent:
    """The account as the run records it; an unknown cost is marked, never counted as zero."""
    if told is None:
        return Spent(commands=1, unpriced=True)
    cost = told.cost
    if cost is None and price is not None and (told.tokens_in or told.tokens_out):
        cost = price.of(told.tokens_in, told.tokens_out, told.tokens_cached)
    return Spent(
        tokens_in=told.tokens_in,
        tokens_out=told.tokens_out,
        tokens_cached=min(told.tokens_cached, told.tokens_in),
        calls=told.calls,
        commands=1,
        cost=cost or 0.0,
        unpriced=cost is None,
    )


def _aider(stdout: str, _: str) -> ReportedCost | None:
    """A line after each answer; the sum of money is in the last."""
    lines = _AIDER_TOKENS.findall(stdout)
    costs = _AIDER_COST.findall(stdout)
    if not lines:
        return None
    sent, cached, received = ([_number(line[at]) for line in lines] for at in range(3))
    cost = float(costs[-1].replace(",", "")) if costs else None
    return ReportedCost(sum(sent), sum(received), sum(cached), len(lines), cost)


def _number(text: str) -> int:
    text = text.replace(",", "")
    return int(float(text.rstrip("kM") or 0) * _SCALE.get(text[-1:], 1))


def _codex(stdout: str, _: str) -> ReportedCost | None:
    """One event a line; each turn ends with its usage."""
    events = list(_objects(stdout))
    turns = [event["usage"] for event in events if event.get("type") == "turn.completed" and event.get("usage")]
    items = [event["item"] for event in events if event.get("type") == "item.completed" and event.get("item")]
    texts = [
        item["text"] for item in items if item.get("type") == "agent_message" and isinstance(item.get("text"), str)
    ]
    failed = [_error(event) for event in events if event.get("type") in {"error", "turn.failed"}]
    words = (failed or texts or [""])[-1]
    if not turns:
        return ReportedCost(words=words) if words else None
    return ReportedCost(
        _sum(turns, "input_tokens"),
        _sum(turns, "output_tokens"),
        _sum(turns, "cached_input_tokens"),
        len(turns),
        words=words,
    )


def _error(event: Mapping[str, Any]) -> str:
    inner = event.get("error")
    return str(event.get("message") or (inner.get("message") if isinstance(inner, dict) else "") or "")


def _claude(stdout: str, _: str) -> ReportedCost | None:
    """One object, `type` result."""
    found = next((one for one in _objects(stdout) if one.get("type") == "result"), None)
    if found is None:
        return None
    usage = found.get("usage") or {}
    cached = _count(usage, "cache_read_input_tokens")
    tokens_in = _count(usage, "input_tokens") + _count(usage, "cache_creation_input_tokens") + cached
    cost = found.get("total_cost_usd")
    words = found.get("result")
    return ReportedCost(
        tokens_in,
        _count(usage, "output_tokens"),
        cached,
        _count(found, "num_turns"),
        float(cost) if isinstance(cost, int | float) and cost >= 0 else None,
        words if isinstance(words, str) else "",
    )


def _gemini(stdout: str, _: str) -> ReportedCost | None:
    """One object over several lines, with statistics by model."""
    found = _whole(stdout)
    words = found.get("response") or (found.get("error") or {}).get("message")
    models = ((found.get("stats") or {}).get("models") or {}).values()
    tokens = [one["tokens"] for one in models if isinstance(one, dict) and isinstance(one.get("tokens"), dict)]
    calls = sum(_count(one.get("api") or {}, "totalRequests") for one in models if isinstance(one, dict))
    out = _sum(tokens, "candidates") + _sum(tokens, "thoughts")
    text = words if isinstance(words, str) else ""
    if not tokens and not text:
        return None
    return ReportedCost(_sum(tokens, "prompt"), out, _sum(tokens, "cached"), calls, words=text)


def _qwen(stdout: str, _: str) -> ReportedCost | None:
    """A list of messages on one line; the last has the words, and statistics by model."""
    ends = [one for line in _lists(stdout) for one in line if isinstance(one, dict) and one.get("type") == "result"]
    if not ends:
        return None
    told = _gemini(json.dumps({"stats": ends[-1].get("stats")}), "")
    words = ends[-1].get("result") or (ends[-1].get("error") or {}).get("message") or ""
    return (told or ReportedCost())._replace(words=str(words))


def _opencode(stdout: str, _: str) -> ReportedCost | None:
    """One event a line; each step ends with its tokens and its cost, which is 0 for a price that it does not know."""
    events = list(_objects(stdout))
    steps = _within(events, "step_finish", "part")
    texts = [str(part.get("text") or "") for part in _within(events, "text", "part")]
    errors = [_message_in(error) for error in _within(events, "error", "error")]
    words = (errors or texts or [""])[-1]
    if not steps:
        return ReportedCost(words=words) if words else None
    return _of_steps(steps)._replace(words=words)


def _of_steps(steps: list[dict[str, Any]]) -> ReportedCost:
    """What steps of `opencode` have used."""
    tokens = [step.get("tokens") or {} for step in steps]
    caches = [one.get("cache") or {} for one in tokens]
    cached = _sum(caches, "read")
    tokens_in = _sum(tokens, "input") + cached + _sum(caches, "write")
    tokens_out = _sum(tokens, "output") + _sum(tokens, "reasoning")
    return ReportedCost(tokens_in, tokens_out, cached, len(steps), _money(steps, "cost"))


def _within(events: list[dict[str, Any]], kind: str, name: str) -> list[dict[str, Any]]:
    """The objects that events of one kind hold under a name."""
    found = [event.get(name) for event in events if event.get("type") == kind]
    return [one for one in found if isinstance(one, dict)]


def _message_in(error: dict[str, Any]) -> str:
    """The text of an error object, which may be in an object of its own."""
    inner = error.get("data")
    words = inner.get("message") if isinstance(inner, dict) else ""
    return str(error.get("message") or words or error.get("name") or "")


def _pi(stdout: str, _: str) -> ReportedCost | None:
    """One event a line; each answer ends with its usage."""
    messages = _within(list(_objects(stdout)), "message_end", "message")
    answers = [message for message in messages if message.get("role") == "assistant"]
    if not answers:
        return None
    usages = [answer.get("usage") or {} for answer in answers]
    cached = _sum(usages, "cacheRead")
    tokens_in = _sum(usages, "input") + cached + _sum(usages, "cacheWrite")
    cost = _money([usage.get("cost") or {} for usage in usages], "total")
    words = str(answers[-1].get("errorMessage") or _text_of(answers[-1]))
    return ReportedCost(tokens_in, _sum(usages, "output"), cached, len(answers), cost, words)


def _text_of(answer: dict[str, Any]) -> str:
    parts = [part for part in answer.get("content") or [] if isinstance(part, dict)]
    return " ".join(str(part["text"]) for part in parts if part.get("type") == "text")


def _copilot(stdout: str, _: str) -> ReportedCost | None:
    """One event a line; it names neither tokens nor money."""
    answers = _within(list(_objects(stdout)), "assistant.message", "data")
    return ReportedCost(calls=len(answers), words=str(answers[-1].get("content") or "")) if answers else None


def _cline(stdout: str, _: str) -> ReportedCost | None:
    """One event a line; the last has its words and the usage of all its agents."""
    found = [one for one in _objects(stdout) if one.get("type") == "run_result"]
    if not found:
        return None
    usage = found[-1].get("aggregateUsage") or found[-1].get("usage") or {}
    tokens_in, tokens_out, cached = (_count(usage, f"{name}Tokens") for name in ("input", "output", "cacheRead"))
    words, cost = str(found[-1].get("text") or ""), _money([usage], "totalCost")
    return ReportedCost(tokens_in, tokens_out, cached, _count(found[-1], "iterations"), cost, words)


def _money(found: list[dict[str, Any]], name: str) -> float | None:
    """The sum of what is stated; None if that is nothing, which stands for an unknown price."""
    stated = [one.get(name) for one in found]
    return sum(float(value) for value in stated if isinstance(value, int | float) and value > 0) or None


def _mini(_: str, account: str) -> ReportedCost | None:
    """A trajectory: its statistics, and the usage in each answer; a sum of nothing for some calls is none."""
    found = json.loads(account)
    stats = found["info"]["model_stats"]
    answers = [(message.get("extra") or {}).get("response") or {} for message in found.get("messages") or []]
    usages = [one["usage"] for one in answers if isinstance(one.get("usage"), dict)]
    cost, calls = float(stats.get("instance_cost") or 0), int(stats.get("api_calls") or 0)
    known = cost if cost > 0 or not calls else None
    words = found["info"].get("submission") or found["info"].get("exit_status") or ""
    return ReportedCost(_sum(usages, "prompt_tokens"), _sum(usages, "completion_tokens"), 0, calls, known, str(words))


_READERS: Final[Mapping[str, Callable[[str, str], ReportedCost | None]]] = {
    "aider": _aider,
    "codex": _codex,
    "claude": _claude,
    "gemini": _gemini,
    "mini": _mini,
    "opencode": _opencode,
    "kilo": _opencode,
    "qwen": _qwen,
    "copilot": _copilot,
    "cline": _cline,
    "pi": _pi,
}


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that fill a line each."""
    for line in text.splitlines():
        if line.lstrip().startswith("{"):
            with suppress(ValueError, RecursionError):
                found = json.loads(line)
                if isinstance(found, dict):
                    yield found


def _lists(text: str) -> Iterator[list[Any]]:
    """The JSON lists that fill a line each."""
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            with suppress(ValueError, RecursionError):
                found = json.loads(line)
                if isinstance(found, list):
                    yield found


def _whole(text: str) -> dict[str, Any]:
    """The object that the text ends with; empty if there is none."""
    for at in (match.start() for match in re.finditer(r"^\{", text, re.MULTILINE)):
        with suppress(ValueError, RecursionError):
            found = json.loads(text[at:])
            if isinstance(found, dict):
                return found
    return {}


def _count(found: Mapping[str, Any], name: str) -> int:
    value = found.get(name)
    return max(0, int(value)) if isinstance(value, int | float) else 0


def _sum(found: list[dict[str, Any]], name: str) -> int:
    return sum(_count(one, name) for one in found)
