"""What a boat pays for its berth."""

from datetime import date

PER_METRE_AND_NIGHT = 2.50
LONG_STAY_NIGHTS = 7
LONG_STAY_DISCOUNT = 0.20


def nights(arrival: date, departure: date) -> int:
    """How many nights lie between two days."""
    return (departure - arrival).days + 1


def berth_fee(length_m: float, arrival: date, departure: date) -> float:
    """The fee in euros; a week or more is cheaper."""
    count = nights(arrival, departure)
    fee = length_m * PER_METRE_AND_NIGHT * count
    if count >= LONG_STAY_NIGHTS:
        fee *= 1 - LONG_STAY_DISCOUNT
    return round(fee, 2)
