"""Judgement of the workspace as the options of `kotef check` ask for it."""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kotef.checks.detect import collect_checks, missing_dependencies
from kotef.cli.workspace_option import workspace_of
from kotef.errors import NoChecksError, NoEnvironmentError, UsageError
from kotef.redaction import redactor
from kotef.runs.check_trial import tried
from kotef.runs.config import UserConfig, config_path, read_config
from kotef.runs.crash_recovery import put_right
from kotef.runs.elapsed_time import keep_seconds
from kotef.runs.extension_setup import checks_of, extensions_of
from kotef.runs.inspection import InspectionRequest, inspection
from kotef.runs.inspection_result import Inspection
from kotef.runs.prepare import spec_of
from kotef.runs.repository import RepositorySettings, repository_of
from kotef.runs.run_settings import run_settings
from kotef.runs.sandbox_setup import sandbox_of
from kotef.runs.secret_sources import hide
from kotef.runs.store import changed_paths
from kotef.sandbox import child_environment
from kotef.settings import Limits


def inspect_workspace(options: Mapping[str, Any], telling: Callable[[str], None] = lambda _: None) -> Inspection:
    """Judge the workspace as the options of `kotef check` ask for it; `telling` gets the name of each command.

    Raises what can be wrong with the request, or keeps everything from being judged.
    """
    root = workspace_of(options["root"])
    if any(not command.strip() for command in options["checks"]):
        raise UsageError("--check: the command is empty", hint="leave it out to use the checks that are found")
    if options["against"] is not None and not options["compare"]:
        raise UsageError("--against and --no-compare cannot be combined", hint="use one of them")

    righted = put_right(root)
    config = read_config(config_path())
    repository = repository_of(root, config, trust=False)
    hide(root, config, passed=repository.settings.passed)
    question, before = _question(options, root, config, repository)
    found = asyncio.run(inspection(question, telling))
    keep_seconds(root, {check.command: check.seconds for check in found.checks if check.exit_code is not None})

    setting_notices = (*repository.read_from, *repository.told_ignored("sandbox.", "env."))
    missing = () if found.green else missing_dependencies(root)
    notices = (*righted, *setting_notices, *before, *found.notices, *missing)
    return redactor().whole(found.model_copy(update={"notices": notices}))


def _question(
    options: Mapping[str, Any], root: Path, config: UserConfig, repository: RepositorySettings
) -> tuple[InspectionRequest, tuple[str, ...]]:
    """The question to the checks, and notices about it. Raises NoChecksError, NoEnvironmentError."""
    settings = run_settings(options, config, repository.settings)
    extensions = extensions_of(root, settings.extensions, "check")
    checks = collect_checks(
        root,
        options=options["checks"],
        ticket=(),
        architect=spec_of(root, repository.place).checks,
        settings=repository.place,
        concerning="\n".join(changed_paths(root)),
        more=checks_of(extensions, root),
    )
    if not checks:
        raise NoChecksError(root)
    request, limits = settings.sandbox, settings.limits
    sandbox, unconfined = sandbox_of(root, request.wanted, network=request.network, reads=request.reads)
    environment = child_environment(os.environ, allow=repository.settings.passed)
    trial = tried(checks, root=root, env=environment, sandbox=sandbox)
    if trial.broken:
        raise NoEnvironmentError(trial.broken)
    question = InspectionRequest(
        root=root,
        checks=trial.checks,
        environment=environment,
        sandbox=sandbox,
        against=options["against"],
        compare=options["compare"],
        limits=Limits(reruns=limits.reruns, probes=limits.probes),
    )
    return question, (*unconfined, *trial.notices, *extensions.notices)
