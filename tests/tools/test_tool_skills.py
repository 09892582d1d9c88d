"""Skills: found in three places, read whole, their files never outside their folder, broken ones reported."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.context.skills import MAX_RESOURCES, Skills, find_skills
from kotef.tools.errors import ToolFault
from kotef.tools.skills import MAX_TEXT, find, resource, use


def skill(place: Path, name: str, text: str = "") -> Path:
    folder = place / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text or f"---\nname: {name}\ndescription: How to {name} here.\n---\n# {name}\n")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path / "project"
    top.mkdir()
    return top


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / "config" / "kotef" / "skills"


def test_where_there_is_none_nothing_is_found(root: Path, user: Path) -> None:
    assert find_skills(root, user) == Skills()
    (root / ".sdd" / "skills").mkdir(parents=True)
    (root / ".agents").write_text("a file")
    assert find_skills(root, user) == Skills()


def test_the_repository_goes_before_the_user_and_says_what_it_hides(root: Path, user: Path) -> None:
    skill(root / ".sdd/skills", "release")
    skill(root / ".agents/skills", "release")
    skill(root / ".agents/skills", "migrate")
    skill(user, "migrate")
    skill(user, "review")
    known = find_skills(root, user)
    assert [(one.name, one.place) for one in known.found] == [
        ("migrate", ".agents/skills"),
        ("release", ".sdd/skills"),
        ("review", str(user)),
    ]
    assert [(one.name, one.place) for one in known.hidden] == [("release", ".agents/skills"), ("migrate", str(user))]
    assert known.problems == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# no head\n", "does not begin with `---`"),
        ("---\nname: x\n---\n", "the field description is missing"),
        ("---\ndescription: x\n---\n", "its field name must be one word"),
        ("---\nname: two words\ndescription: x\n---\n", "its field name must be one word"),
        ("---\nname: ../x\ndescription: x\n---\n", "its field name must be one word"),
        ("---\nname: x\nbroken\n", "that ends its head is missing"),
    ],
)
def test_a_broken_skill_is_reported_and_does_not_cost_the_others(root: Path, user: Path, text: str, says: str) -> None:
    skill(root / ".sdd/skills", "broken", text)
    skill(root / ".sdd/skills", "good")
    (root / ".sdd/skills/empty").mkdir()
    known = find_skills(root, user)
    assert [one.name for one in known.found] == ["good"]
    assert [problem.path for problem in known.problems] == [".sdd/skills/broken/SKILL.md", ".sdd/skills/empty/SKILL.md"]
    assert says in known.problems[0].text
    assert "there is no SKILL.md" in known.problems[1].text


def test_a_folder_that_leads_out_of_the_repository_is_a_problem_and_the_users_own_is_not(
    root: Path, user: Path, tmp_path: Path
) -> None:
    elsewhere = skill(tmp_path / "elsewhere", "shared")
    for place in (root / ".agents/skills", user):
        place.mkdir(parents=True)
        (place / "shared").symlink_to(elsewhere)
    known = find_skills(root, user)
    assert [(one.name, one.folder) for one in known.found] == [("shared", elsewhere)]
    assert "leads out of the workspace" in known.problems[0].text


def test_finding_ranks_by_words_and_using_names_the_files(root: Path, user: Path) -> None:
    folder = skill(root / ".sdd/skills", "release")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "tag.sh").write_text("git tag\n")
    (folder / "notes.md").write_text("be careful\n")
    skill(
        root / ".sdd/skills", "migrate", "---\nname: migrate\ndescription: Change the schema of a release.\n---\nDo it."
    )
    known = find_skills(root, user)
    assert find(known) == "migrate: Change the schema of a release.\nrelease: How to release here."
    assert find(known, "schema release").startswith("migrate: ")
    assert find(known, "zebra") == "no skill matches 'zebra'; the skills are: migrate, release"
    assert use(known, "Release") == (
        "skill release, from .sdd/skills\n# release\n[files for skill_resource: notes.md, scripts/tag.sh]"
    )
    assert use(known, "migrate") == "skill migrate, from .sdd/skills\nDo it."
    assert resource(known, "release", "scripts/tag.sh") == "git tag\n"
    with pytest.raises(ToolFault, match="did you mean release"):
        use(known, "relase")
    with pytest.raises(ToolFault, match=r"release has no file tag.sh; it has: notes.md, scripts/tag.sh"):
        resource(known, "release", "tag.sh")
    with pytest.raises(ToolFault, match="has no file"):
        resource(known, "release", "scripts")


def test_a_file_of_a_skill_never_lies_outside_it(root: Path, user: Path, tmp_path: Path) -> None:
    folder = skill(root / ".sdd/skills", "release")
    secret = tmp_path / "secret"
    secret.write_text("topsecret")
    (root / "README.md").write_text("x")
    (folder / "link").symlink_to(secret)
    (folder / ".env").write_text("topsecret")
    known = find_skills(root, user)
    for path in ("../../../README.md", str(secret), "link", "/etc/passwd", ".env", "/proc/self/environ"):
        with pytest.raises(ToolFault) as caught:
            resource(known, "release", path)
        assert "topsecret" not in caught.value.message
        assert caught.value.kind == "permission_denied"


def test_a_skill_that_changed_since_it_was_found_is_an_answer(root: Path, user: Path) -> None:
    folder = skill(root / ".sdd/skills", "release")
    known = find_skills(root, user)
    (folder / "SKILL.md").write_text("no head")
    with pytest.raises(ToolFault, match="can no longer be read"):
        use(known, "release")


def test_long_skills_and_many_files_are_bounded(root: Path, user: Path) -> None:
    folder = skill(root / ".sdd/skills", "big", "---\nname: big\ndescription: b\n---\n" + "long line\n" * 20_000)
    for number in range(MAX_RESOURCES + 20):
        (folder / f"f{number}.txt").write_text("x" * 5)
    (folder / "large.txt").write_text("y\n" * MAX_TEXT)
    known = find_skills(root, user)
    assert len(use(known, "big")) < MAX_TEXT + 2000
    assert use(known, "big").count(".txt") == MAX_RESOURCES
    assert len(resource(known, "big", "large.txt")) < MAX_TEXT + 200


@given(st.text(max_size=30))
def test_no_path_escapes(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    place = tmp_path_factory.getbasetemp() / "escapes"
    if not place.exists():
        skill(place / ".sdd/skills", "s")
    known = find_skills(place, place / "none")
    try:
        text = resource(known, "s", path)
    except ToolFault:
        return
    assert text.startswith("---\nname: s"), "there is one file to be read"
