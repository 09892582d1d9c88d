"""Is every collected sample of a real tool's output understood?"""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from kotef.classification import Diagnosis, classify

SAMPLES = [json.loads(line) for line in Path(__file__).with_name("samples.jsonl").read_text("utf-8").splitlines()]


def diagnose(sample: dict[str, Any]) -> Diagnosis:
    return classify(sample["command"], sample["exit_code"], sample["stdout"], sample["stderr"], sample["timed_out"])


def squash(text: str) -> str:
    return "".join(text.split()).lower()


def holds(summary: str, fact: dict[str, Any]) -> bool:
    forms = list(fact["any"])
    for place in fact["any"] if fact["t"] == "loc" else ():
        if match := re.fullmatch(r"(.+):(\d+)", place):
            forms += [f'{match[1]}", line {match[2]}', f"{match[1]}({match[2]}"]
    return any(squash(form) in squash(summary) for form in forms)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["id"])
def test_kind_and_facts_of_a_sample_are_found(sample: dict[str, Any]) -> None:
    diagnosis = diagnose(sample)

    assert diagnosis.kind in [sample["kind"], *sample["alt"]]
    missing = [fact for fact in sample["facts"] if not holds(diagnosis.summary, fact)]
    assert not missing, diagnosis.summary
    assert 1 <= len(diagnosis.summary.splitlines()) <= 3
    assert len(diagnosis.summary) <= 400


def test_the_samples_are_all_there() -> None:
    assert len(SAMPLES) == 59


@pytest.mark.parametrize("group", sorted({sample["group"] for sample in SAMPLES}))
def test_reruns_of_one_failure_have_one_fingerprint(group: str) -> None:
    assert len({diagnose(sample).fingerprint for sample in SAMPLES if sample["group"] == group}) == 1


def test_a_near_miss_has_another_fingerprint() -> None:
    pairs = [
        (base, near)
        for base, near in product(SAMPLES, SAMPLES)
        if base["role"] == "base" and near["role"] == "near" and near["id"].startswith(f"{base['id']}~")
    ]

    assert len(pairs) >= 3
    assert all(diagnose(base).fingerprint != diagnose(near).fingerprint for base, near in pairs)


@pytest.mark.parametrize(
    ("sample_id", "detail"),
    [
        ("pytest", "assertion"),
        ("pytest-none", "no_tests"),
        ("pytest-import", "missing_module"),
        ("pytest-timeout", "timeout"),
        ("notfound", "command_not_found"),
        ("flake8-cfg", "config"),
        ("mypy", "types"),
        ("black", "format"),
        ("ruff", "lint"),
        ("gcc", "compile"),
        ("run-zero", "traceback"),
        ("run-silent", "silent"),
        ("run-exit", "exit_status"),
        ("memory", "out_of_memory"),
        ("segv", "signal"),
        ("coverage", "coverage"),
        ("npm-script", "usage"),
    ],
)
def test_the_situation_has_its_machine_word(sample_id: str, detail: str) -> None:
    sample = next(sample for sample in SAMPLES if sample["id"] == sample_id)

    assert diagnose(sample).detail == detail
