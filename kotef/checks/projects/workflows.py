"""CI workflows as hints: the plain test commands in the steps of a repository's pipelines.

They are text of strangers: parsed without building objects, and bounded. Of their commands only such are taken that
need only the workspace. What a repository declares more directly is asked first.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from posixpath import join, normpath
from typing import Any, Final, NamedTuple

from kotef.checks.project_config import readable_text
from kotef.checks.projects import DetectedCheck
from kotef.checks.projects.declared_commands import Declared, assignments_of
from kotef.checks.projects.python_tasks import in_folder
from kotef.files import list_within
from kotef.shell import Role, commands_behind, unwrap

_WORKFLOWS: Final = ".github/workflows"
_SINGLE: Final = (
    ".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml", ".azure-pipelines.yml", ".travis.yml"
)  # fmt: skip
_MOST_FILES: Final = 20
_LARGEST: Final = 48 * 1024
"""Characters of a file that is parsed; a larger one is passed over."""
_IN_ALL: Final = 128 * 1024
"""Characters of all files that are parsed: the parser takes a second for a few hundred thousand."""
_MOST_BRACKETS: Final = 2_000
"""Opening brackets of a file that is parsed: the parser is slow where they are nested."""
_MOST: Final = 200
"""Jobs of a file and steps of a job that are looked at."""
_TELLING: Final = re.compile(r"test|ci|check|build|main|push|python|node", re.IGNORECASE)
_OTHER_PURPOSE: Final = re.compile(
    r"release|publish|deploy|docs?|lint|codeql|stale|bench|fuzz|windows|macos|wheel|nightly|downstream|integration",
    re.IGNORECASE,
)
_NEEDS_MORE: Final = re.compile(
    r"\b(?:docker|docker-compose|podman|kubectl|minikube|vagrant|psql|createdb|mysql|mysqladmin|redis-server|systemctl"
    r"|service)\b|\bsecrets\."
)
"""What is in a job whose tests need more than the workspace."""
_AFTER_A_BUILD: Final = re.compile(r"--no-(?:build|restore)\b")
_PLAIN: Final = re.compile(r"[\w ./:=@,+\[\]\"'-]+")
_ASSIGNED: Final = re.compile(r"[\w./:@%+,-]*")
_SEVERAL_SHELLS: Final = re.compile(r"(?:pwsh|powershell|cmd|python)\b")

_CD: Final = re.compile(r"cd +([\w./@+-]+|\"[\w./@+ -]+\"|'[\w./@+ -]+') *(?:&&|;|$) *")


class WorkflowStep(NamedTuple):
    """A step of a job."""

    text: str
    variables: Mapping[str, str] = {}
    """What it sets for its commands."""
    folder: str = "."
    """Where its commands start, from the top of the checkout."""


def workflow_commands(root: Path) -> Iterator[Declared]:
    """The test commands of all pipelines, those of workflows for tests first; each one plain line."""
    left = _IN_ALL
    for path in _files(root):
        text = readable_text(root, path)
        if len(text) > min(left, _LARGEST) or len(re.findall(r"[\[{]", text)) > _MOST_BRACKETS:
            continue
        if not re.search(r"test|check|spec", text):
            continue
        left -= len(text)
        for steps in islice(_jobs(_parsed(text), path), _MOST):
            yield from _of_job(steps, path, root)


def checks(root: Path, *, have: Collection[Role]) -> Iterator[DetectedCheck]:
    """The first of these commands, where nothing else runs tests."""
    if "test" not in have and (found := next(workflow_commands(root), None)):
        yield DetectedCheck(_short(found.command), found.command, "test", found.source)


def _short(command: str) -> str:
    command = re.sub(r"cd \S+ && ", "", command)
    words = command.removeprefix(assignments_of(command)).split()
    return " ".join(word for word in words[:3] if not word.startswith("-"))


def _files(root: Path) -> list[str]:
    """Workflows by what their names tell, then the file of any other service."""
    try:
        names = [entry.name for entry in list_within(root, _WORKFLOWS, most=_MOST) if entry.is_file]
    except OSError:
        names = []
    known = sorted(name for name in names if name.endswith((".yml", ".yaml")))
    known.sort(key=lambda name: (bool(_OTHER_PURPOSE.search(name)), not _TELLING.search(name)))
    paths = [f"{_WORKFLOWS}/{name}" for name in known] + [name for name in _SINGLE if (root / name).is_file()]
    return paths[:_MOST_FILES]


def _parsed(text: str) -> Any:
    """Lists, dicts and texts; merge keys stay keys, for merging them may take for ever."""
    import yaml

    try:
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  it makes no objects, and texts of all scalars
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _jobs(document: Any, path: str) -> Iterator[list[WorkflowStep]]:
    """The steps of each job that is run here as it would be there."""
    if not isinstance(document, dict):
        return
    if path.startswith(_WORKFLOWS):
        yield from _github(document)
    elif path == ".gitlab-ci.yml":
        for job in _dicts(document.values()):
            if "services" not in job and "services" not in document:
                yield [WorkflowStep("\n".join(_texts(job.get("script"))))]
    elif path == ".circleci/config.yml":
        jobs = document.get("jobs")
        for job in _dicts(jobs.values() if isinstance(jobs, dict) else ()):
            images = job.get("docker")
            if not (isinstance(images, list) and len(images) > 1):
                yield list(_circle(job.get("steps")))
    elif path == ".travis.yml":
        if "services" not in document:
            yield [WorkflowStep("\n".join(_texts(document.get("script"))))]
    else:
        yield from _azure(document)


def _github(document: dict[str, Any]) -> Iterator[list[WorkflowStep]]:
    jobs = document.get("jobs")
    for job in _dicts(jobs.values() if isinstance(jobs, dict) else ()):
        if "services" in job or "container" in job:
            continue
        usual = _folder(job.get("defaults")) or _folder(document.get("defaults")) or "."
        outer = {**_environment_of(document), **_environment_of(job)}
        yield [found for step in _dicts(job.get("steps")) for found in _github_step(step, outer, usual)]


def _github_step(step: dict[str, Any], outer: Mapping[str, str], usual: str) -> Iterator[WorkflowStep]:
    """The command of a step; none of one that is conditional, or that several shells run."""
    text = step.get("run")
    is_conditional = "if" in step or _SEVERAL_SHELLS.match(str(step.get("shell", "")))
    if isinstance(text, str) and not is_conditional:
        variables = {**outer, **_environment_of(step)}
        yield WorkflowStep(text, variables, str(step.get("working-directory", usual)))


def _environment_of(holder: Mapping[str, Any]) -> dict[str, str]:
    variables = holder.get("env")
    return _texts_of(variables) if isinstance(variables, dict) else {}


def _folder(defaults: Any) -> str:
    run = defaults.get("run") if isinstance(defaults, dict) else None
    return str(run.get("working-directory", "")) if isinstance(run, dict) else ""


def _circle(steps: Any) -> Iterator[WorkflowStep]:
    for step in _dicts(steps):
        run = step.get("run")
        settings = run if isinstance(run, dict) else {"command": run}
        text, variables = settings.get("command"), settings.get("environment", {})
        if isinstance(text, str) and isinstance(variables, dict):
            yield WorkflowStep(text, _texts_of(variables), str(settings.get("working_directory", ".")))


def _azure(document: dict[str, Any]) -> Iterator[list[WorkflowStep]]:
    holders = [document, *_dicts(document.get("jobs"))]
    for stage in _dicts(document.get("stages")):
        holders += _dicts(stage.get("jobs"))
    for holder in holders:
        found: list[WorkflowStep] = []
        for step in _dicts(holder.get("steps")):
            text = step.get("script", step.get("bash"))
            variables = step.get("env", {})
            if isinstance(text, str) and "condition" not in step and isinstance(variables, dict):
                found.append(WorkflowStep(text, _texts_of(variables), str(step.get("workingDirectory", "."))))
        yield found


def _of_job(steps: list[WorkflowStep], path: str, root: Path) -> Iterator[Declared]:
    """The plain test lines of a job none of whose steps needs a container or a service."""
    if any(_NEEDS_MORE.search(step.text) for step in steps):
        return

    source = f"CI workflow {path.removeprefix(f'{_WORKFLOWS}/')}"
    for step in steps[:_MOST]:
        front = _assignments(step.variables)
        if front is None:
            continue
        for folder, words in _placed(step):
            line = in_folder(folder, f"{front}{words}") if _is_test_line(words) else ""
            if not line or not _is_of_the_project(root, folder):
                continue
            behind = commands_behind(line, lambda name: readable_text(root, name) or None)
            if Declared(line, (words, *behind), "").is_suited:
                yield Declared(line, (line,), source)


def _is_test_line(words: str) -> bool:
    """Whether a line is plain, runs tests, and needs nothing that is built before."""
    is_plain = _PLAIN.fullmatch(words) is not None and not _AFTER_A_BUILD.search(words)
    return is_plain and unwrap(words).purpose == "test"


def _placed(step: WorkflowStep) -> Iterator[tuple[str, str]]:
    """Each line of a step with the folder it is run in, as `cd` on the line and above it says."""
    folder = step.folder
    for line in step.text.replace("\\\n", " ").splitlines():
        words, here = " ".join(line.split()), folder
        while found := _CD.match(words):
            here, words = join(here, found[1].strip("\"'")), words[found.end() :]
        if not words:
            folder = here
        yield here, words


def _is_of_the_project(root: Path, folder: str) -> bool:
    """Whether the folder is there and belongs to the project at the root: one with a manifest is its own package."""
    place = normpath(folder)
    return place == "." or ((root / place).is_dir() and not any((root / place / name).exists() for name in _MANIFESTS))


_MANIFESTS: Final = ("pyproject.toml", "setup.py", "package.json", "go.mod", "Cargo.toml", "pom.xml", "composer.json")
"""Files that make a folder a package; `projects.packages` finds those."""


def _assignments(variables: Mapping[str, str]) -> str | None:
    """Plain variables in front of a command; None if one has a value that only the service knows."""
    plain = all(
        re.fullmatch(r"[A-Z][A-Z0-9_]*", name) and _ASSIGNED.fullmatch(value) for name, value in variables.items()
    )
    kept = {name: value for name, value in variables.items() if not _OF_THE_SERVICE.match(name)}
    return "".join(f"{name}={value} " for name, value in kept.items()) if plain else None


_OF_THE_SERVICE: Final = re.compile(r"(?:FORCE_COLOR|PY_COLORS|CI|PATH|LD_\w+|PIP_\w+|UV_\w+|NPM_\w+|HOMEBREW_\w+)$")
"""Variables that colour the log, or steer the installation in front of the tests."""


def _texts_of(variables: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if isinstance(value, str)}


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [value for value in islice(values, _MOST) if isinstance(value, dict)] if _is_many(values) else []


def _is_many(values: Any) -> bool:
    return not isinstance(values, str | dict) and hasattr(values, "__iter__")


def _texts(value: Any) -> list[str]:
    """A text, or a list of texts and of lists of them."""
    if isinstance(value, str):
        return [value]
    found: list[str] = []
    for each in islice(value, _MOST) if isinstance(value, list) else ():
        inner = each if isinstance(each, list) else [each]
        found += [text for text in inner[:_MOST] if isinstance(text, str)]
    return found
