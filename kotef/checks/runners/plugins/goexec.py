"""A wrapper that runs one Go test binary as `go test` would, and writes the result of each test next to it.

`go test -exec` starts it with the binary and its arguments. The binary is run with `-test.v=test2json`; what it prints
is given on as without, unless `-v` was asked for. Standard library only.
"""

import json
import os
import re
import signal
import sys

FRAME = re.compile(r"(?: *)(=== (?:RUN|PAUSE|CONT|NAME)|--- (?:PASS|FAIL|SKIP|BENCH):) +(\S+.*?)?(?: \(([\d.]+)s\))?$")
LOGGED = re.compile(r" {4,}[\w./-]+\.go:\d+: |(?: {8,})")
ENDED = {"--- PASS:": "passed", "--- FAIL:": "failed", "--- SKIP:": "skipped"}


class Console:
    """What the binary prints, as it would print it without `-v`."""

    def __init__(self, marked):
        self.marked = marked
        self.current = ""
        self.held = {}
        self.order = []
        self.status = {}

    def line(self, text):
        """One line, its end included; gives what to print now."""
        frame = text
        before = ""
        if "\x16" in text:
            before, _, frame = text.partition("\x16")
        elif self.marked:
            return self._plain(text)
        found = FRAME.match(frame.rstrip("\r\n"))
        if not found:
            return before + frame
        return (self._plain(before) if before else "") + self._frame(found, frame)

    def _plain(self, text):
        if not self.current or not LOGGED.match(text):
            return text
        self.held.setdefault(self.current, []).append(text)
        return ""

    def _frame(self, found, text):
        what, name = found.group(1), found.group(2) or ""
        if what not in ENDED:
            self.current = name
            if name and what == "=== RUN":
                self.status.setdefault(name, "failed")
            return ""
        if name:
            self.status[name] = ENDED[what]
        held = self.held.pop(name, [])
        if what != "--- FAIL:":
            self.current = ""
            return ""
        depth = name.count("/")
        shown = "    " * depth + text.lstrip() + "".join("    " * depth + line for line in held)
        below = [line for inner, line in self.order if inner.startswith(name + "/")]
        self.order = [(inner, line) for inner, line in self.order if not inner.startswith(name + "/")]
        self.current = ""
        if depth:
            self.order.append((name, shown + "".join(below)))
            return ""
        return shown + "".join(below)


def write(folder, binary, status, code):
    """One report for one binary; a failure that no test reports is the package's."""
    place = os.path.realpath(os.getcwd())
    module = os.path.basename(binary)[: -len(".test")]
    tests = [[place, module, [name], how] for name, how in status.items()]
    if code and "failed" not in status.values():
        tests.append([place, module, [], "error"])
    path = os.path.join(folder, "go-%d.json" % os.getpid())
    with open(path + ".part", "w") as stream:
        json.dump({"runner": "go", "tests": tests}, stream)
    os.rename(path + ".part", path)


def start(command):
    """Its process number and what it prints; the subprocess module alone would take a third of this program's time."""
    reading, writing = os.pipe()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)])
    os.close(writing)
    return pid, os.fdopen(reading, "rb")


def pass_on(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def main(folder, binary, arguments):
    """Run it; the exit status is that of the binary."""
    verbose_flags = [word for word in arguments if re.match(r"-test\.v(=|$)", word)]
    own = [word for word in arguments if word not in verbose_flags]
    verbose = bool(verbose_flags) and verbose_flags[-1] != "-test.v=false"
    level = verbose_flags[-1:] if verbose else ["-test.v=test2json"]
    pid, printed = start([binary] + level + own)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, lambda got, _: pass_on(pid, got))
    console = Console(marked=level[0].endswith("test2json"))
    out = sys.stdout.buffer
    for raw in printed:
        shown = console.line(raw.decode("utf-8", "surrogateescape"))
        out.write(raw if verbose else shown.encode("utf-8", "surrogateescape"))
        out.flush()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    for _, line in console.order:
        out.write(line.encode("utf-8", "surrogateescape"))
    out.flush()
    try:
        write(folder, binary, console.status, code)
    except OSError:
        pass
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code if code >= 0 else 2)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
