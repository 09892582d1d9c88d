"""What is counted of a model call that went wrong on the way?"""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from support import openai_server as serve
from support.openai_server import OpenAIServer, Reply

from kotef.errors import ModelError
from kotef.models.openai import StrictChatOpenAI
from kotef.models.usage import believed, spent_on
from kotef.settings import Price

ANSWER = serve.calls(serve.call("note", text="long enough for many chunks, so that it can be cut"))


def ask(*script: Reply, **options: float) -> AIMessage:
    with OpenAIServer(script) as server:
        model = StrictChatOpenAI(model="m", api_key="k" * 9, base_url=server.base_url, retry_base=0.001, **options)
        return asyncio.run(model.ainvoke("hi"))


def test_tries_that_were_cut_are_taken_to_have_cost_what_they_sent() -> None:
    spent = spent_on(ask(serve.cut(ANSWER, 4), serve.unfinished(ANSWER), ANSWER), Price(input=1_000_000, output=0))
    assert (spent.calls, spent.tokens_in, spent.tokens_out, spent.cost) == (3, 300, 20, 300.0)
    assert spent.estimated


def test_tries_that_were_refused_cost_nothing_but_are_counted() -> None:
    spent = spent_on(ask(serve.rate_limited(0), serve.status(503), ANSWER))
    assert (spent.calls, spent.tokens_in, spent.estimated) == (3, 100, False)


@pytest.mark.parametrize(
    ("script", "options", "tries", "lost"),
    [
        ([serve.cut(ANSWER, 4)] * 4, {}, 4, 4),
        ([serve.status(503)] * 4, {}, 4, 0),
        ([serve.paced(ANSWER, 0.05)], {"deadline": 0.3}, 1, 1),
    ],
    ids=["cut", "refused", "no answer within the deadline"],
)
def test_a_call_that_failed_says_how_much_it_tried(script, options, tries: int, lost: int) -> None:
    with pytest.raises(ModelError) as caught:
        ask(*script, **options)
    assert (caught.value.tries, caught.value.lost) == (tries, lost)


def test_a_message_of_ours_that_asked_nobody_costs_nothing() -> None:
    spent = spent_on(AIMessage("stopped", response_metadata={"tries": 0}))
    assert (spent.calls, spent.tokens, spent.estimated) == (0, 0, False)


@given(st.integers(0, 10**6), st.integers(0, 10**7))
def test_a_count_is_believed_unless_it_leaves_more_than_eight_characters_for_a_token(
    counted: int, characters: int
) -> None:
    tokens = believed(counted, characters)
    assert tokens >= counted
    assert characters <= 8 * tokens + 8
    if characters <= 8 * counted:
        assert tokens == counted
