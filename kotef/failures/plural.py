"""Singular and plural forms of counts."""


def counted(number: int, thing: str, things: str = "") -> str:
    """`1 test`, `2 tests`; a plural that is not made with an `s` is named."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
