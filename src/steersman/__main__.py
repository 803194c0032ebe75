"""The `steer` command: answers `--version` before anything is imported."""

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from steersman import __version__

        print("steer", __version__)
        return
    from steersman.ports.cli.app import run

    try:
        run()
    except SystemExit as end:
        _leave(end)


def _leave(end: SystemExit) -> None:
    """End at once when all is said: taking all modules apart helps nobody, and takes its time."""
    import os

    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        raise end from None  # as Python itself ends when nobody reads what it says
    if end.code is None or isinstance(end.code, int):
        os._exit(end.code or 0)
    raise end


if __name__ == "__main__":
    main()
