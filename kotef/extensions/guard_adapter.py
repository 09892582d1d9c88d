"""Rules of the tool loop for the guards of extensions."""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from kotef.extensions.extension_set import ExtensionSet, LoadedExtension
from kotef.extensions.loader import failed, unusable
from kotef.extensions.seam import GuardedCall, ProjectFiles
from kotef.tools.toolset import CallRule


def guard_rules(extensions: ExtensionSet, root: Path) -> tuple[CallRule, ...]:
    """A rule for each guard. A guard that fails refuses the call: without its answer nothing is allowed."""
    return tuple(_rule(each, root) for each in extensions.of_kind("guard"))


def _rule(loaded: LoadedExtension, root: Path) -> CallRule:
    def refusal(tool: str, arguments: Mapping[str, Any]) -> str:
        try:
            answer = loaded.target.refusal(GuardedCall(tool, deepcopy(dict(arguments)), ProjectFiles(root)))
        except (Exception, SystemExit) as error:  # noqa: BLE001  a failure of the extension is a refusal
            return str(failed(loaded.extension, "failed, so this call is refused", error))
        if not isinstance(answer, str):
            problem = f"returned {type(answer).__name__}, not a text, so this call is refused"
            return str(unusable(loaded.extension, problem))
        return answer.strip()

    return refusal
