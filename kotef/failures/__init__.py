"""What went wrong, in words a machine and a person can both use."""

from kotef.failures.classify import Diagnosis, classify, classify_text

__all__ = ["Diagnosis", "classify", "classify_text"]
