"""The `steer` command: answers `--version` before anything is imported."""

import os
import sys


def keep_out_the_folder() -> None:
    """Import nothing from the folder where work is done: its code is what is to be confined.

    `python -m` and a PYTHONPATH such as `.` or `src` would put it before all else. What holds this
    very package is kept, for those who work on it.
    """
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # the folder is gone, and nothing can be imported from it
        return
    own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    named = {os.path.realpath(way) for way in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    for way in tuple(sys.path):
        place = os.path.realpath(way)
        doubtful = place == here or (place in named and place.startswith(here.rstrip("/") + "/"))
        if doubtful and place != own:
            sys.path.remove(way)


def open_what_is_closed() -> None:
    """Have all three streams: a file that is opened instead of one would be written to as that."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def main() -> None:
    """Run the command line."""
    open_what_is_closed()
    keep_out_the_folder()
    if sys.argv[1:] in (["--version"], ["-V"]):
        from steersman import __version__

        print("steer", __version__)
        return
    import gc

    # Most of what a start makes stays; to look through it again and again takes a tenth of it.
    gc.set_threshold(200_000, 5, 5)
    from steersman import quick_imports

    quick_imports.serve()
    from steersman.ports.cli.app import run

    try:
        run()
    finally:
        if patterns := sys.modules.get("steersman.records.kept_patterns"):
            patterns.KEPT.keep()


def steer() -> None:
    """Run the command line as a program, and end at once when all is said.

    Taking all modules apart at the end helps nobody and takes its time.
    """
    code = 0
    try:
        try:
            main()
        except SystemExit as end:
            if not isinstance(end.code, int | None):
                raise
            code = end.code or 0
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        sys.exit(code)  # as Python itself ends when nobody reads what it says
    except OSError as error:
        end_unwritable(error)
    os._exit(code)


def end_unwritable(error: OSError) -> None:
    """Standard output takes nothing more: its disk is full, or its terminal is gone."""
    try:
        told = f"Error: The output cannot be written: {error.strerror}."
        print(told, file=sys.stderr, flush=True)
    finally:
        os._exit(1)  # also where standard error takes nothing


if __name__ == "__main__":
    steer()
