"""Every block of the README and of docs/ does what the page says it does; `support.documents` says how.

RENEW=1 python -m pytest tests/docs writes tests/docs/not_run.txt anew.
"""

import os
import re
from pathlib import Path

import pytest
import yaml
from support.documents import HOW, ROOT, Block, Session, blocks_of, not_run, pages, played

from kotef.errors import SpecError

NOT_RUN = Path(__file__).parent / "not_run.txt"
PAGES = pages()


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.docs
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_does_all_it_says(page: Path, tmp_path: Path) -> None:
    play(page, tmp_path, "docs")


def play(page: Path, tmp_path: Path, *markers: str) -> None:
    blocks = [block for block in blocks_of(page) if played(block, *markers)]
    session = Session(tmp_path / "you") if blocks else None
    try:
        for block in blocks:
            assert session
            session.play(block)
    finally:
        if session:
            session.leave()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_has_a_language_that_says_how_it_is_tried(page: Path) -> None:
    unknown = [f"{block.where}: {block.language!r}" for block in blocks_of(page) if block.language not in HOW]
    assert not [one for one in unknown if one], f"mark it `<!-- not run: REASON -->` or name one of {sorted(HOW)}"


def test_what_is_not_run_is_known_with_its_reason() -> None:
    found = "".join(f"{line}\n" for page in PAGES for line in not_run(blocks_of(page)))
    if os.environ.get("RENEW"):
        NOT_RUN.write_text(found)
    assert found == NOT_RUN.read_text(), "if that was meant: RENEW=1 python -m pytest tests/docs"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text):
        file, _, part = target.partition("#")
        if "://" in target:
            continue
        place = (page.parent / file) if file else page
        assert place.exists(), f"{name(page)}: {target}"
        if part:
            headings = re.findall(r"^#+ (.+)$", place.read_text(), re.MULTILINE)
            assert part in {re.sub(r"[^\w -]", "", one).strip().lower().replace(" ", "-") for one in headings}, target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_file_of_ours_that_it_names_is_there(page: Path) -> None:
    made = {block.told["file"] for block in blocks_of(page) if "file" in block.told}
    # `kotef/TICKET-SLUG` is a branch
    ours = r"`((?!kotef/[A-Z])(?:kotef|tests|docs|prompts|examples|benchmarks|\.ci)/[\w./-]+)`"
    named = set(re.findall(ours, page.read_text())) - made
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_every_page_of_docs_is_in_its_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    missing = [page.name for page in PAGES if page.parent == ROOT / "docs" and page.name != "README.md"
               and f"({page.name})" not in index]  # fmt: skip
    assert not missing


class TestTheRunnerItself:
    """A runner that lets everything pass would hold nothing."""

    @pytest.fixture
    def session(self, tmp_path: Path) -> Session:
        return Session(tmp_path / "you")

    @staticmethod
    def block(language: str, text: str, **told: str) -> Block:
        return Block("page.md", 1, language, text, told)

    @pytest.mark.parametrize(
        ("language", "text"),
        [
            ("bash", "false\n"),
            ("console", "$ echo one\ntwo\n"),
            ("console", "$ echo one\n"),
            ("python", "assert 1 == 2\n"),
            ("toml", "a = \n"),
            ("json", "{"),
            ("yaml", "a: [\n"),
            ("mermaid", "graph TD;\n"),
            ("markdown", "# Ticket: 07\n"),
        ],
    )
    def test_what_is_not_so_is_found(self, session: Session, language: str, text: str) -> None:
        with pytest.raises((AssertionError, ValueError, yaml.YAMLError)):
            session.play(self.block(language, text))

    def test_output_is_compared_but_for_what_differs_at_each_run(self, session: Session) -> None:
        session.play(self.block("bash", "echo run 20261122-071949-5cc2 took 3.1 s; echo in $PWD; echo; echo end\n"))
        session.play(self.block("text", "run 20260101-000000-0000 took 12.9 s\n…\nend\n"))
        with pytest.raises(AssertionError, match="printed is"):
            session.play(self.block("text", "run 20260101-000000-0000 took 12.9 s\nend\n"))

    def test_directory_and_variables_stay_and_a_file_is_written(self, session: Session) -> None:
        session.play(self.block("bash", "export NAME=x\ncd shop\n"))
        session.play(self.block("toml", "[models.a]\nwindow = 4096\n", file="~/.config/kotef/config.toml"))
        session.play(
            self.block("console", "$ echo $NAME $(basename $PWD)\nx shop\n$ test -s ~/.config/kotef/config.toml\n")
        )
        with pytest.raises(SpecError, match="windows"):
            session.play(self.block("toml", "[models.a]\nwindows = 1\n", file="~/.config/kotef/config.toml"))

    def test_a_change_must_fit_once(self, session: Session) -> None:
        session.play(
            self.block("diff", "-        return total // 100\n+        return total // 10\n", file="shop/cart.py")
        )
        session.play(self.block("bash", "grep -q 'total // 10$' shop/cart.py\n"))
        with pytest.raises(AssertionError, match="not once"):
            session.play(self.block("diff", "-no such line\n+another\n", file="shop/cart.py"))

    def test_what_a_reader_has_is_typed_before(self, session: Session) -> None:
        session.play(self.block("console", "$ echo $TICKET\n01\n", before="export TICKET=01"))
        with pytest.raises(AssertionError, match="before it"):
            session.play(self.block("bash", "true\n", before="false"))

    def test_another_exit_status_must_be_told(self, session: Session) -> None:
        session.play(self.block("bash", "exit 3\n", exits="3"))
        with pytest.raises(AssertionError):
            session.play(self.block("bash", "true\n", exits="3"))

    def test_a_directive_before_no_block_is_found(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("support.documents.ROOT", tmp_path)
        page = tmp_path / "page.md"
        page.write_text("<!-- not run: it is far -->\nwords\n```bash\ntrue\n```\n")
        with pytest.raises(AssertionError, match="right before a block"):
            blocks_of(page)
