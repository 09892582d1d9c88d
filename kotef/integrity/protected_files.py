"""Protected files: the files that judge the work and must be unchanged when it is judged."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from kotef.files import matches_globs
from kotef.integrity.shared_config import SHARED
from kotef.shell import judging_files

_TESTS: Final = (
    # tests with everything beside them: helpers, fixtures, data
    "**/test/**", "**/tests/**", "**/__tests__/**", "**/__snapshots__/**", "**/__mocks__/**", "**/testdata/**",
    "**/golden/**", "**/goldens/**", "**/*.golden",
    "**/e2e/**", "**/cypress/**", "**/spec/**/*.rb", "**/spec/fixtures/**",
    # test files beside the code
    "**/test_*.py", "**/*_test.py", "**/*_test.go", "**/*.test.*", "**/*.spec.*", "**/*-test.[jt]s",
    "**/*_spec.rb", "**/*_test.rb", "**/*_test.exs", "**/*_test.dart", "**/*.snap",
)  # fmt: skip

_MODULES: Final = tuple(glob for glob in _TESTS if not glob.endswith("/**"))
_CODE: Final = re.compile(r"\.(?:py|[cm]?[jt]sx?|go|rs|rb|exs?|dart|php|java|kt|cs|swift)$")

_HELPER: Final = re.compile(
    r"(?:.*/)?test(?:s|ing)?[-_]?(?:utils?|helpers?|support|lib|base|common|cases?|tools?|setup|fixtures?|data|kit)"
    r"\.(?:py|[cm]?[jt]sx?|rb|go|php|dart)",
    re.IGNORECASE,
)
"""By its name a help for tests, and nothing else."""

_STEERING: Final = (
    # configuration of test runners
    "**/conftest.py", "**/pytest.ini", "**/.pytest.ini", "**/pytest.toml", "**/.pytest.toml",
    "**/tox.ini", "**/tox.toml", "**/noxfile.py", "**/.coveragerc", "**/babel.config.*", "**/.babelrc*", "**/.swcrc",
    "**/jest.config.*", "**/jest.setup.*", "**/vitest.config.*", "**/vitest.workspace.*", "**/vitest.setup.*",
    "**/setupTests.*", "**/playwright.config.*", "**/cypress.config.*", "**/karma.conf.*", "**/.mocharc*", "**/.nycrc*",
    "**/ava.config.*", "**/phpunit.xml*", "**/.rspec", "**/nextest.toml",
    # configuration of linters, formatters and type checkers
    "**/mypy.ini", "**/.mypy.ini", "**/pyrightconfig.json", "**/ruff.toml", "**/.ruff.toml", "**/.flake8",
    "**/.pylintrc", "**/pylintrc", "**/.isort.cfg", "**/.bandit", "**/.importlinter", "**/.eslintrc*",
    "**/eslint.config.*", "**/.eslintignore", "**/.prettierrc*", "**/prettier.config.*", "**/.prettierignore",
    "**/biome.json*",
    "**/.stylelintrc*", "**/tsconfig*.json", "**/clippy.toml", "**/.clippy.toml", "**/rustfmt.toml", "**/.rustfmt.toml",
    "**/.golangci.*", "**/.shellcheckrc", "**/.rubocop.yml", "**/.yamllint*", "**/.markdownlint*", "**/checkstyle.xml",
    "**/.pre-commit-config.yaml",
    # what starts the checks, and what steers the interpreter
    "**/Makefile", "**/makefile", "**/GNUmakefile", "**/[Jj]ustfile", "**/Taskfile.y*ml",
    "**/sitecustomize.py", "**/usercustomize.py", "**/*.pth", "**/.npmrc", "**/.yarnrc*", "**/.pnpmfile.*",
    "**/.cargo/config*", "**/*.egg-info/entry_points.txt", "**/*.dist-info/entry_points.txt",
)  # fmt: skip

_KEPT: Final = (
    ".sdd/**",
    # CI
    ".github/workflows/**", ".github/actions/**", "**/.gitlab-ci.yml", ".gitlab/**", ".circleci/**", ".ci/**",
    ".buildkite/**", ".woodpecker/**", "**/.woodpecker.yml", "**/.drone.yml", "**/.travis.yml", "**/Jenkinsfile",
    "**/azure-pipelines.yml", "**/bitbucket-pipelines.yml", "**/appveyor.yml",
)  # fmt: skip

_GLOBS: Final = (*_TESTS, *_STEERING, *_KEPT)
"""Whole files; `shared_config` knows the judging tables of pyproject.toml, package.json, setup.cfg."""

_SHARED: Final = tuple(f"**/{name}" for name in SHARED)


def is_protected(path: str) -> bool:
    """Whether a workspace-relative path belongs to what judges: tests, their helpers, and their configuration."""
    return matches_globs(path, _GLOBS)


def is_shared(path: str) -> bool:
    """Whether only some tables of this file judge; see `shared_config`."""
    return matches_globs(path, _SHARED)


def is_configuration(path: str) -> bool:
    """Whether it configures or starts a runner, a linter or the interpreter, wherever it stands."""
    return matches_globs(path, _STEERING)


def is_test_code(path: str, *, modules: bool = False) -> bool:
    """Whether it is source code among the tests; with `modules`, only what a runner collects by its name."""
    return bool(_CODE.search(path)) and matches_globs(path, _MODULES if modules else _TESTS)


def helpers_beside_tests(paths: Iterable[str]) -> Iterator[str]:
    """Modules such as `testutils.py` in a directory that holds test modules."""
    known = list(paths)
    if helpers := [path for path in known if _HELPER.fullmatch(path)]:
        tested = {path.rpartition("/")[0] for path in known if is_test_code(path, modules=True)}
        yield from (path for path in helpers if path.rpartition("/")[0] in tested)


def protected_paths(
    baseline_paths: Iterable[str], *, allow: Sequence[str], commands: Sequence[str], behind: Collection[str] = ()
) -> frozenset[str]:
    """The protected ones among the paths that existed at the baseline, without those that `allow` opens.

    The scripts and configuration files that the check commands are made of are protected too, and so is what `behind`
    names: what those scripts run in turn, what a link among the tests leads to. Shared files are not.
    """
    named = {path for command in commands for path in judging_files(command)}.union(behind)
    return frozenset(
        path
        for path in baseline_paths
        if (is_protected(path) or (path in named and not is_shared(path))) and not matches_globs(path, allow)
    )
