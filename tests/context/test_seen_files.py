"""The ledger of files says what the tools said, in one order."""

from hypothesis import given
from hypothesis import strategies as st

from kotef.context.seen_files import MAX_LISTED, Files, Known, Modified, Touched, files_of, names_in

PATHS = st.sampled_from(["a.py", "b/c.py", "d.txt", "e f.md"])
STATES = st.dictionaries(PATHS, st.sampled_from(["1" * 64, "2" * 64, "missing"]), max_size=3)
TOUCHES = st.builds(
    Touched,
    tool=st.sampled_from(["find_files", "view_file", "edit_file"]),
    result=st.lists(PATHS).map("\n".join),
    read=STATES,
    wrote=st.just({}),
)


@given(st.lists(TOUCHES), st.randoms())
def test_the_order_of_looking_does_not_matter(calls: list[Touched], random) -> None:
    files = files_of(calls)
    random.shuffle(calls)
    assert files_of(calls) == files
    assert list(files.read) == sorted(set(files.read))
    assert not {*files.read} & {*files.listed}


@given(st.lists(TOUCHES), st.lists(TOUCHES))
def test_merging_is_reading_on(one: list[Touched], other: list[Touched]) -> None:
    assert files_of(one).merged(files_of(other)) == files_of([*one, *other])
    assert files_of(one).merged(files_of(one)) == files_of(one)
    assert Files().merged(files_of(one)) == files_of(one)


def test_what_was_modified_last_counts() -> None:
    twice = [Touched("edit_file", "", {}, {"a.py": state}) for state in ("old", "new")]
    assert files_of(twice).modified == (Modified(path="a.py", sha256="new"),)


def test_names_are_read_from_what_the_listing_tools_say() -> None:
    assert names_in("find_files", "a.py\nb/c d.py\n[3 more; narrow the glob or the path]") == {"a.py", "b/c d.py"}
    assert names_in("find_files", "no file matches *.rs in src") == set()
    assert names_in("grep", "a.py:3: x = 1: 2\nb/c.py:10: y\n[more than 100 hits]") == {"a.py", "b/c.py"}
    assert names_in("grep", "no line matches x in .") == set()
    assert names_in("list_dir", "src: 3 entries\nmain.py\nlib/\nlink@\n[1 not listed: .git]") == {"src/main.py"}
    assert names_in("list_dir", ".: 1 entries\nsetup.py") == {"setup.py"}
    assert names_in("view_file", "a.py:1: no") == set()


@given(st.sampled_from(["find_files", "grep", "list_dir"]), st.text())
def test_any_text_can_be_read(tool: str, text: str) -> None:
    assert all(name for name in names_in(tool, text))


def test_a_flood_of_names_is_bounded() -> None:
    flood = [Touched("find_files", "\n".join(f"f{n}" for n in range(1000)), {}, {})]
    assert len(files_of(flood).listed) == MAX_LISTED


def test_a_file_may_be_edited_in_the_states_that_were_seen() -> None:
    known = Known()
    assert "not read" in known.objection("a", "1")
    assert known.objection("new", "missing") == "", "a new file needs no reading"
    known.learn({"a": "1"})
    assert known.objection("a", "1") == ""
    assert "has changed since" in known.objection("a", "2")
    known.learn({"a": "2"})
    assert known.objection("a", "2") == known.objection("a", "1") == "", "both were seen"
