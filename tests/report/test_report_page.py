"""The HTML report is built from the directory of its run alone, and nothing in that directory can act in it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.run_dirs import HOSTILE, RUN, ids_of, made_run
from support.run_events import recorded

from kotef.redaction import Redactor, know, scope
from kotef.report import html, live_page
from kotef.report.html import PAGE_NAME, SHOWN_ROWS, as_html, marked, visible, write_page
from kotef.report.logs import excerpt
from kotef.report.page_data import page_of
from kotef.runs.store import RunDir
from kotef.state import SCHEMA_VERSION


class Seen(HTMLParser):
    """Elements, with their attributes, and the text a person sees."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.within: list[str] = []
        self.said: list[str] = []
        self.data = ""
        self.feed(page)
        self.text = " ".join(" ".join(self.said).split())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.within.append(tag)

    def handle_endtag(self, tag):
        while self.within and self.within.pop() != tag:
            pass

    def handle_data(self, data):
        if self.within and self.within[-1] in ("script", "style"):
            self.data += data if "application/json" in str(self.elements[-1]) else ""
        else:
            self.said.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def test_the_page_tells_the_outcome_the_attempts_and_what_to_do(tmp_path: Path) -> None:
    seen = Seen(as_html(made_run(tmp_path)))
    for said in (
        "bounded_attempts_exceeded",
        "all 3 attempts failed verification",
        "3 of 3",
        "1 m 15 s",
        "4,200 / 300",
        "no price is configured",
        f"kotef resume {RUN} --max-attempts 5",
        f"kotef apply {RUN} --attempt 3",
        "cause 2",
        "stopped by tool_budget",
        "some-model-2026",
        "the request prefix of coder (some-model-2026) changed: edit_file",
        "AssertionError: assert 990 == 900",
        "half works passes now",
        "nothing proves this; a person must look",
        "back and forth",
        "shop/cart.py changed +2 −1",
    ):
        assert said in seen.text, said


