"""Tests of the harbour."""

from harbour import Berth, BerthTaken, Ship, Tanker, Vessel, describe, open_registry


def test_assign() -> None:
    """A berth has one ship."""
    berth = Berth(1)
    berth.assign(Ship("Fram", 39.0))
    try:
        berth.assign(Vessel("Gjøa", 21.0))
    except BerthTaken:
        pass


def test_registry() -> None:
    """A ship that arrived can leave."""
    registry = open_registry(2)
    registry.arrive(Tanker("Knock Nevis", 458.0 - 100))
    assert describe(Ship.parse("Fram:39"))
    assert registry.leave("Knock Nevis")
