"""The question that a person must answer before an edit that passes counts as the repair."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from kotef.repair.phrase import choice_of
from kotef.repair.types import Patch, SearchResult

_ANSWERS: Final = 4
"""Edits a person is asked to choose among where nothing distinguishes them."""


@dataclass(frozen=True, slots=True)
class RepairQuestion:
    """One question, and which patches each answer leaves."""

    text: str
    about: str
    """What an answer says something of: `price(n=2, fee=3)`."""
    options: Mapping[str, tuple[Patch, ...]]
    """Answer → patches that agree with it, best first."""
    refusal: str
    """What is said by choosing none: `price(n=2, fee=3) is neither 5 nor 6`."""
    rivals: tuple[str, ...] = ()
    """One line per answer, with the best edit that gives it."""


def question_of(found: SearchResult) -> RepairQuestion | None:
    """Where passing edits disagree first, or whether an edit is meant that is rarely right; None when neither is open.

    Source of the rule: passing edits that disagree on an input cannot all be right, and only the specification, which
    is a person's, says which is.
    """
    if found.disagreements:
        first = found.disagreements[0]
        before = first.where or first.given
        about = f"{before}, {first.call}" if before else first.call
        options: dict[str, tuple[Patch, ...]] = {}
        for patch, answer in zip(found.patches, first.results, strict=False):
            options[answer] = (*options.get(answer, ()), patch)
        question = f"{f'{before}, ' if before else ''}should {first.call} {choice_of(list(options), first.verb)}?"
        refusal = f"{about} is neither {' nor '.join(options)}"
        rivals = tuple(f"{answer}: {patches[0].rationale}" for answer, patches in options.items())
        return RepairQuestion(
            f"several edits pass every test, but disagree: {question}", about, options, refusal, rivals
        )
    if found.close > 1 and not found.compared:
        close = found.patches[: min(found.close, _ANSWERS)]
        options = {patch.rationale: (patch,) for patch in close}
        text = f"several edits pass every test and could not be compared: {'; or '.join(options)}; which is intended?"
        return RepairQuestion(text, "what is intended", options, "none of the edits is intended", tuple(options))
    if found.patches and found.patches[0].doubt:
        best = found.patches[0]
        text = f"only an unlikely edit passes every test ({best.doubt}): {best.rationale}; is this what is intended?"
        refusal = f"the edit {best.rationale} is not what is intended"
        return RepairQuestion(text, "what is intended", {"this edit": found.patches}, refusal)
    return None


def narrowed(found: SearchResult, answer: str) -> SearchResult:
    """What is left once a person has answered the first disagreement; patches that say otherwise are gone."""
    first, *others = found.disagreements
    kept = [number for number, result in enumerate(first.results) if result == answer]
    open_still = []
    for other in others:
        results = tuple(other.results[number] for number in kept)
        if len(set(results)) > 1:
            open_still.append(replace(other, results=results))
    patches = tuple(found.patches[number] for number in kept if number < len(found.patches))
    return replace(found, patches=patches, compared=len(patches), disagreements=tuple(open_still))
