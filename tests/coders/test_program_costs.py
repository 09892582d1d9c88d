"""What a program says it used is read, and what it does not say is not taken for nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.coders.command.cost import ReportedCost, spent_by, told_by
from kotef.coders.command.presets import PRESETS
from kotef.settings import Price

AIDER = """\
Tokens: 2.4k sent, 212 received. Cost: $0.01 message, $0.01 session.
Applied edit to calc.py
Tokens: 3k sent, 1.5k cache hit, 1,000 received. Cost: $0.0042 message, $0.0142 session.
"""
CODEX = """\
{"type":"thread.started","thread_id":"x"}
{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"Fixed it."}}
{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122}}
"""
CLAUDE = json.dumps(
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 4,
        "result": "Fixed it.",
        "total_cost_usd": 0.0312,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 3000,
            "output_tokens": 40,
        },
    }
)
GEMINI = "Loaded cached credentials.\n" + json.dumps(
    {
        "response": "Fixed it.",
        "stats": {
            "models": {
                "gemini-2.5-pro": {
                    "api": {"totalRequests": 3},
                    "tokens": {"prompt": 900, "candidates": 50, "total": 960, "cached": 100, "thoughts": 10, "tool": 0},
                }
            }
        },
    },
    indent=2,
)


QWEN = json.dumps(
    [
        {"type": "system", "subtype": "init"},
        {
            "type": "result",
            "is_error": False,
            "result": "Fixed it.",
            "stats": {
                "models": {
                    "scripted": {
                        "api": {"totalRequests": 2},
                        "tokens": {"prompt": 200, "candidates": 40, "cached": 30, "thoughts": 2},
                    }
                }
            },
        },
    ]
)


def opencode(cost: float) -> str:
    tokens = {"input": 100, "output": 20, "reasoning": 5, "cache": {"read": 7, "write": 3}}
    step = json.dumps({"type": "step_finish", "part": {"tokens": tokens, "cost": cost}})
    return "\n".join((step, json.dumps({"type": "text", "part": {"text": "Fixed it."}}), step))


def pi(cost: float) -> str:
    usage = {"input": 100, "output": 20, "cacheRead": 7, "cacheWrite": 3, "cost": {"total": cost}}
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Fixed it."}]
    answer = {"role": "assistant", "content": content, "usage": usage}
    messages = [{"role": "user", "content": "do"}, answer, answer]
    return "\n".join(json.dumps({"type": "message_end", "message": one}) for one in messages)


def mini(cost: float) -> str:
    answer = {"role": "assistant", "extra": {"response": {"usage": {"prompt_tokens": 70, "completion_tokens": 9}}}}
    stats = {"instance_cost": cost, "api_calls": 2}
    info = {"model_stats": stats, "exit_status": "Submitted", "submission": ""}
    return json.dumps({"info": info, "messages": [{"role": "system"}, answer, answer]})


def test_aider_tells_tokens_by_answer_and_money_by_session() -> None:
    assert told_by("aider", AIDER, "") == ReportedCost(5400, 1212, 1500, 2, 0.0142)


def test_the_cached_tokens_of_aider_are_a_part_of_those_sent() -> None:
    told = told_by("aider", "Tokens: 10k sent, 8k cache hit, 5 received. Cost: $0.01 message, $0.01 session.", "")
    assert told is not None
    assert (told.tokens_in, told.tokens_cached) == (10_000, 8_000)


def test_codex_tells_tokens_and_its_last_words() -> None:
    assert told_by("codex", CODEX, "") == ReportedCost(24763, 122, 24448, 1, None, "Fixed it.")


def test_claude_tells_money() -> None:
    assert told_by("claude", CLAUDE, "") == ReportedCost(3210, 40, 3000, 4, 0.0312, "Fixed it.")


def test_gemini_tells_tokens_by_model() -> None:
    assert told_by("gemini", GEMINI, "") == ReportedCost(900, 60, 100, 3, None, "Fixed it.")


def test_mini_tells_money_where_it_knows_the_price() -> None:
    assert told_by("mini", "", mini(0.25)) == ReportedCost(140, 18, 0, 2, 0.25, "Submitted")
    told = told_by("mini", "", mini(0.0))
    assert told is not None
    assert told.cost is None, "nothing for two calls is a price that it does not know"


def test_qwen_tells_tokens_by_model_at_the_end_of_a_list() -> None:
    assert told_by("qwen", QWEN, "") == ReportedCost(200, 42, 30, 2, None, "Fixed it.")


@pytest.mark.parametrize("name", ["opencode", "kilo"])
def test_opencode_and_its_kin_tell_tokens_and_money_by_step_and_nothing_is_an_unknown_price(name: str) -> None:
    assert told_by(name, opencode(0.25), "") == ReportedCost(220, 50, 14, 2, 0.5, "Fixed it.")
    assert told_by(name, opencode(0), "") == ReportedCost(220, 50, 14, 2, None, "Fixed it.")


def test_pi_tells_tokens_and_money_by_answer() -> None:
    assert told_by("pi", pi(0.25), "") == ReportedCost(220, 40, 14, 2, 0.5, "Fixed it.")
    assert told_by("pi", pi(0), "") == ReportedCost(220, 40, 14, 2, None, "Fixed it.")


def test_cline_tells_tokens_and_money_of_all_its_agents() -> None:
    usage = {"inputTokens": 200, "outputTokens": 40, "cacheReadTokens": 30, "totalCost": 0.5}
    end = {"type": "run_result", "iterations": 2, "aggregateUsage": usage, "usage": {}, "text": "Fixed it."}
    assert told_by("cline", f"a trace\n{json.dumps(end)}", "") == ReportedCost(200, 40, 30, 2, 0.5, "Fixed it.")


def test_copilot_tells_its_words_and_no_cost() -> None:
    said = json.dumps({"type": "assistant.message", "data": {"content": "Fixed it."}})
    assert told_by("copilot", said, "") == ReportedCost(calls=1, words="Fixed it.")
    assert spent_by(told_by("copilot", said, ""), Price(input=1, output=1)).unpriced


def test_tokens_with_a_price_are_money() -> None:
    spent = spent_by(ReportedCost(1_000_000, 500_000, 0, 3), Price(input=2.0, output=8.0))
    assert (spent.cost, spent.unpriced, spent.commands, spent.calls) == (6.0, False, 1, 3)


@pytest.mark.parametrize("told", [None, ReportedCost(10, 10)])
def test_what_is_not_told_is_marked(told: ReportedCost | None) -> None:
    spent = spent_by(told, None)
    assert (spent.cost, spent.unpriced, spent.plus(spent).unpriced) == (0.0, True, True)


@pytest.mark.parametrize(
    ("name", "stdout"),
    [
        ("codex", '{"type":"error","message":"stream disconnected"}\n'),
        ("codex", '{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"I begin."}}\n'),
        ("gemini", json.dumps({"error": {"type": "Error", "message": "quota"}})),
        ("claude", json.dumps({"type": "result", "is_error": True, "result": "no credit left"})),
    ],
)
def test_words_without_usage_are_no_account_that_a_price_makes_nothing_of(name: str, stdout: str) -> None:
    told = told_by(name, stdout, "")
    assert told is not None
    assert told.words
    assert spent_by(told, Price(input=2.0, output=8.0)).unpriced


NONSENSE = st.one_of(
    st.text(),
    st.builds(json.dumps, st.dictionaries(st.text(max_size=5), st.integers() | st.none() | st.text())),
    st.builds(
        lambda name, inner, value: json.dumps({"type": name, **{key: {inner: value} for key in KEYS}}),
        st.sampled_from(
            [
                "result",
                "step_finish",
                "message_end",
                "assistant.message",
                "run_result",
                "turn.completed",
                "item.completed",
                "error",
            ]
        ),
        st.sampled_from(["tokens", "text", "models", "model_stats", "input_tokens", "message", "type"]),
        st.none()
        | st.floats()
        | st.text(max_size=5)
        | st.lists(st.integers())
        | st.just({"a": {"tokens": {"prompt": "x"}}}),
    ),
)
KEYS = (
    "aggregateUsage",
    "part",
    "message",
    "data",
    "usage",
    "result",
    "stats",
    "info",
    "messages",
    "item",
    "error",
    "total_cost_usd",
    "response",
)


@given(st.sampled_from([*PRESETS, "command"]), NONSENSE, NONSENSE)
def test_no_output_of_a_program_breaks_the_reader(name: str, stdout: str, account: str) -> None:
    spent = spent_by(told_by(name, stdout, account), Price(input=1, output=1))
    assert spent.tokens_in >= 0
    assert spent.cost >= 0
