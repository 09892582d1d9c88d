"""How recorded search/replace blocks land: applied as their authors committed them, refused with help, or corrupted.

    python benchmarks/edits.py FOLDER [--half tuned|held] [--show CLASS] [--json]

FOLDER holds clones of public repositories, bare or not, each with its `.aider.chat.history.md` in some commit
(benchmarks/edits.toml lists those the figures in the documentation come from). The text before an edit is that of the
commit's parent, the true result that of the commit itself. The cases are halved by the hash of their commits:
steps and bars were chosen on the half `tuned`; what failed of `held` was looked at once, before the set was enlarged.

Each exact block is also tried with one slip of each kind made in its search (`slips`), and against the text from which
its own place was taken away (`absent`): there every edit but a refusal is a corruption.
"""

import argparse
import difflib
import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from chat_histories import Block, Reply, longest_history, replies, text_at

from kotef.tools.block_match import NOTES
from kotef.tools.edit import Replacement, edit_file
from kotef.tools.errors import ToolFault
from kotef.tools.guard import EditGuard

Half = Literal["tuned", "held"]
RETRIES = 3
"""Replies after a failed block among which its second try is looked for."""
IN_FILE = 0.5
"""Share of the searched characters that must stand in whole lines where the true edit is."""
SAME_INTENT = 0.9
"""How alike the new lines of a second try must be to those of the first to be the same edit."""


@dataclass(frozen=True)
class Case:
    """One block with the text it was meant for and, where it is known, the true result."""

    where: str
    """Repository, commit and path."""
    block: Block
    before: str
    exact: int
    """How often the search stands in the text."""
    after: str | None
    """None: what was meant is not in the record."""
    turn: tuple[tuple[Block, ...], str, str] | None = None
    """All blocks of the reply for this file, the text before them and after; None where one did not match."""


@dataclass(frozen=True)
class Verdict:
    """What the tool made of a case."""

    case: Case
    kind: Literal["as committed", "refused", "refused: syntax", "refused: ambiguous", "refused: no help", "differs"]
    step: str
    words: str
    after: str | None = None


def half_of(case: Case) -> Half:
    commit = case.where.split()[1]
    return "held" if hashlib.sha256(commit.encode()).digest()[0] & 1 else "tuned"


def _restyled(lines: list[str], old: str, new: str) -> list[str]:
    return [line.replace(old, new) for line in lines]


def _stale(lines: list[str]) -> list[str]:
    at = max(range(len(lines)), key=lambda nth: len(lines[nth].strip()))
    words = lines[at].split(" ")
    words[len(words) // 2] += "_old"
    return [*lines[:at], " ".join(words), *lines[at + 1 :]]


def _margin(lines: list[str]) -> int:
    return min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)


def _outdented(lines: list[str]) -> list[str]:
    margin = _margin(lines)
    return [line[margin:] if line.strip() else line for line in lines]


