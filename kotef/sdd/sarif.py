"""The common parts of every SARIF 2.1.0 log that kotef writes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from kotef import __version__

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_log(results: Sequence[Mapping[str, Any]], **run: Any) -> dict[str, Any]:
    """A log of one run with these results; its rules are those they name as `ruleId`, and each gets its index."""
    rules = sorted({str(result["ruleId"]) for result in results})
    driver = {
        "name": "kotef",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [
            {"id": rule, "shortDescription": {"text": rule.replace("/", ": ").replace("_", " ")}} for rule in rules
        ],
    }
    results_with_rules = [{**result, "ruleIndex": rules.index(result["ruleId"])} for result in results]
    whole = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the workspace"}}},
        "results": results_with_rules,
        **run,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [whole]}


def location(path: str, line: int | None) -> dict[str, Any]:
    """A location in a file of the workspace, with a line if known."""
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path), "uriBaseId": "%SRCROOT%"}}
    if line:
        place["region"] = {"startLine": line}
    return {"physicalLocation": place}
