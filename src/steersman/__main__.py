"""The `steer` command: answers `--version` before anything is imported."""

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from steersman import __version__

        print("steer", __version__)
        return
    from steersman.ports.cli.app import run

    run()


if __name__ == "__main__":
    main()
