"""`action.yml` and `ci/`: a script plays the runner, with real commands.

By default on a project of two files; `-m ci` takes the shipped examples, and plays the job for GitLab, too.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from support.kotef_program import KotefProgram
from support.loop import UNITTEST, UNITTEST_TEST

ROOT = Path(__file__).parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
GITLAB = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())
BIN = Path(sys.executable).parent
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
"""What `shell: bash` is to the runner, before the file of the step."""
SMALL = {
    "calc.py": "def add(first, second):\n    return first + secnod\n",
    "test_calc.py": UNITTEST_TEST,
    ".gitignore": "__pycache__/\n",
}
"""A project that the fixers mend in a second."""


@dataclass
class Runner:
    """Plays the part of GitHub's runner: expressions, files of each step, what is skipped, what a step prints."""

    place: Path
    inputs: dict[str, str]
    environment: dict[str, str]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    printed: str = ""
    failed: bool = False
    code: int = 0

    def play(self) -> "Runner":
        """Every step in order."""
        for number, step in enumerate(STEPS):
            if not self.wanted(step.get("if", "success()")):
                continue
            if "uses" in step:
                self.used[step["uses"].partition("@")[0]] = {k: self.filled(str(v)) for k, v in step["with"].items()}
                self.outputs[step.get("id", str(number))] = {"python-path": sys.executable}
            else:
                self.run(step, number)
        return self

    def run(self, step: dict[str, Any], number: int) -> None:
        """One script, as `bash -e` on a file of its own."""
        assert step["shell"] == "bash"
        script, output = self.place / f"step-{number}.sh", self.place / f"output-{number}"
        script.write_text(step["run"])
        output.write_text("")
        files = {name: str(self.place / name) for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        environment = {
            **self.environment,
            **files,
            "GITHUB_OUTPUT": str(output),
            "GITHUB_ACTION_PATH": str(ROOT),
            **{name: self.filled(str(value)) for name, value in step.get("env", {}).items()},
        }
        done = subprocess.run(
            [*SHELL, str(script)],
            cwd=environment["GITHUB_WORKSPACE"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.printed += done.stdout + done.stderr
        self.outputs[step.get("id", str(number))] = read_outputs(output)
        if done.returncode:
            self.failed, self.code = True, done.returncode

    def filled(self, text: str) -> str:
        """The expressions that the action uses, and no others."""
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda found: self.value(found[1]), text)

    def value(self, expression: str) -> str:
        match expression.split("."):
            case ["inputs", name]:
                return self.inputs[name]
            case ["steps", step, "outputs", name]:
                return self.outputs.get(step, {}).get(name, "")
            case ["runner", "temp"]:
                return self.environment["RUNNER_TEMP"]
            case ["runner", name]:
                return name
        raise AssertionError(expression)

    def wanted(self, condition: str) -> bool:
        """Whether a step is run."""
        parts = condition.split(" && ")
        if parts[0] == "always()":
            parts.pop(0)
        elif self.failed:
            return False
        for part in parts:
            if part == "success()":
                continue
            left, operator, right = part.split(" ")
            equal = self.value(left) == right.strip("'")
            if equal != (operator == "=="):
                return False
        return True

    @property
    def told(self) -> dict[str, str]:
        """The outputs of the action."""
        return {name: self.filled(one["value"]) for name, one in ACTION["outputs"].items()}


def read_outputs(file: Path) -> dict[str, str]:
    """As the runner reads a file of outputs: `name=value` lines and heredocs."""
    found: dict[str, str] = {}
    lines = iter(file.read_text().splitlines() if file.exists() else [])
    for line in lines:
        name, sign, value = re.fullmatch(r"([\w-]+)(=|<<)(.*)", line).groups()  # type: ignore[union-attr]
        if sign == "<<":
            held = []
            while (next_line := next(lines)) != value:
                held.append(next_line)
            value = "\n".join(held)
        found[name] = value
    return found


def example(tmp_path: Path, name: str) -> Path:
    """A committed copy of a shipped example, or, with no name, of the small project."""
    place = tmp_path / "checkout"
    if name:
        left_out = shutil.ignore_patterns("runs", "issues.md", "__pycache__")
        shutil.copytree(ROOT / "examples" / name, place, ignore=left_out)
    else:
        place.mkdir()
        for path, text in SMALL.items():
            (place / path).write_text(text)
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=place, check=True)
    return place


def environment(tmp_path: Path, checkout: Path) -> dict[str, str]:
    """What a runner gives a step, and nothing that this machine happens to have."""
    home, temporary = tmp_path / "home", tmp_path / "temp"
    home.mkdir()
    temporary.mkdir()
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(home),
        "GITHUB_ACTIONS": "true",
        "CI": "true",
        "GITHUB_WORKSPACE": str(checkout),
        "RUNNER_TEMP": str(temporary),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def played(tmp_path: Path, name: str, **inputs: str) -> Runner:
    defaults = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    given = {"coder": "fixers,search:3s", "sandbox": "off", "reruns": "0"}
    wanted = {**defaults, **{k: v for k, v in given.items() if k in defaults}}
    wanted |= {key.replace("_", "-"): value for key, value in inputs.items()}
    checkout = example(tmp_path, name)
    with KotefProgram(tmp_path / "bin") as program:
        wanted["command"] = str(program.folder / "kotef")
        return Runner(tmp_path, wanted, environment(tmp_path, checkout)).play()


def test_green_the_work_is_on_a_branch_and_the_run_is_kept_but_not_for_the_next_run_of_the_job(tmp_path: Path) -> None:
    runner = played(tmp_path, "", goal="make add add", checks=UNITTEST, branch="auto", coder="fixers")
    assert (runner.failed, runner.code) == (False, 0), runner.printed
    told = runner.told
    assert (told["outcome"], told["exit-code"], told["branch"]) == ("verified", "0", "kotef/make-add-add")
    assert Path(told["result"]).is_file()
    author = ["git", "log", "-1", "--format=%an", told["branch"]]
    checkout = runner.environment["GITHUB_WORKSPACE"]
    said = subprocess.run(author, check=True, cwd=checkout, capture_output=True, text=True).stdout
    assert said == "github-actions[bot]\n"
    files = {path.name for path in Path(told["files"]).iterdir()}
    assert files == {"pr-body.md", "report.sarif", "junit.xml", "report.md"}
    uploaded = runner.used["actions/upload-artifact"]
    assert uploaded["name"] == "kotef-run"
    assert uploaded["path"].splitlines()[0] == str(Path(told["result"]).parent)
    assert "✅ kotef: verified" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert "::error" not in runner.printed
    assert "actions/setup-python" not in runner.used, "a kotef that is there is used"

    runner.inputs |= {"ticket": "99", "command": str(BIN / "kotef")}
    runner.play()
    assert (runner.code, runner.told["outcome"], runner.told["files"]) == (2, "", told["files"])
    assert not list(Path(told["files"]).iterdir()), "files of an earlier run in the job are not handed on"


def test_red_the_line_is_marked_the_run_is_kept_and_the_job_fails_with_its_status(tmp_path: Path) -> None:
    runner = played(tmp_path, "", goal="make add subtract", checks=f"{UNITTEST}\n\n  false\n", coder="fixers")
    assert (runner.failed, runner.code) == (True, 3), runner.printed
    told = runner.told
    assert (told["outcome"], told["exit-code"], told["branch"]) == ("stuck", "3", "")
    assert "  check: false\n" in runner.printed, "checks are one to a line"
    assert "::error title=kotef%3A stuck::" in runner.printed
    assert "actions/upload-artifact" in runner.used
    assert "### What still fails" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()


@pytest.mark.ci
def test_the_discount_is_mended_and_its_ticket_is_closed_on_the_branch(tmp_path: Path) -> None:
    runner = played(tmp_path, "discount", ticket="01", branch="auto", coder="fixers,search:300s")
    assert (runner.failed, runner.code) == (False, 0), runner.printed
    assert (runner.told["outcome"], runner.told["branch"]) == ("verified", "kotef/discount")
    listed = ["git", "ls-tree", "-r", "--name-only", "kotef/discount", ".sdd/backlog"]
    checkout = runner.environment["GITHUB_WORKSPACE"]
    said = subprocess.run(listed, check=True, cwd=checkout, capture_output=True, text=True).stdout
    assert "/closed/01-" in said
    assert "/open/01-" not in said


@pytest.mark.ci
def test_the_contradiction_is_marked_at_its_line(tmp_path: Path) -> None:
    runner = played(tmp_path, "contradiction", ticket="01")
    assert (runner.failed, runner.code) == (True, 3), runner.printed
    assert "::error file=tests/test_format.py,line=9,title=tests/test_format.py%3A%3Atest_hours" in runner.printed


def test_inputs_are_no_shell(tmp_path: Path) -> None:
    bad = f"$(touch {tmp_path}/owned) `touch {tmp_path}/owned` ; touch {tmp_path}/owned # ' \""
    runner = played(tmp_path, "", goal=f"--{bad}", ticket=bad, root="", branch=bad)
    assert runner.code == 2
    assert not (tmp_path / "owned").exists()
    assert runner.told["outcome"] == ""
    assert runner.told["exit-code"] == "2"
    assert "actions/upload-artifact" not in runner.used


@pytest.mark.ci
def test_a_status_can_be_accepted(tmp_path: Path) -> None:
    runner = played(
        tmp_path,
        "contradiction",
        goal="x",
        checks="false",
        coder="fixers",
        accept="0, 3",
    )
    assert (runner.told["exit-code"], runner.failed) == ("3", False), runner.printed


@pytest.mark.ci
def test_a_cancelled_job_lets_the_run_say_so(tmp_path: Path) -> None:
    """The runner signals the shell of the step, and none of its children."""
    step = next(step for step in STEPS if step.get("id") == "run")
    script = tmp_path / "step.sh"
    script.write_text(step["run"])
    checkout = example(tmp_path, "contradiction")
    output = tmp_path / "output"
    marker = tmp_path / "begun"
    told = {
        **environment(tmp_path, checkout),
        "KOTEF": str(BIN / "kotef"),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_ACTION_PATH": str(ROOT),
        "IN_GOAL": "x",
        "IN_CHECKS": f"touch {marker}; sleep 600",
        "IN_SANDBOX": "off",
        "IN_CODER": "fixers",
    }
    shell = [*SHELL, str(script)]
    process = subprocess.Popen(shell, cwd=checkout, env=told, stdout=subprocess.DEVNULL)
    for _ in range(3000):
        if marker.exists():
            break
        assert process.poll() is None
        time.sleep(0.1)
    process.terminate()
    assert process.wait(timeout=300) == 0
    assert (read_outputs(output)["outcome"], read_outputs(output)["exit-code"]) == ("interrupted", "143")


def test_no_expression_is_part_of_a_script_and_every_action_is_pinned_by_its_commit() -> None:
    for step in STEPS:
        assert "${{" not in step.get("run", "")
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
    pinned = re.findall(r"uses: \S+@(\S+)( # v\d+\.\d+\.\d+)?$", (ROOT / "action.yml").read_text(), re.MULTILINE)
    assert pinned
    assert all(version for _, version in pinned)


def test_every_input_and_output_is_used_and_told_of() -> None:
    text = (ROOT / "action.yml").read_text()
    documentation = (ROOT / "docs" / "ci.md").read_text()
    for name in ACTION["inputs"]:
        assert f"inputs.{name}" in text
        assert f"`{name}`" in documentation, name
    assert set(ACTION["outputs"]) >= {"outcome", "exit-code", "run-id", "branch", "result"}
    assert all(f"`{name}`" in documentation for name in ACTION["outputs"])


def test_what_is_installed_is_pinned_with_hashes_and_fits_the_package() -> None:
    import tomllib

    lines = (ROOT / "ci" / "requirements.txt").read_text().replace("\\\n", " ").splitlines()
    pinned = {}
    for line in lines:
        if line and not line.startswith("#"):
            requirement, _, hashes = line.partition("--hash=")
            assert hashes, line
            parsed = Requirement(requirement.strip())
            pinned[parsed.name.lower()] = next(iter(parsed.specifier)).version
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for wanted in map(Requirement, project["dependencies"]):
        assert wanted.name.lower() in pinned, f"{wanted}: renew ci/requirements.txt as its first lines say"
        assert wanted.specifier.contains(pinned[wanted.name.lower()])
    assert "hatchling" in pinned, "it builds without going anywhere else"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.DOTALL)


