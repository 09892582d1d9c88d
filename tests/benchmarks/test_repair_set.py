import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SET = ROOT / "benchmarks" / "repair"
FILES = {"program.py", "reference.py", "test_program.py", "inputs.py"}
SAMPLE = ["train_of_wagons", "later_month", "sorted_tree", "parking_fee"]


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / "benchmarks" / arguments[0]), *map(str, arguments[1:])]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def problem(name: str) -> Path:
    (folder,) = SET.glob(f"*/{name}")
    return folder


def copy_of(name: str, top: Path) -> Path:
    return Path(shutil.copytree(problem(name), top / "aside" / name))


def test_there_are_enough_programs_and_half_of_them_are_kept_aside() -> None:
    aside, tuning = (sorted(folder.name for folder in (SET / half).iterdir()) for half in ("aside", "tuning"))
    assert len(aside) + len(tuning) >= 60
    assert len(aside) == len(tuning)
    assert not set(aside) & set(tuning)


def test_every_program_has_its_four_files_and_between_six_and_fifteen_tests() -> None:
    for folder in [path.parent for path in SET.glob("*/*/program.py")]:
        assert {path.name for path in folder.iterdir()} - {"__pycache__"} == FILES, folder
        assert 6 <= (folder / "test_program.py").read_text().count("\ndef test_") <= 15, folder


def test_every_style_is_in_both_halves_equally_often_give_or_take_one() -> None:
    styles: dict[str, list[int]] = {}
    for path in SET.glob("*/*/inputs.py"):
        style = next(line for line in path.read_text().splitlines() if line.startswith("STYLE"))
        styles.setdefault(style, [0, 0])[path.parts[-3] == "aside"] += 1
    assert len(styles) >= 15
    assert all(abs(tuning - aside) <= 1 for tuning, aside in styles.values()), styles


@pytest.mark.matrix
def test_the_set_check_proves_references_green_and_programs_red_and_different() -> None:
    done = run("repair.py", "--check-set", *(word for name in SAMPLE for word in ("--only", name)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": ok\n") == 4
    assert "4 programs, 0 unfit" in done.stdout


def test_the_set_check_refuses_a_program_without_a_slip(tmp_path: Path) -> None:
    folder = copy_of("parking_fee", tmp_path)
    shutil.copy(folder / "reference.py", folder / "program.py")
    done = run("repair.py", tmp_path, "--check-set")
    assert done.returncode == 1
    assert "parking_fee: no test fails on the program" in done.stdout


def test_the_set_check_refuses_a_reference_that_fails_its_tests(tmp_path: Path) -> None:
    folder = copy_of("parking_fee", tmp_path)
    shutil.copy(folder / "program.py", folder / "reference.py")
    done = run("repair.py", tmp_path, "--check-set")
    assert done.returncode == 1
    assert "the reference does not pass its tests" in done.stdout


def test_a_folder_without_problems_is_named_at_once(tmp_path: Path) -> None:
    done = run("repair.py", tmp_path)
    assert done.returncode == 1
    assert "no problem found" in done.stderr


def test_a_name_that_no_program_has_is_named() -> None:
    done = run("repair.py", "--check-set", "--only", "parking_fee", "--only", "parking_fine")
    assert done.returncode == 1
    assert "parking_fine" in done.stderr


def test_a_reference_agrees_with_itself() -> None:
    folder = problem("sorted_tree")
    assert json.loads(run("same_results.py", folder, folder / "reference.py").stdout) == {"differs": None}


def test_a_difference_is_told_with_its_arguments() -> None:
    folder = problem("parking_fee")
    differs = json.loads(run("same_results.py", folder, folder / "program.py").stdout)["differs"]
    assert differs["arguments"] == "(15,)"
    assert "250" in differs["got"]


def test_a_candidate_that_loops_grows_or_exits_only_differs(tmp_path: Path) -> None:
    folder = problem("parking_fee")
    for body in ("while True: pass", "return [0] * (1 << 40)", "raise SystemExit", "return parking_fee(minutes)"):
        candidate = tmp_path / "candidate.py"
        candidate.write_text(f"def parking_fee(minutes):\n    {body}\n")
        answer = json.loads(run("same_results.py", folder, candidate).stdout.splitlines()[-1])
        assert "returned" not in answer["differs"]["got"], body


def test_a_candidate_that_changes_what_it_was_given_differs(tmp_path: Path) -> None:
    folder = problem("batches")
    candidate = tmp_path / "candidate.py"
    source = (folder / "reference.py").read_text()
    candidate.write_text(source.replace("    if batch:\n", "    items.clear()\n    if batch:\n"))
    assert json.loads(run("same_results.py", folder, candidate).stdout)["differs"] is not None
