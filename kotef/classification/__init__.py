"""The output of one command: its kind of failure, a summary, a fingerprint, and the failing tests."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.classification.classifier import Diagnosis, classify, classify_text
    from kotef.classification.diagnostics import diagnostics_of
    from kotef.classification.fingerprints import fingerprint, normalise
    from kotef.classification.kinds import ENVIRONMENT_FAULTS, MAX_SUMMARY
    from kotef.classification.locations import LIBRARY_PATH, from_root, places
    from kotef.classification.output_lines import Output, all_lines, plain_lines, read_output
    from kotef.classification.summarize import cut_line
    from kotef.classification.test_failures import FailingTest, failing_tests
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "classifier": "Diagnosis classify classify_text",
            "diagnostics": "diagnostics_of",
            "fingerprints": "fingerprint normalise",
            "kinds": "ENVIRONMENT_FAULTS MAX_SUMMARY",
            "locations": "LIBRARY_PATH from_root places",
            "output_lines": "Output all_lines plain_lines read_output",
            "summarize": "cut_line",
            "test_failures": "FailingTest failing_tests",
        },
    )

__all__ = [
    "ENVIRONMENT_FAULTS",
    "LIBRARY_PATH",
    "MAX_SUMMARY",
    "Diagnosis",
    "FailingTest",
    "Output",
    "all_lines",
    "classify",
    "classify_text",
    "cut_line",
    "diagnostics_of",
    "failing_tests",
    "fingerprint",
    "from_root",
    "normalise",
    "places",
    "plain_lines",
    "read_output",
]
