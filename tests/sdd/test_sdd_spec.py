"""The project's own words are read bounded; nothing in them stops a run but a `.sdd` that is no directory."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import SpecError
from kotef.sdd.files import MAX_BYTES
from kotef.sdd.markdown import read_markdown
from kotef.sdd.references import named_paths, quoted_commands
from kotef.sdd.spec import MAX_RULE, MAX_RULES, MAX_TEXT, Spec, read_spec


def write(root: Path, path: str, text: str | bytes) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())


def gates(root: Path, body: str, title: str = "Quality gates") -> Spec:
    write(root, ".sdd/architect.md", f"# Architecture\n\n## {title}\n\n{body}\n\n## Later\n\n- `not this one`\n")
    return read_spec(root)


def test_a_project_without_a_spec_has_an_empty_one(tmp_path: Path) -> None:
    assert read_spec(tmp_path) == Spec()
    (tmp_path / ".sdd").mkdir()
    assert read_spec(tmp_path) == Spec()


def test_every_document_and_its_rules_are_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        ".sdd/project.md",
        "\ufeff# P\n\n## Stop Rules\n\n- never force-push\n- two\n  lines\n\n## Definition of Done (project)\n\n- [x] documented\n"
        "\n## Known risks:\n\n1. data loss\n",
    )
    write(
        tmp_path, ".sdd/best_practices.md", "# Best\r\n\r\n**Stop rules**\r\n\r\n* ask first\r\n* never force-push\r\n"
    )
    write(tmp_path, ".sdd/architect.md", "# A\n\n## Risks\n\n- one queue\n")
    write(tmp_path, "KOTEF.md", "Be careful.\n")

    spec = read_spec(tmp_path)

    assert spec.project.startswith("# P\n")
    assert (spec.best_practices[:6], spec.architect[:3], spec.constraints) == ("# Best", "# A", "Be careful.")
    assert spec.stop_rules == ("never force-push", "two lines", "ask first")
    assert spec.project_done == ("documented",)
    assert spec.risks == ("data loss", "one queue")
    assert spec.problems == ()


@pytest.mark.parametrize("title", ["Quality gates", "Quality gate commands", "3. Checks", "QUALITY GATES (must pass)"])
def test_fenced_quality_gates_are_checks(tmp_path: Path, title: str) -> None:
    spec = gates(tmp_path, "```sh\n# all of them\nruff check .\n$ pytest -q\n```", title)
    assert spec.checks == ("pytest -q",)
    spec = gates(tmp_path, "```sh\n# all of them\nruff check .\npytest -q\n```", title)
    assert spec.checks == ("ruff check .", "pytest -q")


@pytest.mark.parametrize(
    ("line", "checks"),
    [
        ("- `pytest -q`", ("pytest -q",)),
        ("- **Lint**: `ruff check .` and `ruff format --check .`", ("ruff check .", "ruff format --check .")),
        ("- Types: `mypy`", ("mypy",)),
        ("- `mypy` must pass", ("mypy",)),
        ("* `make lint` before every commit", ("make lint",)),
        ("| Tests | `npm test` | fast |", ("npm test",)),
        ("- `./check.sh`", ("./check.sh",)),
        ("- `PYTHONPATH=src pytest`", ("PYTHONPATH=src pytest",)),
        ("- the `main` branch is protected", ()),
        ("- settings are in `pyproject.toml`", ()),
        ("- `pyproject.toml`", ()),
        ("- coverage `>= 80 %`", ()),
        ("- use `--strict`", ()),
        ("- call `main()`", ()),
        ("prose with `a command` in it", ()),
        ("```python\nassert True\n```", ()),
    ],
)
def test_quoted_quality_gates_are_checks_only_when_they_are_commands(
    tmp_path: Path, line: str, checks: tuple[str, ...]
) -> None:
    assert gates(tmp_path, line).checks == checks


def test_forbidden_paths_are_read_from_both_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        "KOTEF.md",
        "# Rules\n\n## Forbidden paths\n\n- `migrations/**` \u2014 written by hand\n- infra/\n- `*.{pem,key}`, secrets/*\n- /etc/passwd\n- ask me\n",
    )
    write(tmp_path, ".sdd/KOTEF.md", "## Forbidden paths\n\n```\nvendor/**  # not ours\nmy files/**\n```\n")

    spec = read_spec(tmp_path)

    assert spec.forbidden == ("migrations/**", "infra/", "*.{pem,key}", "secrets/*", "vendor/**")
    assert "# Rules" in spec.constraints
    assert "vendor" in spec.constraints
    assert [(problem.path, problem.line, problem.text) for problem in spec.problems] == [
        ("KOTEF.md", 9, "names no path; write one without white space, best in backticks"),
        ("KOTEF.md", 3, "'/etc/passwd' is not a path inside the workspace"),
        (".sdd/KOTEF.md", 5, "names no path; write one without white space, best in backticks"),
    ]


def test_sdd_that_is_no_directory_is_a_spec_error(tmp_path: Path) -> None:
    (tmp_path / ".sdd").write_text("x")
    with pytest.raises(SpecError, match=r"^\.sdd: is not a directory \(move it away, then `kotef init`\)$"):
        read_spec(tmp_path)
    (tmp_path / ".sdd").unlink()
    (tmp_path / ".sdd").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SpecError):
        read_spec(tmp_path)


def test_files_that_cannot_be_read_are_problems_and_the_others_are_read(tmp_path: Path) -> None:
    write(tmp_path, ".sdd/project.md", b"# P\n\xff\xfe\n")
    (tmp_path / ".sdd/architect.md").mkdir()
    os.mkfifo(tmp_path / "KOTEF.md")
    write(tmp_path, ".sdd/best_practices.md", "# Best\n\n```\nopen\n")

    spec = read_spec(tmp_path)

    assert (spec.project, spec.architect, spec.constraints) == ("", "", "")
    assert spec.best_practices.startswith("# Best")
    assert [(problem.path, problem.line) for problem in spec.problems] == [
        (".sdd/project.md", 2),
        (".sdd/architect.md", 1),
        (".sdd/best_practices.md", 3),
        ("KOTEF.md", 1),
    ]


def test_a_spec_is_bounded_and_says_when_a_file_was_cut(tmp_path: Path) -> None:
    rules = "".join(f"- rule {number} {'x' * MAX_RULE}\n" for number in range(MAX_RULES + 9))
    write(tmp_path, ".sdd/project.md", "# P\n" + "y" * MAX_TEXT + f"\n## Stop rules\n\n{rules}")
    write(tmp_path, ".sdd/architect.md", "## Checks\n```\nmake\n```\n" + "é\n" * MAX_BYTES)

    spec = read_spec(tmp_path)

    assert len(spec.project) == MAX_TEXT
    assert len(spec.stop_rules) == MAX_RULES
    assert max(map(len, spec.stop_rules)) == MAX_RULE
    assert spec.checks == ("make",)
    assert [problem.text for problem in spec.problems] == ["longer than 256 KiB; only its head was read, shorten it"]


@example_count(100)
@given(st.text(alphabet="-|`:*{},/.! \nabc#", max_size=80))
def test_any_passage_names_only_commands_and_paths_on_one_line(text: str) -> None:
    lines = read_markdown(text).lines
    paths, complaints = named_paths(lines)

    assert all(path and path == path.strip() and "`" not in path for path in paths)
    assert all("\n" not in command and "`" * 9 not in command for command in quoted_commands(lines))
    assert {line for line, _ in complaints} <= {line.number for line in lines if line.kind in ("item", "code")}
