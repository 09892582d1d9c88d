"""Whatever is cut from a conversation, what is sent is one."""

from hypothesis import given
from hypothesis import strategies as st

from kotef.context.compaction import (
    KEPT,
    STUB,
    Cut,
    Piece,
    cheaper,
    coverable,
    last_resort,
    last_turns,
    size_of,
    summed_up,
    view,
)

SIZES = st.integers(0, 20_000)


@st.composite
def conversations(draw: st.DrawFn) -> list[Piece]:
    """The task, then turns: an answer, its results, now and then a word of the user's side."""
    pieces = [Piece("asked", draw(SIZES))]
    for _ in range(draw(st.integers(0, 8))):
        pieces.append(Piece("said", draw(st.integers(0, 500))))
        pieces += [Piece("result", draw(SIZES)) for _ in range(draw(st.integers(0, 3)))]
        if draw(st.booleans()) and draw(st.booleans()):
            pieces.append(Piece("asked", 50))
    return pieces


@st.composite
def cuts(draw: st.DrawFn, pieces: list[Piece]) -> Cut:
    """Any cut that a history of steps can lead to."""
    cut = Cut()
    for room in draw(st.lists(st.integers(0, 30_000), max_size=4)):
        match draw(st.integers(0, 2)):
            case 0:
                cut = cheaper(pieces, cut, goal=draw(st.integers(0, 40_000)), room=room) or cut
            case 1:
                cut = summed_up(cut, coverable(pieces, cut, room=room), draw(st.sampled_from(["", "so far"])))
            case _:
                cut = last_resort(pieces, cut)
    return cut


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Piece], Cut]:
    pieces = draw(conversations())
    return pieces, draw(cuts(pieces))


@given(cases())
def test_calls_and_results_stay_together_and_the_task_stays_first(case: tuple[list[Piece], Cut]) -> None:
    pieces, cut = case
    shown = [part.at for part in view(pieces, cut)]
    assert shown[0] == 0
    rest = shown[1:]
    assert rest == list(range(len(pieces) - len(rest), len(pieces))), "what is left is the end, without a gap"
    if rest:
        assert pieces[rest[0]].kind == "said", "no result without its call"


@given(cases())
def test_only_results_are_shortened_and_only_before_the_mark(case: tuple[list[Piece], Cut]) -> None:
    pieces, cut = case
    for at, how in view(pieces, cut):
        if how != "whole":
            assert pieces[at].kind == "result"
            assert at < cut.upto
            assert pieces[at].size > (STUB if how == "stub" else KEPT)


@given(cases(), st.integers(0, 40_000), st.integers(0, 30_000))
def test_a_tier_reaches_its_goal_or_is_not_taken(case: tuple[list[Piece], Cut], goal: int, room: int) -> None:
    pieces, cut = case
    made = cheaper(pieces, cut, goal=goal, room=room)
    if made is not None:
        assert size_of(pieces, made) <= goal
        assert (made.tier, made.upto) >= (cut.tier, cut.upto)
        assert cheaper(pieces, made, goal=goal, room=room) == made, "doing it again changes nothing"


@given(cases(), st.integers(0, 30_000))
def test_each_step_only_takes_away(case: tuple[list[Piece], Cut], room: int) -> None:
    pieces, cut = case
    covered = coverable(pieces, cut, room=room)
    assert covered >= cut.covered
    summed = summed_up(cut, covered, "")
    assert {part.at for part in view(pieces, summed)} <= {part.at for part in view(pieces, cut)}
    assert size_of(pieces, last_resort(pieces, cut)) <= size_of(pieces, cut)


@given(conversations(), st.integers(0, 30_000))
def test_the_last_turns_fit_or_are_one(pieces: list[Piece], room: int) -> None:
    start = last_turns(pieces, room)
    turns = [at for at in range(1, len(pieces)) if pieces[at].kind == "said"]
    assert start in turns or (start == len(pieces) and not turns)
    if turns and start != turns[-1]:
        assert sum(piece.size for piece in pieces[start:]) <= room


@given(cases(), conversations())
def test_a_cut_means_the_same_when_the_conversation_has_grown(case: tuple[list[Piece], Cut], more: list[Piece]) -> None:
    """So every request between two cuts begins as the one before it."""
    pieces, cut = case
    grown = [*pieces, *more[1:]]
    assert view(grown, cut)[: len(view(pieces, cut))] == view(pieces, cut)
