"""The fixtures of the command line's tests serve here too."""

from tests.cli.conftest import gate, steer

__all__ = ["gate", "steer"]
