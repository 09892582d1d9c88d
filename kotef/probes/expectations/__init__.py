"""Expectations of tests: what an assertion requires of an expression, and pairs that no code can satisfy."""

from kotef.probes.expectations.conflicts import Conflict, conflicts
from kotef.probes.expectations.expectation import Expectation
from kotef.probes.expectations.plain_expectations import function_at, plain_expectations
from kotef.probes.expectations.python_modules import python_expectations
from kotef.probes.expectations.python_product import Product

__all__ = [
    "Conflict",
    "Expectation",
    "Product",
    "conflicts",
    "function_at",
    "plain_expectations",
    "python_expectations",
]
