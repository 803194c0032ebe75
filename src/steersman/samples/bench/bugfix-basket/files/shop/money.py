"""Sums of money."""

from decimal import ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")


def off(amount, percent):
    """An amount with so many percent off."""
    return (amount * (100 - percent) / 100).quantize(CENT, rounding=ROUND_HALF_EVEN)
