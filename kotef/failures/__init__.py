"""Failures: their history, their outcomes, and what the model repeats."""

from kotef.failures.classify import Diagnosis, classify, classify_text

__all__ = ["Diagnosis", "classify", "classify_text"]
