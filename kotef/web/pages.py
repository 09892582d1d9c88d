"""The text of a web page."""

import re
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urljoin

_UNSEEN: Final = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "title"})
_BLOCKS: Final = frozenset(
    {"address", "article", "aside", "blockquote", "br", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption"}
    | {"figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p"}
    | {"pre", "section", "summary", "table", "tbody", "thead", "tr", "ul"}
)
_PREFIX: Final = {"li": "- ", **{f"h{level}": f"{'#' * level} " for level in range(1, 7)}}
_CELLS: Final = frozenset({"td", "th"})


def text_of(html: str, *, base: str = "") -> str:
    """The visible text of a page, one paragraph a line; headings, list items and links are marked as in Markdown.

    Links are made whole with `base`. Any input gives a text, that of a broken page what could be read of it.
    """
    page = _TextCollector(base)
    page.feed(html)
    page.close()
    return page.text()


def title_of(html: str) -> str:
    """The title of a page on one line; empty when it has none."""
    found = re.search(r"<title\b[^>]{0,200}>([^<]{0,1000})", html[:100_000], re.IGNORECASE)
    return " ".join(text_of(found[1]).split()) if found else ""


class _TextCollector(HTMLParser):
    """Collects text; entities are resolved by the parser."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base = base
        self._parts: list[str] = []
        self._unseen = 0
        self._as_it_is = 0
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A block begins a line; a link remembers where it leads."""
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in _BLOCKS:
            self._parts.append(f"\n{_PREFIX.get(tag, '')}")
            self._as_it_is += tag == "pre"
        elif tag in _CELLS:
            self._parts.append(" | ")
        elif tag == "a":
            self._links.append(self._whole(dict(attrs).get("href") or ""))
            self._parts.append("[" if self._links[-1] else "")
        elif tag == "img" and (words := dict(attrs).get("alt")):
            self.handle_data(words)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """`<br/>`; what HTML does not let be empty, as `<script/>`, is no end to a browser either."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """A block ends its line."""
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in _BLOCKS:
            self._parts.append("\n")
            self._as_it_is = max(0, self._as_it_is - (tag == "pre"))
        elif tag == "a" and self._links and (target := self._links.pop()):
            self._parts.append(f"]({target})")

    def handle_data(self, data: str) -> None:
        """Text; outside of `pre` spaces and line breaks are one space."""
        if not self._unseen:
            self._parts.append(data if self._as_it_is else re.sub(r"\s+", " ", data))

    def text(self) -> str:
        """Everything read, without empty links and with one empty line at most between two others."""
        lines = [line.rstrip() for line in "".join(self._parts).replace("[]", "").split("\n")]
        kept = [line if line.strip("-# ") else "" for line in lines]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()

    def _whole(self, target: str) -> str:
        """Where a link leads; empty for one within the page, and for what is not a page."""
        if not target or target.startswith("#"):
            return ""
        try:
            whole = urljoin(self._base, target.strip())
        except ValueError:
            return ""
        return whole if whole.startswith(("http://", "https://")) and not re.search(r"[\s()]", whole) else ""
