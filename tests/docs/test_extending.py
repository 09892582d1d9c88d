"""What docs/extending.md adds to kotef is short; that it works is held by the page's own test."""

import re

from support.documents import ROOT, blocks_of

PAGE = ROOT / "docs" / "extending.md"
MOST = 30
EXAMPLES = ("A tool", "A guard", "A check", "A coder", "A fixer")


def test_each_example_is_under_thirty_lines() -> None:
    titles = {
        number: line[3:] for number, line in enumerate(PAGE.read_text().splitlines(), 1) if line.startswith("## ")
    }
    lines = dict.fromkeys(titles.values(), 0)
    for block in blocks_of(PAGE):
        title = titles[max(number for number in titles if number < block.line)]
        if block.language == "python":
            lines[title] += sum(bool(line.strip()) for line in block.text.splitlines())
        elif block.language == "diff":
            lines[title] += len(re.findall(r"^\+.*\S", block.text, re.MULTILINE))
    assert {title: lines[title] for title in EXAMPLES if not 0 < lines[title] <= MOST} == {}
