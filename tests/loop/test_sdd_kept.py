"""A command of a run cannot change `.sdd`, even where no sandbox makes it read-only."""

from pathlib import Path

import pytest
from support.confined import need
from support.loop import CHECK, DONE, FIX, Agent
from support.openai_server import call, calls

SCRIPT = """\
printf '## 2020-01-01 A forged entry (resolved)\\n' >> .sdd/issues.md
echo 'checks = []' > .sdd/kotef.toml
echo 'forged' >> .sdd/memory/core.md
rm -r .sdd/backlog
mkdir .sdd/skills && echo planted > .sdd/skills/SKILL.md
"""


@pytest.mark.parametrize("level", ["landlock", "off"])
def test_changes_of_commands_in_sdd_are_put_back_and_notes_of_kotef_stay(project: Path, run, level: str) -> None:
    if level == "landlock":
        need("landlock", project)
    sdd = project / ".sdd"
    for name, text in {
        "issues.md": "# Issues\n",
        "memory/core.md": "# Core memory\n\n- known\n",
        "backlog/tickets/open/01-x.md": "# A ticket\n",
    }.items():
        (sdd / name).parent.mkdir(parents=True, exist_ok=True)
        (sdd / name).write_text(text)
    (project / "script.sh").write_text(SCRIPT)
    slow = calls(call("run_command", command="sleep 1; sh script.sh; sleep 20", background=True))
    note = calls(call("manage_memory", action="add", file="core", entry="a note of the model"))
    steps = [slow, note, calls(call("run_command", command="sleep 2")), FIX, DONE]

    ran = run(project, Agent(coder=steps), "make add add", "--check", CHECK, "--sandbox", level)

    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert (sdd / "issues.md").read_text() == "# Issues\n"
    assert (sdd / "memory" / "core.md").read_text() == "# Core memory\n\n- known\n- a note of the model\n"
    assert (sdd / "backlog" / "tickets" / "open" / "01-x.md").read_text() == "# A ticket\n"
    assert sorted(path.name for path in sdd.iterdir()) == ["backlog", "issues.md", "memory", "runs"]
    said = next(event["text"] for event in ran.events if event["event"] == "notice" and ".sdd" in event["text"])
    assert "issues.md" in said
    aside = Path(said.rpartition(" are in ")[2])
    assert "A forged entry" in (aside / "issues.md").read_text()
    assert "planted" in (aside / "skills" / "SKILL.md").read_text()
