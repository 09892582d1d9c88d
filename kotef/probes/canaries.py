"""Tests that must fail."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Canary:
    content: bytes
    name: str


def canary(path: str, content: bytes, *, beside: str, seed: int) -> Canary | None:
    return None