def linted(*command: str) -> None:
    tool = shutil.which(command[0], path=f"{BIN}:{os.environ['PATH']}")
    if tool is None:
        pytest.skip(f"{command[0]} is not installed here")
    done = subprocess.run([tool, *command[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    """The workflow of the documentation."""
    place = tmp_path / ".github" / "workflows"
    place.mkdir(parents=True)
    (place / "kotef.yml").write_text(blocks("yaml")[0])
    return place / "kotef.yml"


@pytest.mark.ci
def test_the_yaml_fits_the_schemas_of_both_services(tmp_path: Path, workflow: Path) -> None:
    linted("check-jsonschema", "--builtin-schema", "vendor.github-actions", str(ROOT / "action.yml"))
    linted("check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(workflow))
    (tmp_path / "gitlab.yml").write_text(blocks("yaml")[1])
    for file in (ROOT / "ci" / "gitlab.yml", tmp_path / "gitlab.yml"):
        linted("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", str(file))


def test_the_action_and_the_workflow_have_no_known_weakness(workflow: Path) -> None:
    linted("zizmor", "--offline", "--no-progress", str(ROOT / "action.yml"), str(workflow))


@pytest.mark.ci
def test_the_workflow_pleases_actionlint(workflow: Path) -> None:
    linted("actionlint", str(workflow))


def test_the_scripts_please_shellcheck(tmp_path: Path) -> None:
    scripts = [*(ROOT / "ci").glob("*.sh")]
    for number, text in enumerate([*GITLAB[".kotef"]["script"], *blocks("bash")]):
        scripts.append(tmp_path / f"{number}.sh")
        scripts[-1].write_text(f"#!/bin/sh\n{text}")
    linted("shellcheck", *map(str, scripts))


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "coder", "code"), [("discount", "fixers,search:300s", 0), ("contradiction", "fixers", 6)]
)
def test_the_script_of_the_gitlab_job_ends_as_the_run_does(tmp_path: Path, name: str, coder: str, code: int) -> None:
    checkout = example(tmp_path, name)
    job = GITLAB[".kotef"]
    told = environment(tmp_path, checkout) | job["variables"]
    told |= {"KOTEF_TICKET": "01", "KOTEF_ARGS": f"--sandbox off --coder {coder}", "GITHUB_ACTIONS": ""}
    script = "set -e\n" + "\n".join(job["script"])
    done = subprocess.run(["sh", "-c", script], cwd=checkout, env=told, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert (checkout / "kotef-junit.xml").read_text().startswith("<?xml")
    assert "For a person to check" in (checkout / "kotef-pr-body.md").read_text()
    assert job["allow_failure"]["exit_codes"] == [4, 5, 7]
