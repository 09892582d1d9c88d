import pytest
from program import run_robot


def test_stays():
    assert run_robot("", 3, 3) == (0, 0, "N")


def test_forward():
    assert run_robot("FF", 5, 5) == (0, 2, "N")


def test_right():
    assert run_robot("RFF", 5, 5) == (2, 0, "E")


def test_all_round():
    assert run_robot("RRRR", 2, 2) == (0, 0, "N")


def test_left():
    assert run_robot("L", 2, 2) == (0, 0, "W")


def test_southern_fence():
    assert run_robot("RRF", 4, 4) == (0, 0, "S")


def test_northern_fence():
    assert run_robot("FFFFFF", 3, 3) == (0, 2, "N")


def test_eastern_fence():
    assert run_robot("RFFFLF", 2, 2) == (1, 1, "N")


def test_unknown():
    with pytest.raises(ValueError):
        run_robot("FX", 3, 3)
