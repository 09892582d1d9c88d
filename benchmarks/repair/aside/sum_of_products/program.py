"""A pocket calculator for whole numbers."""


def tokens_of(text):
    """Numbers and signs, in order; blanks separate."""
    tokens = []
    number = ""
    for char in text:
        if char.isdigit():
            number += char
            continue
        if number:
            tokens.append(int(number))
            number = ""
        if char != " ":
            tokens.append(char)
    if number:
        tokens.append(int(number))
    return tokens


def atom(tokens):
    first = tokens.pop(0)
    if first == "(":
        inside = sum_(tokens)
        tokens.pop(0)
        return inside
    if first == "-":
        return -atom(tokens)
    return first


def product(tokens):
    value = atom(tokens)
    while tokens and tokens[0] == "*":
        tokens.pop(0)
        value *= atom(tokens)
    return value


def sum_(tokens):
    value = product(tokens)
    while tokens and tokens[0] in ("+", "-"):
        sign = tokens.pop(0)
        right = atom(tokens)
        value = value + right if sign == "+" else value - right
    return value


def calculate(text):
    """The value of a formula with + - * and brackets."""
    return sum_(tokens_of(text))
