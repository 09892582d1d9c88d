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
    _drop_current_folder()
    try:
        from kotef.cli.main import main

        main(prog_name="kotef")
    except SystemExit as ended:
        _leave(ended.code)
    except KeyboardInterrupt:  # before the command line was read
        _leave(130)


def _drop_current_folder() -> None:
    """Import nothing from the folder that kotef is started in: it may be a stranger's repository.

    `python -m` puts it in front of the search path, and PYTHONPATH may name it, or a folder below or above it. What
    kotef itself, or its interpreter, is in stays.
    """
    try:
        here = os.getcwd()  # noqa: PTH109  pathlib is not imported for `--help`
    except OSError:  # it was deleted: nothing is in it
        return
    own = _absolute(__file__).rpartition("/kotef/")[0]

    def is_foreign(entry: str) -> bool:
        place = _absolute(entry)
        of_python = _is_below(place, sys.prefix) or _is_below(place, sys.base_prefix)
        is_near = _is_below(place, here) or _is_below(here, place)
        return is_near and place != own and not of_python

    sys.path[:] = [entry for entry in sys.path if not is_foreign(entry)]


def _absolute(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100  as above


def _is_below(place: str, folder: str) -> bool:
    return place == folder or place.startswith(f"{folder.rstrip('/')}/")


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