def test_the_page_is_rebuilt_from_the_directory_alone(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    first = write_page(run).read_text()
    (run.path / PAGE_NAME).unlink()
    (tmp_path / "artifact").mkdir()
    moved = run.path.rename(tmp_path / "artifact" / RUN)

    def timeless(page: str) -> str:
        return re.sub(r"written \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|\"written\":\d+", "", page)

    assert timeless(as_html(type(run)(moved, moved))) == timeless(first)


def test_the_page_needs_nothing_else_and_lets_nothing_else_run(tmp_path: Path) -> None:
    seen = Seen(as_html(made_run(tmp_path)))
    (policy,) = (attrs["content"] for _, attrs in seen.elements if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert [attrs.get("src") for tag, attrs in seen.elements if tag in ("script", "img", "iframe", "link")] == [
        None
    ] * 3
    assert not [attrs for _, attrs in seen.elements if "style" in attrs or any(name.startswith("on") for name in attrs)]
    assert {attrs["href"] for tag, attrs in seen.elements if tag == "a"} <= {
        *("#main", "#next", "#timeline", "#tests", "#attempts", "#done", "#models"),
        *(f"#attempt-{number}" for number in range(4)),
    }


def test_a_hostile_name_is_only_a_name(tmp_path: Path) -> None:
    page = as_html(made_run(tmp_path))
    seen = Seen(page)
    assert "<script>window.hit" not in page
    assert seen.count("img") == 0
    assert seen.count("script") == 2
    assert seen.text.count("window.hit = 1") >= 5, "in a test's name, a plan, last words and a log"


def test_a_name_that_ends_a_script_does_not_end_the_data(tmp_path: Path) -> None:
    run = made_run(tmp_path, attempts=1)
    path = run.path / "visit-0.json"
    judged = json.loads(path.read_text())
    judged["tests"] = {"t.py::</script><!--<script>": "passed"}
    path.write_text(json.dumps(judged))
    path.rename(run.path / "visit-1.json")
    page = as_html(run)
    data = json.loads(Seen(page).data)
    assert data["groups"] == [["p", " ", "", ["t.py::</script><!--<script>"]]]
    assert page.count("</script>") == 2


def test_what_hides_or_turns_text_around_is_spelt_out() -> None:
    assert visible("a\u202eb\x1b[31m\u200b\x00c\td\n") == "a\\u202eb\\u001b[31m\\u200b\\u0000c\td\n"


def test_what_stands_between_backticks_is_code_and_no_more_than_that() -> None:
    assert marked("run `a < b` & `x`") == "run <code>a &lt; b</code> &amp; <code>x</code>"
    assert marked("`</code><script>1</script>`") == "<code>&lt;/code&gt;&lt;script&gt;1&lt;/script&gt;</code>"
    assert marked("one ` alone, and `") == "one <code> alone, and </code>"
    assert marked("one `\nalone, ``") == "one `\nalone, ``"


def test_only_rows_that_say_something_are_drawn_and_the_rest_is_data(tmp_path: Path) -> None:
    seen = Seen(as_html(made_run(tmp_path, tests=60)))
    data = json.loads(seen.data)
    assert data["drawn"] < 60
    assert sum(len(names) for *_, names in data["groups"]) + data["drawn"] == 60 + 1 + 1, "a new test, and the check"
    assert "tests stayed as they were, and not red" in seen.text
    assert ids_of(60)[59] not in seen.text


def test_rows_beyond_what_a_page_should_draw_are_data_as_well(tmp_path: Path) -> None:
    run = made_run(tmp_path, attempts=1)
    path = run.path / "visit-1.json"
    judged = json.loads(path.read_text())
    judged["tests"] = {f"t.py::{number}": "failed" for number in range(SHOWN_ROWS + 50)}
    path.write_text(json.dumps(judged))
    seen = Seen(as_html(run))
    assert json.loads(seen.data)["drawn"] == SHOWN_ROWS
    assert "more that changed or failed are not drawn yet" in seen.text


def test_while_the_run_is_at_work_the_page_reloads_itself_and_says_what_is_done(tmp_path: Path) -> None:
    run = made_run(tmp_path, ended=False)
    page = page_of(run, at_work=True)
    assert (page.outcome, page.tone, page.sentence) == ("at work", "working", "attempt 4 is planned")
    seen = Seen(as_html(run, at_work=True))
    assert ("meta", {"http-equiv": "refresh", "content": "10"}) in seen.elements
    assert any(tag == "body" and "data-reload" in attrs for tag, attrs in seen.elements)


@pytest.mark.parametrize("at_work", [True, False])
def test_a_run_that_has_ended_is_never_reloaded(tmp_path: Path, at_work: bool) -> None:
    seen = Seen(as_html(made_run(tmp_path), at_work=at_work))
    assert not any("data-reload" in attrs or attrs.get("http-equiv") == "refresh" for _, attrs in seen.elements)


def test_a_killed_run_says_so_and_how_to_go_on(tmp_path: Path) -> None:
    page = page_of(made_run(tmp_path, ended=False))
    assert (page.outcome, page.sentence) == ("killed", "it was killed in attempt 3")
    assert [way.command for way in page.ways][:1] == [f"kotef resume {RUN}"]


def test_a_run_that_died_before_it_began_has_a_page(tmp_path: Path) -> None:
    run = made_run(tmp_path, ended=False)
    for path in run.path.iterdir():
        if path.is_file():
            path.unlink()
    page = page_of(run)
    assert (page.sentence, [way.command for way in page.ways]) == (
        "it crashed before it started",
        ["kotef run"],
    )
    assert "Nothing is on record yet." in Seen(as_html(run)).text


def test_a_torn_file_costs_itself_and_is_named(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    (run.path / "visit-2.json").write_text('{"visit": 2')
    (run.path / "visit-1.patch").write_bytes(b"diff --git \xff\x00")
    seen = Seen(as_html(run))
    assert "visit-2.json cannot be read" in seen.text
    assert "cause 2" in seen.text, "the rest of its attempt is there"
    assert [column.visit for column in page_of(run).matrix.columns] == [0, 1, 3]


@pytest.mark.parametrize("task", ["no JSON", '{"run_id": "20260131', "[]", '"schema_version": 99'])
def test_a_task_that_cannot_be_read_costs_only_what_it_alone_tells(tmp_path: Path, task: str) -> None:
    run = made_run(tmp_path)
    path = run.path / "task.json"
    path.write_text(
        path.read_text().replace(f'"schema_version": {SCHEMA_VERSION}', task) if "version" in task else task
    )
    seen = Seen(as_html(run))
    assert "task.json cannot be read" in seen.text
    assert "bounded_attempts_exceeded" in seen.text
    assert "half works passes now" in seen.text
    (run.path / "result.json").unlink()
    page = page_of(run)
    assert page.sentence == "it was killed in attempt 3"
    assert not any("resume" in way.command or "before it began" in way.why for way in page.ways)


@pytest.mark.parametrize(
    "foreign",
    [
        {"event": "model_answer", "tokens_in": None, "tokens_out": 1},
        {"event": "model_answer", "tokens_in": 1, "tokens_out": 1, "cost": "free"},
        {"event": "model_answer", "tokens_in": float("inf")},
        {"event": "model_answer", "tokens_in": 10**400},
        {"event": "tool_finished", "tool": "grep", "ok": True, "seconds": None},
        {"event": "tool_finished", "tool": "grep", "ok": True, "seconds": float("nan")},
    ],
)
def test_an_event_whose_figures_are_none_costs_itself_and_is_told(tmp_path: Path, foreign: dict) -> None:
    run = made_run(tmp_path)
    before = page_of(run)
    with run.events.open("a") as file:
        file.write(json.dumps({"n": 99, "t": 1769854600.0, "visit": 3, **foreign}) + "\n")
        file.write(json.dumps({"n": 100, "t": 1e300, "event": "nudge", "visit": 3}) + "\n")
        file.write(json.dumps({"n": 101, "event": ["nudge"]}) + "\n")
    assert "1 event cannot be read" in Seen(as_html(run)).text
    assert page_of(run).asked == before.asked


def test_model_calls_beyond_what_a_page_should_show_are_said_to_be_there(tmp_path: Path) -> None:
    run = made_run(tmp_path, attempts=1)
    with run.events.open("a") as file:
        for number in range(205):
            answer = {"event": "model_answer", "visit": 1, "tokens_in": 1, "tokens_out": 1, "node": "coder"}
            file.write(json.dumps({"n": 100 + number, "t": 1769854600.0, **answer}) + "\n")
    assert "7 more are in events.jsonl" in Seen(as_html(run)).text


def test_a_known_secret_is_in_no_part_of_the_page(tmp_path: Path) -> None:
    run = made_run(tmp_path, sentence="the key is sk-quite-secret-31415")
    log = run.path / "logs" / "visit-3-pytest_-q.log"
    log.write_text("AssertionError: assert 990 == 900 sk-quite-secret-31415\n")
    with (run.path / "visit-3.patch").open("a") as patch:
        patch.write("diff --git a/k b/k\n--- a/k\n+++ b/k\n@@ -0,0 +1 @@\n+sk-quite-secret-31415\n")
    assert as_html(run).count("sk-quite-secret-31415") >= 3
    with scope():
        know(Redactor([("MY_KEY", "sk-quite-secret-31415")]))
        page = as_html(run)
    assert "sk-quite-secret" not in page
    assert page.count("[secret:MY_KEY]") >= 3


def test_an_excerpt_stands_around_the_error_and_has_no_colours(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(100)]
    lines[50] = "\x1b[31mE   assert 1 == 2\x1b[0m"
    (tmp_path / "x.log").write_text("\n".join(lines))
    shown = excerpt(tmp_path, "x.log", ["assert 1 == 2"]).splitlines()
    assert "E   assert 1 == 2" in shown
    assert (shown[0], shown[1], shown[-1], len(shown)) == ("…", "line 30", "…", 42)
    assert excerpt(tmp_path, "x.log").splitlines()[-1] == "line 99"


def test_no_log_outside_of_the_directory_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret\n")
    run = tmp_path / "run"
    run.mkdir()
    (run / "link.log").symlink_to(tmp_path / "secret.txt")
    for log in ("../secret.txt", str(tmp_path / "secret.txt"), "link.log", "none.log", "", "a\0b"):
        assert excerpt(run, log) == ""


def test_the_hostile_name_is_in_the_matrix(tmp_path: Path) -> None:
    (row,) = (row for row in page_of(made_run(tmp_path)).matrix.rows if HOSTILE in row.name)
    assert row.trend == "new"


def test_a_patch_too_long_to_read_whole_says_that_its_figures_are_not_all(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    patch = run.path / "visit-3.patch"
    added = "".join(f"+line {number} of a long file that an attempt wrote\n" for number in range(10_000))
    patch.write_text(
        "diff --git a/long.py b/long.py\nnew file mode 100644\n--- /dev/null\n+++ b/long.py\n"
        f"@@ -0,0 +1,10000 @@\n{added}{patch.read_text()}"
    )
    text = Seen(as_html(run)).text
    assert len(patch.read_text()) > 400_000
    assert "long.py new, at least +" in text
    assert "this file, and everything after it, is complete in visit-3.patch" in text
    assert text.count("at least") == 1, "the short patches of the other attempts are counted whole"


def test_what_no_model_answered_is_no_figure_of_zero(tmp_path: Path) -> None:
    run = made_run(tmp_path, attempts=0, ended=False)
    assert "Tokens in / out – no model answered" in Seen(as_html(run)).text


def test_the_same_drift_is_told_once_with_how_often(tmp_path: Path) -> None:
    models = Seen(as_html(made_run(tmp_path))).text.partition("Prefix drift")[2]
    assert "drift ×3 the request prefix of" in models
    assert models.count("request prefix") == 1


def test_what_is_new_is_in_the_page_once_the_pause_is_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Most runs end before anybody looks: they are written once, at the end."""
    made: list[bool] = []
    copied: list[bool] = []
    now = 100.0
    monkeypatch.setattr(html, "write_page", lambda run, *, at_work: made.append(at_work))
    monkeypatch.setattr(live_page.time, "monotonic", lambda: now)
    see = live_page.keeps_page(RunDir(tmp_path, tmp_path), lambda: copied.append(True))

    see(recorded("planned"))
    assert made == []
    now += live_page.PAUSE
    see(recorded("tool_started"))
    see(recorded("tool_finished"))
    assert made == [True]
    see(recorded("verified"))
    see(recorded("run_finished"))
    assert made == [True, False]
    assert len(copied) == 2
