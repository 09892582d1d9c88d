"""The HTML report as a person meets it: opened in a headless Chromium, with assertions on what is visible.

`python -m pytest -m browser`, with the extra `browser` and a Chromium: `/usr/bin/chromium`, or what CHROMIUM names.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.run_dirs import RUN, ids_of, made_run, result_of

from kotef.report.html import write_page
from kotef.runs.store import RunDir

pytestmark = pytest.mark.browser
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the extra `browser`")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"there is no Chromium at {CHROMIUM}; CHROMIUM names another")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def look(chromium: Any) -> Iterator[Any]:
    """`look(url, **context)`: the page, opened; whatever its console says, or whatever it asks for, fails the test."""
    contexts, trouble = [], []

    def go(url: str, **options: Any) -> Any:
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: trouble.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: trouble.append(request.url) if not own(request.url) else None)
        page.goto(url)
        return page

    yield go
    for context in contexts:
        context.close()
    assert trouble == []


def own(url: str) -> bool:
    """Whether it is the page itself, or stands in it."""
    return url.startswith(("data:", "about:")) or url.partition("#")[0].endswith("/report.html")


def page_at(run: RunDir) -> str:
    return write_page(run).as_uri()


def findings(page: Any) -> list[str]:
    """Serious and critical findings of axe-core, where they are."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found if one["impact"] in ("serious", "critical")
    ]


def test_three_attempts_are_seen_with_their_tests_and_what_to_do(tmp_path: Path, look) -> None:
    page = look(page_at(made_run(tmp_path)))
    assert page.locator("h1").inner_text().casefold() == "all 3 attempts failed verification"
    assert page.locator(".masthead .tag").inner_text() == "✗ bounded_attempts_exceeded"
    assert page.locator("#timeline ~ .scroll tbody tr").count() == 4
    cells = {
        row.locator("th > span").nth(1).inner_text(): "".join(row.locator("td").all_inner_texts())
        for row in page.locator("#drawn tr:not(.check)").all()
    }
    assert cells["test_number_0000"].replace("\n", "").startswith("✗✗✗✗")
    assert cells["test_number_0001"].replace("\n", "").startswith("✗✓✗✓"), "oscillation is seen in one row"
    assert page.get_by_text("back and forth").is_visible()
    assert page.locator("#attempt-3").get_attribute("open") is not None
    assert page.locator("#attempt-3").get_by_text("stopped by tool_budget").is_visible()
    assert not page.locator("#attempt-1 .plan").is_visible(), "earlier attempts are folded"
    page.locator("#attempt-1 > summary").click()
    assert page.locator("#attempt-1 .plan").is_visible()
    assert page.get_by_text(f"kotef resume {RUN} --max-attempts 5").is_visible()
    assert page.evaluate("window.hit") is None, "a hostile name did not run"
    assert findings(page) == []


def test_before_and_after_stand_side_by_side(tmp_path: Path, look) -> None:
    page = look(page_at(made_run(tmp_path)), viewport={"width": 1280, "height": 900})
    diff = page.locator("#attempt-3 .diff").first
    old, new = diff.locator(".old").first.bounding_box(), diff.locator(".fresh").first.bounding_box()
    assert abs(old["y"] - new["y"]) < 2
    assert old["x"] + old["width"] <= new["x"]
    assert abs(old["width"] - new["width"]) < 40


def test_twenty_attempts_and_five_thousand_tests_open_within_a_second(tmp_path: Path, look) -> None:
    run = made_run(tmp_path, attempts=20, tests=5000)
    path = write_page(run)
    page = look("about:blank")
    measured = page.context.new_cdp_session(page)
    # seconds of the page's own thread: how long it waits for a processor says something about the machine alone
    measured.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    page.locator("#drawn").is_visible()
    took = {one["name"]: one["value"] for one in measured.send("Performance.getMetrics")["metrics"]}
    assert 0 < took["TaskDuration"] < 1, took
    assert path.stat().st_size < 3_000_000
    assert page.locator("#timeline ~ .scroll tbody tr").count() == 21
    assert page.locator("#drawn tr").count() < 100, "what never changed is not drawn"
    page.locator("#more").click()
    assert page.locator("#later tr").count() == 200
    page.locator("#filter").fill("number_4999")
    assert page.locator("#found").inner_text() == "1 found"
    assert page.locator("#later tr").inner_text().startswith(ids_of(5000)[-1])
    page.locator("#filter").fill("")
    assert page.locator("#later tr").count() == 200
    assert findings(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_readable_light_and_dark_wide_and_on_a_phone(tmp_path: Path, look, scheme: str, width: int) -> None:
    page = look(page_at(made_run(tmp_path, tests=80)), color_scheme=scheme, viewport={"width": width, "height": 844})
    page.locator("#all").evaluate("button => button.click()")
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out"
    assert findings(page) == []


def test_a_keyboard_is_enough(tmp_path: Path, look) -> None:
    page = look(page_at(made_run(tmp_path)))
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.parentElement.id") == "attempt-1"
    assert page.locator("#attempt-1").get_attribute("open") is not None
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.parentElement.id") == "attempt-0"
    page.keyboard.press("/")
    page.keyboard.type("0003")
    assert page.locator("#drawn tr:visible").count() == 1
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    assert page.locator("details:not([open])").count() == 0


def test_without_scripts_the_rows_that_matter_and_every_fold_are_there(tmp_path: Path, look) -> None:
    page = look(page_at(made_run(tmp_path, tests=80)), java_script_enabled=False)
    assert page.locator("#drawn").get_by_text("test_number_0001").is_visible()
    assert not page.locator("#more").is_visible()
    page.locator("#attempt-1 > summary").click()
    assert page.locator("#attempt-1 .plan").is_visible()


def test_it_prints_with_every_fold_open(tmp_path: Path, look) -> None:
    page = look(page_at(made_run(tmp_path)))
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#attempt-1 .diff").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert not page.locator("#attempt-1 .plan").is_visible()
    assert len(page.pdf()) > 20_000


def test_a_link_to_a_folded_attempt_opens_it(tmp_path: Path, look) -> None:
    page = look(page_at(made_run(tmp_path)))
    page.locator("#matrix thead a").nth(1).click()
    page.wait_for_selector("#attempt-1[open]")


def test_while_the_run_is_at_work_it_reloads_keeps_its_place_and_stops_at_the_end(tmp_path: Path, look) -> None:
    run = made_run(tmp_path, ended=False)
    page = look(write_page(run, at_work=True).as_uri())
    page.locator("#attempt-1 > summary").click()
    page.evaluate("scrollTo(0, 300)")
    run.write_result(result_of(3))
    write_page(run)
    page.wait_for_selector("body:not([data-reload])", timeout=30_000)
    assert page.locator(".masthead .tag").inner_text() == "✗ bounded_attempts_exceeded"
    assert page.locator("#attempt-1").get_attribute("open") is not None
    assert page.evaluate("scrollY") > 200, "it stays where one reads"