SLIPS: dict[str, Callable[[list[str]], list[str]]] = {
    "blanks at line ends": lambda lines: [f"{line}  " for line in lines],
    "empty line before": lambda lines: ["", *lines],
    "indented more": lambda lines: [f"    {line}" if line.strip() else line for line in lines],
    "outdented": _outdented,
    "tabs for spaces": lambda lines: _restyled(lines, "    ", "\t"),
    "typographic quotes": lambda lines: _restyled(_restyled(lines, "'", "’"), '"', "”"),
    "one line left out": lambda lines: [*lines[: len(lines) // 2], *lines[len(lines) // 2 + 1 :]],
    "one stale line": _stale,
}
IN_BOTH = frozenset({"indented more", "outdented", "tabs for spaces", "typographic quotes"})
"""Slips that a model makes in the replacement as well."""


def slipped(case: Case) -> Iterator[tuple[str, Case]]:
    """The case with each kind of slip, where that changes its search."""
    margins = [_margin(text.split("\n")) for text in (case.block.search, case.block.replace)]
    for name, slip in SLIPS.items():
        if name == "outdented" and margins[1] < margins[0]:
            continue
        search = _joined_again(slip, case.block.search)
        put = _joined_again(slip, case.block.replace) if name in IN_BOTH else case.block.replace
        if search not in case.before and search != put:
            yield name, Case(case.where, Block(case.block.path, search, put), case.before, 0, case.after)


def _joined_again(slip: Callable[[list[str]], list[str]], text: str) -> str:
    return "".join(f"{line}\n" for line in slip(text.removesuffix("\n").split("\n"))) if text else text


def absent(case: Case) -> Case | None:
    """The case with a text that has lost the place of the block; None where it stands elsewhere, if only indented."""
    without = case.before.replace(case.block.search, "")
    return None if places_of(case.block, without) else Case(case.where, case.block, without, 0, None)


def places_of(block: Block, text: str) -> int:
    """How often the lines of the search stand in the text, whatever their indentation."""
    wanted = [line.strip() for line in block.search.strip().split("\n")]
    lines = [line.strip() for line in text.split("\n")]
    return sum(lines[at : at + len(wanted)] == wanted for at in range(len(lines) - len(wanted) + 1))


def applied(blocks: Sequence[Block], text: str) -> tuple[str | None, str]:
    """What edit_file makes of the text, and what it tells the model; None when it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, PurePosixPath(blocks[0].path).name)
        path.write_bytes(text.encode())
        edits = [Replacement(search=block.search, replace=block.replace) for block in blocks]
        try:
            report = edit_file(path.parent, path.name, edits, guard=EditGuard(frozenset())).report
        except ToolFault as fault:
            return None, fault.message
        return path.read_text("utf-8"), report


def same(one: str | None, other: str | None) -> bool:
    """Whether two texts are equal but for blanks at the ends of lines and of the text."""
    return one is not None and other is not None and _trimmed(one) == _trimmed(other)


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]


def reference(block: Block, text: str) -> str | None:
    """The text after a block whose lines are in it exactly, the first place winning; None when they are not."""
    text = text if text.endswith("\n") else text + "\n"
    at = f"\n{text}".find(f"\n{block.search}")
    return text[:at] + block.replace + text[at + len(block.search) :] if at >= 0 else None


def cases(repository: Path, history: str) -> Iterator[Case]:
    """The cases of a repository, each block once."""
    found = list(replies(history))
    seen: set[tuple[str, Block]] = set()
    for at, reply in enumerate(found):
        for case in [*_committed(repository, reply), *_retried(repository, found, at)]:
            if (case.before, case.block) not in seen:
                seen.add((case.before, case.block))
                yield case


def _committed(repository: Path, reply: Reply) -> Iterator[Case]:
    """Blocks that the recorded program applied, with what it committed."""
    paths = {block.path for block in reply.blocks}
    for commit in reply.commits:
        for path in sorted(paths):
            before, after = text_at(repository, f"{commit}^", path), text_at(repository, commit, path)
            if before is None or after is None or before == after:
                continue
            blocks = [block for block in reply.blocks if block.path == path and not reply.is_failed(block)]
            blocks = [block for block in blocks if block.search.strip() and block.search != block.replace]
            yield from _chain(f"{repository.name} {commit} {path}", blocks, _plain(before), _plain(after))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _chain(where: str, blocks: Sequence[Block], before: str, after: str) -> Iterator[Case]:
    text = before
    inexact: list[Block] = []
    exact: list[Case] = []
    for block in blocks:
        edited = reference(block, text)
        if edited is None:
            inexact.append(block)
            continue
        exact.append(Case(where, block, text, text.count(block.search), edited))
        text = edited
    turn = None if inexact else (tuple(blocks), before, text)
    yield from (replace(case, turn=turn) for case in exact)
    for block in inexact:
        at = _region(block, text, after)
        if at is None:
            continue
        low, high, was = at
        lines = after.split("\n")
        alone = "\n".join([*lines[:low], *was, *lines[high:]])
        if alone != after and is_there(block, was):
            yield Case(where, block, alone, 0, after)


def is_there(block: Block, lines: Sequence[str]) -> bool:
    """Whether most of the search is among these lines, in order: else its text is not in the file at all."""
    wanted = [line.strip() for line in block.search.split("\n")]
    matcher = difflib.SequenceMatcher(None, wanted, [line.strip() for line in lines], autojunk=False)
    there = sum(len(line) for at, _, size in matcher.get_matching_blocks() for line in wanted[at : at + size])
    return there >= IN_FILE * sum(map(len, wanted))


def _region(block: Block, text: str, after: str) -> tuple[int, int, list[str]] | None:
    """The lines of `after` that are the block's replacement, and the lines of `text` they stand for."""
    lines, old = after.split("\n"), text.split("\n")
    new = [line.strip() for line in block.replace.rstrip("\n").split("\n")]
    bare = [line.strip() for line in lines]
    places = [at for at in range(len(lines) - len(new) + 1) if bare[at : at + len(new)] == new]
    if len(places) != 1 or not any(new):
        return None
    low, high = places[0], places[0] + len(new)
    was: list[str] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, lines, autojunk=False).get_opcodes():
        if j2 < low or j1 > high or (tag == "equal" and (j2 == low or j1 == high)):
            continue
        if tag == "equal":
            was += old[i1 + max(low - j1, 0) : i1 + min(j2, high) - j1]
        elif low <= j1 and j2 <= high:
            was += old[i1:i2]
        else:
            return None  # another edit touches this one
    return low, high, was


def _retried(repository: Path, found: Sequence[Reply], at: int) -> Iterator[Case]:
    """Blocks that did not match, with what a second try, which did, made of the same text."""
    reply = found[at]
    for block in reply.blocks:
        if not reply.is_failed(block):
            continue
        for later in found[at + 1 : at + 1 + RETRIES]:
            case = _second_try(repository, block, later)
            if case:
                yield case
                break


def _second_try(repository: Path, block: Block, later: Reply) -> Case | None:
    for commit in later.commits:
        before = text_at(repository, f"{commit}^", block.path)
        if before is None or block.search in before:
            continue
        before = _plain(before)
        for other in later.blocks:
            if other.path != block.path or later.is_failed(other) or not _same_intent(block, other):
                continue
            edited = reference(other, before) if other.search.strip() else None
            if edited is None or edited == before:
                continue
            low = before[: before.find(other.search)].count("\n")
            size = max(block.search.count("\n"), other.search.count("\n"))
            if is_there(block, before.split("\n")[max(low - size, 0) : low + 2 * size]):
                return Case(f"{repository.name} {commit} {block.path} (retry)", block, before, 0, edited)
    return None


def _same_intent(one: Block, other: Block) -> bool:
    ours, theirs = _added(one), _added(other)
    return bool(ours or theirs) and difflib.SequenceMatcher(None, ours, theirs, autojunk=False).ratio() >= SAME_INTENT


def _added(block: Block) -> list[str]:
    old = Counter(line.strip() for line in block.search.split("\n"))
    return [line.strip() for line in block.replace.split("\n") if line.strip() and not old[line.strip()]]


def judged(case: Case) -> Verdict:
    result, words = applied([case.block], case.before)
    if result is None and case.turn and _refusal(words) == "refused: syntax":
        blocks, before, after = case.turn
        together, _ = applied(blocks, before)
        if together is not None:
            return Verdict(case, "as committed" if same(together, after) else "differs", "exact", words, together)
    if result is None:
        return Verdict(case, _refusal(words), "", words)
    note = next((line for line in words.split("\n") if line.startswith("edit 1: matched")), "")
    step = next((step for step, words in NOTES.items() if words and note.endswith(words)), "exact")
    return Verdict(case, "as committed" if same(result, case.after) else "differs", step, words, result)


def _refusal(words: str) -> Literal["refused", "refused: syntax", "refused: ambiguous", "refused: no help"]:
    if "syntax" in words:
        return "refused: syntax"
    if "times (lines" in words:
        return "refused: ambiguous"
    return "refused: no help" if "nor anything like it" in words else "refused"


def table(title: str, verdicts: Sequence[Verdict]) -> str:
    counts = Counter(verdict.kind for verdict in verdicts)
    total = len(verdicts) or 1
    rows = [f"  {count:5}  {100 * count / total:5.1f} %  {kind}" for kind, count in counts.most_common()]
    return "\n".join([f"{title}: {len(verdicts)}", *rows])


def shown(verdict: Verdict) -> str:
    case = verdict.case
    difference = difflib.unified_diff(
        (case.after or "").split("\n"), (verdict.after or case.before).split("\n"), "committed", "ours", lineterm=""
    )
    return "\n".join(
        [
            f"=== {verdict.kind} ({verdict.step}) {case.where}",
            f"<<<\n{case.block.search}===\n{case.block.replace}>>>",
            verdict.words,
            *list(difference)[:60],
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("tuned", "held"), action="append", help="these only")
    parser.add_argument("--show", help="print the cases whose verdict begins so")
    parser.add_argument(
        "--slips", type=int, metavar="N", help="every Nth exact block also with slips, and against a text without it"
    )
    parser.add_argument("--list", action="store_true", help="print the repositories as entries of the manifest")
    options = parser.parse_args()
    found: dict[Half, list[Case]] = {"tuned": [], "held": []}
    for repository in sorted(options.folder.iterdir()):
        history = longest_history(repository)
        these = list(cases(repository, history[2])) if history else []
        for case in these:
            found[half_of(case)].append(case)
        if options.list and history and these:
            print(entry(repository.name, history[0], history[1], len(these)))
    for half in options.half or found:
        print(f"## {half}")
        report(found[half], show=options.show, slips=options.slips)


def entry(name: str, commit: str, path: str, count: int) -> str:
    """One repository in the manifest."""
    source = f"https://github.com/{name.replace('+', '/', 1)}"
    return f'[[history]]\nsource = "{source}"\ncommit = "{commit}"\npath = "{path}"\nblocks = {count}\n'


def report(these: Sequence[Case], *, show: str | None, slips: int) -> None:
    verdicts = [judged(case) for case in these]
    exact = [each for each in verdicts if each.case.exact == 1]
    others = [each for each in verdicts if each.case.exact == 0]
    several = [each for each in others if places_of(each.case.block, each.case.before) > 1]
    inexact = [each for each in others if each not in several]
    print(table("exact, one place", exact))
    print(table("exact, several places", [each for each in verdicts if each.case.exact > 1]))
    print(table("inexact, several places", several))
    print(table("inexact, intended text in the file", inexact))
    steps = Counter(each.step for each in inexact if each.kind == "as committed")
    print("\n".join(f"         {count:5}  {step}" for step, count in steps.most_common()))
    if slips:
        right = [each for each in exact if each.kind == "as committed"][::slips]
        made = [(name, judged(case)) for each in right for name, case in slipped(each.case)]
        for name in SLIPS:
            print(table(f"slip: {name}", [verdict for kind, verdict in made if kind == name]))
        gone = [judged(case) for each in right if (case := absent(each.case))]
        print(table("absent (anything but a refusal is a corruption)", gone))
        verdicts += [verdict for _, verdict in made] + gone
    for verdict in verdicts:
        if show and verdict.kind.startswith(show):
            print(shown(verdict))


if __name__ == "__main__":
    main()
