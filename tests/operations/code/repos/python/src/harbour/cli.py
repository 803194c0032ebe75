"""The command line."""

import sys

from harbour import Ship, open_registry
from harbour.ships import describe as tell


def main(argv: list[str]) -> int:
    """Let ships arrive."""
    registry = open_registry(len(argv))
    for text in argv:
        ship = Ship.parse(text)
        registry.arrive(ship)
        print(tell(ship))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
