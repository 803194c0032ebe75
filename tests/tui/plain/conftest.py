"""The fixtures of the command line's tests serve here too."""

from tests.cli.conftest import steer

__all__ = ["steer"]
