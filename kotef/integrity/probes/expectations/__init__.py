"""Expectations of tests: what an assertion wants of an expression, and which two of them no code can meet."""

from kotef.integrity.probes.expectations.conflicts import Conflict, conflicts
from kotef.integrity.probes.expectations.expectation import Expectation
from kotef.integrity.probes.expectations.plain_expectations import function_at, plain_expectations
from kotef.integrity.probes.expectations.python_modules import python_expectations
from kotef.integrity.probes.expectations.python_product import Product

__all__ = [
    "Conflict",
    "Expectation",
    "Product",
    "conflicts",
    "function_at",
    "plain_expectations",
    "python_expectations",
]
