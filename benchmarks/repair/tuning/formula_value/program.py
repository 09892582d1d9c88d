"""Formulas as nested tuples: ('+', 1, ('*', 2, 'x'))."""


def formula_value(formula, names):
    """The number a formula stands for; names are looked up, an unknown one is a KeyError."""
    if isinstance(formula, str):
        return names[formula]
    if not isinstance(formula, tuple):
        return formula
    sign, left, right = formula
    a = formula_value(left, names)
    b = formula_value(right, names)
    if sign == "+":
        return a + b
    if sign == "-":
        return b - a
    if sign == "*":
        return a * b
    raise ValueError(f"unknown sign {sign}")
