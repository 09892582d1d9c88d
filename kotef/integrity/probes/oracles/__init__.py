"""Wrong answers: the expected results of one test made wrong, one at a time.

Pure: from the text of a test file to changed texts, without running anything. `wrong_answers` finds the code of a test
by its id and the assertions in it. A change is made only where an honest test must then fail.
"""

from kotef.integrity.probes.oracles.halted_assertion import HaltedAssertion
from kotef.integrity.probes.oracles.halted_assertions import halted_assertion
from kotef.integrity.probes.oracles.selection import wrong_answers
from kotef.integrity.probes.oracles.shell import scripts_run
from kotef.integrity.probes.oracles.wrong_answer import OracleKind, WrongAnswer

__all__ = ["HaltedAssertion", "OracleKind", "WrongAnswer", "halted_assertion", "scripts_run", "wrong_answers"]
