"""Output of a command to kind, detail, summary, fingerprint and failing tests; needs the standard library only."""

from kotef.classification.classify import Diagnosis, classify, classify_text

__all__ = ["Diagnosis", "classify", "classify_text"]
