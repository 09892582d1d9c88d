"""The words of a model are seen while they arrive, dim and folded; nothing of them is written down twice."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from support.run_events import recorded

from kotef.cli.screen import Detail, Screen
from kotef.cli.screen.model_text import live_words
from kotef.events import RecordedEvent
from kotef.models import word_stream
from kotef.models.word_stream import WordStream
from kotef.redaction import Redactor, know, scope
from kotef.runs.events import EventLog, read_events

LONG = "\n\n".join(f"line {number}" for number in range(10))


def shown(detail: Detail, **facts: object) -> str:
    page = io.StringIO()
    screen = Screen(screen=Console(file=page, width=100, soft_wrap=True), detail=detail)
    screen(recorded("model_answer", **({"visit": 1, "node": "coder", "text": LONG} | facts)))
    return page.getvalue()


def test_an_answer_is_folded_and_v_shows_all_of_it() -> None:
    assert shown("usual").splitlines() == [
        *("  › line 0", "    line 1", "    line 2", "    … 7 more lines (-v shows them)")
    ]
    assert shown("full").splitlines() == ["  › line 0", *(f"    line {number}" for number in range(1, 10))]
    assert shown("quiet") == ""


def test_only_what_the_coder_says_is_told() -> None:
    assert shown("usual", node="compaction") == ""
    assert shown("usual", text=" \n ") == ""


def test_words_on_their_way_go_to_the_watchers_and_not_to_the_file(tmp_path: Path) -> None:
    seen: list[RecordedEvent] = []
    emit = EventLog(tmp_path / "events.jsonl", (seen.append,))
    emit("notice", text="before")
    emit("model_words", text="Let me ")
    emit("notice", text="after")
    assert [each.event.event_name for each in seen] == ["notice", "model_words", "notice"]
    assert [(each.event.event_name, each.number) for each in read_events(tmp_path / "events.jsonl")] == [
        *(("notice", 1), ("notice", 2))
    ]


def test_a_secret_that_comes_in_pieces_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_stream, "PAUSE", 0.0)
    told: list[str] = []
    with scope():
        know(Redactor([("TOKEN", "sesame-open-7791")]))
        words = WordStream(lambda _, text: told.append(text))
        for piece in ("the key is ses", "ame-op", "en-7791, and more", " words " * 20):
            words(piece)
    assert "the key is " in "".join(told)
    assert "sesame" not in "".join(told)


CALL = '{"name": "edit_file", "arguments": {"path": "shop/cart.py"}}'
CALLS = [
    f"<tool_call>\n{CALL}\n</tool_call>",
    "<function=edit_file>\n<parameter=path>\nshop/cart.py\n</parameter>\n</function>",
    f"```json\n{CALL}\n```",
    f"```\n{CALL}\n```",
]


@pytest.mark.parametrize(
    ("before", "call"), [("", CALL), *((before, call) for before in ("", "I fix a < b.\n\n") for call in CALLS)]
)
def test_a_call_written_as_text_is_not_shown_while_it_arrives(before: str, call: str) -> None:
    """The tool's own line shows it; so no part of a call appears among the model's words, whatever has arrived."""
    console = Console(file=io.StringIO(), width=100)
    words = "".join(line.plain for line in live_words(before, console)).strip()
    for end in range(len(before), len(before + call) + 1):
        shown = "".join(line.plain for line in live_words((before + call)[:end], console)).strip()
        assert shown in {words, f"{words}    ``", f"{words}    `", "› ``", "› `"}, (before + call)[:end]


def test_other_blocks_and_comparisons_are_shown_while_they_arrive() -> None:
    console = Console(file=io.StringIO(), width=100)
    said = "now it is:\n```python\ntotal < 3\n```"
    assert "".join(line.plain for line in live_words(said, console)).endswith("total < 3")
