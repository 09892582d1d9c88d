"""The entry point of the kotef process: early start-up settings, and a fast exit."""

import gc
import os
import sys


def run() -> None:
    """The command line, then an end at once.

    Loading what a run needs makes a million objects that stay: the collector would look through them again and again
    (a sixth of the start), so it is on only once they are loaded (`runs.garbage_collection`). At the end all is
    closed and on the disk, and taking the interpreter apart would only cost (another sixth): the process leaves as it
    is.
    """
    gc.disable()
    try:
        from kotef.cli.main import main

        main(prog_name="kotef")
    except SystemExit as ended:
        _leave(ended.code)
    except KeyboardInterrupt:  # before the command line was read
        _leave(130)


def _leave(code: object) -> None:
    """End the process with the status of a SystemExit: a number, nothing, or a text for the terminal."""
    if isinstance(code, str):
        sys.stderr.write(code + "\n")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # no one reads it any more; the status is still true
            continue
    os._exit(code if isinstance(code, int) else bool(code))


if __name__ == "__main__":
    run()
