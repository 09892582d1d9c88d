"""Causes of a command's end: by itself, stopped, killed, or never started."""

import re
from typing import Final

from kotef.classification import summarize
from kotef.classification.command_output import FATAL_TO_ITSELF, OUTSIDE, Run
from kotef.classification.kinds import OutputFinding

NOT_EXECUTABLE: Final = 126
NOT_FOUND: Final = 127
TIMEOUT_COMMAND: Final = 124
RUNNING_TEST: Final = re.compile(
    r"(?<!\S)(\S+\.py::\S+|=== RUN\s+\S+|test \S+ \.\.\.|\[ RUN      \] \S+|RUNS? +\S+)\s*$"
)


def stopped(run: Run) -> OutputFinding | None:
    """Our own limit, `timeout`, or a signal from outside."""
    by_command = run.exit_code == TIMEOUT_COMMAND and re.search(r"\btimeout\b", run.command)
    if run.timed_out or by_command:
        return _timed_out(run)

    name = run.signal
    is_status = run.exit_code is not None and run.exit_code > 0  # of a shell, which may mean something else
    if not name or name in FATAL_TO_ITSELF or (is_status and name not in OUTSIDE):
        return None
    memory = re.search(r"out of memory|oom-?kill|OOM", run.output.text)
    detail = "out_of_memory" if memory else "signal"
    lines = (f"killed from outside by {name} (exit status {run.exit_code})", *summarize.last_words(run.output))
    return OutputFinding("tooling_error", detail, lines, (name,))


def _timed_out(run: Run) -> OutputFinding:
    """With the test that was running, or else the last words."""
    running = [match[1] for line in run.output.lines if (match := RUNNING_TEST.search(line))]
    last = running[-1] if running else next(iter(summarize.last_words(run.output)), "")
    last_words = f"last output: {last}" if last else "no output"
    lines = ("timed out: killed by the time limit", last_words)
    return OutputFinding("tooling_error", "timeout", lines, (re.sub(r"\d+", "", last),))


def not_started(run: Run) -> OutputFinding | None:
    """126 and 127: the shell found no such program, or one it may not run."""
    behind = re.search(r"\bError (12[67])\b", run.output.text[-2000:])
    code = int(behind[1]) if behind else run.exit_code
    if code not in {NOT_FOUND, NOT_EXECUTABLE}:
        return None
    detail = "command_not_found" if code == NOT_FOUND else "not_executable"
    wanted = (
        r"not found|No such file"
        if code == NOT_FOUND
        else r"ermission denied|cannot execute|Exec format|bad interpreter|directory"
    )
    line = next((line for line in run.output.lines if re.search(wanted, line)), "")
    words = (line,) if line else (f"exit status {code}: {detail.replace('_', ' ')}", *summarize.last_words(run.output))
    return OutputFinding("tooling_error", detail, words, words)


def fatal_signal(run: Run) -> OutputFinding | None:
    """A crash that left no word but the signal's number."""
    name = run.signal
    if name not in FATAL_TO_ITSELF:
        return None
    words = {"SIGSEGV": "Segmentation fault", "SIGABRT": "Aborted", "SIGFPE": "Floating point exception"}.get(
        name, name
    )
    lines = (f"{words} ({name}, exit status {run.exit_code})", *summarize.last_words(run.output))
    return OutputFinding("runtime_error", "signal", lines, (name, *summarize.last_words(run.output)[:1]))


SEARCHES: Final = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep", "fd", "look"})
"""Programs whose exit status says whether they found something: 0 for yes, 1 for no, more for a failure."""
HARMLESS: Final = SEARCHES | {"cd", "pushd", "export", "set"}
GIT_GREP: Final = re.compile(r"\bgit\s+(?:-\S+\s+)*grep\b")


def nothing_found(run: Run) -> OutputFinding | None:
    """Exit status 1 of a search that wrote no error: no match, which is an answer and no failure."""
    tools = run.asked.tools
    if run.exit_code != 1 or not tools or "||" in run.command:
        return None
    searches = tools[-1] in SEARCHES or (tools[-1] == "git" and GIT_GREP.search(run.command))
    pairs = zip(tools, run.asked.purposes, strict=True)
    if not searches or any(purpose != "read" and tool not in HARMLESS for tool, purpose in pairs):
        return None

    complains = re.compile(rf"(?:\S*(?:{'|'.join(map(re.escape, tools))})|\S*sh)(?:: line \d+)?: ")
    if any(run.output.stderr) or any(complains.match(line) for line in run.output.lines):
        return None
    return OutputFinding(None, "no_match", (f"{tools[-1]} found no match (exit status 1)",), ())
