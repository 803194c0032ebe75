"""Names in many scripts: the columns after them are counted in characters."""

from harbour.ships import Ship, describe

GREETING = "𝔖hip ahoy"; greeted = describe(Ship("Ærø 🚢", 12.0))

größe = 12


def größer(wert: int) -> int:
    """Uses größe twice, once here."""
    return wert + größe


def Ship_like() -> str:
    """Not a Ship, only named like one."""
    ship = "Ship"
    describe = ship.lower()  # shadows the function of that name
    return describe
