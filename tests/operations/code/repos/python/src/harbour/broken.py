"""Code with mistakes that checkers find."""

import os

from harbour.ships import Ship, speed


def wrong() -> str:
    """Gives a number for a text."""
    return speed(12)


def longer(ship: Ship) -> float:
    """Asks for what is not there."""
    return ship.lenght
