"""Integrity of the judge: pure rules on what judges the work, and on whether it can still say no."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.integrity.closure import closure_of_tests
    from kotef.integrity.ids import name_part, numbered, test_id
    from kotef.integrity.inline_tests import INLINE_SUFFIXES, changed_inline_tests
    from kotef.integrity.probes.canaries import canary
    from kotef.integrity.probes.comments import Reworded, reworded
    from kotef.integrity.probes.expectations import (
        Conflict,
        Expectation,
        Product,
        conflicts,
        function_at,
        plain_expectations,
        python_expectations,
    )
    from kotef.integrity.probes.harmless_edits import harmless_edit
    from kotef.integrity.probes.mixture import Mixture
    from kotef.integrity.probes.oracles import (
        HaltedAssertion,
        WrongAnswer,
        halted_assertion,
        scripts_run,
        wrong_answers,
    )
    from kotef.integrity.probes.places import defined_tests, file_of_test, may_test
    from kotef.integrity.probes.redefined_names import RedefinedName, redefined_names
    from kotef.integrity.protected_files import (
        helpers_beside_tests,
        is_configuration,
        is_protected,
        is_shared,
        is_test_code,
        protected_paths,
    )
    from kotef.integrity.runner_config_files import (
        absent_modules,
        configures_runner,
        replaces_installed,
        shadowing_files,
        steering_files,
        top_imports,
    )
    from kotef.integrity.shared_config import put_tables_back
    from kotef.integrity.tampering.javascript import JAVASCRIPT_SUFFIXES, required_files
    from kotef.integrity.tampering.python import TAMPERING_SUFFIXES, TamperingFinding, speaks_to_the_judge
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "closure": "closure_of_tests",
            "ids": "name_part numbered test_id",
            "inline_tests": "INLINE_SUFFIXES changed_inline_tests",
            "probes.canaries": "canary",
            "probes.comments": "Reworded reworded",
            "probes.expectations": (
                "Conflict Expectation Product conflicts function_at plain_expectations python_expectations"
            ),
            "probes.harmless_edits": "harmless_edit",
            "probes.mixture": "Mixture",
            "probes.oracles": "HaltedAssertion WrongAnswer halted_assertion scripts_run wrong_answers",
            "probes.places": "defined_tests file_of_test may_test",
            "probes.redefined_names": "RedefinedName redefined_names",
            "protected_files": (
                "helpers_beside_tests is_configuration is_protected is_shared is_test_code protected_paths"
            ),
            "runner_config_files": (
                "absent_modules configures_runner replaces_installed shadowing_files steering_files top_imports"
            ),
            "shared_config": "put_tables_back",
            "tampering.javascript": "JAVASCRIPT_SUFFIXES required_files",
            "tampering.python": "TAMPERING_SUFFIXES TamperingFinding speaks_to_the_judge",
        },
    )

__all__ = [
    "INLINE_SUFFIXES",
    "JAVASCRIPT_SUFFIXES",
    "TAMPERING_SUFFIXES",
    "Conflict",
    "Expectation",
    "HaltedAssertion",
    "Mixture",
    "Product",
    "RedefinedName",
    "Reworded",
    "TamperingFinding",
    "WrongAnswer",
    "absent_modules",
    "canary",
    "changed_inline_tests",
    "closure_of_tests",
    "configures_runner",
    "conflicts",
    "defined_tests",
    "file_of_test",
    "function_at",
    "halted_assertion",
    "harmless_edit",
    "helpers_beside_tests",
    "is_configuration",
    "is_protected",
    "is_shared",
    "is_test_code",
    "may_test",
    "name_part",
    "numbered",
    "plain_expectations",
    "protected_paths",
    "put_tables_back",
    "python_expectations",
    "redefined_names",
    "replaces_installed",
    "required_files",
    "reworded",
    "scripts_run",
    "shadowing_files",
    "speaks_to_the_judge",
    "steering_files",
    "test_id",
    "top_imports",
    "wrong_answers",
]
